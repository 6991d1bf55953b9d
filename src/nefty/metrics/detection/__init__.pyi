from .asymptote import Asymptote as Asymptote
from .false_calls import FalseCalls as FalseCalls
from .fit import hit_miss as hit_miss
from .fit import signal_response as signal_response
from .pod import Pod as Pod
