"""Writing data sets: the same from any number of processes, resumable, and clear where it cannot go on."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from nefty.core.errors import InputError, NeftyError
from nefty.core.grid import Grid
from nefty.core.storage.folder_lock import take_folder
from nefty.data.read import read
from nefty.synth.camera import Camera
from nefty.synth.data_set import DataPlan, DataSet
from nefty.synth.data_writer import write_data_set
from nefty.synth.recording import resimulate
from nefty.synth.setup import Setup
from support.disks import file_size_limit
from support.known_facts import simulation_of

GRID = Grid((3, 8, 8), (1.0, 10.0, 10.0))
PLAN = DataPlan(setup=Setup(grid=GRID, times=[0.1, 0.4], safety=2.0, camera=Camera(noise=0.01), dtype="float32"))


def digests(data):
    return {entry.seed: entry.digest for entry in data.entries}


def write(folder, seeds, plan=PLAN, **options):
    return write_data_set(folder, seeds, plan, **{"processes": 1, **options})


def times_of(folder):
    return {p.name: p.stat().st_mtime_ns for p in folder.glob("*.h5")}


def test_every_file_is_made_again_bit_by_bit_from_its_own_record(tmp_path):
    data = write(tmp_path, range(3))
    for entry in data.entries:
        saved = read(tmp_path / entry.name)
        again = resimulate(saved)
        assert np.array_equal(again.frames, saved.frames)
        assert np.array_equal(again.times, saved.times)
        assert np.array_equal(np.asarray(again.truth), np.asarray(saved.truth))
        assert {"engine", "face_mean"} <= simulation_of(saved).record.keys()
        assert "nefty" in simulation_of(saved).versions


def test_what_is_there_is_kept_and_more_seeds_extend_it(tmp_path):
    seen = []
    first = write(tmp_path, [0, 1], progress=lambda *a: seen.append(a))
    assert seen == [(1, 2), (2, 2)]
    before = times_of(tmp_path)
    more = write(tmp_path, [1, 2])
    assert [entry.seed for entry in more.entries] == [0, 1, 2]
    assert digests(first).items() <= digests(more).items()
    assert before.items() <= times_of(tmp_path).items()
    assert digests(DataSet.open(tmp_path)) == digests(more)


def test_what_is_missing_or_damaged_is_made_again(tmp_path):
    whole = write(tmp_path, range(4))
    before = times_of(tmp_path)
    (tmp_path / "homogeneous-0.h5").unlink()
    (tmp_path / "homogeneous-1.h5").write_bytes(b"half")
    os.replace(tmp_path / "homogeneous-3.h5", tmp_path / "homogeneous-2.h5")
    again = write(tmp_path, range(4))
    assert digests(again) == digests(whole)
    assert len(list(again)) == 4  # loads and compares each
    assert before["homogeneous-0.h5"] != times_of(tmp_path)["homogeneous-0.h5"]


def test_files_of_a_killed_process_are_found_without_the_index(tmp_path):
    whole = write(tmp_path, range(3))
    before = times_of(tmp_path)
    (tmp_path / "index.json").unlink()
    (tmp_path / ".homogeneous-2.h5.abcdefgh").write_bytes(b"litter")
    (tmp_path / ".index.json.abcdefgh").write_bytes(b"litter")
    again = write(tmp_path, range(3))
    assert digests(again) == digests(whole)
    assert times_of(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == [".lock"]


def test_a_file_in_the_way_is_not_overwritten(tmp_path):
    other = DataPlan(setup=Setup(grid=GRID, times=[0.1], dtype="float32"))
    file = other.make(1).save(tmp_path / "homogeneous-1.h5")
    content = file.read_bytes()
    with pytest.raises(InputError, match=r"homogeneous-1\.h5 is in the way: it holds another recording"):
        write(tmp_path, range(3))
    file.write_bytes(b"my notes")
    with pytest.raises(InputError, match="in the way"):
        write(tmp_path, range(3))
    assert file.read_bytes() == b"my notes" != content
    assert [entry.seed for entry in DataSet.open(tmp_path).entries] == [0]  # what was done is listed


def test_other_settings_in_the_same_folder_are_refused(tmp_path):
    write(tmp_path, [0])
    before = (tmp_path / "index.json").read_bytes()
    for plan, message in [
        (DataPlan("layered", setup=PLAN.setup), "kind is 'homogeneous' there and 'layered' now"),
        (DataPlan(setup=Setup(grid=GRID, times=[0.1, 0.4], safety=2.0, dtype="float32")), r"setup\.camera\.noise is"),
    ]:
        with pytest.raises(InputError, match=message):
            write(tmp_path, [0], plan)
    assert (tmp_path / "index.json").read_bytes() == before


def test_ctrl_c_keeps_what_is_done_and_the_same_call_goes_on(tmp_path):
    def press(done, total):
        if done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a", range(5), progress=press)
    assert [entry.seed for entry in DataSet.open(tmp_path / "a").entries] == [0, 1]
    assert digests(write(tmp_path / "a", range(5))) == digests(write(tmp_path / "b", range(5)))


def test_processes_make_the_same_files_and_stop_at_ctrl_c(tmp_path):
    def press(done, total):
        if done == 1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a", range(1000), processes=2, progress=press)
    done = len(DataSet.open(tmp_path / "a"))
    assert 1 <= done < 1000
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    many = write(tmp_path / "a", range(done + 3), processes=2)
    assert digests(many) == digests(write(tmp_path / "b", range(done + 3)))
    (tmp_path / "a" / "homogeneous-999.h5").write_bytes(b"my notes")  # an error of a worker comes here
    with pytest.raises(InputError, match="in the way"):
        write(tmp_path / "a", [0, 999], processes=2)


def test_it_works_in_a_thread_too(tmp_path):
    found = []
    thread = threading.Thread(target=lambda: found.append(write(tmp_path, [0, 1])))
    thread.start()
    thread.join()
    assert len(found[0]) == 2


def test_a_full_disk_is_said_and_what_is_done_stays(tmp_path):
    write(tmp_path, [0])
    with file_size_limit(4096), pytest.raises(NeftyError, match=r"cannot write .*homogeneous-1\.h5.*free some space"):
        write(tmp_path, range(3))
    assert sorted(p.name for p in tmp_path.glob("*.h5")) == ["homogeneous-0.h5"]
    assert len(write(tmp_path, range(3))) == 3


def test_two_processes_do_not_write_one_folder(tmp_path):
    lock = take_folder(tmp_path)
    with pytest.raises(NeftyError, match="another run works in"):
        write(tmp_path, [0])
    os.close(lock)
    write(tmp_path, [0])


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from nefty.synth.data_writer import write_data_set\n"
        f"write_data_set({str(tmp_path / 'set')!r}, range(2), processes=2)\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert ended.returncode != 0
    assert "__name__ == '__main__'" in ended.stderr


def test_a_specimen_that_cannot_be_drawn_names_its_seed(tmp_path):
    with pytest.raises(InputError, match="seed 4: found no room for 60 defects"):
        write(tmp_path, [4], DataPlan(defects=60, setup=PLAN.setup))


def test_the_index_has_a_line_per_file_and_the_versions(tmp_path):
    write(tmp_path, range(3))
    lines = (tmp_path / "index.json").read_text().splitlines()
    assert [json.loads(line.rstrip(","))["seed"] for line in lines if line.startswith('{"name"')] == [0, 1, 2]
    assert {"nefty", "numpy", "numba"} <= json.loads("\n".join(lines))["versions"].keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": []}, "no seeds were given"),
        ({"seeds": [-1]}, "seed=-1"),
        ({"seeds": [0], "processes": 0}, "processes=0"),
        ({"seeds": [0], "plan": "layered"}, r"must be a nefty\.DataPlan"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, arguments, message):
    with pytest.raises(InputError, match=message):
        write_data_set(tmp_path / "new", **arguments)
    assert not (tmp_path / "new").exists()
