"""Studies of reconstructions that ask one question each, beside the suites of specimens and methods."""
