"""One metric in two runs: its values, the samples that both measured, and the corrected test of their differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import JsonObject, NotFoundError, as_json, suggest
from benchwright.stats import PairedResult, holm, same_score

Direction: TypeAlias = Literal["up", "down", "same", "mixed"]
"""How a metric changed from the first run to the second."""

Test: TypeAlias = tuple[str, bytes]
"""One test of a comparison, which several metrics may share: its kind, and a hash of the tested differences."""


class MetricSide(Struct, frozen=True):
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
    """Mean with every failed sample counted as 0; None if that is meaningless."""
    too_few: bool = False
    """Whether there are too few rows to rely on the interval."""
    no_interval: str = "too few"
    """The text in tables if there is no interval; `–`: the metric needs none."""


class MetricComparison(Struct, frozen=True):
    """One metric in both runs."""

    name: str
    run_a: MetricSide | None
    """In the first run; None if it has none."""
    run_b: MetricSide | None
    """In the second."""
    paired: PairedResult | None
    """The samples that both measured, tested as pairs; None if there are none."""
    same: bool
    """Whether no row differs by more than the tolerance, and both runs have the metric."""
    direction: Direction
    """How it changed."""
    noise: bool
    """Whether it is a time, which differs from run to run; left out of `differs` unless requested."""
    lower_is_better: bool = False
    """Whether a smaller value is the better one."""
    p_adjusted: float | None = None
    """The p-value, corrected by Holm's method for the number of tests; None if no pair differs, and for times."""
    failures_as_wrong: PairedResult | None = None
    """The same test with every failed sample counted as 0; None if no paired sample failed."""
    p_adjusted_failures_as_wrong: float | None = None
    """The p-value of that test, corrected for the number of such tests."""
    question: bytes = b""
    """Hash of the paired differences, from `question_of`. Metrics with the same hash are tested once."""
    question_failures_as_wrong: bytes = b""
    """The same hash, with failed samples counted as 0."""

    @property
    def significant(self) -> bool:
        """Whether the corrected test finds a difference at the 5 % level."""
        return self.p_adjusted is not None and self.p_adjusted < 0.05

    @property
    def worse(self) -> bool:
        """Whether the second run is worse, by chance or not."""
        return self.direction == ("up" if self.lower_is_better else "down")

    @property
    def test(self) -> Test | None:
        """The test of the metric; None if no pair differs, and for times."""
        return None if self.noise else _test(self.name, self.paired, self.question)

    @property
    def test_failures_as_wrong(self) -> Test | None:
        """The test of the metric with failed samples counted as 0; None as for `test`."""
        return (
            None if self.noise else _test(self.name, self.failures_as_wrong, self.question_failures_as_wrong)
        )

    @property
    def unmoved(self) -> bool:
        """Whether the rows have the same mean in both runs, and not only within a tolerance."""
        return self.paired is None or not self.paired.difference

    @property
    def words(self) -> str:
        """How the metric changed, in words."""
        paired = self.paired
        if paired is None:
            return f"{self.name} cannot be compared row by row"
        moved = f"{'up' if paired.difference > 0 else 'down'} {abs(paired.difference):.4f}"
        if not paired.differing:
            beyond = f" beyond the tolerance ({moved})" if paired.difference else ""
            return f"no difference in {self.name}{beyond}"
        if not self.significant:
            return f"no significant difference in {self.name} ({moved})"
        if self.direction not in ("up", "down"):
            return f"{self.name} changed significantly, but not in one direction ({moved})"
        which = "lower is better" if self.lower_is_better else ""
        return f"{self.name} is significantly {'worse' if self.worse else 'better'} ({', '.join(filter(None, (moved, which)))})"

    @property
    def shown(self) -> tuple[object, ...]:
        """The figures in tables. Metrics with equal ones are shown once."""
        paired, wrong = self.paired, self.failures_as_wrong
        return (
            self.run_a,
            self.run_b,
            paired,
            self.p_adjusted,
            wrong,
            self.p_adjusted_failures_as_wrong,
            self.same,
        )

    def test_contradicts_interval(self, *, significant: bool) -> bool:
        """Whether an interval excludes 0 although the test finds no difference; with `significant`, whether it includes 0
        although the test finds one."""
        lines = (
            (self.paired, self.p_adjusted),
            (self.failures_as_wrong, self.p_adjusted_failures_as_wrong),
        )
        return any(
            paired is not None
            and p_value is not None
            and (p_value < 0.05) is significant
            and paired.ci_low is not None
            and paired.ci_high is not None
            and (paired.ci_low <= 0 <= paired.ci_high) is significant
            for paired, p_value in lines
        )

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        a, b = self.run_a, self.run_b
        delta = None if a is None or b is None else b.value - a.value
        return {
            "name": self.name,
            "run_a": [] if a is None else [a.value],
            "run_b": [] if b is None else [b.value],
            "same": self.same,
            "deltas": [delta],
            "direction": self.direction,
            "noise": self.noise,
            "interval_a": None if a is None else [a.ci_low, a.ci_high],
            "interval_b": None if b is None else [b.ci_low, b.ci_high],
            "too_few": any(side is not None and side.too_few for side in (a, b, self.paired)),
            "count_a": None if a is None else a.count,
            "count_b": None if b is None else b.count,
            "paired": _paired_json(self.paired),
            "p_adjusted": self.p_adjusted,
            "significant": self.significant,
            "lower_is_better": self.lower_is_better,
            "failures_as_wrong_a": None if a is None else a.failures_as_wrong,
            "failures_as_wrong_b": None if b is None else b.failures_as_wrong,
            "paired_failures_as_wrong": _paired_json(self.failures_as_wrong),
            "p_adjusted_failures_as_wrong": self.p_adjusted_failures_as_wrong,
        }

    @staticmethod
    def end(value: float) -> str:
        """An end of the interval of a difference, in three decimals; in more if it would look like 0.

        >>> MetricComparison.end(0.0634), MetricComparison.end(-0.00021), MetricComparison.end(0.0), MetricComparison.end(-4e-18)
        ('+0.063', '-0.0002', '+0.000', '+0.000')
        """
        if same_score(value, 0.0):
            return "+0.000"
        text = f"{value:+.3f}"
        return text if float(text) else f"{value:+.1g}"


