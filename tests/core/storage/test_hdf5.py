"""HDF5 files: what goes in comes out, or the error says why; nothing is half written."""

import os
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError, NeftyError
from nefty.core.storage.hdf5 import COMPRESS_FROM, digest, opened, plain, read_hdf5, write_hdf5
from support.disks import file_size_limit, read_only, small_disk


def same(a, b) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and (a == b or a != a)


def state(size=20000):
    return {
        "alpha": np.random.default_rng(0).random(size),
        "single": np.arange(6, dtype=np.float32).reshape(2, 3),
        "whole": np.arange(3),
        "mask": np.array([[True, False]]),
        "scalar": np.array(2.5),
        "empty": np.zeros((0, 3)),
        "gaps": np.array([1.0, np.nan, np.inf, -0.0]),
        "waves": np.array([1 + 2j]),
        "stages": np.array(["coarse", "größer", ""]),
        "pairs": [{"s": np.ones(3), "y": np.zeros(3), "rho": 0.5}, np.arange(2), "text", [np.ones(1), None]],
        "history": {"misfit": np.arange(4.0), "stage": {"name": "first", "values": np.ones(2)}},
        "text": "µm \u0000 😀",
        "number": 3,
        "real": 0.1 + 0.2,
        "flag": True,
        "nothing": None,
        "list": [1, [2.5, "x"], {"a/b": None}],
        "none": {},
    }


@pytest.mark.parametrize("compress", [True, False])
def test_everything_comes_back_as_it_was(tmp_path, compress):
    path = write_hdf5(tmp_path / "a" / "file.h5", state(), kind="test", compress=compress)
    assert same(read_hdf5(path, kind="test"), state())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_any_plain_values_come_back(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "plain.h5"
    write_hdf5(path, content, kind="test")
    assert same(read_hdf5(path, kind="test"), content)


def test_tuples_become_lists_and_numpy_numbers_python_ones(tmp_path):
    class Colour(str, Enum):
        RED = "red"

    content = {"size": (1.0, np.float32(0.5)), "n": np.int64(3), "ok": np.bool_(True), "colour": Colour.RED}
    found = read_hdf5(write_hdf5(tmp_path / "file.h5", content, kind="test"), kind="test")
    assert found == {"size": [1.0, 0.5], "n": 3, "ok": True, "colour": "red"}
    assert [type(found[k]) for k in ("n", "ok", "colour")] == [int, bool, str]


def test_large_values_that_are_no_arrays_fit(tmp_path):
    content = {"note": "x" * 300_000, "list": list(range(20_000))}
    assert read_hdf5(write_hdf5(tmp_path / "file.h5", content, kind="test"), kind="test") == content


def test_only_large_floating_point_arrays_are_packed(tmp_path):
    large = np.zeros(COMPRESS_FROM // 8)
    content = {"large": large, "small": large[:-1], "whole": large.astype(np.int64)}
    with h5py.File(write_hdf5(tmp_path / "file.h5", content, kind="test")) as file:
        assert {name: item.compression for name, item in file.items()} == {
            "large": "gzip",
            "small": None,
            "whole": None,
        }


def test_the_same_content_gives_the_same_bytes(tmp_path):
    a, b = (write_hdf5(tmp_path / name, state(), kind="test").read_bytes() for name in "ab")
    assert a == b


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": np.array([object()])}, r"array 'a' holds object"),
        ({"a": {"b": object()}}, r"/a/b=<object .* cannot be saved"),
        ({"a": [1, {2}]}, r"/a/1=\{2\} is a set"),
        ({"a/b": np.ones(1)}, r"'a/b' .* without a slash"),
        ({3: np.ones(1)}, r"the name 3 "),
        ({3: 1}, r"the key 3 must be text"),
        ({"t": np.array(["2020-01-01"], dtype="datetime64[D]")}, r"array 't' holds datetime64"),
    ],
)
def test_what_cannot_be_saved_is_named_and_the_old_file_stays(tmp_path, content, message):
    path = write_hdf5(tmp_path / "file.h5", {"old": 1}, kind="test")
    with pytest.raises(InputError, match=message):
        write_hdf5(path, content, kind="test")
    assert read_hdf5(path, kind="test") == {"old": 1}
    assert os.listdir(tmp_path) == ["file.h5"]


