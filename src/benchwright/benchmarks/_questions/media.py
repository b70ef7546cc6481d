"""Columns such as `image`, whose cells name the files that rows show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchwright.benchmarks._questions.names import media_columns
from benchwright.core import Row, UsageError
from benchwright.datasets import looks_like_media, names_media


def columns_of_media(rows: Sequence[Row], names: Sequence[str]) -> dict[str, str]:
    """Columns such as `image` whose cells name files that can be sent, with the kind of these files.

    None where the rows name their files in `media`, or in `type` and `path`. Raises UsageError for a column that
    must hold files by its name, and whose cells cannot be sent: the model would be asked without the picture.
    """
    if names_media(set(names)):
        return {}
    found = {}
    for name, kind in media_columns(names).items():
        cells = [cell for row in rows if (cell := row.get(name)) not in (None, "", [])]
        if any(map(_can_be_sent, cells)):
            found[name] = kind
        elif cells and name.strip().casefold() != "figure":  # a figure may be a number
            raise UsageError(
                f'column "{name}" holds nothing that can be sent as {kind}: {_short(cells[0])}. Write the path of a file '
                f"(relative to the data file), a data: URL or an http:// address in each row; if the column is not part "
                "of the question, rename or remove it"
            )
    return found


def shown_by(columns: Mapping[str, str], shape: Callable[[Row], Row] | None) -> Callable[[Row], Row]:
    """What gives a row its `media` from those columns, after `shape`."""

    def with_media(row: Row) -> Row:
        media = [
            {"type": kind, "path": cell}
            for name, kind in columns.items()
            if (cell := row.get(name)) not in (None, "", [])
        ]
        shaped = row if shape is None else shape(row)
        return {**shaped, "media": media} if media else shaped

    return with_media


def _can_be_sent(cell: Any) -> bool:
    first = cell[0] if isinstance(cell, list) and cell else cell
    return looks_like_media(cell) or (
        isinstance(first, str) and first.strip().lower().startswith(("http://", "https://"))
    )


def _short(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else f"{text[:60]}…"
