"""Soft-constrained physics-informed networks (PINNs): the methods that the paper compares itself with."""
