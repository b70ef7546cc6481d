"""Suites: which pairs of a model and a dataset there are, and how all of them are run, scored again or shown."""
