"""nefty: thermal tomography of slabs, and a fast differentiable heat solver.

The names are in ``__init__.pyi``, and are loaded on first use, so that ``import nefty`` stays quick and does not import
torch.
"""

import os

import lazy_loader

__version__ = "0.2.0"

# OpenMP threads spin for milliseconds after each parallel loop, in one pool of Numba's and another of torch's, and take
# the cores from each other. See docs/decisions/005-openmp-spinning.md.
if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "10000"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["__version__", *__all__]  # pyright: ignore[reportUnsupportedDunderAll]
