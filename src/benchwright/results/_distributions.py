"""Distributions of the figures of a run's samples: scores, times, tokens, cost and length, and how stable repeats are.

One pass over the samples, in a few bytes for each. Pages get at most 20 bins of a figure, never its values.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, fsum, isfinite, log10
from typing import Any

from benchwright.core import JsonObject, JsonValue, RunSummary, UsageError
from benchwright.results._figures import headline_of
from benchwright.results._samples import RunSamples
from benchwright.results._settings import table_of
from benchwright.stats import percentile
from benchwright.store import RunRecord, Store

MOST_BINS = 20
_MOST_STRIPS = 20
"""The most rows whose repeats are listed one by one: the least stable ones."""
_FAR = 2.0
"""Values this many times beyond the 99th percentile are counted together, because they would leave one bin for all others."""
_READ = ("sample_id", "scores", "response", "latency_s", "prompt_tokens", "completion_tokens")
_UNITS = {
    "latency_s": "s",
    "prompt_tokens": "tokens",
    "completion_tokens": "tokens",
    "reply_length": "characters",
}


MOST_READ = 100_000
"""The most samples whose distributions are found where nobody asked for them alone, as in a run's JSON. A run with more keeps an overview
of its samples at its end; one with fewer is read as quickly."""


def run_distributions(store: Store, run: RunRecord) -> JsonObject:
    """`{run_id, figures, repeats}`: the figures that some sample has, each as `histogram` returns it, and the stability of repeats,
    None without them; as the end of the run kept them, or found now. Raises UsageError for a run without a result."""
    from benchwright.results._kinds import kind_of

    kept = store.overview(run)
    if kept is not None:
        return table_of(kept["distributions"])
    samples = kind_of(run).samples
    summary = None if samples is None else samples(store, run)[0].result
    if summary is None:
        raise UsageError(f"run {run.id} ({run.name}) has no result yet: it is {run.status}")
    found = Distributions(run.manifest, summary)
    for block in RunSamples(store, run).columns(_READ):
        found.add(block)
    distributions = found.to_json(run.id)
    if summary.evaluated > MOST_READ:  # of a version that kept none
        from benchwright.results._run_document import group_counts

        store.keep_overview(run, {"counts": group_counts(store, run), "distributions": distributions})
    return distributions


class Distributions:
    """Collects the figures of samples while they pass by."""

    def __init__(self, manifest: JsonObject, summary: RunSummary) -> None:
        self._summary = summary
        self._metric = headline_of(summary)
        self._price = _price(manifest, summary.cached_tokens)
        self._scores, self._costs, self._times = array("d"), array("d"), array("d")
        self._counts: dict[str, Counter[int]] = {name: Counter() for name in _UNITS if name != "latency_s"}
        """How often each number occurs: many samples have few of them."""
        self._rows = _Rows() if summary.repeats > 1 and self._metric is not None else None

    def add(self, block: Mapping[str, Sequence[Any]]) -> None:
        """Take some samples, column by column."""
        metric, price, counts = self._metric, self._price, self._counts
        found: list[Any] = [
            None if each is None or metric is None else each.get(metric) for each in block["scores"]
        ]
        # Lists, because a generator costs a call for each sample, and every run that ends comes by.
        kinds = {*map(type, found)}
        if kinds == {bool}:
            found = [1.0 if each else 0.0 for each in found]
        elif kinds != {float} or not all(map(isfinite, found)):
            found = [_number(each) for each in found]
        self._scores.extend([each for each in found if each is not None])
        self._times.extend([each for each in block["latency_s"] if each is not None])
        for name in ("prompt_tokens", "completion_tokens"):
            counts[name].update([each for each in block[name] if each is not None])
        counts["reply_length"].update([len(each) for each in block["response"] if each is not None])
        if price is not None:
            pairs = zip(block["prompt_tokens"], block["completion_tokens"], strict=True)
            self._costs.extend(
                [
                    sent * price[0] + got * price[1]
                    for sent, got in pairs
                    if sent is not None and got is not None
                ]
            )
        if self._rows is not None:
            self._rows.add(block["sample_id"], found)

    def to_json(self, run_id: int) -> JsonObject:
        """As `run_distributions` returns them."""
        metric, price, rows = self._metric or "", self._price, self._rows
        figures: list[tuple[str, str, Sequence[float]]] = [
            ("score", metric, self._scores),
            ("latency_s", _UNITS["latency_s"], self._times),
            *((name, _UNITS[name], list(found.elements())) for name, found in self._counts.items()),
        ]
        if price is not None:
            figures.append(("cost", price[2], self._costs))
        return {
            "run_id": run_id,
            "figures": [histogram(name, unit, each) for name, unit, each in figures if each],
            "repeats": None if rows is None else rows.to_json(metric, self._summary.repeats),
        }


def histogram(name: str, unit: str, values: Sequence[float]) -> JsonObject:
    """`{name, unit, count, mean, p50, p95, min, max, first, step, bins, above}`: `bins` counts values from `first` on in steps of `step`,
    each bin with its lower end, and the last one with its upper end too unless all are whole numbers; `above` counts those beyond the last bin.

    >>> found = histogram("latency_s", "s", [1.0, 1.5, 2.5, 3.0])
    >>> found["first"], found["step"], found["bins"]
    (1.0, 0.1, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1])
    """
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    late = percentile(ordered, 99)
    if low >= 0 and high > _FAR * late > 0:
        high = late
    whole = all(map(float.is_integer, map(float, ordered)))
    step = _step(low, high, whole=whole)
    first = floor(low / step + 1e-9) * step
    size = _bins(low, high, step, whole=whole)

    def bin_of(value: float) -> int:
        return floor((value - first) / step + 1e-9)

    ends = [bisect_left(ordered, place, key=bin_of) for place in range(1, size + 1)]
    ends[-1] = max(ends[-1], bisect_right(ordered, high))
    return {
        "name": name,
        "unit": unit,
        "count": len(ordered),
        "mean": fsum(ordered) / len(ordered),
        "p50": percentile(ordered, 50),
        "p95": percentile(ordered, 95),
        "min": low,
        "max": ordered[-1],
        "first": _plain(first),
        "step": _plain(step),
        "bins": [end - begin for begin, end in pairwise([0, *ends])],
        "above": len(ordered) - ends[-1],
    }


def _step(low: float, high: float, *, whole: bool) -> float:
    """The smallest round width with at most 20 bins; at least 1 for whole numbers."""
    if high <= low:
        return 1.0 if whole else abs(low) or 1.0
    power = floor(log10((high - low) / MOST_BINS))
    for step in (digit * 10.0**exponent for exponent in (power, power + 1) for digit in (1, 2, 5)):
        if whole and step < 1:
            continue
        if _bins(low, high, step, whole=whole) <= MOST_BINS:
            return step
    return 10.0 ** (power + 2)


def _bins(low: float, high: float, step: float, *, whole: bool) -> int:
    """The number of bins. A whole number on the upper end is in a bin of its own: 0 and 1 are not the same."""
    last = floor(high / step + 1e-9) + 1 if whole else ceil(high / step - 1e-9)
    return max(1, last - floor(low / step + 1e-9))


def _plain(value: float) -> float:
    """A value without the noise of its last bits."""
    return float(f"{value:.12g}")


class _Rows:
    """The scores of each row's repeats, which come one after the other."""

    def __init__(self) -> None:
        self._row: int | None = None
        self._repeats: list[float | None] = []
        self._kinds: Counter[str] = Counter()
        self._right: Counter[int] = Counter()
        self._other = False
        self._strips: list[tuple[float, int, list[float | None]]] = []

    def add(self, numbers: Iterable[int], scores: Iterable[float | None]) -> None:
        """Add the score of each repeat."""
        for number, score in zip(numbers, scores, strict=True):
            if number != self._row:
                self._end()
                self._row = number
            self._repeats.append(score)

    def _end(self) -> None:
        if self._row is None:
            return
        known = [each for each in self._repeats if each is not None]
        spread = max(known) - min(known) if known else 0.0
        self._kinds["unscored" if not known else "changing" if spread else "stable"] += 1
        self._other = self._other or any(each not in (0, 1) for each in known)
        if known:
            self._right[int(sum(each == 1 for each in known))] += 1
        if spread:
            variance = (len(known) * sum(each * each for each in known) - sum(known) ** 2) / len(known) ** 2
            self._strips.append((-variance, self._row, self._repeats))
            if len(self._strips) > 2 * _MOST_STRIPS:
                self._strips = sorted(self._strips, key=lambda strip: strip[:2])[:_MOST_STRIPS]
        self._repeats = []

    def to_json(self, metric: str, repeats: int) -> JsonObject:
        """`{metric, repeats, stable, changing, unscored, right, rows}`: rows by the number of their right repeats, None if scores are not
        just right or wrong, and the least stable rows with the score of each repeat."""
        self._end()
        self._row = None
        strips = sorted(self._strips, key=lambda strip: strip[:2])[:_MOST_STRIPS]
        right: JsonValue = None if self._other else [self._right[number] for number in range(repeats + 1)]
        kinds: JsonObject = {kind: self._kinds[kind] for kind in ("stable", "changing", "unscored")}
        return {
            "metric": metric,
            "repeats": repeats,
            **kinds,
            "right": right,
            "rows": [{"sample_id": row, "scores": list[JsonValue](scores)} for _, row, scores in strips],
        }


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, bool | int | float) and isfinite(value) else None


def _price(manifest: JsonObject, cached_tokens: int) -> tuple[float, float, str] | None:
    """What a prompt token and a completion token cost, and the currency; None if that is not known for each sample, as where tokens from the
    server's cache have a price of their own."""
    known = table_of(table_of(manifest.get("prices")).get("model"))
    if not known or (cached_tokens and known.get("cached_input") is not None):
        return None
    return known["input"] / 1e6, known["output"] / 1e6, str(known["currency"])
