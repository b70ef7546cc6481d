"""The commands: each parses its arguments, calls one function and prints the result."""

from benchwright.cli._main import main

__all__ = ["main"]
