"""The page of a benchmark run: its figures in words and numbers, and the samples that a reader wants to see first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from benchwright.core import (
    JsonObject,
    JsonValue,
    MetricSummary,
    Note,
    Outcome,
    RunSummary,
    exact_json,
    reused_span,
    rfc3339,
)
from benchwright.results._distributions import MOST_READ, Distributions
from benchwright.results._figures import (
    figures_of,
    figures_to_show,
    graded_notes,
    headline_of,
    interval_of,
    no_interval,
    notes_json,
    number,
    outcome_name,
    plural,
    reused_of,
    usage,
)
from benchwright.results._runs import RunDetails
from benchwright.results._sample_columns import COLUMNS
from benchwright.results._settings import endpoint_origin, param_origin

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
    """Collects the samples of a page while they pass by, counts all of them by group, and finds the distributions of their figures."""

    def __init__(self, least: int = 0, distributions: Distributions | None = None) -> None:
        """`least`: samples of each group that are shown at least, if there are as many."""
        self._distributions = distributions
        self.counts: Counter[Group] = Counter()
        self.records: list[dict[str, Any]] = []
        """The chosen samples in row order, as JSON objects."""
        self._left = {group: max(most, least) for group, most in MOST_SHOWN.items()}
        self._bytes = _MOST_BYTES

    def add(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Take some samples, column by column."""
        groups = list(map(_group, columns["scores"], columns["verdict"]))
        self.counts.update(groups)
        if self._distributions is not None:
            self._distributions.add(columns)
        if self._bytes <= 0 or not any(self._left[group] for group in set(groups)):
            return
        for place, group in enumerate(groups):
            if self._left[group] and self._bytes > 0:
                self._left[group] -= 1
                record = dict(_shown({name: columns[name][place] for name in COLUMNS}))
                self._bytes -= sum(len(value) for value in record.values() if isinstance(value, str))
                self.records.append({**record, KIND: group})

    @classmethod
    def of(cls, details: RunDetails, summary: RunSummary) -> ChosenSamples:
        """For the page of a run."""
        return cls(details.report_size or 0, Distributions(details.manifest, summary))

    def overview(self, run_id: int) -> JsonObject:
        """`{counts, distributions}` of all samples; without samples, `distributions` is None."""
        known = self._distributions
        found = None if known is None or not self.counts else known.to_json(run_id)
        return {
            "counts": {str(group): number for group, number in self.counts.items()},
            "distributions": found,
        }

    @property
    def many(self) -> bool:
        """Whether there are so many samples that their overview must be kept."""
        return self.counts.total() > MOST_READ


def _group(scores: dict[str, Any] | None, verdict: Group | None) -> Group:
    return "failed" if scores is None else verdict or "scored"


def _shown(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values that are there, with long texts cut. JSON stays a text: a browser would round its integers beyond 53 bits."""
    for name, value in record.items():
        text = value.decode(errors="replace") if isinstance(value, bytes) else value
        if isinstance(text, str) and len(text) > _LONGEST_TEXT:
            yield name, f"{text[:_LONGEST_TEXT]}… ({len(text):,} characters)"
        elif text is not None:
            yield name, text


def run_page(
    details: RunDetails, summary: RunSummary, counts: JsonObject, request: bytes | None = None
) -> JsonObject:
    """Everything that the page of a run shows, except for its samples: texts and numbers in the order of the page. `counts` are its
    samples by group; empty if the run keeps none in its folder. `request` is the body of one request."""
    run = details.run
    shown, equal = figures_to_show(summary)
    known = figures_of(summary)
    said = (
        "" if run.error is None or run.error == run.status else run.error
    )  # the page has the status already
    return {
        "about": f"Run {run.id}, {run.status}, started {rfc3339(run.created_at)[:16].replace('T', ' ')} UTC.",
        "notes": [*_moved(details), *_graded(summary, said)],
        "metrics": [_metric(name, metric, summary) for name, metric in shown.items()],
        "equal": f"{', '.join(equal)}: the same as {headline_of(summary)}" if equal else "",
        "both": summary.failed > 0,
        "outcomes": ended(summary),
        "reasons": " · ".join(f"{reason} {count:,}" for reason, count in summary.reasons.items()),
        "derived": [
            [name, number(value).rstrip("0").rstrip(".")]  # some are counts
            for name, value in summary.derived.items()
            if name not in known and isinstance(value, int | float)
        ],
        "facts": [[label, words] for label, words in [*usage(summary), *_from_cache(summary)]],
        "counts": counts,
        "settings": [
            [heading, [[key, value, origin(details.settings, key)] for key, value in _flat(table)]]
            for heading, table, origin in (
                ("Model", details.endpoint, endpoint_origin),
                ("Parameters", details.params, param_origin),
                ("Data and versions", details.manifest, lambda _, __: None),  # facts, which nobody sets
            )
        ],
        "origins": details.origins is not None,
        "request": None if request is None else request.decode(errors="replace"),
        "command": details.command,
    }


def _graded(summary: RunSummary, said: str) -> list[JsonValue]:
    return list(notes_json(graded_notes(summary, said)))


def _moved(details: RunDetails) -> list[JsonValue]:
    """The note on labels that would move the numbers."""
    text = (details.labels or {}).get("text")
    return list(notes_json([Note.of(str(text))])) if text else []


def _from_cache(summary: RunSummary) -> list[tuple[str, str]]:
    """How many replies came from earlier runs, and how old they are."""
    reused = reused_of(summary)
    if reused is None:
        return []
    span = reused_span(reused)
    return [("from cache", f"{plural(reused['replies'], 'reply')}{f' ({span})' if span else ''}")]


def ended(summary: RunSummary) -> list[JsonValue]:
    """Each outcome, with its name on a page and the number of its samples."""
    unscored = bool(summary.unscored)
    return [
        [
            outcome.value,
            outcome_name(outcome.value, unscored=unscored),
            summary.outcomes.get(outcome.value, 0),
        ]
        for outcome in Outcome
    ]


def _metric(name: str, metric: MetricSummary, summary: RunSummary) -> JsonObject:
    """A row of the table of metrics. An interval of no width, which old runs may have, is none."""
    interval = interval_of(metric)
    wrong, count = metric.with_failures, metric.with_failures_count
    over = next((figure for figure in summary.over_repeats if name.endswith(f", {figure}")), None)
    at_home = name in summary.metrics or over is None
    place = ["metrics", name] if at_home else ["over_repeats", over, name.removesuffix(f", {over}")]
    return {
        "name": name,
        "path": ["summary", *place],
        "value": metric.value,
        "text": number(metric.value),
        "interval": interval or no_interval(metric),
        "low": None if interval is None else metric.ci_low,
        "high": None if interval is None else metric.ci_high,
        "share": metric.is_fraction,
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
