from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import nefty
from nefty.bench.illposedness.options import LAMP, QUICK, SIZE, Options
from nefty.bench.illposedness.pairs import FINER, Pair, lookalike, shadow
from nefty.bench.illposedness.spectrum import (
    Spectrum,
    background,
    dense_spectrum,
    fourier_spectrum,
    jacobian,
    laplacian_eigenvalues,
    layer_responses,
    smoothed,
)
from nefty.bench.illposedness.study import run
from nefty.bench.illposedness.tables import STEP, depth_rows
from nefty.bench.solver.case import FLASH
from nefty.core.errors import InputError

TINY = nefty.Grid((3, 4, 5), SIZE)


@pytest.fixture(scope="module")
def dense():
    return dense_spectrum(QUICK)


def test_columns_rows_and_finite_differences_give_one_jacobian():
    at = background(TINY, 4, FLASH, QUICK)
    columns = jacobian(at)
    assert columns.shape == (4 * 20, 60)
    assert jacobian(at, "rows") == pytest.approx(columns, rel=1e-9, abs=1e-9 * np.abs(columns).max())

    model = nefty.HeatModel(TINY, QUICK.times(4), FLASH, dtype="float64")
    step, differences = 1e-5, np.empty_like(columns)
    for cell in range(TINY.cells):
        sides = []
        for sign in (1, -1):
            alpha = np.full(TINY.shape, QUICK.alpha)
            alpha.flat[cell] += sign * step
            sides.append(model(torch.from_numpy(alpha)).numpy().ravel())
        differences[:, cell] = (sides[0] - sides[1]) / (2 * step)
    assert differences == pytest.approx(columns, abs=1e-6 * np.abs(columns).max())


def test_progress_is_told_and_a_wrong_direction_refused():
    at, heard = background(nefty.Grid((4, 4, 4), SIZE), 1, FLASH, QUICK), []
    jacobian(at, "columns", lambda *state: heard.append(state))
    assert heard == [(64, 64)]
    with pytest.raises(InputError, match="by='diagonals'"):
        jacobian(at, "diagonals")


def test_the_largest_singular_value_is_the_ratio_of_the_two_norms_in_l2(dense):
    spectrum, patterns, _ = dense
    grid = spectrum.grid
    dz, dy, dx = grid.spacing
    change = patterns[0]
    answer = background(grid, QUICK.frames, FLASH, QUICK).jvp(torch.from_numpy(change)).numpy()
    of_answer = np.sqrt((answer**2).sum() * dy * dx * QUICK.duration / QUICK.frames)
    assert of_answer / np.sqrt((change**2).sum() * dz * dy * dx) == pytest.approx(spectrum.norm, rel=1e-9)


def test_the_floor_is_where_a_pattern_has_the_signal_of_the_noise(dense):
    spectrum, patterns, _ = dense
    number = 20
    change = QUICK.change * QUICK.alpha * patterns[number] / np.sqrt(np.mean(patterns[number] ** 2))
    at = background(spectrum.grid, QUICK.frames, FLASH, QUICK)
    signal = np.linalg.norm(at.jvp(torch.from_numpy(change)).numpy())
    ratio = signal / (QUICK.noise * at.frames.numpy().max())
    assert spectrum.surface[number] / spectrum.floor == pytest.approx(ratio, rel=1e-9)


def test_eigenvalues_are_those_of_the_slab():
    found = laplacian_eigenvalues(nefty.Grid((3, 4, 5), (2.0, 6.0, 10.0)))
    assert found[0, 0, 0] == 0
    assert found[2, 0, 0] == pytest.approx(np.pi**2)
    assert found[1, 3, 2] == pytest.approx((np.pi / 2) ** 2 + (2 * np.pi / 6) ** 2 + (4 * np.pi / 10) ** 2)


def test_smoothing_divides_an_eigenfunction_by_its_h1_norm():
    grid = nefty.Grid((6, 8, 5), SIZE)
    z, y, x = grid.centres()
    mode = np.cos(2 * np.pi * z) * np.cos(2 * np.pi * 3 * y / 10 + 0.4) * np.sin(2 * np.pi * x / 10)
    value = (2 * np.pi) ** 2 + (0.6 * np.pi) ** 2 + (0.2 * np.pi) ** 2
    rows = np.stack([mode.ravel(), np.ones(grid.cells)])
    assert smoothed(rows, grid) == pytest.approx(rows / np.array([[np.sqrt(1 + value)], [1.0]]), abs=1e-12)
    assert smoothed(rows, grid, mean_free=True) == pytest.approx(rows * [[value**-0.5], [0.0]], abs=1e-12)


