from .asymptote import Asymptote as Asymptote
from .false_calls import FalseCalls as FalseCalls
from .fit import hit_miss as hit_miss
from .fit import signal_response as signal_response
from .pod import Pod as Pod
from .trade_off import TradeOff as TradeOff
from .trade_off import trade_off as trade_off
