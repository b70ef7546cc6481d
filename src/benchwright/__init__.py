"""Evaluate language-model endpoints on data and benchmarks you bring yourself."""
