"""Every format that is written comes back as it was, in one piece or not at all."""

import json
import os

import numpy as np
import pytest
import tifffile

from nefty.core.errors import InputError, NeftyError
from nefty.data.facts import Facts, KnownDefects, Note, NoteKind, Units
from nefty.data.read import read
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from support.disks import file_size_limit
from support.known_facts import same_recording

PROFILE = np.random.default_rng(7).random((8, 12))
EXCITATIONS = [
    None,
    GaussianFlash(90.0, 2.0, 0.3, centre=(1.0, 2.0)),
    UniformFlash(3.0, 0.2),
    TopHatPulse(1.0, 0.5, 0.1),
    TopHatPulse(profile=PROFILE),
    np.stack([PROFILE] * 3),
]
SUFFIXES = [".npz", ".tif", ".tiff", ".h5"]


def recording(**changes) -> Sequence:
    frames = np.random.default_rng(1).random((5, 8, 12))
    return Sequence(**{"frames": frames, "times": np.arange(5.0) / 3, "size": (1.0, 4.0, 6.0), **changes})


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("excitation", EXCITATIONS, ids=lambda e: type(e).__name__)
def test_everything_comes_back(tmp_path, suffix, excitation):
    whole = recording(
        excitation=excitation,
        boundary=Boundary("adiabatic", "robin", "robin", 0.1, 0.2, "cell"),
        anisotropy=(2.0, 3.0),
        face_mean="min",
        mask=PROFILE > 0.5,
        noise=0.01,
        truth=np.random.default_rng(2).random((3, 16, 24)) + 0.1,
        facts=Facts(
            units=Units(time="s"),
            defects=KnownDefects(mask=PROFILE > 0.7),
            notes=(Note(NoteKind.OTHER, "größer"),),
            extra={"names": ["ä", "b"]},
        ),
    )
    path = whole.save(tmp_path / "new" / f"plate{suffix}")
    assert same_recording(read(path), whole)
    assert same_recording(Sequence.load(str(path)), whole)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("observe", ["front", "both"])
def test_frames_lose_nothing(tmp_path, suffix, dtype, observe):
    frames = np.random.default_rng(3).random((2, 5, 8, 12)).astype(dtype)
    frames[0, 1, 2, 3] = np.nan
    whole = recording(frames=frames if observe == "both" else frames[0], observe=observe)
    found = read(whole.save(tmp_path / f"plate{suffix}"))
    assert found.frames.dtype == dtype
    assert found.frames.tobytes() == whole.frames.tobytes()
    assert found.times.tobytes() == whole.times.tobytes()


@pytest.mark.parametrize("frames", [1, 3])
def test_a_tiff_is_one_that_others_read(tmp_path, frames):
    whole = recording(
        frames=np.random.default_rng(4).random((frames, 3, 4)).astype(np.float32), times=np.arange(frames)
    )
    with tifffile.TiffFile(whole.save(tmp_path / "plate.tif")) as file:
        assert len(file.pages) == frames
        assert all((page.asarray() == frame).all() for page, frame in zip(file.pages, whole.frames, strict=True))
        assert json.loads(file.pages.first.description)["times"] == list(range(frames))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_keeps_what_was_there(tmp_path, suffix):
    path = recording().save(tmp_path / f"plate{suffix}")
    large = recording(frames=np.random.default_rng(1).random((50, 32, 48)), times=np.arange(50.0))
    with file_size_limit(2**16), pytest.raises(NeftyError, match="cannot write"):
        large.save(path)
    assert same_recording(read(path), recording())
    assert os.listdir(tmp_path) == [path.name]


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"plate\.npy must end in \.h5 or \.hdf5, \.npz, \.tif or \.tiff"):
        recording().save(tmp_path / "plate.npy")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.update(nefty=9), "has format 9, this nefty knows 2"),
        (lambda v: v.pop("boundary"), "is damaged"),
        (lambda v: v.update(frames=[5, 8, 13]), "the description says"),
        (lambda v: v.update(excitation={"kind": "os.system"}), "is damaged"),
        (lambda v: v["arrays"].update(mask={"dtype": "|O", "shape": [8, 12], "data": ""}), "does not fit|is damaged"),
        (lambda v: v["arrays"].update(mask={"dtype": "<f8", "shape": [10**9, 10**9], "data": ""}), "does not fit"),
    ],
)
def test_a_description_that_is_wrong_is_named(tmp_path, change, message):
    path = recording().save(tmp_path / "plate.tif")
    with tifffile.TiffFile(path) as file:
        pages, values = file.asarray(), json.loads(file.pages.first.description)
    change(values)
    text = json.dumps({"nefty": values.pop("nefty"), **values})
    tifffile.imwrite(path, pages, photometric="minisblack", metadata=None, description=text)
    with pytest.raises(InputError, match=message):
        read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("noise", [None, 0.25, np.array([0.5, 0.3, 0.2, 0.1, 1 / 3])], ids=["none", "one", "each"])
def test_the_noise_comes_back_in_its_form(tmp_path, suffix, noise):
    whole = recording(noise=noise)
    found = read(whole.save(tmp_path / f"plate{suffix}"))
    assert type(found.noise) is type(whole.noise)
    np.testing.assert_array_equal(found.noise, whole.noise)
    assert found.digest() == whole.digest()
