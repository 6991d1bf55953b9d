"""Ground everything stands on: the grid, errors that name the remedy, files."""
