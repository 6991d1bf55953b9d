"""Closer looks at pieces of a part, and large parts in tiles: calibrated as a whole, solved piece by piece, joined.

An overview of joined pixels calibrates the part and finds what is large. A closer look (``close_up``) solves the
surroundings of one indication again in the camera's pixels, with that calibration. Tiles (``run``) are such looks at
all of the part, with rims as wide as heat spreads; what they share is joined with weights that vanish at a tile's edge.
"""
