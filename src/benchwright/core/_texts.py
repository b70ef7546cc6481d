"""Names that users type: normalisation and suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from benchwright.core._secrets import redact

_NOT_ALLOWED = re.compile(r"[^a-z0-9]+")


def normalise_name(name: str) -> str:
    """Lower-case; everything but a-z0-9 becomes `_`; runs collapse; ends stripped; cut to 50.

    >>> normalise_name("My QA Benchmark!")
    'my_qa_benchmark'
    """
    return _NOT_ALLOWED.sub("_", name.lower()).strip("_")[:50]


def suggest(name: str, known: Iterable[str]) -> str:
    """` Did you mean …?` for the nearest known name, or an empty text when none is near."""
    from difflib import get_close_matches  # only on the way to an error

    near = get_close_matches(name, list(known), n=3, cutoff=0.6)
    if not near:
        return ""
    return " Did you mean " + " or ".join(repr(n) for n in near) + "?"


_HARMLESS = {ord("\n"), ord("\t")}
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HIDDEN = (*range(127, 160), *_BIDI, 0x2028, 0x2029, 0xFEFF, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))
_CONTROLS = {code: f"\\x{code:02x}" for code in range(32) if code not in _HARMLESS} | {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _HIDDEN
}
_IN_JSON = {
    code: f"\\u{code:04x}" if code < 65536 else f"\\udb40\\u{0xDC00 + code - 0xE0000:04x}" for code in _HIDDEN
}


def printable(text: str) -> str:
    r"""Text with control characters and marks of direction made visible: a reply must not be able to move the cursor
    or to have a line read backwards.

    >>> printable("a\x1b[2Jb\u202e")
    'a\\x1b[2Jb\\u202e'
    """
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def shown(text: str) -> str:
    """Text of anybody's as it may be printed: without secrets, and unable to take over a terminal."""
    return printable(redact(text))


def printable_json(text: str) -> str:
    r"""JSON with the same value, hidden characters as escapes.

    >>> printable_json('"\u202e"')
    '"\\u202e"'
    """
    return text if text.isascii() and "\x7f" not in text else text.translate(_IN_JSON)


def rfc3339(seconds: float) -> str:
    """A wall-clock time in UTC, with microseconds and `Z`.

    >>> rfc3339(0.5)
    '1970-01-01T00:00:00.500000Z'
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