def _paired_json(paired: PairedResult | None) -> JsonObject | None:
    """The pairs of a metric; without a p-value if no pair differs, because nothing was tested."""
    if paired is None:
        return None
    return {**as_json(paired), "p_value": paired.p_value if paired.differing else None}


def _test(name: str, paired: PairedResult | None, question: bytes) -> Test | None:
    if paired is None or not paired.differing:
        return None
    return paired.test, question or name.encode()


def question_of(keys: bytes, differences: Iterable[float]) -> bytes:
    """Hash of paired differences. It is equal for metrics that differ by the same amount in the same pairs, and for mirrored
    ones, such as the shares of right and of wrong answers, because both ask the same question.

    `keys` name the rows or steps of the differences.

    >>> question_of(b"01", [1.0, 0.0]) == question_of(b"01", [-1.0, 0.0])
    True
    >>> question_of(b"01", [1, -1]) == question_of(b"01", [-1, 1])
    True
    >>> question_of(b"01", [1, 0]) == question_of(b"01", [0, 1])
    False
    """
    found = list(differences)
    digest = blake2b(keys, digest_size=16)
    digest.update(bytes(map(bool, found)))
    differing = [each for each in found if each]
    sign = -1.0 if differing and differing[0] < 0 else 1.0
    # 0.7 - 0.3 and (1 - 0.3) - (1 - 0.7) differ in their last bit.
    digest.update("\0".join([f"{each * sign:.8e}" for each in differing]).encode())
    return digest.digest()


def requested_metrics(names: Sequence[str], only: str | None) -> list[str]:
    """The metrics of both runs, each once; or the requested one. Raises NotFoundError if neither run has it."""
    known = list(dict.fromkeys(names))
    if only is None:
        return known
    if only not in known:
        there = ", ".join(known) or "none"
        raise NotFoundError(f"neither run has a metric {only!r}.{suggest(only, known)} They have: {there}")
    return [only]


def adjusted(metrics: Iterable[MetricComparison]) -> list[MetricComparison]:
    """Correct the p-values of metrics by Holm's method, because some of many tests find a difference by chance.

    Metrics with the same or mirrored paired differences ask one question, so they share one test. Metrics without a differing pair
    and times are not part of it. Counting failures as wrong asks each question a second time: these tests are corrected
    among themselves.
    """
    found = list(metrics)
    plain = _by_holm((metric.test, metric.paired) for metric in found)
    wrong = _by_holm((metric.test_failures_as_wrong, metric.failures_as_wrong) for metric in found)
    return [
        replace(
            metric,
            p_adjusted=plain.get(metric.test),
            p_adjusted_failures_as_wrong=wrong.get(metric.test_failures_as_wrong),
        )
        for metric in found
    ]


def _by_holm(tests: Iterable[tuple[Test | None, PairedResult | None]]) -> dict[Test | None, float]:
    p_values: dict[Test, float] = {}
    for test, paired in tests:
        if test is not None and paired is not None:  # mirrored differences may give another last bit
            p_values[test] = max(paired.p_value, p_values.get(test, 0.0))
    return dict(zip(p_values, holm([*p_values.values()]), strict=True))


def direction_of(
    a: float | None, b: float | None, paired: PairedResult | None, tolerance: float
) -> Direction:
    """How a metric changed, by the rows that both runs have, if there are any. `mixed` if the mean and the test do not agree,
    because a few rows changed much and many others a little in the other direction."""
    if a is None or b is None:
        return "mixed"
    if paired is None:
        return "same" if same_score(a, b, tolerance) else "up" if b > a else "down"
    if not paired.differing:
        return "same"
    leaning = paired.leaning
    if same_score(paired.mean_a, paired.mean_b):
        return "mixed" if paired.significant and leaning else "same"
    if leaning * paired.difference < 0 and paired.significant:
        return "mixed"
    return "up" if paired.difference > 0 else "down"


def folded(
    metrics: Sequence[MetricComparison],
) -> tuple[list[tuple[MetricComparison, list[str]]], list[MetricComparison]]:
    """The metrics to show, each with the names of later ones that have the same figures; and those that no row changed, which are
    only named. The first is always shown."""
    found: dict[object, tuple[MetricComparison, list[str]]] = {}
    unchanged = []
    for metric in metrics:
        if metric.shown in found:
            found[metric.shown][1].append(metric.name)
        elif found and metric.same and metric.failures_as_wrong is None and metric.unmoved:
            unchanged.append(metric)
        else:
            found[metric.shown] = metric, []
    return list(found.values()), unchanged
