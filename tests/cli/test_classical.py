import numpy as np
import pytest

from nefty.classical.techniques import TECHNIQUES
from nefty.data.facts import Facts, Units
from nefty.data.sequence import Sequence
from nefty.physics.slab.reference_decay import reference_decay
from support.disks import read_only
from support.flash_recordings import Camera

ALPHA, THICK, SHALLOW = 1.2e-7, 2e-3, 1e-3


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    """PVC of 2 mm with a square gap at 1 mm, without heat to the sides, in metres and seconds."""
    times = 0.5 * np.arange(1, 121)
    frames = np.tile(reference_decay(times, ALPHA, THICK, heat=0.02)[:, None, None], (1, 6, 8))
    frames[:, 2:4, 2:5] = reference_decay(times, ALPHA, SHALLOW, heat=0.02)[:, None, None]
    facts = Facts(units=Units(length="m", time="s", temperature="K"))
    sequence = Sequence(frames=frames, times=times, size=(THICK, 0.06, 0.08), facts=facts)
    return sequence.save(tmp_path_factory.mktemp("plate") / "plate.h5")


def test_it_prints_a_summary_and_writes_nothing(plate, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("classical", "tsr", plate, "--alpha", ALPHA)
    assert (code, err) == (0, "")
    assert f"TSR: {plate}" in out
    assert "in 100 % of the pixels" in out
    assert "median 0.002" in out
    assert "depth = sqrt(pi alpha t*)" in out
    assert list(tmp_path.iterdir()) == []


def test_maps_and_page_are_written(plate, call, tmp_path):
    folder = tmp_path / "new" / "tsr"
    code, out, _ = call("classical", "tsr", plate, "--alpha", ALPHA, "--out", folder, "--set", "order=7")
    assert code == 0
    for name in ("maps.npz", "report.html"):
        assert f"written: {folder / name}" in out
    with np.load(folder / "maps.npz", allow_pickle=False) as maps:
        assert maps["coefficients"].shape == (8, 6, 8)
        np.testing.assert_allclose(maps["depth"][2:4, 2:5], SHALLOW, rtol=0.05)  # five frames before t*
        np.testing.assert_allclose(maps["depth"][0], THICK, rtol=0.02)
    page = (folder / "report.html").read_text(encoding="utf-8")
    for words in ("TSR", "Median depth", "Peak time", "plate.h5", str(ALPHA)):
        assert words in page


@pytest.mark.parametrize("name", TECHNIQUES)
def test_every_method_runs_and_has_a_page(name, plate, call, tmp_path):
    code, out, err = call("classical", name, plate, "--alpha", ALPHA, "--out", tmp_path)
    assert (code, err) == (0, "")
    assert TECHNIQUES[name].title in out
    assert (tmp_path / "report.html").stat().st_size > 0
    with np.load(tmp_path / "maps.npz", allow_pickle=False) as maps:
        assert ("depth" in maps.files) == TECHNIQUES[name].depth


def test_ppt_says_which_constant_the_exact_slab_asks_for(plate, call):
    _, out, _ = call("classical", "ppt", plate, "--alpha", ALPHA)
    assert "asks for the constant" in out
    assert "the literature's is 1.82" in out


def test_a_mask_of_the_sound_region_is_used(plate, call, tmp_path):
    sound = np.zeros((6, 8), dtype=np.uint8)
    sound[0] = 255
    np.save(tmp_path / "sound.npy", sound)
    words = ["classical", "peak-slope", plate, "--alpha", ALPHA, "--sound", tmp_path / "sound.npy"]
    code, out, _ = call(*words)
    assert code == 0
    assert f"in {100 * 6 / 48:.3g} % of the pixels" in out
    np.save(tmp_path / "sound.npy", np.ones((2, 2)))
    code, _, err = call(*words)
    assert code == 2
    assert "(2, 2)" in err


def test_a_recording_without_a_size_is_drawn_in_pixels(call, tmp_path):
    times = 0.1 * np.arange(1, 61)
    frames = reference_decay(times, 1.0, 1.0)[:, None, None] * np.ones((60, 3, 3))
    np.savez(tmp_path / "bare.npz", frames=frames, times=times)
    assert call("classical", "tsr", tmp_path / "bare.npz", "--alpha", 1, "--out", tmp_path / "out")[0] == 0
    assert "pixels" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_what_is_missing_or_unknown_is_said(plate, call, tmp_path):
    for words, said in [
        (["tsr", plate], "give --alpha"),
        (["vwc-admm", plate], "give --alpha"),
        (["tsrr", plate], "Did you mean 'tsr'"),
        (["tsr", tmp_path / "no.h5", "--alpha", "1"], "there is no file"),
        (["tsr", plate, "--alpha", "-1"], "alpha=-1 must be above 0"),
        (["tsr", plate, "--alpha", "1", "--set", "order"], "--set order=7"),
        (["tsr", plate, "--alpha", "1", "--set", "ordr=7"], "Did you mean 'order'"),
        (["tsr", plate, "--alpha", "1", "--set", "weights=loud"], "log-time"),
        (["pct", plate, "--sound", tmp_path / "no.npy"], "cannot read the mask"),
        (["tsr", plate, "--alpha", "1", "--open"], "--out"),
    ]:
        code, _, err = call("classical", *words)
        assert code == 2, words
        assert said in err, (words, err)
        assert "Traceback" not in err


def test_a_folder_that_cannot_be_written_is_said(plate, call, tmp_path):
    with read_only(tmp_path):
        code, _, err = call("classical", "pct", plate, "--out", tmp_path / "new")
    assert code == 2
    assert "cannot write" in err


def test_a_cameras_file_is_prepared_with_the_facts_given(call, tmp_path):
    """PVC of 2 mm as counts at 10 frames per second, the flash in frame 11."""
    camera = Camera(shape=(600, 10, 12), echo=THICK**2 / ALPHA * 10, sigma=0.005)
    np.save(tmp_path / "plate.npy", np.round((camera.frames() - 250) / 0.0005).astype(np.uint32))
    code, _, err = call("classical", "tsr", tmp_path / "plate.npy")
    assert code == 2
    assert "--fps" in err
    assert "--thickness" not in err
    words = ["--fps", 10, "--material", "pvc", "--calibration", "0.0005,250"]
    assert call("classical", "tsr", tmp_path / "plate.npy", *words, "--out", tmp_path / "out")[0] == 0
    with np.load(tmp_path / "out" / "maps.npz", allow_pickle=False) as maps:
        assert np.median(maps["depth"]) == pytest.approx(THICK, rel=0.05)
    code, again, _ = call(
        "classical", "tsr", tmp_path / "plate.npy", *words, "--alpha", "1.2e-7 m2/s", "--roi", "2:8,:"
    )
    assert code == 0
    assert "median 0.00" in again
    assert "in 100 % of the pixels" in again
