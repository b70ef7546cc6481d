"""The calls of a sample next to the expected ones, and the first difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from benchwright.core import JsonObject, SampleRecord


class CallsView(Struct, frozen=True):
    """The calls of a sample and the expected ones."""

    rows: tuple[tuple[str, str, str], ...]
    """Turn, call and expected call side by side; an empty text if one side has no more."""
    difference: str | None
    """The first difference in words; None if the calls are right."""

    def to_json(self) -> JsonObject:
        """`{called, expected, difference}`."""
        return {
            "called": [called for _, called, _ in self.rows if called],
            "expected": [expected for _, _, expected in self.rows if expected],
            "difference": self.difference,
        }


def calls_view(record: SampleRecord) -> CallsView | None:
    """The calls of a recorded sample; None for one that was not about calls."""
    scores = record.scores or {}
    if record.tool_calls is None and "error_type" not in scores:
        return None
    rows = tuple(_side_by_side(record.tool_calls or [], record.target))
    return CallsView(rows, _difference(scores, rows))


def _difference(scores: Mapping[str, Any], rows: tuple[tuple[str, str, str], ...]) -> str | None:
    if scores.get("correct"):
        return None
    parts = [str(scores[name]) for name in ("error_type", "error") if scores.get(name)]
    if parts:
        return ": ".join(parts)
    differing = next((row for row in rows if row[1] != row[2]), None)
    return (
        None if differing is None else f"{differing[1] or 'no call'} instead of {differing[2] or 'no call'}"
    )


def _side_by_side(called: list[Any], expected: Any) -> Iterator[tuple[str, str, str]]:
    if _has_turns(called, expected):
        truths: list[Any] = expected if isinstance(expected, list) else []
        none: list[Any] = []
        for number, (steps, wanted) in enumerate(zip_longest(called, truths, fillvalue=none), 1):
            calls = [call for step in steps or () for call in step or ()]
            for at, (one, other) in enumerate(zip_longest(map(_text, calls), wanted, fillvalue="")):
                yield f"turn {number}" if at == 0 else "", one, str(other)
        return
    for one, other in zip_longest(map(_text, called), _expected(expected), fillvalue=""):
        yield "", one, other


def _has_turns(called: list[Any], expected: Any) -> bool:
    """Whether calls are listed by turn: those of each reply of each turn."""
    return any(isinstance(item, list) for item in called) or (
        isinstance(expected, list) and any(isinstance(item, list) for item in expected)
    )


def _text(call: Any) -> str:
    if not isinstance(call, dict) or len(call) != 1:
        return str(call)
    ((name, arguments),) = call.items()
    values = arguments.items() if isinstance(arguments, dict) else ()
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in values)})"


def _expected(expected: Any) -> Iterator[str]:
    from benchwright.toolcalls import ground_truth_of  # only if calls are shown

    try:
        truths = ground_truth_of(expected)
    except ValueError:
        yield str(expected)
        return
    for truth in truths:
        for name, parameters in truth.items():
            yield f"{name}({', '.join(f'{key}={_allowed(values)}' for key, values in parameters.items())})"


def _allowed(values: list[Any]) -> str:
    """The values that a parameter may have.

    >>> _allowed(["m", "metres", ""])
    "'m' or 'metres' or left out"
    """
    return " or ".join("left out" if value == "" else repr(value) for value in values)
