"""The type of untyped JSON: what a value is until somebody has parsed it."""

from __future__ import annotations

from typing import Any, TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
"""Anything JSON can hold."""

JsonObject: TypeAlias = "dict[str, JsonValue]"
"""A JSON object."""

Row: TypeAlias = dict[str, Any]
"""One row of a user's data after field mapping. Values are the user's own and may be anything a
programmatic source yields; rows from files hold JSON values only."""
