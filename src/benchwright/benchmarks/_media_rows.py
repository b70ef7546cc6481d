"""Finds the images, video and audio of a row, and checks whether they can be used.

Only names, sizes and first bytes are examined; nothing here reads a whole file.
"""

from __future__ import annotations

import base64
import stat
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.benchmarks._media_formats import (
    HEAD_BYTES,
    MEDIA_KINDS,
    TAIL_BYTES,
    MediaFormat,
    MediaKind,
    cut_short,
    format_by_name,
    known_other,
    sniff_media,
)
from benchwright.core import DatasetError, Row, load_json, suggest
from benchwright.datasets import local_path, scheme_of

_KINDS = ", ".join(MEDIA_KINDS)


class MediaError(DatasetError):
    """A problem with the media of a row; the text has the cure.

    A message that takes work, such as a search for similar names, is built when it is read.
    """

    def __init__(self, field: str, reason: str | Callable[[], str]) -> None:
        super().__init__("" if callable(reason) else reason)
        self.field = field
        """The field at fault: `type`, `path` or `media`."""
        self._reason = reason

    def __str__(self) -> str:
        return self._reason() if callable(self._reason) else self._reason


class MediaItem(Struct, frozen=True):
    """One image, video or sound that a row names."""

    kind: MediaKind
    """The kind that the row gives."""
    written: str
    """Path or address as written in the row."""
    field: str
    """The field that names it."""
    path: Path | None
    """The file on this machine, absolute; None for an address."""


def media_of(row: Row, base_dir: Path) -> tuple[MediaItem, ...]:
    """The media of a row, in their order; empty for a row of text only.

    A row has `type` (image, video or audio) with `path` (one or a list), or `media`, a list of objects with these two.
    Paths are relative to `base_dir`, absolute, or `file://`; `http://`, `https://` and `data:` are addresses. In CSV a
    list is written as JSON. Columns with these names but another meaning are ignored: `path` counts if `type` is a kind
    of media, or if the path ends like one. Raises MediaError.
    """
    media = row.get("media")
    kind, path = _lowered(row.get("type")), row.get("path")
    listed = _list_in(media)
    if listed is None and isinstance(media, str) and format_by_name(media) is not None:
        raise MediaError(
            "media",
            f'"media" is the text {media!r}; write [{{"type": "image", "path": {media!r}}}], or "type" and "path"',
        )
    single = not _blank(path) and (kind in MEDIA_KINDS or looks_like_media(path))
    if listed and single:
        raise MediaError("media", 'the row has "media" and "path" as well; name each file once, in "media"')
    if listed:
        return tuple(item for number, entry in enumerate(listed) for item in _entry(entry, number, base_dir))
    if not single:
        if kind in MEDIA_KINDS and _blank(path) and _blank(media):
            state = "is empty" if "path" in row else "is missing"
            raise MediaError(
                "path",
                f'"type" is {kind}, and "path" {state}; name the file, empty both, or rename the column',
            )
        return ()
    return _items(kind, path, "type", "path", base_dir)


def looks_like_media(path: Any) -> bool:
    """Whether a value is a data URL or a name that ends like an image, a video or a sound, or a list of them."""
    one = (_list_in(path) or [None])[0] if _list_in(path) is not None else path
    if not isinstance(one, str):
        return False
    return is_data_url(one) or format_by_name(one.split("?", 1)[0].strip()) is not None


def names_media(columns: frozenset[str] | set[str]) -> bool:
    """Whether rows with these columns may have media."""
    return "media" in columns or {"type", "path"} <= columns


