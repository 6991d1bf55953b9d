from .decays import Decays as Decays
from .estimate import DepthEstimate as DepthEstimate
from .techniques import TECHNIQUES as TECHNIQUES
from .techniques import Technique as Technique
from .techniques import technique as technique
