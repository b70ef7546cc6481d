"""Suites: files of models and datasets, their pairs, and how all of them run."""
