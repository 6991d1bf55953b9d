"""Whole reconstructions on growing grids: seconds, memory, and whether the result stays as good."""
