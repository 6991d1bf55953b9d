"""Facts that were clicked are kept in a file beside the recording, and found there by the next command."""

from __future__ import annotations

import asyncio

import pytest

from nefty.app.draft import Draft
from nefty.app.root import Root
from nefty.app.saved_facts import save_facts
from nefty.core.errors import NeftyError
from nefty.data.intake.known import Known
from nefty.data.intake.part_file import with_files
from support.app.tiny_recording import write_counts

SAID = {"thickness": "4 mm", "pixel": "0.5 mm", "fps": 20.0, "material": "pvc", "leave_out": "1:3,7:9"}


def test_what_was_clicked_is_read_back_and_never_overwritten(tmp_path):
    root = Root.of(tmp_path)
    file = write_counts(tmp_path / "-plate.npy", frames=30)
    assert asyncio.run(save_facts(root, Draft(file.name).said(**SAID))) == "-plate.toml"
    found, said = with_files(file, Known())
    assert found.given() == SAID
    assert "-plate.toml" in " ".join(said)
    assert not list(root.looks.iterdir())  # the page that the command writes is not kept
    with pytest.raises(NeftyError, match="is there already"):
        asyncio.run(save_facts(root, Draft(file.name).said(**SAID)))
