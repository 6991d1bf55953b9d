"""Whether a reconstruction stops at the optimum, and what is wrong with it where it does not."""
