"""What a comparison is: both sides, each metric with its paired test, and the samples that changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import JsonObject, JsonValue, NotFoundError, encode_json, json_differences, suggest
from benchwright.stats import PairedResult
from benchwright.store import RunRecord

Direction: TypeAlias = Literal["up", "down", "same", "mixed"]
"""Where a metric went from the first run to the second."""

Test: TypeAlias = tuple[str, bytes, float]
"""One test of a comparison, which several metrics may share: its kind, the differences it saw, and its p-value."""

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
    no_interval: str = "too few"
    """What tables show where there is no interval; `–`: the metric needs none."""


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
    """The p-value, corrected by Holm's rule for the number of tests; None where no pair differs, and for times."""
    failures_as_wrong: PairedResult | None = None
    """The same test with every failed sample counted as 0; None where no paired sample failed."""
    p_adjusted_failures_as_wrong: float | None = None
    """The p-value of that test, corrected for the number of such tests."""
    question: bytes = b""
    """Stands for the paired differences, as `question_of` gives it: metrics that have the same are tested once."""
    question_failures_as_wrong: bytes = b""
    """Of the pairs with failed samples as 0."""

    @property
    def significant(self) -> bool:
        """Whether the corrected test tells the runs apart at 5 %."""
        return self.p_adjusted is not None and self.p_adjusted < 0.05

    @property
    def worse(self) -> bool:
        """Whether the second run is worse, by chance or not."""
        return self.direction == ("up" if self.lower_is_better else "down")

    @property
    def test(self) -> Test | None:
        """The test that the metric stands for; None where no pair differs, and for times."""
        return None if self.noise else _test(self.name, self.paired, self.question)

    @property
    def test_failures_as_wrong(self) -> Test | None:
        """The same with failed samples as 0."""
        return (
            None if self.noise else _test(self.name, self.failures_as_wrong, self.question_failures_as_wrong)
        )


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

    @property
    def tests(self) -> int:
        """Tests for which `p_adjusted` is corrected."""
        return len({metric.test for metric in self.metrics} - {None})

    @property
    def tests_failures_as_wrong(self) -> int:
        """Tests for which `p_adjusted_failures_as_wrong` is corrected."""
        return len({metric.test_failures_as_wrong for metric in self.metrics} - {None})

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
                    "paired": _paired_json(metric.paired),
                    "p_adjusted": metric.p_adjusted,
                    "significant": metric.significant,
                    "lower_is_better": metric.lower_is_better,
                    "failures_as_wrong_a": None if a is None else a.failures_as_wrong,
                    "failures_as_wrong_b": None if b is None else b.failures_as_wrong,
                    "paired_failures_as_wrong": _paired_json(metric.failures_as_wrong),
                    "p_adjusted_failures_as_wrong": metric.p_adjusted_failures_as_wrong,
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
            "tests": self.tests,
            "tests_failures_as_wrong": self.tests_failures_as_wrong,
        }


def _paired_json(paired: PairedResult | None) -> JsonObject | None:
    """The pairs of a metric; without a p-value where no pair differs, because nothing was tested."""
    if paired is None:
        return None
    return {**asdict(paired), "p_value": paired.p_value if differing(paired) else None}


def differing(paired: PairedResult) -> int:
    """Pairs whose sides are not equal."""
    return paired.wins + paired.losses


def _test(name: str, paired: PairedResult | None, question: bytes) -> Test | None:
    if paired is None or not differing(paired):
        return None
    return paired.test, question or name.encode(), paired.p_value


def question_of(pairs: Iterable[tuple[object, float, float]]) -> bytes:
    """Stands for paired differences: equal for metrics that differ by the same amount in the same pairs.

    Each pair is its row or step and both values.

    >>> question_of([(0, 0, 1), (1, 1, 1)]) == question_of([(0, 2, 3), (1, 0, 0)])
    True
    >>> question_of([(0, 0, 1), (1, 1, 1)]) == question_of([(0, 1, 1), (1, 0, 1)])
    False
    """
    digest = blake2b(digest_size=16)
    for key, a, b in pairs:
        digest.update(f"{key}\0{float(b) - float(a)}\0".encode())
    return digest.digest()


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
    """The metrics with p-values corrected by Holm's rule: of many tests, some find a difference by chance.

    Metrics with the same paired differences ask one question, so they share one test. Metrics without a differing pair
    and times are no part of it. Counting failures as wrong asks each question a second time: these tests are corrected
    among themselves.
    """
    found = list(metrics)
    plain = _by_holm({metric.test for metric in found})
    wrong = _by_holm({metric.test_failures_as_wrong for metric in found})
    return [
        replace(
            metric,
            p_adjusted=plain.get(metric.test),
            p_adjusted_failures_as_wrong=wrong.get(metric.test_failures_as_wrong),
        )
        for metric in found
    ]


def _by_holm(tests: Collection[Test | None]) -> dict[Test | None, float]:
    ranked = sorted((test for test in tests if test is not None), key=lambda test: test[2])
    corrected: dict[Test | None, float] = {}
    largest = 0.0
    for rank, test in enumerate(ranked):
        largest = max(largest, min(1.0, test[2] * (len(ranked) - rank)))
        corrected[test] = largest
    return corrected


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
