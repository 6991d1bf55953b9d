"""What the calibration of a piece takes over from that of the whole part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.slab.lateral_spreading import Piece
from nefty.result.calibrated_part import CalibratedPart
from nefty.result.reconstruction import Reconstruction

ALIKE = 1e-4  # share by which lengths of a piece may differ from those of its overview


@dataclass(frozen=True, eq=False)
class WholePart:
    """The whole part as calibrated, and where a piece of it lies.

    Args:
        sound: as calibrated.
        piece: where the piece lies.
    """

    sound: CalibratedPart
    piece: Piece

    def common(self, times: np.ndarray) -> np.ndarray:
        """c(t) at the times of the piece's frames, (t,)."""
        return np.interp(times, self.sound.times, self.sound.common)

    def level(self, times: np.ndarray) -> np.ndarray:
        """Temperature of a typical sound pixel at the times of the piece's frames, (t,)."""
        return np.exp(np.interp(np.log(times), np.log(self.sound.times), np.log(np.maximum(self.sound.level, 1e-300))))


def whole_part(overview: Reconstruction, sequence: Sequence) -> WholePart:
    """What a piece takes over from the reconstruction of the whole, or an error that says why it cannot.

    Args:
        overview: of the whole part.
        sequence: the piece; its facts say which pixels of the file's frames it shows.
    """
    if overview.calibrated is None:
        raise InputError(
            "the overview was not calibrated by the recipe real, or by an older nefty; reconstruct it again with "
            "--recipe real, --fresh (recipe='real', fresh=True)."
        )
    if sequence.size is None:
        raise InputError("the size of the recording is not known; give pixel=... and thickness=... to nefty.load.")
    whole, own = overview.facts.window, sequence.facts.window
    thickness, pixels = overview.grid.size[0], [d / whole.bin for d in overview.grid.spacing[1:]]
    finer = [side / n / own.bin for side, n in zip(sequence.size[1:], sequence.shape[1:], strict=True)]
    for what, there, here in (
        ("thickness", [thickness], [sequence.size[0]]),
        ("pixel of the camera", pixels, finer),
    ):
        if not np.allclose(there, here, rtol=ALIKE):
            raise InputError(
                f"the {what} is {_millimetres(there)} in the overview and {_millimetres(here)} here; a closer look "
                "takes over what the overview calibrated, so give the same, or make a new overview."
            )
    _refuse_other_times(overview.calibrated.times, sequence.times)
    corner = ((own.top - whole.top) * pixels[0], (own.left - whole.left) * pixels[1])
    return WholePart(overview.calibrated, Piece(corner, (overview.grid.size[1], overview.grid.size[2])))


def _refuse_other_times(there: np.ndarray, here: np.ndarray) -> None:
    """The frames of a piece are those of the whole, so that flash and common course are the same."""
    here = here[-len(there) :]
    if len(here) != len(there) or not np.allclose(there, here, rtol=ALIKE):
        raise InputError(
            f"the overview has {len(there)} frames from {there[0]:.4g} to {there[-1]:.4g} s after the flash, here they "
            f"are {len(here)} from {here[0]:.4g} to {here[-1]:.4g} s; give flash_frame, onset, start, until and frames "
            "as for the overview."
        )


def _millimetres(lengths: list[float]) -> str:
    return " x ".join(f"{1e3 * length:.5g}" for length in lengths) + " mm"
