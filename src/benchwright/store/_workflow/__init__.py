"""Workflows in the store: runs with an input and an output, steps with attempts, metric points, events."""
