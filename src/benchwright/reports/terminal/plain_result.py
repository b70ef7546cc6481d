"""Writes the result of a run as plain text for logs and pipes: the same lines as on a terminal, without colours and
without rich, which takes a sixth of a short run to load.

Everything that may not be plain is left to rich: a line that does not fit, a character that may be wide. The rules here may
be too strict, but never too loose; `tests/reports/test_terminal_views.py` compares both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.reports.terminal.result import Pieces, result_parts
from benchwright.reports.views.benchmarks import ResultView

_NARROW = str.maketrans(dict.fromkeys("–—…×·≤≥", "-"))
"""Characters in our texts that take one column, as Latin characters do."""


class _NotPlainError(Exception):
    """The library must draw this."""


def plain_result(view: ResultView, width: int) -> str | None:
    """The lines of `result_table` in `width` columns; None if the library must draw them."""
    parts = result_parts(view)
    title = _text(parts.title)
    try:
        _check(title, width)
        lines = ["", title, *_table(parts.metrics, width), *_grid(parts.remarks, width)]
    except _NotPlainError:
        return None
    return "\n".join(map(str.rstrip, lines))


def _text(pieces: Pieces) -> str:
    return "".join(text for text, _ in pieces)


def _check(text: str, width: int) -> None:
    known = text.translate(_NARROW)
    if len(text) > width or not known.isprintable() or max(known, default="") >= "\u0300":
        raise _NotPlainError


def _table(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The first column to the left, the others to the right, a line below the headings."""
    if not rows:
        raise _NotPlainError
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    ruled = sum(each + 3 for each in widths) - 1
    yield ""
    for place, cells in enumerate(rows):
        for cell in cells:
            _check(cell, width)
        first, *others = [
            f"{cell:>{size}}" if number else f"{cell:<{size}}"
            for number, (cell, size) in enumerate(zip(cells, widths, strict=True))
        ]
        yield "  " + "   ".join([first, *others])
        if place == 0:
            yield " " + "─" * ruled
    if ruled + 2 > width:
        raise _NotPlainError
    yield ""


def _grid(rows: Sequence[tuple[str, Pieces]], width: int) -> Iterator[str]:
    """Labels with texts next to them; words that do not fit go to further lines."""
    indent = max(len(label) for label, _ in rows) + 2
    for label, pieces in rows:
        lead, line = label, ""
        text = _text(pieces)
        if "  " in text or text != text.strip():  # rich leaves out some spaces at line breaks
            raise _NotPlainError
        for word in text.split(" "):
            _check(word, width - indent)
            if line and len(line) + 1 + len(word) > width - indent:
                yield f"{lead:<{indent}}{line}"
                lead, line = "", word
            else:
                line = f"{line} {word}" if line else word
        yield f"{lead:<{indent}}{line}"
