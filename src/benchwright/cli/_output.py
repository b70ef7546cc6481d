"""Writes results to standard output, and progress and errors to standard error. With --json, standard output contains only
JSON, even if the user's code prints. A closed pipe or terminal ends the printing, not the command."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    from benchwright.results import RunResult, Slices, View

_PIPE_WIDTH = 120
"""Columns in a pipe or file, unless COLUMNS is set: tables in a log should not wrap."""


def option_range(options: Mapping[int, int]) -> str:
    """`3 options (A-C)`, or `2 to 4 options (A-D)`."""
    least, most = min(options), max(options)
    letters = f"A-{chr(ord('A') + most - 1)}"
    return f"{most} options ({letters})" if least == most else f"{least} to {most} options ({letters})"


class Output:
    """The two streams of one command."""

    def __init__(self, *, json: bool) -> None:
        self.as_json = json
        self._kept: TextIO | None = None
        self._lost = False
        """Whether standard output cannot be written to any more, for example because the disk is full."""
        for name in ("stdout", "stderr"):
            # The caller closed it. Opened before anything else, which would get its number and what children print.
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # until the process ends
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:  # a character that the terminal cannot show must not end a run
                reconfigure(errors="replace")

    @property
    def _result(self) -> TextIO:
        return self._kept or sys.stdout

    @contextmanager
    def alone(self, *, ours: bool) -> Iterator[None]:
        """With --json, send everything that is not written through this object to standard error.

        `ours`: the process runs this command only. Then the output of child processes and C code is redirected too,
        and the redirection stays until the process ends.
        """
        if not self.as_json:
            yield
            return
        self._kept = before = sys.stdout
        elsewhere = sys.stderr
        if ours:
            self._kept = _moved(before, elsewhere) or before
        sys.stdout = elsewhere
        try:
            yield
        finally:
            if not ours:
                sys.stdout = before
            elif self._kept is not before:
                with suppress(OSError):  # all was written, or its loss reported
                    self._kept.close()
                self._kept = None

    @property
    def _words(self) -> TextIO:
        """Where words go: with --json to standard error, because standard output contains only JSON."""
        return sys.stderr if self.as_json else self._result

    def line(self, text: str) -> None:
        """Write a line of the result; with --json, to standard error."""
        self._write(self._words, text + "\n")

    def own_words(self, text: str) -> None:
        """Write a line of fixed text. Nothing in it must be removed, so no room is loaded for that."""
        self._send(self._result, text + "\n")

    @property
    def plain_columns(self) -> int | None:
        """Columns of a result that goes to a file or pipe; None if it may have colours, or if only rich knows how many."""
        coloured = self._result.isatty() or "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ
        encoding = getattr(self._result, "encoding", None) or "utf-8"
        if coloured or not encoding.lower().startswith("utf"):
            return None
        columns = os.environ.get("COLUMNS", str(_PIPE_WIDTH))
        return int(columns) if columns.isdecimal() else None

    def view(self, view: View) -> None:
        """Write a view: its JSON, or what a terminal shows of it."""
        if self.as_json:
            self.json(view.to_json())
        else:
            self.show(view)

    def show(self, view: object) -> None:
        """Write what a terminal shows of a view, or a list of blocks; with --json, to standard error."""
        from rich.console import Console

        from benchwright.reports import drawn

        stream = self._words
        folded = stream.isatty() or "COLUMNS" in os.environ
        width = None if folded else _PIPE_WIDTH
        console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
        try:
            with console.capture() as captured:  # rich would end the process on a closed pipe
                console.print(_PrintableView(drawn(view)))
        except OSError as error:  # rich writes an empty text to terminals even so
            self._leave(stream, error)
            return
        text = captured.get()
        if not stream.isatty():  # cells are padded with spaces that only a terminal needs
            text = "\n".join(line.rstrip() for line in text.split("\n"))
        self._send(stream, text)

    def json(self, value: Any) -> None:
        """Write the result as JSON."""
        from benchwright.core import exact_json, known_secrets, load_exact_json, printable_json

        text = exact_json(value, indent=True)
        redactor = known_secrets()
        if redactor.guards and redactor.found_in(text):
            text = exact_json(redactor.clean_value(load_exact_json(text)), indent=True)
        self._send(self._result, printable_json(text.decode()) + "\n")

    def stream(self, texts: Iterable[str]) -> None:
        """Write a long result piece by piece, and stop when the reader has gone."""
        from benchwright.core import shown

        watched = self._result.isatty()
        try:
            for text in texts:
                self._result.write(shown(text) if watched else text)
            self._result.flush()
        except OSError as error:
            self._leave(self._result, error)

    def note(self, text: str) -> None:
        """Write a remark to standard error."""
        self._write(sys.stderr, text + "\n")

    def error(self, message: str, kind: str, exit_code: int) -> None:
        """Report why the command failed."""
        if self.as_json and not self._lost:
            self.json({"error": {"type": kind, "message": message}, "exit_code": exit_code})
        else:
            self._write(sys.stderr, f"error: {message}\n")

    def _write(self, stream: TextIO, text: str) -> None:
        """Write text without control characters."""
        from benchwright.core import shown

        self._send(stream, shown(text))

    def _send(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            self._leave(stream, error)

    def _leave(self, stream: TextIO, error: OSError) -> None:
        """Discard further output, because Python flushes once more at its end and would report an error. Raises an error that
        names the stream, unless the reader has gone."""
        with suppress(OSError, ValueError):  # not a file of the operating system
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError) or error.errno == errno.EIO:  # EIO: a closed terminal
            return
        name = "standard error" if stream is sys.stderr else "standard output"
        self._lost = self._lost or stream is not sys.stderr
        raise OSError(error.errno, error.strerror, name) from error


class _PrintableView:
    """A view without control characters in its texts."""

    def __init__(self, view: RenderableType) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        from benchwright.core import shown

        for segment in console.render(self._view, options):
            if not segment.control:
                yield Segment(shown(segment.text), segment.style)


def _moved(stdout: TextIO, elsewhere: TextIO) -> TextIO | None:
    """Duplicate standard output, and redirect its usual descriptor to `elsewhere`; None if it is not a file of the
    operating system."""
    try:
        if stdout.fileno() != 1:
            return None
        stdout.flush()
        moved = os.dup(1)  # children do not inherit it
        os.dup2(elsewhere.fileno(), 1)
    except OSError:
        return None
    if isinstance(stdout, io.TextIOWrapper):  # what is written past sys.stdout stays in order with the rest
        stdout.reconfigure(line_buffering=True)
    return open(moved, "w", encoding=stdout.encoding, errors="replace")


def print_result(result: RunResult, output: Output) -> None:
    """Print the table of one result; nothing in JSON mode, where all are printed together."""
    if output.as_json:
        return
    note_problems(result, result.name, output)
    from benchwright.reports import in_plain_text

    columns = output.plain_columns
    text = None if columns is None else in_plain_text(result, columns)
    if text is None:
        output.show(result)
    else:
        output.line(text)


def note_problems(result: RunResult, name: str, output: Output) -> None:
    """Print each problem on its own line, to standard error."""
    for problem in result.report_problems:
        output.note(f"error: {name} ended, but {problem}")
    if result.exit_code == 1 and result.first_failure and not result.report_problems:
        output.note(f"error: {name} failed: {result.first_failure}")


def conclude(results: Sequence[RunResult], output: Output, slices: Mapping[int, Slices] | None = None) -> int:
    """Print `{"results": […], "exit_code": n}` in JSON mode, each result with its `slices` if there are any. Returns the exit code
    of the worst result."""
    from benchwright.core import worst_exit_code

    code = worst_exit_code([result.exit_code for result in results])
    if output.as_json:
        found = [
            {
                **result.to_json(),
                **({"slices": by.to_json()} if (by := (slices or {}).get(result.run_id)) else {}),
            }
            for result in results
        ]
        output.json({"results": found, "exit_code": code})
    return code
