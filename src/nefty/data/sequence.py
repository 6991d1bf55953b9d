"""What a recording is: frames, times, and what is known about the part and the flash."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.checks import anisotropy_ratios, count, number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import AXES, Grid
from nefty.core.storage.hdf5 import digest
from nefty.data import checks
from nefty.data.facts import Facts, Note, NoteKind
from nefty.physics.boundary import Boundary
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import LASTING, GaussianFlash, TopHatPulse, UniformFlash

Excitation = GaussianFlash | UniformFlash | TopHatPulse | HeatingCurve | np.ndarray
Range = slice | tuple[int, int]
FACE_MEANS = ("harmonic", "arithmetic", "min")
OBSERVE = ("front", "back", "both")


@dataclass(frozen=True, eq=False, repr=False)
class Sequence:
    """A recording of a part that cools after a flash.

    Args:
        frames: temperature rise above ambient, (t, y, x); for ``observe="both"`` (2, t, y, x), the front first.
            NaN marks values that are missing, in some pixels or all of a frame. float32 and float64 are kept, whole
            numbers become one of them.
        times: of the frames, counted from the flash, increasing; those before 0 show the part before it.
        size: edge lengths (z, y, x) of the part that the frames show, in the unit of the diffusivity.
        excitation: the flash or pulse, or the temperature (z, y, x) at t = 0.
        boundary: the sides of the part.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        face_mean: of the model.
        observe: which faces were seen, ``"front"``, ``"back"`` or ``"both"``.
        mask: pixels (y, x) that count; all if not given.
        noise: standard deviation of a value, or of the values of each frame, (t,); estimated if not given.
        truth: the diffusivity (z, y, x), where known; its cells may be smaller or larger than the pixels.
        facts: whatever else is known: units, material, camera, origin, known defects, and notes on what was done.
    """

    frames: np.ndarray
    times: np.ndarray
    size: tuple[float, float, float] | None = None
    excitation: Excitation | None = None
    boundary: Boundary = field(default_factory=Boundary)
    anisotropy: tuple[float, float] = (1.0, 1.0)
    face_mean: str = "harmonic"
    observe: str = "front"
    mask: np.ndarray | None = None
    noise: float | np.ndarray | None = None
    truth: np.ndarray | None = None
    facts: Facts = field(default_factory=Facts)

    def __post_init__(self) -> None:
        one_of("observe", self.observe, OBSERVE)
        one_of("face_mean", self.face_mean, FACE_MEANS)
        if not isinstance(self.boundary, Boundary):
            raise InputError(f"boundary={self.boundary!r} must be a nefty.Boundary(...).")
        frames = checks.frames(self.frames, self.observe)
        face = frames.shape[-2:]
        mask = None if self.mask is None else checks.mask(self.mask, frames)
        values = {
            "frames": frames,
            "times": checks.times(self.times, frames.shape[-3]),
            "size": None if self.size is None else _size(self.size),
            "excitation": checks.excitation(self.excitation, face),
            "anisotropy": anisotropy_ratios(self.anisotropy),
            "mask": mask,
            "noise": None if self.noise is None else checks.noise(self.noise, frames.shape[-3]),
            "truth": None if self.truth is None else checks.truth(self.truth, face),
            "facts": checks.facts(self.facts, face),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        t, y, x = self.shape
        when = f"t = {self.times[0]:g}..{self.times[-1]:g}"
        return f"Sequence({t} frames of {y} x {x} pixels, {when}, size={self.size}, observe={self.observe!r})"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of frames, rows and columns: (t, y, x)."""
        t, y, x = self.frames.shape[-3:]
        return t, y, x

    def grid(self, layers: int = 16, shape: tuple[int, int, int] | None = None) -> Grid:
        """The part as cells.

        Args:
            layers: number of cells along z, under each pixel.
            shape: number of cells (z, y, x), where they shall not have the size of the pixels.
        """
        if self.size is None:
            raise InputError(
                "the size of the part is not known; give the edge lengths of what the frames show, "
                "size=(thickness, height, width), or pixel=... and thickness=... to nefty.load."
            )
        return Grid(shape if shape is not None else (count("layers", layers), *self.shape[1:]), self.size)

    def weights(self) -> np.ndarray:
        """Which values count, those under the mask that are not missing; of the shape of the frames."""
        here = np.isfinite(self.frames)
        return here if self.mask is None else here & self.mask

    def with_mask(self, mask: np.ndarray | None) -> Sequence:
        """The same recording where only the pixels of ``mask`` (y, x) count."""
        return dataclasses.replace(self, mask=mask)

    def with_facts(self, facts: Facts) -> Sequence:
        """The same recording with other facts."""
        return dataclasses.replace(self, facts=facts)

    def after_flash(self) -> Sequence:
        """The frames after t = 0 that hold a number; notes say how many were left out."""
        late, here = self.times > 0, self._frames_with_numbers()
        if (late & here).all():
            return self
        if not (late & here).any():
            raise InputError(
                f"all {late.size} frames lie at or before the flash at t = 0 (the last at {self.times[-1]:g}), or hold "
                "only NaN; count the times from the flash."
            )
        reasons = {"at or before the flash at t = 0": ~late, "which hold no number": late & ~here}
        texts = [f"{n} of {late.size} frames, {why}, were left out." for why, x in reasons.items() if (n := x.sum())]
        late &= here
        noise = self.noise[late] if isinstance(self.noise, np.ndarray) else self.noise
        return dataclasses.replace(
            self,
            frames=self.frames[..., late, :, :],
            times=self.times[late],
            noise=noise,
            facts=self.facts.noted(*(Note(NoteKind.LEFT_OUT, text) for text in texts)),
        )

    def region(self, rows: Range, columns: Range) -> Sequence:
        """What lies under a rectangle of pixels, as a part of its own with adiabatic sides.

        Args:
            rows: first and one past the last row, as a slice or two numbers; negative ones count from the end.
            columns: the same along x.
        """
        _, ny, nx = self.shape
        (top, bottom), (left, right) = bounds("rows", rows, ny), bounds("columns", columns, nx)
        if (top, bottom, left, right) == (0, ny, 0, nx):
            return self
        cut = {"rows": (top, bottom, ny), "columns": (left, right, nx)}
        changed: dict[str, Any] = {
            "frames": self.frames[..., top:bottom, left:right],
            "excitation": self._excitation_of(cut),
            "boundary": dataclasses.replace(self.boundary, lateral="adiabatic"),
            "mask": None if self.mask is None else self.mask[top:bottom, left:right],
            "truth": None if self.truth is None else _crop("truth", self.truth, cut),
            "facts": self._facts_of(cut),
        }
        if self.size is not None:
            z, y, x = self.size
            changed["size"] = (z, y * (bottom - top) / ny, x * (right - left) / nx)
        return dataclasses.replace(self, **changed)

    def truth_on(self, shape: tuple[int, ...]) -> np.ndarray | None:
        """The true volume, if it is known on cells (z, y, x) of this shape."""
        return self.truth if self.truth is not None and self.truth.shape == shape else None

    def digest(self) -> str:
        """Hash of all that a reconstruction depends on: frames, times, sides, flash, and of the facts the material,
        whose diffusivity is where the calibration begins; not of the truth and of what is only shown.
        """
        left_out = ("truth", "facts")
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in left_out}
        alpha = None if self.facts.material is None else self.facts.material.alpha_z
        return digest({**values, "alpha_z": alpha, "in_metres": self.facts.units.in_metres})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a file that ``load`` reads back as it was; what it held stays until all of the new one is there.

        Args:
            path: ``.h5`` or ``.hdf5`` in pyThermoNDT's layout, ``.npz``, or ``.tif``, ``.tiff`` with a page per frame.
        """
        from nefty.data.save import save

        return save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], **given: Any) -> Sequence:
        """Read what ``save`` wrote, or any other recording as its file holds it; see ``nefty.read``."""
        from nefty.data.read import read

        return read(path, **given)

    def _frames_with_numbers(self) -> np.ndarray:
        """Which frames (t,) are not missing as a whole, on one face at least."""
        faces = self.frames.reshape(-1, *self.frames.shape[-3:])
        return np.array([any(np.isfinite(face[k]).any() for face in faces) for k in range(self.shape[0])])

    def _facts_of(self, cut: dict[str, tuple[int, int, int]]) -> Facts:
        """The facts of a rectangle of pixels."""
        (top, bottom, ny), (left, right, nx) = cut["rows"], cut["columns"]
        text = f"rows {top} to {bottom} of {ny} and columns {left} to {right} of {nx} were cut out."
        facts = self.facts.noted(Note(NoteKind.REGION, text)).replaced(window=self.facts.window.cut(top, left))
        known = facts.defects
        if known is not None:
            maps = {name: getattr(known, name) for name in ("mask", "depth")}
            cropped = {
                name: _crop(f"the {name} of known defects", values, cut)
                for name, values in maps.items()
                if values is not None
            }
            facts = facts.replaced(defects=dataclasses.replace(known, **cropped))
        if facts.gain is not None and facts.gain.shape == (ny, nx):
            facts = facts.replaced(gain=facts.gain[top:bottom, left:right].copy())
        return facts

    def _excitation_of(self, cut: dict[str, tuple[int, int, int]]) -> Excitation | None:
        """The part of the excitation over a rectangle of pixels."""
        given = self.excitation
        if isinstance(given, np.ndarray):
            return _crop("excitation", given, cut)
        if isinstance(given, LASTING) and given.profile is not None:
            return dataclasses.replace(given, profile=_crop("the pulse's profile", np.asarray(given.profile), cut))
        if isinstance(given, GaussianFlash):
            if self.size is None:
                raise InputError(
                    "where the region lies under the Gaussian flash depends on the part's size; give size=(z, y, x)."
                )
            _, y, x = self.size
            yc, xc = given.centre if given.centre is not None else (y / 2, x / 2)
            (top, _, ny), (left, _, nx) = cut["rows"], cut["columns"]
            return dataclasses.replace(given, centre=(yc - y * top / ny, xc - x * left / nx))
        return given


def _size(given: Any) -> tuple[float, float, float]:
    try:
        z, y, x = given
    except (TypeError, ValueError):
        raise InputError(f"size={given!r} must be three lengths, in the order (z, y, x).") from None
    z, y, x = (number(f"size along {a}", s, above=0) for a, s in zip(AXES, (z, y, x), strict=True))
    return z, y, x


def bounds(what: str, given: Range, length: int) -> tuple[int, int]:
    """First and one past the last, checked and from 0."""
    first, last = (given.start, given.stop) if isinstance(given, slice) else _pair(what, given)
    said = f"{what} {'' if first is None else first}:{'' if last is None else last}"
    if isinstance(given, slice) and given.step not in (None, 1):
        raise InputError(f"{said}:{given.step} leaves out pixels; a region takes all between two.")
    for end in (first, last):
        if end is not None and (isinstance(end, bool) or not isinstance(end, (int, np.integer))):
            raise InputError(f"{said} must be whole numbers of pixels.")
    first = 0 if first is None else int(first) + (length if first < 0 else 0)
    last = length if last is None else int(last) + (length if last < 0 else 0)
    if not 0 <= first < last <= length:
        raise InputError(
            f"{said} do not lie within the {length} {what} of the frames; give the first and one past the last, "
            f"from 0 to {length}."
        )
    return first, last


def _pair(what: str, given: Any) -> tuple[Any, Any]:
    try:
        first, last = given
    except (TypeError, ValueError):
        raise InputError(f"{what}={given!r} must be (first, one past last), or a slice.") from None
    return first, last


def _crop(what: str, array: np.ndarray, cut: dict[str, tuple[int, int, int]]) -> np.ndarray:
    """The rectangle of an array (..., y, x) whose cells may be smaller or larger than the pixels."""
    ends = []
    for axis, (name, (first, last, length)) in zip((-2, -1), cut.items(), strict=True):
        cells = array.shape[axis]
        if first * cells % length or last * cells % length:
            raise InputError(
                f"{name} {first} to {last} of {length} do not begin and end with a cell of {what}, which has {cells}; "
                f"choose a multiple of {length // np.gcd(cells, length)}, or leave {what} out."
            )
        ends.append(slice(first * cells // length, last * cells // length))
    return array[..., ends[0], ends[1]].copy()
