"""A run folder knows all that decided its result: another value is refused by name, and nothing is lost."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import nefty
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Facts, Step
from nefty.data.sequence import Sequence
from nefty.inversion import reconstruct as module
from nefty.inversion.reconstruct import reconstruct
from nefty.physics.boundary import Boundary
from nefty.physics.materials import Material
from nefty.physics.pulses import TopHatPulse

GRID = Grid((5, 8, 8), (1.0, 8.0, 8.0))
TIMES = 0.2 * np.arange(1, 13)
PVC = Material(name="pvc", alpha_z=0.15, alpha_y=0.15, alpha_x=0.15)
QUICK = {"model.layers": 5, "calibration.strata": 1, **{f"stages.{i}.iterations": 1 for i in range(5)}}
PULSE = TopHatPulse(amplitude=10.0, duration=0.01)


@pytest.fixture(scope="module")
def recording() -> Sequence:
    model = nefty.HeatModel(GRID, TIMES, PULSE, Boundary(lateral="adiabatic"))
    frames = model(np.full(GRID.shape, 0.15)).numpy()
    noise = 1e-3 * np.random.default_rng(0).standard_normal(frames.shape)
    facts = Facts(material=PVC, steps=(Step("gain", "Estimated.", {"applied": False}),))
    return Sequence(frames + noise, TIMES, GRID.size, PULSE, Boundary(lateral="adiabatic"), facts=facts)


@pytest.fixture(scope="module")
def folder(recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("fingerprint") / "run"
    assert reconstruct(recording, recipe="fast", overrides=QUICK, run=path).stopped.finished
    return path


def facts(sequence, **changes):
    return dataclasses.replace(sequence, facts=sequence.facts.replaced(**changes))


def material(sequence, **changes):
    return facts(sequence, material=sequence.facts.material.model_copy(update=changes))


ROBIN = Boundary(lateral="adiabatic", front="robin", h_front=0.01)
CHANGES = {
    "diffusivity": lambda s: (material(s, alpha_z=0.2), r"recording.diffusivity is 0.15 there and 0.2 now"),
    "name of the material": lambda s: (material(s, name="pmma"), r'material is "pvc" there and "pmma" now'),
    "ratios": lambda s: (dataclasses.replace(s, anisotropy=(2.0, 1.0)), r"ratios of diffusivity is \[1.0, 1.0\] there"),
    "thickness": lambda s: (dataclasses.replace(s, size=(1.1, 8.0, 8.0)), r"thickness is 1.0 there and 1.1 now"),
    "pixel": lambda s: (dataclasses.replace(s, size=(1.0, 16.0, 8.0)), r"pixel is \[1.0, 1.0\] there and \[2.0, 1.0\]"),
    "losses": lambda s: (dataclasses.replace(s, boundary=ROBIN), r'losses.front is "adiabatic" there and "robin" now'),
    "pulse": lambda s: (
        dataclasses.replace(s, excitation=dataclasses.replace(PULSE, duration=0.02)),
        r"heating.duration is 0.01 there and 0.02 now",
    ),
    "preparation": lambda s: (
        facts(s, steps=(Step("gain", "Divided out.", {"applied": True}),)),
        r"preparation.gain.applied is false there and true now",
    ),
    "frames": lambda s: (dataclasses.replace(s, frames=s.frames + 1e-6), "its input .* is another"),
    "times": lambda s: (dataclasses.replace(s, times=1.001 * s.times), "its input .* is another"),
    "mask": lambda s: (s.with_mask(np.arange(64).reshape(8, 8) > 0), "its input .* is another"),
    "noise": lambda s: (dataclasses.replace(s, noise=0.01), "its input .* is another"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_fact_is_refused_and_nothing_is_lost(name, recording, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
    changed, said = CHANGES[name](recording)
    with pytest.raises(InputError, match=said) as error:
        reconstruct(changed, recipe="fast", overrides=QUICK, run=folder)
    assert "--fresh" in str(error.value)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"} == before


def test_another_recipe_is_refused(recording, folder):
    with pytest.raises(InputError, match=r"recipe\.weight\.tv is .* there and 3"):
        reconstruct(recording, recipe="fast", overrides={**QUICK, "weight.tv": 3.0}, run=folder)


def test_other_code_is_refused(recording, folder, monkeypatch):
    monkeypatch.setattr(module, "code_version_of", lambda *packages: "changed")
    with pytest.raises(InputError, match=r'deciding code is ".*" there and "changed" now'):
        reconstruct(recording, recipe="fast", overrides=QUICK, run=folder)


def test_what_is_only_shown_may_differ_and_the_result_comes_back(recording, folder):
    shown = facts(recording, extra={"part": "7"}, camera=nefty.CameraFacts(model="Jade"))
    again = reconstruct(shown, recipe="fast", overrides={**QUICK, "stop.seconds": 100}, run=folder)
    np.testing.assert_array_equal(again.alpha, reconstruct(recording, recipe="fast", overrides=QUICK).alpha)


def test_fresh_starts_over(recording, tmp_path):
    reconstruct(recording, recipe="fast", overrides=QUICK, run=tmp_path / "run")
    thick = dataclasses.replace(recording, size=(1.1, 8.0, 8.0))
    found = reconstruct(thick, recipe="fast", overrides=QUICK, run=tmp_path / "run", fresh=True)
    assert found.grid.size[0] == 1.1
