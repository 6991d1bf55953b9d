"""Speed, memory and error of heat solvers, beside peers in the same run."""
