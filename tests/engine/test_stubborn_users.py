"""Users' code and data at their most stubborn: nothing of it may hang, spoil or lose a run."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, judge_score, scorer
from benchwright.demo import DemoSettings, demo_server, fault_mix

NUMBERS = count()
ROWS = [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(6)]


def make(score: Any, rows: Any = ROWS, **options: Any) -> Any:
    named = {"name": f"stubborn {next(NUMBERS)}", "dataset": rows, "prompt": "{question}", **options}
    return benchmark(**{"target_field": "answer", **named})(scorer(lambda sample: score(sample)))


def asked(endpoint: ScriptedEndpoint) -> list[str]:
    return [str(request.body["messages"][-1]["content"]) for request in endpoint.requests]  # type: ignore[index,call-overload]


def test_a_scorer_may_ask_judges_from_threads_of_its_own(tmp_path: Path) -> None:
    def jury(sample: ScorerInput) -> dict[str, Any]:
        with ThreadPoolExecutor(3) as pool:
            votes = list(pool.map(lambda n: judge_score(sample, criteria=f"juror {n}"), range(3)))
        return {"score": sum(float(vote["judge_score"] or 0) for vote in votes) / 3}

    with demo_server(DemoSettings(skill=1.0)) as server:
        bench = make(jury, judge={"url": server.url, "model_id": "demo"})
        result = benchwright.run(bench, workspace=tmp_path, demo_skill=1.0)
        assert server.stats()["requests"] == 18
    assert result["score"] == 1.0


def test_a_scorer_that_changes_its_row_changes_no_prompt_and_no_record(tmp_path: Path) -> None:
    def spoil(sample: ScorerInput) -> dict[str, Any]:
        sample.metadata["question"] = "spoiled"
        sample.metadata["tags"].append("spoiled")
        return {"correct": True}

    rows = [{"question": f"q{n}", "tags": ["a"]} for n in range(3)]
    endpoint = ScriptedEndpoint("x")
    result = benchwright.run(
        make(spoil, rows, target_field="target"),
        endpoint=endpoint,
        workspace=tmp_path,
        repeats=3,
        parallelism=1,
    )
    assert sorted(asked(endpoint)) == sorted(["q0", "q1", "q2"] * 3)
    import pyarrow.parquet as pq

    kept = pq.read_table(result.folder / "samples.parquet", columns=["metadata"]).to_pylist()
    assert not any("spoiled" in row["metadata"] for row in kept)


@pytest.mark.parametrize(
    "returned",
    [
        {"x": 1e200},
        {"x": 2**70},
        {"x": float("inf")},
        {"x": object()},
        SystemExit(3),
        BaseException("odd"),
        RecursionError("deep"),
    ],
)
def test_one_odd_score_fails_its_sample_only(tmp_path: Path, returned: Any) -> None:
    def odd(sample: ScorerInput) -> Any:
        if sample.target != "3":
            return {"x": 1.0}
        if isinstance(returned, BaseException):
            raise returned
        return returned

    result = benchwright.run(make(odd), endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    assert result.summary.outcomes == {
        **dict.fromkeys(result.summary.outcomes, 0),
        "scored": 5,
        "scorer_failed": 1,
    }
    assert result["x"] == 1.0


def test_half_characters_in_scores_and_errors_are_recorded(tmp_path: Path) -> None:
    def odd(sample: ScorerInput) -> Any:
        if sample.target == "3":
            raise ValueError("bad \ud800 character")
        return {"x": 1, "label": "half \ud800"}

    result = benchwright.run(make(odd), endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    assert result.summary.outcomes["scored"] == 5


def test_rows_that_json_cannot_hold_are_asked_and_recorded(tmp_path: Path) -> None:
    data = tmp_path / "big.jsonl"
    data.write_text(
        '{"question": "q", "id": 340282366920938463463374607431768211455}\n' * 3, encoding="utf-8"
    )
    cyclic: dict[str, Any] = {"question": "q", "half": "\ud800"}
    cyclic["self"] = cyclic
    for rows in (str(data), [cyclic]):
        seen: list[Any] = []

        def look(sample: ScorerInput, seen: list[Any] = seen) -> dict[str, Any]:
            seen.append(sample.metadata.get("id"))
            return {"correct": True}

        bench = make(look, rows, target_field="target")
        result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
        assert result["correct"] == 1.0
        assert seen[0] in (None, 340282366920938463463374607431768211455)


def test_a_side_call_that_changes_between_starts_is_asked_anew(tmp_path: Path) -> None:
    moment = count()

    def fickle(sample: ScorerInput) -> dict[str, Any]:
        assert sample.model_call_fn is not None
        sample.model_call_fn(f"now is {next(moment)}")
        sample.model_call_fn(f"then is {next(moment)}")
        return {"correct": True}

    bench = make(fickle)
    stopped = benchwright.run(
        bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path, max_requests=8, parallelism=1
    )
    assert stopped.summary.evaluated == 2, "the third sample had one of its three answers"
    result = benchwright.resume(
        stopped.run_id, target=bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path
    )
    assert result.summary.outcomes["scored"] == 6


def test_the_runs_deadline_holds_while_a_server_hangs(tmp_path: Path) -> None:
    hanging = DemoSettings(error_rate=1.0, faults=fault_mix("timeout"), hang_s=200)
    with demo_server(hanging) as server:
        began = time.monotonic()
        result = benchwright.run(
            make(lambda sample: {"x": 1}), model_url=server.url, model_id="demo", workspace=tmp_path,
            max_minutes=1.0 / 60, request_timeout=150,
        )  # fmt: skip
        took = time.monotonic() - began
    assert took < 100, "the server would have held the connection for 200 s"
    assert "--max-minutes" in result.stopped_because
    assert result.summary.evaluated == 0, "what the deadline cut off did not fail: a resume asks it again"


def test_retries_count_against_the_budget(tmp_path: Path) -> None:
    failing = DemoSettings(error_rate=1.0, faults=fault_mix("server_error"))
    with demo_server(failing) as server:
        benchwright.run(
            make(lambda sample: {"x": 1}), model_url=server.url, model_id="demo", workspace=tmp_path,
            max_requests=5, max_retries=3, retry_backoff=0.01, parallelism=2,
        )  # fmt: skip
        assert server.stats()["requests"] == 5


def test_a_scorer_that_swallows_everything_still_gets_its_judge(tmp_path: Path) -> None:
    def swallowing(sample: ScorerInput) -> dict[str, Any]:
        if sample.target == "1":
            return {"judge_score": 1.0}  # quick, so that the next are scored in the loop
        try:
            return dict(judge_score(sample))
        except:  # noqa: E722  # what a user may well write
            return {"judge_score": 0.0}

    def threading_one(sample: ScorerInput) -> dict[str, Any]:
        found: list[Any] = [{"judge_score": 0.0}]
        thread = threading.Thread(target=lambda: found.append(judge_score(sample)))
        thread.start()
        thread.join()
        return {"judge_score": found[-1]["judge_score"]}

    with demo_server(DemoSettings(skill=1.0)) as server:
        for score in (swallowing, threading_one):
            bench = make(score, judge={"url": server.url, "model_id": "demo"})
            result = benchwright.run(bench, workspace=tmp_path, demo_skill=1.0, parallelism=1)
            assert result["judge_score"] == 1.0


def test_reading_rows_may_block_without_blocking_the_run(tmp_path: Path) -> None:
    readers: list[str] = []

    def slowly() -> Any:
        for row in ROWS:
            readers.append(threading.current_thread().name)
            yield row

    bench = make(lambda sample: {"x": 1}, slowly)
    result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    assert result.summary.evaluated == 6
    # The check before the run reads here; while the run is on, a thread does.
    assert sum(name.startswith("benchwright-rows") for name in readers) == 6


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit])
def test_a_scorer_that_ends_the_run_costs_no_reply(tmp_path: Path, kind: type[BaseException]) -> None:
    armed = [True]

    def score(sample: ScorerInput) -> dict[str, Any]:
        if sample.target == "100" and armed:
            raise kind
        return {"correct": True}

    rows = [{"question": f"q{n}", "answer": str(n)} for n in range(150)]
    bench = make(score, rows)
    first, second = ScriptedEndpoint("x"), ScriptedEndpoint("x")
    with pytest.raises(kind):
        benchwright.run(bench, endpoint=first, workspace=tmp_path, parallelism=1)
    armed.clear()
    result = benchwright.resume("last", target=bench, endpoint=second, workspace=tmp_path)
    assert result.summary.evaluated == 150
    assert not set(asked(first)) & set(asked(second)), "a reply that was paid for is asked for once"
