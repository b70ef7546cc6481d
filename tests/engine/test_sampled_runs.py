"""Runs that follow a sampling plan: what is asked, how it is told, and how copies of a row are counted."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import benchwright
from benchwright import RunResult, ScriptedEndpoint, benchmark, scorer
from benchwright.core import ModelRequest, UsageError
from benchwright.datasets import Sampling
from benchwright.datasets._lengths import FixedLength, UniformLengths
from benchwright.results import Slices
from benchwright.scorers import exact_match
from benchwright.store import Workspace, open_store

NUMBERS = count()
ROWS = [{"question": f"q{n}", "answer": f"a{n}", "max_tokens": "7"} for n in range(4)]


def planned(rows: list[dict[str, Any]] | str = "", **sampling: Any) -> Callable[..., Any]:
    decorate = benchmark(
        name=f"planned {next(NUMBERS)}", dataset=rows or ROWS, prompt="{question}", target_field="answer"
    )
    function = decorate(scorer(lambda sample: exact_match(sample)))
    spec = function._benchmark  # type: ignore[attr-defined]
    function._benchmark = replace(  # type: ignore[attr-defined]
        spec, sampling=Sampling(**sampling), max_tokens_field="max_tokens"
    )
    return function


class Script:
    """Answers, and remembers what it was asked."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, request: ModelRequest) -> str:
        self.bodies.append(dict(request.body))
        asked = str(request.body["messages"][-1]["content"])  # type: ignore[index,call-overload]
        return "wrong" if asked == self.wrong else asked.replace("q", "a")

    @property
    def asked(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.bodies]


@pytest.fixture
def run_in(tmp_path: Path) -> Callable[..., RunResult]:
    def run_it(bench: Callable[..., Any], script: Script, **options: Any) -> RunResult:
        return benchwright.run(
            bench, endpoint=ScriptedEndpoint(script), workspace=tmp_path, parallelism=1, **options
        )

    return run_it


def test_rows_are_asked_as_planned_with_planned_lengths(run_in: Callable[..., RunResult]) -> None:
    script = Script()
    result = run_in(planned(request_count=6, lengths=FixedLength(50)), script)
    assert script.asked == ["q0", "q1", "q2", "q3", "q0", "q1"]
    assert [body["max_tokens"] for body in script.bodies] == [50] * 6
    assert result.summary.rows == 6
    assert result["correct"] == 1.0


def test_rows_keep_their_own_lengths_where_none_are_planned(run_in: Callable[..., RunResult]) -> None:
    script = Script()
    run_in(planned(request_count=2), script)
    assert [body["max_tokens"] for body in script.bodies] == [7, 7]


def test_the_limit_applies_after_the_plan(run_in: Callable[..., RunResult]) -> None:
    script = Script()
    result = run_in(planned(request_count=6), script, limit=5)
    assert script.asked == ["q0", "q1", "q2", "q3", "q0"]
    assert any("6 requests from 4 rows" in note and "cut to 5" in note for note in result.summary.notes)


def test_switches_go_into_every_body_and_the_user_has_the_last_word(run_in: Callable[..., RunResult]) -> None:
    script = Script()
    bench = planned(ignore_eos=True, min_tokens=3)
    run_in(bench, script, limit=1)
    run_in(bench, script, limit=1, extra_body={"min_tokens": 9})
    assert [(body["ignore_eos"], body["min_tokens"]) for body in script.bodies] == [(True, 3), (True, 9)]


def test_copies_of_a_row_are_one_cluster(run_in: Callable[..., RunResult]) -> None:
    copies = run_in(planned(request_count=400, sampling_mode="shuffle"), Script(wrong="q0"))
    metric = copies.summary.metrics["correct"]
    assert (metric.value, metric.count, metric.interval) == (0.75, 400, "wilson")
    # Four rows, whatever the number of copies: the interval stays as wide as four rows allow.
    assert metric.ci_high - metric.ci_low > 0.4
    assert any("copies of a row as one cluster" in note for note in copies.summary.notes)


def test_a_permutation_is_no_repetition(run_in: Callable[..., RunResult]) -> None:
    script = Script(wrong="q0")
    result = run_in(planned(sampling_mode="shuffle"), script)
    assert Counter(script.asked) == {"q0": 1, "q1": 1, "q2": 1, "q3": 1}
    assert result.summary.metrics["correct"].interval == "wilson"


