"""The model as its users see it: physics, input it refuses, memory. Derivatives have a file of their own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from nefty import Boundary, ConvergenceError, GaussianFlash, Grid, HeatModel, InputError, TopHatPulse, UniformFlash
from nefty.testing import Slab, cosine_mode, discrete_decay_rate, observed_order
from support.dense import dense_operator

GRID = Grid((4, 3, 5), (1.0, 1.0, 1.5))
ALPHA = torch.from_numpy(np.random.default_rng(1).uniform(0.05, 0.3, GRID.shape))
FLASH = GaussianFlash(10.0, 0.6, 0.3)
TIMES = [0.0, 0.1, 0.25, 0.9]


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
@pytest.mark.parametrize("mean", ["harmonic", "arithmetic", "min"])
def test_the_default_is_the_matrix_exponential(kernel, lateral, mean):
    boundary = Boundary(lateral, "robin", "robin", 0.4, 0.2)
    matrix = dense_operator(ALPHA.numpy(), GRID, boundary, mean, (2.0, 0.5))
    start = FLASH.amplitude * FLASH.shape(GRID)
    model = HeatModel(
        GRID, TIMES, FLASH, boundary, face_mean=mean, anisotropy=(2.0, 0.5), kernel=kernel, dtype="float64",
        observe="volume",
    )  # fmt: skip
    got = model(ALPHA).numpy()
    for frame, t in zip(got, TIMES, strict=True):
        np.testing.assert_allclose(frame.ravel(), expm(t * matrix) @ start.ravel(), atol=1e-10)


def test_a_pulse_is_the_integral_of_the_matrix_exponential():
    boundary = Boundary(front="robin", h_front=0.3)
    matrix = dense_operator(ALPHA.numpy(), GRID, boundary, "harmonic", (1.0, 1.0))
    pulse = TopHatPulse(2.0, 0.4, start=0.1, profile=np.linspace(0.5, 1.5, 15).reshape(3, 5))
    rate = np.zeros(GRID.shape)
    rate[0] = 2.0 * pulse.shape(GRID) / (1 + 0.3 * 0.25 / (2 * ALPHA[0].numpy()))  # the rest is lost at the surface
    got = HeatModel(GRID, [0.05, 0.3, 0.9], pulse, boundary, dtype="float64", observe="volume")(ALPHA).numpy()
    inverse, identity = np.linalg.inv(matrix), np.eye(GRID.cells)

    def heated(length: float) -> np.ndarray:
        return inverse @ (expm(length * matrix) - identity) @ rate.ravel()

    assert abs(got[0]).max() < 1e-12
    np.testing.assert_allclose(got[1].ravel(), heated(0.2), atol=1e-9)
    np.testing.assert_allclose(got[2].ravel(), expm(0.4 * matrix) @ heated(0.4), atol=1e-9)


@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
def test_a_cosine_mode_decays_at_the_discrete_rate(lateral):
    grid = Grid((8, 6, 10), (1.0, 3.0, 4.0))
    mode = cosine_mode(grid, (2, 1, 1), lateral)
    rate = discrete_decay_rate(grid, (2, 1, 1), 0.1, lateral, (2.0, 3.0))
    model = HeatModel(grid, [0.3], mode, Boundary(lateral), anisotropy=(2.0, 3.0), dtype="float64", observe="volume")
    got = model(np.full(grid.shape, 0.1)).numpy()[0]
    np.testing.assert_allclose(got, np.exp(-0.3 * rate) * mode, atol=1e-11)


@pytest.mark.parametrize("losses", [(0.0, 0.0), (0.2, 0.0), (0.1, 0.3)])
@pytest.mark.parametrize("observe", ["front", "back"])
@pytest.mark.parametrize("kind", ["flash", "pulse"])
def test_a_uniform_slab_follows_its_series(losses, observe, kind):
    """Within 0.5 % after the first frames (acceptance point 2), with the paper's 16 layers."""
    grid, times = Grid((16, 2, 2), (1.0, 1.0, 1.0)), 0.05 * np.arange(1, 101)
    slab = Slab(0.15, 1.0, 16, *losses)
    if kind == "flash":
        initial, exact = UniformFlash(100.0, 0.2), slab.gaussian_flash(times, 0.2, 100.0)
    else:
        initial, exact = TopHatPulse(10.0, 0.2), slab.pulse(times, 0.2, amplitude=10.0)
    boundary = Boundary("periodic", "robin", "robin", *losses)
    got = HeatModel(grid, times, initial, boundary, observe=observe)(torch.full(grid.shape, 0.15)).numpy()[:, 0, 0]
    exact = exact[:, 0 if observe == "front" else -1]
    if observe == "front":
        np.testing.assert_allclose(got[5:], exact[5:], rtol=5e-3 if losses == (0, 0) else 1e-2)
    else:
        np.testing.assert_allclose(got, exact, atol=(5e-3 if losses == (0, 0) else 1e-2) * exact.max())


