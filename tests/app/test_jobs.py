"""Runs of the app: the command in its own process, its folder, the queue."""

from __future__ import annotations

import asyncio
import dataclasses
import shlex
import subprocess
import sys

import numpy as np
import pytest

from nefty.app.draft import Draft
from nefty.app.jobs import Jobs, State
from nefty.app.processes import python_command
from nefty.app.root import Root
from nefty.core.errors import InputError
from nefty.result.reconstruction import Reconstruction
from support.app.tiny_recording import quick_settings, write_tiny

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="runs are stopped by SIGINT")


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Root:
    folder = tmp_path_factory.mktemp("root")
    write_tiny(folder / "tiny.h5")
    return Root.of(folder)


async def until(jobs: Jobs, name: str, *states: State, seconds: float = 300) -> State:
    for _ in range(int(10 * seconds)):
        if (state := jobs.run(name).state) in states:
            return state
        await asyncio.sleep(0.1)
    raise AssertionError(f"{name} is {jobs.run(name).state.value} after {seconds} s: {jobs.log(name)}")


def draft(first: int = 4, file: str = "tiny.h5") -> Draft:
    return dataclasses.replace(Draft(file), settings=quick_settings(first))


def assert_equal(one: Reconstruction, other: Reconstruction) -> None:
    """Bit for bit, but for seconds."""
    for name in ("alpha", "background", "times", "measured", "fitted"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
    assert [d.__dict__ for d in one.indications()].__repr__() == [d.__dict__ for d in other.indications()].__repr__()
    assert one.recipe == other.recipe
    assert one.provenance["input"] == other.provenance["input"]
    assert np.array_equal(one.history["misfit"], other.history["misfit"])


def test_a_run_that_was_stopped_and_resumed_equals_the_printed_command(root):
    """Queue, cancel, resume; then the command as it is printed, in another folder: the same to the bit."""

    async def story() -> str:
        jobs = Jobs(root)
        name, second = jobs.add(draft(400)), jobs.add(draft())
        assert jobs.run(second).state is State.WAITING
        jobs.cancel(second)
        assert jobs.run(second).state is State.PAUSED
        while (progress := jobs.run(name).progress) is None or not progress.total:
            await asyncio.sleep(0.05)
        assert progress.stage == "Optimise"
        jobs.cancel(name)
        assert await until(jobs, name, State.PAUSED) is State.PAUSED
        paused = jobs.run(name)
        assert paused.has_result
        assert Reconstruction.load(paused.folder).stopped.cut_short
        jobs.resume(name)
        assert await until(jobs, name, State.FINISHED, State.FAILED) is State.FINISHED
        return name

    name = asyncio.run(story())
    words = shlex.split(draft(400).command("by-hand"))
    subprocess.run(python_command(root.path, "nefty.cli.main:main", *words[1:]), check=True, capture_output=True)
    assert_equal(Reconstruction.load(root.runs / name), Reconstruction.load(root.path / "by-hand"))


def test_a_run_that_cannot_be_says_why_and_the_next_one_works(root):
    async def story() -> None:
        jobs = Jobs(root)
        bad = jobs.add(dataclasses.replace(draft(), recipe="none-such"))
        assert await until(jobs, bad, State.FAILED, State.FINISHED, State.PAUSED) is State.FAILED
        assert "none-such" in jobs.run(bad).reason
        good = jobs.add(draft())
        assert await until(jobs, good, State.FINISHED, State.FAILED) is State.FINISHED
        assert jobs.runs()[0].name == good

    asyncio.run(story())


def test_closing_the_server_keeps_the_state_of_a_run(root):
    async def story() -> str:
        jobs = Jobs(root)
        name = jobs.add(draft(400))
        while (progress := jobs.run(name).progress) is None or not progress.total:
            await asyncio.sleep(0.05)
        await jobs.close()
        return name

    name = asyncio.run(story())
    found = Jobs(root).run(name)
    assert found.state is State.PAUSED
    assert found.has_result


def test_names_of_runs_stay_inside(root):
    jobs = Jobs(root)
    for name in ("../x", "", ".hidden", "a/b", "<b>"):
        with pytest.raises(InputError):
            jobs.run(name)
    with pytest.raises(InputError, match="there is no run"):
        jobs.run("none")
    assert jobs.next_name(Draft("a/<img src=x>.h5")) == "_img_src_x_-1"