def test_the_bound_is_reached_by_the_identity():
    found = np.linalg.svd(smoothed(np.eye(TINY.cells), TINY), compute_uv=False)
    bound = (1 + np.sort(laplacian_eigenvalues(TINY), axis=None)) ** -0.5
    assert found == pytest.approx(bound, rel=1e-12)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(5, 90))
def test_the_bound_holds_for_any_matrix(seed, rows):
    matrix = np.random.default_rng(seed).standard_normal((rows, TINY.cells)) ** 3
    found = np.linalg.svd(smoothed(matrix, TINY), compute_uv=False)
    bound = np.linalg.norm(matrix, 2) * (1 + np.sort(laplacian_eigenvalues(TINY), axis=None)) ** -0.5
    assert (found <= bound[: len(found)] * (1 + 1e-12)).all()


def test_the_bound_of_the_paper_holds_for_the_derivative(dense):
    spectrum, _, mean_free = dense
    assert len(spectrum.smooth) == spectrum.grid.cells == 144
    assert (spectrum.smooth <= spectrum.bound * (1 + 1e-12)).all()
    assert (spectrum.smooth[50:] < 0.1 * spectrum.bound[50:]).all()
    assert 0 < mean_free <= 1 + 1e-12


def test_fewer_values_than_cells_are_taken_row_by_row():
    few = replace(QUICK, shape=(12, 4, 4), frames=8)
    spectrum, patterns, _ = dense_spectrum(few)
    assert len(spectrum.surface) == len(spectrum.bound) == len(patterns) == 8 * 16
    again = svd_of(jacobian(background(spectrum.grid, 8, FLASH, few)), spectrum.grid, few)
    assert spectrum.surface == pytest.approx(again, abs=1e-9 * again[0])


