"""Remove known secrets from texts and records, in any of their spellings."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

import orjson
from msgspec import Struct

from benchwright.core._json import exact_json, load_exact_json
from benchwright.core._late_patterns import late_pattern

REDACTED = "[redacted]"
"""The text that replaces a secret."""
SHORTEST_SECRET = 8
"""Shorter values (`EMPTY`, `none`) also occur in ordinary answers, so they are removed from messages only."""

_LETTERS = bytes(c + 32 if 65 <= c <= 90 else c for c in range(256))
_OTHERS = bytes(c for c in range(256) if not (48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122))
_ESCAPE = late_pattern(r"\\(?:u00|x)([0-9a-fA-F]{2})")
_FIELD = late_pattern("[a-z_]{1,24}")
_MOST_DECODINGS = 3


class Redactor:
    """Removes a set of secrets from texts, in every form in which they may be written."""

    __slots__ = ("_escaped", "_exact", "_needles", "_pieces", "_short", "guards")

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({s for s in secrets if s}, key=len, reverse=True)
        self._short = [re.compile(rf"(?<!\w){re.escape(s)}(?!\w)") for s in known if len(s) < SHORTEST_SECRET]
        self._needles: list[bytes] = []
        self._escaped: list[bytes] = []
        self._exact: dict[str, None] = {}
        self._pieces: list[_Piece] = []
        for secret in known:
            if len(secret) >= SHORTEST_SECRET:
                self._learn(secret)
        self.guards = bool(self._pieces)
        """Whether there is anything to look for in records."""

    def _learn(self, secret: str) -> None:
        plain = _squeezed(secret.encode())
        ends = _ends(secret)
        if len(plain) < SHORTEST_SECRET:  # almost only punctuation: searched for as it is
            self._exact.update(dict.fromkeys(_quoted(secret)))
        else:
            last = len(plain) - SHORTEST_SECRET
            # A secret that a server cut short or broke in two still shows its beginning or its end.
            self._look_for(self._needles, plain[:SHORTEST_SECRET])
            self._look_for(self._needles, plain[last:])
            for start in (*range(0, last, SHORTEST_SECRET), last):
                piece = plain[start : start + SHORTEST_SECRET].decode()
                self._pieces.append(_Piece(piece, plain.decode(), start, *ends))
        for form, escaped in _spellings(secret):
            if len(form) >= SHORTEST_SECRET:
                head, tail = form[: 2 * SHORTEST_SECRET], form[-2 * SHORTEST_SECRET :]
                self._look_for(self._escaped if escaped else self._needles, head)
                self._pieces.append(_Piece(head.decode(), form.decode(), 0, *ends))
                self._pieces.append(_Piece(tail.decode(), form.decode(), len(form) - len(tail), *ends))

    def _look_for(self, needles: list[bytes], form: bytes) -> None:
        """Add a text to search for. One that contains another is not needed, and fewer texts are faster to search."""
        if not any(known in form for known in (*self._needles, *needles)):
            needles.append(form)

    def found_in(self, data: bytes) -> bool:
        """Whether records may contain a secret. This must be fast, because it checks every record."""
        squeezed = data.translate(_LETTERS, _OTHERS)
        for needle in self._needles:  # a generator in `any` costs more than most of the searches
            if needle in squeezed:
                return True
        if self._escaped and _may_hold_escapes(data):
            for needle in self._escaped:
                if needle in squeezed:
                    return True
        return bool(self._exact) and any(form.encode() in data for form in self._exact)

    def clean(self, text: str) -> str:
        """Remove secrets, and long parts of them, from a message. Clean before you cut: a secret that was cut to fewer
        than eight characters can no longer be told from other words."""
        text = self.clean_record(text)
        for short in self._short:
            text = short.sub(REDACTED, text)
        return text

    def clean_record(self, text: str) -> str:
        """Remove secrets from a text that is stored. Values of fewer than eight characters stay."""
        if not self.guards:
            return text
        decoded = text = self._without(text)
        for _ in range(_MOST_DECODINGS):
            before, decoded = decoded, _decoded(decoded)
            if decoded == before:
                break
            found = self._without(decoded)
            if found != decoded:
                return found
        return text

    def clean_json(self, data: bytes, keep: Iterable[str] = ()) -> bytes:
        """Remove secrets from encoded JSON; return the same object if there are none. Texts under the keys `keep` are
        written by benchwright, such as a status, and stay."""
        if not self.guards or not self.found_in(data):
            return data
        try:
            value = load_exact_json(data)
        except ValueError:
            return self.clean_record(data.decode("utf-8", "replace")).encode()
        cleaned = self.clean_value(value)
        if isinstance(value, dict):
            cleaned.update({name: value[name] for name in keep if isinstance(value.get(name), str)})
        return data if cleaned == value else exact_json(cleaned)

    def clean_packed(self, data: bytes) -> bytes:
        """Remove secrets from a list in MessagePack. Plain words in it are names that benchwright wrote, and stay."""
        if not self.found_in(data):
            return data
        from msgspec import msgpack

        entries = [
            self._clean_name(entry) if isinstance(entry, str) else self.clean_value(entry)
            for entry in msgpack.decode(data)
        ]
        return msgpack.encode(entries)

    def clean_value(self, value: Any) -> Any:
        """Remove secrets from a JSON value, its keys included."""
        if isinstance(value, str):
            return self.clean_record(value)
        if isinstance(value, dict):
            return {self._clean_name(name): self.clean_value(entry) for name, entry in value.items()}
        if isinstance(value, (list, tuple)):
            entries = [self.clean_value(entry) for entry in value]
            texts = [entry for entry in value if isinstance(entry, str)]
            if len(texts) > 1 and entries == list(value):
                joined = "".join(texts)  # tokens of one text, each too short to recognise a secret in
                if self.clean_record(joined) != joined:
                    return [REDACTED if isinstance(entry, str) else entry for entry in value]
            return entries
        return value

    def _clean_name(self, name: str) -> str:
        """Remove secrets from a key; names of fields stay, even if such a word is also an API key."""
        return name if _FIELD.fullmatch(name) else self.clean_record(name)

    def _without(self, text: str) -> str:
        for form in self._exact:
            text = text.replace(form, REDACTED)
        places = [at for at, c in enumerate(text) if c.isascii() and c.isalnum()]
        squeezed = "".join([text[at] for at in places]).lower()
        spans = []
        for piece in self._pieces:
            at = squeezed.find(piece.text)
            while at >= 0:
                first, last = piece.widened(squeezed, at)
                spans.append(piece.with_ends(text, places[first], places[last - 1] + 1))
                at = squeezed.find(piece.text, at + 1)
        if not spans:
            return text
        pieces, after = [], 0
        for start, end in sorted(spans):  # one may reach into another
            if start >= after:
                pieces += [text[after:start], REDACTED]
            after = max(after, end)
        return "".join([*pieces, text[after:]])


class _Piece(Struct, frozen=True):
    """A part of one form of a secret, squeezed. If the part is found, the secret is there in that form."""

    text: str
    whole: str
    offset: int
    before: str
    after: str

    def widened(self, squeezed: str, at: int) -> tuple[int, int]:
        """Return where the secret around the part starts and ends in the squeezed text."""
        whole, offset = self.whole, self.offset
        first, last = at, at + len(self.text)
        while first > 0 and at - first < offset and squeezed[first - 1] == whole[offset - (at - first) - 1]:
            first -= 1
        while last < len(squeezed) and (into := offset + last - at) < len(whole):
            if squeezed[last] != whole[into]:
                break
            last += 1
        return first, last

    def with_ends(self, text: str, start: int, end: int) -> tuple[int, int]:
        """Return the place in the text, widened by the punctuation that the secret begins and ends with."""
        while start > 0 and text[start - 1] in self.before:
            start -= 1
        while end < len(text) and text[end] in self.after:
            end += 1
        return start, end


def _ends(secret: str) -> tuple[str, str]:
    """Return the punctuation before a secret's first letter or digit and after its last one."""
    inner = [at for at, c in enumerate(secret) if c.isascii() and c.isalnum()]
    return (secret[: inner[0]], secret[inner[-1] + 1 :]) if inner else ("", "")


