"""nefty: thermal tomography of slabs, and a fast differentiable heat solver.

Names are loaded on first use, so that ``import nefty`` stays quick and does not import torch.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# OpenMP threads spin for milliseconds after each parallel loop, in one pool of Numba's and another of torch's, and take
# the cores from each other. See docs/decisions/005-openmp-spinning.md.
if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "10000"

_WHERE = {
    "Boundary": "nefty.physics.boundary",
    "Chebyshev": "nefty.physics.chebyshev",
    "Checkpointed": "nefty.physics.trajectory",
    "ConjugateGradients": "nefty.physics.linear_solver",
    "ConvergenceError": "nefty.core.errors",
    "ForError": "nefty.physics.time_plan",
    "GaussianFlash": "nefty.physics.pulses",
    "Geometric": "nefty.physics.time_plan",
    "Grid": "nefty.core.grid",
    "HeatModel": "nefty.physics.heat_model",
    "ImplicitEuler": "nefty.physics.stepping",
    "InputError": "nefty.core.errors",
    "Jacobi": "nefty.physics.linear_solver",
    "NeftyError": "nefty.core.errors",
    "PerFrame": "nefty.physics.time_plan",
    "Reversed": "nefty.physics.trajectory",
    "SDIRK2": "nefty.physics.stepping",
    "Stored": "nefty.physics.trajectory",
    "TopHatPulse": "nefty.physics.pulses",
    "UniformFlash": "nefty.physics.pulses",
    "Reconstruction": "nefty.result.reconstruction",
    "Sequence": "nefty.data.sequence",
    "Specimen": "nefty.synth.specimen",
    "draw_specimen": "nefty.synth.specimen",
    "Ranges": "nefty.synth.specimen",
    "simulate": "nefty.synth.recording",
    "resimulate": "nefty.synth.recording",
    "Camera": "nefty.synth.camera",
    "FlashRanges": "nefty.synth.flash_ranges",
    "Setup": "nefty.synth.setup",
    "DataPlan": "nefty.synth.data_set",
    "DataSet": "nefty.synth.data_set",
    "write_data_set": "nefty.synth.data_writer",
    "load": "nefty.data.load",
    "prepare": "nefty.data.preparation.prepare",
    "Preparation": "nefty.data.preparation.choice",
    "reconstruct": "nefty.inversion.reconstruct",
    "evaluate": "nefty.metrics.score",
    "Score": "nefty.metrics.score",
    "NeuralField": "nefty.fields.neural",
    "VoxelField": "nefty.fields.voxel",
    "simulate_explicit": "nefty.synth.explicit",
}

__all__ = ["__version__", *sorted(_WHERE)]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'nefty' has no attribute {name!r}")
    value = getattr(importlib.import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from nefty.core.errors import ConvergenceError as ConvergenceError
    from nefty.core.errors import InputError as InputError
    from nefty.core.errors import NeftyError as NeftyError
    from nefty.core.grid import Grid as Grid
    from nefty.data.load import load as load
    from nefty.data.preparation.choice import Preparation as Preparation
    from nefty.data.preparation.prepare import prepare as prepare
    from nefty.data.sequence import Sequence as Sequence
    from nefty.fields.neural import NeuralField as NeuralField
    from nefty.fields.voxel import VoxelField as VoxelField
    from nefty.inversion.reconstruct import reconstruct as reconstruct
    from nefty.metrics.score import Score as Score
    from nefty.metrics.score import evaluate as evaluate
    from nefty.physics.boundary import Boundary as Boundary
    from nefty.physics.chebyshev import Chebyshev as Chebyshev
    from nefty.physics.heat_model import HeatModel as HeatModel
    from nefty.physics.linear_solver import ConjugateGradients as ConjugateGradients
    from nefty.physics.linear_solver import Jacobi as Jacobi
    from nefty.physics.pulses import GaussianFlash as GaussianFlash
    from nefty.physics.pulses import TopHatPulse as TopHatPulse
    from nefty.physics.pulses import UniformFlash as UniformFlash
    from nefty.physics.stepping import SDIRK2 as SDIRK2
    from nefty.physics.stepping import ImplicitEuler as ImplicitEuler
    from nefty.physics.time_plan import ForError as ForError
    from nefty.physics.time_plan import Geometric as Geometric
    from nefty.physics.time_plan import PerFrame as PerFrame
    from nefty.physics.trajectory import Checkpointed as Checkpointed
    from nefty.physics.trajectory import Reversed as Reversed
    from nefty.physics.trajectory import Stored as Stored
    from nefty.result.reconstruction import Reconstruction as Reconstruction
    from nefty.synth.camera import Camera as Camera
    from nefty.synth.data_set import DataPlan as DataPlan
    from nefty.synth.data_set import DataSet as DataSet
    from nefty.synth.data_writer import write_data_set as write_data_set
    from nefty.synth.explicit import simulate_explicit as simulate_explicit
    from nefty.synth.flash_ranges import FlashRanges as FlashRanges
    from nefty.synth.recording import resimulate as resimulate
    from nefty.synth.recording import simulate as simulate
    from nefty.synth.setup import Setup as Setup
    from nefty.synth.specimen import Ranges as Ranges
    from nefty.synth.specimen import Specimen as Specimen
    from nefty.synth.specimen import draw_specimen as draw_specimen
