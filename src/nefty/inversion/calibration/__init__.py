"""What a recording says of the part without its defects, before and beside the search for them.

``interface`` says what every calibration can do; ``none``, ``layered`` (one stratum: constant) and ``real_part`` are
the three there are, ``choice`` picks the one that a recipe names. The fits that they use stand beside them.
"""
