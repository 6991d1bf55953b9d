"""What is given to ``load``: used, noted, asked for by name where it is missing, refused where it cannot be."""

import io
import os
import time

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.load import load
from nefty.data.sequence import Sequence
from support.recordings import COUNTS, FLOATS, npy, npz, thermo


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.npy"
    path.write_bytes(npy())
    return path


@pytest.fixture
def degrees(tmp_path):
    path = tmp_path / "degrees.npy"
    path.write_bytes(npy(FLOATS))
    return path


def test_times_are_asked_for_by_name(counts):
    with pytest.raises(InputError, match=r"counts\.npy does not say when its 6 frames of 4 x 5 .* give fps=.* times="):
        load(counts)
    assert load(counts, fps=10).times.tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert load(counts, times=[0, 1, 2, 4, 8, 16]).times.tolist() == [0, 1, 2, 4, 8, 16]


def test_counts_stay_counts_unless_a_scale_is_given(counts):
    plain = load(counts, fps=10)
    assert (plain.frames == COUNTS).all()
    assert plain.frames.dtype == np.float32
    assert plain.meta["units"] == {"time": "s", "temperature": "counts"}
    assert any("counts of the camera, not temperatures" in note for note in plain.meta["notes"])
    table = 270 + 0.01 * np.arange(5000)
    by_table = load(counts, fps=10, lookup=table)
    assert np.allclose(by_table.frames, 270 + 0.01 * COUNTS, atol=1e-4)
    assert by_table.meta["units"]["temperature"] == "K"
    by_line = load(counts, fps=10, calibration=(0.01, -3.0), units="C")
    assert np.allclose(by_line.frames, 0.01 * COUNTS - 3.0, atol=1e-5)
    assert by_line.meta["units"]["temperature"] == "C"
    assert any("0.01 x value + -3" in note for note in by_line.meta["notes"])


def test_the_flash_frame_gives_time_zero_and_ambient(degrees):
    found = load(degrees, fps=10, flash_frame=2, units="C")
    assert np.allclose(found.times, [-0.2, -0.1, 0, 0.1, 0.2, 0.3])
    ambient = np.median(FLOATS[:2].astype(float))
    assert np.allclose(found.frames, FLOATS - ambient, atol=1e-6)
    assert found.meta["units"]["temperature"] == "K"  # a difference
    assert f"Ambient, {ambient:g} degrees C, the median of 2 frames" in found.meta["notes"][0]
    assert found.after_flash().shape[0] == 3
    unknown = load(degrees, fps=10)
    assert (unknown.frames == FLOATS).all()
    assert "ambient is not known" in unknown.meta["notes"][0]
    assert "does not say when the pulse began" in unknown.meta["notes"][1]
    assert "temperature" not in unknown.meta["units"]
    assert any('give units="K", "C" or "counts"' in note for note in unknown.meta["notes"])


def test_the_size_follows_from_pixel_and_thickness(counts):
    assert load(counts, fps=10, pixel=0.5, thickness=3).size == (3, 2.0, 2.5)
    assert load(counts, fps=10, pixel=(0.5, 0.2), thickness=3).size == (3, 2.0, 1.0)
    partly = load(counts, fps=10, thickness=3)
    assert partly.size is None
    assert partly.meta["thickness"] == 3
    with pytest.raises(
        InputError, match=r"size of the part is not known.*pixel=\.\.\. and thickness=\.\.\. to nefty\.load"
    ):
        partly.grid()


def test_the_order_of_the_axes(tmp_path):
    path = tmp_path / "frames.npy"
    for axes in ("tyx", "yxt", "txy", "xyt"):
        path.write_bytes(npy(np.transpose(COUNTS, ["tyx".index(axis) for axis in axes])))
        assert (load(path, fps=1, axes=axes).frames == COUNTS).all()
    assert any("order tyx" in note for note in load(path, fps=1).meta["notes"])


