from .draw import draw_part as draw_part
from .part import Film as Film
from .part import FlatHole as FlatHole
from .part import Gap as Gap
from .part import Impact as Impact
from .part import Part as Part
from .recorded import PartRecording as PartRecording
from .recorded import record_part as record_part
