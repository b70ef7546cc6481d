"""Evaluations without code: from a table of the configuration to a benchmark like any other."""
