"""Probability of detection: curves, their bounds, false calls beside them, and the trade-off of both."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
