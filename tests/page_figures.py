"""Figures on pages against the JSON that they come from."""

from __future__ import annotations

import re
from typing import Any


def value_at(document: Any, path: str) -> Any:
    for part in re.split(r"(?<!\\)\.", path):
        name = part.replace("\\.", ".")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def agrees(text: str, value: Any) -> bool:
    """Whether a text says a value, to its last digit."""
    if value is None or text in ("–", ""):
        return text in ("–", "")
    if isinstance(value, str):
        return text == value
    number = re.fullmatch(r"(-?[\d,]+(?:\.(\d+))?(?:e[+-]\d+)?)( .*)?", text)
    assert number is not None, text
    shown, decimals = float(number[1].replace(",", "")), len(number[2] or "")
    exact = 100 * value if (number[3] or "").strip() == "%" else value
    least = (
        abs(shown) * 0.005 if "e" in number[1] or abs(exact) < 0.1 else 0.0
    )  # three significant digits of a small share
    return bool(abs(shown - exact) <= max(0.5 * 10.0**-decimals, least) * (1 + 1e-9))
