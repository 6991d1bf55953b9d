"""What was clicked, as a command line, as Python, and back."""

from __future__ import annotations

import shlex

import pytest
from typer.testing import CliRunner

from nefty.app.draft import Draft
from nefty.cli import main, reconstruct
from nefty.core.errors import InputError
from nefty.data.intake.known import Known

DRAFT = Draft("folder/a plate.npy", recipe="real", false_calls=0.1).said(
    thickness="1.3 mm",
    pixel="0.2 mm",
    fps=50.0,
    flash_frame=10,
    material="cfrp",
    no_losses=True,
    roi="-20:,10:50",
    polygon="1,1 1,15 11,8",
    leave_out="1:3,7:9 4:5,8:9",
)


def test_the_command_line_means_what_was_clicked(monkeypatch):
    """The real parser of the command line reads the words back to the same facts."""
    read: list[Known] = []

    def known(options):
        read.append(options)
        raise InputError("enough")

    monkeypatch.setattr(reconstruct, "_read", lambda file, known_facts, stages: known(known_facts))
    words = shlex.split(DRAFT.command("nefty-app/runs/a-1"))
    CliRunner().invoke(main.app, words[1:])
    (found,) = read
    assert found.given() == DRAFT.known.given()


def test_the_command_is_readable():
    assert Draft("plate.h5").said(thickness="1.3 mm").command("out") == (
        "nefty reconstruct plate.h5 --out out --thickness '1.3 mm'"
    )
    assert "--roi=-20:,10:50" in DRAFT.words("out")
    assert Draft("-odd.h5").words("out")[2] == "./-odd.h5"


def test_a_closer_look_is_the_command_that_solves_one_indication_again():
    near = DRAFT.closer("nefty-app/runs/a-1", 3)
    words = near.words("out")
    assert words[words.index("--region") + 1] == "3"
    assert words[words.index("--overview") + 1] == "nefty-app/runs/a-1"
    assert not any(word.startswith(("--roi", "--bin")) for word in words)  # which --region refuses
    assert "--leave-out" in words
    called: dict[str, object] = {}

    class Fake:
        @staticmethod
        def close_up(file, overview, indication, **how):
            called.update(file=file, overview=overview, indication=indication, **how)
            return Fake

        @staticmethod
        def write(out):
            called["written"] = out

    exec(near.python("out").replace("import nefty\n", ""), {"nefty": Fake})
    assert (called["file"], called["overview"], called["indication"]) == (DRAFT.file, "nefty-app/runs/a-1", 3)
    assert (called["thickness"], called["recipe"], called["written"]) == ("1.3 mm", "real", "out")
    assert Draft.from_record(near.record()).words("out") == words


def test_python_is_valid_and_names_the_same_facts():
    called: dict[str, object] = {}

    class Fake:
        @staticmethod
        def load(file, **known):
            called.update(file=file, known=known)

        @staticmethod
        def reconstruct(sequence, **how):
            called.update(how)
            return Fake

        @staticmethod
        def write(out):
            called["written"] = out

    text = DRAFT.python("out").replace("import nefty\n", "")
    exec(text, {"nefty": Fake})
    assert called["file"] == DRAFT.file
    assert called["known"] == DRAFT.known.given()
    assert called["recipe"] == "real"
    assert called["overrides"] == {"evidence.false_calls": 0.1}
    assert called["run"] == called["written"] == "out"


def test_a_record_comes_back_and_a_foreign_one_is_refused():
    again = Draft.from_record(DRAFT.record())
    assert again.command("out") == DRAFT.command("out")
    for bad in ({}, [], {"file": "x", "known": {"thicknes": "1 mm"}}, {"file": "x", "known": {}, "odd": 1}):
        with pytest.raises(InputError):
            Draft.from_record(bad)


def test_a_fact_is_taken_back():
    assert Draft("x").said(roi="1:2,3:4").said(roi=None).options() == []
