from .outcome import Found as Found
from .outcome import Outcome as Outcome
from .recordings import Listed as Listed
from .recordings import list_recordings as list_recordings
from .run import Batch as Batch
from .run import Step as Step
from .run import batch as batch
from .summary import write_summary as write_summary
