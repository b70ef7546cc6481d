"""What must be said next to a multiple-choice accuracy: how much of it was guessed, unread, or luck."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.core import MetricSummary

_GUESSES = {
    "levenshtein": "accuracy takes the nearest option for them",
    "aisbench": "accuracy takes the letter AISBench would take, right or wrong",
}


def mcq_remarks(metrics: Mapping[str, MetricSummary], fallback: str = "none") -> list[str]:
    """Sentences about the metrics of `mcq_answers(fallback)`, for the notes of a run."""
    remarks = []
    strict, guessed = _value(metrics, "accuracy_strict"), _value(metrics, "accuracy_with_fallback")
    if strict is not None:
        if guessed is None or (guessed == strict and not _value(metrics, "fallback_rate")):
            remarks.append(f"strict {percent(strict)}, nothing decided by guess")
        else:
            points = round(100 * guessed, 1) - round(100 * strict, 1)
            effect = "decided" if points >= 0 else "lost"
            by = "AISBench's reading" if fallback == "aisbench" else "nearest-option fallback"
            how = "that reading" if fallback == "aisbench" else "guess"
            remarks.append(
                f"strict {percent(strict)}, with {by} {percent(guessed)}, {abs(points):.1f} points {effect} by {how}"
            )
    remarks += unread_remark(metrics, _GUESSES.get(fallback, "counted as not right"))
    chance = _value(metrics, "chance")
    if chance is not None:
        remarks.append(f"chance level {percent(chance)}")
    return remarks


def unread_remark(metrics: Mapping[str, MetricSummary], counted: str = "counted as not right") -> list[str]:
    """How many replies hold no readable answer, and what becomes of them; nothing where all can be read."""
    read = _value(metrics, "extraction_rate")
    if read is None or read >= 1:
        return []
    among = _value(metrics, "accuracy_parsed")
    shown = "" if among is None else f", accuracy among readable ones {percent(among)}"
    return [f"{percent(1 - read, of_all=False)} of the replies hold no readable answer: {counted}{shown}"]


def percent(share: float, *, of_all: bool = True) -> str:
    """`71.2 %`; a small share that is not zero is not shown as zero."""
    if not of_all and 0 < share < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %"


def _value(metrics: Mapping[str, MetricSummary], name: str) -> float | None:
    metric = metrics.get(name)
    return None if metric is None else metric.value
