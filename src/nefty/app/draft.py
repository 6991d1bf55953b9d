"""What was clicked together: a recording, what is known of it, and how to run; as a command line and as Python.

The command is what the app runs; nothing else decides a result.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.core.configuration import parse_assignment
from nefty.core.errors import InputError
from nefty.core.terminal_text import option_of
from nefty.data.intake.known import Known

NOTHING_SAID = Known(typed=True)


@dataclass(frozen=True, eq=False)
class Draft:
    """A run that is being put together.

    Args:
        file: the recording, relative to the root.
        known: what the user said of it; texts and numbers, as the command line takes them.
        recipe: its name; chosen by the recording if None.
        false_calls: accepted in a sound part, on average; the recipe's if None.
        seconds: after which the run pauses; None for never.
        settings: changes of the recipe, ``"KEY=VALUE"`` each.
        region: number of an indication that is solved again in the camera's own pixels; None for the whole part.
        overview: folder of the run that has this indication, relative to the root.
    """

    file: str
    known: Known = NOTHING_SAID
    recipe: str | None = None
    false_calls: float | None = None
    seconds: float | None = None
    settings: tuple[str, ...] = ()
    region: int | None = None
    overview: str | None = None

    def closer(self, overview: str, indication: int) -> Draft:
        """A closer look at an indication of the run in a folder; it chooses rectangle and pixels itself."""
        known = dataclasses.replace(self.known, roi=None, bin=None)
        return dataclasses.replace(self, known=known, region=indication, overview=overview)

    def said(self, **changes: Any) -> Draft:
        """With other facts; None takes one back."""
        return dataclasses.replace(self, known=dataclasses.replace(self.known, **changes))

    @property
    def as_file(self) -> str:
        """The recording as a word that no option can be mistaken for."""
        return f"./{self.file}" if self.file.startswith("-") else self.file

    def options(self) -> list[str]:
        """The facts as options."""
        return [word for name, value in self.known.given().items() for word in _option(name, value)]

    def words(self, out: str) -> list[str]:
        """The command that runs it, from the root."""
        more = {"recipe": self.recipe, "false_calls": self.false_calls, "seconds": self.seconds}
        more |= {"region": self.region, "overview": self.overview}
        given = [word for name, value in more.items() if value is not None for word in _option(name, value)]
        given += [word for text in self.settings for word in ("--set", text)]
        return ["nefty", "reconstruct", self.as_file, "--out", out, *given, *self.options()]

    def command(self, out: str) -> str:
        """The same as it is typed."""
        return shlex.join(self.words(out))

    def python(self, out: str) -> str:
        """The same in Python."""
        facts = "".join(f",\n    {name}={value!r}" for name, value in self.known.given().items())
        changes = {"stop.seconds": self.seconds, "evidence.false_calls": self.false_calls}
        changes = {key: value for key, value in changes.items() if value is not None}
        changes |= dict(map(parse_assignment, self.settings))
        how = "" if self.recipe is None else f", recipe={self.recipe!r}"
        how += f", overrides={changes!r}" if changes else ""
        if self.region is not None:
            how += "".join(f", {name}={value!r}" for name, value in self.known.given().items())
            call = f"{self.file!r}, {self.overview!r}, {self.region}{how}, run={out!r}"
            return f"import nefty\n\nrec = nefty.close_up({call})\nrec.write({out!r})\n"
        return (
            f"import nefty\n\nseq = nefty.load({self.file!r}{facts}{chr(10) if facts else ''})\n"
            f"rec = nefty.reconstruct(seq{how}, run={out!r})\nrec.write({out!r})\n"
        )

    def record(self) -> dict[str, Any]:
        """As plain values, for a file."""
        rest = {"file": self.file, "recipe": self.recipe, "false_calls": self.false_calls, "seconds": self.seconds}
        rest |= {"region": self.region, "overview": self.overview}
        return {**rest, "settings": list(self.settings), "known": self.known.given()}

    @staticmethod
    def from_record(record: Any) -> Draft:
        """What ``record`` was taken of, or an error."""
        try:
            values = dict(record)
            settings = tuple(str(text) for text in values.get("settings", ()))
            return Draft(**{**values, "settings": settings, "known": Known.of(values["known"], typed=True)})
        except (TypeError, KeyError, ValueError) as error:
            raise InputError(f"not the record of a run of the app: {error}.") from None


def read_draft(path: Path) -> Draft:
    """From a file that holds a record."""
    try:
        return Draft.from_record(json.loads(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise InputError(f"{path.name} cannot be read: {error}") from None


def _option(name: str, value: Any) -> list[str]:
    if value is True:
        return [option_of(name)]
    text = repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
    return [f"{option_of(name)}={text}"] if text.startswith("-") else [option_of(name), text]
