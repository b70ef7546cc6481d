"""What people read: n, interval, outcomes and caveats beside every number, and no reply that can take over."""

from __future__ import annotations

import doctest
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st
from msgspec.structs import replace
from recorded_runs import SUMMARY, score
from rich.console import Console, RenderableType

from benchwright.core import NotFoundError, Outcome
from benchwright.reports import drawn, in_plain_text, run_list
from benchwright.results import RunResult, _figures as figures
from benchwright.results._benchmarks import benchmark_details, benchmark_samples, benchmark_view
from benchwright.results._samples import StoreSamples, find_samples, listed_samples
from benchwright.store import RunRecord, SampleFilter, Store

Record = Callable[..., RunRecord]
GOLDEN = Path(__file__).parent / "golden"


def text_of(renderable: RenderableType, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


RUN = RunRecord(
    id=3,
    name="my_qa",
    target="bench.py",
    model="my-model",
    status="completed",
    folder=Path("out"),
    settings={},
    manifest={},
    summary=None,
    error=None,
    created_at=0.0,
    finished_at=None,
)


def view(status: str = "completed", **changes: object) -> RunResult:
    plain = RunResult(run=benchmark_view(replace(RUN, status=status)), summary=SUMMARY)  # type: ignore[arg-type]
    return replace(plain, **changes)  # type: ignore[arg-type]


def clean() -> RunResult:
    fine = replace(SUMMARY, failed=0, comparable=True, notes=[], prompt_tokens=None)
    return view(summary=fine)


def test_result_of_a_troubled_run_admits_everything() -> None:
    shown = text_of(
        drawn(view(first_failure="no answer within 120 s", requests_sent=11, from_cache=2, seconds=2.0))
    )
    assert shown == (GOLDEN / "troubled_result.txt").read_text()


@pytest.mark.parametrize("partial", [True, False])
def test_a_run_is_offered_resume_only_if_it_can_be_resumed(partial: bool) -> None:
    stopped = view("interrupted", summary=replace(SUMMARY, partial=partial))
    assert "benchwright resume 3" in text_of(drawn(stopped))
    assert "benchwright resume" not in text_of(drawn(replace(stopped, resumable=False)))


def test_result_of_a_clean_run_is_short() -> None:
    assert text_of(drawn(clean())) == (GOLDEN / "clean_result.txt").read_text()


def test_both_conventions_are_shown_exactly_when_samples_failed() -> None:
    assert "failures as wrong" in text_of(drawn(view()))
    assert "failures as wrong" not in text_of(drawn(clean()))


def test_too_few_rows_for_an_interval_are_noted() -> None:
    shown = clean()
    few = {name: replace(metric, too_few=True) for name, metric in shown.summary.metrics.items()}
    note = "With fewer than 20 rows, the 95 % intervals are unreliable."
    assert note not in text_of(drawn(shown))
    assert note in text_of(drawn(replace(shown, summary=replace(shown.summary, metrics=few))))


def test_repeats_are_part_of_the_title() -> None:
    assert "7 rows × 3 repeats" in text_of(drawn(view(summary=replace(SUMMARY, repeats=3))))


def test_a_run_without_any_score_says_so() -> None:
    assert "no sample gave a score" in text_of(drawn(view(summary=replace(SUMMARY, metrics={}))))


def test_a_partial_run_says_how_to_go_on() -> None:
    partial = replace(SUMMARY, partial=True, evaluated=3, notes=["partial: 3 of 7 samples evaluated"])
    shown = text_of(
        drawn(view(summary=partial, status="interrupted", stopped_because="stopped by --max-requests 3"))
    )
    assert "partial: 3 of 7" in shown
    assert "stopped by --max-requests 3" in shown
    assert "benchwright resume 3" in shown


words = st.text("ab é–漢\n\t[bold]:smile:x", max_size=12)
notes = st.lists(
    st.one_of(words, st.lists(st.sampled_from(["word", "longer,", "–", "a" * 30]), max_size=40).map(" ".join))
)


@given(
    name=words, model=words, metric=words, notes=notes, failed=st.integers(0, 2), width=st.integers(40, 130)
)
@example("b", "m", "correct", ["partial: 3 of 7", "w" * 130, "a  b", " a", ""], 1, 120)
@example("b", "m", "x" * 100, [], 1, 120)
@example("b" * 50, "m" * 60, "e", [], 0, 120)
def test_a_plain_result_has_the_lines_that_the_library_draws(
    name: str, model: str, metric: str, notes: list[str], failed: int, width: int
) -> None:
    metrics = {metric: next(iter(SUMMARY.metrics.values()))}
    run = benchmark_view(replace(RUN, name=name, model=model))
    shown = view(run=run, summary=replace(SUMMARY, metrics=metrics, notes=notes, failed=failed), seconds=2.0)
    plain = in_plain_text(shown, width)
    assert plain is None or [line.rstrip() for line in plain.split("\n")] == in_lines(drawn(shown), width)


def in_lines(renderable: RenderableType, width: int) -> list[str]:
    """The lines as commands print them into a pipe."""
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False, emoji=False).print(renderable)
    return [line.rstrip() for line in out.getvalue().removesuffix("\n").split("\n")]


def test_the_usual_result_is_plain() -> None:
    assert in_plain_text(clean(), 120) is not None
    assert in_plain_text(view(first_failure="no answer within 120 s"), 120) is not None
    assert in_plain_text(view(summary=replace(SUMMARY, metrics={})), 120) is not None


