"""The figures of a stage by groups of requests: by turn of the conversation, or by server."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from benchwright.core import JsonObject, as_json
from benchwright.perf._columns import compute as pc
from benchwright.perf._distributions import Distribution, describe, numbers
from benchwright.perf._figures import StageRequests
from benchwright.perf._metrics import LATENCIES, METRICS
from benchwright.perf._requests import Requests
from benchwright.perf._values import LoadSettings

MOST_TURNS_APART = 10
"""The most turns with separate figures; later turns share one group."""


class GroupSummary(Struct, frozen=True, kw_only=True):
    """Some of the requests of a stage."""

    label: str
    """`turn 1`, or the address."""
    sent: int
    completed: int
    failed: int
    not_sent: int
    outcomes: dict[str, int]
    metrics: dict[str, Distribution]
    """Headline times by key, without intervals."""
    input_tokens: float | None = None
    """Mean of a completed request."""
    cached_share: float | None = None
    """Share of the input tokens that the server took from its cache."""

    def to_json(self) -> JsonObject:
        """`{label, sent, completed, failed, not_sent, outcomes, input_tokens, cached_share, ttft_ms …}`."""
        plain: JsonObject = {
            name: as_json(getattr(self, name)) for name in self.__struct_fields__ if name != "metrics"
        }
        return plain | {key: found.to_json() for key, found in self.metrics.items()}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> GroupSummary:
        """Read the form of `to_json`."""
        plain = {name: stored[name] for name in cls.__struct_fields__ if name != "metrics"}
        keys = [METRICS[name].key for name in LATENCIES]
        metrics = {key: Distribution.from_json(stored[key]) for key in keys if key in stored}
        return cls(**plain, metrics=metrics)


def by_turn(stage: StageRequests) -> tuple[GroupSummary, ...]:
    """The figures by turn, from `turn 1`; empty if the requests are not conversations."""
    talks = stage.measured.where(pc.is_valid(stage.measured["conversation"]))
    if not len(talks):
        return ()
    turns = pc.min_element_wise(talks["turn"], MOST_TURNS_APART)
    found = []
    for turn in sorted(pc.unique(turns).to_pylist()):
        label = f"turn {turn + 1}" if turn < MOST_TURNS_APART else f"turn {turn + 1} and later"
        found.append(_group(label, talks.where(pc.equal(turns, turn))))
    return tuple(found)


def by_url(stage: StageRequests, settings: LoadSettings) -> tuple[GroupSummary, ...]:
    """The figures by server; empty if there is only one."""
    if len(settings.urls) < 2:
        return ()
    return tuple(
        _group(url, stage.measured.where(pc.equal(stage.measured["url"], number)))
        for number, url in enumerate(settings.urls)
    )


def _group(label: str, requests: Requests) -> GroupSummary:
    own = StageRequests(requests)
    metrics = {}
    for name in LATENCIES:
        metric = METRICS[name]
        assert metric.values is not None
        if len(values := metric.values(own.measurable).drop_null()):
            ordered = numbers(values.take(pc.sort_indices(values)))
            metrics[metric.key] = describe(values, ordered, metric.scale, metric.digits)
    outcomes = sorted(
        requests["outcome"].value_counts().to_pylist(), key=lambda each: (-each["counts"], each["values"])
    )
    inputs, cached = own.completed["input_tokens"], own.completed["cached_tokens"]
    known = pc.and_(pc.is_valid(inputs), pc.is_valid(cached))
    whole = pc.sum(inputs.filter(known)).as_py()
    mean = pc.mean(inputs).as_py()
    return GroupSummary(
        label=label,
        sent=len(own.sent),
        completed=len(own.completed),
        failed=len(own.sent) - len(own.completed),
        not_sent=len(requests) - len(own.sent),
        outcomes={each["values"]: each["counts"] for each in outcomes},
        metrics=metrics,
        input_tokens=None if mean is None else round(mean, 3),
        cached_share=round(pc.sum(cached.filter(known)).as_py() / whole, 6) if whole else None,
    )
