"""Writes views to files, each completely or not at all."""
