"""Recordings from and to files: our own come back as they were, others' are read, broken ones are named."""

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from nefty.core.errors import InputError, NeftyError
from nefty.core.storage.hdf5 import write_hdf5
from nefty.data.facts import Facts, KnownDefects, Source, Units
from nefty.data.preparation.prepare import prepare
from nefty.data.read import read
from nefty.data.sequence import Sequence
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from support.disks import file_size_limit, small_disk
from support.flash_recordings import Camera
from support.known_facts import defects_of, same_recording
from support.notes import texts

SHARED = Path(os.environ.get("NEFTY_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
PROFILE = np.random.default_rng(7).random((8, 12))
EXCITATIONS = [
    None,
    GaussianFlash(90.0, 2.0, 0.3, centre=(1.0, 2.0)),
    GaussianFlash(),
    UniformFlash(3.0, 0.2),
    TopHatPulse(1.0, 0.5, 0.1),
    TopHatPulse(profile=PROFILE),
    np.stack([PROFILE] * 3),
]


def recording(**changes) -> Sequence:
    frames = np.random.default_rng(1).random((5, 8, 12))
    return Sequence(**{"frames": frames, "times": np.arange(-1.0, 4.0), "size": (1.0, 4.0, 6.0), **changes})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("observe", ["front", "back", "both"])
def test_frames_are_stored_without_loss(tmp_path, dtype, observe):
    frames = np.random.default_rng(3).random((2, 5, 8, 12)).astype(dtype)
    frames[0, 1, 2, 3] = np.nan
    whole = recording(frames=frames if observe == "both" else frames[0], observe=observe)
    found = read(whole.save(tmp_path / "plate.hdf5"))
    assert found.frames.dtype == dtype
    assert found.frames.tobytes() == whole.frames.tobytes()
    assert found.observe == observe


def test_the_layout_is_that_of_pythermondt(tmp_path):
    whole = recording(
        excitation=TopHatPulse(duration=1.5),
        facts=Facts(units=Units(time="s", temperature="K"), defects=KnownDefects(mask=PROFILE > 0.7)),
    )
    with h5py.File(whole.save(tmp_path / "plate.h5")) as file:
        content = {name: file[name][()] for name in ("Data/Tdata", "GroundTruth/DefectMask")}  # pyright: ignore
        about = {name: item[()] for name, item in file["MetaData"].items()}  # pyright: ignore
        unit = file["Data/Tdata"].attrs["Unit"]
    assert (content["Data/Tdata"] == np.moveaxis(whole.frames, 0, -1)).all()
    assert (content["GroundTruth/DefectMask"] == np.where(PROFILE > 0.7, 255, 0)).all()
    assert about["DomainValues"].tolist() == whole.times.tolist()
    assert about["ExcitationSignal"].tolist() == [0, 1, 1, 0, 0]
    assert isinstance(unit, str)
    assert json.loads(unit)["symbol"] == "K"


def foreign(path, **changes):
    """A file as pyThermoNDT writes it: counts, a lookup table, one frame before the pulse."""
    counts = np.random.default_rng(5).integers(10, 100, size=(8, 12, 6)).astype(np.uint16)
    counts[..., :2] = 3
    content = {
        "Data/Tdata": counts,
        "MetaData/DomainValues": np.arange(6) * 0.5,
        "MetaData/LookUpTable": 290 + 0.1 * np.arange(128),
        "MetaData/ExcitationSignal": np.array([0.0, 0, 1, 1, 0, 0]),
        "GroundTruth/DefectMask": np.where(PROFILE > 0.7, 255, 0).astype(np.uint8),
        **changes,
    }
    with h5py.File(path, "w") as file:
        for name, value in content.items():
            if value is not None:
                file[name] = value
    return counts


def test_counts_become_a_rise_above_ambient_after_the_pulse(tmp_path):
    path = tmp_path / "camera.h5"
    counts = foreign(path)
    found = read(path)
    assert found.shape == (6, 8, 12)
    assert np.allclose(found.frames, 0.1 * (np.moveaxis(counts, -1, 0) - 3.0), atol=1e-5)
    assert found.times.tolist() == [-1, -0.5, 0, 0.5, 1, 1.5]
    np.testing.assert_array_equal(defects_of(found).mask, PROFILE > 0.7)
    assert found.boundary.lateral == "adiabatic"
    assert (found.size, found.excitation) == (None, None)
    assert texts(found) == [
        "Ambient, 290.3 K, the median of 2 frames before the pulse, was subtracted.",
        "Times count from the start of the pulse, 1 s in the file.",
    ]


def test_what_a_file_does_not_say_is_not_guessed(tmp_path):
    path = tmp_path / "camera.h5"
    counts = foreign(
        path, **{"MetaData/LookUpTable": None, "MetaData/ExcitationSignal": None, "GroundTruth/DefectMask": None}
    )
    found = read(path)
    assert (found.frames == np.moveaxis(counts, -1, 0)).all()
    assert found.times[0] == 0
    assert "ambient is not known" in found.facts.notes[0].text
    assert "does not say when the pulse began" in found.facts.notes[1].text


def test_degrees_and_milliseconds_are_read(tmp_path):
    path = tmp_path / "camera.h5"
    frames = np.random.default_rng(6).random((8, 12, 6)).astype(np.float32) + 20
    foreign(path, **{"Data/Tdata": frames, "MetaData/DomainValues": np.arange(6) * 500.0})
    with h5py.File(path, "a") as file:
        file["MetaData/DomainValues"].attrs["Unit"] = json.dumps({"name": "millisecond", "symbol": "ms"})
    found = read(path)
    assert found.times.tolist() == [-1, -0.5, 0, 0.5, 1, 1.5]
    assert np.allclose(found.frames, np.moveaxis(frames, -1, 0) - np.median(frames[..., :2]))
    assert found.frames.dtype == np.float32


TABLE = [["Name", "Expression", "Description", "Value", "Unit"]] + [
    [name, "", "", value, unit]
    for name, value, unit in [
        ("th_mat", 0.002, "m"),
        ("X_mat", 0.03, "m"),
        ("Y_mat", 0.02, "m"),
        ("k1_mat", 8.0, "W/(m*K)"),
        ("k2_mat", 2.0, "W/(m*K)"),
        ("k3_mat", 0.5, "W/(m*K)"),
        ("T_adia", 1.0, "K"),
        ("t_p", 0.2, "s"),
        ("t_p0", 0.9, "s"),
    ]
]


@pytest.mark.parametrize("times_encoded", [1, 2])
def test_the_parameters_of_a_simulation_are_used(tmp_path, times_encoded):
    path = tmp_path / "simulated.h5"
    foreign(path)
    text = json.dumps(TABLE) if times_encoded == 1 else json.dumps(json.dumps(TABLE))
    with h5py.File(path, "a") as file:
        file["MetaData"].attrs["SimulationParameter"] = text
    found = read(path)
    assert found.size == (0.002, 0.02, 0.03)
    assert found.anisotropy == (4.0, 16.0)
    assert isinstance(found.excitation, TopHatPulse)
    assert (found.excitation.amplitude, found.excitation.duration, found.excitation.start) == (1.0, 0.2, 0.0)
    assert np.allclose(found.times, np.arange(6) * 0.5 - 0.9)
    assert found.facts.origin.parameters["k1_mat"] == 8.0
    assert same_recording(read(found.save(tmp_path / "again.h5")), found)


@pytest.mark.parametrize("text", ["no JSON", "3", "[]", '[["a"], ["b", 1]]', json.dumps({"a": 1})])
def test_a_table_of_parameters_that_is_none_is_passed_over(tmp_path, text):
    path = tmp_path / "simulated.h5"
    foreign(path)
    with h5py.File(path, "a") as file:
        file["MetaData"].attrs["SimulationParameter"] = text
    assert read(path).size is None


@pytest.mark.skipif(not (SHARED / "comsol_cfrp_defect.hdf5").exists(), reason="the shared recordings are not here")
def test_a_recording_simulated_by_others():
    found = read(SHARED / "comsol_cfrp_defect.hdf5")
    assert found.shape == (1000, 100, 100)
    assert found.size == (0.0013, 0.02, 0.02)
    assert np.allclose(found.anisotropy, (1.34 / 0.53, 8.66 / 0.53))
    assert np.count_nonzero(found.times < 0) == 1
    assert np.abs(found.frames[0]).max() == 0
    assert 0.9 < found.frames[-1].mean() < 1.0  # the adiabatic rise is 1 K
    assert found.after_flash().shape[0] == 999
    known = defects_of(found).mask
    assert known is not None
    assert 1000 < known.sum() < 1500


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Data/Tdata": None}, r"has no Data/Tdata and MetaData/DomainValues, only GroundTruth, MetaData"),
        ({"MetaData/DomainValues": None}, "has no Data/Tdata and MetaData/DomainValues"),
        ({"MetaData/DomainValues": np.arange(5.0)}, r"shape \(8, 12, 6\) and times of shape \(5,\)"),
        ({"MetaData/DomainValues": np.zeros(6)}, r"camera\.h5: times must increase"),
        ({"Data/Tdata": np.ones((8, 12))}, "the last axis must be time"),
        ({"MetaData/LookUpTable": np.ones(5)}, "its LookUpTable only 5 entries"),
        ({"Data/Tdata": None, "Data/Tdata/inner": np.ones(3)}, "holds no array at Data/Tdata"),
        ({"Data/Tdata": np.full((8, 12, 6), np.nan)}, r"camera\.h5: the frames hold no number at all"),
    ],
)
def test_a_layout_that_is_not_whole_is_named(tmp_path, changes, message):
    foreign(tmp_path / "camera.h5", **changes)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "camera.h5")


