"""The server's own figures for a stage: speculative decoding, prefix cache, queue. Pure; the text comes from elsewhere.

Servers use different names. `_COUNTERS` and `_GAUGES` list the known names; a server with none of them gives no figures.
Counters are compared before and after a stage, and gauges are read while it runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from msgspec import Struct, convert

from benchwright.core import JsonObject, as_json, ready

_COUNTERS: dict[str, tuple[str, ...]] = {
    "drafts": ("vllm:spec_decode_num_drafts",),
    "draft_tokens": ("vllm:spec_decode_num_draft_tokens",),
    "accepted_tokens": ("vllm:spec_decode_num_accepted_tokens",),
    "accepted_at": ("vllm:spec_decode_num_accepted_tokens_per_pos",),
    "prefix_queries": ("vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries", "sglang:prompt_tokens"),
    "prefix_hits": ("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits", "sglang:cached_tokens"),
    "preemptions": ("vllm:num_preemptions",),
}
"""Names without `_total`. The first one that a server has is used, and the values of all its labels are added up."""

_GAUGES: dict[str, tuple[str, ...]] = {
    "running": (
        "vllm:num_requests_running", "sglang:num_running_reqs", "tgi_batch_current_size", "llamacpp:requests_processing",
        "demo:num_requests_running",
    ),
    "waiting": ("vllm:num_requests_waiting", "sglang:num_queue_reqs", "tgi_queue_size", "llamacpp:requests_deferred", "demo:num_requests_waiting"),
    "kv_cache": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage", "llamacpp:kv_cache_usage_ratio"),
    "accept_length": ("sglang:spec_accept_length",),
    "accept_rate": ("sglang:spec_accept_rate",),
}  # fmt: skip

_SHARES = ("kv_cache", "accept_length", "accept_rate")
"""Gauges for which the largest value of several labels is used, because shares of different engines are not added up."""

_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+([^\s]+)(?:\s+-?\d+)?\s*")
_LABEL = re.compile(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"')


class Snapshot(Struct, frozen=True):
    """The known figures of one page."""

    counters: dict[str, float] = {}
    positions: tuple[float, ...] = ()
    """Accepted draft tokens by position in the draft."""
    gauges: dict[str, float] = {}

    @property
    def known(self) -> bool:
        """Whether the page has any known figure."""
        return bool(self.counters or self.gauges)


class SpecDecode(Struct, frozen=True):
    """Speculative decoding in a stage."""

    drafts: int | None = None
    draft_tokens: int | None = None
    accepted_tokens: int | None = None
    acceptance_rate: float | None = None
    """Accepted tokens over draft tokens."""
    acceptance_length: float | None = None
    """1 + accepted tokens over drafts: tokens per step of the large model."""
    per_position: tuple[float, ...] = ()
    """The share of drafts whose token at this position was accepted."""


class ServerFigures(Struct, frozen=True):
    """The server's own figures for a stage. None: not reported."""

    absent: str | None = None
    """Why there are no figures."""
    spec_decode: SpecDecode | None = None
    prefix_queries: int | None = None
    """Prompt tokens that were looked up in the prefix cache."""
    prefix_hits: int | None = None
    prefix_hit_rate: float | None = None
    preemptions: int | None = None
    kv_cache_peak: float | None = None
    """Largest share of the KV cache in use, as seen once a second."""
    running_peak: int | None = None
    """The most requests that the server processed at once, read once a second."""
    waiting_peak: int | None = None

    def to_json(self) -> JsonObject:
        """All fields by name."""
        found: JsonObject = as_json(self)
        return found

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> ServerFigures:
        """Read the form of `to_json`."""
        return convert(stored, ready(cls))


