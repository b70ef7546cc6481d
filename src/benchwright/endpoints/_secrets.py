"""Keeps secrets out of everything that is recorded or shown: replies, messages, fingerprints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import orjson

from benchwright.core import ConfigError

REDACTED = "[redacted]"
"""What stands in place of a secret."""

_SECRET_NAME = re.compile(r"auth|key|token|secret|password|cookie|signature|^sig$|^code$", re.IGNORECASE)

# A placeholder key such as EMPTY or none may occur in an honest answer, which must not be altered;
# a real key is longer.
_SHORTEST_REAL_KEY = 8


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

    __slots__ = ("_byte_secrets", "_secrets")

    def __init__(self, secrets: Iterable[str]) -> None:
        # Longest first: one secret may contain another ("Bearer abc" and "abc").
        self._secrets = sorted({s for s in secrets if s}, key=len, reverse=True)
        real = [s for s in self._secrets if len(s) >= _SHORTEST_REAL_KEY]
        self._byte_secrets = [form for s in real for form in _json_forms(s)]

    def clean(self, text: str) -> str:
        """A message without secrets."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, REDACTED)
        return text

    def clean_body(self, body: bytes) -> bytes:
        """The JSON of a reply without secrets, placeholders left alone."""
        for secret in self._byte_secrets:
            if secret in body:
                body = body.replace(secret, REDACTED.encode())
        return body


def _json_forms(secret: str) -> list[bytes]:
    """How a secret may stand in JSON: some servers escape the slash, which base64 keys hold."""
    plain = orjson.dumps(secret)[1:-1]
    return [plain, plain.replace(b"/", b"\\/")] if b"/" in plain else [plain]
