"""The record of an inspection: what standards ask to be written down besides the measurement itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date as Day
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from nefty.core.configuration import Part
from nefty.core.units import quantity

LONGEST = 2000  # characters of a text
MOST = 100  # deviations


def _text(given: Any) -> Any:
    """Numbers are taken as text: ``serial = 1042``."""
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


def _day(given: Any) -> Any:
    """A date of TOML, or text, as ISO 8601; empty as it is."""
    if isinstance(given, (datetime, Day)):
        return given.isoformat()
    if isinstance(given, str) and given and not re.match(r"\d{4}-\d{2}-\d{2}([T ]|$)", given):
        raise ValueError("must be year, month and day, such as 2026-11-17")
    return given


def _of(kind: str) -> Callable[[Any], Any]:
    """A check that a text is a quantity of this kind; the text stays as it was written."""

    def check(given: Any) -> Any:
        if given != "":
            quantity(given, kind, "this")
        return given

    return check


def _listed(given: Any) -> Any:
    return (given,) if isinstance(given, str) and given else given


Text = Annotated[str, BeforeValidator(_text), Field(max_length=LONGEST)]
Date = Annotated[str, BeforeValidator(_day), Field(max_length=40)]
Length = Annotated[str, BeforeValidator(_of("length")), Field(max_length=40)]
Energy = Annotated[str, BeforeValidator(_of("energy")), Field(max_length=40)]
Temperature = Annotated[str, BeforeValidator(_of("temperature")), Field(max_length=40)]


class InspectionRecord(Part):
    """Empty where nothing is recorded. Quantities are text with a unit, such as ``"600 mm"``.

    Args:
        part: its name.
        serial: number of the part.
        drawing: number and issue.
        location: where it was inspected.
        date: of the recording, ``2026-11-17``.
        inspector: his name.
        qualification: level and certificate of the inspector.
        procedure: by which it was done.
        revision: of the procedure.
        customer: for whom.
        camera_serial: serial number of the camera.
        camera_calibration: when and by whom it was calibrated, number of the certificate.
        standoff: from the camera to the part.
        surface: its state: as moulded, painted black, cleaned.
        flash_energy: of the lamps.
        ambient: temperature of the air.
        reference_specimen: its number.
        reference_run: folder of a run of nefty on the reference specimen, with which the report compares.
        depth_of_interest: down to which the part matters; its whole thickness if not recorded.
        not_inspected: what of the part was not inspected, and why.
        deviations: from the procedure.
    """

    part: Text = ""
    serial: Text = ""
    drawing: Text = ""
    location: Text = ""
    date: Date = ""
    inspector: Text = ""
    qualification: Text = ""
    procedure: Text = ""
    revision: Text = ""
    customer: Text = ""
    camera_serial: Text = ""
    camera_calibration: Text = ""
    standoff: Length = ""
    surface: Text = ""
    flash_energy: Energy = ""
    ambient: Temperature = ""
    reference_specimen: Text = ""
    reference_run: Text = ""
    depth_of_interest: Length = ""
    not_inspected: Text = ""
    deviations: Annotated[tuple[Text, ...], BeforeValidator(_listed), Field(max_length=MOST)] = ()

    def recorded(self) -> dict[str, str]:
        """What is recorded, in words, by its name in words: ``{"camera serial": "A-77"}``."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        values["deviations"] = "; ".join(self.deviations)
        return {name.replace("_", " "): value for name, value in values.items() if value}

    def not_recorded(self) -> list[str]:
        """Names, in words, of what is not recorded."""
        known = self.recorded()
        return [words for name in type(self).model_fields if (words := name.replace("_", " ")) not in known]

    @property
    def interest(self) -> float | None:
        """Depth down to which the part matters, in metres; ``None`` if it is not recorded."""
        return quantity(self.depth_of_interest, "length") if self.depth_of_interest else None
