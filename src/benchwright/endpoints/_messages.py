"""Extracts a server's message from JSON errors, HTML pages and plain text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from benchwright.core import encode_json, load_json

_LONGEST = 300


Clean: TypeAlias = Callable[[str], str]
"""Removes secrets from a text. Applied before the text is cut, because cutting would leave part of a secret."""


class Names(NamedTuple):
    """The names of an endpoint's settings in messages to users."""

    key: str = "--api-key-name"
    """The name of the key's environment variable."""
    url: str = "--model-url"
    """The address."""
    model: str = "--model-id"
    length: str = "--max-tokens"
    """The longest reply."""


JUDGE_NAMES = Names(
    "the judge's api_key", "the judge's url", "the judge's model_id", "the judge's max_tokens"
)
"""The names for a judge, which has no flags."""


def words_of_body(body: bytes, clean: Clean = str) -> str:
    """The server's message in the body of an error, on one line of at most 300 characters.

    >>> words_of_body(b'{"error": {"message": "no such model", "type": "invalid"}}')
    'no such model'
    >>> words_of_body(b"<html><head><title>502 Bad Gateway</title></head>")
    'an HTML page titled "502 Bad Gateway"'
    """
    try:
        data = load_json(body)
    except ValueError:
        return _words_of_text(body.decode("utf-8", "replace"), clean)
    return words_of_json(data, clean)


def words_of_json(data: Any, clean: Clean = str) -> str:
    """The message inside a JSON error, in any of the usual shapes; else the JSON itself."""
    found = _message(data)
    return _one_line(found if found else encode_json(data).decode(), clean)


def is_html(body: bytes) -> bool:
    """Whether a body is a web page."""
    start = body[:200].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml"))


def _message(data: Any) -> str:
    if isinstance(data, str):
        return data
    if isinstance(data, list):  # [{"loc": [...], "msg": "field required"}, …]
        return "; ".join(filter(None, map(_message, data[:3])))
    if not isinstance(data, dict):
        return ""
    for name in ("error", "message", "detail", "msg", "errors"):
        if found := _message(data.get(name)):
            place = data.get("loc")
            return f"{'.'.join(map(str, place))}: {found}" if isinstance(place, list) else found
    return ""


def _words_of_text(text: str, clean: Clean) -> str:
    if is_html(text[:400].encode()):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        if title:
            return f'an HTML page titled "{_one_line(title.group(1), clean)}"'
        return "an HTML page: " + _one_line(re.sub(r"<[^>]*>", " ", text), clean)
    return _one_line(text, clean) or "(empty body)"


def _one_line(text: str, clean: Clean) -> str:
    line = " ".join(clean(text).split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