def _squeezed(data: bytes) -> bytes:
    """Keep only letters and digits, in lower case, so that line breaks, escaped slashes, quotes and case do not matter."""
    return data.translate(_LETTERS, _OTHERS)


def _may_hold_escapes(data: bytes) -> bool:
    """Whether letters may be written as escapes of JSON, Python, HTML or URLs. A single character is searched for first,
    which takes a hundredth of the time."""
    return (
        (b"\\" in data and (b"\\u00" in data or b"\\x" in data))
        or (b"&" in data and b"&#" in data)
        or (b"%" in data and b"%u00" in data)
    )


def _spellings(secret: str) -> Iterator[tuple[bytes, bool]]:
    """Yield the squeezed forms in which a secret may be written (hexadecimal, URLs, HTML, base64 at any offset, JSON), and
    whether a form uses only escapes that can be searched for quickly."""
    import html  # 1.5 ms

    raw = secret.encode()
    yield _squeezed(raw.hex().encode()), False  # also a URL in which every character is quoted
    for text in (quote(secret), quote(secret, safe=""), quote_plus(secret), html.escape(secret)):
        yield _squeezed(text.encode()), False
    for offset in range(3):
        # Without the characters that neighbouring bytes contribute to.
        skipped, kept = (0, 2, 3)[offset], (offset + len(raw)) * 8 // 6
        yield _squeezed(base64.b64encode(b"\0" * offset + raw)[skipped:kept]), False
    for form in ("\\u{:04x}", "&#{};", "\\x{:02x}"):  # squeezed, the last equals a hexadecimal HTML entity
        yield _squeezed("".join(form.format(ord(c)) for c in secret).encode()), True
        yield (
            _squeezed("".join(c if c.isalnum() else form.format(ord(c)) for c in secret).encode()),
            True,
        )


def _decoded(text: str) -> str:
    """Resolve the escapes of URLs, JSON and HTML in a text."""
    if "%" in text:
        text = unquote_plus(text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text).replace("\\/", "/")
    if "&" in text:
        import html

        text = html.unescape(text)
    return text


def _quoted(secret: str) -> list[str]:
    import html

    plain = orjson.dumps(secret)[1:-1].decode()
    forms = [secret, plain, plain.replace("/", "\\/"), quote(secret), quote(secret, safe="")]
    return [*forms, html.escape(secret), repr(secret)[1:-1]]
