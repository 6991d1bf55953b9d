"""A look at a recording, in a process of its own."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from nefty.app.account import Account
from nefty.app.draft import Draft
from nefty.app.looking import MOST_FRAMES, chosen_frames, coarser
from nefty.app.looks import Look, Looks
from nefty.app.root import Root
from nefty.core.errors import InputError
from support.app.tiny_recording import write_counts, write_tiny

FACTS = {"fps": 20.0, "thickness": "4 mm", "pixel": "0.5 mm", "material": "pvc"}


def looked(root: Root, draft: Draft) -> Look:
    return asyncio.run(Looks(root).at(draft))


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Root:
    folder = tmp_path_factory.mktemp("root")
    write_counts(folder / "plate.npy")
    write_tiny(folder / "tiny.h5")
    (folder / "numpy.py").write_text("raise SystemExit('a file of the folder was run')")
    return Root.of(folder)


def test_what_is_missing_is_told_and_then_known(root):
    account = looked(root, Draft("plate.npy")).account
    assert [fact.name for fact in account.missing] == ["fps", "thickness", "pixel", "material"]
    assert account.shape == (60, 24, 32)
    known = looked(root, Draft("plate.npy").said(**FACTS)).account
    assert known.missing == ()
    assert known.thickness == pytest.approx(4e-3)
    assert known.pixel == pytest.approx((5e-4, 5e-4))
    assert (known.material, known.alpha, known.complete) == ("pvc", 1.2e-7, False)


def test_pictures_and_decays_are_those_of_the_file(root):
    draft = Draft("plate.npy").said(**FACTS, roi="2:22,4:30", bin="2")
    look, frames = looked(root, draft), np.load(root.path / "plate.npy")
    number = look.account.numbers[20]
    assert look.value(20, 6, 8) == frames[number, 6, 8]
    assert look.account.region == (2, 22, 4, 30)
    assert look.account.bin == 2
    decay = look.decay(6, 8)
    assert decay is not None
    assert decay.shape == (len(look.account.prepared_times),)
    assert look.decay(0, 0) is None
    assert look.picture(20, 300, 400).startswith(b"\x89PNG")
    for bad in ((99, 0.0, 1.0), (-1, 0.0, 1.0), (0, float("nan"), 1.0)):
        with pytest.raises(InputError):
            look.picture(*bad)


def test_a_recording_of_nefty_says_everything(root):
    account = looked(root, Draft("tiny.h5").said(roi="2:14,3:13")).account
    assert account.complete
    assert account.missing == ()
    assert account.region == (0, 16, 0, 16)  # a narrow flash: the region counts, the rest stays in the model


def test_a_second_look_is_kept_and_a_wrong_fact_is_said_as_inspect_says_it(root):
    looks = Looks(root)
    first, second = (asyncio.run(looks.at(Draft("tiny.h5"))) for _ in range(2))
    assert first.folder == second.folder
    with pytest.raises(InputError, match="--thickness"):
        asyncio.run(looks.at(Draft("plate.npy").said(thickness="1.3")))
    with pytest.raises(InputError, match="does not lie inside"):
        asyncio.run(looks.at(Draft("../plate.npy")))
    for name in ("../../etc", "x" * 32 + "/", "0" * 31):
        with pytest.raises(InputError):
            looks.kept(name)
    assert not list(root.looks.glob(".look-*"))


def test_few_frames_are_chosen_and_the_first_after_the_flash_are_all_there():
    times = np.arange(-50, 3000) * 0.01
    chosen = chosen_frames(times)
    assert len(chosen) <= MOST_FRAMES
    assert (np.diff(chosen) > 0).all()
    after = chosen[times[chosen] > 0]
    assert list(after[:5]) == [51, 52, 53, 54, 55]
    assert chosen[-1] == times.size - 1
    assert list(chosen_frames(times[:100])) == list(range(100))


def test_coarser_frames_keep_means_and_their_last_pixels():
    frame = np.arange(35.0).reshape(5, 7)
    small = coarser(frame, 2)
    assert small.shape == (3, 4)
    assert small[0, 0] == frame[:2, :2].mean()
    assert small[2, 3] == frame[4, 6]


def test_an_account_that_is_damaged_is_refused():
    with pytest.raises(InputError, match="open it again"):
        Account.of('{"shape": [1, 2, 3]}')
