"""The version, in its only place: the build reads it here, and `benchwright.__version__` is taken from here."""

VERSION = "0.1.0"
"""This release."""
