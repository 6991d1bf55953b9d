"""What one open page of a recording holds: the look, the picture that is shown, the points that were clicked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from nefty.app.desk import Desk
from nefty.app.draft import Draft
from nefty.app.looks import Look
from nefty.core.errors import NeftyError
from nefty.data.intake.known import Known

REGION = ("roi", "polygon", "leave_out")  # facts that change no fact that could be missing
MOST_POINTS = 5


class Viewing:
    """The state of one page, and who is to be told when it changes.

    Args:
        desk: of the server.
        file: the recording, relative to the root.
    """

    def __init__(self, desk: Desk, file: str) -> None:
        self.desk, self.file = desk, file
        self.look: Look | None = None
        self.problem = ""
        self.points: list[tuple[int, int]] = []
        self._looked: Known | None = None
        self._told: list[Callable[[], object]] = []

    @property
    def draft(self) -> Draft:
        """What is put together so far."""
        return self.desk.draft(self.file)

    def on_change(self, tell: Callable[[], object]) -> None:
        """Have ``tell`` called whenever draft, look or points change."""
        self._told.append(tell)

    def changed(self) -> None:
        """Tell all."""
        for tell in self._told:
            tell()

    def say(self, **changes: Any) -> None:
        """Keep other facts."""
        self.desk.keep(self.draft.said(**changes))
        self.changed()

    def set(self, **changes: Any) -> None:
        """Keep another way to run."""
        self.desk.keep(dataclasses.replace(self.draft, **changes))
        self.changed()

    def point(self, row: int, column: int) -> None:
        """Add a point whose decay is drawn; the oldest gives way."""
        self.points = [*self.points, (row, column)][-MOST_POINTS:]
        self.changed()

    @property
    def up_to_date(self) -> bool:
        """Whether the look knows all facts but the region."""
        return self.look is not None and self._looked is not None and _facts(self._looked) == _facts(self.draft.known)

    async def look_again(self, progress: Callable[[str, float], object] = lambda stage, fraction: None) -> bool:
        """Look at the recording with the facts as they are now; False if that cannot be, then ``problem`` says why."""
        draft = self.draft
        try:
            self.look, self.problem, self._looked = await self.desk.looks.at(draft, progress), "", draft.known
        except NeftyError as error:
            self.problem = str(error)
        self.changed()
        return not self.problem


def _facts(known: Known) -> dict[str, Any]:
    return {name: value for name, value in known.given().items() if name not in REGION}
