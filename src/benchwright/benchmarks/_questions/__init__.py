"""A bare file of questions as a benchmark: which type it is, how it asks, how its answers are read."""