@pytest.mark.parametrize(
    ("integrator", "dtype", "tolerance"),
    [
        ("chebyshev", "float32", 1e-6),
        ("chebyshev", "float64", 1e-12),
        ("sdirk2", "float64", 1e-9),
        ("implicit-euler", "float64", 1e-9),
        ("sdirk2", "float32", 2e-5),  # a hundred steps, each solved to 1e-6
    ],
)
def test_energy_is_conserved_with_adiabatic_faces(integrator, dtype, tolerance):
    """To 1e-6 over 100 frames (acceptance point 2)."""
    grid = Grid((8, 16, 16), (1.0, 5.0, 5.0))
    alpha = np.full(grid.shape, 0.15)
    alpha[3:5, 5:9, 5:9] = 0.0075
    times = 0.05 * np.arange(101)
    model = HeatModel(grid, times, GaussianFlash(width=1.0), integrator=integrator, dtype=dtype, observe="volume")
    energy = model(alpha).double().sum(dim=(1, 2, 3)).numpy()
    np.testing.assert_allclose(energy, energy[0], rtol=tolerance)


@pytest.mark.parametrize("boundary", [Boundary("adiabatic"), Boundary("adiabatic", "robin", "robin", 0.3, 0.1)])
@pytest.mark.parametrize("mean", ["harmonic", "arithmetic"])
def test_order_in_space_is_two_for_smooth_diffusivity(boundary, mean):
    """Differences between successive grids, each averaged down to the coarsest."""

    def solve(n: int) -> np.ndarray:
        grid = Grid((n, n, 1), (1.0, 1.0, 1.0))
        z, y, _ = grid.centres()
        alpha = 0.1 * (1 + 0.5 * np.cos(np.pi * y) * np.cos(2 * np.pi * z + 0.3))
        start = np.exp(-4 * z**2) * (1 + 0.5 * np.cos(np.pi * y)) + 0 * alpha
        frames = HeatModel(grid, [0.2, 0.5], start, boundary, face_mean=mean, dtype="float64", observe="volume")(alpha)
        return frames.reshape(2, 4, n // 4, 4, n // 4).mean(dim=(2, 4)).numpy()

    sizes = [8, 16, 32, 64]
    solutions = [solve(n) for n in sizes]
    errors = [float(np.linalg.norm(a - b)) for a, b in pairwise(solutions)]
    assert observed_order(1 / np.array(sizes[:-1]), errors) == pytest.approx(2.0, abs=0.2)


def test_the_paper_robin_rule_is_first_order_and_ours_is_not():
    """Why the loss acts at the surface by default."""

    def error(layers: int, robin: str) -> float:
        grid = Grid((layers, 1, 1), (1.0, 1.0, 1.0))
        exact = Slab(0.1, 1.0, layers, 0.5, 0.0).gaussian_flash([1.0], 0.4)
        model = HeatModel(
            grid, [1.0], UniformFlash(1.0, 0.4), Boundary(front="robin", h_front=0.5, robin=robin), dtype="float64"
        )
        return abs(model(np.full(grid.shape, 0.1)).item() - exact[0, 0])

    layers = np.array([8, 16, 32, 64])
    assert observed_order(1 / layers, [error(n, "cell") for n in layers]) == pytest.approx(1, abs=0.2)
    assert observed_order(1 / layers, [error(n, "surface") for n in layers]) == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("kind", ["flash", "pulse"])
def test_a_slab_with_losses_converges_to_its_series_with_order_two(kind):
    def error(layers: int) -> float:
        grid, slab = Grid((layers, 1, 1), (1.0, 1.0, 1.0)), Slab(0.1, 1.0, layers, 0.5, 0.3)
        if kind == "flash":
            initial, exact = UniformFlash(1.0, 0.4), slab.gaussian_flash([1.0], 0.4)
        else:
            initial, exact = TopHatPulse(1.0, 0.7), slab.pulse([1.0], 0.7)
        model = HeatModel(grid, [1.0], initial, Boundary("periodic", "robin", "robin", 0.5, 0.3), dtype="float64")
        return abs(model(np.full(grid.shape, 0.1)).item() - exact[0, 0])

    layers = np.array([8, 16, 32, 64])
    assert observed_order(1 / layers, [error(n) for n in layers]) == pytest.approx(2, abs=0.2)


def test_float32_is_close_to_float64():
    grid, times = Grid((16, 24, 24), (1.0, 4.0, 4.0)), 0.05 * np.arange(1, 101)
    alpha = np.full(grid.shape, 0.15)
    alpha[6:9, 8:14, 8:14] = 0.01
    single, double = (HeatModel(grid, times, GaussianFlash(100.0, 1.0), dtype=d)(alpha) for d in ("float32", "float64"))
    assert float((single - double).square().mean().sqrt()) < 1e-4  # of a peak of 100


@pytest.mark.parametrize("observe", ["front", "back", "both", "volume"])
@pytest.mark.parametrize("integrator", ["chebyshev", "sdirk2"])
def test_what_is_observed(observe, integrator):
    full = HeatModel(GRID, TIMES, FLASH, observe="volume", integrator=integrator)(ALPHA)
    got = HeatModel(GRID, TIMES, FLASH, observe=observe, integrator=integrator)(ALPHA)
    want = {"front": full[:, 0], "back": full[:, -1], "both": torch.stack([full[:, 0], full[:, -1]]), "volume": full}
    torch.testing.assert_close(got, want[observe], rtol=1e-5, atol=1e-5)


def test_inputs_of_a_call_replace_the_models_own():
    boundary = Boundary(back="robin", h_back=0.3)
    model = HeatModel(GRID, TIMES, FLASH, boundary, dtype="float64")
    plain = model(ALPHA)
    torch.testing.assert_close(model(ALPHA, amplitude=20.0), 2 * plain)
    torch.testing.assert_close(model(ALPHA, initial=5 * FLASH.shape(GRID)), plain / 2)
    stronger = HeatModel(GRID, TIMES, FLASH, Boundary(back="robin", h_back=0.6), dtype="float64")
    torch.testing.assert_close(model(ALPHA, h_back=0.6), stronger(ALPHA))
    torch.testing.assert_close(model(ALPHA, h_back=torch.full((3, 5), 0.6)), stronger(ALPHA))


def test_no_trajectory_is_kept_where_no_gradient_is_wanted(monkeypatch):
    seen = []
    original = HeatModel._run

    def spy(self, inputs, kernel, arrays, memory):
        seen.append(memory)
        return original(self, inputs, kernel, arrays, memory)

    monkeypatch.setattr(HeatModel, "_run", spy)
    model = HeatModel(GRID, TIMES, FLASH)
    model(ALPHA)
    with torch.no_grad():
        model(ALPHA.clone().requires_grad_())
    model(ALPHA.clone().requires_grad_())
    assert seen[:2] == [None, None]
    assert seen[2] is not None


def field(value: float, where: tuple[int, int, int] = (1, 2, 3)) -> np.ndarray:
    alpha = np.full(GRID.shape, 0.1)
    alpha[where] = value
    return alpha


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (field(np.nan), "alpha holds NaN"),
        (field(np.inf), "alpha holds NaN or infinity"),
        (field(-0.2), r"alpha=-0.2 at cell \(1, 2, 3\)"),
        (field(0.0), "alpha=0 at cell .* must be above 0"),
        (np.full((3, 4, 5), 0.1), r"alpha has shape \(3, 4, 5\), the grid has \(4, 3, 5\)"),
        ("high", "alpha must be an array"),
    ],
)
def test_bad_diffusivity_is_refused(alpha, message):
    with pytest.raises(InputError, match=message):
        HeatModel(GRID, TIMES, FLASH)(alpha)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.1, 0.3, 0.2], r"times\[1\]=0.3 is followed by times\[2\]=0.2; sort"),
        ([0.1, 0.1], "drop repeated"),
        ([-0.1, 0.2], r"times\[0\]=-0.1 lies before the flash"),
        ([0.1, np.nan], r"times\[1\]=nan is not finite"),
        ([], "at least one time"),
        ([[0.1]], r"shape \(1, 1\)"),
        (["soon"], "must be numbers"),
    ],
)
def test_bad_times_are_refused(times, message):
    with pytest.raises(InputError, match=message):
        HeatModel(GRID, times, FLASH)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"face_mean": "harmonc"}, "face_mean='harmonc' is unknown.*Did you mean 'harmonic'"),
        ({"integrator": "sdirk"}, "Did you mean 'sdirk2'"),
        ({"observe": "top"}, "observe='top' is unknown"),
        ({"kernel": "cuda"}, "kernel='cuda' is unknown"),
        ({"dtype": "float16"}, "dtype='float16' is unknown"),
        ({"derivative": "symbolic"}, "derivative='symbolic' is unknown"),
        ({"derivative": "autograd"}, 'needs kernel="torch"'),
        ({"memory": "store"}, "Did you mean 'stored'"),
        ({"memory": "reversed", "integrator": "sdirk2"}, "cannot be run backwards"),
        ({"anisotropy": (1.0,)}, r"anisotropy=\(1.0,\) must be two ratios"),
        ({"anisotropy": (1.0, -2.0)}, "anisotropy along x=-2 must be above 0"),
        ({"boundary": "periodic"}, "must be a nefty.Boundary"),
        ({"initial": np.zeros((2, 2, 2))}, r"initial has shape \(2, 2, 2\)"),
        ({"initial": np.full(GRID.shape, np.nan)}, "initial holds NaN"),
        ({"initial": "flash"}, "array .* or a flash"),
        ({"initial": np.full(GRID.shape, 1e300)}, "initial holds NaN or infinity"),
        ({"derivative": "autograd", "kernel": "torch", "memory": "stored"}, "has no effect"),
        ({"grid": (4, 3, 5)}, "must be a nefty.Grid"),
    ],
)
def test_bad_options_are_refused(options, message):
    given = {"grid": GRID, "times": TIMES, "initial": FLASH, **options}
    with pytest.raises(InputError, match=message):
        HeatModel(**given)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"h_front": 0.1}, "front is adiabatic"),
        ({"h_back": -0.1}, "h_back=-0.1 must be at least 0"),
        ({"h_back": np.nan}, "h_back=nan is not finite"),
        ({"h_back": np.inf}, "h_back=inf is not finite"),
        ({"h_back": "some"}, "h_back must be a number"),
        ({"amplitude": "2"}, "amplitude must be a number"),
        ({"amplitude": np.array([1.0, 2.0])}, r"amplitude has shape \(2,\)"),
        ({"amplitude": 1e39}, r"amplitude=1e\+39 is not finite in torch.float32"),
        ({"h_back": np.zeros((2, 2))}, r"h_back has shape \(2, 2\)"),
        ({"amplitude": np.nan}, "amplitude=nan is not finite"),
        ({"initial": np.zeros(GRID.shape), "amplitude": 2.0}, "both given"),
    ],
)
def test_bad_inputs_of_a_call_are_refused(inputs, message):
    model = HeatModel(GRID, TIMES, FLASH, Boundary(back="robin"))
    for call in (model, model.linearize):
        with pytest.raises(InputError, match=message):
            call(ALPHA, **inputs)


