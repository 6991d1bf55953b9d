"""What the unknown is made of: voxels, or a neural field."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
