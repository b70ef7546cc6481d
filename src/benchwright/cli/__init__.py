"""Commands: parse, call one function, print. What they do lives in the rooms below."""

from benchwright.cli._main import main

__all__ = ["main"]
