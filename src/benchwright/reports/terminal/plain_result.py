"""The result of a run as plain text, for logs and pipes: the same lines as on a terminal, without colours and without rich,
which takes a sixth of a short run to load.

Whatever is not surely plain is left to it: a line that does not fit, a character that may be wide. So what is allowed here
may be too narrow, but never too wide: `tests/reports/test_terminal_views.py` compares both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.reports.terminal.result import Pieces, result_parts
from benchwright.reports.views.benchmarks import ResultView

_NARROW = str.maketrans(dict.fromkeys("–—…×·≤≥", "-"))
"""Characters of our own texts that take one column, as all of the Latin ones do."""


class _NotPlainError(Exception):
    """Something that the library must draw."""


def plain_result(view: ResultView, width: int) -> str | None:
    """The lines of `result_table` in so many columns; None if the library has to draw them."""
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
    """Labels, and next to them the texts, whose words go to further lines if there is no room."""
    indent = max(len(label) for label, _ in rows) + 2
    for label, pieces in rows:
        lead, line = label, ""
        text = _text(pieces)
        if "  " in text or text != text.strip():  # where a line breaks, rich leaves some of them out
            raise _NotPlainError
        for word in text.split(" "):
            _check(word, width - indent)
            if line and len(line) + 1 + len(word) > width - indent:
                yield f"{lead:<{indent}}{line}"
                lead, line = "", word
            else:
                line = f"{line} {word}" if line else word
        yield f"{lead:<{indent}}{line}"