def svd_of(matrix, grid, options):
    """Singular values with the weights written out."""
    dz, dy, dx = grid.spacing
    weight = np.sqrt(dy * dx * options.duration / (len(matrix) // (grid.shape[1] * grid.shape[2])) / (dz * dy * dx))
    return np.linalg.svd(weight * matrix, compute_uv=False)


def test_fourier_blocks_have_the_singular_values_of_the_full_jacobian():
    options = replace(QUICK, shape=(4, 4, 6), frames=10, fine_frames=10)
    full, _, _ = dense_spectrum(options, flash=LAMP)
    blocks = fourier_spectrum(layer_responses((4, 4, 6), options), options)
    assert blocks.title == "6 x 4 x 4 cells, uniform flash"
    for name in ("surface", "smooth", "bound"):
        expected = getattr(full, name)
        assert getattr(blocks, name) == pytest.approx(expected, abs=1e-10 * expected[0])
    assert blocks.floor == pytest.approx(full.floor)


def test_weyl_and_the_fitted_slope():
    n = np.arange(1, 2001)
    grid = nefty.Grid((4, 16, 32), SIZE)
    power = 3.0 * n**-0.7
    spectrum = Spectrum("", grid, 5, power, power, np.zeros(2000), 0.0)
    assert spectrum.slope(spectrum.surface) == pytest.approx(-0.7)
    assert spectrum.slope(spectrum.weyl) == pytest.approx(-1 / 3)
    assert spectrum.above(3.0 * 10.5**-0.7) == 10

    fine = nefty.Grid((24, 200, 200), SIZE)
    eigenvalues = np.sort(laplacian_eigenvalues(fine), axis=None)
    weyl = Spectrum("", fine, 5, np.ones(40_000), np.ones(40_000), eigenvalues, 0.0)
    assert weyl.bound[19_999] == pytest.approx(weyl.weyl[19_999], rel=0.06)  # Weyl's law is asymptotic


def test_the_answer_of_a_layer_is_that_of_a_small_change_of_it():
    responses = layer_responses(QUICK.fine, QUICK)
    row = depth_rows(responses, QUICK)[3]
    model = nefty.HeatModel(responses.grid, QUICK.times(QUICK.fine_frames), LAMP, dtype="float64")
    alpha = np.full(QUICK.fine, QUICK.alpha)
    sound = model(torch.from_numpy(alpha)).numpy()
    share = 1e-5
    alpha[3] *= 1 + share
    whole = (model(torch.from_numpy(alpha)).numpy() - sound)[:, 0, 0] * STEP / share
    assert row["wave_0"] == pytest.approx(100 * np.sqrt(np.mean(whole**2)) / sound.max(), rel=1e-3)

    alpha[3] = QUICK.alpha * (1 + share * np.cos(2 * np.pi * 5 * responses.grid.centres()[2][0] / SIZE[2]))
    striped = (model(torch.from_numpy(alpha)).numpy() - sound) * STEP / share
    amplitude = np.sqrt(2 * np.mean(striped**2, axis=(1, 2)))
    assert row["wave_5"] == pytest.approx(100 * np.sqrt(np.mean(amplitude**2)) / sound.max(), rel=1e-3)
    assert row["depth"] == pytest.approx(3.5 / 8)


def test_the_numbers_of_a_pair():
    first = np.full((2, 1, 2), 0.1)
    second = first.copy()
    second[1] = 0.4
    frames = np.full((3, 1, 2), 50.0)
    other = frames.copy()
    other[2, 0, 1] += 0.03
    pair = Pair("t", ("a", "b"), np.arange(3.0), (first, second), (frames, other), 600, 1.25, "elsewhere")
    row = pair.row(noise=1e-3)
    assert row["differ"] == 0.5
    assert row["factor"] == pytest.approx(4)
    assert row["relative"] == pytest.approx(3 / np.sqrt(2))
    assert row["largest"] == pytest.approx(0.06)
    assert row["rms"] == pytest.approx(0.06 / np.sqrt(6))
    assert row["together"] == pytest.approx(0.6 * np.sqrt(100))
    assert row["right"] == pytest.approx(norm.cdf(3.0))
    assert row["shows"] == "1.2 % elsewhere"


def test_a_pair_of_equals_differs_nowhere():
    same = np.ones((2, 2, 2))
    row = Pair("t", ("a", "b"), np.arange(2.0), (same, same), (same, same), 8, 0.0, "").row(1e-3)
    assert (row["differ"], row["factor"], row["largest"], row["right"]) == (0, 1, 0, 0.5)


def test_a_defect_hides_what_lies_below_it():
    pair = shadow(QUICK, 300, 2.5, ((0.75, 5.0, 5.0, 0.7),))
    blocks = (pair.alpha[0] == QUICK.alpha) & np.isclose(pair.alpha[1], QUICK.alpha / 300)
    assert blocks.sum() == 2 * 2 * 2
    assert (pair.alpha[0] != pair.alpha[1]).sum() == 8
    row = pair.row(QUICK.noise)
    assert row["largest"] < 0.02
    assert pair.shows > 50 * row["largest"]


def test_a_lookalike_has_the_curve_of_the_uniform_plate_and_another_inside():
    wanted = np.log(2) * np.array([0, 0, 0, -1, 1, -1, 1, -1])
    found = lookalike(wanted, replace(QUICK, evaluations=8))
    assert np.exp(np.abs(found[4:]).mean()) > 1.4
    assert np.corrcoef(found, wanted)[0, 1] > 0.8
    grid = nefty.Grid((8 * FINER, 1, 1), SIZE)
    curves = [
        nefty.simulate_explicit(
            grid, QUICK.alpha * np.exp(np.repeat(p, FINER))[:, None, None], QUICK.times(20), LAMP, safety=50.0
        )
        for p in (0 * wanted, wanted, found)
    ]
    uniform, untuned, tuned = curves
    assert np.abs(tuned - uniform).max() < 1e-4 * uniform.max()
    assert np.abs(untuned - uniform).max() > 30 * np.abs(tuned - uniform).max()


def test_the_experiment_from_end_to_end(tmp_path):
    heard = []
    results = run(QUICK, shape=(3, 4, 4), frames=12, tell=lambda task, detail: heard.append(task))
    assert {"Jacobian of the small slab", "slab under a uniform flash", "pairs"} == set(heard)
    assert results.settings["shape"] == (3, 4, 4)
    assert results.settings["frames"] == 12

    tables = {table.name: table.rows for table in results.tables}
    assert [row["n"] for row in tables["small"]] == [1, 2, 5, 10, 20]
    assert all(row["ratio"] <= 1 for name in ("small", "fine") for row in tables[name])
    assert [row["cells"] for row in tables["numbers"]] == [48, 2048, 512, 1024]
    for row in tables["numbers"]:
        assert row["above_0"] <= row["above_1"] <= row["above_2"] <= row["cells"]
    assert [row["cell"] for row in tables["depth"]][-1] < 0.02
    assert all(row["right"] <= 1 and row["factor"] > 1.2 for row in tables["pairs"])
    assert len(tables["pairs"]) == 4

    assert len(results.sections) == 8
    assert all(s.shows and s.good and s.bad and s.do and s.figure is not None for s in results.sections)
    page = next(p for p in results.save(tmp_path, "nefty bench run illposedness") if p.suffix == ".html")
    assert "What the surface shows of the inside" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"shape": (1, 8, 8)}, "at least"),
        ({"fine": (8, 4, 8)}, "at least"),
        ({"shape": (16, 64, 64)}, "GiB"),
        ({"frames": 3}, "frames"),
        ({"alpha": 0.0}, "alpha"),
    ],
)
def test_what_cannot_be_computed_is_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        Options(**wrong)
