"""Going on where a run stopped: same results, nothing asked twice, nothing mixed up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.core import ModelRequest, RequestFailure, RunOwnedError, UsageError

BENCH = """
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    rows = [{"question": f"q{n}", "answer": f"a{n}" if n % 3 else "other"} for n in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = tmp_path / "bench.py"
    path.write_text(BENCH, encoding="utf-8")
    return path


def answer(request: ModelRequest) -> Any:
    messages: Any = request.body["messages"]
    return str(messages[-1]["content"]).replace("q", "a")


def asked(endpoint: ScriptedEndpoint) -> list[str]:
    return [str(request.body["messages"][-1]["content"]) for request in endpoint.requests]  # type: ignore[index,call-overload]


def test_a_stopped_run_goes_on_and_asks_only_what_is_missing(bench: Path, tmp_path: Path) -> None:
    first = ScriptedEndpoint(answer)
    stopped = benchwright.run(
        bench, endpoint=first, workspace=tmp_path, output_dir=tmp_path / "disturbed", max_requests=15
    )
    second = ScriptedEndpoint(answer)
    result = benchwright.resume(stopped.run_id, endpoint=second, workspace=tmp_path)
    assert result.run_id == stopped.run_id
    assert result.status == "completed"
    assert sorted(asked(first) + asked(second)) == sorted(f"q{n}" for n in range(40))

    undisturbed = benchwright.run(
        bench, endpoint=ScriptedEndpoint(answer), workspace=tmp_path / "other", output_dir=tmp_path / "calm"
    )
    assert undisturbed.summary == result.summary
    files = [(tmp_path / folder / "results.yml").read_text() for folder in ("disturbed", "calm")]
    assert files[0] == files[1].replace(str(tmp_path / "calm"), str(tmp_path / "disturbed"))


def test_a_run_that_was_taken_over_stops_and_leaves_the_record_to_its_new_owner(
    bench: Path, tmp_path: Path
) -> None:
    from benchwright.store import Workspace, open_store

    with open_store(Workspace(tmp_path)) as other:

        def answer_and_lose(request: ModelRequest) -> Any:
            if "q9" in str(request.body):
                other.claim_run(1, force=True)
            return answer(request)

        with pytest.raises(RunOwnedError, match="no longer this process's"):
            benchwright.run(
                bench, endpoint=ScriptedEndpoint(answer_and_lose), workspace=tmp_path, parallelism=1
            )
        assert other.run(1).status == "running"
        assert other.run(1).error is None
        assert other.count_steps(1, "score") == 9
        other.finish_run(1, "interrupted", summary=None)
    again = ScriptedEndpoint(answer)
    result = benchwright.resume(1, endpoint=again, workspace=tmp_path)
    assert (result.status, sorted(asked(again))) == ("completed", sorted(f"q{n}" for n in range(9, 40)))


def test_resuming_a_complete_run_asks_nothing(bench: Path, tmp_path: Path) -> None:
    done = benchwright.run(bench, endpoint=ScriptedEndpoint(answer), workspace=tmp_path)
    again = ScriptedEndpoint(answer)
    result = benchwright.resume("last", endpoint=again, workspace=tmp_path)
    assert again.requests == []
    assert (result.summary, result.status) == (done.summary, "completed")


def test_failed_samples_are_asked_again_only_when_wanted(bench: Path, tmp_path: Path) -> None:
    def flaky(request: ModelRequest) -> Any:
        text = answer(request)
        return RequestFailure("server_error", "HTTP 500", 500) if text.endswith("7") else text

    first = benchwright.run(bench, endpoint=ScriptedEndpoint(flaky), workspace=tmp_path)
    assert first.summary.outcomes["request_failed"] == 4
    untouched = ScriptedEndpoint(answer)
    benchwright.resume(first.run_id, endpoint=untouched, workspace=tmp_path)
    assert untouched.requests == []
    second = ScriptedEndpoint(answer)
    result = benchwright.resume(first.run_id, endpoint=second, workspace=tmp_path, retry_failed=True)
    assert sorted(asked(second)) == ["q17", "q27", "q37", "q7"]
    assert result.summary.outcomes["request_failed"] == 0


def test_a_changed_dataset_is_refused_and_the_run_stays_as_it_was(bench: Path, tmp_path: Path) -> None:
    run = benchwright.run(bench, endpoint=ScriptedEndpoint(answer), workspace=tmp_path, max_requests=5)
    with (tmp_path / "rows.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"question": "new", "answer": "new"}\n')
    with pytest.raises(UsageError, match="the dataset has changed"):
        benchwright.resume(run.run_id, endpoint=ScriptedEndpoint(answer), workspace=tmp_path)
    from benchwright.store import Workspace, open_store

    store = open_store(Workspace(tmp_path))
    assert store.run(run.run_id).status == "interrupted"
    store.close()


def test_a_changed_benchmark_needs_consent(bench: Path, tmp_path: Path) -> None:
    run = benchwright.run(bench, endpoint=ScriptedEndpoint(answer), workspace=tmp_path, max_requests=5)
    bench.write_text(BENCH + "\n# a remark\n", encoding="utf-8")
    with pytest.raises(UsageError, match="allow_changed=True"):
        benchwright.resume(run.run_id, endpoint=ScriptedEndpoint(answer), workspace=tmp_path)
    result = benchwright.resume(
        run.run_id, endpoint=ScriptedEndpoint(answer), workspace=tmp_path, allow_changed=True
    )
    assert result.status == "completed"


def test_the_demo_model_is_asked_once_for_equal_runs(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, workspace=tmp_path)
    second = benchwright.run(bench, workspace=tmp_path)
    fresh = benchwright.run(bench, workspace=tmp_path, cache=False)
    assert (first.from_cache, second.from_cache, fresh.from_cache) == (0, 40, 0)
    assert (first.requests_sent, second.requests_sent, fresh.requests_sent) == (40, 0, 40)
    assert first.summary == fresh.summary
    assert second.summary.reused is not None
    assert second.summary.reused["replies"] == 40
    assert replace(second.summary, reused=first.summary.reused, notes=first.summary.notes) == first.summary


def test_repeats_are_not_answered_from_one_anothers_cache(bench: Path, tmp_path: Path) -> None:
    benchwright.run(bench, workspace=tmp_path)
    repeated = benchwright.run(bench, workspace=tmp_path, repeats=2)
    assert (repeated.from_cache, repeated.requests_sent) == (40, 40)


@pytest.mark.parametrize(
    "change", [{"temperature": 0.5}, {"max_tokens": 7}, {"seed": 3}, {"demo_skill": 0.2}]
)
def test_whatever_could_change_the_answer_misses_the_cache(
    bench: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    benchwright.run(bench, workspace=tmp_path, limit=5)
    assert benchwright.run(bench, workspace=tmp_path, limit=5, **change).from_cache == 0


def test_other_functions_answer_with_the_recorded_ones(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is the same experiment from another working directory."""
    run = benchwright.run(bench, workspace=tmp_path, max_requests=5)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert benchwright.resume(run.run_id, workspace=tmp_path).status == "completed"