def test_a_full_disk_keeps_the_old_file(tmp_path):
    with small_disk(tmp_path / "disk", 2**18) as disk:
        path = write_hdf5(disk / "file.h5", {"old": np.ones(3)}, kind="test")
        with pytest.raises(NeftyError, match=r"cannot write .*file\.h5: No space left on device"):
            write_hdf5(path, state(10**5), kind="test")
        assert same(read_hdf5(path, kind="test"), {"old": np.ones(3)})
        assert os.listdir(disk) == ["file.h5"]


def test_a_limit_of_the_file_size_keeps_the_old_file(tmp_path):
    path = write_hdf5(tmp_path / "file.h5", {"old": 1}, kind="test")
    with file_size_limit(2**16), pytest.raises(NeftyError, match=r"cannot write .*File too large"):
        write_hdf5(path, state(), kind="test")
    assert read_hdf5(path, kind="test") == {"old": 1}
    assert os.listdir(tmp_path) == ["file.h5"]


def test_a_read_only_folder_is_named(tmp_path):
    path = write_hdf5(tmp_path / "runs" / "file.h5", {"old": 1}, kind="test")
    with read_only(path.parent), pytest.raises(NeftyError, match=r"cannot write .*(Read-only|Permission)"):
        write_hdf5(path, {"new": 2}, kind="test")
    assert read_hdf5(path, kind="test") == {"old": 1}


