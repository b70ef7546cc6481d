"""The version. The build and `benchwright.__version__` both read it here."""

VERSION = "0.1.0"
"""This release."""
