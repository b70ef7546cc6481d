"""What a comparison is: both sides, each metric with its paired test, and the samples that changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import JsonObject, JsonValue, NotFoundError, encode_json, json_differences, suggest
from benchwright.stats import PairedResult
from benchwright.store import RunRecord

Direction: TypeAlias = Literal["up", "down", "same", "mixed"]
"""Where a metric went from the first run to the second."""

Presence: TypeAlias = Literal["both", "only_a", "only_b"]
"""Which runs have a sample or step."""


LISTED = 20
"""Changed samples and differing steps that are listed unless more are requested."""


class ComparisonOptions(Struct, frozen=True):
    """How to compare two runs of the same kind."""

    metric: str | None = None
    """Only this metric; None: all."""
    tolerance: float = 0.0
    """Scores that are no further apart count as equal."""
    times: bool = False
    """Whether differences in latency count as differences."""
    force: bool = False
    """Compare also where data, prompts or scorers differ."""
    listed: int | None = LISTED
    """Most changed samples and steps to list; None: all of them."""
    lower: Collection[str] = ()
    """Metrics of which less is better, besides those that a run declares or whose names say so."""
    harmless: Collection[str] = ()
    """Settings of a run, and of its model, that change no result. All others are compared."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs."""

    id: int
    """Number in the workspace."""
    workflow_name: str
    """Name of the benchmark or workflow."""
    status: str
    """How the run ended."""
    model_name: str
    """Model id."""
    duration: float | None
    """Seconds from start to end."""
    endpoint: str = ""
    """Where the model is: two servers may know theirs by the same name."""
    rows: int | None = None
    """Rows of the data that the run covers; None for workflows."""
    repeats: int | None = None
    """Times each row was requested."""
    evaluated: int | None = None
    """Samples that have an outcome."""
    failed: int | None = None
    """Samples without a score."""
    outcomes: dict[str, int] | None = None
    """Samples per outcome, all eight named; None for workflows."""
    title: str = ""
    """What tables call the run: `run 3`, or its folder where it is not of this workspace."""
    comparable: bool = True
    """Whether the run's numbers may be compared: it is complete, and not too many samples failed."""


@dataclass(frozen=True, slots=True)
class MetricSide:
    """One metric of one run, over all its samples."""

    value: float
    """Mean over the samples that have it."""
    count: int
    """Values in it."""
    ci_low: float | None
    """Lower end of its 95 % interval."""
    ci_high: float | None
    """Upper end."""
    failures_as_wrong: float | None = None
    """Mean with every failed sample counted as 0; None where that says nothing."""
    too_few: bool = False
    """Whether the rows are too few to rely on the interval."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric in both runs."""

    name: str
    """The metric."""
    run_a: MetricSide | None
    """In the first run; None where it has none."""
    run_b: MetricSide | None
    """In the second."""
    paired: PairedResult | None
    """The samples that both measured, tested as pairs; None where there are none."""
    same: bool
    """Whether no paired sample differs by more than the tolerance, and both runs have the metric."""
    direction: Direction
    """Where it went."""
    noise: bool
    """Whether it is a time, which differs from run to run; left out of `differs` unless requested."""
    lower_is_better: bool = False
    """Whether a smaller value is the better one."""
    p_adjusted: float | None = None
    """The p-value, corrected by Holm's rule for the number of metrics that were tested; None where none was."""
    failures_as_wrong: PairedResult | None = None
    """The same test with every failed sample counted as 0; None where no paired sample failed."""

    @property
    def significant(self) -> bool:
        """Whether the corrected test tells the runs apart at 5 %."""
        return self.p_adjusted is not None and self.p_adjusted < 0.05

    @property
    def worse(self) -> bool:
        """Whether the second run is worse, by chance or not."""
        return self.direction == ("up" if self.lower_is_better else "down")


@dataclass(frozen=True, slots=True)
class ChangedSample:
    """A sample whose score, outcome or reply is not the same in both runs."""

    step: str
    """Row and repeat, as `show` takes them; for workflows the step's key."""
    metric: str | None
    """The metric by which it was ranked: the headline, if that changed."""
    run_a: JsonValue
    """Outcome, reply and scores of the first run."""
    run_b: JsonValue
    """Of the second."""


