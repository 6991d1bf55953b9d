"""A reconstruction: its checks, its fit in words, its files."""

import base64
import errno
import io
import os
import re
import sys
import types

import numpy as np
import pytest
from PIL import Image

from nefty.core.errors import InputError, NeftyError
from nefty.core.grid import Grid
from nefty.core.stopping import UNKNOWN, Stopped, StopReason
from nefty.data.facts import Facts, Units
from nefty.result.effort import Effort
from nefty.result.indications.segmentation import Relative
from nefty.result.own_view import OwnView
from nefty.result.reconstruction import Reconstruction
from support.known_facts import alike

IN_MILLIMETRES = Facts(units=Units(length="mm", time="s", temperature="K", diffusivity="mm2/s"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": np.ones((16, 64, 63))}, r"alpha has shape \(16, 64, 63\), expected \(16, 64, 64\)"),
        ({"background": np.ones(15)}, r"background has shape \(15,\), expected \(16,\)"),
        ({"truth": np.ones((8, 32, 32))}, "truth has shape"),
        ({"times": np.ones(20)}, r"times of shape \(20,\) must be .* increasing"),
        ({"times": np.arange(3.0)}, r"measured has shape \(20, 64, 64\), expected \(3, 64, 64\)"),
        ({"fitted": np.ones((19, 64, 64))}, "fitted has shape .* that of measured"),
        ({"fitted": np.full((20, 64, 64), np.nan)}, "fitted holds NaN"),
        ({"measured": np.full((20, 64, 64), np.nan)}, "NaN everywhere"),
        ({"measured": np.full((20, 64, 64), np.inf)}, "measured is infinite"),
        ({"background": np.zeros(16)}, r"background\[0\]=0.0 is no diffusivity"),
        ({"alpha": np.full((16, 64, 64), np.nan)}, r"alpha\[0, 0, 0\]=nan is no diffusivity"),
        ({"alpha": np.full((16, 64, 64), "a")}, "alpha must hold real numbers"),
        ({"lateral": "peridic"}, "Did you mean 'periodic'"),
        ({"noise": -1}, "noise=-1 must be at least 0"),
        ({"noise": np.ones(19)}, r"noise has shape \(19,\), expected \(20,\), one value, or one per frame"),
        ({"noise": np.full(20, -1.0)}, "noise=-1..-1 must be finite and at least 0"),
        ({"noise": np.full(20, np.inf)}, "must be finite and at least 0"),
        ({"noise": np.full(20, "a")}, "noise must hold real numbers"),
        ({"history": {"a": np.ones(2), "b": np.ones(3)}}, r"columns of one length.*a: \(2,\), b: \(3,\)"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(make, changes, message):
    with pytest.raises(InputError, match=message):
        make(**changes)


def test_arrays_cannot_be_changed_through_the_result_but_stay_the_callers_own(make):
    alpha = np.full((16, 64, 64), 0.1)
    rec = make(alpha=alpha)
    with pytest.raises(ValueError, match="read-only"):
        rec.alpha[0, 0, 0] = 1
    alpha[0, 0, 0] = 0.2
    assert make(alpha=np.ones((16, 64, 64), dtype=int)).alpha.dtype == np.float64


def test_misfit_is_the_mean_square_over_noise_and_leaves_nan_out(make):
    fitted = np.zeros((2, 64, 64))
    measured = np.full((2, 64, 64), 3.0)
    measured[0, :, :10] = np.nan
    rec = make(frames=2, fitted=fitted, measured=measured, noise=2.0)
    assert rec.rmse == pytest.approx(3.0)
    assert rec.misfit == pytest.approx(2.25)
    assert np.isnan(rec.residual).sum() == 640
    assert make(noise=None).misfit is None
    assert make(noise=0).misfit is None


def test_units_come_from_what_the_recording_said(make):
    assert make(facts=IN_MILLIMETRES).unit("diffusivity") == "mm2/s"
    assert make(facts=Facts()).unit("length") == ""
    with pytest.raises(InputError, match="Did you mean 'length'"):
        make().unit("lenght")


def residual_of(make, size, **changes):
    """A reconstruction whose residual is white noise times ``size``, an array that broadcasts to (t, y, x)."""
    rec = make()
    measured = rec.fitted + size * rec.residual
    return make(measured=measured, **changes)


def test_noise_alone_is_explained(make):
    for seed in range(3):
        verdict = make(seed=seed).verdict()
        assert verdict.level == "explained"
        assert "down to the camera noise" in verdict.text


def test_a_fit_below_the_noise_is_called_so(make):
    verdict = residual_of(make, 0.5).verdict()
    assert verdict.level == "overfitted"
    assert "only 0.5 times the noise" in verdict.text
    assert "larger regularisation weight" in verdict.text


def test_what_is_not_explained_is_located_in_time_and_place(make):
    size = np.full((20, 64, 64), 2.0)
    size[19] = 4
    size[:, 28:33, 8:13] = 9
    verdict = residual_of(make, size, facts=IN_MILLIMETRES).verdict()
    assert verdict.level == "unexplained"
    assert re.search(
        r"does not explain the recording: the residual is 2.[23] times the noise, most at t = 1 s", verdict.text
    )
    assert re.search(r"around pixel \(y, x\) = \((29|30|31), (9|10|11)\)", verdict.text)
    assert "worst late: check thickness" in verdict.text
    early = np.full((20, 1, 1), 2.0)
    early[0] = 9
    assert "flash" in residual_of(make, early).verdict().text
    middle = np.full((20, 1, 1), 2.0)
    middle[9] = 9
    assert "more iterations" in residual_of(make, middle).verdict().text


def test_a_small_region_or_one_frame_that_stands_out_is_not_passed_over(make):
    size = np.ones((20, 64, 64))
    size[:, 50:55, 20:25] = 3
    verdict = residual_of(make, size).verdict()
    assert verdict.level == "partly"
    assert "not everywhere" in verdict.text
    assert re.search(r"pixel \(y, x\) = \(5[123], 2[123]\)", verdict.text)
    frame = np.ones((20, 1, 1))
    frame[7] = 2
    assert "at t = 0.4 " in residual_of(make, frame).verdict().text


def test_a_residual_little_above_the_noise_is_nearly_explained(make):
    verdict = residual_of(make, 1.2).verdict()
    assert verdict.level == "partly"
    assert "nearly explains" in verdict.text


def test_without_noise_there_is_no_floor(make):
    unknown, free = make(noise=None).verdict(), make(noise=0).verdict()
    assert unknown.level == free.level == "unknown"
    assert "Sequence(noise=...)" in unknown.text
    assert "free of noise" in free.text
    halved = residual_of(make, 0.5, noise=None, facts=IN_MILLIMETRES).verdict().text
    assert re.search(r"0\.50?\d? K \(RMSE\), 0\.5 % of", halved)


def test_both_faces_count_and_the_worse_is_named(make):
    rec = make()
    size = np.ones((2, 20, 64, 64))
    size[1, :, 10:15, 10:15] = 4
    both = np.stack([rec.fitted, rec.fitted])
    rec = make(fitted=both, measured=both + size * np.stack([rec.residual, rec.residual]))
    assert rec.misfit is not None
    assert "of the back" in rec.verdict().text


def test_masked_pixels_and_dropped_frames_are_left_out_of_the_verdict(make):
    measured = make().measured.copy()
    measured[3], measured[:, :, :20] = np.nan, np.nan
    assert make(measured=measured).verdict().level == "explained"


def test_the_words_pass_and_fail_are_never_used(make):
    sizes = (0.5, 1.0, 1.2, 3.0)
    texts = [residual_of(make, size).verdict().text for size in sizes] + [make(noise=None).verdict().text]
    assert not any(re.search(r"\b(pass|fail)", text, re.IGNORECASE) for text in texts)


@pytest.mark.parametrize("name", ["run", "run/volume.h5", "a/b/volume.hdf5"])
def test_a_file_gives_back_everything(make, tmp_path, name):
    rec = make(kind="layered", own_surface=True)
    path = rec.save(tmp_path / name)
    assert path.suffix in (".h5", ".hdf5")
    again = Reconstruction.load(tmp_path / name)
    assert again.grid == rec.grid
    for field in ("alpha", "background", "times", "measured", "fitted", "truth"):
        value, read = getattr(rec, field), getattr(again, field)
        assert read.dtype == value.dtype
        np.testing.assert_array_equal(read, value)
    for field in ("noise", "recipe", "provenance", "stopped", "effort", "bulk", "lateral", "reach", "own_surface"):
        assert getattr(again, field) == getattr(rec, field), field
    assert alike(again.facts, rec.facts)
    assert again.own_view is None
    assert again.history["stage"].tolist() == ["coarse", "fine"]
    assert repr(again.defects()) == repr(rec.defects())  # some numbers are NaN, which equals nothing


def test_a_minimal_reconstruction_survives_too(make, tmp_path):
    whole = make()
    names = ("grid", "alpha", "background", "times", "measured", "fitted")
    Reconstruction(**{name: getattr(whole, name) for name in names}).save(tmp_path)
    again = Reconstruction.load(tmp_path)
    for field in ("truth", "noise", "bulk", "reach", "own_view"):
        assert getattr(again, field) is None, field
    assert (again.history, again.recipe, again.provenance) == ({}, {}, {})
    assert (again.stopped, again.effort, again.lateral) == (UNKNOWN, Effort(), "adiabatic")
    assert alike(again.facts, Facts())


def test_the_map_of_a_method_without_a_volume_survives(make, tmp_path):
    mask = np.zeros((64, 64), bool)
    mask[3:9, 20:30] = True
    make(own_view=OwnView(mask, np.where(mask, 0.4, np.nan))).save(tmp_path)
    view = Reconstruction.load(tmp_path).own_view
    assert view is not None
    assert view.mask.dtype == bool
    np.testing.assert_array_equal(view.mask, mask)
    np.testing.assert_array_equal(view.depth, np.where(mask, 0.4, np.nan))


def test_what_is_no_reconstruction_is_refused(tmp_path, make):
    with pytest.raises(InputError, match="no file"):
        Reconstruction.load(tmp_path / "nothing.h5")
    with pytest.raises(InputError, match="not the record of a reconstruction"):
        Reconstruction.from_record({"alpha": np.ones(3)})
    with pytest.raises(InputError, match=r"not the record of a reconstruction.*colour"):
        Reconstruction.from_record(make().record() | {"colour": 1})
    for damage in ({"stopped": {"reason": "tired", "text": ""}}, {"effort": {"tea": 1}}, {"facts": {"units": 3}}):
        with pytest.raises(InputError, match=r"not the record of a reconstruction|damaged"):
            Reconstruction.from_record(make().record() | damage)


def test_a_full_disk_keeps_the_old_result(make, tmp_path, monkeypatch):
    rec = make()
    rec.save(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NeftyError, match="No space left"):
        make(seed=1).save(tmp_path)
    monkeypatch.undo()
    np.testing.assert_array_equal(Reconstruction.load(tmp_path).alpha, rec.alpha)
    assert len(os.listdir(tmp_path)) == 1


def test_the_report_is_asked_of_the_layer_above(make, tmp_path, monkeypatch):
    page = types.ModuleType("nefty.report.pages.reconstruction")
    page.write_report = lambda rec, path: (rec, path)  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, page.__name__, page)
    rec = make()
    assert rec.report(tmp_path / "report.html") == (rec, tmp_path / "report.html")


def decoded(page: str) -> np.ndarray:
    """The image in a piece of HTML, (y, x, 3)."""
    data = base64.b64decode(page.partition("base64,")[2].partition("'")[0])
    return np.asarray(Image.open(io.BytesIO(data)))


def test_a_notebook_shows_facts_and_the_depth_map(make):
    rec = make(facts=IN_MILLIMETRES, stopped=Stopped(StopReason.UNKNOWN, "<script>"))
    page = rec._repr_html_()
    assert "16 × 64 × 64" in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "http" not in page
    assert len(page) < 30_000
    grey = (decoded(page) == (235, 238, 241)).all(axis=-1)
    np.testing.assert_array_equal(grey, np.isnan(rec.depth_map()))


def test_a_notebook_shows_a_sound_part(make):
    page = make(kind="sound")._repr_html_()
    assert "no indication found" in page
    assert (decoded(page) == (235, 238, 241)).all()


def test_a_grid_of_another_size_than_the_frames_is_refused(make):
    with pytest.raises(InputError, match="alpha has shape"):
        make(grid=Grid((16, 32, 32), (1.0, 10.0, 10.0)))


def test_the_noise_may_be_one_per_frame(make, tmp_path):
    each = np.linspace(0.5, 2.0, 20)
    rec = residual_of(make, each[:, None, None], noise=each)
    np.testing.assert_array_equal(rec.noise_of_frames, each)
    assert rec.misfit == pytest.approx(np.mean(make().residual ** 2), rel=1e-4)
    assert rec.verdict().level == "explained"
    rec.save(tmp_path)
    again = Reconstruction.load(tmp_path)
    np.testing.assert_array_equal(again.noise, each)
    assert again.misfit == rec.misfit
    assert make(noise=3.0).noise_of_frames.tolist() == [3.0] * 20
    assert make(noise=None).noise_of_frames is None
    assert make(noise=np.append(np.zeros(1), each[1:])).misfit is None  # no floor where a frame has no noise
    with pytest.raises(ValueError, match="read-only"):
        rec.noise[0] = 1  # pyright: ignore[reportIndexIssue, reportOptionalSubscript]


def test_the_verdict_compares_every_frame_with_its_own_noise(make):
    """A frame twice as noisy as the rest stands out, unless it is known to be."""
    size = np.ones(20)
    size[3] = 2.5
    rec = residual_of(make, size[:, None, None])
    assert rec.verdict().level == "partly"
    assert "2.5 times the noise at t = 0.2" in rec.verdict().text
    assert residual_of(make, size[:, None, None], noise=size).verdict().level == "explained"
    low = residual_of(make, 0.5 * size[:, None, None], noise=size).verdict()
    assert low.level == "overfitted"
    assert "noise of 1 was given" in low.text


def test_the_recipe_may_name_the_rule_by_which_defects_are_told(make):
    rec = make(recipe={"name": "real", "rule": "faint"})
    assert rec.segmentation().rule == rec.segmentation("faint").rule
    assert rec.segmentation("absolute").rule != rec.segmentation().rule
    assert make(recipe={}).segmentation().rule == Relative()
