"""Trained networks as rows of the benchmark: their own volume, or one that ``warm`` begins with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.by_recipe import by_recipe, within_budget
from nefty.core.configuration import Part, explain
from nefty.core.errors import InputError
from nefty.core.words import duration
from nefty.data.sequence import Sequence
from nefty.inversion.recipe import load_recipe
from nefty.result.reconstruction import Reconstruction
from nefty.supervised.network import VolumeNetwork, trained_on
from nefty.supervised.predict import predict, volume
from nefty.supervised.shelf import shelved_network
from nefty.synth.recording import specimen_of


class Settings(Part):
    """Of a row.

    network: its name on the shelf, or its file. digest: of its weights, filled in, so that results belong to them.
    resample: bring recordings of another grid to the network's. recipe: that goes on from its volume, filled in whole;
    its own is the answer if not given.
    """

    network: str
    digest: str = ""
    resample: bool = False
    recipe: str | dict[str, Any] | None = None


def settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """All settings, with the digest of the network that is there now."""
    try:
        choice = Settings.model_validate(dict(changes))
    except ValidationError as error:
        raise InputError(f"settings of {changes.get('network')}: {explain(error, Settings)}") from None
    known: dict[str, Any] = {"digest": shelved_network(choice.network)[0].digest()}
    if choice.recipe is not None:
        known["recipe"] = load_recipe(choice.recipe).model_dump(mode="json")
    return choice.model_copy(update=known).model_dump(mode="json")


def reconstruct(sequence: Sequence, settings: Mapping[str, Any], budget: Budget) -> Reconstruction:
    """The volume that a network sees, or what a recipe makes of it.

    Args:
        sequence: the recording.
        settings: as ``settings`` returns them.
        budget: of the recipe; the network itself takes a second.
    """
    choice = Settings.model_validate(dict(settings))
    network = _same(choice)
    _refuse_seen(sequence, choice)
    if choice.recipe is None:
        found = predict(sequence, network, resample=choice.resample)
    else:
        start = volume(sequence.after_flash(), network, resample=choice.resample)
        found = by_recipe(sequence, within_budget(load_recipe(choice.recipe), budget), budget, start=start)
    training = training_in_words(shelved_network(choice.network)[1])
    return dataclasses.replace(found, provenance={**found.provenance, "training": training})


def training_in_words(about: Mapping[str, Any]) -> str:
    """The effort of a training: "trained on 360 homogeneous recordings, 18 epochs in 41 min 2 s"; "" if not known."""
    if not {"data", "history", "seconds"} <= about.keys():
        return ""
    return f"trained on {trained_on(about)}, {len(about['history']['loss'])} epochs in {duration(about['seconds'])}"


def _same(choice: Settings) -> VolumeNetwork:
    network = shelved_network(choice.network)[0]
    if choice.digest and network.digest() != choice.digest:
        raise InputError(
            f"the network {choice.network!r} here is another than the one the task was made for; copy that one here."
        )
    return network


def _refuse_seen(sequence: Sequence, choice: Settings) -> None:
    """Raise an error if the network was trained on this very specimen."""
    specimen = specimen_of(sequence)
    if specimen is None:
        return
    kind, seed = specimen.kind, specimen.seed
    seen = shelved_network(choice.network)[1].get("data", {}).get("seeds", {})
    if seed is not None and seed in seen.get(kind, ()):
        raise InputError(
            f"the network {choice.network!r} was trained on the {kind} specimen of seed {seed}, so it cannot be judged "
            "by it; train on others, such as nefty simulate --n 400 --first-seed 10000."
        )
