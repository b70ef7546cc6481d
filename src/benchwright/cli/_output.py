"""Where words go: results to standard output, progress and errors to standard error, with --json nothing but
JSON on standard output. A closed pipe ends the printing, not the command: its exit code still counts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType

_PIPE_WIDTH = 120
"""Columns when nobody looks and COLUMNS is not set: tables in a log should not be folded."""


def option_range(options: Mapping[int, int]) -> str:
    """`3 options (A-C)`, or `2 to 4 options (A-D)`."""
    least, most = min(options), max(options)
    letters = f"A-{chr(ord('A') + most - 1)}"
    return f"{most} options ({letters})" if least == most else f"{least} to {most} options ({letters})"


class Output:
    """The two streams of one command."""

    def __init__(self, *, json: bool) -> None:
        self.as_json = json
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:  # a terminal that cannot show a character must not end a run
                reconfigure(errors="replace")

    def line(self, text: str) -> None:
        """A line of the result."""
        self._write(sys.stdout, text + "\n")

    def show(self, renderable: RenderableType) -> None:
        """A table or another view."""
        from rich.console import Console

        folded = sys.stdout.isatty() or "COLUMNS" in os.environ
        console = Console(file=sys.stdout, width=None if folded else _PIPE_WIDTH, highlight=False)
        with console.capture() as captured:  # rich would end the process on a closed pipe
            console.print(renderable)
        text = captured.get()
        if not sys.stdout.isatty():  # cells are padded with spaces that only a terminal needs
            text = "\n".join(line.rstrip() for line in text.split("\n"))
        self._write(sys.stdout, text)

    def json(self, value: Any) -> None:
        """The result as JSON."""
        from benchwright.core import exact_json

        self._write(sys.stdout, exact_json(value, indent=True).decode() + "\n")

    def stream(self, texts: Iterable[str]) -> None:
        """A long result, as it comes; the rest is not made when nobody reads any more."""
        try:
            for text in texts:
                sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave(sys.stdout)

    def note(self, text: str) -> None:
        """A remark beside the result."""
        self._write(sys.stderr, text + "\n")

    def error(self, message: str, kind: str, exit_code: int) -> None:
        """Why the command could not do what was asked."""
        if self.as_json:
            self.json({"error": {"type": kind, "message": message}, "exit_code": exit_code})
        else:
            self._write(sys.stderr, f"error: {message}\n")

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            _leave(stream)


def _leave(stream: TextIO) -> None:
    """Let what is still written go nowhere: Python flushes once more at its end and would complain then."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
