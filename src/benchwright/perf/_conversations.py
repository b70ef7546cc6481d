"""Conversations of a load test: their turns, the thinking time before each, and the requests that follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from math import isfinite, log, sqrt
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import (
    JsonObject,
    JsonValue,
    MissingFieldError,
    ModelRequest,
    Row,
    UsageError,
    encode_json,
)

MOST_TURNS = 1_000
"""The most user turns of one conversation, for which the numbering of requests leaves space."""


class Turn(Struct, frozen=True):
    """One user turn."""

    user: str
    before: str | None = None
    """The assistant's reply to the previous turn, if the data contain it."""
    delay_s: float | None = None
    """How long the user thinks after the previous reply; None: as set for the test."""
    max_tokens: int | None = None
    """The longest reply; None: as set for the test."""


class Conversation(Struct, frozen=True):
    """The turns after the first request of a conversation."""

    later: tuple[Turn, ...] = ()
    delay_s: float = 0.0
    """Thinking time before the first turn."""
    first_turn: int = 0
    """Index of the turn that is sent first; not 0 if all but the last are history."""
    next_turn: Callable[[Sequence[JsonObject], int], str | None] | None = None
    """Returns the user's next words instead of `later`, given the messages so far and the index of the turn; None: the
    conversation is over."""


def _think_time(law: str, first: float, second: float, key: str) -> float:
    """A time by a law: `first` is the constant, the mean, or the least; `second` the standard deviation, or the most."""
    if law == "constant":
        return first
    dice = Random(key)
    if law == "exponential":
        return dice.expovariate(1 / first)
    if law == "uniform":
        return dice.uniform(first, second)
    if law == "normal":
        return max(0.0, dice.normalvariate(first, second))
    spread = log(1 + (second / first) ** 2)  # lognormal, from its mean and deviation
    return dice.lognormvariate(log(first) - spread / 2, sqrt(spread))


_LAWS = {"constant": 1, "exponential": 1, "uniform": 2, "normal": 2, "lognormal": 2}
_TIME = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(ms|s|min|)\s*", re.IGNORECASE)
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "": 1.0}


def parse_think_time(text: str) -> Callable[[str], float]:
    """Parse how long users think between turns, as they write it: a time, or a distribution and its times. Returns what draws a time in
    seconds; it is the same for the same key in every process.

    >>> parse_think_time("500ms")("any key"), 1 <= parse_think_time("uniform:1s,3s")("0/1/2") <= 3
    (0.5, True)
    """
    law, colon, rest = text.partition(":")
    law, rest = (law.strip().lower(), rest) if colon else ("constant", text)
    found = [_TIME.fullmatch(part) for part in rest.split(",")]
    if law not in _LAWS or len(found) != _LAWS[law] or not all(found):
        raise UsageError(
            f"--think-time {text!r}: expected a time such as 2s or 500ms, exponential:2s, uniform:1s,3s, or normal:2s,1s or "
            "lognormal:2s,1s (mean and standard deviation)"
        )
    times = [float(each[1]) * _SECONDS[each[2].lower()] for each in found if each is not None]
    first, second = times[0], times[1] if len(times) > 1 else 0.0
    if (law == "uniform" and second < first) or (law in ("exponential", "lognormal") and first <= 0):
        raise UsageError(f"--think-time {text!r}: the times must rise, and a mean is above 0")
    return partial(_think_time, law, first, second)


_COLUMNS = ("turns", "messages", "conversations")
_ROLES = {
    "human": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
}
"""Roles of ShareGPT files and similar ones."""


def conversation_column(row: Row) -> str | None:
    """The column that contains a conversation (texts of the user, or messages); None if there is none."""
    return next((name for name in _COLUMNS if isinstance(row.get(name), list) and row[name]), None)


def with_messages(row: Row) -> Row:
    """The row with its conversation as messages in `turns`, and its system message as `system`. Items that are not messages
    stay unchanged, and `check_conversation` refuses them."""
    name = conversation_column(row)
    if name is None:
        return row
    messages = [_message(item) for item in row[name]]
    system = [m["content"] for m in messages if isinstance(m, dict) and m.get("role") == "system"]
    others = [m for m in messages if not (isinstance(m, dict) and m.get("role") == "system")]
    return {**row, "turns": others, **({"system": "\n".join(map(str, system))} if system else {})}


