"""Workflows in SQLite: runs with an input and an output, steps with attempts, metric points, events."""
