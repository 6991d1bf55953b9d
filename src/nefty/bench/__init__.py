"""The benchmark: methods side by side on known parts, solvers side by side on one problem, and the paper's experiments.

Lowest first; each imports only those above it in this list, which ``lint-imports`` checks:

- ``tables``: results as tables, figures and pages.
- ``solver``: speed, memory and error of heat solvers. ``plates``: recordings of plates in files, and their marks.
- ``illposedness``: what a recording can tell at all. ``tasks``: one recording, one method, one outcome.
- ``optimum``: whether a reconstruction stops at the optimum, and what is wrong where it does not.
- ``suites``: many of them as configuration files; how they are run and shown.

What a task computes with lies in ``plates`` and ``tasks``; ``suites`` and ``tables`` only arrange and show
(``nefty.core.code_version``).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
