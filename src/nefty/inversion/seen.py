"""``nefty.limits``: what would have been seen in a recording, without a volume."""

from __future__ import annotations

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.inversion.reconstruct import Watch, reconstruct
from nefty.result.limits import Limits

#: The recipe of real parts with next to no fit of the volume, which nothing is said of here.
HASTY = {"stages.which shape.iterations": 1, "stages.finish.iterations": 1, "ensemble.members": 0}


def limits(sequence: Sequence, *, watch: Watch | None = None) -> Limits:
    """The smallest defects at each depth that a recording of a real part shows with 90 % probability.

        seen = nefty.limits(nefty.load("scan.tif", thickness="5 mm", material="cfrp", pixel="0.5 mm", fps=20))
        seen.depths, seen.names, seen.diameters

    Args:
        sequence: the recording, in metres.
        watch: called with the progress.
    """
    if not isinstance(sequence, Sequence):
        raise InputError(f"a recording must be a nefty.Sequence, got {type(sequence).__name__}; see nefty.load.")
    if not sequence.facts.units.in_metres:
        raise InputError(
            "what would have been seen is worked out for recordings of real parts, with lengths in metres; this one "
            f"has {sequence.facts.units.length or 'no unit'}."
        )
    shown = reconstruct(sequence, recipe="real", overrides=HASTY, watch=watch).frame_evidence
    if shown is None or shown.limits is None:
        raise InputError("the recording does not show enough to say what would have been seen; see nefty inspect.")
    return shown.limits
