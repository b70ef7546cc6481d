"""Texts on their way into and out of the database."""

from __future__ import annotations

from typing import overload

from benchwright.core import (
    REDACTED,
    JsonValue,
    UsageError,
    encode_json,
    known_secrets,
    load_exact_json,
    redact,
)


@overload
def storable(text: str) -> str: ...
@overload
def storable(text: str | None) -> str | None: ...
def storable(text: str | None) -> str | None:
    """Half characters, which UTF-8 cannot hold, made question marks: users' texts may hold anything."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


@overload
def storable_message(text: str) -> str: ...
@overload
def storable_message(text: str | None) -> str | None: ...
def storable_message(text: str | None) -> str | None:
    """A message as it may be stored: it may quote anybody, so secrets are removed."""
    return None if text is None else storable(redact(text))


def storable_json(value: bytes) -> bytes:
    """Encoded JSON as it may be stored: without secrets."""
    return known_secrets().clean_json(value)


def storable_input(value: JsonValue) -> bytes:
    """A run's input as JSON. It is what a resume starts from, so a secret in it is refused, not removed."""
    encoded = encode_json(value)
    if storable_json(encoded) is not encoded:
        raise UsageError(
            "the run's input holds a secret, and inputs are recorded. Give the name of the environment variable "
            "instead, and read it in the workflow"
        )
    return encoded


def is_withheld(value: bytes | None) -> bool:
    """Whether a recorded output lacks something, so that it cannot stand for what was computed."""
    return value is not None and REDACTED.encode() in value


@overload
def load_json(text: bytes) -> JsonValue: ...
@overload
def load_json(text: bytes | None) -> JsonValue: ...
def load_json(text: bytes | None) -> JsonValue:
    """A stored JSON value with every digit; None for none."""
    if text is None:
        return None
    return load_exact_json(text)
