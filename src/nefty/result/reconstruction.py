"""What a reconstruction is: the volume, how well it explains the recording, and where it comes from."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.checks import number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.core.stopping import UNKNOWN, Stopped, StopReason
from nefty.core.storage.hdf5 import DamagedFileError, read_hdf5, write_hdf5
from nefty.core.storage.run_folder import RESULT
from nefty.data.facts import Facts, Units
from nefty.data.facts_file import plain_facts, read_facts
from nefty.physics.boundary import LATERAL
from nefty.result.calibrated_part import CalibratedPart
from nefty.result.close_up import CloseUp
from nefty.result.effort import Effort
from nefty.result.ensemble import Ensemble
from nefty.result.exports.export import KIND, export
from nefty.result.exports.notebook import notebook_html
from nefty.result.first_format import of_first_format
from nefty.result.frame_evidence import FrameEvidence
from nefty.result.indications.by_evidence import called_cells, sheet_depths, with_evidence, with_gaps
from nefty.result.indications.depth_map import depth_map
from nefty.result.indications.evidence import IndicationEvidence, find_evidence
from nefty.result.indications.indication import Indication, find_indications
from nefty.result.indications.segmentation import ByEvidence, Rule, Segmentation, named_rule, segment
from nefty.result.own_view import OwnView
from nefty.result.reach import Reach
from nefty.result.suspect import SuspectFact, read_suspects, suspects_record
from nefty.result.verdict import Verdict, judge

HDF5 = (".h5", ".hdf5")


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The diffusivity inside a part, recovered from a recording.

    Args:
        grid: the cells.
        alpha: diffusivity along z, (z, y, x).
        background: diffusivity that the part has at each depth without defects, (z,); calibrated.
        times: of the compared frames, (t,).
        measured: the recording that was fitted, (t, y, x), or (2, t, y, x) front first; NaN where it does not count.
        fitted: the model's frames of ``alpha``, of the same shape.
        noise: standard deviation of the measured values, or of those of each frame, (t,); ``None`` if not known.
        history: one column per quantity, one entry per iteration: ``stage``, ``evaluations``, ``seconds``, ``misfit``
            (the mean of the squared residuals over noise^2), ``objective``, ``step`` and what the optimiser adds.
        recipe: the resolved configuration.
        provenance: versions, host, seed, input; only shown.
        stopped: why it ended.
        effort: what it cost.
        bulk: the calibrated background as one number, its geometric mean over the layers; ``None`` if there is none.
        truth: the true diffusivity (z, y, x), where known.
        lateral: ``"periodic"`` where defects go on across the sides, else ``"adiabatic"``.
        reach: which depths the frames show; ``None`` if that was not worked out.
        own_view: map of a method that knows no volume, so that ``alpha`` is only lifted from it.
        own_surface: whether ``fitted`` was read off a temperature of the method's own, as the paper does for PINNs.
        facts: what is known of the recording, with what was calibrated.
        frame_evidence: what the frames show, region by region; ``None`` if that was not weighed.
        calibrated: the sound part, for closer looks; ``None`` if the recipe does not calibrate it like that.
        close_up: of what it is a closer look; ``None`` if it is of a whole recording.
        ensemble: what refits say of how sure it is; ``None`` if there were none.
        suspects: stated facts that may be wrong, the most suspect first; empty if none is, or none was asked about.
    """

    grid: Grid
    alpha: np.ndarray
    background: np.ndarray
    times: np.ndarray
    measured: np.ndarray
    fitted: np.ndarray
    noise: float | np.ndarray | None = None
    history: dict[str, np.ndarray] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, str | int | float] = field(default_factory=dict)
    stopped: Stopped = UNKNOWN
    effort: Effort = field(default_factory=Effort)
    bulk: float | None = None
    truth: np.ndarray | None = None
    lateral: str = "adiabatic"
    reach: Reach | None = None
    own_view: OwnView | None = None
    own_surface: bool = False
    facts: Facts = field(default_factory=Facts)
    frame_evidence: FrameEvidence | None = None
    calibrated: CalibratedPart | None = None
    close_up: CloseUp | None = None
    ensemble: Ensemble | None = None
    suspects: tuple[SuspectFact, ...] = ()

    def __post_init__(self) -> None:
        for name in ("alpha", "background", "times", "measured", "fitted", "truth"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _readonly(name, getattr(self, name)))
        if self.times.ndim != 1 or not np.isfinite(self.times).all() or not (np.diff(self.times) > 0).all():
            raise InputError(f"times of shape {self.times.shape} must be one list, (t,), finite and increasing.")
        one_of("lateral", self.lateral, LATERAL)
        nz, ny, nx = self.grid.shape
        recorded = (len(self.times), ny, nx)
        _shape("alpha", self.alpha, self.grid.shape, "the grid's (z, y, x)")
        _shape("background", self.background, (nz,), "one value per layer of cells, (z,)")
        if self.truth is not None:
            _shape("truth", self.truth, self.grid.shape, "the grid's (z, y, x)")
        if self.measured.shape not in (recorded, (2, *recorded)):
            raise InputError(
                f"measured has shape {self.measured.shape}, expected {recorded} (t, y, x) of the times and the grid, "
                f"or {(2, *recorded)} for front and back."
            )
        _shape("fitted", self.fitted, self.measured.shape, "that of measured")
        if self.ensemble is not None:
            _shape("probability", self.ensemble.probability, self.grid.shape, "the grid's (z, y, x)")
        for name in ("alpha", "background", "truth"):
            values = getattr(self, name)
            if values is not None and not (np.isfinite(values) & (values > 0)).all():
                bad = tuple(int(i) for i in np.argwhere(~(np.isfinite(values) & (values > 0)))[0])
                raise InputError(f"{name}{list(bad)}={values[bad]} is no diffusivity; it must be finite and positive.")
        if not np.isfinite(self.fitted).all():
            raise InputError("fitted holds NaN or infinite values; the model's frames must be finite.")
        if np.isinf(self.measured).any() or not np.isfinite(self.measured).any():
            raise InputError("measured is infinite somewhere or NaN everywhere; mark what does not count with NaN.")
        if self.noise is not None:
            object.__setattr__(self, "noise", _noise(self.noise, len(self.times)))
        history = {name: np.asarray(column) for name, column in self.history.items()}
        if len({column.shape for column in history.values()}) > 1 or any(c.ndim != 1 for c in history.values()):
            raise InputError(
                "history needs columns of one length, one entry per iteration, got "
                + ", ".join(f"{name}: {column.shape}" for name, column in history.items())
            )
        object.__setattr__(self, "history", history)

    @property
    def residual(self) -> np.ndarray:
        """Measured minus fitted, of the recording's shape; NaN where it does not count."""
        return self.measured - self.fitted

    @property
    def rmse(self) -> float:
        """Root of the mean squared residual, in the unit of the temperatures."""
        return float(np.sqrt(np.nanmean(np.square(self.residual, dtype=np.float64))))

    @property
    def misfit(self) -> float | None:
        """Mean squared residual over noise^2: 1 at the noise floor. ``None`` if the noise is not known or zero."""
        noise = self.noise_of_frames
        if noise is None or not noise.all():
            return None
        return float(np.nanmean(np.square(self.residual / noise[:, None, None], dtype=np.float64)))

    @property
    def noise_of_frames(self) -> np.ndarray | None:
        """Standard deviation of the values of each frame, (t,); ``None`` if it is not known."""
        return None if self.noise is None else np.broadcast_to(np.float64(self.noise), self.times.shape)

    @property
    def probability(self) -> np.ndarray | None:
        """That a cell is anomalous, 0 to 1, (z, y, x), by an ensemble of refits; ``None`` without one."""
        return None if self.ensemble is None else self.ensemble.probability

    @property
    def spread(self) -> np.ndarray | None:
        """Standard deviation of ln alpha, (z, y, x), over an ensemble of refits; ``None`` without one."""
        return None if self.ensemble is None else self.ensemble.spread

    @property
    def inspected_pixels(self) -> float:
        """The share of the pixels that count in some frame."""
        return float(np.isfinite(self.measured).any(axis=tuple(range(self.measured.ndim - 2))).mean())

    @property
    def inspected_share(self) -> float:
        """The share of the part that was inspected: of its pixels, times that of its depth."""
        if self.reach is None:
            return self.inspected_pixels
        depth = max(min(self.reach.deepest, self.grid.size[0]) - self.reach.shallowest, 0.0)
        return self.inspected_pixels * depth / self.grid.size[0]

    def unit(self, quantity: str) -> str:
        """The word for the unit of ``"length"``, ``"time"``, ``"temperature"`` or ``"diffusivity"``; "" if unknown."""
        return getattr(self.facts.units, one_of("quantity", quantity, [f.name for f in fields(Units)]))

    def verdict(self) -> Verdict:
        """What may be concluded: nothing (unfinished, too noisy, not inspected), or how well the fit explains all."""
        return judge(self)

    def segmentation(self, rule: Rule | str = "default") -> Segmentation:
        """Which cells are defect, by ``"evidence"``, ``"default"``, ``"faint"``, ``"absolute"``, ``"paper-2d"`` or a
        rule of ``nefty.result.indications.segmentation`` with other values; the recipe may name another default.
        """
        rule = self._rule(rule)
        if self.frame_evidence is not None and isinstance(rule, ByEvidence):
            return called_cells(self.frame_evidence, self.grid, periodic=self.lateral == "periodic")
        return segment(self.alpha, self.background, self.grid, rule, self.lateral)

    def _rule(self, rule: Rule | str) -> Rule:
        """The one that is meant: the recipe's, where the default is asked for."""
        return named_rule(self.recipe.get("rule", rule) if rule == "default" else rule)

    def indications(self, rule: Rule | str = "default") -> list[Indication]:
        """What was found: connected regions with place, depth, size and evidence; the clearest first, or the largest
        where no evidence was weighed.
        """
        found = find_indications(self.alpha, self.background, self.grid, self.segmentation(rule))
        if self.frame_evidence is None or not isinstance(self._rule(rule), ByEvidence):
            return [with_gaps(one, self.facts) for one in found]
        return with_evidence(found, self.frame_evidence, self.grid, self.facts)

    def defects(self, rule: Rule | str = "default") -> list[Indication]:
        """The older name of ``indications``."""
        return self.indications(rule)

    def evidence(self, rule: Rule | str = "default") -> list[IndicationEvidence]:
        """Pixel, band of the depth, FWHM, thermal contrast and SNR of each of ``defects(rule)``."""
        found = self.segmentation(rule)
        return find_evidence(self, self.indications(rule), found)

    def depth_map(self, rule: Rule | str = "default") -> np.ndarray:
        """Depth to the top of the uppermost defect, (y, x) in length units; NaN where the part is sound."""
        shown = self.frame_evidence
        if shown is not None and shown.of_sheets and isinstance(self._rule(rule), ByEvidence):
            return sheet_depths(shown)
        return depth_map(self.alpha, self.background, self.grid, self.segmentation(rule))

    def record(self) -> dict[str, Any]:
        """Everything it holds as nested mappings of arrays and plain values; see ``from_record``."""
        names = ("alpha", "background", "times", "measured", "fitted", "truth", "noise", "history", "recipe")
        values = {name: getattr(self, name) for name in (*names, "provenance", "bulk", "lateral", "own_surface")}
        return {
            "grid_shape": np.array(self.grid.shape),
            "grid_size": np.array(self.grid.size),
            **values,
            "stopped": {"reason": self.stopped.reason.value, "text": self.stopped.text},
            "effort": vars(self.effort).copy(),
            "reach": None if self.reach is None else vars(self.reach).copy(),
            "own_view": None if self.own_view is None else _own_view_record(self.own_view),
            "facts": plain_facts(self.facts),
            "frame_evidence": None if self.frame_evidence is None else self.frame_evidence.record(),
            "calibrated": None if self.calibrated is None else self.calibrated.record(),
            "close_up": None if self.close_up is None else vars(self.close_up).copy(),
            "ensemble": None if self.ensemble is None else self.ensemble.record(),
            "suspects": suspects_record(self.suspects),
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> Reconstruction:
        """The reconstruction that ``record`` was taken of."""
        try:
            values = dict(record)
            shape, size = values.pop("grid_shape").tolist(), values.pop("grid_size").tolist()
            values = of_first_format(values) if "meta" in values else _typed(values)
            return Reconstruction(grid=Grid(tuple(shape), tuple(size)), **values)
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"not the record of a reconstruction: {error}. Use Reconstruction.record().") from None

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to ``path`` if it ends in .h5 or .hdf5 and is no folder, else to ``result.h5`` in it.

        Returns:
            the file.
        """
        path = Path(path)
        is_file = path.suffix.lower() in HDF5 and not path.is_dir()
        return write_hdf5(path if is_file else path / RESULT, self.record(), kind=KIND)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Reconstruction:
        """Read what ``save`` wrote, from the file or its folder."""
        path = Path(path)
        try:
            return Reconstruction.from_record(read_hdf5(path / RESULT if path.is_dir() else path, kind=KIND))
        except DamagedFileError as error:
            raise InputError(
                f"{error} Or make it again: the nefty reconstruct that wrote it, with --fresh (fresh=True)."
            ) from error

    def export(self, path: str | os.PathLike[str], rule: Rule | str = "default") -> Path:
        """Write for other programs, by suffix: .h5, .npz, .vti (ParaView), .csv (the defects), .dcm."""
        return export(self, path, rule)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the HTML report."""
        # The report is a layer above this one: found by name, when it is asked for.
        return importlib.import_module("nefty.report.pages.reconstruction").write_report(self, path)

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write all files of a run: result, report, table of indications, pictures, volume; what was there is replaced.

        Returns:
            the folder.
        """
        # The report is a layer above this one: found by name, when it is asked for.
        importlib.import_module("nefty.report.run_files").write_run(self, Path(folder))
        return Path(folder)

    def _repr_html_(self) -> str:
        return notebook_html(self)


def _own_view_record(view: OwnView) -> dict[str, np.ndarray]:
    return {"mask": np.asarray(view.mask, dtype=np.uint8), "depth": np.asarray(view.depth, dtype=np.float64)}


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a record as the objects they were."""
    stopped, view, reach = values["stopped"], values["own_view"], values["reach"]
    shown, sound, near = (values.get(name) for name in ("frame_evidence", "calibrated", "close_up"))
    return {
        **values,
        "stopped": Stopped(StopReason(stopped["reason"]), stopped["text"]),
        "effort": Effort(**values["effort"]),
        "reach": None if reach is None else Reach(**reach),
        "own_view": None if view is None else OwnView(view["mask"] > 0, view["depth"]),
        "facts": read_facts(values["facts"]),
        "frame_evidence": None if shown is None else FrameEvidence.from_record(shown),
        "calibrated": None if sound is None else CalibratedPart.from_record(sound),
        "close_up": None if near is None else CloseUp(**near),
        "ensemble": None if (sure := values.get("ensemble")) is None else Ensemble.from_record(sure),
        "suspects": read_suspects(values.get("suspects")),
    }


def _readonly(name: str, values: Any) -> np.ndarray:
    """``values`` as floating-point numbers that cannot be changed through the result."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold real numbers, got an array of {array.dtype}.")
    array = array.view() if array.dtype.kind == "f" else array.astype(np.float64)
    array.setflags(write=False)
    return array


def _noise(given: Any, frames: int) -> float | np.ndarray:
    """One number of at least 0, or one for each frame."""
    if np.ndim(given) == 0:
        return number("noise", given, at_least=0)
    noise = _readonly("noise", given)
    _shape("noise", noise, (frames,), "one value, or one per frame, (t,)")
    if not (np.isfinite(noise) & (noise >= 0)).all():
        raise InputError(f"noise={noise.min():g}..{noise.max():g} must be finite and at least 0.")
    return noise


def _shape(name: str, values: np.ndarray, expected: tuple[int, ...], what: str) -> None:
    if values.shape != expected:
        raise InputError(f"{name} has shape {values.shape}, expected {expected}, {what}.")
