"""Every method that recovers a volume from a recording, by name: the one place where a new one is registered.

A method is a function ``(sequence, settings, budget) -> Reconstruction`` and the settings it takes. Those of our own
reconstructions are a resolved recipe. Other packages add theirs by entry points of the group ``nefty.methods``.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.by_recipe import within_budget
from nefty.classical.techniques import TECHNIQUES
from nefty.core.code_version import source_version
from nefty.core.errors import InputError, MissingExtraError, unknown_name
from nefty.core.machine import is_installed, remedy
from nefty.core.plug_ins import PlugIn, PlugIns, load_plug_ins
from nefty.core.storage.hdf5 import digest
from nefty.inversion.recipe import load_recipe, recipe_names
from nefty.supervised.settings import ARCHITECTURES
from nefty.supervised.shelf import network_path

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction

GROUP = "nefty.methods"


@dataclass(frozen=True)
class Method:
    """A way to recover a volume.

    Args:
        name: what one types.
        title: what tables say.
        where: ``"module:function"``.
        recipe: name of the recipe that the settings come from; ``None`` if the method has settings of its own, made of
            changes and checked by the function ``settings`` in the module of ``where``; one without it takes none.
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
            return self._own_settings({**self.preset, **changes})
        return within_budget(load_recipe(recipe or self.recipe, changes), budget)

    def run(self, sequence: Sequence, settings: Mapping[str, Any], budget: Budget) -> Reconstruction:
        """Recover the volume."""
        if not self.installed:
            raise MissingExtraError(f"{self.title} is {self.remedy}")
        return getattr(self._module(), self.where.split(":")[1])(sequence, settings, budget)

    def _own_settings(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        check = getattr(self._module(), "settings", None)
        if check is not None:
            return check(changes)
        if changes:
            raise InputError(f"method {self.name!r} takes no settings, got {', '.join(changes)}; leave them out.")
        return {}

    def _module(self) -> Any:
        return importlib.import_module(self.where.split(":")[0])


_OURS = "nefty.bench.tasks.by_recipe:by_recipe"


def _classical() -> list[Method]:
    """Rows of the classical methods."""
    return [
        Method(
            t.name,
            t.title,
            "nefty.bench.tasks.classical:reconstruct",
            paper=t.paper,
            preset={"technique": t.name},
            takes="frames",
            note="; ".join(words for words in (t.note, "pixel by pixel") if words),
        )
        for t in TECHNIQUES.values()
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
            "nefty.bench.tasks.nefi:reconstruct",
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
    """The method called ``name``, of nefty or of another package, or an error with the nearest name."""
    if name in METHODS:
        return METHODS[name]
    others = plug_ins()
    if name in (found := _by_name(others)):
        return found[name].thing
    broken = "".join(f" The plug-in {entry!r} could not be loaded ({why})." for entry, why in others.broken.items())
    raise InputError(f"{unknown_name('method', name, [*METHODS, *found])}{broken}")


@cache
def plug_ins() -> PlugIns[Method]:
    """Methods of other packages: entry points of the group ``nefty.methods``, each a ``Method`` or a list of them.

    One whose name is taken already is broken.
    """
    loaded = load_plug_ins(GROUP, Method, "method")
    found: dict[str, PlugIn[Method]] = {}
    broken = dict(loaded.broken)
    for one in loaded.found:
        name = one.thing.name
        if name in METHODS or name in found:
            broken[one.entry] = f"there is a method {name!r} already; give it another name"
            warnings.warn(f"the method plug-in {one.entry!r} is left out: {broken[one.entry]}", stacklevel=2)
        else:
            found[name] = one
    return PlugIns(tuple(found.values()), broken)


def method_code(name: str) -> str:
    """Hash of the code of a method that another package has added; ``""`` for nefty's own, which every task holds.

    It is of the distribution's name and version, and of the sources of its top-level package.
    """
    return "" if name in METHODS or name not in _by_name(plug_ins()) else _plugged_code(name)


@cache
def _plugged_code(name: str) -> str:
    one = _by_name(plug_ins())[name]
    modules = (one.module, one.thing.where.partition(":")[0])
    packages = sorted({module.partition(".")[0] for module in modules} - {"nefty"})
    return digest(one.package, {package: [source_version(path) for path in _files(package)] for package in packages})


def _files(package: str) -> list[Path]:
    """The folders of a package, or the file of a module; none if it is not written in Python."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return [Path(folder) for folder in spec.submodule_search_locations]
    return [Path(spec.origin)] if spec.origin and spec.origin.endswith(".py") else []


def _by_name(others: PlugIns[Method]) -> dict[str, PlugIn[Method]]:
    return {one.thing.name: one for one in others.found}