def test_a_file_of_another_kind_is_not_a_recording(tmp_path):
    write_hdf5(tmp_path / "result.h5", {"alpha": np.ones(3)}, kind="result")
    with pytest.raises(InputError, match=r"result\.h5 is a nefty result, not a nefty recording"):
        read(tmp_path / "result.h5")


@pytest.mark.parametrize("name", ["plate.h5", "plate.npz"])
def test_a_file_cut_anywhere_is_refused(tmp_path, name):
    path = tmp_path / name
    whole = recording(truth=np.ones((3, 8, 12)))
    if name.endswith("npz"):
        np.savez_compressed(path, frames=whole.frames, times=whole.times)
    else:
        whole.save(path)
    raw = path.read_bytes()
    for length in range(0, len(raw), len(raw) // 25):
        path.write_bytes(raw[:length])
        with pytest.raises(InputError, match=r"plate\.(h5|npz) (is|holds) "):
            read(path)


def test_arrays_of_numpy_are_read(tmp_path):
    whole = recording(observe="both", frames=np.ones((2, 5, 8, 12), np.float32), mask=PROFILE > 0.5, noise=0.5)
    path = tmp_path / "plate.npz"
    arrays = {name: getattr(whole, name) for name in ("frames", "times", "size", "mask", "noise", "observe")}
    np.savez(path, **arrays)
    found = read(path)
    assert found.digest() == whole.digest()
    assert (found.facts.origin.source, found.facts.origin.name) == (Source.ARRAYS, "plate.npz")
    assert found.facts.notes == ()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"frames": np.ones((2, 3, 3))}, r"has no array 'times', only frames; add it, or give fps="),
        ({"frames": np.ones((2, 3, 3)), "time": [1, 2]}, r"array='time' is unknown.*Did you mean 'times'"),
        ({"frames": np.full((2, 3, 3), None), "times": [1, 2]}, "holds Python objects"),
        ({"frames": np.ones((2, 3, 3)), "times": [1, 1]}, r"plate\.npz: times must increase"),
        (
            {"frames": np.ones((2, 3, 3)), "times": [1, 2], "noise": [1, 2, 3]},
            r"noise has shape \(3,\); give one number",
        ),
    ],
)
def test_arrays_of_numpy_that_do_not_fit_are_named(tmp_path, arrays, message):
    np.savez(tmp_path / "plate.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "plate.npz")


def test_a_file_with_the_wrong_ending_is_named(tmp_path):
    np.save(tmp_path / "frames.npy", np.ones((2, 3, 4)))
    (tmp_path / "frames.npy").rename(tmp_path / "frames.npz")
    found = read(tmp_path / "frames.npz", fps=2)
    assert found.shape == (2, 3, 4)
    assert "read as a NumPy .npy array, by its content; its name ends in .npz" in found.facts.notes[-1].text
    (tmp_path / "notes.npz").write_text("text")
    with pytest.raises(InputError, match=r"notes\.npz is damaged or not a NumPy \.npz archive: it begins with b'text'"):
        read(tmp_path / "notes.npz")


def test_what_is_not_there_or_not_supported_is_said(tmp_path):
    recording().save(tmp_path / "plate.h5")
    with pytest.raises(InputError, match=r"there is no file .*plat\.h5; did you mean plate\.h5; check"):
        read(tmp_path / "plat.h5")
    with pytest.raises(InputError, match=r"there is no file .*\(nor the folder .*gone\)"):
        read(tmp_path / "gone" / "plate.h5")
    (tmp_path / "link.h5").symlink_to("elsewhere.h5")
    with pytest.raises(InputError, match=r"link\.h5 is a link to elsewhere\.h5, which is not there; restore"):
        read(tmp_path / "link.h5")
    with pytest.raises(InputError, match=r"is a folder without TIFF, PNG or CSV frames; give one file, \.ats, .* \.h5"):
        read(tmp_path)
    (tmp_path / "plate.jpeg").write_bytes(b"II*")
    with pytest.raises(InputError, match=r"ends in \.jpeg, which nefty cannot read; it reads .* \.h5, .* \.npz, "):
        read(tmp_path / "plate.jpeg")
    with pytest.raises(InputError, match=r"plate\.mat must end in \.h5 or \.hdf5"):
        recording().save(tmp_path / "plate.mat")


def test_a_full_disk_keeps_the_recording_that_was_there(tmp_path):
    large = recording(frames=np.random.default_rng(1).random((50, 32, 48)), times=np.arange(50.0))
    with small_disk(tmp_path / "disk", 2**18) as disk:
        path = recording().save(disk / "plate.h5")
        with pytest.raises(NeftyError, match=r"cannot write .*plate\.h5: No space left on device"):
            large.save(path)
        assert same_recording(read(path), recording())


def test_a_limit_of_the_file_size_keeps_the_recording_that_was_there(tmp_path):
    path = recording().save(tmp_path / "plate.h5")
    large = recording(frames=np.random.default_rng(1).random((50, 32, 48)), times=np.arange(50.0))
    with file_size_limit(2**16), pytest.raises(NeftyError, match="cannot write"):
        large.save(path)
    assert same_recording(read(path), recording())
    assert os.listdir(tmp_path) == ["plate.h5"]


def test_reading_and_preparing_tell_how_far_they_are(tmp_path):
    camera = Camera(shape=(60, 200, 220))
    np.save(tmp_path / "plate.npy", camera.frames())
    told: dict[str, list[float]] = {}

    def progress(stage, fraction):
        told.setdefault(stage, []).append(fraction)

    prepare(read(tmp_path / "plate.npy", fps=10, progress=progress), progress=progress)
    assert list(told) == [
        "Read the frames",
        "Find flash, ambient and saturation",
        "Look for dead pixels",
        "Clean and bin the frames",
    ]
    assert len(told["Read the frames"]) > 2
    assert all(list(seen) == sorted(seen) and 0 <= seen[0] <= seen[-1] <= 1 for seen in told.values())
