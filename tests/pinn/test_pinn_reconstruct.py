import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.physics.pulses import TopHatPulse
from nefty.pinn.loop import OUT_OF_TIME
from nefty.pinn.reconstruct import reconstruct, settings
from support.tiny_pinns import TINY, VARIANTS


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_recording_becomes_a_reconstruction(recording, variant):
    found = reconstruct(recording, settings({**TINY, "variant": variant}))
    assert found.alpha.shape == (4, 8, 10)
    assert found.alpha.min() > 0.003
    assert found.alpha.max() < 0.25
    assert found.fitted.shape == found.measured.shape == (6, 8, 10)
    assert len(found.history["data"]) == 4
    assert found.recipe["settings"]["variant"] == variant
    assert found.effort.unknowns > 0
    assert (found.effort.evaluations, found.effort.collocation) == (4, 256 if variant == "spinn" else 64)
    assert found.own_surface
    assert found.lateral == "periodic"
    assert found.misfit is None


def test_fitted_frames_are_the_temperature_networks_surface(recording):
    """The data loss of a network that sees whole frames is the mean square of what the result shows."""
    found = reconstruct(recording, {**TINY, "variant": "spinn", "iterations": 2, "rates.temperature": 1e-30})
    assert found.history["data"][-1] == pytest.approx(np.mean((found.residual / 100) ** 2), rel=1e-4)


@pytest.mark.parametrize("variant", ["spinn", "causal"])
def test_missing_values_stay_missing_and_noise_gives_a_misfit(recording, variant):
    frames = recording.frames.copy()
    frames[3, 2, 2] = np.nan
    sequence = dataclasses.replace(recording, frames=frames, noise=0.5)
    found = reconstruct(sequence, {**TINY, "variant": variant})
    assert np.isnan(found.measured).sum() == 1
    assert found.misfit == pytest.approx(np.nanmean((found.residual / 0.5) ** 2))


def test_it_starts_at_the_bulk_or_at_the_networks_own_values(recording):
    still = {**TINY, "variant": "dcgd", "iterations": 1, "rates.diffusivity": 1e-30}
    at_bulk = reconstruct(recording, {**still, "diffusivity.spread": 0.0})
    assert np.ptp(at_bulk.alpha) < 1e-8
    assert at_bulk.alpha.flat[0] == pytest.approx(float(at_bulk.provenance["start of the diffusivity"]), rel=1e-4)
    free = reconstruct(recording, {**still, "diffusivity.start": "network"})
    assert np.ptp(free.alpha) > 1e-4
    assert free.alpha.mean() == pytest.approx(0.1265, abs=0.05)


def test_the_budget_is_the_lesser_of_both(recording):
    told = []
    found = reconstruct(
        recording, {**TINY, "variant": "dcgd", "iterations": 7}, iterations=3, progress=lambda *now: told.append(now)
    )
    assert found.effort.evaluations == 3
    assert [done for done, _, _ in told] == [1, 2, 3]
    assert {total for _, total, _ in told} == {3}
    found = reconstruct(recording, {**TINY, "variant": "dcgd", "iterations": 10**6}, seconds=0.5)
    assert found.stopped == OUT_OF_TIME
    assert found.history["seconds"][-1] < 0.6


def test_without_a_truth_the_layers_are_those_of_the_settings(recording):
    found = reconstruct(dataclasses.replace(recording, truth=None), {**TINY, "variant": "dcgd", "layers": 5})
    assert found.alpha.shape == (5, 8, 10)


def test_soft_sides_are_a_loss_of_their_own(recording):
    found = reconstruct(recording, {**TINY, "variant": "gradnorm", "temperature.hard": False})
    assert found.history["sides"].min() > 0
    assert "weight_sides" in found.history


def test_a_truth_on_other_cells_only_says_how_many_layers(recording):
    sequence = dataclasses.replace(recording, truth=np.full((5, 16, 20), 0.1))
    found = reconstruct(sequence, {**TINY, "variant": "dcgd", "iterations": 1})
    assert found.alpha.shape == (5, 8, 10)
    assert found.truth is None


def test_frames_before_the_flash_are_left_out(recording):
    frames = np.concatenate([0 * recording.frames[:1], recording.frames])
    sequence = dataclasses.replace(recording, frames=frames, times=np.concatenate([[-0.5], recording.times]))
    assert len(reconstruct(sequence, {**TINY, "variant": "dcgd", "iterations": 1}).times) == 6


def test_bad_input_is_refused(recording):
    with pytest.raises(InputError, match=r"nefty\.Sequence"):
        reconstruct(recording.frames, {"variant": "dcgd"})
    with pytest.raises(InputError, match="front face"):
        reconstruct(dataclasses.replace(recording, observe="back"), {"variant": "dcgd"})
    with pytest.raises(InputError, match="TopHatPulse"):
        reconstruct(dataclasses.replace(recording, excitation=TopHatPulse()), {"variant": "dcgd"})
    with pytest.raises(InputError, match="size"):
        reconstruct(dataclasses.replace(recording, size=None), {"variant": "dcgd"})
    with pytest.raises(InputError, match="iterations"):
        reconstruct(recording, {"variant": "dcgd"}, iterations=0)