@dataclass(frozen=True, slots=True)
class StepPair:
    """One sample or step by key."""

    step: str
    """Its key."""
    present: Presence
    """Which runs have it."""
    input: Literal["same", "differs"]
    """Whether both were given the same."""
    status: Literal["same", "differs"]
    """Whether both ended the same way."""
    output: Literal["same", "differs"]
    """Whether both returned the same."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side."""

    run_a: Side
    """The first run."""
    run_b: Side
    """The second."""
    differs: bool
    """Whether a score, outcome or metric differs beyond the tolerance; times do not count unless requested."""
    regressed: bool
    """Whether a metric is worse in the second run and its corrected test says that this is no accident."""
    warnings: tuple[str, ...]
    """What makes the comparison doubtful."""
    metrics: tuple[MetricComparison, ...]
    """Each metric of either run, the headline first."""
    steps: tuple[StepPair, ...]
    """Samples or steps that are not the same in both, up to a limit; all of them where all were requested."""
    changed: tuple[ChangedSample, ...]
    """The first samples that changed, losses first."""
    both: int
    """Samples that both runs have."""
    only_a: int
    """Samples that only the first has."""
    only_b: int
    """Samples that only the second has."""
    inputs: JsonObject
    """The inputs or settings of the runs, where they differ."""
    outputs: JsonObject
    """`same`, and the runs' own outputs where they have any."""
    noun: Literal["sample", "step"] = "sample"
    """What was paired."""

    @property
    def comparable(self) -> bool:
        """Whether the numbers of both runs may be compared: neither is doubtful, and they have samples in common."""
        shared = self.both > 0 or self.noun == "step"
        return shared and self.run_a.comparable and self.run_b.comparable

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        metrics: list[JsonValue] = []
        for metric in self.metrics:
            a, b = metric.run_a, metric.run_b
            delta = None if a is None or b is None else b.value - a.value
            metrics.append(
                {
                    "name": metric.name,
                    "run_a": [] if a is None else [a.value],
                    "run_b": [] if b is None else [b.value],
                    "same": metric.same,
                    "deltas": [delta],
                    "direction": metric.direction,
                    "noise": metric.noise,
                    "interval_a": None if a is None else [a.ci_low, a.ci_high],
                    "interval_b": None if b is None else [b.ci_low, b.ci_high],
                    "too_few": any(side is not None and side.too_few for side in (a, b, metric.paired)),
                    "count_a": None if a is None else a.count,
                    "count_b": None if b is None else b.count,
                    "paired": None if metric.paired is None else asdict(metric.paired),
                    "p_adjusted": metric.p_adjusted,
                    "significant": metric.significant,
                    "lower_is_better": metric.lower_is_better,
                    "failures_as_wrong_a": None if a is None else a.failures_as_wrong,
                    "failures_as_wrong_b": None if b is None else b.failures_as_wrong,
                    "paired_failures_as_wrong": None
                    if metric.failures_as_wrong is None
                    else asdict(metric.failures_as_wrong),
                }
            )
        return {
            "run_a": asdict(self.run_a),
            "run_b": asdict(self.run_b),
            "differs": self.differs,
            "regressed": self.regressed,
            "comparable": self.comparable,
            "warning": "; ".join(self.warnings) or None,
            "input_comparison": self.inputs,
            "output_comparison": self.outputs,
            "samples": {"both": self.both, "only_a": self.only_a, "only_b": self.only_b},
            "steps": [asdict(step) for step in self.steps],
            "output_differences": [
                {
                    "step": change.step,
                    "run_a": {"raw": encode_json(change.run_a).decode(), "json": change.run_a},
                    "run_b": {"raw": encode_json(change.run_b).decode(), "json": change.run_b},
                    "field_differences": field_differences(change.run_a, change.run_b),
                }
                for change in self.changed
            ],
            "metrics": metrics,
        }


def title_of(run: RunRecord) -> str:
    """What messages call a run: its number, or its folder where it is not of this workspace."""
    return f"run {run.id}" if run.id > 0 else f"{run.folder.parent.name}/{run.folder.name}"


def requested_metrics(names: Sequence[str], only: str | None) -> list[str]:
    """The metrics of both runs, each once; or the one that was requested. NotFoundError where neither run has it."""
    known = list(dict.fromkeys(names))
    if only is None:
        return known
    if only not in known:
        there = ", ".join(known) or "none"
        raise NotFoundError(f"neither run has a metric {only!r}.{suggest(only, known)} They have: {there}")
    return [only]


def adjusted(metrics: Iterable[MetricComparison]) -> list[MetricComparison]:
    """The metrics with p-values corrected by Holm's rule: of many that are tested, some differ by chance. Times are
    no part of it."""
    found = list(metrics)
    tested = sorted(
        (place for place, metric in enumerate(found) if metric.paired is not None and not metric.noise),
        key=lambda place: found[place].paired.p_value,  # type: ignore[union-attr]
    )
    largest = 0.0
    for rank, place in enumerate(tested):
        paired = found[place].paired
        assert paired is not None
        largest = max(largest, min(1.0, paired.p_value * (len(tested) - rank)))
        found[place] = replace(found[place], p_adjusted=largest)
    return found


def direction_of(
    a: float | None, b: float | None, paired: PairedResult | None, tolerance: float
) -> Direction:
    """Where a metric went: by the samples that both runs have, where there are some."""
    if a is None or b is None:
        return "mixed"
    difference = b - a if paired is None else paired.difference
    if abs(difference) <= max(tolerance, 1e-12):  # sums of equal values may differ in their last bit
        return "same"
    return "up" if difference > 0 else "down"


def field_differences(a: JsonValue, b: JsonValue, path: str = "$") -> list[JsonValue]:
    """Where two JSON values differ, as paths with both values.

    >>> field_differences({"x": 1, "y": {"z": 2}}, {"x": 1, "y": {"z": 3}})
    [{'path': '$.y.z', 'run_a': 2, 'run_b': 3}]
    """
    return [{"path": d.path, "run_a": d.old, "run_b": d.new} for d in json_differences(a, b, path)]
