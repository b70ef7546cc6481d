"""How a sample can end. Every sample ends in exactly one of these."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The end of one sample. Only `SCORED` contributes to metrics; the rest are counted, never zeroed."""

    SCORED = "scored"
    """The scorer gave its numbers."""
    UNPARSED = "unparsed"
    """The model answered, but no answer could be read out of its text (`parsed` is false)."""
    EMPTY = "empty"
    """The model answered nothing: empty or null content."""
    TRUNCATED = "truncated"
    """The reply was cut: an unclosed thought, or the token limit before any answer."""
    REFUSED = "refused"
    """The server or the model declined (content filter, refusal field)."""
    REQUEST_FAILED = "request_failed"
    """No usable reply after all attempts."""
    SCORER_FAILED = "scorer_failed"
    """The scorer, or its judge, raised or returned something that is not a score."""
    SKIPPED = "skipped"
    """The row could not be asked: a field the prompt needs is missing."""


OUTCOMES: tuple[Outcome, ...] = tuple(Outcome)
"""All outcomes, in the order in which tables show them."""