def test_a_pulse_has_no_initial_temperature():
    with pytest.raises(InputError, match="give amplitude"):
        HeatModel(GRID, TIMES, TopHatPulse())(ALPHA, initial=np.zeros(GRID.shape))


def test_bad_boundaries_and_grids_are_refused():
    with pytest.raises(InputError, match=r"h_back=-1 must be at least 0"):
        Boundary(back="robin", h_back=-1)
    with pytest.raises(InputError, match="grid size along y=0 must be above 0"):
        Grid((4, 3, 5), (1.0, 0.0, 1.0))


def test_a_dtype_may_be_torchs():
    assert HeatModel(GRID, TIMES, FLASH, dtype=torch.float64).dtype == torch.float64
    again = HeatModel(GRID, TIMES, FLASH, dtype=HeatModel(GRID, TIMES, FLASH).dtype)
    assert again.dtype == torch.float32


@pytest.mark.parametrize("integrator", ["chebyshev", "sdirk2"])
def test_a_field_that_overflows_is_an_error_and_not_a_hang(integrator):
    with pytest.raises(InputError, match="spectral bound is inf"):
        HeatModel(GRID, TIMES, FLASH, integrator=integrator)(np.full(GRID.shape, 3e38))


@pytest.mark.parametrize("kernel", ["numba", "torch"])
def test_a_loss_that_is_not_a_number_ends_the_backward_sweep(kernel):
    model = HeatModel(GRID, TIMES, FLASH, integrator="sdirk2", kernel=kernel)
    frames = model(ALPHA.clone().requires_grad_())
    with pytest.raises(ConvergenceError, match="relative residual of nan"):
        (frames * float("nan")).sum().backward()


