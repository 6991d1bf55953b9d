"""The training of a network, which can be stopped and goes on with the same call."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from nefty.core.checks import one_of
from nefty.core.errors import NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.provenance import provenance
from nefty.core.stopping import Stopped, StopReason
from nefty.core.storage.hdf5 import digest
from nefty.core.storage.run_folder import RunFolder
from nefty.supervised.network import KIND, VolumeNetwork, load_state, network_record, state_arrays
from nefty.supervised.settings import Training
from nefty.supervised.specimens import MIRRORS, Specimens, open_specimens
from nefty.supervised.strata import middle_pixel

FIRST_LOOK = 64  # recordings from which a new network learns the middle and the spread of its input
FREE = ("patience",)  # may differ when a training goes on
FINISHED = Stopped(StopReason.FINISHED, "all epochs were done")
INTERRUPTED = Stopped(StopReason.INTERRUPTED, "it was stopped by Ctrl-C; the same command goes on from here")

Progress = Callable[[int, int, float, float | None], object]
"""Called with steps done and in all, the loss of the last step, and the latest validation's."""


@dataclass
class State:
    """Where a training stands.

    Args:
        step: done, in all epochs.
        seconds: spent.
        best: the least loss on the held-out recordings.
        best_epoch: its epoch, counted from 1; 0 before the first validation.
        weights: of the best epoch.
        sums: loss of the present epoch so far.
        history: one entry per epoch: ``loss``, ``validation``, ``rate``, ``seconds``.
    """

    step: int = 0
    seconds: float = 0.0
    best: float = math.inf
    best_epoch: int = 0
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    sums: list[float] = field(default_factory=list)
    history: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Trained:
    """What a training has come to.

    Args:
        network: of the best epoch.
        history: one entry per epoch.
        stopped: why it ended.
    """

    network: VolumeNetwork
    history: dict[str, np.ndarray]
    stopped: Stopped


