"""What went wrong with results of bring-your-own-benchmark runs elsewhere, item by item: ours are right, whole, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.byob.eval_command import run_eval

from benchwright import BenchmarkError, ScorerInput, ScriptedEndpoint, run
from benchwright.core import ModelRequest, RequestFailure
from benchwright.demo import DemoSettings, demo_server, fault_mix
from benchwright.scorers import multiple_choice_acc, multiple_choice_acc_verbatim
from benchwright.scorers._judge_replies import json_grade, stated_grade
from recording_server import recording

Write = Callable[..., Path]


def right(request: ModelRequest) -> str:
    """The answer to a question."""
    return str(request.body["messages"][-1]["content"]).replace("question", "answer")


def by_body(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"]).replace("question", "answer")


def test_item_01_run_eval_writes_results_where_they_are_read(bench: Write) -> None:
    bench()
    with recording(by_body) as server:
        assert run_eval(server.url) == 0
    scores = yaml.safe_load(Path("out/results.yml").read_text())["results"]["tasks"]["sums"]["metrics"][
        "pass@1"
    ]["scores"]
    assert scores["correct"]["value"] == 1.0
    assert json.loads(Path("out/sums/byob_results.json").read_text())["tasks"]["sums"]


@pytest.mark.parametrize("path", ["", "/v1", "/v1/chat/completions"])
def test_item_02_a_url_works_with_and_without_its_path(bench: Write, path: str) -> None:
    bench()
    with recording(by_body) as server:
        assert run_eval(server.url.removesuffix("/v1") + path) == 0
        assert {request.path for request in server.received} == {"/v1/chat/completions"}


def test_item_02_total_failure_is_a_failure(bench: Write, capsys: pytest.CaptureFixture[str]) -> None:
    bench()
    with demo_server(DemoSettings(error_rate=1.0, faults=fault_mix("server_error"))) as server:
        assert run_eval(server.url, "--overrides", "config.params.max_retries=0") == 1
    assert "500" in capsys.readouterr().err
    task = yaml.safe_load(Path("out/results.yml").read_text())["results"]["tasks"]["sums"]
    assert (task["outcomes"]["request_failed"], task["samples"]["failed"], task["comparable"]) == (
        4,
        4,
        False,
    )


def test_item_03_failed_samples_stay_in_the_denominator(bench: Write) -> None:
    def half(request: ModelRequest) -> Any:
        return right(request) if int(right(request)[-1]) < 2 else RequestFailure("server_error", "no", 500)

    result = run(str(bench()), endpoint=ScriptedEndpoint(half))
    metric = result.metrics["correct"]
    assert (metric.value, metric.count) == (1.0, 2)
    assert (metric.with_failures, metric.with_failures_count) == (0.5, 4)
    assert (result.summary.failed, result.summary.comparable, result.exit_code) == (2, False, 3)


def test_item_04_no_prompt_shows_its_own_row(bench: Write) -> None:
    path = str(bench(num_fewshot=2, fewshot_template="{q} is {a}"))
    endpoint = ScriptedEndpoint(right)
    run(path, endpoint=endpoint, limit=3, parallelism=1)
    for number, request in enumerate(endpoint.requests):
        prompt = str(request.body["messages"][-1]["content"])
        assert prompt.count(f"question {number}") == 1
        assert "question 3 is answer 3" in prompt, "the row outside of the limit comes first"
    with pytest.raises(BenchmarkError, match="fewshot"):
        run(path, endpoint=endpoint, fewshot_strict=True)
    assert len(endpoint.requests) == 3


def test_item_06_examples_are_read_from_the_folder_of_the_benchmark(
    bench: Write, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "shots.jsonl").write_text('{"q": "ours", "a": "yes"}\n')
    path = bench(num_fewshot=1, fewshot_dataset="shots.jsonl", fewshot_template="{q} {a}")
    (here / "elsewhere").mkdir()
    (here / "elsewhere/shots.jsonl").write_text('{"q": "decoy", "a": "no"}\n')
    monkeypatch.chdir(here / "elsewhere")
    endpoint = ScriptedEndpoint("x")
    run(str(path), endpoint=endpoint)
    assert all("ours yes" in str(request.body["messages"]) for request in endpoint.requests)


def test_item_07_repeats_are_not_answered_by_the_cache(bench: Write) -> None:
    with recording(by_body) as server:
        for sent in (8, 0):
            result = run(str(bench()), model_url=server.url, model_id="m", repeats=2)
            assert (len(server.take()), result.metrics["correct"].count) == (sent, 8)


def test_item_08_repeats_are_not_taken_for_independent(bench: Write) -> None:
    def half(request: ModelRequest) -> str:
        return right(request) if int(right(request)[-1]) < 2 else "wrong"

    once = run(str(bench()), endpoint=ScriptedEndpoint(half))
    often = run(str(bench()), endpoint=ScriptedEndpoint(half), repeats=25)
    (first, second) = (result.metrics["correct"] for result in (once, often))
    assert second.stderr < first.stderr / 4, "the documented figure"
    assert second.sample_stderr == pytest.approx(first.sample_stderr), "the same four rows"
    assert second.ci_low is not None
    assert second.ci_high is not None
    assert second.ci_high - second.ci_low > 0.5
    groups = yaml.safe_load((often.folder / "results.yml").read_text())["results"]["tasks"]["sums"]["metrics"]
    assert {"avg@25", "pass@25", "cons@25"} <= set(groups)


def test_item_11_another_endpoint_gives_its_own_answers(bench: Write) -> None:
    path = str(bench())
    with recording(by_body) as one, recording("wrong") as other:
        assert run(path, model_url=one.url, model_id="m")["correct"] == 1.0
        assert run(path, model_url=other.url, model_id="m")["correct"] == 0.0
        assert len(other.received) == 4


def test_item_12_a_failed_judge_is_no_zero_and_grades_are_read_as_written(bench: Write) -> None:
    with demo_server(DemoSettings(error_rate=1.0, faults=fault_mix("server_error"))) as server:
        judge = {"url": server.url, "model_id": "demo", "max_retries": 0}
        path = bench(score="judge_score(sample)", judge=judge)
        path.write_text("from benchwright import judge_score\n" + path.read_text())
        result = run(str(path), endpoint=ScriptedEndpoint("x"))
    assert (result.summary.outcomes["scorer_failed"], result.metrics) == (4, {})
    for reply in ("GRADE: **C**", "grade: c", "GRADE: I\nNo, on reflection:\nGRADE: C"):
        assert stated_grade(reply, {"C": "C", "I": "I"}) == "C"
    assert json_grade('Here: {"result": {"why": "right", "grade": "C"}}', whole=False) == "C"


def test_item_13_a_target_means_the_choice_that_says_so() -> None:
    for choices, target, gold in ((["1", "2", "3"], "2", 1), (["B", "A"], "A", 1)):
        likely = [-1.0 if index == gold else -9.0 for index in range(len(choices))]
        sample = ScorerInput("", target, {"_choices": choices, "_choices_logprobs": likely})
        assert multiple_choice_acc_verbatim(sample)["acc"] == 1.0
        assert multiple_choice_acc(sample)["acc"] == 0.0, "the documented reading stays"


def test_items_have_a_test_each() -> None:
    """By the names of the functions, wherever they are."""
    texts = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    missing = [item for item in range(1, 34) if f"def test_item_{item:02}_" not in texts]
    assert not missing
