"""The meta file of a question file: found, applied, told, and held to by a resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright.benchmarks import QuestionOptions
from benchwright.benchmarks._questions.options import sampling_for
from benchwright.core import DatasetError, UsageError
from recording_server import recording

CSV = "question,answer,max_tokens\nq0,yes,7\nq1,yes,\nq2,yes,9\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qa.csv").write_text(CSV, encoding="utf-8")
    return tmp_path


def meta(name: str = "qa.csv.meta.json", **keys: Any) -> None:
    Path(name).write_text(json.dumps(keys), encoding="utf-8")


def lengths(**params: Any) -> dict[str, Any]:
    return {
        "method": "percentage",
        "params": {"percentage_distribute": [[10, 0.5], [20, 0.3], [40, 0.2]], **params},
    }


def asked(bodies: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(body["messages"][-1]["content"], body["max_tokens"]) for body in bodies]


def run(server: Any, target: str = "qa.csv", **options: Any) -> benchwright.RunResult:
    return benchwright.run(
        target, model_url=server.url, model_id="m", parallelism=1, max_tokens=99, **options
    )


def test_without_a_meta_file_nothing_is_planned(folder: Path) -> None:
    assert sampling_for(folder / "qa.csv", QuestionOptions()) is None
    assert sampling_for(None, QuestionOptions()) is None
    with recording("yes") as server:
        result = run(server)
    assert asked(server.bodies) == [("q0", 7), ("q1", 99), ("q2", 9)]
    assert not any("meta" in note for note in result.summary.notes)


def test_the_meta_file_beside_the_data_is_applied_and_told() -> None:
    meta(request_count=7, output_config=lengths(order="blocked"))
    with recording("yes") as server:
        result = run(server)
    assert asked(server.bodies) == [
        ("q0", 10), ("q1", 10), ("q2", 10), ("q0", 10), ("q1", 20), ("q2", 20), ("q0", 40),
    ]  # fmt: skip
    assert result.summary.notes[0].startswith("qa.csv.meta.json: 7 requests from 3 rows, mode default")
    # Three rows, not seven, and a little less since they are asked unequally often.
    assert result.summary.metrics["normalised_exact"].ci_low == pytest.approx(0.4287, abs=1e-4)


def test_another_meta_file_may_be_named(folder: Path) -> None:
    meta(request_count=2)
    Path("plans").mkdir()
    meta("plans/other.json", request_count=1)
    with recording("yes") as server:
        run(server, meta_path="plans/other.json", limit=5)
        run(server, meta_path=str(folder / "plans" / "other.json"), cache=False)
    assert asked(server.bodies) == [("q0", 7), ("q0", 7)]


def test_a_named_meta_file_must_be_there() -> None:
    meta()
    with pytest.raises(
        DatasetError, match=r"there is no meta file qa.cvs.meta.json. Did you mean 'qa.csv.meta.json'"
    ):
        benchwright.check("qa.csv", meta_path="qa.cvs.meta.json")
    with pytest.raises(DatasetError, match="is a folder"):
        benchwright.check("qa.csv", meta_path=".")


def test_compatible_sampling_is_a_flag() -> None:
    meta(request_count=7, output_config=lengths())
    with recording("yes") as server:
        result = run(server, compat="aisbench")
    assert [length for _, length in asked(server.bodies)] == [10, 10, 10, 20, 20, 40, 40]
    assert any("as AISBench does" in note for note in result.summary.notes)


def test_the_limit_comes_after_the_plan() -> None:
    meta(request_count=7, output_config=lengths(order="blocked"))
    with recording("yes") as server:
        run(server, limit=5)
    assert [length for _, length in asked(server.bodies)] == [10, 10, 10, 10, 20]


def test_errors_in_a_meta_file_stop_the_run_before_it_starts() -> None:
    meta(request_count=0, sampling_mode="often")
    with recording("yes") as server:
        with pytest.raises(DatasetError) as caught:
            run(server)
        assert server.bodies == []
    assert "request_count is 0" in str(caught.value)
    assert "sampling_mode 'often'" in str(caught.value)


def test_a_resume_follows_the_same_plan_and_refuses_another() -> None:
    meta(request_count=7, sampling_mode="random")
    with recording("yes") as server:
        stopped = run(server, max_requests=3)
        meta(request_count=7, sampling_mode="random", seed=1)
        with pytest.raises(UsageError, match="the dataset has changed"):
            benchwright.resume(stopped.run_id)
        meta(request_count=7, sampling_mode="random")
        done = benchwright.resume(stopped.run_id)
    assert done.summary.evaluated == 7
    questions = [question for question, _ in asked(server.bodies)]
    assert sorted(questions) == ["q0", "q0", "q0", "q1", "q1", "q2", "q2"]


def test_lengths_may_come_from_a_column_of_the_data() -> None:
    meta(output_config={"method": "column", "params": {"column": "max_tokens"}})
    (report,) = benchwright.check("qa.csv")
    assert [(bad.line, bad.field) for bad in report.bad_rows] == [(3, "max_tokens")]
    assert "takes the longest reply from it" in report.bad_rows[0].reason


def test_a_range_without_rows_is_named(folder: Path) -> None:
    with pytest.raises(DatasetError, match=r"no usable rows.*test_range \[50:60\] selects 0 rows"):
        benchwright.run("qa.csv", test_range="[50:60]")
