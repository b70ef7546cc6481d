"""Comparisons of random small designs (ties, repeats, copies, failures, both directions) against an enumeration in exact
fractions, and how often they find a difference where there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.core import Outcome, RunSummary, SampleRecord, encode_json, lower_is_better, row_hash
from benchwright.results import ComparisonOptions, FoundRun
from benchwright.results._clusters import SampleTexts
from benchwright.results._comparing import compare_benchmarks
from benchwright.results._gates.evidence import gather
from benchwright.stats import Aggregator
from benchwright.store import RunRecord


@dataclass
class Row:
    """A row of the data: how often it comes, and the replies of each run to each copy; None is a failure."""

    content: str
    replies: tuple[list[list[Fraction | None]], list[list[Fraction | None]]]


class Design:
    """Two runs of the same rows, as a source of samples."""

    def __init__(self, rows: list[Row], metric: str, dice: Random, *, planned: bool) -> None:
        self.rows, self.metric, self.planned = rows, metric, planned
        self.sent: dict[int, list[tuple[bytes, list[Fraction | None]]]] = {}
        for run_id in (1, 2):
            copies = [(row.content, replies) for row in rows for replies in row.replies[run_id - 1]]
            dice.shuffle(copies)
            self.sent[run_id] = []
            for content, replies in copies:
                fields: dict[str, Any] = {"q": content, "target": "yes"}
                if planned:
                    fields["max_tokens"] = dice.randint(1, 9)
                pairs = list(fields.items())
                dice.shuffle(pairs)
                self.sent[run_id].append((encode_json(dict(pairs)), replies))

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        for number, (text, replies) in enumerate(self.sent[run_id]):
            for repeat, value in enumerate(replies):
                scores = None if value is None else {self.metric: float(value)}
                outcome = Outcome.REQUEST_FAILED if value is None else Outcome.SCORED
                record = SampleRecord(number, repeat, None, outcome, scores=scores)
                yield number, repeat, row_hash(text), record.score_text()

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        for number, (text, replies) in enumerate(self.sent[run_id]):
            yield from [(number, text)] * len(replies)

    def found(self, run_id: int) -> FoundRun:
        return FoundRun(run=self.record(run_id), title=f"run {run_id}", samples=OneRun(self, run_id))

    def record(self, run_id: int) -> RunRecord:
        sums = Aggregator()
        failed = count = 0
        for number, (_, replies) in enumerate(self.sent[run_id]):
            for value in replies:
                count += 1
                failed += value is None
                if value is None:
                    sums.add_failure(number)
                else:
                    sums.add(number, {self.metric: float(value)})
        wrong = sums.summaries_with_failures_as_wrong()
        down = lower_is_better(self.metric, ())
        metrics = {
            name: {
                "value": each.value, "count": each.count, "stddev": each.stddev, "stderr": each.stderr,
                "sample_stderr": each.sample_stderr, "ci_low": each.ci_low, "ci_high": each.ci_high,
                "interval": each.interval, "min": each.min, "max": each.max,
                "with_failures": None if down else wrong[name].value,
                "with_failures_count": None if down else wrong[name].count,
            }
            for name, each in sums.summaries().items()
        }  # fmt: skip
        summary = RunSummary(
            rows=len(self.sent[run_id]), repeats=1, evaluated=count, outcomes={}, metrics=metrics,  # type: ignore[arg-type]
            failed=failed, comparable=True, partial=False, notes=[], lower_is_better=[self.metric] if down else [],
        )  # fmt: skip
        return RunRecord(
            id=run_id, name="b", target="b", model="m", status="completed", folder=Path(), settings={},
            manifest={}, summary=summary.to_json(), error=None, created_at=0.0, finished_at=1.0,
        )  # fmt: skip


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


def cluster_means(design: Design, *, wrong: bool) -> list[tuple[Fraction, Fraction]]:
    """The mean of all replies to a row, of each run; rows without a value on both sides are left out."""
    found = []
    for row in design.rows:
        sides = []
        for copies in row.replies:
            values = [value for replies in copies for value in replies]
            kept = [value or Fraction() for value in values if wrong or value is not None]
            sides.append(kept)
        if all(sides):
            found.append((mean(sides[0]), mean(sides[1])))
    return found


def enumerated(differences: list[Fraction]) -> float:
    kept = [d for d in differences if d]
    sizes = sorted(map(abs, kept))
    ranks = [
        Fraction(sum(2 * (i + 1) for i, size in enumerate(sizes) if size == abs(d)), 2 * sizes.count(abs(d)))
        for d in kept
    ]
    plus = sum(rank for d, rank in zip(kept, ranks, strict=True) if d > 0)
    smaller = min(plus, sum(ranks) - plus)
    sums = [
        sum(rank for sign, rank in zip(signs, ranks, strict=True) if sign)
        for signs in product((0, 1), repeat=len(kept))
    ]
    return float(min(Fraction(1), Fraction(2 * sum(each <= smaller for each in sums), len(sums))))


VALUES = st.sampled_from([None, *(Fraction(k, of) for of in (1, 1, 3, 5) for k in range(of + 1))])
REPLIES = st.lists(st.lists(VALUES, min_size=1, max_size=3), min_size=1, max_size=3)


@settings(max_examples=120, deadline=None)
@given(
    replies=st.lists(st.tuples(REPLIES, REPLIES), min_size=1, max_size=8),
    metric=st.sampled_from(["score", "wer"]),
    planned=st.booleans(),
    seed=st.integers(0, 99),
)
def test_every_figure_of_a_comparison_is_that_of_its_clusters(
    replies: list[Any], metric: str, planned: bool, seed: int
) -> None:
    rows = [Row(f"row {number}", each) for number, each in enumerate(replies)]
    design = Design(rows, metric, Random(seed), planned=planned)
    known = cluster_means(design, wrong=False)
    if not known:
        return
    exact = [b - a for a, b in known]
    found = compare_benchmarks(design.found(1), design.found(2), ComparisonOptions())
    (one,) = found.metrics
    assert one.paired is not None
    up, down = sum(d > 0 for d in exact), sum(d < 0 for d in exact)
    won, lost = (down, up) if metric == "wer" else (up, down)
    assert (one.paired.pairs, one.paired.wins, one.paired.losses) == (len(exact), won, lost)
    assert one.paired.p_value == pytest.approx(enumerated(exact), rel=1e-12)
    assert one.paired.difference == pytest.approx(float(mean(exact)), abs=1e-12)
    assert (one.paired.mean_a, one.paired.mean_b) == (
        pytest.approx(float(mean([a for a, _ in known]))),
        pytest.approx(float(mean([b for _, b in known]))),
    )
    assert one.same == (up == down == 0)
    back = compare_benchmarks(design.found(2), design.found(1), ComparisonOptions()).metrics[0]
    assert back.paired is not None
    assert (back.paired.wins, back.paired.losses, back.paired.p_value) == (lost, won, one.paired.p_value)
    if one.failures_as_wrong is not None:
        exact = [b - a for a, b in cluster_means(design, wrong=True)]
        assert one.failures_as_wrong.p_value == pytest.approx(enumerated(exact), rel=1e-12)
        assert one.failures_as_wrong.pairs == len(exact) == len(rows)
    evidence = gather(OneRun(design, 2), (), OneRun(design, 1))
    for wrong in (False, True) if metric == "score" else (False,):
        sides = evidence.paired_values(metric, None, failures_as_wrong=wrong, partial=False)
        expected = cluster_means(design, wrong=wrong and evidence.failed_pairs)
        assert rounded(zip(*sides, strict=True)) == rounded(expected)


def rounded(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[float, float]]:
    return sorted((round(float(a), 9), round(float(b), 9)) for a, b in pairs)


class OneRun:
    """The samples of one of the two runs."""

    def __init__(self, design: Design, run_id: int) -> None:
        self._design, self._run_id = design, run_id

    def scored(self) -> Iterator[tuple[int, int, bytes, bytes]]:
        return self._design.scored(self._run_id)

    def row_texts(self) -> Iterator[tuple[int, bytes | None]]:
        return self._design.row_texts(self._run_id)

    def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
        return {}


def drawn(dice: Random, *, copies: int, repeats: int, rows: int) -> list[Row]:
    """Rows of different difficulty, to which both runs reply alike but for chance; copies are answered much alike."""
    found = []
    for number in range(rows):
        skill = dice.betavariate(0.6, 0.6)
        sides = []
        for _ in range(2):
            right = dice.random() < skill
            one = [
                [Fraction(right if dice.random() < 0.9 else dice.random() < skill) for _ in range(repeats)]
                for _ in range(copies)
            ]
            sides.append(one)
        found.append(Row(f"row {number}", (sides[0], sides[1])))
    return found


@pytest.mark.parametrize(("copies", "repeats"), [(10, 1), (1, 5), (3, 3)])
def test_copies_and_repeats_raise_no_false_alarms(copies: int, repeats: int) -> None:
    dice, alarms, designs = Random(copies), 0, 200
    for _ in range(designs):
        design = Design(drawn(dice, copies=copies, repeats=repeats, rows=12), "score", dice, planned=True)
        found = compare_benchmarks(design.found(1), design.found(2), ComparisonOptions())
        alarms += found.metrics[0].significant
    assert alarms <= 0.05 * designs + 3


def test_a_tolerance_never_says_the_same_and_significant_at_once() -> None:
    rows = [Row(f"row {n}", ([[Fraction(1, 2)]], [[Fraction(54, 100)]])) for n in range(12)]
    design = Design(rows, "score", Random(1), planned=False)
    runs = design.found(1), design.found(2)
    one = compare_benchmarks(*runs, ComparisonOptions(tolerance=0.05)).metrics[0]
    assert (one.same, one.significant, one.direction, one.p_adjusted) == (True, False, "same", None)
    one = compare_benchmarks(*runs, ComparisonOptions(tolerance=0.03)).metrics[0]
    assert (one.same, one.significant, one.direction) == (False, True, "up")


@benchmark(name="shifted", dataset=[{"q": str(n)} for n in range(30)], prompt="{q}")
@scorer
def shifted(sample: ScorerInput) -> dict[str, Any]:
    value = 0.3 + int(sample.metadata["q"]) / 100 + float(sample.response)
    return {"good": value, "error_rate": 1 - value}


@pytest.mark.parametrize("shift", [0.01, -0.01, 0.04, -0.04])
@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.05])
def test_a_tolerance_is_named_and_hides_no_value(tmp_path: Path, shift: float, tolerance: float) -> None:
    """What is within it is neither changed nor significant, whatever the test; its values are shown as they are."""
    numbers = [
        benchwright.run(
            shifted,
            endpoint=ScriptedEndpoint(lambda request, moved=moved: str(moved)),
            workspace=tmp_path,
            cache=False,
        ).run_id
        for moved in (0.0, shift)
    ]
    found = benchwright.compare(*numbers, tolerance=tolerance, force=True, workspace=tmp_path)
    within = abs(shift) < tolerance
    assert found.differs != within
    assert found.regressed == (not within and shift < 0)
    assert found.to_json()["tolerance"] == tolerance
    for metric in found.metrics:
        assert metric.same == within
        assert metric.significant != within
    good, rate = found.metrics[0], next(each for each in found.metrics if each.name == "error_rate")
    assert rate not in found.folded[1], "not as one value"
    if within:
        assert f"within the tolerance of {tolerance:g}" in found.sentence
        assert "beyond the tolerance" in good.words
    else:
        assert (good.worse, rate.worse) == (shift < 0, shift < 0)
