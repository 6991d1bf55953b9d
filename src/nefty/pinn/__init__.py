"""Soft-constrained physics-informed networks (PINNs): the methods that the paper compares itself with."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
