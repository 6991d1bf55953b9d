"""Networks trained on true volumes: 3D U-Net and Swin-UNETR (paper, appendices F.3 and F.5)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
