"""Every method that recovers a volume from a recording, by name: the one place where a new one is registered.

A method is a function ``(sequence, settings, budget) -> Reconstruction`` and the settings it takes. Those of our own
reconstructions are a resolved recipe.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nefty.bench.extras import is_installed, remedy
from nefty.classical.methods import METHODS as CLASSICAL
from nefty.core.errors import InputError, MissingExtraError, unknown_name
from nefty.inversion.recipe import Recipe, limited, load_recipe, recipe_names
from nefty.supervised.settings import ARCHITECTURES
from nefty.supervised.shelf import network_path

if TYPE_CHECKING:
    import numpy as np

    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction


@dataclass(frozen=True)
class Budget:
    """What a reconstruction may cost; ``None`` is no limit.

    Args:
        seconds: of wall clock, from the recording in memory to the volume.
        iterations: of the optimiser, in all stages.
    """

    seconds: float | None = None
    iterations: int | None = None

    def __str__(self) -> str:
        parts = []
        if self.seconds is not None:
            parts.append(f"{self.seconds:g} s")
        if self.iterations is not None:
            parts.append(f"{self.iterations} iterations")
        return ", ".join(parts) or "none"


@dataclass(frozen=True)
class Method:
    """A way to recover a volume.

    Args:
        name: what one types.
        title: what tables say.
        where: ``"module:function"``.
        recipe: name of the recipe that the settings come from; ``None`` if the method has settings of its own, checked
            by ``"module:settings"`` in the module of ``where``.
        paper: the row of the paper's tables that it is compared with.
        preset: settings of its own that differ from those of the module.
        takes: what it is given of a recording in a file: ``"unitless"``, few means of frames in the paper's unitless
            numbers (appendix H.2); ``"means"``, the same in SI units and with the pixels' gains; ``"frames"``, all
            frames after the flash, in SI units. Simulated recordings are always given as they are.
        labels: whether it was trained on true volumes.
        package: library it needs beyond nefty's own, by the name one imports.
        extra: nefty's extra that installs it.
        network: name of the trained network that it needs; see ``nefty.supervised.shelf``.
        note: what a reader of the table has to know.
    """

    name: str
    title: str
    where: str
    recipe: str | None = None
    paper: str | None = None
    preset: Mapping[str, Any] = field(default_factory=dict)
    takes: str = "unitless"
    labels: bool = False
    package: str | None = None
    extra: str | None = None
    network: str | None = None
    note: str = ""

    @property
    def installed(self) -> bool:
        """Whether its library (it is not imported), its recipe and its network are there."""
        if not is_installed(self.package) or (self.recipe is not None and self.recipe not in recipe_names()):
            return False
        return self.network is None or network_path(self.network).is_file()

    @property
    def remedy(self) -> str:
        """What to do where it is not."""
        if not is_installed(self.package):
            return remedy(self.extra)
        if self.network is not None:
            kind = self.network if self.network in ARCHITECTURES else "unet"
            return (
                f"not trained: there is no {network_path(self.network)}; nefty train {kind} --data FOLDER --out "
                f"{network_path(self.network).parent}, see docs/supervised.md"
            )
        return f"this nefty has no recipe {self.recipe!r}"

    def settings(self, changes: Mapping[str, Any], budget: Budget, recipe: str | None = None) -> dict[str, Any]:
        """All settings with ``changes`` applied, as plain values; refuses what is not known.

        Args:
            changes: dotted keys and values.
            budget: whose iterations cut a recipe.
            recipe: in place of the method's own.
        """
        if self.recipe is None:
            if recipe is not None:
                raise InputError(f"method {self.name!r} takes no recipe, got {recipe!r}; leave it out.")
            return self._call("settings", {**self.preset, **changes})
        return within_budget(load_recipe(recipe or self.recipe, changes), budget)

    def run(self, sequence: Sequence, settings: Mapping[str, Any], budget: Budget) -> Reconstruction:
        """Recover the volume."""
        if not self.installed:
            raise MissingExtraError(f"{self.title} is {self.remedy}")
        return self._call(self.where.split(":")[1], sequence, settings, budget)

    def _call(self, function: str, *arguments: Any) -> Any:
        return getattr(importlib.import_module(self.where.split(":")[0]), function)(*arguments)


def within_budget(recipe: Recipe, budget: Budget) -> dict[str, Any]:
    """All values of a recipe that keeps to a budget."""
    if budget.iterations is not None:
        recipe = limited(recipe, budget.iterations)
    if budget.seconds is not None:
        seconds = min(budget.seconds, recipe.stop.seconds or budget.seconds)
        recipe = recipe.model_copy(update={"stop": recipe.stop.model_copy(update={"seconds": seconds})})
    return recipe.model_dump(mode="json")


def by_recipe(
    sequence: Sequence, settings: Mapping[str, Any], budget: Budget, start: np.ndarray | None = None
) -> Reconstruction:
    """Our own reconstruction, on the cells of the truth, so that it can be compared; the recipe holds the budget."""
    from nefty.inversion.reconstruct import reconstruct

    cells = {} if sequence.truth is None else {"model.layers": sequence.truth.shape[0]}
    return reconstruct(sequence, recipe=settings, overrides=cells, start=start)


_OURS = "nefty.bench.tasks.methods:by_recipe"


def _classical() -> list[Method]:
    """Rows of the classical methods."""
    return [
        Method(
            m.name,
            m.title,
            "nefty.bench.tasks.classical:reconstruct",
            paper=m.paper,
            preset={"method": m.name},
            takes="frames",
            note="; ".join(words for words in (m.note, "pixel by pixel") if words),
        )
        for m in CLASSICAL.values()
    ]


def _pinns() -> list[Method]:
    """Rows of soft-constrained PINNs."""
    where, soft = "nefty.bench.tasks.pinns:reconstruct", "the heat equation as a penalty"
    rows: list[tuple[str, str, str, dict[str, Any], str]] = [
        ("pinn", "PINN", "PINN", {"variant": "gradnorm"}, "with GradNorm"),
        ("spinn", "SPINN", "SPINN", {"variant": "spinn"}, "separable"),
        ("causal-pinn", "Causal-PINN", "Causal-PINN", {"variant": "causal"}, "for research comparison only"),
        *(
            (f"dcgd-{rule}", f"DCGD, {rule}", "DCGD", {"variant": "dcgd", "rule": rule}, "dual cone")
            for rule in ("center", "projection", "average")
        ),
    ]
    return [
        Method(name, title, where, paper=paper, preset=preset, note=f"{soft}, {note}")
        for name, title, paper, preset, note in rows
    ]


def _networks() -> list[Method]:
    """Rows of trained networks."""
    where = "nefty.bench.tasks.networks:reconstruct"
    return [
        Method(
            "unet-full", "U-Net (Full)", where, paper="U-Net (Full)", preset={"network": "unet-full"},
            network="unet-full", labels=True, note="trained on simulated specimens with defects and their true volumes",
        ),
        Method(
            "unet-sound", "U-Net (Sound-Only)", where, paper="U-Net (Sound-Only)", preset={"network": "unet-sound"},
            network="unet-sound", labels=True, note="trained on simulated specimens without defects",
        ),
        Method(
            "swin-unetr", "Swin-UNETR", where, paper="Swin-UNETR",
            preset={"network": "swin-unetr", "resample": True}, network="swin-unetr", labels=True, package="monai",
            extra="supervised", note="trained on simulated specimens; recordings are brought to its pixels and times",
        ),
        Method(
            "warm", "nefty warm", where, paper="NeFTY", preset={"network": "unet-full", "recipe": "warm"},
            network="unet-full", labels=True, note="fast, begun with the volume of U-Net (Full)",
        ),
    ]  # fmt: skip


METHODS = {
    m.name: m
    for m in (
        Method(
            "fast",
            "nefty fast",
            _OURS,
            "fast",
            paper="NeFTY",
            note="voxels of log(alpha/background), quasi-Newton, calibrated strata",
        ),
        Method(
            "real",
            "nefty real",
            _OURS,
            "real",
            paper="NeFTY",
            takes="means",
            note="for recordings of real parts: gains, losses, pulse and bulk are fitted with the volume",
        ),
        Method("neural", "nefty neural", _OURS, "neural", paper="NeFTY", note="a small neural field, quasi-Newton"),
        Method(
            "paper",
            "NeFTY as in the paper",
            _OURS,
            "paper",
            paper="NeFTY",
            note="the paper's network, solver, Adam and schedule",
        ),
        Method(
            "grid",
            "Grid Opt.",
            _OURS,
            "grid",
            paper="Grid Opt.",
            note="plain voxels with the paper's Adam, learning rate and weight, on our solver; its 10,000 iterations "
            "are cut off where the budget ends",
        ),
        Method(
            "nefi",
            "nefi",
            "nefty.bench.solver.nefi:reconstruct",
            paper="NeFTY",
            package="nefi",
            extra="peers",
            note="thermal_tomography of the authors' library: field and learning rate of its CPU preset, its fastest "
            "solver",
        ),
        *_classical(),
        *_pinns(),
        *_networks(),
    )
}


def method(name: str) -> Method:
    """The method called ``name``, or an error with the nearest name."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]
