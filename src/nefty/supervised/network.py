"""A network that turns a recording into a volume, and its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import digest, read_hdf5, write_hdf5
from nefty.core.storage.run_folder import RESULT
from nefty.fields.heads import SigmoidHead
from nefty.supervised.settings import Training
from nefty.supervised.specimens import Scene
from nefty.supervised.strata import Strata
from nefty.supervised.swin import SwinUNETR
from nefty.supervised.unet import UNet

KIND = "network"


class VolumeNetwork(nn.Module):
    """alpha = head(body(input) + strata(input)), (batch, 1, z, y, x), on one grid.

    Args:
        settings: of its training.
        scene: the grid, frames and sides that it knows.
        start: diffusivity that it gives everywhere at first, nearly.
    """

    def __init__(self, settings: Training, scene: Scene, start: float | None = None) -> None:
        super().__init__()
        self.settings, self.scene = settings, scene
        self.head = SigmoidHead(settings.low, settings.high)
        channels = settings.input.channels
        if settings.architecture == "unet":
            self.body: nn.Module = UNet(channels, settings.levels, scene.lateral)
            divisor = self.body.divisor
            if any(n % divisor for n in scene.shape):
                raise InputError(
                    f"a U-Net of {len(settings.levels)} levels halves {len(settings.levels) - 1} times, so all edges "
                    f"of {scene.shape} must divide by {divisor}; use fewer levels or another grid."
                )
        else:
            self.body = SwinUNETR(channels, settings.features)
        self.strata = Strata(channels, settings.input.slices, scene.shape[0]) if settings.strata else None
        if start is not None:
            inside = min(max(start, 1.1 * settings.low), 0.9 * settings.high)
            self._raise_output(float(self.head.inverse(inside)))

    def _raise_output(self, value: float) -> None:
        """Set the bias of the last convolution."""
        last = [module for module in self.modules() if isinstance(module, nn.Conv3d) and module.out_channels == 1][-1]
        assert last.bias is not None
        nn.init.constant_(last.bias, value)

    @property
    def unknowns(self) -> int:
        """How many numbers are trained."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, given: Tensor) -> Tensor:
        """Diffusivity of the cells."""
        found = self.body(given).float()
        return self.head(found if self.strata is None else found + self.strata(given))

    def digest(self) -> str:
        """Of its weights and settings."""
        return digest(self.settings.model_dump_json(), *state_arrays(self).values())


def state_arrays(module: nn.Module) -> dict[str, np.ndarray]:
    """Weights as arrays by name."""
    return {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}


def load_state(module: nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Put back what ``state_arrays`` gave."""
    module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in arrays.items()})


def network_record(
    network: VolumeNetwork, weights: Mapping[str, np.ndarray], about: Mapping[str, Any]
) -> dict[str, Any]:
    """All that ``load_network`` needs, as arrays and plain values.

    Args:
        network: whose settings and grid.
        weights: that it shall have.
        about: the training: its data, history, provenance.
    """
    scene = network.scene
    where = {"shape": list(scene.shape), "size": list(scene.size), "times": scene.times, "lateral": scene.lateral}
    return {"settings": network.settings.model_dump(mode="json"), "scene": where, "weights": dict(weights), **about}


def save_network(path: str | os.PathLike[str], record: Mapping[str, Any]) -> Path:
    """Write a network as HDF5: arrays and plain values, nothing that could be executed."""
    return write_hdf5(path, record, kind=KIND)


def load_network(path: str | os.PathLike[str]) -> tuple[VolumeNetwork, dict[str, Any]]:
    """The network of a file or of the folder of a training, and what is known of its training.

    Raises:
        InputError: the file is not there, is damaged, or is no network's.
    """
    file = Path(path)
    if file.is_dir():
        file = file / RESULT
        if not file.exists():
            raise InputError(f"{path} holds no trained network yet; nefty train leaves one after the first epoch.")
    record = read_hdf5(file, kind=KIND)
    try:
        settings = Training.model_validate({"strata": False, **record.pop("settings")})  # older files have no such path
        scene = record.pop("scene")
        known = Scene(tuple(scene["shape"]), tuple(scene["size"]), scene["times"], scene["lateral"])
        network = VolumeNetwork(settings, known)
        load_state(network, record.pop("weights"))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{file} is not the network that its settings describe ({reason}); train it again.") from None
    return network.eval(), record


def trained_on(about: Mapping[str, Any]) -> str:
    """ "359 homogeneous and 217 layered recordings"; ``about`` as ``load_network`` returns it."""
    kinds = " and ".join(f"{count} {kind}" for kind, count in about["data"]["trained"].items())
    return f"{kinds} recordings"
