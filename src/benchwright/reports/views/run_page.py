"""The page of a benchmark run: its figures in words and numbers, and the samples that a reader wants to see first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from benchwright.core import (
    OUTCOMES,
    JsonObject,
    JsonValue,
    MetricSummary,
    RunSummary,
    exact_json,
    percent,
    rfc3339,
)
from benchwright.reports.views.figures import (
    cost_lines,
    figures_of,
    headline_of,
    is_fraction,
    judge_lines,
    no_interval,
    number,
    outcome_name,
    plural,
    tokens,
    too_few_notes,
)
from benchwright.reports.views.runs import RunDetails
from benchwright.reports.views.sample_columns import COLUMNS
from benchwright.store import verdict_of

Group: TypeAlias = Literal["wrong", "failed", "scored", "right"]
"""What a reader looks for: wrong samples, samples that failed, samples that are neither right nor wrong, and right ones."""
MOST_SHOWN: dict[Group, int] = {"wrong": 150, "failed": 100, "scored": 150, "right": 50}
"""The most samples of each group on a page. The first ones are shown."""
_MOST_BYTES = 1_500_000
"""About the most bytes of samples on a page, so that a browser opens it at once."""
_LONGEST_TEXT = 10_000
"""Characters of a text on a page; a longer one is cut."""
KIND = "kind"
"""The key of a sample's group. `group` is a column: the sample's category."""


class ChosenSamples:
    """Collects the samples of a page while they pass by, and counts all of them by group."""

    def __init__(self, least: int = 0) -> None:
        """`least`: samples of each group that are shown at least, if there are as many."""
        self.counts: Counter[Group] = Counter()
        self.records: list[dict[str, Any]] = []
        """The chosen samples in row order, as JSON objects."""
        self._left = {group: max(most, least) for group, most in MOST_SHOWN.items()}
        self._bytes = _MOST_BYTES

    def add(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Take some samples, column by column."""
        groups = list(map(_group, columns["scores"]))
        self.counts.update(groups)
        if self._bytes <= 0 or not any(self._left[group] for group in set(groups)):
            return
        for place, group in enumerate(groups):
            if self._left[group] and self._bytes > 0:
                self._left[group] -= 1
                record = dict(_shown({name: columns[name][place] for name in COLUMNS}))
                self._bytes -= sum(len(value) for value in record.values() if isinstance(value, str))
                self.records.append({**record, KIND: group})


def _group(scores: dict[str, Any] | None) -> Group:
    return "failed" if scores is None else verdict_of(scores) or "scored"


def _shown(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values that are there, with long texts cut. JSON stays a text: a browser would round its integers beyond 53 bits."""
    for name, value in record.items():
        text = value.decode(errors="replace") if isinstance(value, bytes) else value
        if isinstance(text, str) and len(text) > _LONGEST_TEXT:
            yield name, f"{text[:_LONGEST_TEXT]}… ({len(text):,} characters)"
        elif text is not None:
            yield name, text


class RunPage(Struct, frozen=True):
    """Everything that the page of a run shows, except for its samples."""

    details: RunDetails
    """The run in full."""
    summary: RunSummary
    """Its figures."""
    counts: Mapping[Group, int]
    """Its samples by group; empty if the run keeps none in its folder."""

    @property
    def title(self) -> str:
        """The benchmark and the model."""
        return f"{self.details.run.name} on {self.details.run.model_title}"

    def to_json(self) -> JsonObject:
        """The texts and numbers in the order of the page."""
        summary, run = self.summary, self.details.run
        names = sorted(summary.metrics, key=lambda name: name != headline_of(summary))
        metrics = {**{name: summary.metrics[name] for name in names}, **figures_of(summary)}
        size = plural(summary.rows, "row")
        if summary.repeats != 1:
            size += f" × {plural(summary.repeats, 'repeat')}"
        return {
            "about": f"Run {run.id}, {run.status}, started {rfc3339(run.created_at)[:16].replace('T', ' ')} UTC. {size}.",
            "verdicts": [
                [state, words]
                for state, words in sorted(self._verdicts(), key=lambda verdict: verdict[0] != "bad")
            ],
            "metrics": [_metric(name, metric, summary) for name, metric in metrics.items()],
            "both": summary.failed > 0,
            "outcomes": [
                [
                    outcome_name(outcome.value, unscored=bool(summary.unscored)),
                    summary.outcomes.get(outcome.value, 0),
                ]
                for outcome in OUTCOMES
            ],
            "reasons": " · ".join(f"{reason} {count:,}" for reason, count in summary.reasons.items()),
            "derived": [
                [name, number(value).rstrip("0").rstrip(".")]  # some are counts
                for name, value in summary.derived.items()
                if name not in metrics and isinstance(value, int | float)
            ],
            "facts": [[label, words] for label, words in self._facts()],
            "counts": {group: self.counts[group] for group in self.counts},
            "settings": self._settings(),
            "command": self.details.command,
        }

    def _verdicts(self) -> Iterator[tuple[str, str]]:
        """How far the figures can be trusted."""
        summary, run = self.summary, self.details.run
        if run.error and run.error != run.status:  # the page says already that it was interrupted
            yield ("bad" if run.status == "failed" else "warn"), run.error
        if not summary.comparable:
            yield "bad", "The figures cannot be compared with those of other runs."
        elif summary.metrics:
            share = summary.failed / summary.evaluated if summary.evaluated else 0.0
            failed = (
                f"{summary.failed:,} of {plural(summary.evaluated, 'sample')} failed ({percent(share, 1)})"
            )
            yield (
                ("warn" if summary.failed else "ok"),
                f"The figures can be compared with those of other runs: {failed}.",
            )
        for note in (*summary.notes, *too_few_notes(summary)):
            if note != run.error:
                yield "warn", note

    def _facts(self) -> Iterator[tuple[str, str]]:
        summary = self.summary
        if counted := tokens(summary):
            yield "tokens", counted
        for line in cost_lines(summary.cost):
            yield "cost", line
        for line in judge_lines(summary):
            yield "judge", line

    def _settings(self) -> JsonValue:
        details = self.details
        sections = {
            "Model": details.endpoint,
            "Parameters": details.params,
            "Data and versions": details.manifest,
        }
        return [
            [heading, [[key, value] for key, value in _flat(table)]] for heading, table in sections.items()
        ]


def _metric(name: str, metric: MetricSummary, summary: RunSummary) -> JsonObject:
    """A row of the table of metrics. An interval of no width, which old runs may have, is none."""
    low, high = metric.ci_low, metric.ci_high
    known = low is not None and high is not None and low != high
    wrong, count = metric.with_failures, metric.with_failures_count
    return {
        "name": name,
        "value": metric.value,
        "text": number(metric.value),
        "interval": f"{number(low or 0.0)} – {number(high or 0.0)}" if known else no_interval(metric),
        "low": low if known else None,
        "high": high if known else None,
        "share": is_fraction(metric),
        "n": f"{metric.count:,}",
        "wrong": "–" if wrong is None else f"{number(wrong)} (n {count or 0:,})",
        "lower_is_better": name in summary.lower_is_better,
    }


def _flat(value: JsonValue, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The values of nested tables under dotted keys, as texts; those that are not set are left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{prefix}.{key}" if prefix else str(key))
    elif value is not None:
        yield prefix, value if isinstance(value, str) else exact_json(value).decode()
