"""Members of a real part whose regions are sheets: calibrate again, and let each region move.

The first fit is taken from the result: its regions, its ratios, its heated margin. Of the recording as it was it is
found once what the regions leave unexplained; a member gets other errors in place of that, and other facts.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from nefty.core.errors import NeftyError
from nefty.data.sequence import Sequence
from nefty.inversion.build import build_model
from nefty.inversion.calibration.choice import calibrate
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.calibration.whole_part import WholePart
from nefty.inversion.ensemble.facts import OtherFacts
from nefty.inversion.ensemble.frame_errors import FrameErrors, smooth_image
from nefty.inversion.ensemble.member import Member, MovedSheet
from nefty.inversion.ensemble.moved_region import DEPTH, RATIO, Outline, insulation_of, refit, with_region
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.fitted_sheet import FEWEST, placed
from nefty.inversion.evidence.hills import around
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.shapes import prior_widths
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.inversion.evidence.weigh import sound_part
from nefty.inversion.evidence.weighing import SoundPart
from nefty.inversion.recipe import Recipe, load_recipe
from nefty.inversion.reconstruct import alpha_of_material, observe
from nefty.result.reconstruction import Reconstruction

SETTLING = 2  # times the trials of a member, in which the first fit comes to rest


@dataclass(frozen=True, eq=False)
class FirstSheets:
    """What all members of a part share.

    Args:
        sequence: the recording, frames after the flash.
        recipe: with a calibration that begins where the first one ended.
        whole: of which the recording shows a piece; its facts are then not varied.
        outlines: of the regions that are called, in the order of the report.
        unknowns: of each, (region, 7).
        order: of the regions in a refit, the strongest first.
        along: diffusivity along y and x over that through the thickness, as the first fit has it.
        stated: logarithm of the ratios that the user states over these.
        errors: of ln(T/T_sound), over its spread.
        frames: number in the sequence of each frame that ``errors`` has, (t,).
        spread: of these frames, (t,).
        left: what the first fit leaves unexplained of them over the spread, (t, y, x).
    """

    sequence: Sequence
    recipe: Recipe
    whole: WholePart | None
    outlines: tuple[Outline, ...]
    unknowns: np.ndarray
    order: tuple[int, ...]
    along: tuple[float, float]
    stated: float
    errors: FrameErrors
    frames: np.ndarray
    spread: np.ndarray
    left: np.ndarray

    @staticmethod
    def of(found: Reconstruction, sequence: Sequence, recipe: Recipe, whole: WholePart | None) -> FirstSheets:
        """From a finished result of the recording."""
        shown = found.frame_evidence
        assert shown is not None
        recipe = _warm(recipe, found)
        part, frames = _part(sequence, recipe, whole)
        settings, slab, pixel = recipe.evidence.sheet, part.slab, part.contrast.pixel
        outlines = []
        for number in shown.called:
            mask, region = shown.footprint(number), shown.regions[number - 1]
            window = around(mask, pixel, settings.around * slab.thickness)
            insulation = region.resistance / (region.resistance + region.depth / slab.alpha)
            cells = region.depth / slab.thickness * settings.layers
            outlines.append(Outline.of(mask[window], window, insulation, cells, hole=region.open_to_back))
        unknowns = np.array([one.start for one in outlines]).reshape(-1, 7)
        sizes = [one.mask.sum() * insulation_of(one.start) for one in outlines]
        order = tuple(int(i) for i in np.argsort(sizes)[::-1])
        along = (part.along[0] * shown.spreads[0], part.along[1] * shown.spreads[1])
        first = _Regions(tuple(outlines), unknowns, order, along, recipe)
        settled = first.settled(part)
        evened, explained = settled.evened(part)
        patch = tuple(recipe.ensemble.alike * slab.thickness / step for step in pixel)
        left = evened.whitened(evened.values - explained) * evened.counted
        errors = FrameErrors.of(left, evened.counted, (patch[0], patch[1]))
        return FirstSheets(
            sequence=sequence,
            recipe=recipe,
            whole=whole,
            outlines=tuple(outlines),
            unknowns=settled.unknowns,
            order=order,
            along=along,
            stated=-float(np.log(shown.spreads[0])),
            errors=errors,
            frames=frames,
            spread=evened.spread,
            left=left,
        )

    def member(self, number: int) -> Member:
        """Draw errors and facts, calibrate, and let the regions move."""
        random, widths = np.random.default_rng([self.recipe.seed, number]), self.recipe.ensemble
        facts = OtherFacts.drawn(self.recipe.seed, number, widths)
        if self.whole is not None:
            facts = OtherFacts(ratio=facts.ratio)
        sequence = facts.told(self._with_other_errors(random))
        recipe = self.recipe
        if recipe.calibration.start is not None:
            recipe = load_recipe(recipe, {"calibration.start": facts.diffusivity * recipe.calibration.start})
        part, _ = _part(sequence, recipe, self.whole)
        regions = _Regions(self.outlines, self.unknowns, self.order, self.along, recipe)
        drawn = self.unknowns[:, :5] + regions.widths(part)[:, :5] * random.standard_normal((len(self.unknowns), 5))
        return regions.moved(part, number, drawn, self.stated + float(np.log(facts.ratio)))

    def _with_other_errors(self, random: np.random.Generator) -> Sequence:
        """The recording with errors of a member in place of what the first fit leaves unexplained."""
        widths, sequence = self.recipe.ensemble, self.sequence
        drawn = self.errors.drawn(random, widths.model_error)
        change = np.zeros(sequence.frames.shape)
        change[self.frames] = self.spread[:, None, None] * (drawn - self.left)
        gain = 1 + widths.gain * smooth_image(random, sequence.frames.shape[1:], self.errors.widths)
        return dataclasses.replace(sequence, frames=sequence.frames * np.exp(change) * np.maximum(gain, 0.5))


@dataclass(frozen=True, eq=False)
class _Regions:
    """The regions of a part at their unknowns; the arguments are those of ``FirstSheets``."""

    outlines: tuple[Outline, ...]
    unknowns: np.ndarray
    order: tuple[int, ...]
    along: tuple[float, float]
    recipe: Recipe

    @property
    def _settings(self) -> SheetSettings:
        return self.recipe.evidence.sheet

    def widths(self, part: SoundPart) -> np.ndarray:
        """Of the priors of the unknowns, (region, 7)."""
        every, settings = np.ones(len(part.contrast.times), dtype=bool), self._settings
        found = np.empty((len(self.outlines), 7))
        for i, (outline, x) in enumerate(zip(self.outlines, self.unknowns, strict=True)):
            fit = SheetFit(part.contrast.part(every, outline.window), part.slab, self.along, settings)
            found[i] = prior_widths(x, fit, settings.layers, hole=outline.hole)
        return found

    def settled(self, part: SoundPart) -> _Regions:
        """The same come to rest on the frames as they were recorded."""
        trials = SETTLING * self.recipe.ensemble.steps
        found, _ = self._run(part, self.unknowns[:, :5], trials, None)
        return dataclasses.replace(self, unknowns=found)

    def moved(self, part: SoundPart, number: int, centres: np.ndarray, stated: float) -> Member:
        """A member: regions on its frames; the arguments are those of ``_run``."""
        found, misfit = self._run(part, centres, self.recipe.ensemble.steps, stated)
        slab, cell = part.slab, part.slab.thickness / self._settings.layers
        sheets = []
        for outline, rest, there in zip(self.outlines, self.unknowns, found, strict=True):
            x = outline.moved(there, rest)
            c, depth = insulation_of(x), float(x[DEPTH]) * cell
            rows, columns = outline.window
            window = np.array([rows.start, rows.stop, columns.start, columns.stop])
            covered = outline.covered(x).astype(np.float32)
            resistance = depth / slab.alpha * c / (1 - c)
            sheets.append(MovedSheet(depth, c, resistance, covered, window, outline.hole))
        background = np.full(self.recipe.model.layers, slab.alpha)
        return Member(number, background, slab.thickness, misfit, sheets=tuple(sheets))

    def _run(self, part: SoundPart, centres: np.ndarray, trials: int, stated: float | None) -> tuple[np.ndarray, float]:
        """Unknowns of the regions after one warm run of each, the strongest first, and the mean misfit.

        Args:
            part: what they are fitted to.
            centres: of the priors of place and outline, (region, 5).
            trials: of a run, after its slopes.
            stated: logarithm of the ratios that the user states over ``along``; ``None`` if the ratios stay.
        """
        if not self.outlines:
            return self.unknowns, 1.0
        settings, slab, along, width = self._settings, part.slab, self.along, self.recipe.ensemble.ratio
        contrast, _ = self.evened(part)
        last = max(settings.latest * slab.thickness**2 / slab.alpha, contrast.times[:FEWEST][-1])
        early = contrast.times <= last
        found, misfits = self.unknowns.copy(), []
        prior = (stated, width) if stated is not None and along != (1.0, 1.0) and width > 0 else None
        for i in self.order:
            window = self.outlines[i].window
            fit = SheetFit(contrast.part(early, window), slab, along, settings)
            sheet = self._sheet(found, contrast, slab.thickness).cut(window)
            how = {"layers": settings.layers, "trials": trials}
            one = refit(fit, sheet, self.outlines[i], self.unknowns[i], centres[i], ratio=prior, **how)
            found[i] = one.unknowns[:RATIO]
            if prior is not None:  # the clearest region tells the ratio of all
                factor = float(np.exp(one.unknowns[RATIO]))
                along, prior = (along[0] * factor, along[1] * factor), None
            misfits.append(one.misfit)
        return found, float(np.mean(misfits))

    def evened(self, part: SoundPart) -> tuple[Contrast, np.ndarray]:
        """Rows and columns evened over what the regions explain, and that, ln(T/T_sound), (t, y, x)."""
        contrast, settings = part.contrast, self._settings
        explained = np.zeros(contrast.values.shape)
        if self.outlines:
            masks = [placed(one.mask, one.window, contrast.counted.shape) for one in self.outlines]
            window = around(np.any(masks, axis=0), contrast.pixel, settings.around * part.slab.thickness)
            every = np.ones(len(contrast.times), dtype=bool)
            fit = SheetFit(contrast.part(every, window), part.slab, self.along, settings)
            sheet = self._sheet(self.unknowns, contrast, part.slab.thickness).cut(window)
            explained = placed(fit.explained(sheet), window, contrast.counted.shape)
        return contrast.evened(contrast.counted, explained), explained

    def _sheet(self, unknowns: np.ndarray, contrast: Contrast, thickness: float) -> Sheet:
        """All regions as one sheet of the frame."""
        shape, cell = contrast.counted.shape, thickness / self._settings.layers
        middle = np.full(shape, thickness / 2)
        sheet = Sheet(
            np.zeros(shape, dtype=bool), np.zeros(shape), middle, middle, np.zeros(shape), [], np.zeros(shape)
        )
        for outline, x in zip(self.outlines, unknowns, strict=True):
            window = outline.window
            sheet = sheet.pasted(window, with_region(sheet.cut(window), outline, x, cell, thickness))
        return sheet


def _warm(recipe: Recipe, found: Reconstruction) -> Recipe:
    """The recipe with a calibration that begins at the heated margin that the first one found."""
    sound, decay = found.calibrated, recipe.calibration.decay
    if sound is None:
        return recipe
    length = float(np.sqrt(4 * sound.alpha * max(sound.along) * sound.times[-1]))
    margin = float(np.clip(sound.margin / length, decay.narrowest_margin, decay.widest_margin))
    return load_recipe(recipe, {"calibration.decay.margins": (margin,)})


def _part(sequence: Sequence, recipe: Recipe, whole: WholePart | None) -> tuple[SoundPart, np.ndarray]:
    """The contrast of a recording over its sound part, calibrated; and the number of each of its frames, (t,)."""
    model = build_model(sequence, recipe)
    seen, _ = observe(sequence, model, recipe)
    known = calibrate(recipe, model, seen, alpha_of_material(sequence), whole)
    if not isinstance(known, RealPartCalibration):
        raise NeftyError(f"recipe {recipe.name!r} does not calibrate a real part, which sheets need.")
    part, (clock, _) = sound_part(known), known.clock()
    before = len(sequence.times) - len(clock)  # frames within the pulse
    return part, before + np.searchsorted(clock, part.contrast.times)
