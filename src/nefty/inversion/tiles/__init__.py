"""Large parts, in tiles: calibrated as a whole, solved piece by piece, joined.

An overview of joined pixels calibrates the part and finds what is large. Each tile is then a closer look
(``nefty.inversion.close_up``) at a piece of it, with a rim as wide as heat spreads, and takes over that calibration.
What tiles share in their rims is joined with weights that vanish at a tile's edge.
"""