def _message(item: Any) -> Any:
    if isinstance(item, Mapping) and "from" in item and "value" in item:  # ShareGPT
        role = _ROLES.get(str(item["from"]), str(item["from"]))
        rest = {key: value for key, value in item.items() if key not in ("from", "value")}
        return {**rest, "role": role, "content": item["value"]}
    return {"role": "user", "content": item} if isinstance(item, str) else item


def turns_of(row: Row, field: str) -> tuple[Turn, ...]:
    """The user turns of a row, each with the reply before it. Raises MissingFieldError for invalid delays and lengths."""
    found: list[Turn] = []
    before: str | None = None
    for item in row[field]:
        message = _message(item)
        if message.get("role", "user") == "assistant":
            before = str(message.get("content") or "")
            continue
        delay = _delay(message.get("delay_ms"))
        found.append(Turn(str(message["content"]), before, delay, _length(message.get("max_tokens"))))
        before = None
    delays, lengths = (_each(row, name, len(found)) for name in ("delay_ms", "max_tokens"))
    return tuple(
        replace(
            turn,
            delay_s=_delay(delay) if turn.delay_s is None else turn.delay_s,
            max_tokens=_length(length) if turn.max_tokens is None else turn.max_tokens,
        )
        for turn, delay, length in zip(found, delays, lengths, strict=True)
    )


def _each(row: Row, name: str, count: int) -> Sequence[Any]:
    value = row.get(name)
    if not isinstance(value, list):
        return [value] * count
    if len(value) != count:
        raise MissingFieldError(name, reason=f'"{name}" has {len(value)} values for {count} user turns')
    return value


def _delay(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        found = -1.0 if isinstance(value, bool) else float(value) / 1000
    except (TypeError, ValueError):
        found = -1.0
    if not (found >= 0 and isfinite(found)):
        raise MissingFieldError(
            "delay_ms", reason=f'"delay_ms" is {value!r}; expected milliseconds of 0 or more'
        )
    return found


def _length(value: Any) -> int | None:
    if value is None or value in ("", 0):
        return None
    try:
        found = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        found = -1.0
    if found < 0 or found != int(found):
        raise MissingFieldError("max_tokens", reason=f'"max_tokens" is {value!r}; expected a whole number')
    return int(found)


def check_conversation(row: Row, field: str, mode: str, *, prompt: bool = False) -> None:
    """Raise MissingFieldError for a row that is not a conversation, or lacks the replies that `mode` sends. `prompt`: the first
    turn is not in the column."""
    value = row.get(field)
    if not isinstance(value, list | tuple) or not value:
        raise MissingFieldError(field, reason=f'"{field}" holds no list of turns')
    for number, item in enumerate(value, 1):
        message = _message(item)
        good = isinstance(message, Mapping) and isinstance(message.get("content"), str)
        if not good or message.get("role", "user") not in ("user", "assistant"):
            raise MissingFieldError(
                field,
                reason=f'turn {number} of "{field}" is not a text of a user or an assistant: {str(item)[:40]!r}',
            )
    turns = turns_of(row, field)
    if not turns:
        raise MissingFieldError(field, reason=f'"{field}" holds no turn of a user')
    if len(turns) > MOST_TURNS:
        raise MissingFieldError(
            field, reason=f'"{field}" has {len(turns)} turns; at most {MOST_TURNS} are sent'
        )
    later = turns if prompt else turns[1:]
    if mode != "every" and any(turn.before is None for turn in later):
        raise MissingFieldError(
            field,
            reason=f'--turn-mode {mode} sends the replies of the data, and "{field}" lacks the assistant\'s turns',
        )


def with_turn(first: ModelRequest, messages: Sequence[JsonValue], max_tokens: int | None) -> ModelRequest:
    """The request with other messages, and with its longest reply if that is given."""
    body: JsonObject = {**first.body, "messages": list(messages)}
    if max_tokens is not None:
        body.update(
            {name: max_tokens for name in ("max_tokens", "min_tokens") if name in body}
            or {"max_tokens": max_tokens}
        )
    return replace(first, body=body, payload=encode_json(body))


def all_messages(first: ModelRequest, later: Sequence[Turn]) -> list[JsonValue]:
    """The messages of the last turn, with the replies of the data."""
    messages = first.body["messages"]
    assert isinstance(messages, list)
    found: list[JsonValue] = list(messages)
    for turn in later:
        found += [{"role": "assistant", "content": turn.before or ""}, {"role": "user", "content": turn.user}]
    return found


def prompt_hash(prompt: JsonValue) -> str:
    """A hash that is equal for equal prompts."""
    return blake2b(encode_json(prompt), digest_size=8).hexdigest()
