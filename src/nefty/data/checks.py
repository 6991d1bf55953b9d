"""Checks of a recording's arrays; what passes comes back in the form the library keeps it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import plain
from nefty.data.facts import Facts
from nefty.physics.pulses import LASTING, GaussianFlash, UniformFlash


def frames(given: Any, observe: str) -> np.ndarray:
    """Frames as C-contiguous float32 or float64, (t, y, x) or (2, t, y, x); NaN is allowed, infinity is not."""
    values = _numbers("frames", given)
    order = "(2, t, y, x), the front first" if observe == "both" else "(t, y, x)"
    if values.ndim != (4 if observe == "both" else 3) or (observe == "both" and values.shape[0] != 2):
        hint = ' Set observe="both" if they show both faces.' if values.ndim == 4 and observe != "both" else ""
        raise InputError(f'frames have shape {values.shape}; observe="{observe}" needs {order}.{hint}')
    if 0 in values.shape:
        raise InputError(f"frames have shape {values.shape}, so there is nothing in them; {order} must not hold a 0.")
    here = _frames_with_numbers(values)
    for face in range(values.shape[0] if observe == "both" else 0):
        if not here[face].any():
            raise InputError(
                f"the frames of the {('front', 'back')[face]} hold no number at all; "
                f'give the other face alone, with observe="{("back", "front")[face]}".'
            )
    if not here.any():
        raise InputError("the frames hold no number at all, only NaN; check how the file was read.")
    return values


def times(given: Any, frames: int) -> np.ndarray:
    """Times as float64, one per frame, finite and increasing; negative ones lie before the flash."""
    values = _numbers("times", given).astype(np.float64)
    if values.shape != (frames,):
        raise InputError(f"times have shape {values.shape}, the recording {frames} frames; give one time per frame.")
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"times[{bad}]={values[bad]} is not finite; leave that frame out or repair its time.")
    steps = np.diff(values)
    if (steps <= 0).any():
        bad = int(np.flatnonzero(steps <= 0)[0])
        raise InputError(
            f"times must increase: times[{bad}]={values[bad]:g} is followed by times[{bad + 1}]={values[bad + 1]:g}; "
            "sort the frames by time and leave out repeated ones."
        )
    return values


def mask(given: Any, frames: np.ndarray) -> np.ndarray:
    """Pixels that count, as booleans (y, x), at least one of them with a number in some frame."""
    values = np.asarray(given)
    face = frames.shape[-2:]
    if values.dtype != bool and not (values.dtype.kind in "iu" and np.isin(values, (0, 1)).all()):
        raise InputError(f"the mask holds {values.dtype}; it must be true or false per pixel, such as mask > 0.")
    if values.shape != face:
        raise InputError(f"the mask has shape {values.shape}, a frame {face} (y, x); they must be equal.")
    values = values.astype(bool)
    if not values.any():
        raise InputError("the mask is false everywhere, so no pixel counts; invert it, or leave it out for all pixels.")
    if not np.isfinite(frames[..., values]).any():
        raise InputError("the frames hold only NaN where the mask is true; invert it, or mark other pixels.")
    return values


def excitation(given: Any, face: tuple[int, ...]) -> Any:
    """A flash or pulse as it is, or a temperature (z, y, x) as floating-point numbers."""
    if given is None or isinstance(given, (GaussianFlash, UniformFlash)):
        return given
    if isinstance(given, LASTING):
        if given.profile is not None:
            _over_the_face("the pulse's profile", np.asarray(given.profile), face, 2)
        return given
    if isinstance(given, (str, Mapping)) or np.ndim(given) == 0:
        raise InputError(
            f"excitation={given!r} must be a GaussianFlash, UniformFlash, TopHatPulse or HeatingCurve, or the "
            "temperature (z, y, x) at t = 0."
        )
    return _finite("excitation", _over_the_face("excitation", _numbers("excitation", given), face, 3))


def truth(given: Any, face: tuple[int, ...]) -> np.ndarray:
    """Diffusivity (z, y, x), finite and positive."""
    values = _finite("truth", _over_the_face("truth", _numbers("truth", given), face, 3))
    if (values <= 0).any():
        where = _first(values <= 0)
        raise InputError(f"truth{list(where)}={values[where]:g} must be above 0; an insulator is a small value.")
    return values


def facts(given: Any, face: tuple[int, ...]) -> Facts:
    """Facts whose maps cover the face and whose further values can be saved."""
    if not isinstance(given, Facts):
        raise InputError(f"facts={given!r} must be a nefty.Facts(...); facts_of_meta makes one of an old meta.")
    if given.defects is not None:
        for name in ("mask", "depth"):
            values = getattr(given.defects, name)
            if values is not None:
                _over_the_face(f"the {name} of known defects", np.asarray(values), face, 2)
    plain("extra", given.extra)
    return given


def _numbers(what: str, given: Any) -> np.ndarray:
    """A C-contiguous float32 or float64 array; the same memory, if it is one already."""
    try:
        values = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{what} must be an array of numbers: {error}") from None
    if values.dtype.kind not in "iuf":
        raise InputError(f"{what} hold {values.dtype}; they must be real numbers, such as float32.")
    exact = values.dtype.itemsize <= (4 if values.dtype.kind == "f" else 2)
    return np.ascontiguousarray(values, dtype=np.float32 if exact else np.float64)


def noise(given: Any, frames: int) -> float | np.ndarray:
    """A standard deviation, at least 0, or one for each frame, (t,)."""
    if np.ndim(given) == 0:
        return number("noise", given, at_least=0)
    values = _numbers("noise", given).astype(np.float64)
    if values.shape != (frames,):
        raise InputError(f"noise has shape {values.shape}; give one number, or one for each of the {frames} frames.")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InputError(f"noise of {values.min():g} to {values.max():g} must be finite and at least 0.")
    return values


def _frames_with_numbers(values: np.ndarray) -> np.ndarray:
    """Which frames (..., t) hold a number that is not missing; refuses infinite ones. Looks at a frame at a time."""
    here = np.zeros(values.shape[:-2], bool)
    count, where = 0, None
    for at in np.ndindex(here.shape):
        frame = values[at]
        finite = np.isfinite(frame)
        here[at] = finite.any()
        if not finite.all() and (infinite := np.isinf(frame)).any():
            where = where or (*at, *_first(infinite))
            count += np.count_nonzero(infinite)
    if where is not None:
        raise InputError(
            f"frames{list(where)}={values[where]} is infinite (the first of {count}); mark missing values with NaN."
        )
    return here


def _finite(what: str, values: np.ndarray) -> np.ndarray:
    if not np.isfinite(values).all():
        where = _first(~np.isfinite(values))
        raise InputError(f"{what}{list(where)}={values[where]} is not finite; repair that cell first.")
    return values


def _over_the_face(what: str, values: np.ndarray, face: tuple[int, ...], axes: int) -> np.ndarray:
    """Check that an array (z, y, x) or (y, x) covers the rectangle that the frames show, in cells of any size."""
    order = "(z, y, x)" if axes == 3 else "(y, x)"
    if values.ndim != axes or 0 in values.shape:
        raise InputError(f"{what} has shape {values.shape}; it must be {order} with at least one cell along each.")
    if values.shape[-2] * face[1] != values.shape[-1] * face[0]:
        raise InputError(
            f"{what} has shape {values.shape} {order}, while frames have {face} (y, x), another ratio "
            "of rows to columns; crop or resample it."
        )
    return values


def _first(bad: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0])