def parse_metrics(text: str) -> Snapshot:
    """The known figures in a page of the text format. Lines that cannot be read are skipped.

    >>> parse_metrics('vllm:num_requests_running{model_name="m"} 3.0').gauges
    {'running': 3.0}
    """
    samples: dict[str, list[tuple[str, float]]] = {}
    for line in text.splitlines():
        match = None if line.startswith("#") else _SAMPLE.fullmatch(line.strip())
        if match is not None and (value := _number(match[3])) is not None:
            samples.setdefault(match[1].removesuffix("_total"), []).append((match[2] or "", value))
    counters: dict[str, float] = {}
    positions: tuple[float, ...] = ()
    for name, choices in _COUNTERS.items():
        if (found := _first(samples, choices)) is not None:
            if name == "accepted_at":
                positions = _by_position(found)
            else:
                counters[name] = sum(value for _, value in found)
    gauges = {}
    for name, choices in _GAUGES.items():
        if (found := _first(samples, choices)) is not None:
            values = [value for _, value in found]
            gauges[name] = max(values) if name in _SHARES else sum(values)
    return Snapshot(counters, positions, gauges)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _first(
    samples: Mapping[str, list[tuple[str, float]]], names: Iterable[str]
) -> list[tuple[str, float]] | None:
    return next((samples[name] for name in names if name in samples), None)


def _by_position(samples: Iterable[tuple[str, float]]) -> tuple[float, ...]:
    found: dict[int, float] = {}
    for labels, value in samples:
        place = dict(_LABEL.findall(labels)).get("position", "")
        if place.isdecimal():
            found[int(place)] = found.get(int(place), 0.0) + value
    return tuple(found[place] for place in sorted(found))


def added(pages: Iterable[Snapshot]) -> Snapshot:
    """Combine the pages of several servers: counters and queues are added up, and the largest share is used."""
    counters: dict[str, float] = {}
    gauges: dict[str, float] = {}
    positions: list[float] = []
    for page in pages:
        for name, value in page.counters.items():
            counters[name] = counters.get(name, 0.0) + value
        for name, value in page.gauges.items():
            old = gauges.get(name, 0.0)
            gauges[name] = max(old, value) if name in _SHARES else old + value
        positions += [0.0] * (len(page.positions) - len(positions))
        for place, value in enumerate(page.positions):
            positions[place] += value
    return Snapshot(counters, tuple(positions), gauges)


def figures_between(before: Snapshot, after: Snapshot, peaks: Mapping[str, float]) -> ServerFigures:
    """The figures from one snapshot to the other. `peaks` are the largest values of gauges in between."""
    if any(after.counters.get(name, 0.0) < value for name, value in before.counters.items()):
        return ServerFigures(absent="the server's counters went back: it was restarted in the stage")
    counts = {name: round(value - before.counters.get(name, 0.0)) for name, value in after.counters.items()}
    queries, hits = counts.get("prefix_queries"), counts.get("prefix_hits")
    if peaks.get("running") == 0 and not peaks.get("waiting"):
        # The readings fell between requests, so the peak is unknown.
        peaks = {name: value for name, value in peaks.items() if name not in ("running", "waiting")}
    return ServerFigures(
        spec_decode=_spec_decode(counts, before, after),
        prefix_queries=queries,
        prefix_hits=hits,
        prefix_hit_rate=None if hits is None else _ratio(hits, queries),
        preemptions=counts.get("preemptions"),
        kv_cache_peak=None if "kv_cache" not in peaks else round(peaks["kv_cache"], 6),
        running_peak=None if "running" not in peaks else round(peaks["running"]),
        waiting_peak=None if "waiting" not in peaks else round(peaks["waiting"]),
    )


def _spec_decode(counts: Mapping[str, int], before: Snapshot, after: Snapshot) -> SpecDecode | None:
    """Speculative decoding by counters, or by gauges if the server has only these."""
    drafts, tokens, accepted = (counts.get(name) for name in ("drafts", "draft_tokens", "accepted_tokens"))
    if accepted is None:
        length, rate = after.gauges.get("accept_length"), after.gauges.get("accept_rate")
        if not length and not rate:
            return None
        return SpecDecode(acceptance_rate=rate or None, acceptance_length=length or None)
    earlier = (*before.positions, *[0.0] * (len(after.positions) - len(before.positions)))
    each = [now - then for now, then in zip(after.positions, earlier, strict=True)]
    extra = _ratio(accepted, drafts)
    return SpecDecode(
        drafts=drafts,
        draft_tokens=tokens,
        accepted_tokens=accepted,
        acceptance_rate=_ratio(accepted, tokens),
        acceptance_length=None if extra is None else round(1 + extra, 6),
        per_position=tuple(round(count / drafts, 6) for count in each) if drafts else (),
    )


def _ratio(part: int, whole: int | None) -> float | None:
    return round(part / whole, 6) if whole else None