def test_a_narrow_terminal_loses_no_number() -> None:
    shown = text_of(drawn(view()), width=60)
    assert "0.6000" in shown
    assert "request_failed 1" in shown.replace("\n", " ")


def test_runs_are_listed_with_their_headline(record: Record) -> None:
    runs = [record(), record([], summary=None)]
    shown = text_of(drawn(run_list(list(map(benchmark_view, runs)))), width=140)
    assert "completed, not comparable" in shown
    assert "correct 0.600, words_[bold] 0.333" in shown
    assert "running" in shown


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_a_list_of_runs_loses_nothing_at_any_width(record: Record, width: int) -> None:
    runs = [record(), record([], summary=None)]
    shown = text_of(drawn(run_list(list(map(benchmark_view, runs)))), width=width)
    assert max(map(len, shown.splitlines())) <= width
    for outcome in Outcome:
        count = SUMMARY.outcomes.get(outcome, 0)
        assert (f" {count} {outcome}" in shown) == (count > 0), "outcomes that did not occur are left out"
    assert runs[0].finished_at is not None
    assert figures.duration(runs[0].finished_at - runs[0].created_at) in shown
    for part in ("completed,", "not", "comparable", "0.600,", "running", *Outcome):
        assert {part, f"{part},"} & set(shown.split()), part


def test_overview_shows_result_data_and_events(store: Store, record: Record) -> None:
    run = record()
    shown = text_of(drawn(benchmark_details(run, store.events(run.id))), width=200)
    for part in (
        "my_qa on my-model",
        "qa.jsonl, 7 rows, sha256:abc",
        "2 examples from outside_rows",
        "run.finished",
    ):
        assert part in shown
    assert "sk-in-url" not in shown


def test_overview_of_a_run_without_result(store: Store, record: Record) -> None:
    run = record([], summary=None)
    assert "no result yet" in text_of(drawn(benchmark_details(run)))


def test_failed_samples_are_listed_with_their_reason(store: Store, record: Record) -> None:
    run = record()
    shown = text_of(drawn(benchmark_samples(store, run, SampleFilter(scored=False), None, 20)))
    assert shown == '3/0  request_failed: no answer within 120 s\n4/0  skipped: field "question" is missing\n'
    first = benchmark_samples(store, run, SampleFilter(scored=False), None, 1)
    assert "only the first 1" in text_of(drawn(first))
    none = benchmark_samples(store, record([]), SampleFilter(scored=False), None, 20)  # its records were lost
    assert text_of(drawn(none)) == "every sample evaluated so far has a score\n"


def test_a_sample_is_shown_in_full(store: Store, record: Record) -> None:
    run = record()
    shown = text_of(drawn(find_samples(store, run.id, "1")))
    for part in (
        "repeat 0: scored",
        "Be brief.",
        "question 1",
        "first I thought",
        "no ",
        '"correct": false',
        "3 attempts",
    ):
        assert part in shown
    assert "\x1b" not in shown, "a reply cannot clear the screen"
    assert "\\x1b[2J" in shown
    assert "messages" not in shown, "system and prompt say it already"


def test_a_judged_sample_shows_what_the_judge_said(store: Store, record: Record) -> None:
    run = record()
    shown = text_of(drawn(find_samples(store, run.id, "2/0")))
    assert "judge, question 1" in shown
    assert "GRADE: C" in shown


def test_a_failed_sample_shows_its_error(store: Store, record: Record) -> None:
    failed = find_samples(store, record().id, "3")
    assert "no answer within 120 s" in text_of(drawn(failed))


@pytest.mark.parametrize("wanted", ["7", "0/1", "x", "-1", "0/", "0/x", ""])
def test_a_sample_that_is_not_there_is_named(store: Store, record: Record, wanted: str) -> None:
    run = record()
    with pytest.raises(NotFoundError, match="sample"):
        find_samples(store, run.id, wanted)


def test_examples_in_the_documentation_are_true() -> None:
    assert doctest.testmod(figures).failed == 0


def test_wrong_answers_are_listed_with_what_was_expected(store: Store, record: Record) -> None:
    steps = [
        score(0, 0, {"o": "scored", "s": {"correct": True}, "t": "4", "r": "4", "p": "2 + 2?"}),
        score(1, 0, {"o": "scored", "s": {"correct": False}, "t": "6", "r": "seven", "p": "3 + 3?"}),
        score(2, 0, {"o": "scored", "s": {"acc": 0.0, "acc_norm": 1.0}, "t": "B", "r": " C", "p": "pick"}),
        score(3, 0, {"o": "request_failed", "t": "8", "e": "no"}),
        score(4, 0, {"o": "scored", "s": {"f1": 0.0}, "t": "8", "r": "9"}),
    ]
    run = record(steps)
    shown = text_of(drawn(listed_samples(StoreSamples(store, run.id), run.id, SampleFilter(verdict="wrong"))))
    assert "3 + 3?" in shown
    assert "seven" in shown
    assert "1/0" in shown
    assert "2/0" in shown
    assert "2 + 2?" not in shown
    assert "3/0" not in shown
    first = listed_samples(StoreSamples(store, run.id), run.id, SampleFilter(verdict="wrong"), limit=1)
    assert "only the first 1" in text_of(drawn(first))
