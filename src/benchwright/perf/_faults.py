"""Finds impossible values. They are faults of the measurement, which are counted and shown, and excluded from averages."""

from __future__ import annotations

from typing import Any

from benchwright.perf._columns import compute as pc, constant, row_numbers
from benchwright.perf._requests import TIMES, TOKENS, Requests

ROUNDING_S = 1e-6
"""The largest difference between two measured times of the same event."""

FAULTS: dict[str, str] = {
    "unknown_times": "completed, but the time of sending, of the last content or of the end is missing",
    "before_sending": "part of the reply arrived before the request was sent",
    "after_the_end": "a token came after the last byte",
    "out_of_order": "events came before those that precede them",
    "impossible_tokens": "token counts are negative, or a part is larger than the whole",
}
"""Faults by name, with descriptions. A request counts under the first that it has."""


def faults_of(requests: Requests) -> Any:
    """The fault of each completed request as an Arrow array of names; null if there is none."""
    import pyarrow as pa

    none = constant(None, pa.string())
    found = pa.nulls(len(requests), pa.string())
    for name in reversed(FAULTS):
        mask = pc.fill_null(_RULES[name](requests), False)
        found = pc.if_else(mask, name, found)
    return pc.if_else(pc.equal(requests["outcome"], "ok"), found, none)


def _unknown_times(requests: Requests) -> Any:
    needed = [pc.is_finite(requests[name]) for name in ("sent", "last_content", "ended")]
    return pc.invert(_all([pc.fill_null(known, False) for known in needed]))


def _before_sending(requests: Requests) -> Any:
    later = [name for name in TIMES if name not in ("planned", "sent")]
    return _any([_less(requests[name], requests["sent"]) for name in later])


def _after_the_end(requests: Requests) -> Any:
    names = [name for name in TIMES if name not in ("planned", "sent", "ended")]
    return _any([_less(requests["ended"], requests[name]) for name in names])


def _out_of_order(requests: Requests) -> Any:
    pairs = (
        ("first_byte", "first_event"),
        ("first_event", "first_token"),
        ("first_token", "first_answer"),
        ("first_token", "last_content"),
    )
    wrong = [_less(requests[later], requests[earlier]) for earlier, later in pairs]
    shrinking = requests.gap_requests.filter(pc.less(requests.gaps, 0.0))
    if len(shrinking):
        places = row_numbers(len(requests)).cast(shrinking.type)
        wrong.append(pc.is_in(places, value_set=pc.unique(shrinking)))
    return _any(wrong)


def _impossible_tokens(requests: Requests) -> Any:
    wrong = [pc.less(requests[name], 0) for name in TOKENS]
    wrong.append(pc.greater(requests["cached_tokens"], requests["input_tokens"]))
    wrong.append(pc.greater(requests["reasoning_tokens"], requests["output_tokens"]))
    return _any(wrong)


def _less(one: Any, other: Any) -> Any:
    return pc.less(one, pc.subtract(other, ROUNDING_S))


def _any(masks: list[Any]) -> Any:
    found = pc.fill_null(masks[0], False)
    for mask in masks[1:]:
        found = pc.or_(found, pc.fill_null(mask, False))
    return found


def _all(masks: list[Any]) -> Any:
    found = masks[0]
    for mask in masks[1:]:
        found = pc.and_(found, mask)
    return found


_RULES = {
    "unknown_times": _unknown_times,
    "before_sending": _before_sending,
    "after_the_end": _after_the_end,
    "out_of_order": _out_of_order,
    "impossible_tokens": _impossible_tokens,
}
