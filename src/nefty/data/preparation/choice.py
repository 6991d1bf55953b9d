"""Which steps of the preparation are done, and how; everything can be set."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from nefty.core.configuration import Part, explain
from nefty.core.errors import InputError
from nefty.data.preparation.time_selection import FRAMES

Auto = Literal["auto", "off"]
FrameNumber = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
Region = tuple[int | None, int | None, int | None, int | None]
Corner = tuple[Annotated[float, Field(allow_inf_nan=False)], Annotated[float, Field(allow_inf_nan=False)]]


class Preparation(Part):
    """What ``prepare`` does. "auto" finds it from the recording, "off" leaves the step out.

    flash: number, from 0, of the frame in which the flash falls; found only where the file does not say.
    onset: when within it: "decay" goes back along the cooling, "frame" takes the frame's own time, "auto" goes back if
    the early cooling is that of a thick part and the frame's number is all that is known.
    ambient: the value to subtract, in the unit of the frames; "frames" takes one number, the median of the frames
    before the flash, "pixels" each pixel's mean over them, "auto" decides by whether the pixels differ.
    corrupt: numbers of frames to leave out.
    dead: pixels that say nothing.
    saturation: the value from which on the camera is saturated, in the unit of the file's frames.
    drift: of the camera, from the frames before the flash, or a region (y0, y1, x0, x1) that was not heated.
    roi: region of interest (y0, y1, x0, x1), first and one past last, None for the ends; "auto" is the part's outline.
    polygon: corners (y, x) in pixels, from 0 at the outer corner of the first; only pixels whose centre lies inside
    count, and the region is cut to them. leave_out: rectangles like roi whose pixels do not count.
    bin: average so many pixels along each side. pixel: to pixels of about this size instead.
    start, until: leave out frames before and after these times after the flash.
    frames: how many are left, as means over windows that grow with time. noise: of one value of the prepared pixels.
    gain: "joint" leaves it to the inversion, "early" divides the frames by its estimate. early: until when after the
    flash the frames show no defect, for that estimate.
    """

    flash: Auto | FrameNumber = "auto"
    onset: Literal["auto", "frame", "decay"] = "auto"
    ambient: Literal["auto", "frames", "pixels", "off"] | float = "auto"
    corrupt: Auto | tuple[FrameNumber, ...] = "auto"
    dead: Auto = "auto"
    saturation: Auto | float = "auto"
    drift: Auto | Region = "auto"
    roi: Auto | Region = "off"
    polygon: Annotated[tuple[Corner, ...], Field(min_length=3)] | None = None
    leave_out: tuple[Region, ...] = ()
    bin: Auto | Count = "auto"
    pixel: Positive | None = None
    start: Annotated[float, Field(ge=0)] | None = None
    until: Positive | None = None
    frames: Literal["off"] | Count = FRAMES
    noise: Positive | None = None
    gain: Literal["joint", "early"] = "joint"
    early: Positive | None = None


#: No step at all.
NOTHING: dict[str, Any] = dict.fromkeys(
    ("flash", "ambient", "corrupt", "dead", "saturation", "drift", "roi", "bin", "frames"), "off"
)


def preparation(**given: Any) -> Preparation:
    """A checked choice; an unknown name is an error with the nearest known one."""
    try:
        return Preparation.model_validate(given)
    except ValidationError as error:
        raise InputError(f"preparation: {explain(error, Preparation)}") from None
