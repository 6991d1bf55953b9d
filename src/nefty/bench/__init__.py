"""Measurements: speed, memory and accuracy, always beside a peer in the same run."""
