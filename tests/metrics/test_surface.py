"""Frames simulated again: exactly zero for the true part, scikit-image's numbers, another solver's frames."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Facts
from nefty.data.read import read
from nefty.metrics.surface import frames_mse, frames_psnr, noise_free, resimulated, surface_score
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.pulses import TopHatPulse
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen

GRID = Grid((5, 12, 10), (1.0, 10.0, 10.0))
TIMES = 0.2 * np.arange(1, 9)
PART = draw_specimen(3, "layered", defects=1)
WARM = np.random.default_rng(1).uniform(0, 50, GRID.shape)


def recorded(**settings):
    return simulate(PART, grid=GRID, times=TIMES, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"face_mean": "min", "safety": 3.0},
        {"anisotropy": (1.5, 0.7), "observe": "both"},
        {"boundary": Boundary(lateral="adiabatic", back="robin", h_back=0.3), "observe": "back"},
        {"excitation": TopHatPulse(amplitude=80.0, duration=0.5)},
        {"excitation": WARM},
    ],
    ids=lambda s: ", ".join(s) or "as in the paper",
)
def test_the_true_volume_gives_the_true_frames_to_the_last_bit(settings):
    sequence = recorded(noise=1e-2, **settings)
    clean = recorded(**settings)
    assert np.array_equal(noise_free(sequence), clean.frames)
    assert np.array_equal(noise_free(clean), clean.frames)
    score = surface_score(sequence.truth, sequence)
    assert (score.mse, score.psnr, score.peak) == (0.0, math.inf, clean.frames.max())


def test_the_face_mean_is_that_of_the_data_not_of_the_model():
    sequence = recorded(noise=1e-2, face_mean="min")
    inverted_otherwise = dataclasses.replace(sequence, face_mean="harmonic")
    assert surface_score(sequence.truth, inverted_otherwise).mse == 0
    unknown = dataclasses.replace(sequence, facts=Facts())
    assert surface_score(sequence.truth, unknown, recorded(face_mean="min").frames).mse == 0
    harmonic = dataclasses.replace(unknown, face_mean="harmonic")
    assert surface_score(sequence.truth, harmonic, recorded(face_mean="min").frames).mse > 0


def test_it_works_on_what_was_saved(tmp_path):
    sequence = read(recorded(noise=1e-2, face_mean="arithmetic").save(tmp_path / "recording.h5"))
    assert surface_score(sequence.truth, sequence).mse == 0


def test_data_of_a_finer_grid_are_simulated_on_it():
    sequence = recorded(noise=1e-2, refine=2)
    assert np.array_equal(noise_free(sequence), recorded(refine=2).frames)
    fine, coarse = (surface_score(sequence.truth, sequence, refine=r).mse for r in (None, 1))
    assert fine == surface_score(sequence.truth, sequence, refine=2).mse
    assert 0 < fine != coarse > 0  # the truth on the coarse cells is not the part itself


def test_the_score_is_that_of_scikit_image():
    sequence = recorded(noise=1e-2)
    alpha = np.full(GRID.shape, 0.15)
    frames, true = resimulated(alpha, sequence), noise_free(sequence)
    score = surface_score(alpha, sequence)
    assert score.mse == pytest.approx(mean_squared_error(true, frames))
    assert score.psnr == pytest.approx(peak_signal_noise_ratio(true, frames, data_range=true.max()))
    assert surface_score(alpha, sequence, true_frames=true) == score
    assert surface_score(dataclasses.make_dataclass("Rec", ["alpha"])(alpha), sequence) == score


def test_the_frames_are_those_of_the_other_solver():
    sequence = recorded(safety=64.0)
    alpha = np.random.default_rng(2).uniform(0.05, 0.2, GRID.shape)
    model = HeatModel(GRID, TIMES, sequence.excitation, boundary=sequence.boundary, dtype="float64")
    expected = model(torch.from_numpy(alpha)).numpy()
    assert resimulated(alpha, sequence) == pytest.approx(expected, abs=1e-3 * expected.max())
    assert resimulated(alpha, sequence, safety=1.0) != pytest.approx(expected, abs=1e-3 * expected.max())


def test_only_pixels_of_the_mask_count():
    sequence = recorded()
    mask = np.zeros(GRID.shape[1:], bool)
    mask[2:5, 3] = True
    alpha = np.full(GRID.shape, 0.15)
    difference = resimulated(alpha, sequence)[:, 2:5, 3] - sequence.frames[:, 2:5, 3]
    score = surface_score(alpha, sequence.with_mask(mask))
    assert score.mse == pytest.approx(np.mean(difference**2))
    assert score.peak == sequence.frames[:, 2:5, 3].max()


def test_frames_by_hand():
    true = np.array([[3.0, 4.0], [math.nan, 10.0]])
    assert frames_mse(true + 1, true) == 1
    assert frames_mse([[3.0, 4.0], [5.0, 13.0]], true) == 3
    assert frames_psnr([[3.0, 4.0], [5.0, 13.0]], true) == pytest.approx(10 * math.log10(100 / 3))
    assert frames_psnr(true + 1, true, peak=1000.0) == pytest.approx(60)
    assert frames_psnr(true, true) == math.inf


def test_the_papers_numbers_imply_a_peak_of_92():
    true = np.full(4, 92.5)
    assert frames_psnr(true + math.sqrt(0.5e-4), true) == pytest.approx(82.33, abs=0.005)


def test_what_is_not_known_is_asked_for():
    sequence = recorded(noise=1e-2)
    stranger = dataclasses.replace(sequence, facts=Facts())
    with pytest.raises(InputError, match="give its true frames"):
        noise_free(stranger)
    assert surface_score(sequence.truth, stranger, recorded().frames).mse == 0  # safety 16 is what simulate takes
    with pytest.raises(InputError, match="does not name its flash"):
        resimulated(sequence.truth, dataclasses.replace(sequence, excitation=None))
    with pytest.raises(InputError, match="size of the part is not known"):
        resimulated(sequence.truth, dataclasses.replace(sequence, size=None))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: resimulated(np.ones((5, 6, 5)), recorded()), r"\(5, 6, 5\), the grid \(5, 12, 10\)"),
        (lambda: surface_score(np.ones(GRID.shape), recorded(), np.ones((2, 12, 10))), r"\(2, 12, 10\), the recording"),
        (lambda: frames_mse(np.ones(3), np.ones(4)), r"\(3,\), the true ones \(4,\)"),
        (lambda: frames_mse([1.0, math.nan], [1.0, 1.0]), "NaN or infinite"),
        (lambda: frames_mse([1.0], [math.nan]), "hold no number"),
        (lambda: frames_psnr([1.0], [0.0]), "peak=0 must be above 0"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
