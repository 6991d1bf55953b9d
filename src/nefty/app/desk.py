"""What all pages of one server share: the root, looks, runs, results, and what is being put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from nefty.app.draft import Draft
from nefty.app.jobs import Jobs
from nefty.app.looks import Looks
from nefty.app.results import Results
from nefty.app.root import Root


@dataclass(frozen=True, eq=False)
class Desk:
    """One per server.

    Args:
        root: the folder that the app sees.
        looks: at recordings.
        jobs: runs.
        results: of them.
        drafts: what is being put together, by file: a page that is loaded again finds it as it was.
    """

    root: Root
    looks: Looks
    jobs: Jobs
    results: Results = field(default_factory=Results)
    drafts: dict[str, Draft] = field(default_factory=dict)

    def draft(self, file: str) -> Draft:
        """Of a recording; empty at first."""
        return self.drafts.setdefault(file, Draft(file))

    def keep(self, draft: Draft) -> None:
        """In place of the one before."""
        self.drafts[draft.file] = draft


def desk_of(root: Root, at_once: int = 1) -> Desk:
    """A new one."""
    return Desk(root, Looks(root), Jobs(root, at_once))
