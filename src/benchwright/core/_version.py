"""The version, where every room can read it. `benchwright.__version__` and the package metadata are tested to agree."""

VERSION = "0.1.0"
"""This release."""
