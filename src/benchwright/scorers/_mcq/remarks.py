"""What must be said beside a multiple-choice accuracy: how much of it was guessed, unread, or luck."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.core import MetricSummary


def mcq_remarks(metrics: Mapping[str, MetricSummary]) -> list[str]:
    """Sentences about the metrics of `mcq_answers`, for the notes of a run."""
    remarks = []
    strict, fallback = _value(metrics, "accuracy_strict"), _value(metrics, "accuracy_with_fallback")
    if strict is not None:
        guessed = _value(metrics, "fallback_rate") or 0.0
        if fallback is None or (fallback == strict and not guessed):
            remarks.append(f"strict {_percent(strict)}, nothing decided by guess")
        else:
            points = round(100 * fallback, 1) - round(100 * strict, 1)
            effect = "decided" if points >= 0 else "lost"
            remarks.append(
                f"strict {_percent(strict)}, with nearest-option fallback {_percent(fallback)}, "
                f"{abs(points):.1f} points {effect} by guess"
            )
    read = _value(metrics, "extraction_rate")
    if read is not None and read < 1:
        among = _value(metrics, "accuracy_parsed")
        told = "" if among is None else f", accuracy among readable ones {_percent(among)}"
        remarks.append(
            f"{_percent(1 - read, of_all=False)} of the replies hold no readable answer: counted as not right{told}"
        )
    chance = _value(metrics, "chance")
    if chance is not None:
        remarks.append(f"chance level {_percent(chance)}")
    return remarks


def _value(metrics: Mapping[str, MetricSummary], name: str) -> float | None:
    metric = metrics.get(name)
    return None if metric is None else metric.value


def _percent(share: float, *, of_all: bool = True) -> str:
    """`71.2 %`; a small share that is not zero is not shown as zero."""
    if not of_all and 0 < share < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %"
