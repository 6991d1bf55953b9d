"""One recording, one method, one outcome in a file; and many of them on a cluster.

``methods`` lists every method by name, those of other packages too; ``by_recipe``, ``classical``, ``pinns``,
``networks`` and ``nefi`` run them within a ``budget``. ``simulated`` draws and judges specimens. ``task`` does one,
``runner`` many, where ``nefty.core.cluster`` has a place.
"""
