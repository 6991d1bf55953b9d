"""Many recordings with one set of facts: one task each on a cluster, one summary of all.

``recordings`` lists them, ``job`` does one, ``outcome`` is what is kept of it, ``run`` does all that are not done,
``summary`` and ``page`` tell what came out.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