def train(
    folders: Iterable[str | os.PathLike[str]],
    settings: Training,
    run: str | os.PathLike[str],
    *,
    fresh: bool = False,
    seconds: float | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> Trained:
    """Train a network on recordings whose volumes are known.

    Args:
        folders: data sets of ``nefty simulate --n``.
        settings: of the training.
        run: folder for the network, the log and the checkpoints. The same call goes on with a training that was
            interrupted and returns the network of one that is finished.
        fresh: start over.
        seconds: after which it pauses.
        device: ``"cpu"``, ``"cuda"`` or ``"mps"``.
        progress: called after each step.
    """
    where = _device(device)
    training, held = open_specimens(folders, settings)
    config = {"training": settings.model_dump(mode="json")}
    both = digest(training.fingerprint(), held.fingerprint())
    free = [f"training.{name}" for name in FREE]
    with RunFolder.open(run, config, both, free=free, fresh=fresh) as folder:
        work = Work(settings, training, held, folder, where)
        if folder.finished:
            stopped = FINISHED
            load_state(work.network, work.state.weights)
        else:
            stopped = work.go_on(seconds, progress or (lambda *_: None))
        return Trained(work.network.eval(), {k: np.array(v) for k, v in work.state.history.items()}, stopped)


class Work:
    """A training in its folder."""

    def __init__(
        self, settings: Training, training: Specimens, held: Specimens, folder: RunFolder, device: torch.device
    ) -> None:
        self.settings, self.training, self.held, self.folder, self.device = settings, training, held, folder, device
        torch.manual_seed(settings.seed)
        kept = folder.load_checkpoint()
        self.network = (VolumeNetwork(settings, training.scene) if kept else self._new_network()).to(device)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=settings.rate, weight_decay=settings.decay)
        self.per_epoch = math.ceil(len(training) / settings.batch)
        self.steps = self.per_epoch * settings.epochs
        self.state = State()
        if kept is not None:
            load_state(self.network, kept.pop("network"))
            self._restore_optimiser(kept.pop("optimiser"))
            self.state = State(**kept)

    def _new_network(self) -> VolumeNetwork:
        """One that begins with the middle of some recordings, and knows how they differ."""
        order = np.random.default_rng(self.settings.seed).permutation(len(self.training))[:FIRST_LOOK]
        decays, bulks = [], []
        for given, truth in (self.training[int(i), 0] for i in order):
            decays.append(middle_pixel(given[None]))
            bulks.append(truth.median())
        network = VolumeNetwork(self.settings, self.training.scene, float(np.mean(bulks)))
        if network.strata is not None:
            network.strata.measure(torch.cat(decays))
        return network

    def go_on(self, limit: float | None, progress: Progress) -> Stopped:
        """Train until the end, the limit or Ctrl-C; return which."""
        state, before, began = self.state, self.state.seconds, time.perf_counter()
        stopped = FINISHED
        with Interrupt() as interrupt:
            while state.step < self.steps and not self._gave_up():
                for given, truth in self._rest_of_epoch():
                    loss = self._step(given, truth)
                    state.sums.append(loss)
                    state.step += 1
                    state.seconds = before + time.perf_counter() - began
                    progress(state.step, self.steps, loss, state.history.get("validation", [None])[-1])
                    if interrupt.asked or (limit is not None and state.seconds - before >= limit):
                        break
                if state.step % self.per_epoch == 0 and state.sums:
                    self._end_of_epoch(before + time.perf_counter() - began)
                if interrupt.asked:
                    stopped = INTERRUPTED
                elif limit is not None and state.seconds - before >= limit and state.step < self.steps:
                    text = f"the {limit:g} s it was given were over; the same command goes on from here"
                    stopped = Stopped(StopReason.OUT_OF_TIME, text)
                else:
                    continue
                break
        if stopped == FINISHED and state.step < self.steps:
            text = f"{self.settings.patience} epochs brought no better validation; raise patience to go on"
            stopped = Stopped(StopReason.NO_PROGRESS, text)
        self._keep()
        if stopped == FINISHED:
            self.folder.finish(keep_checkpoint=True, stopped=stopped.text)
        else:
            self.folder.log("paused", stopped=stopped.text)
        if state.weights:
            load_state(self.network, state.weights)
        return stopped

    def _step(self, given: Tensor, truth: Tensor) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        self.network.train()
        loss = self._loss(given, truth)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        value = float(loss.detach())
        if not math.isfinite(value):
            raise NeftyError(f"the loss of step {self.state.step + 1} is {value}; lower rate={self.settings.rate:g}.")
        if not all(one.grad.isfinite().all() for one in self.network.parameters() if one.grad is not None):
            other = "precision=float32 or " if self.settings.precision != "float32" else ""
            raise NeftyError(
                f"the derivatives of step {self.state.step + 1} are not finite; start over (--fresh) with {other}a "
                f"lower rate than {self.settings.rate:g}."
            )
        self.optimiser.step()
        return value

    def _loss(self, given: Tensor, truth: Tensor) -> Tensor:
        """Mean square of (alpha - truth)/(high - low)."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.precision == "bfloat16"):
            found = self.network(given.to(self.device))
        scale = self.settings.high - self.settings.low
        return torch.nn.functional.mse_loss(found / scale, truth.to(self.device) / scale)

    def _rate(self) -> float:
        done, rise = self.state.step / self.steps, self.settings.warmup
        if done < rise:
            return self.settings.rate * (self.state.step + 1) / (rise * self.steps + 1)
        return self.settings.rate * (1 + math.cos(math.pi * (done - rise) / (1 - rise))) / 2

    def _rest_of_epoch(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches of the present epoch that were not seen; the order depends on the seed and the epoch alone."""
        epoch, within = divmod(self.state.step, self.per_epoch)
        chance = np.random.default_rng([self.settings.seed, epoch])
        order = chance.permutation(len(self.training))
        images = chance.integers(MIRRORS, size=len(order)) if self.settings.mirrored else np.zeros(len(order), int)
        keys = [(int(i), int(m)) for i, m in zip(order, images, strict=True)]
        return iter(_loader(self.training, keys[within * self.settings.batch :], self.settings.batch))

    def _end_of_epoch(self, seconds: float) -> None:
        state, epoch = self.state, self.state.step // self.per_epoch
        validation = self._validate()
        row = {"loss": float(np.mean(state.sums)), "validation": validation, "rate": self._rate(), "seconds": seconds}
        for name, value in row.items():
            state.history.setdefault(name, []).append(value)
        state.sums = []
        if validation < state.best:
            state.best, state.best_epoch, state.weights = validation, epoch, state_arrays_copy(self.network)
        self.folder.log("epoch", epoch=epoch, **row)
        self._keep()

    def _validate(self) -> float:
        self.network.eval()
        keys = [(i, 0) for i in range(len(self.held))]
        total = 0.0
        with torch.no_grad():
            for given, truth in _loader(self.held, keys, self.settings.batch):
                total += float(self._loss(given, truth)) * len(given)
        return total / len(self.held)

    def _gave_up(self) -> bool:
        passed = self.state.step // self.per_epoch - self.state.best_epoch
        return bool(self.settings.patience) and bool(self.state.best_epoch) and passed >= self.settings.patience

    def _keep(self) -> None:
        """Write the checkpoint, and the best network so far."""
        state = self.state
        kept = {name: getattr(state, name) for name in State.__dataclass_fields__}
        self.folder.checkpoint(
            {**kept, "network": state_arrays_copy(self.network), "optimiser": self._optimiser_arrays()}
        )
        if state.weights:
            self.folder.save_result(network_record(self.network, state.weights, self._about()), kind=KIND)

    def _about(self) -> dict[str, Any]:
        state = self.state
        seeds: dict[str, list[int]] = {}
        for _, entry in [*self.training.items, *self.held.items]:
            seeds.setdefault(entry.kind, []).append(entry.seed)
        kinds = dict(Counter(entry.kind for _, entry in self.training.items))
        return {
            "history": {name: np.array(column) for name, column in state.history.items()},
            "data": {
                "trained": kinds,
                "held_out": len(self.held),
                "seeds": seeds,
                "fingerprint": self.folder.fingerprint,
            },
            "best_epoch": state.best_epoch,
            "seconds": state.seconds,
            "provenance": provenance(),
        }

    def _optimiser_arrays(self) -> dict[str, Any]:
        """Moments of each parameter, by its number."""
        found = self.optimiser.state_dict()["state"]
        return {str(i): {k: v.cpu().numpy().copy() for k, v in values.items()} for i, values in found.items()}

    def _restore_optimiser(self, arrays: dict[str, Any]) -> None:
        whole = self.optimiser.state_dict()
        whole["state"] = {
            int(i): {k: torch.as_tensor(np.array(v)) for k, v in values.items()} for i, values in arrays.items()
        }
        self.optimiser.load_state_dict(whole)


def state_arrays_copy(network: VolumeNetwork) -> dict[str, np.ndarray]:
    """Weights as they are now."""
    return {name: value.copy() for name, value in state_arrays(network).items()}


def _device(name: str) -> torch.device:
    """A device that is here, or an error that says which are."""
    there = ["cpu", *(["cuda"] if torch.cuda.is_available() else []), *(["mps"] if torch.mps.is_available() else [])]
    return torch.device(one_of("device", name, there))


def _loader(data: Specimens, keys: list[tuple[int, int]], batch: int) -> DataLoader[tuple[Tensor, Tensor]]:
    return DataLoader(data, batch_size=batch, sampler=keys)  # pyright: ignore[reportArgumentType]
