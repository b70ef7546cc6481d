"""From the media of a row to content parts of a chat message, and what is recorded of them.

A part contains the file itself, its path, or its address. Files are read and encoded once, and kept by content
within a budget. Records contain the hash of a file instead, so the store does not grow with the files, and a reply is
never mistaken for that of another picture.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from benchwright.benchmarks._media_rows import (
    MediaError,
    MediaItem,
    check_data_url,
    is_data_url,
    look_at_media,
    media_of,
)
from benchwright.benchmarks._spec import BenchmarkSpec, MediaPart
from benchwright.core import JsonObject, MissingFieldError, ModelType, Row

if TYPE_CHECKING:
    from benchwright.benchmarks._questions.options import AudioStyle, MediaForm

BUDGET_BYTES = 256_000_000
"""Maximum size of the encoded files kept in memory."""

_KNOWN_FILES = 65_536
"""Number of files whose hash is remembered, at about 300 bytes each. Beyond it, all are forgotten and hashed again."""

_Place: TypeAlias = tuple[int, int, int, int]


class MediaFiles:
    """Encodes files. May be used from several threads.

    A file that did not change (by device, inode, size and time of change) is not read again, and files of equal
    content share one encoded form. The least recently used go first when the budget is full; a file larger than
    the budget is encoded each time.
    """

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._size = 0
        self._hashes: dict[_Place, str] = {}
        self._lock = Lock()
        self.reads = 0
        """How often a file was read completely."""

    @property
    def kept_bytes(self) -> int:
        """Current size of the encoded files."""
        return self._size

    def encoded(self, path: Path, prefix: str) -> tuple[str, str, int]:
        """The file as base64 after `prefix`, the SHA-256 of its bytes in hexadecimal digits, and its size in bytes. OSError for a file that cannot be read."""
        place, size = _place(path)
        with self._lock:
            known = self._hashes.get(place)
            text = None if known is None else self._kept.get((known, prefix))
            if known is not None and text is not None:
                self._kept.move_to_end((known, prefix))
                return text, known, size
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        text = prefix + base64.b64encode(content).decode("ascii")
        with self._lock:
            self.reads += 1
            self._remember(place, digest)
            text = self._keep((digest, prefix), text)
        return text, digest, len(content)

    def fingerprint(self, path: Path) -> tuple[str, int]:
        """SHA-256 and size of a file whose content is not sent. OSError if it cannot be read."""
        place, size = _place(path)
        with self._lock:
            known = self._hashes.get(place)
        if known is not None:
            return known, size
        with path.open("rb") as raw:
            digest = hashlib.file_digest(raw, "sha256").hexdigest()
        with self._lock:
            self.reads += 1
            self._remember(place, digest)
        return digest, size

    def _remember(self, place: _Place, digest: str) -> None:
        if len(self._hashes) >= _KNOWN_FILES:
            self._hashes.clear()
        self._hashes[place] = digest

    def _keep(self, key: tuple[str, str], text: str) -> str:
        there = self._kept.get(key)
        if there is not None:  # same content under another name, or another thread was faster
            self._kept.move_to_end(key)
            return there
        if len(text) <= self._budget:
            self._kept[key] = text
            self._size += len(text)
            while self._size > self._budget:
                _, dropped = self._kept.popitem(last=False)
                self._size -= len(dropped)
        return text


def _place(path: Path) -> tuple[_Place, int]:
    found = path.stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns), found.st_size


_CHECKED = 65_536
"""Number of files whose result a check remembers, because many rows may show the same picture."""


def media_notes(spec: BenchmarkSpec) -> list[str]:
    """Warnings about files that end too early, as after a broken download, or are links out of the dataset's folder, whose
    content is sent. Known, like `media_problem`, after the scan of the rows."""
    if spec.media is None:
        return []
    notes = []
    if cut := spec.media.cut:
        many = "s end" if len(cut) > 1 else " ends"
        notes.append(f"{len(cut)} media file{many} too early ({_first(cut)}); copy or download again")
    if linked := spec.media.linked:
        many = "s are links" if len(linked) > 1 else " is a link"
        notes.append(
            f"{len(linked)} media file{many} to a file outside the dataset's folder ({_first(linked)}). That "
            "file is sent: check that this is intended"
        )
    return notes


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


def media_problem(spec: BenchmarkSpec, model_type: ModelType | None) -> str | None:
    """Why this type of model cannot take rows with media, and the cure. Known after the scan of the rows."""
    used = model_type or spec.endpoint_type
    if spec.media is None or not spec.media.seen or used == "chat":
        return None
    return (
        f"{spec.name} has rows with images, video or audio, which only the chat route takes; use --model-type chat, "
        f"not {used}"
    )


class RowMedia:
    """The media of the rows of one dataset. Called with a row, it returns the content parts in the order of the row.

    Addresses (`http://`, `https://`, `data:`) are passed on in any form. May be called from several threads.
    """

    def __init__(
        self,
        base_dir: Path,
        *,
        form: MediaForm = "base64",
        audio_style: AudioStyle = "audio_url",
        max_mb: float = 20.0,
        files: MediaFiles | None = None,
    ) -> None:
        self._base = base_dir
        self._form = form
        self._audio_style = audio_style
        self._most = int(max_mb * 1_000_000)
        self._files = files or MediaFiles()
        self._verdicts: dict[tuple[str, str], tuple[str, Callable[[], str]] | None] = {}
        self.seen = False
        """Whether any checked row has media."""
        self.cut: list[str] = []
        """Files of checked rows that are truncated."""
        self.linked: list[str] = []
        """Files of checked rows that are links to files outside the dataset's folder, with their targets."""
        self._real_base = os.path.realpath(base_dir)

    def __call__(self, row: Row) -> tuple[MediaPart, ...]:
        """The parts that come before the text. Raises MissingFieldError for a file that cannot be sent."""
        try:
            return tuple(self._part(item) for item in media_of(row, self._base))
        except MediaError as error:
            raise MissingFieldError(error.field, reason=error.__str__) from None

    def names(self, row: Row) -> tuple[str, ...]:
        """Kind and path of each file, as the row gives them."""
        return tuple(f"{item.kind} {_short(item.written)}" for item in media_of(row, self._base))

    def check(self, row: Row) -> None:
        """Check by size and first bytes whether the row's files can be sent. Raises MissingFieldError."""
        try:
            for item in media_of(row, self._base):
                self.seen = True
                self._check(item)
        except MediaError as error:
            self.seen = True
            raise MissingFieldError(error.field, reason=error.__str__) from None

    def _check(self, item: MediaItem) -> None:
        if is_data_url(item.written):  # megabytes that should not stay in memory
            self._look_at(item)
            return
        key = (item.written, item.kind)
        if key not in self._verdicts:
            if len(self._verdicts) >= _CHECKED:
                self._verdicts.clear()
            try:
                self._look_at(item)
            except MediaError as error:
                self._verdicts[key] = error.field, error.__str__
            else:
                self._verdicts[key] = None
        verdict = self._verdicts[key]
        if verdict is not None:
            raise MediaError(*verdict)

    def _inside(self, item: MediaItem) -> bool:
        """Whether the request contains the file itself: `input_audio` cannot take a path."""
        return self._form == "base64" or (item.kind == "audio" and self._audio_style == "input_audio")

    def _look_at(self, item: MediaItem) -> None:
        if is_data_url(item.written):
            check_data_url(item, max_bytes=self._most)
        elif item.path is None or (self._form == "url" and item.written.lower().startswith("file://")):
            self._check_address(item)
        elif self._form == "url":
            raise MediaError(
                item.field,
                f'"{item.written}" is a file of this machine, and --media url sends addresses as written; write '
                "its http:// address, or use --media base64 or path",
            )
        else:
            _, cut = look_at_media(item, max_bytes=self._most if self._inside(item) else None, whole=True)
            if cut and item.written not in self.cut:
                self.cut.append(item.written)
            if (target := self._beyond(item.path)) and (
                link := f"{item.written} → {target}"
            ) not in self.linked:
                self.linked.append(link)

    def _beyond(self, path: Path) -> Path | None:
        """The target of a link that leads out of the dataset's folder; None if the file is in the folder.

        Files of the hub's cache are links to its `blobs`.
        """
        real = Path(os.path.realpath(path))
        written = Path(os.path.abspath(path))
        inside = any(written.is_relative_to(base) for base in (self._real_base, os.path.abspath(self._base)))
        if not inside or real.is_relative_to(self._real_base):
            return None
        in_hub = real.parent.name == "blobs" and Path(self._real_base).is_relative_to(real.parent.parent)
        return None if in_hub else real

    def _check_address(self, item: MediaItem) -> None:
        scheme, _, rest = item.written.partition("://")
        if scheme.lower() not in ("http", "https", "file") and self._form != "url":
            raise MediaError(
                item.field,
                f'"{item.written}" is neither a path nor an address that servers are known to fetch (http://, '
                "https://, data:); to send it as written: --media url",
            )
        if not rest:
            raise MediaError(item.field, f'"{item.written}" has nothing after "://"')
        if item.kind == "audio" and self._audio_style == "input_audio":
            raise MediaError(
                item.field,
                f'"{item.written}" is an address, and input_audio carries data only; use a local file, or '
                "--audio-style audio_url",
            )

    def _part(self, item: MediaItem) -> MediaPart:
        if is_data_url(item.written):
            return self._data_part(item)
        if item.path is None or self._form == "url":
            self._look_at(item)
            return _same(_url_part(item, item.written))
        try:
            if not self._inside(item):
                format, _ = look_at_media(item, max_bytes=None)
                digest, size = self._files.fingerprint(item.path)
                url = item.path.as_uri()
                record = _url_part(item, f"{url} {_kept(digest, format.mimes[item.kind], size)}")
                return _url_part(item, url), record
            format, _ = look_at_media(item, max_bytes=self._most)
            mime = format.mimes[item.kind]
            audio = item.kind == "audio" and self._audio_style == "input_audio"
            prefix = "" if audio else f"data:{mime};base64,"
            text, digest, size = self._files.encoded(item.path, prefix)
        except OSError as error:
            raise MediaError(item.field, f'"{item.written}" cannot be read: {error.strerror}') from None
        kept = _kept(digest, mime, size)
        if audio:
            return _audio_part(text, format.name), _audio_part(kept, format.name)
        return _url_part(item, text), _url_part(item, kept)

    def _data_part(self, item: MediaItem) -> MediaPart:
        """An address that contains the file itself. It is sent unchanged and recorded as its hash."""
        format, mime = check_data_url(item, max_bytes=self._most)
        text = item.written.partition(",")[2]
        try:
            content = base64.b64decode(text)
        except ValueError:
            content = text.encode()
        kept = _kept(hashlib.sha256(content).hexdigest(), mime, len(content))
        if item.kind == "audio" and self._audio_style == "input_audio":
            return _audio_part(text, format.name), _audio_part(kept, format.name)
        return _url_part(item, item.written), _url_part(item, kept)


def _url_part(item: MediaItem, url: str) -> JsonObject:
    name = f"{item.kind}_url"
    return {"type": name, name: {"url": url}}


def _audio_part(data: str, format: str) -> JsonObject:
    return {"type": "input_audio", "input_audio": {"data": data, "format": format}}


def _short(written: str) -> str:
    return written if len(written) <= 200 else f"{written[:60]}… ({len(written):,} characters)"


def _same(part: JsonObject) -> MediaPart:
    return part, part


def _kept(digest: str, mime: str, size: int) -> str:
    return f"sha256:{digest} ({mime}, {size} bytes)"
