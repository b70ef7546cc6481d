"""Writes workbooks that spreadsheets open: a few sheets of plain cells, streamed, without a library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from benchwright.core import Note, finite_number

MOST_ROWS = 1_048_576
"""Maximum number of rows in a sheet."""

MOST_CHARS = 32_767
"""Maximum number of characters in a cell."""

_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/xl/workbook.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>{}</Types>"""
_SHEET_TYPE = """<Override PartName="/xl/worksheets/sheet{}.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>"""
_RELATIONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>"""
_RELATION = """<Relationship Id="rId{number}" \
Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>"""
_BOOK = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" \
xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>{}</sheets></workbook>"""
_STYLES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>\
<font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill>\
<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>\
<cellXfs count="3"><xf/><xf fontId="1" applyFont="1"/><xf applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf></cellXfs>\
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"""
_BOLD, _WRAPPED = 1, 2
"""Styles of cells: those of headers, and those of long texts."""
_STYLES_TYPE = """<Override PartName="/xl/styles.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>"""
_NAMED = """<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>"""
_SHEET = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0">\
<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>\
<cols>{columns}</cols><sheetData>"""
_COLUMN = """<col min="{number}" max="{number}" width="{width}" customWidth="1"/>"""
_LOOKED = 200
"""Rows by whose texts the widths of columns are chosen."""
_NARROW, _WIDE = 8, 60
"""The least and the most characters that a column shows; longer texts are wrapped."""
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_workbook(path: Path, sheets: Mapping[str, Iterable[list[Any]]]) -> tuple[int, int]:
    """Write sheets by name, each with a bold header that stays in view, filters, and columns as wide as their texts need: rows of strings, numbers and bools. Returns the number
    of rows, and of cells that had to be cut; these are marked. No string is taken for a formula. Raises ValueError for more rows than
    a sheet can have."""
    import zipfile

    numbers = range(1, len(sheets) + 1)
    written = cut = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr(
            "[Content_Types].xml", _TYPES.format("".join([_STYLES_TYPE, *map(_SHEET_TYPE.format, numbers)]))
        )
        main = _RELATION.format(number=1, kind="officeDocument", target="xl/workbook.xml")
        parts.writestr("_rels/.rels", _RELATIONS.format(main))
        named = "".join(
            _NAMED.format(name=_escaped(name), number=at) for at, name in zip(numbers, sheets, strict=True)
        )
        parts.writestr("xl/workbook.xml", _BOOK.format(named))
        places = [
            _RELATION.format(number=at, kind="worksheet", target=f"worksheets/sheet{at}.xml")
            for at in numbers
        ]
        places.append(_RELATION.format(number=len(sheets) + 1, kind="styles", target="styles.xml"))
        parts.writestr("xl/_rels/workbook.xml.rels", _RELATIONS.format("".join(places)))
        parts.writestr("xl/styles.xml", _STYLES)
        for number, rows in zip(numbers, sheets.values(), strict=True):
            here = 0
            following = iter(rows)
            first = list(islice(following, _LOOKED))
            columns = len(first[0]) if first else 0
            with parts.open(f"xl/worksheets/sheet{number}.xml", "w", force_zip64=True) as out:
                out.write(_SHEET.format(columns=_widths(first)).encode())
                for row in chain(first, following):
                    if here == MOST_ROWS:
                        raise ValueError(f"a sheet has at most {MOST_ROWS:,} rows")
                    cut += sum(isinstance(value, str) and len(value) > MOST_CHARS for value in row)
                    style = 0 if here else _BOLD
                    out.write(f"<row>{''.join([_cell(value, style) for value in row])}</row>".encode())
                    here += 1
                out.write(
                    f'</sheetData><autoFilter ref="A1:{_column(columns)}{max(here, 1)}"/></worksheet>'.encode()
                )
            written += here
    return written, cut


def _column(number: int) -> str:
    """The letters of a column.

    >>> _column(1), _column(26), _column(28)
    ('A', 'Z', 'AB')
    """
    return "" if number < 1 else _column((number - 1) // 26) + chr(65 + (number - 1) % 26)


def _widths(rows: Sequence[Sequence[Any]]) -> str:
    """A width for each column, by the longest line in its first rows."""
    longest: list[int] = []
    for row in rows:
        for place, value in enumerate(row):
            size = 0 if value is None else max(map(len, str(value)[:2_000].splitlines()), default=0)
            longest[place : place + 1] = [max([size, *longest[place : place + 1]])]
    return "".join(
        _COLUMN.format(number=number, width=min(_WIDE, max(_NARROW, size + 2)))
        for number, size in enumerate(longest, 1)
    )


def _cell(value: Any, style: int = 0) -> str:
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if finite_number(value) is not None:
        return f"<c><v>{value!r}</v></c>"
    text = _NO_XML.sub("", str(value))
    if len(text) > MOST_CHARS:
        left = f" … [{len(text) - MOST_CHARS + 100:,} characters left out]"
        text = text[: MOST_CHARS - 100] + left
    if not style and (len(text) > _WIDE or "\n" in text):
        style = _WRAPPED
    styled = f' s="{style}"' if style else ""
    return f'<c t="inlineStr"{styled}><is><t xml:space="preserve">{_escaped(text)}</t></is></c>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def note_table(notes: Sequence[Note]) -> list[list[Any]]:
    """The sheet of notes."""
    return [["grade", "note"], *([note.grade, note.text] for note in notes)]
