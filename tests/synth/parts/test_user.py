"""What users say is right in kind and wrong by as much as users are."""

from __future__ import annotations

import numpy as np
import pytest

from nefty.data.intake.known import Known
from nefty.synth.parts.draw import draw_part
from nefty.synth.parts.filming import draw_filming
from nefty.synth.parts.history import LampPulse
from nefty.synth.parts.user import told

PART = draw_part(1, pixels=16)  # cfrp
FILMING = draw_filming(0, PART.pixels)
SAID = [told(PART, FILMING, seed) for seed in range(400)]


def spread(values):
    return np.mean(values), np.std(values)


def test_errors_are_as_large_as_they_should_be():
    true = PART.material
    lamp = PART.heat.history
    assert isinstance(lamp, LampPulse)
    for values, share in (
        ([s["thickness"] / PART.thickness for s in SAID], 0.02),
        ([s["material"].alpha_z / true.alpha_z for s in SAID], 0.10),
        ([s["material"].anisotropy[0] / true.anisotropy[0] for s in SAID], 0.20),
        ([s["material"].anisotropy[1] / true.anisotropy[1] for s in SAID], 0.20),
        ([s["pulse"] / lamp.duration for s in SAID], 0.20),
    ):
        mean, deviation = spread(values)
        assert mean == pytest.approx(1, abs=0.2 * share + 0.001)
        assert deviation == pytest.approx(share, rel=0.15)


def test_half_of_them_say_the_frame_of_the_flash():
    assert np.mean(["flash_frame" in s for s in SAID]) == pytest.approx(0.5, abs=0.1)
    assert {s["flash_frame"] for s in SAID if "flash_frame" in s} == {FILMING.before}


def test_all_facts_have_names_that_load_knows():
    for said in SAID[:5]:
        Known.of(said)


def test_of_an_isotropic_material_they_know_that_it_is():
    seed = next(seed for seed in range(50) if draw_part(seed).material.name == "pvc")
    assert told(draw_part(seed), FILMING, 0)["material"].anisotropy == pytest.approx((1, 1))