@pytest.mark.parametrize("integrator", ["sdirk2", "implicit-euler"])
@pytest.mark.parametrize("times", [[5.0, 10.0], [50.0, 100.0]])
def test_long_steps_converge_in_float32(integrator, times):
    """The default tolerance knows what rounding allows."""
    grid = Grid((16, 12, 12), (1.0, 10.0, 10.0))
    model = HeatModel(grid, times, GaussianFlash(100.0, 2.5, 0.2), integrator=integrator)
    exact = HeatModel(grid, times, GaussianFlash(100.0, 2.5, 0.2), integrator=integrator, dtype="float64")
    alpha = np.full(grid.shape, 0.15)
    np.testing.assert_allclose(model(alpha).numpy(), exact(alpha).numpy(), rtol=1e-3)


@pytest.mark.parametrize("integrator", ["chebyshev", "sdirk2"])
def test_one_cell_along_a_periodic_axis_is_like_an_adiabatic_one(integrator):
    work = []
    for lateral in ("periodic", "adiabatic"):
        grid = Grid((16, 1, 1), (1.0, 0.05, 0.05))
        model = HeatModel(grid, [1.0], UniformFlash(), Boundary(lateral), integrator=integrator, dtype="float64")
        model(np.full(grid.shape, 0.1))
        work.append(model.status.applications)
    assert work[0] == work[1]


