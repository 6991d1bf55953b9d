"""The film that was missed: 65 um of polymer in 3.8 mm of carbon fibre, of which no cell shows much."""

import numpy as np
import pytest

import nefty
from nefty import Boundary, Sequence, TopHatPulse
from nefty.data.facts import Facts, Units
from nefty.physics.materials import Material
from nefty.synth.parts.engine import Losses
from nefty.synth.parts.history import LampPulse
from nefty.synth.parts.part import Film, Heat, Outline, Part
from nefty.synth.parts.simulate import watch

ALPHA, RHO, CP, LOSS = 4.4e-7, 1560.0, 880.0, 10.0
CFRP = Material(name="cfrp", alpha_z=ALPHA, alpha_y=5 * ALPHA, alpha_x=5 * ALPHA, rho=RHO, cp=CP)
STATED = Material(name="cfrp", alpha_z=1.06 * ALPHA, alpha_y=5.3 * ALPHA, alpha_x=5.3 * ALPHA, rho=RHO, cp=CP)
H, PIXELS, PIXEL = 3.8e-3, (32, 32), 1e-3
DEPTH, THICKNESS = 1.33e-3, 65e-6
FILM = Film(Outline("ellipse", (14.5e-3, 17e-3), (9e-3, 9e-3)), DEPTH, THICKNESS, k=0.25, heat_capacity=1.3e6)
NOISE = 0.008  # of means over several frames


@pytest.fixture(scope="module")
def recording():
    """By the engine of the test bed; the user states thickness and diffusivity slightly wrong."""
    heat = Heat(12e3, LampPulse(5e-3, 3e-3))
    losses = Losses(LOSS, LOSS, LOSS, LOSS)
    part = Part(CFRP, H, PIXELS, PIXEL, heat, fps=10.0, seconds=40.0, defects=(FILM,), losses=losses)
    times = np.geomspace(0.12, 38.0, 50)
    frames = watch(part, times, coarser=2.0).frames
    lost = LOSS / (RHO * CP)
    return Sequence(
        frames + NOISE * np.random.default_rng(4).standard_normal(frames.shape),
        times,
        size=(1.01 * H, PIXELS[0] * PIXEL, PIXELS[1] * PIXEL),
        excitation=TopHatPulse(duration=6e-3),
        boundary=Boundary("adiabatic", "robin", "robin", h_front=lost, h_back=lost),
        anisotropy=(5.0, 5.0),
        noise=NOISE,
        facts=Facts(units=Units(length="m", time="s", temperature="K"), material=STATED),
    )


@pytest.fixture(scope="module")
def found(recording):
    return nefty.reconstruct(recording, recipe="real")


def test_a_film_that_no_cell_shows_below_a_third_is_found_at_its_depth(found):
    assert (found.alpha / found.background[:, None, None]).min() > 0.35
    (film,) = found.indications()
    assert film.depth_to_top == pytest.approx(DEPTH, rel=0.1)
    assert film.centre[1:] == pytest.approx((14.5e-3, 17e-3), abs=PIXEL)
    assert film.evidence > found.frame_evidence.threshold
    assert not film.reaches_back


def test_its_resistance_is_that_of_the_film(found):
    (film,) = found.indications()
    assert film.resistance == pytest.approx(FILM.resistance(ALPHA * RHO * CP), rel=0.3)
    assert film.gap_polymer == pytest.approx(THICKNESS, rel=0.3)


def test_its_mask_lies_over_it(found):
    y, x = ((np.arange(n) + 0.5) * PIXEL for n in PIXELS)
    truth = FILM.outline.covers(y[:, None], x)
    mask = found.segmentation().footprint
    assert truth[mask].mean() > 0.85
    assert mask[truth].mean() > 0.4
    np.testing.assert_array_equal(np.isfinite(found.depth_map()), mask)


def test_the_diffusivity_is_found_within_what_the_thickness_says(found):
    """What the frames tell is alpha/thickness^2."""
    row = {r.name: r for r in found.facts.calibration}["diffusivity through the thickness"]
    assert row.value / (1.01 * H) ** 2 == pytest.approx(ALPHA / H**2, rel=0.05)
    assert row.start == 1.06 * ALPHA
