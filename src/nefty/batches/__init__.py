"""Many recordings with one set of facts: one task each on a cluster, one summary of all.

``recordings`` lists them, ``job`` does one, ``outcome`` is what is kept of it, ``run`` does all that are not done,
``summary`` and ``page`` tell what came out.
"""
