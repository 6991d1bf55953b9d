"""Checks to hold a solver to: derivatives, adjoints, orders of convergence, closed-form solutions.

For users who change something and want to know, and for nefty's own tests.
"""

from nefty.physics.slab.slab import Slab
from nefty.testing.closed_forms import continuous_decay_rate, cosine_mode, discrete_decay_rate, free_gaussian
from nefty.testing.convergence import ConvergenceStudy, observed_order
from nefty.testing.derivatives import TaylorCheck, dot_product, taylor_order

__all__ = [
    "ConvergenceStudy",
    "Slab",
    "TaylorCheck",
    "continuous_decay_rate",
    "cosine_mode",
    "discrete_decay_rate",
    "dot_product",
    "free_gaussian",
    "observed_order",
    "taylor_order",
]
