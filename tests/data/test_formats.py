"""The registry: built-in formats by content and suffix, others' by entry point."""

import importlib.metadata
from pathlib import Path

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data import formats
from nefty.data.assemble import Found, assemble
from nefty.data.formats import Format, built_in, choose
from nefty.data.read import read
from nefty.data.readers import refused
from nefty.data.readers.pieces import of_array
from support.cameras.files import ats, edevis, fff, irb, irb_video, seq, sfmov
from support.recordings import COUNTS, matlab5, matlab73, npy, npz, ptw, thermo, tiff

CALLED = []


def read_dummy(path, given):
    CALLED.append(path.name)
    return assemble(path, Found(frames=of_array(COUNTS), times=np.arange(6.0), unit="K"), given)


DUMMY = Format("a dummy", (".dummy",), lambda head, path: head[:5] == b"DUMMY", read_dummy)
SHY = Format("a shy one", (".shy",), lambda head, path: 1 / 0 > 0, read_dummy)
NOT_A_FORMAT = [3]


@pytest.fixture
def plugged(monkeypatch):
    """Entry points as an installed package would add them."""

    def plug(*values):
        here = __name__
        entries = [importlib.metadata.EntryPoint(v, v if ":" in v else f"{here}:{v}", formats.GROUP) for v in values]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries if group == formats.GROUP else [])
        formats.plug_ins.cache_clear()

    yield plug
    formats.plug_ins.cache_clear()


def test_each_content_has_one_format(tmp_path):
    contents = {
        "a.npy": npy(),
        "a.npz": npz(),
        "a.tif": tiff(),
        "a.ptw": ptw(),
        "5.mat": matlab5(),
        "7.mat": matlab73(),
        "a.h5": thermo(tmp_path / "a.h5"),
        "a.irb": irb(),
        "a.seq": seq(),
        "a.ats": ats(),
        "a.sfmov": sfmov(),
        "a.OTvis": edevis(),
    }
    names = {name: choose(content[: formats.HEAD], tmp_path / name, built_in()) for name, content in contents.items()}
    assert {name: format.name for name, format in names.items() if format} == {
        "a.npy": "a NumPy .npy array",
        "a.npz": "a NumPy .npz archive",
        "a.tif": "a TIFF",
        "a.ptw": "a FLIR/Cedip .ptw",
        "5.mat": "a MATLAB .mat",
        "7.mat": "a MATLAB 7.3 .mat",
        "a.h5": "a recording in HDF5",
        "a.irb": "an InfraTec .irb",
        "a.seq": "a FLIR .seq or .fff",
        "a.ats": "a FLIR .ats",
        "a.sfmov": "a FLIR .sfmov",
        "a.OTvis": "an edevis file",
    }


def test_every_format_of_the_page_reads_a_file(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    files = {
        **{suffix: thermo(tmp_path / "seed.h5") for suffix in (".h5", ".hdf5")},
        **{suffix: tiff() for suffix in (".tif", ".tiff")},
        **{suffix: edevis() for suffix in (".di", ".OTvis", ".ITvisPulse")},
        **{".npy": npy(), ".npz": npz(), ".mat": matlab5(), ".ptw": ptw(), ".irb": irb_video()},
        **{".seq": seq(COUNTS + 15000), ".fff": fff(COUNTS[0] + 15000), ".ats": ats(), ".sfmov": sfmov()},
    }
    told = [row for row in page.split("## Formats")[1].split("\n(1)")[0].splitlines() if row.startswith("| ")]
    known = {suffix for format in built_in() if format.read is not refused.read for suffix in format.suffixes}
    assert {suffix.lower() for suffix in files} == known
    for suffix, content in files.items():
        assert any(suffix in row.split("|")[1] for row in told), f"docs/formats.md does not list {suffix}"
        (tmp_path / f"a{suffix}").write_bytes(content)
        assert read(tmp_path / f"a{suffix}", fps=10).shape[1:] == (4, 5)
    for row in told[1:]:
        if "nothing well kept" not in row:
            assert any(who in row.split("|")[5] for who in ("us", "camera", "program")), row


def test_a_plug_in_reads_its_files(tmp_path, plugged):
    plugged("DUMMY")
    (tmp_path / "plate.dummy").write_bytes(b"DUMMY")
    found = read(tmp_path / "plate.dummy", thickness=2, pixel=1)
    assert (found.frames == COUNTS).all()
    assert found.size == (2, 4, 5)
    (tmp_path / "plate.dummy").write_bytes(b"other")
    with pytest.raises(InputError, match="damaged or not a dummy: it begins with b'other'"):
        read(tmp_path / "plate.dummy")


def test_a_broken_plug_in_is_named_and_does_not_stop_the_others(tmp_path, plugged):
    plugged("no_such_module:thing", "NOT_A_FORMAT", "DUMMY")
    (tmp_path / "plate.dummy").write_bytes(b"DUMMY")
    with pytest.warns(UserWarning, match="reader plug-in") as warned:
        assert read(tmp_path / "plate.dummy").shape == (6, 4, 5)
    assert ["no_such_module" in str(w.message) for w in warned] == [True, False]
    assert "NOT_A_FORMAT" in str(warned[1].message)
    (tmp_path / "plate.xyz").write_bytes(b"content")
    with pytest.raises(InputError, match=r"cannot read; it reads .*\.dummy.*plug-in 'no_such_module:thing' could not"):
        read(tmp_path / "plate.xyz")


def test_a_plug_in_that_cannot_tell_is_passed_over(tmp_path, plugged):
    plugged("SHY", "DUMMY")
    (tmp_path / "plate.dummy").write_bytes(b"DUMMY")
    with pytest.warns(UserWarning, match="'a shy one' cannot tell whether it reads"):
        assert read(tmp_path / "plate.dummy").shape == (6, 4, 5)


def test_plug_ins_are_not_loaded_for_built_in_formats(tmp_path, plugged):
    plugged("no_such_module:thing")
    (tmp_path / "plate.npy").write_bytes(npy())
    assert read(tmp_path / "plate.npy", fps=1).shape == (6, 4, 5)


@pytest.mark.parametrize("name", ["a.csq", "a.RAVI"])
def test_formats_without_a_reader_ask_for_an_export(tmp_path, name):
    (tmp_path / name).write_bytes(b"content")
    with pytest.raises(InputError, match=r"no well-kept reader; export it to TIFF .* CSV .* or HDF5"):
        read(tmp_path / name)
