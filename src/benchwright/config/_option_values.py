"""Values of settings as Python gives them: brought into their proper form, and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.config._servers import check_headers
from benchwright.config._setting import Setting
from benchwright.core import LEFT_OUT, UsageError


def from_python(setting: Setting, value: Any) -> Any:
    """A keyword's value in the form that `RunOptions` has: what people write in several ways becomes one."""
    if value is None:
        return None
    if setting.name == "headers":
        return _headers(value)
    if setting.kind == "texts":
        return _names(value) if setting.commas else (value,) if isinstance(value, str) else tuple(value)
    if setting.name in ("workspace", "output_dir", "work_dir"):
        return Path(value)
    if setting.name == "compat" and isinstance(value, bool):
        return "aisbench" if value else None
    if setting.name == "test_range" and isinstance(value, int | float):
        return str(value)
    return value


def check_value(setting: Setting, value: Any) -> None:
    """UsageError for a value of another type, or outside the range. Choices are checked where they are used, with what
    else is known there."""
    if setting.can_be_left_out and value == LEFT_OUT:
        return
    if expected := setting.wrong_type(value):
        raise UsageError(f"{setting.name} is {value!r} ({type(value).__name__}); expected {expected}")
    if setting.kind in ("int", "number"):
        try:
            setting.check(value)
        except ValueError:
            raise UsageError(
                f"{setting.flags[0]} is {value}; expected {setting.limits or setting.expected}"
            ) from None
    if setting.name == "filters":
        for written in value:
            if "=" not in written:
                raise UsageError(
                    f"--filter {written!r} has no '='; expected FIELD=VALUE, as in --filter lang=hi"
                )


def _headers(value: Mapping[str, str] | str | Sequence[str]) -> dict[str, str]:
    """Headers by name, from a table or from texts `NAME=VALUE`."""
    if isinstance(value, Mapping):
        return check_headers("headers", value)
    headers: dict[str, str] = {}
    for written in [value] if isinstance(value, str) else value:
        name, mark, text = written.partition("=")
        if not mark or not name.strip():
            # Not quoted: it may hold a key.
            raise UsageError("--header: expected NAME=VALUE, as in --header X-Team=search")
        headers[name.strip()] = text.strip()
    return check_headers("--header", headers)


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    """A list of names; several may stand in one text, between commas."""
    texts = [value] if isinstance(value, str) else list(value)
    if len(texts) == 1 and isinstance(texts[0], str):
        texts = [text.strip() for text in texts[0].split(",")]
    return tuple(texts)
