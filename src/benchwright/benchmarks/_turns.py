"""Conversations: which user turn comes next. A conversation is a list of `{"role", "content"}` dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from benchwright.benchmarks._signature import positional_count
from benchwright.benchmarks._spec import BenchmarkSpec, NextTurn
from benchwright.core import JsonObject, MissingFieldError, Row


class OpeningTurn:
    """Stands in for the prompt template where the prompt is empty and the row holds every user turn."""

    text = ""
    engine: Literal["turns"] = "turns"

    def __init__(self, field: str) -> None:
        self.fields = frozenset([field])
        """The column with the turns."""
        self.render: Callable[[Row], str] = lambda row: _opening(row, field)
        """The first user turn of a row; raises MissingFieldError."""


def next_user_turn(
    spec: BenchmarkSpec, row: Row, conversation: Sequence[JsonObject], turn_index: int
) -> str | None:
    """The user turn number `turn_index` (the prompt is number 0), or None when the conversation is over.

    Turns come from the row's `turns_field` or from the benchmark's `next_turn`, which is called with a copy of
    the conversation so far (system message included) and, if it takes two arguments, the row. It may block:
    call this from a thread when `spec.next_turn` is set. No more than `max_turns` user turns are given.
    Raises MissingFieldError for turns that are no turns; exceptions of `next_turn` pass through.
    """
    if turn_index >= spec.max_turns:
        return None
    if spec.turns_field is not None:
        turns = user_turns(row, spec.turns_field)
        at = turn_index - 1 if spec.prompt else turn_index
        return turns[at] if 0 <= at < len(turns) else None
    if spec.next_turn is None:
        return None
    history = [dict(message) for message in conversation]
    turn = spec.next_turn(history, row) if _takes_row(spec.next_turn) else spec.next_turn(history)
    if turn is not None and not isinstance(turn, str):
        raise MissingFieldError(
            "next_turn", reason=f"next_turn returned {type(turn).__name__}, not text or None"
        )
    return turn


def user_turns(row: Row, field: str) -> list[str]:
    """The user turns in a column: texts, or messages of which the assistant's (references) are left out."""
    if field not in row:
        raise MissingFieldError(field, row)
    value = row[field]
    if not isinstance(value, list | tuple):
        raise MissingFieldError(
            field,
            reason=f'turns_field "{field}" holds {type(value).__name__} where a list of turns is expected',
        )
    turns = []
    for number, item in enumerate(value, 1):
        turn = _user_text(item, number, field)
        if turn is not None:
            turns.append(turn)
    return turns


def _user_text(item: Any, number: int, field: str) -> str | None:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and isinstance(item.get("content"), str):
        role = item.get("role", "user")
        if role == "user":
            return str(item["content"])
        if role == "assistant":
            return None
        raise MissingFieldError(
            field,
            reason=f'turn {number} of "{field}" has the role {role!r}; only user turns are asked '
            f"(assistant turns are skipped; a system text belongs in system_prompt)",
        )
    raise MissingFieldError(
        field, reason=f'turn {number} of "{field}" is neither text nor {{"role", "content"}} with text'
    )


def _opening(row: Row, field: str) -> str:
    turns = user_turns(row, field)
    if not turns:
        raise MissingFieldError(field, reason=f'"{field}" holds no user turn, and the prompt is empty')
    return turns[0]


@lru_cache(maxsize=32)
def _takes_row(function: NextTurn) -> bool:
    count = positional_count(function)
    return count is None or count >= 2
