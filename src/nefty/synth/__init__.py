"""Simulated recordings that the solver did not make."""
