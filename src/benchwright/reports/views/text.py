"""Small things that every terminal view needs: numbers in words."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from benchwright.core import OUTCOMES, RunSummary

_FORMULA_STARTS = "=+-@\uff1d\uff0b\uff0d\uff20|%"
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")


def number(value: float) -> str:
    """A score, to four decimals.

    >>> number(0.75), number(1234.5)
    ('0.7500', '1,234.5000')
    """
    return f"{value:,.4f}"


def duration(seconds: float | None) -> str:
    """A span of time.

    >>> duration(0.25), duration(75), duration(4000), duration(None)
    ('250 ms', '1 min 15 s', '1 h 6 min', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def local_time(seconds: float) -> str:
    """A wall-clock time for people, in their time zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(2000, "row"), plural(2, "retry")
    ('1 row', '2,000 rows', '2 retries')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def outcome_counts(outcomes: Mapping[str, int]) -> str:
    """All eight outcomes with their counts, in the order of tables.

    >>> outcome_counts({"scored": 2})[:24]
    'scored 2 · unparsed 0 · '
    """
    return " · ".join(f"{outcome} {outcomes.get(outcome, 0):,}" for outcome in OUTCOMES)


def tokens(summary: RunSummary) -> str:
    """Tokens of all replies; where the server counted only some of them, of how many. Empty: it counted none."""
    if summary.prompt_tokens is not None:
        return f"{summary.prompt_tokens:,} prompt, {summary.completion_tokens or 0:,} completion"
    if summary.partly_counted is None:
        return ""
    part = summary.partly_counted
    return (
        f"{part['prompt_tokens']:,} prompt, {part['completion_tokens']:,} completion in {part['samples']:,} of "
        f"{part['of']:,} samples; the server counted none in the others, so these are no totals"
    )


def without_formula(value: Any) -> Any:
    """A cell of a CSV file that no spreadsheet takes for a formula: a text that begins like one gets an apostrophe.

    >>> without_formula("=1+1"), without_formula("-0.5"), without_formula(-0.5), without_formula("-x")
    ("'=1+1", '-0.5', -0.5, "'-x")
    """
    if not isinstance(value, str) or value.lstrip(" \t\r\n")[:1] not in _FORMULA_STARTS or not value.strip():
        return value
    if value[0] in "+-" and _NUMBER.fullmatch(value):
        return value
    return f"'{value}"