def test_a_process_killed_while_it_writes_leaves_the_old_or_the_new_file(tmp_path):
    path = tmp_path / "file.h5"
    code = (
        "import sys, numpy as np; from nefty.core.storage.hdf5 import write_hdf5\n"
        "for i in range(10**6):\n"
        "    write_hdf5(sys.argv[1], {'i': i, 'a': np.full(10**5, float(i))}, kind='test')\n"
        "    print(i, flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    for _ in range(20):
        child.stdout.readline()
    child.kill()
    child.wait()
    child.stdout.close()
    found = read_hdf5(path, kind="test")
    assert found["i"] >= 19
    assert (found["a"] == found["i"]).all()


def test_a_file_cut_anywhere_is_refused(tmp_path):
    raw = write_hdf5(tmp_path / "whole.h5", state(2000), kind="test").read_bytes()
    path = tmp_path / "cut.h5"
    for length in [0, 1, 7, 8, 100, *range(512, len(raw), len(raw) // 40), len(raw) - 1]:
        path.write_bytes(raw[:length])
        with pytest.raises(InputError, match=r"cut\.h5 is (empty|no HDF5 file|damaged or cut off).*copy it again"):
            read_hdf5(path, kind="test")


def test_damaged_values_are_refused_and_never_taken_for_others(tmp_path, rng):
    content = {"alpha": rng.random(5000), "note": "x" * 500, "inner": {"n": 1, "b": np.arange(100)}}
    raw = write_hdf5(tmp_path / "whole.h5", content, kind="test").read_bytes()
    path = tmp_path / "damaged.h5"
    refused = 0
    for start in range(0, len(raw), len(raw) // 150):
        path.write_bytes(raw[:start] + bytes(b ^ 0x5A for b in raw[start : start + 64]) + raw[start + 64 :])
        try:
            assert same(read_hdf5(path, kind="test"), content)
        except InputError:
            refused += 1
    assert refused > 100


def test_a_file_that_is_not_there_or_something_else_is_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*gone\.h5; check"):
        read_hdf5(tmp_path / "gone.h5", kind="test")
    with pytest.raises(InputError, match="there is no file"):
        read_hdf5(tmp_path, kind="test")
    (tmp_path / "text.h5").write_text("a,b\n1,2\n" * 1000)
    with pytest.raises(InputError, match="no HDF5 file"):
        read_hdf5(tmp_path / "text.h5", kind="test")
    write_hdf5(tmp_path / "point.h5", {}, kind="checkpoint")
    with pytest.raises(InputError, match=r"point\.h5 is a nefty checkpoint, not a nefty result"):
        read_hdf5(tmp_path / "point.h5", kind="result")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = 1
    with pytest.raises(InputError, match=r"other\.h5 is not of nefty"):
        read_hdf5(tmp_path / "other.h5", kind="result")


def test_a_newer_format_asks_for_a_newer_nefty(tmp_path):
    path = write_hdf5(tmp_path / "file.h5", {}, kind="test")
    with h5py.File(path, "a") as file:
        file.attrs["nefty_format"] = 99
    with pytest.raises(InputError, match=r"format 99.*install a newer nefty"):
        read_hdf5(path, kind="test")


def objects(file):
    file.create_dataset("x", (1,), dtype=h5py.vlen_dtype(np.int64))[0] = np.arange(3)


def record(file):
    file["x"] = np.zeros(2, dtype=[("a", "f8"), ("b", "i4")])


def soft_link(file):
    file["x"] = h5py.SoftLink("/a")


def external_link(file):
    file["x"] = h5py.ExternalLink("/etc/passwd", "/")


def external_data(file):
    file.create_dataset("x", (10,), dtype="u1", external=[("/etc/passwd", 0, 10)])


def circle(file):
    file["g/x"] = file["/"]


def two_places(file):
    file["x"] = file["a"]


@pytest.mark.parametrize("change", [objects, record, soft_link, external_link, external_data, circle, two_places])
def test_nothing_but_values_of_the_file_itself_is_read(tmp_path, change):
    path = write_hdf5(tmp_path / "file.h5", {"a": np.ones(3)}, kind="test")
    with h5py.File(path, "a") as file:
        change(file)
    with pytest.raises(InputError, match=r"file\.h5"):
        read_hdf5(path, kind="test")


def test_what_goes_wrong_for_another_reason_stays_what_it_is(tmp_path):
    path = write_hdf5(tmp_path / "file.h5", {}, kind="test")
    with pytest.raises(ZeroDivisionError), opened(path):
        _ = 1 / 0


@dataclass
class Point:
    x: float
    where: np.ndarray


def test_a_digest_is_that_of_the_values_not_of_their_memory():
    a = np.arange(12.0).reshape(3, 4)
    expected = digest(a, {"x": 1, "y": [2.0, None]})
    assert expected == digest(np.asfortranarray(a), {"y": (2.0, None), "x": np.int64(1)})
    assert expected == digest(a.astype(">f8"), {"y": [2.0, None], "x": 1})
    assert expected == digest(np.repeat(a, 2, axis=1)[:, ::2], {"x": 1, "y": [2.0, None]})
    assert digest(Point(1.0, a)) == digest(Point(1.0, a.copy()))
    assert len(expected) == 64


def test_different_values_have_different_digests():
    a = np.arange(4.0)
    values = [
        a,
        a.astype(np.float32),
        a.reshape(2, 2),
        -a,
        [a],
        [a, a],
        list(a),
        {"a": a},
        {"b": a},
        Point(1.0, a),
        Point(2.0, a),
        np.array(1.0),
        np.array([]),
        np.array(["a", "b"]),
        np.array([True]),
        1,
        1.0,
        True,
        None,
        "1",
        "",
        [],
        {},
    ]
    assert (
        len({digest(value) for value in values} | {digest("a", "b"), digest("ab"), digest("b", "a")}) == len(values) + 3
    )
    with pytest.raises(InputError, match="no digest"):
        digest(np.array([object()]))
    with pytest.raises(InputError, match="cannot be saved"):
        digest(object())


def test_plain_names_the_place():
    with pytest.raises(InputError, match=r"config/stop/0=\(1\+2j\) is a complex"):
        plain("config", {"stop": [1 + 2j]})
