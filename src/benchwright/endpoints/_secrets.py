"""Keeps secrets out of everything that is recorded or shown: replies, messages, fingerprints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import orjson

from benchwright.core import ConfigError, encode_json, load_json

REDACTED = "[redacted]"
"""What stands in place of a secret."""

_SECRET_NAME = re.compile(r"auth|key|token|secret|password|cookie|signature|^sig$|^code$", re.IGNORECASE)

# A placeholder key such as EMPTY or none may occur in an honest answer, which must not be altered;
# a real key is longer.
_SHORTEST_REAL_KEY = 8

_ESCAPED = re.compile(r"\\u00([0-7][0-9a-fA-F])")


def is_secret_name(name: str) -> bool:
    """Whether a header or query parameter of this name is likely to carry a secret."""
    return _SECRET_NAME.search(name) is not None


def read_api_key(variable: str) -> str:
    """The key in an environment variable; an error naming the variable if there is none to be had."""
    value = os.environ.get(variable, "").strip()
    if not value:
        state = "is empty" if variable in os.environ else "is not set"
        raise ConfigError(
            f"the API key's environment variable {variable} {state}; nothing was sent. "
            f"Set it (export {variable}=…), or leave --api-key-name out if the server needs no key"
        )
    if not value.isascii() or not value.isprintable():
        raise ConfigError(
            f"the API key in {variable} holds a character that cannot be sent in a header; copy it again"
        )
    return value


class Redactor:
    """Replaces known secrets wherever they turn up, also when a server sends one back."""

    __slots__ = ("_byte_secrets", "_heads", "_placeholders", "guards")

    def __init__(self, secrets: Iterable[str]) -> None:
        # Longest first: one secret may contain another ("Bearer abc" and "abc").
        known = sorted({s for s in secrets if s}, key=len, reverse=True)
        real = [s for s in known if len(s) >= _SHORTEST_REAL_KEY]
        self._placeholders = [s for s in known if len(s) < _SHORTEST_REAL_KEY]
        # By its beginning, in any case: messages quote what was cut off or put into lower case.
        forms: dict[str, list[str]] = {}
        for secret in real:
            for form in _text_forms(secret):
                forms.setdefault(form[:_SHORTEST_REAL_KEY].lower(), []).append(form.lower())
        self._heads = [(re.compile(re.escape(head), re.IGNORECASE), found) for head, found in forms.items()]
        self._byte_secrets = list(
            dict.fromkeys(form for secret in real for text in _quoted(secret) for form in _json_forms(text))
        )
        self.guards = bool(self._byte_secrets)
        """Whether there is anything to look for in replies."""

    def clean(self, text: str) -> str:
        """A message without secrets, nor the beginning of one (8 characters or more). Clean first, cut
        afterwards: what is cut to less cannot be told from other words."""
        if "\\u00" in text and self._heads:
            spelled = _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)
            if self._without_heads(spelled) != spelled:
                text = spelled
        text = self._without_heads(text)
        for secret in self._placeholders:
            text = text.replace(secret, REDACTED)
        return text

    def clean_body(self, body: bytes) -> bytes:
        """The JSON of a reply without secrets, placeholders left alone."""
        for secret in self._byte_secrets:
            if secret in body:
                body = body.replace(secret, REDACTED.encode())
        return body

    def clean_json(self, data: Any, body: bytes) -> Any:
        """What a clean body was decoded to, also without secrets that it spelled with escapes."""
        if not self._byte_secrets or not (b"\\u00" in body or b"\\/" in body):
            return data
        plain = encode_json(data)  # every text spelled in the one usual way
        cleaned = self.clean_body(plain)
        return data if cleaned is plain else load_json(cleaned)

    def _without_heads(self, text: str) -> str:
        spans = []
        for head, forms in self._heads:
            at = 0
            while found := head.search(text, at):
                at = found.start() + 1
                # All spellings begin alike; which of them this is shows in how far it goes on.
                spans.append(
                    (found.start(), found.start() + max(_common(text, found.start(), f) for f in forms))
                )
        pieces, after = [], 0
        for start, end in sorted(
            spans
        ):  # one may reach into another: "Bearer abc" and "abc", spelled differently
            if start >= after:
                pieces += [text[after:start], REDACTED]
            after = max(after, end)
        return "".join([*pieces, text[after:]])


def _common(text: str, start: int, form: str) -> int:
    """How many characters of `form`, which is in lower case, stand in the text from `start` on."""
    length = 0
    for ours, theirs in zip(form, text[start : start + len(form)], strict=False):
        if theirs.lower() != ours:
            break
        length += 1
    return length


def _text_forms(secret: str) -> list[str]:
    """How a secret may stand in a message: as it is, in JSON, in a URL, on a page, in a quoted line."""
    import html  # 1.5 ms

    forms = [*_quoted(secret), quote(secret), quote(secret, safe=""), html.escape(secret), repr(secret)[1:-1]]
    return sorted(dict.fromkeys(forms), key=len, reverse=True)


def _quoted(secret: str) -> list[str]:
    """A secret as it is, and inside JSON that stands in a text (a tool call's arguments)."""
    return list(dict.fromkeys([secret, *(form.decode() for form in _json_forms(secret))]))


def _json_forms(secret: str) -> list[bytes]:
    """How a secret may stand in JSON: some servers escape the slash, which base64 keys hold."""
    plain = orjson.dumps(secret)[1:-1]
    return [plain, plain.replace(b"/", b"\\/")] if b"/" in plain else [plain]
