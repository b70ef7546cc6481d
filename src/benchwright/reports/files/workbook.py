"""A table as a workbook (.xlsx) of one sheet, written row by row with the standard library alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MOST_ROWS = 1_048_576
"""Rows that a sheet can have."""

MOST_CHARS = 32_767
"""Characters that a cell can hold."""

_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/xl/workbook.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>\
<Override PartName="/xl/worksheets/sheet1.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"""
_RELATION = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" \
Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/></Relationships>"""
_BOOK = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" \
xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>\
<sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>"""
_SHEET = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>"""
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_workbook(path: Path, rows: Iterable[list[Any]], sheet: str = "samples") -> tuple[int, int]:
    """Write rows of texts, numbers and truth values; returns how many rows, and how many cells had to be cut, which then
    say so. Texts stay texts: none is taken for a formula. Raises ValueError for more rows than a sheet can have."""
    import zipfile

    written = cut = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("[Content_Types].xml", _TYPES)
        parts.writestr("_rels/.rels", _RELATION.format(kind="officeDocument", target="xl/workbook.xml"))
        parts.writestr("xl/workbook.xml", _BOOK.format(name=_escaped(sheet)))
        parts.writestr(
            "xl/_rels/workbook.xml.rels", _RELATION.format(kind="worksheet", target="worksheets/sheet1.xml")
        )
        with parts.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as out:
            out.write(_SHEET.encode())
            for row in rows:
                if written == MOST_ROWS:
                    raise ValueError(f"a sheet has at most {MOST_ROWS:,} rows")
                written += 1
                cut += sum(isinstance(value, str) and len(value) > MOST_CHARS for value in row)
                out.write(f"<row>{''.join(map(_cell, row))}</row>".encode())
            out.write(b"</sheetData></worksheet>")
    return written, cut


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and math.isfinite(value):
        return f"<c><v>{value!r}</v></c>"
    text = _NO_XML.sub("", str(value))
    if len(text) > MOST_CHARS:
        left = f" … [{len(text) - MOST_CHARS + 100:,} characters left out]"
        text = text[: MOST_CHARS - 100] + left
    return f'<c t="inlineStr"><is><t xml:space="preserve">{_escaped(text)}</t></is></c>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
