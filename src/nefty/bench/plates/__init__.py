"""Plates with flat-bottom holes in files, in the layout of the published PVC benchmark.

``selection`` chooses recordings of a folder, ``recording`` prepares one and judges what was found, ``adaptation`` makes
it unitless for the paper's methods, ``score`` has the marks.
"""
