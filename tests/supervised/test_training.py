"""A training: it learns, stops, goes on, and leaves a network that can be read."""

import os
import signal

import numpy as np
import pytest
import torch

from nefty.core.errors import InputError, NeftyError
from nefty.core.stopping import StopReason
from nefty.supervised.network import load_network, state_arrays
from nefty.supervised.training import FINISHED, INTERRUPTED, train
from nefty.synth.data_set import DataPlan
from nefty.synth.data_writer import write_data_set
from support.small_specimens import SMALL


def same_weights(one, other):
    pairs = zip(state_arrays(one).values(), state_arrays(other).values(), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def test_it_learns(folder, quick, tmp_path):
    found = train([folder], quick(epochs=15, rate=1e-2, mirrored=False), tmp_path / "run")
    assert found.stopped == FINISHED
    assert found.history["loss"][-1] < 0.85 * found.history["loss"][0]
    assert len(found.history["validation"]) == 15


def test_the_kept_network_is_that_of_the_best_epoch(folder, quick, tmp_path):
    found = train([folder], quick(epochs=6, rate=3e-2), tmp_path / "run")
    network, about = load_network(tmp_path / "run")
    assert same_weights(network, found.network)
    assert about["best_epoch"] == 1 + int(np.argmin(about["history"]["validation"]))
    assert about["data"]["trained"] == {"homogeneous": 4}


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_training_that_was_stopped_goes_on_as_if_nothing_had_happened(folder, quick, tmp_path, at):
    whole = train([folder], quick(), tmp_path / "whole")

    def stop(done, *_):
        if done == at:
            os.kill(os.getpid(), signal.SIGINT)

    paused = train([folder], quick(), tmp_path / "parts", progress=stop)
    assert paused.stopped == INTERRUPTED
    seen = []
    rest = train([folder], quick(), tmp_path / "parts", progress=lambda done, *_: seen.append(done))
    assert seen == list(range(at + 1, 7))
    assert rest.stopped == FINISHED
    assert same_weights(rest.network, whole.network)
    np.testing.assert_array_equal(rest.history["loss"], whole.history["loss"])


def test_a_limit_in_seconds_pauses(folder, quick, tmp_path):
    found = train([folder], quick(), tmp_path / "run", seconds=1e-9)
    assert found.stopped.reason is StopReason.OUT_OF_TIME
    assert "1e-09 s it was given were over" in found.stopped.text
    assert train([folder], quick(), tmp_path / "run").stopped == FINISHED


def test_a_finished_training_is_not_repeated_and_its_epochs_are_fixed(folder, quick, tmp_path):
    first = train([folder], quick(), tmp_path / "run")
    again = train([folder], quick(), tmp_path / "run", progress=lambda *_: pytest.fail("it trained again"))
    assert same_weights(first.network, again.network)
    with pytest.raises(InputError, match=r"training\.epochs is 3 there and 4 now"):
        train([folder], quick(epochs=4), tmp_path / "run")


def test_it_ends_when_the_validation_gets_no_better(folder, quick, tmp_path):
    # A rate of almost zero changes nothing, so that no epoch after the first is better.
    still = {"epochs": 10, "rate": 1e-30, "decay": 0.0}
    for _ in range(2):  # the same call changes nothing
        found = train([folder], quick(**still, patience=2), tmp_path / "run")
        assert found.stopped.reason is StopReason.NO_PROGRESS
        assert found.stopped.text == "2 epochs brought no better validation; raise patience to go on"
        assert len(found.history["loss"]) == 3
    assert len(train([folder], quick(**still, patience=3), tmp_path / "run").history["loss"]) == 4


def test_mixed_precision_learns_as_well(folder, quick, tmp_path):
    found = train([folder], quick(epochs=8, rate=1e-2, precision="bfloat16"), tmp_path / "run")
    assert found.history["loss"][-1] < found.history["loss"][0]


def test_the_first_guess_is_the_bulk(folder, quick, tmp_path):
    found = train([folder], quick(epochs=1, rate=1e-30, decay=0.0), tmp_path / "run")
    with torch.no_grad():
        alpha = found.network(torch.zeros(1, 2, 8, 16, 16))
    assert 0.05 < float(alpha.median()) < 0.2


def test_a_rate_that_is_far_too_high_is_named(folder, quick, tmp_path):
    with pytest.raises(NeftyError, match=r"the loss of step \d+ is nan; lower rate=1e\+36"):
        train([folder], quick(rate=1e36, warmup=0.0), tmp_path / "run")


def test_derivatives_that_are_not_finite_do_not_reach_the_weights(folder, quick, tmp_path, monkeypatch):
    moved, norms = [], []

    class Watched(torch.optim.AdamW):
        def step(self, closure=None):
            super().step(closure)
            moved.append(1)

    class Spoilt(torch.nn.GroupNorm):
        def __init__(self, *given):
            super().__init__(*given)
            norms.append(self)
            if len(norms) == 1:
                self.weight.register_hook(lambda g: g if len(moved) < 3 else g * torch.inf)

    monkeypatch.setattr(torch.optim, "AdamW", Watched)
    monkeypatch.setattr(torch.nn, "GroupNorm", Spoilt)
    with pytest.raises(NeftyError, match=r"derivatives of step 4 are not finite; .* a lower rate than 0.001"):
        train([folder], quick(), tmp_path / "run")
    assert len(moved) == 3
    assert len(load_network(tmp_path / "run")[1]["history"]["loss"]) == 1  # the epoch before is kept


def test_two_recordings_are_enough_to_begin(tmp_path, quick):
    write_data_set(tmp_path / "two", range(2), DataPlan("homogeneous", setup=SMALL), processes=1)
    assert np.isfinite(train([tmp_path / "two"], quick(epochs=1), tmp_path / "run").history["validation"]).all()


def test_a_device_that_is_not_there(folder, quick, tmp_path):
    with pytest.raises(InputError, match="device='gpu'"):
        train([folder], quick(), tmp_path / "run", device="gpu")
