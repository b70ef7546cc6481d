"""Blocks as Markdown, for pull requests and files, and as HTML, for notebooks. No text of others becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from benchwright.core import printable, redact
from benchwright.reports.blocks import Block, Cell, Divider, Fitting, Grid, Lines, Pieces, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@!&$])")


def plain_markdown(text: str) -> str:
    r"""Escape foreign text for Markdown: no markup, no line break, no mention of users.

    >>> plain_markdown("a|b\n<b>@you</b>")
    'a\\|b \\<b\\>\\@you\\</b\\>'
    """
    return _SPECIAL.sub(r"\\\1", " ".join(printable(redact(text)).split()))


def markdown(blocks: Iterable[Block]) -> str:
    """Blocks as Markdown, with an empty line between them. Lines are a list; empty ones are left out."""
    written = ("".join(f"{line}\n" for line in _markdown_lines(block)) for block in blocks)
    return "\n".join(filter(None, written))


def _markdown_lines(block: Block) -> Iterator[str]:
    match block:
        case Fitting(tables):
            yield from _markdown_lines(tables[0])
        case Table(headings, rows):
            yield _pipes(heading.text for heading in headings)
            yield "|" + "---|" * len(headings)
            for row in rows:
                yield _pipes(map(_text, row))
        case Grid(rows=labels):
            for label, pieces in labels:
                yield f"* {plain_markdown(label)}: {plain_markdown(_words(pieces))}"
        case Divider(heading):
            yield f"### {plain_markdown(heading)}"
        case Lines(lines):
            for pieces in filter(lambda pieces: _words(pieces).strip(), lines):
                yield f"* {plain_markdown(_words(pieces))}"


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(plain_markdown, cells))} |"


def html(blocks: Iterable[Block]) -> str:
    """Blocks as a piece of HTML without styles. Empty lines are left out."""
    return "\n".join(filter(None, map(_html, blocks)))


def _html(block: Block) -> str:
    match block:
        case Fitting(tables):
            return _html(tables[0])
        case Table(headings, rows):
            head = "".join(f"<th>{_escaped(heading.text)}</th>" for heading in headings)
            body = "\n".join("".join(f"<td>{_styled(cell)}</td>" for cell in row) for row in rows)
            return _table("\n".join([head, *body.split("\n")] if body else [head]))
        case Grid(rows=labels):
            return _table(
                "\n".join(
                    f"<td>{_escaped(label)}</td><td>{''.join(map(_styled, pieces))}</td>"
                    for label, pieces in labels
                )
            )
        case Divider(heading):
            return f"<h4>{_escaped(heading)}</h4>"
        case Lines(lines):
            shown = ["".join(map(_styled, pieces)) for pieces in lines if _words(pieces).strip()]
            return f"<p>{'<br>'.join(shown)}</p>" if shown else ""


def _table(rows: str) -> str:
    return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in rows.split("\n")) + "</table>"


def _styled(cell: Cell) -> str:
    text, style = (cell, "") if isinstance(cell, str) else cell
    shown = _escaped(text)
    return f"<b>{shown}</b>" if "bold" in style and text else shown


def _escaped(text: str) -> str:
    return escape(printable(text)).replace("\n", "<br>")


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def _words(pieces: Pieces) -> str:
    return "".join(text for text, _ in pieces)
