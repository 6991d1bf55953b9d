"""How the background is calibrated: the section ``calibration`` of a recipe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nefty.core.configuration import Part
from nefty.inversion.number_kinds import Count, Fraction, NotNegative, Positive

AboveOne = Annotated[float, Field(gt=1)]


class LayeredSettings(Part):
    """The fit of strata, in ``layered`` and ``constant``. Logarithms are natural and of diffusivity, amplitude, depth.

    guesses, guessed_from, guessed_to: how many diffusivities are tried at first, between which Fourier numbers
        alpha t/H^2 of the whole recording.
    steps: of Gauss-Newton, at most.
    settled: largest step of a logarithm that is not worth another.
    largest_step: of a logarithm.
    reach: of log alpha, how far a stratum may be from the mean.
    faint: share of the brightest pixel below which pixels say little.
    quiet: share of the pixels that is taken to be sound at least.
    doubtful: misfit, as a multiple of that of the quiet pixels, at which a pixel or a value counts a quarter.
    unlike_a_defect: factor on misfits of the sign that defects do not cause; they are the model's.
    relative: share of a temperature that a part without defects cannot explain anyway.
    frames: from which strata are found.
    dense_frames: the first so many are taken about one by one, later ones at growing distances.
    worth: by how much the logarithm of the squared residual of the quiet pixels must fall for a stratum more.
    worth_later: the same for the whole misfit, under the defects found.
    doubtful_later: misfit, as a multiple of the median pixel's, at which a pixel counts half, under the defects found.
    """

    guesses: Count = 25
    guessed_from: Positive = 0.01
    guessed_to: Positive = 100.0
    steps: Count = 8
    settled: Positive = 2e-3
    largest_step: Positive = 0.3
    reach: Positive = 1.0
    faint: Fraction = 0.1
    quiet: Fraction = 0.25
    doubtful: Positive = 1.5
    unlike_a_defect: Fraction = 0.1
    relative: NotNegative = 1e-3
    frames: Count = 24
    dense_frames: Positive = 6.0
    worth: NotNegative = 1.3
    worth_later: NotNegative = 0.4
    doubtful_later: Positive = 2.0


class DecaySettings(Part):
    """The fit of how the sound pixels of a real part cool. Multiples of noise are standard deviations.

    steps: of Gauss-Newton, at most.
    settled: largest step of an unknown that is not worth another.
    largest_step: of log alpha and of the Biot numbers h H/alpha of both faces.
    damping, relief, stiffest: share of the curvature that is added to it at first, factor by which a step that does not
        lower the cost raises it, and where that ends.
    margins: at which the fit begins, in diffusion lengths.
    most_patches: of independent errors, one per square of the thickness, that a frame has at most.
    alpha_width: standard deviation of the logarithm of a stated diffusivity.
    loss_width: of a stated loss, as a share of it.
    margin_width: of the logarithm of the heated margin, around one diffusion length.
    frame_width, pulse_width: of the start of the heat, in frames, and of the length of the pulse, as a share of it.
    farthest: widths from what was stated beyond which no fit goes.
    largest_margin_step: of the logarithm of the heated margin.
    largest_biot: of a face.
    widest_margin, narrowest_margin: in diffusion lengths sqrt(4 alpha t); wider ones are not felt.
    relative: share of a temperature that the model cannot explain.
    quiet: share of the pixels that is taken to be sound at least.
    quiet_noise: the residual of the quiet pixels, as a multiple of the noise, that is not taken smaller.
    doubtful: residual, as a multiple of that of the quiet pixels, at which a pixel counts a quarter.
    frame_noise: the residual of the median frame, as a multiple of the noise, that is not taken smaller.
    doubtful_frame: residual, as a multiple of the median frame's, at which a frame counts a quarter.
    trusted: share of the pixels from which scatter and common course are estimated.
    rounds: of gain, common course and scatter, each from the others.
    common: factor around 1 within which the common course c(t) lies.
    model_error: share of a temperature that the model errs by where pixels agree better than that.
    too_early: scatter, as a multiple of the least of all frames, above which first frames say nothing.
    unclear: the same, above which they say nothing of what is shallow.
    """

    steps: Count = 30
    settled: Positive = 1e-3
    largest_step: Positive = 0.3
    damping: Positive = 1e-3
    relief: AboveOne = 5.0
    stiffest: Positive = 1e4
    margins: tuple[Positive, ...] = (0.01, 0.15, 0.5, 2.0)
    most_patches: Positive = 100.0
    alpha_width: Positive = 0.12
    loss_width: Positive = 1.0
    margin_width: Positive = 2.0
    frame_width: NotNegative = 0.3
    pulse_width: NotNegative = 0.2
    farthest: Positive = 6.0
    largest_margin_step: Positive = 0.5
    largest_biot: Positive = 3.0
    widest_margin: Positive = 8.0
    narrowest_margin: Positive = 0.003
    relative: NotNegative = 4e-3
    quiet: Fraction = 0.25
    quiet_noise: Positive = 0.5
    doubtful: Positive = 1.5
    frame_noise: Positive = 0.3
    doubtful_frame: Positive = 2.0
    trusted: Fraction = 0.6
    rounds: Count = 8
    common: AboveOne = 1.25
    model_error: NotNegative = 2e-4
    too_early: Positive = 10.0
    unclear: Positive = 2.0


class PartSettings(Part):
    """What of a real recording is compared with the volume, and how much late values over voids count.

    earliest: dz^2/alpha after the pulse; before, cells are too thick.
    horizon: diffusion lengths sqrt(alpha t) of the first clear frame; what lies above is taken as sound.
    early_noise: scatter, as a multiple of the camera's noise, up to which it is the camera's.
    early_spread: how far the early deviation of a pixel may go, as a multiple of its scatter.
    early_fall: p of (t_first/t)^p, by which the deviations of what lies above the first clear depth die out.
    void: deficit 1 - alpha/background of a cell that is taken as void.
    void_loss: c of c h_back t/d, the share of heat that the wall of an open void at depth d takes unseen.
    void_beside: thicknesses beside a void within which its losses are felt.
    void_far: thicknesses from a void at which the part is as if there were none.
    enough_far: share of the pixels that must be that far for them to count alone.
    shallow: share of the thickness, the depth of a void that the first stage reckons with.
    lost: share of heat that such a void may have lost, at most.
    counts: share of its weight that a value must keep to count in the result.
    beside: warming, as a share of the middle pixel's, below which a pixel is not the part; blurred: pixels next to such
        ones that do not count either.
    """

    earliest: NotNegative = 0.5
    horizon: NotNegative = 1.0
    early_noise: NotNegative = 1.3
    early_spread: NotNegative = 2.0
    early_fall: Positive = 2.0
    void: Fraction = 0.4
    void_loss: NotNegative = 0.2
    void_beside: NotNegative = 0.2
    void_far: NotNegative = 1.0
    enough_far: Fraction = 0.2
    shallow: Fraction = 0.1
    lost: Fraction = 0.1
    counts: Fraction = 0.5
    beside: Fraction = 0.4
    blurred: Count = 2


class CalibrationSettings(Part):
    """The background before the 3D problem.

    background: how it is found: layered, constant (one stratum), part, or none.
    start: first guess of the diffusivity; strata: how many a layered part may have; flash: fit its amplitude and depth
    as well. "part" is for real recordings: one material, whose diffusivity, losses, amplitude and surroundings are
    calibrated on the sound pixels and again under the defects found. gain: how much the gains of pixels differ, 0 if
    not at all; surroundings: whether heat may flow out of the frame sideways; until: Fourier number alpha t/H^2 of the
    last frame that the volume is fitted to. layered: numbers of the fit of strata; decay, part: of real parts.
    """

    background: Literal["layered", "constant", "part", "none"] = "layered"
    start: Positive | None = None
    strata: Annotated[int, Field(ge=1, le=6)] = 4
    flash: bool = False
    gain: NotNegative = 0.0
    surroundings: bool = True
    until: Positive = 0.5
    layered: LayeredSettings = LayeredSettings()
    decay: DecaySettings = DecaySettings()
    part: PartSettings = PartSettings()

    @property
    def most_strata(self) -> int:
        """How many strata the fit may have: one if the background is constant."""
        return self.strata if self.background == "layered" else 1
