"""FLIR .sfmov: files made here by the layout that pysfmov states, also read by it if it is here."""

import pytest

from nefty.core.errors import InputError
from nefty.data.read import read
from support.cameras.files import sfmov
from support.recordings import COUNTS, FLOATS


@pytest.mark.parametrize("values", [COUNTS, FLOATS])
def test_sfmov(tmp_path, values):
    (tmp_path / "a.sfmov").write_bytes(sfmov(values))
    found = read(tmp_path / "a.sfmov", fps=50)
    assert (found.frames == values).all()
    assert found.facts.units.temperature == ("counts" if values is COUNTS else "")


def test_sfmov_as_pysfmov_reads_it(tmp_path):
    library = pytest.importorskip("pysfmov", reason="pysfmov is not needed to read .sfmov")
    (tmp_path / "a.sfmov").write_bytes(sfmov())
    assert (read(tmp_path / "a.sfmov", fps=1).frames == library.get_data(str(tmp_path / "a.sfmov"))).all()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b"NumDPs 6", b"NumDPs 7", "cut off or damaged: 7 frames"),
        (b"xPixls 5", b"xPixls x", "xPixls is 'x'"),
        (b"xPixls 5", b"xPixls 99999", "xPixls is '99999'"),
        (b"\nDATA", b"\nDATE", "no line DATA"),
    ],
)
def test_an_sfmov_that_lies_is_named(tmp_path, before, after, message):
    (tmp_path / "a.sfmov").write_bytes(sfmov().replace(before, after))
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.sfmov", fps=1)