def look_at_media(item: MediaItem, *, max_bytes: int | None, whole: bool = False) -> tuple[MediaFormat, bool]:
    """Examine the size and the first bytes of a local file: its format, and whether it ends before its format says it does.

    `max_bytes` is the largest allowed size; None for any. `whole` also checks whether the file was cut short. Raises
    MediaError for a file that is missing, empty, not a file, unreadable, too large, of no known format, or of another
    kind than the row gives.
    """
    assert item.path is not None
    shown = f'"{item.written}"'
    try:
        found = item.path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise MediaError(item.field, f"{shown} is a folder; name the file in it")
        if not stat.S_ISREG(found.st_mode):
            raise MediaError(item.field, f"{shown} is not a plain file")
        if not found.st_size:
            raise MediaError(item.field, f"{shown} is empty (0 bytes); copy or download it again")
        with item.path.open("rb", buffering=0) as raw:
            head = raw.read(HEAD_BYTES)
            tail = _tail(raw, found.st_size) if whole else b""
    except (FileNotFoundError, NotADirectoryError):
        path = item.path
        raise MediaError(item.field, lambda: _not_there(item, path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MediaError(item.field, f"{shown} cannot be read: {reason}") from None
    if max_bytes is not None and found.st_size > max_bytes:
        raise MediaError(item.field, f"{shown} {too_large(found.st_size, max_bytes)}")
    format = checked_format(item, head, item.path.name)
    return format, whole and cut_short(format, head, tail, found.st_size)


def checked_format(item: MediaItem, head: bytes, name: str) -> MediaFormat:
    """The format of what begins with these bytes and has this name, if it is of the kind that the row gives."""
    shown = f'"{item.written}"' if len(item.written) <= 200 else f"the {item.written[:20]}… address"
    other = known_other(head)
    if other is not None:
        raise MediaError(item.field, f"{shown} is {other}")
    # By the content, because a name or a link may be wrong.
    format = sniff_media(head)
    if format is None:
        raise MediaError(
            item.field,
            f"{shown} is no {item.kind}: its first bytes tell no known format, whatever its name says",
        )
    if item.kind not in format.mimes:
        kinds = " or ".join(format.mimes)
        raise MediaError(
            item.field, f"{shown} is {format.title}, and the row gives {item.kind}; write the type {kinds}"
        )
    return format


def is_data_url(written: str) -> bool:
    """Whether an address contains the file itself."""
    return written[:5].lower() == "data:"


def check_data_url(item: MediaItem, *, max_bytes: int) -> tuple[MediaFormat, str]:
    """Format and MIME type of a file that the row contains as `data:image/png;base64,…`. Raises MediaError."""
    head, comma, text = item.written.partition(",")
    mime, *parameters = head[5:].split(";")
    if not comma or "base64" not in parameters or not mime:
        raise MediaError(
            item.field, f'"{head[:60]}…" is not a data address; expected data:image/png;base64,…'
        )
    size = len(text) * 3 // 4
    if not size:
        raise MediaError(item.field, f'"{head[:60]}," has nothing after the comma')
    if size > max_bytes:
        raise MediaError(item.field, f"the data address {too_large(size, max_bytes)}")
    start = text[: HEAD_BYTES // 3 * 4]
    try:
        first = base64.b64decode(start[: len(start) // 4 * 4], validate=True)
    except ValueError:
        raise MediaError(item.field, f'"{head[:60]},…" contains what is not base64') from None
    format = checked_format(item, first, f"x.{mime.rpartition('/')[2]}")
    return format, mime


def _tail(raw: FileIO, size: int) -> bytes:
    raw.seek(max(0, size - TAIL_BYTES))
    return raw.read(TAIL_BYTES) or b""


def too_large(size: int, most: int) -> str:
    """The message for a file that is too large for a request, with the cures."""
    return (
        f"has {size / 1e6:.1f} MB, more than the {most / 1e6:g} MB that a request may carry; make it smaller, raise "
        "--max-media-mb, or let the server fetch it: --media path (a server on this machine) or url"
    )


def _entry(entry: Any, number: int, base_dir: Path) -> tuple[MediaItem, ...]:
    where = f"media[{number}]"
    if not isinstance(entry, dict):
        raise MediaError(
            "media",
            f'{where} is {_kind(entry)}; expected an object such as {{"type": "image", "path": "a.png"}}',
        )
    unknown = [key for key in entry if key not in ("type", "path")]
    if unknown:
        near = suggest(str(unknown[0]), ("type", "path"))
        raise MediaError(
            "media", f'{where} has "{unknown[0]}", which has no effect; known: type, path.{near}'
        )
    if _blank(entry.get("path")):
        raise MediaError("media", f'{where} has no "path"; name the file or its address')
    return _items(
        _lowered(entry.get("type")), entry["path"], f"{where}.type", f"{where}.path", base_dir, "media"
    )


def _items(
    kind: Any, path: Any, kind_name: str, path_name: str, base_dir: Path, field: str | None = None
) -> tuple[MediaItem, ...]:
    if kind not in MEDIA_KINDS:
        found = "is missing" if _blank(kind) else f"is {_kind(kind)}"
        near = suggest(kind, MEDIA_KINDS) if isinstance(kind, str) else ""
        raise MediaError(
            field or "type",
            f'"{kind_name}" {found}; expected one of {_KINDS}, for "{path_name}" names a file (rename the column if it is not to be shown).{near}',
        )
    listed = _list_in(path)
    written = [path] if listed is None else listed
    if not written:
        raise MediaError(field or "path", f'"{path_name}" is an empty list; name the files, or leave it out')
    items = []
    for number, one in enumerate(written):
        if not isinstance(one, str) or not one.strip():
            where = path_name if listed is None else f"{path_name}[{number}]"
            raise MediaError(field or "path", f'"{where}" is {_kind(one)}; expected the path of a file')
        items.append(_item(kind, one, field or "path", base_dir))
    return tuple(items)


def _item(kind: MediaKind, written: str, field: str, base_dir: Path) -> MediaItem:
    written = written.strip()
    local = not is_data_url(written) and scheme_of(written) in (None, "file")
    try:
        return MediaItem(kind, written, field, local_path(written, base_dir) if local else None)
    except DatasetError as error:
        raise MediaError(field, str(error)) from None


def _list_in(value: Any) -> list[Any] | None:
    """A list, or a list that a text cell contains as JSON."""
    if isinstance(value, list):
        return value
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            parsed = load_json(value)
        except ValueError:
            return None
        return parsed if isinstance(parsed, list) else None
    return None


def _lowered(kind: Any) -> Any:
    return kind.strip().lower() if isinstance(kind, str) else kind


def _blank(value: Any) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def _not_there(item: MediaItem, path: Path) -> str:
    text = f'"{item.written}": there is no such file'
    relative = str(path) != item.written
    text += f" ({path}; relative paths start at the folder of the data)" if relative else ""
    folder = path.parent
    if not folder.is_dir():
        return f"{text}; there is no folder {folder}"
    here = Path.cwd() / item.written
    if relative and here != path and scheme_of(item.written) is None and here.is_file():
        return f"{text}; there is one in the current folder: move it, or write {here}"
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        names = []
    return f"{text}.{suggest(path.name, names)}" if suggest(path.name, names) else text
