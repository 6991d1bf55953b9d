import numpy as np
import pytest

from nefty.bench.solver.validation import SIGMA0, Experiment, run, slope, variances

SMALL = Experiment(shape=(6, 40, 40), frames=12, dt=0.2, transient=0.5)


def test_the_analytic_solution_has_the_analytic_variance():
    frames = np.stack([SMALL.exact(t, 0.1)[0] for t in SMALL.times()])
    along_y, along_x = variances(frames, SMALL)
    theory = SIGMA0**2 + 0.2 * SMALL.times()
    assert along_y == pytest.approx(theory, rel=1e-6)
    assert along_x == pytest.approx(theory, rel=1e-6)
    assert slope(frames, SMALL) == pytest.approx(0.2, rel=1e-6)


def test_the_sphere_lies_off_the_middle_and_inside():
    alpha = SMALL.sphere()
    inside = np.argwhere(alpha < 0.05)
    assert 0 < len(inside) < alpha.size / 50
    assert inside[:, 2].mean() > 20


def test_every_integrator_diffuses_at_the_right_rate_and_the_figures_are_drawn():
    results = run(SMALL)
    rows = {row["title"]: row for row in results.tables[0].rows}
    assert rows["nefty, Chebyshev, float64"]["relative_error"] < 1e-6
    assert all(row["relative_error"] < 0.02 for row in rows.values())
    assert [s.title for s in results.sections] == [
        "Variance",
        "Effect of the diffusivity",
        "A buried sphere",
        "Profiles",
    ]