def test_what_a_file_says_can_be_replaced_and_is_noted(tmp_path):
    path = tmp_path / "camera.h5"
    thermo(path)
    own = load(path)
    assert np.allclose(own.times, np.arange(6) / 10 - 0.2)
    found = load(path, fps=5, pixel=1e-3, thickness=2e-3)
    assert np.allclose(found.times, (np.arange(6) - 2) / 5)
    assert found.size == (2e-3, 4e-3, 5e-3)
    assert any("fps=5, as given instead of the file's" in note for note in found.meta["notes"])
    saved = Sequence(frames=FLOATS, times=np.arange(6.0), size=(1, 4, 5)).save(tmp_path / "own.h5")
    again = load(saved, fps=4, thickness=2, flash_frame=1, units="K")
    assert again.times.tolist() == [-0.25, 0, 0.25, 0.5, 0.75, 1.0]
    assert again.size == (2, 4, 5)
    assert again.meta["units"]["temperature"] == "K"
    assert len(again.meta["notes"]) == 4
    assert load(saved).meta == {}
    with pytest.raises(InputError, match="needs no lookup"):
        load(saved, lookup=[1.0, 2.0])


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"fsp": 10}, r"the fact='fsp' is unknown.*Did you mean 'fps'"),
        ({"thicknes": 1, "fps": 1}, "Did you mean 'thickness'"),
        ({"fps": 0}, "fps=0 must be above 0"),
        ({"fps": "ten"}, "fps must be a number, got 'ten'"),
        ({"fps": 1, "times": [1]}, "fps and times were both given"),
        ({"fps": 1, "units": "F"}, "units='F' is unknown"),
        ({"fps": 1, "flash_frame": 6}, "flash_frame=6 is not one of the 6 frames, 0 to 5"),
        ({"fps": 1, "flash_frame": -1}, "flash_frame=-1 must be a whole number"),
        ({"fps": 1, "pixel": [1, 2, 3]}, "one length, or two"),
        ({"fps": 1, "pixel": -1}, "pixel along y=-1 must be above 0"),
        ({"fps": 1, "axes": "abc"}, "axes='abc' is unknown"),
        ({"fps": 1, "variable": ""}, "variable='' must be the name"),
        ({"fps": 1, "lookup": [[1.0]]}, r"lookup has shape \(1, 1\)"),
        ({"fps": 1, "lookup": np.arange(50.0)}, "has counts from .* only 50 entries"),
        ({"fps": 1, "calibration": (0, 1)}, "the slope of the calibration is 0"),
        ({"fps": 1, "calibration": 3}, "calibration=3 must be two numbers"),
        ({"fps": 1, "calibration": (1, 0), "lookup": [1.0]}, "lookup and calibration were both given"),
        ({"fps": 1, "calibration": (1, 0), "units": "counts"}, "cannot be with a lookup or calibration"),
        ({"times": [1, 2]}, r"has 6 frames, and the times given the shape \(2,\)"),
        ({"times": [1, 2, 3, 4, 5, 5]}, "times must increase"),
    ],
)
def test_facts_that_cannot_be_are_refused(counts, facts, message):
    with pytest.raises(InputError, match=message):
        load(counts, **facts)


def test_a_table_does_not_apply_to_degrees(degrees):
    with pytest.raises(InputError, match="holds float32, no counts; a lookup table does not apply"):
        load(degrees, fps=1, lookup=[1.0, 2.0])


def test_one_of_several_arrays_is_chosen_by_name(tmp_path):
    path = tmp_path / "two.npz"
    path.write_bytes(npz(warm=COUNTS, cold=COUNTS[:3]))
    with pytest.raises(InputError, match=r"several arrays with three axes: cold \(3, 4, 5\), warm .* variable="):
        load(path, fps=1)
    assert load(path, fps=1, variable="cold").shape == (3, 4, 5)
    with pytest.raises(InputError, match=r"variable='wram' is unknown.*Did you mean 'warm'"):
        load(path, fps=1, variable="wram")
    path.write_bytes(npz(warm=COUNTS, other=np.ones(3)))
    found = load(path, fps=1)
    assert (found.frames == COUNTS).all()
    assert "The frames are the array 'warm'." in found.meta["notes"]


def test_what_is_no_file_is_said_at_once(tmp_path):
    start = time.perf_counter()
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "loop.npy").symlink_to(tmp_path / "loop.npy")
    (tmp_path / "dangling.npy").symlink_to(tmp_path / "gone")
    (tmp_path / "empty.npy").write_bytes(b"")
    for name, message in {
        "pipe.npy": "neither a file nor a folder",
        "loop.npy": "cannot read",
        "dangling.npy": "is a link to .*gone, which is not there",
        "empty.npy": "empty.npy is empty",
        "nul\0.npy": "cannot read",
    }.items():
        with pytest.raises(InputError, match=message):
            load(tmp_path / name)
    with pytest.raises(InputError, match="neither a file nor a folder"):
        load("/dev/zero")
    assert time.perf_counter() - start < 20


def test_a_link_to_a_recording_is_followed(tmp_path):
    (tmp_path / "real.npy").write_bytes(npy())
    (tmp_path / "link.npy").symlink_to(tmp_path / "real.npy")
    assert (load(tmp_path / "link.npy", fps=1).frames == COUNTS).all()


def test_pickles_are_never_opened(tmp_path):
    fired = tmp_path / "fired"

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(fired),)

    objects = np.empty(2, object)
    objects[:] = [Trap(), Trap()]
    image = io.BytesIO()
    np.save(image, objects, allow_pickle=True)
    (tmp_path / "trap.npy").write_bytes(image.getvalue())
    (tmp_path / "trap.npz").write_bytes(npz(frames=objects, times=np.arange(2)))
    (tmp_path / "raw.npy").write_bytes(image.getvalue()[image.getvalue().index(b"\x80") :])
    for name in ("trap.npy", "trap.npz", "raw.npy"):
        with pytest.raises(InputError, match=r"Python objects|not a NumPy"):
            load(tmp_path / name, fps=1)
    assert not fired.exists()
