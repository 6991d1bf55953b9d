"""Material, pulse and losses of a part, in SI."""

import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.facts import Facts, Origin, Units
from nefty.data.preparation.part_facts import describe_part, stated_material
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.materials import material
from nefty.physics.pulses import TopHatPulse
from support.flash_recordings import FLASH_UNKNOWN
from support.known_facts import material_of
from support.notes import texts

FOREIGN = Facts(units=Units(time="s", temperature="K"), origin=FLASH_UNKNOWN)
TABLE = {"k1_mat": 8.66, "k2_mat": 1.34, "k3_mat": 0.53, "rho_mat": 1575.0, "cp_mat": 753.0}


def recording(**more):
    given = {"frames": np.ones((4, 3, 3)), "times": np.arange(1.0, 5), "facts": FOREIGN, **more}
    return Sequence(**given)


def pulse_of(sequence):
    assert isinstance(sequence.excitation, TopHatPulse)
    return sequence.excitation.amplitude, sequence.excitation.duration


def by_name(steps):
    return {step.name: step for step in steps}


def test_material_with_its_anisotropy_and_losses():
    found, steps = describe_part(recording(), material=material("cfrp"))
    said = by_name(steps)
    assert found.anisotropy == pytest.approx(material("cfrp").anisotropy)
    assert found.facts.material == material("cfrp")
    assert found.facts.material_source == "given"
    assert found.facts.units == Units(length="m", time="s", temperature="K")
    h = 10 / (1575 * 753)
    assert (found.boundary.h_front, found.boundary.h_back) == pytest.approx((h, h))
    assert (found.boundary.lateral, found.boundary.front, found.boundary.back) == ("adiabatic", "robin", "robin")
    assert said["losses"].assumed
    assert not said["material"].assumed
    assert found.facts.steps == steps
    assert [step.name for step in steps] == ["material", "pulse", "losses"]
    assert texts(found) == [step.sentence for step in steps]


def test_a_pulse_is_assumed_given_or_the_files():
    found, steps = describe_part(recording())
    assert pulse_of(found) == (1.0, 5e-3)
    assert by_name(steps)["pulse"].assumed
    found, steps = describe_part(recording(), pulse=0.02)
    assert pulse_of(found) == (1.0, 0.02)
    assert not by_name(steps)["pulse"].assumed
    own = recording(excitation=TopHatPulse(amplitude=3.0, duration=0.1))
    assert describe_part(own)[0].excitation is own.excitation
    assert pulse_of(describe_part(own, pulse=0.2)[0]) == (3.0, 0.2)
    with pytest.raises(InputError, match="pulse"):
        describe_part(recording(), pulse=0.0)


def test_an_own_diffusivity_keeps_the_ratios():
    found, _ = describe_part(recording(), material=material("cfrp"), alpha=6e-7)
    assert material_of(found).alpha_z == pytest.approx(6e-7)
    assert found.anisotropy == pytest.approx(material("cfrp").anisotropy)
    found, steps = describe_part(recording(), alpha=6e-7)
    assert found.anisotropy == (1.0, 1.0)
    assert by_name(steps)["material"].assumed
    assert by_name(steps)["losses"].assumed
    assert found.boundary == Boundary(lateral="adiabatic")
    with pytest.raises(InputError, match="alpha"):
        describe_part(recording(), alpha=-1.0)


def test_no_losses():
    found, steps = describe_part(recording(), material=material("pvc"), losses=False)
    assert (found.boundary.front, found.boundary.h_back) == ("adiabatic", 0)
    assert not by_name(steps)["losses"].assumed


def test_a_simulation_states_its_material_and_its_faces():
    simulated = dataclasses.replace(FLASH_UNKNOWN, parameters=TABLE)
    own = recording(facts=FOREIGN.replaced(origin=simulated), boundary=Boundary(lateral="adiabatic"))
    stated = stated_material(own)
    assert stated is not None
    assert stated.alpha_z == pytest.approx(4.469e-7, rel=1e-3)
    found, steps = describe_part(own)
    assert found.boundary == own.boundary
    assert found.facts.material_source == "file"
    assert found.anisotropy == pytest.approx((1.34 / 0.53, 8.66 / 0.53))
    assert not by_name(steps)["losses"].assumed
    again, _ = describe_part(found)
    assert again.facts.material == found.facts.material
    assert describe_part(own, material=material("pvc"))[0].anisotropy == (1.0, 1.0)


def test_without_a_material_there_is_none():
    found, steps = describe_part(recording())
    assert found.facts.material is None
    assert "material" not in by_name(steps)
    assert stated_material(recording(facts=Facts(origin=Origin(parameters={"k1_mat": 8.66})))) is None


@pytest.mark.parametrize(
    ("thickness", "pixel", "says"),
    [
        (1.3e-3, 1.0, "A pixel shows 1000 mm of the part, 1.3 mm thick: 769 times the thickness; check pixel"),
        (1.3, 2e-4, "the whole picture 0.6 mm, less than the thickness; check pixel and thickness and their units"),
    ],
)
def test_a_slip_of_the_unit_is_refused(thickness, pixel, says):
    with pytest.raises(InputError, match=says):
        describe_part(recording(size=(thickness, 3 * pixel, 3 * pixel)))


@pytest.mark.parametrize(
    ("thickness", "pixel", "odd"),
    [(1e-4, 1.5e-3, True), (2e-3, 5e-5, True), (1.3e-3, 2e-4, False), (2e-4, 1e-3, False), (2e-3, 5e-3, False)],
)
def test_odd_proportions_are_said_as_assumed(thickness, pixel, odd):
    face = (4, 60) if pixel > 1e-4 else (4, 20)
    given = recording(frames=np.ones((4, *face)), size=(thickness, face[0] * pixel, face[1] * pixel))
    said = by_name(describe_part(given)[1])
    assert ("proportions" in said) == odd
    assert not odd or said["proportions"].assumed