def test_the_plan_stands_in_the_manifest(run_in: Callable[..., RunResult]) -> None:
    result = run_in(planned(request_count=3, sampling_mode="random", seed=5), Script())
    manifest = json.loads((result.folder / "manifest.json").read_text())
    assert manifest["dataset"]["sampling"]["seed"] == 5
    assert manifest["dataset"]["sampling"]["sampling_mode"] == "random"


def test_a_run_goes_on_with_its_plan_and_with_no_other(tmp_path: Path) -> None:
    first, second = Script(), Script()
    bench = planned(request_count=9, sampling_mode="random", lengths=UniformLengths(5, 500))
    stopped = benchwright.run(
        bench, endpoint=ScriptedEndpoint(first), workspace=tmp_path, parallelism=1, max_requests=4
    )
    assert stopped.summary.partial
    other = planned(request_count=9, sampling_mode="random", seed=7)
    with pytest.raises(UsageError, match="the dataset has changed"):
        benchwright.resume(
            stopped.run_id, target=other, workspace=tmp_path, endpoint=ScriptedEndpoint(second)
        )
    done = benchwright.resume(
        stopped.run_id, target=bench, workspace=tmp_path, endpoint=ScriptedEndpoint(second)
    )
    assert done.summary.evaluated == 9
    assert len(first.bodies) + len(second.bodies) == 9
    whole = Script()
    benchwright.run(bench, endpoint=ScriptedEndpoint(whole), workspace=tmp_path / "again", parallelism=1)
    assert [*first.bodies, *second.bodies] == whole.bodies


def test_a_check_tells_the_plan_and_asks_nothing() -> None:
    (report,) = benchwright.check(planned(request_count=10, sampling_mode="shuffle"))
    assert report.requests == 10
    assert not any("word for word" in warning for warning in report.warnings)
    assert any("10 requests from 4 rows, mode shuffle, seed 42" in warning for warning in report.warnings)


def test_bad_rows_are_skipped_once_and_copies_stay_with_their_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question": "q0", "answer": "a0"}\nbroken\n{"question": "q1", "answer": "a1"}\n')
    result = benchwright.run(
        planned(str(path), request_count=6, sampling_mode="shuffle"),
        endpoint=ScriptedEndpoint(Script(wrong="q1")),
        workspace=tmp_path,
        skip_bad_rows=True,
    )
    assert result.summary.outcomes["skipped"] == 1
    assert result.summary.metrics["correct"].count == 6
    assert result.summary.metrics["correct"].value == 0.5


def test_examples_come_from_outside_of_a_plan_while_rows_are_free(run_in: Callable[..., RunResult]) -> None:
    bench = planned(sampling_mode="random")
    bench._benchmark = replace(bench._benchmark, num_fewshot=1)  # type: ignore[attr-defined]
    script = Script()
    few = run_in(bench, script, limit=2)
    examples = {
        question for body in script.bodies for question in re.findall(r"q\d", str(body["messages"][:-1]))
    }
    evaluated = {asked.split()[-1] for asked in script.asked}
    assert not examples & evaluated
    assert not any("evaluated too" in note for note in few.summary.notes)
    every = planned(request_count=8, sampling_mode="shuffle")
    every._benchmark = replace(every._benchmark, num_fewshot=1)  # type: ignore[attr-defined]
    notes = run_in(every, Script()).summary.notes
    assert any("taken from rows that are evaluated too" in note for note in notes)


@pytest.mark.parametrize("order", ["in a row", "in turn", "shuffled"])
def test_copies_in_the_data_make_no_interval_narrower(tmp_path: Path, order: str) -> None:
    """Whoever asks: the run, its slices, a comparison with itself, and the run on the rows without copies."""
    rows = [{"question": f"q{n}", "answer": "yes", "kind": "all"} for n in range(24)]
    copied = [row for row in rows for _ in range(5)] if order == "in a row" else rows * 5
    if order == "shuffled":
        random.Random(3).shuffle(copied)

    def answer(request: Any) -> str:
        return "yes" if int(request.body["messages"][-1]["content"].split("q")[-1]) % 3 else "no"

    found = []
    for name, data in (("once", rows), ("copied", copied)):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, data)))
        result = benchwright.run(
            str(file), endpoint=ScriptedEndpoint(answer), workspace=tmp_path, cache=False
        )
        metric = result.summary.metrics["exact"]
        with open_store(Workspace(tmp_path)) as store:
            slices: Any = Slices.of(store, store.run(result.run_id), "kind").to_json()
        found.append((metric.value, metric.ci_low, metric.ci_high))
        assert metric.count == len(data)
        assert slices["slices"][0]["ci_low"] == pytest.approx(metric.ci_low), slices
    assert found[0] == pytest.approx(found[1])