def test_a_flash_is_a_temperature_at_the_start_and_a_pulse_a_rate_in_a_window():
    grid = Grid((3, 4, 5), (1.0, 2.0, 2.0))
    flash = HeatModel(grid, [0.5], UniformFlash(7.0, 0.3), observe="both", dtype="float64")
    assert flash.observed_layers == (0, 2)
    assert flash.heating_window is None
    np.testing.assert_allclose(flash.source, 7.0 * UniformFlash(1.0, 0.3).shape(grid))
    profile = np.arange(20.0).reshape(4, 5)
    pulse = HeatModel(grid, [0.5], TopHatPulse(6.0, 0.25, 0.1, profile), observe="back", dtype="float64")
    assert pulse.observed_layers == (2,)
    assert pulse.heating_window == pytest.approx((0.1, 0.35))
    np.testing.assert_allclose(pulse.source / pulse.source[3, 4], profile / 19)
    pulse.source.zero_()
    assert pulse.source[3, 4] > 0  # it was a copy


def test_the_models_times_are_its_own():
    times = np.array([0.1, 0.2, 0.3])
    model = HeatModel(GRID, times, FLASH)
    before = model(ALPHA)
    times[:] = [3, 2, 1]
    assert torch.equal(model(ALPHA), before)


def test_the_status_can_be_read_before_and_after_a_call():
    model = HeatModel(GRID, [0.0], FLASH, integrator="sdirk2")
    assert "0 applications" in model.status.message()
    model(ALPHA)
    assert "applications" in model.status.message()
