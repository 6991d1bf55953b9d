"""A long pulse, a step and a lock-in recording of one part give the same indication, from its file to the depth."""

import os

import numpy as np
import pytest

import nefty
from nefty import Boundary, Grid, HeatingCurve, HeatModel

H, ALPHA, LOSS, PIXEL, LAST = 3e-3, 1.2e-7, 4e-6, 1.2e-3, 100.0
GRID = Grid((30, 16, 16), (H, 16 * PIXEL, 16 * PIXEL))
MIDDLE, DISC = 1.1e-3, np.s_[10:12, 5:11, 5:11]  # 0.2 mm thick; the depth of a sheet is that of its middle
HEATINGS = {
    "long pulse": HeatingCurve.long_pulse(20.0, amplitude=5.0),
    "step": HeatingCurve.step(LAST, amplitude=10.0),
    "lock-in": HeatingCurve.lock_in(0.05, 5, amplitude=10.0),
}


def recorded(curve: HeatingCurve, times: np.ndarray) -> np.ndarray:
    """What a camera sees of the surface itself, half a cell above the mean of the first cells."""
    alpha = np.full(GRID.shape, ALPHA)
    alpha[DISC] *= 0.08
    boundary = Boundary("adiabatic", "robin", "robin", LOSS, LOSS)
    cells = HeatModel(GRID, times, curve, boundary)(alpha).numpy()
    flux = curve.amplitude * H * curve.history.rate(times)[:, None, None]
    half = 2 * ALPHA / GRID.spacing[0]
    return (half * cells + flux) / (half + LOSS)


LONG = pytest.mark.skipif("NEFTY_TEST_LONG" not in os.environ, reason="ten seconds each: make test-long")


# One of them always; a lock-in recording is also reconstructed in tests/bench/parts/test_heatings.py.
@pytest.mark.parametrize("name", ["step", *(pytest.param(name, marks=LONG) for name in HEATINGS if name != "step")])
def test_the_same_indication_as_after_a_flash(name, tmp_path, rng):
    curve, times = HEATINGS[name], np.arange(0, LAST + 0.1, 0.5)
    rise = np.concatenate([np.zeros((5, 16, 16)), recorded(curve, times)])
    file, table = tmp_path / "part.npy", tmp_path / "curve.csv"
    np.save(file, 295 + rise + 0.01 * rng.standard_normal(rise.shape))
    np.savetxt(table, np.column_stack([curve.times, curve.values]), delimiter=",", header="time (s),value", comments="")
    facts = {"fps": 2, "units": "K", "material": "pvc", "thickness": H, "pixel": PIXEL, "bin": "off", "flash_frame": 5}
    sequence = nefty.load(file, heating=table, **facts)
    assert sequence.times[0] == pytest.approx(0.5)
    found = nefty.reconstruct(sequence, recipe="real")
    values = {row.name: row for row in found.facts.calibration}
    assert values["diffusivity through the thickness"].value == pytest.approx(ALPHA, rel=0.03)
    assert values["heating"].value == pytest.approx(curve.amplitude, rel=0.03)
    (indication,) = found.indications()
    assert indication.depth_to_top == pytest.approx(MIDDLE, rel=0.1)
    assert indication.area == pytest.approx(36 * PIXEL**2, rel=0.3)


@pytest.mark.parametrize("recipe", ["fast", "warm", "paper"])
def test_recipes_that_do_not_calibrate_its_strength_refuse_a_curve_before_anything_is_written(recipe, tmp_path):
    curve, times = HEATINGS["long pulse"], np.arange(0.5, LAST, 0.5)
    facts = nefty.Facts(units=nefty.Units(length="m", time="s", temperature="K"))
    sequence = nefty.Sequence(np.ones((len(times), 16, 16)), times, size=GRID.size, excitation=curve, facts=facts)
    with pytest.raises(nefty.InputError, match=rf"'{recipe}' .* from 0 to 20 s.*--recipe real"):
        nefty.reconstruct(sequence, recipe=recipe, run=tmp_path / "run")
    assert not (tmp_path / "run").exists()
