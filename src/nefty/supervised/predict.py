"""The volume that a trained network sees in a recording."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from skimage.transform import resize

from nefty.core.errors import InputError
from nefty.core.provenance import provenance
from nefty.core.stopping import FINISHED
from nefty.data.described_model import described_model
from nefty.data.facts import Facts
from nefty.data.sequence import Sequence
from nefty.result.effort import Effort
from nefty.result.reconstruction import Reconstruction
from nefty.supervised.inputs import filled, prepared
from nefty.supervised.network import VolumeNetwork
from nefty.supervised.specimens import Scene


def predict(sequence: Sequence, network: VolumeNetwork, *, resample: bool = False) -> Reconstruction:
    """Diffusivity by a trained network, in one evaluation; the frames that belong to it are simulated.

    Args:
        sequence: the front of a part after a flash.
        network: trained on its grid.
        resample: bring frames of another grid to the network's pixels and times, and the volume back; for recordings
            in the paper's unitless numbers, of a slab with thickness 1.
    """
    sequence = sequence.after_flash()
    alpha = volume(sequence, network, resample=resample)
    layers = alpha.shape[0]
    model = described_model(sequence, layers)
    fitted = model(torch.from_numpy(alpha).to(model.dtype)).double().numpy()
    return Reconstruction(
        grid=model.grid,
        alpha=alpha,
        background=np.median(alpha, axis=(1, 2)),
        times=sequence.times,
        measured=np.where(sequence.weights(), sequence.frames, np.nan),
        fitted=fitted,
        noise=sequence.noise,
        recipe={"name": network.settings.architecture, "training": network.settings.model_dump(mode="json")},
        provenance={
            **provenance(),
            "input": sequence.digest(),
            "network": network.digest(),
        },
        stopped=FINISHED,
        effort=Effort(evaluations=1, unknowns=network.unknowns),
        truth=sequence.truth_on(alpha.shape),
        lateral=sequence.boundary.lateral,
        facts=sequence.facts,
    )


def volume(sequence: Sequence, network: VolumeNetwork, *, resample: bool = False) -> np.ndarray:
    """Diffusivity (z, y, x), float64; see ``predict``."""
    face = sequence.shape[1:]
    if resample:
        sequence = resampled(sequence, network.scene)
    else:
        network.scene.refuse_other(scene_of(sequence, network.scene.shape[0]), "the recording")
    device = next(network.parameters()).device
    with torch.no_grad():
        given = torch.from_numpy(prepared(sequence, network.settings.input))[None].to(device)
        alpha = network.eval()(given)[0, 0].cpu().double().numpy()
    return (
        np.asarray(resize(alpha, (alpha.shape[0], *face), order=1, mode="edge")) if alpha.shape[1:] != face else alpha
    )


def scene_of(sequence: Sequence, layers: int) -> Scene:
    """What a network has to know, of a recording with so many layers of cells."""
    grid = sequence.grid(layers)
    return Scene(grid.shape, grid.size, sequence.times, sequence.boundary.lateral)


def resampled(sequence: Sequence, scene: Scene) -> Sequence:
    """The recording on the pixels and at the times that a network knows; before its first frame, that frame."""
    if sequence.size is None or not np.isclose(sequence.size[0], scene.size[0], rtol=1e-3):
        raise InputError(
            f"resampling needs a part of thickness {scene.size[0]:g}, like the training's, got size={sequence.size}; "
            "divide lengths by the thickness and times by the square of it over the diffusivity's unit."
        )
    frames = filled(sequence)
    if sequence.times[-1] < 0.98 * scene.times[-1]:
        raise InputError(
            f"the recording ends at t = {sequence.times[-1]:g}, the network needs frames until {scene.times[-1]:g}."
        )
    small = np.stack(
        [np.asarray(resize(frame, scene.shape[1:], order=1, mode="edge", anti_aliasing=True)) for frame in frames]
    )
    at = np.interp(scene.times, sequence.times, np.arange(len(frames)))
    low = np.minimum(at.astype(int), len(frames) - 2)
    share = (at - low)[:, None, None]
    values: dict[str, Any] = {"frames": (1 - share) * small[low] + share * small[low + 1], "times": scene.times}
    return dataclasses.replace(sequence, **values, noise=None, mask=None, truth=None, excitation=None, facts=Facts())
