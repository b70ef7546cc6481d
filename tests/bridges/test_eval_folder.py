"""The files of `run_eval`: what programs that read such folders look for, the figures in them, and how a run may end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from benchwright import RunResult, ScriptedEndpoint, resume, run
from benchwright.cli import main
from benchwright.core import (
    CallTimes,
    LoadFile,
    ModelReply,
    ModelRequest,
    RequestFailure,
    RunFile,
    TokenUsage,
    bridge,
    open_artifacts,
)
from benchwright.endpoints._scripted import ScriptedAnswer
from recording_server import recording

EVAL_FILES = bridge("run_eval").EVAL_FILES
MARKS = [file.name for file in EVAL_FILES if file.when not in ("start", "end")]
PARAMS = {
    "limit_samples",
    "max_new_tokens",
    "max_retries",
    "parallelism",
    "task",
    "temperature",
    "request_timeout",
    "top_p",
    "extra",
}
"""What older programs accept below `config.params`; they refuse a file with any other key."""
STATS = {"count", "sum", "sum_squared", "min", "max", "mean", "variance", "stddev", "stderr"}


BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="my qa", dataset="rows.jsonl", prompt="{q}", target_field="a")
@scorer
def check(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target, "kind": "text"}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"q": f"row {number}: ü", "a": "yes"} for number in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "bench.py").write_text(BENCH)
    return tmp_path


def evaluate(script: Any, **options: Any) -> RunResult:
    options = {"output_dir": "out", "reports": "run_eval", "parallelism": 1, **options}
    result: RunResult = run("bench.py", endpoint=ScriptedEndpoint(script), **options)
    return result


def content(name: str) -> bytes:
    return open_artifacts("out").read(name)


def document(name: str) -> Any:
    read = yaml.safe_load if name.endswith((".yml", ".yaml")) else orjson.loads
    return read(content(name))


def files(under: str = "") -> set[str]:
    found: set[str] = set()
    for name in open_artifacts("out").names(under):
        found |= files(name) if name.endswith("/") else {name}
    return found


def replies(request: ModelRequest) -> ScriptedAnswer:
    """A reply of each kind, by row."""
    row = int(str(request.body["messages"]).split("row ")[1][0])
    times = CallTimes.lasting(0.1 * (row + 1))
    match row:
        case 0:
            return ModelReply(
                "answered",
                "yes",
                reasoning="let me see",
                finish_reason="stop",
                usage=TokenUsage(10, 5),
                times=times,
            )
        case 1:
            calls: list[Any] = [{"function": {"name": "f"}}, {"function": {"name": "g"}}]
            return ModelReply(
                "answered",
                "no",
                finish_reason="tool_calls",
                usage=TokenUsage(30, 1),
                tool_calls=calls,
                times=times,
            )
        case 2:
            return ModelReply("truncated", "", reasoning="on and on", finish_reason="length", times=times)
    return RequestFailure("server_error", "out of order", 503)


@pytest.mark.usefixtures("any_place")
def test_only_the_report_adds_files_and_the_table_names_them_all() -> None:
    evaluate("yes", reports=None)
    assert files() == set(RunFile)
    evaluate("yes", overwrite=True, metadata={"versioning": {"data": "7"}, "owner": "me"})
    expected = {file.name.format(name="my_qa", start=0) for file in EVAL_FILES if file.name not in MARKS}
    assert files() == expected | set(RunFile)


def test_results_hold_what_older_readers_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "c2VjcmV0IHZhbHVl0815")
    with recording("yes") as server:
        evaluated = main(["run", "rows.jsonl", "--data-type", "qa", "--input-columns", "q", "--output-column", "a", "--report",
                          "run_eval", "--output-dir", "out", *server.model, "--api-key-name", "MY_KEY"])  # fmt: skip
    assert evaluated == 0
    found, config = document("results.yml"), document("run_config.yml")
    assert set(found) == {"command", "config", "git_hash", "results", "target"}
    assert set(found["config"]["params"]) <= PARAMS
    assert found["target"]["api_endpoint"]["api_key_name"] == "MY_KEY"
    assert config["framework_name"] == found["config"]["type"].partition(".")[0]
    assert config["target"]["api_endpoint"]["model_id"] == "m"
    (task,) = found["results"]["tasks"].values()
    for group in task["metrics"].values():
        for score in group["scores"].values():
            assert isinstance(score["value"], float)
            assert {type(value) for value in score["stats"].values()} <= {int, float}, "readers add these up"
            assert {"count", "mean", "stddev", "stderr"} <= set(score["stats"]) & STATS
    assert orjson.loads(Path("out/rows/byob_results.json").read_bytes())["tasks"] == found["results"]["tasks"]
    everything = b"".join(map(content, files()))
    assert b"c2VjcmV0" not in everything


def test_predictions_are_saved_unless_the_configuration_says_otherwise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved = {"samples.parquet", "my_qa/byob_predictions.jsonl"}
    with recording("yes") as server:
        Path("run.yaml").write_text(
            "config: {type: bench.py, output_dir: out, params: {extra: {save_predictions: false}}}\n"
            f"target: {{api_endpoint: {{url: '{server.url}', model_id: m, type: chat}}}}\n"
        )
        keep = ["-o", "config.params.extra.save_predictions=true"]
        assert main(["run_eval", "--run_config", "run.yaml", *keep]) == 0
        assert saved <= files()
        capsys.readouterr()
        assert main(["run_eval", "--run_config", "run.yaml"]) == 0  # also removes those of the run before
        assert "samples.parquet" not in capsys.readouterr().out
    assert not saved & files()
    assert {"results.yml", "my_qa/byob_results.json"} <= files()
    assert document("run_config.yml")["config"]["params"]["extra"]["save_predictions"] is False
    assert main(["show", "last", "0", "--json"]) == 0  # the workspace has the samples
    assert main(["run", "--config", "out/run_config.yml", "--output-dir", "again"]) == 0
    assert not Path("again/samples.parquet").exists()
    capsys.readouterr()
    Path("elsewhere").mkdir()
    assert main(["compare", "out", "again", "--workspace", "elsewhere"]) == 2
    assert "has no samples.parquet, which save_predictions: false leaves out" in capsys.readouterr().err


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _repository(layout: str) -> None:
    """The files of a git repository around the working folder."""
    git = Path(".git")
    head = {"detached": COMMIT, "reftable": "ref: refs/heads/.invalid"}.get(layout, "ref: refs/heads/a/b")
    if layout == "worktree":
        git.write_text("gitdir: main/.git/worktrees/one\n")
        git = Path("main/.git/worktrees/one")
        git.mkdir(parents=True)
        (git / "commondir").write_text("../..\n")
        (git / "../../refs/heads/a").mkdir(parents=True)
        (git / "../../refs/heads/a/b").write_text(f"{COMMIT}\n")
    else:
        git.mkdir()
    (git / "HEAD").write_text(f"{head}\n")
    if layout == "loose":
        (git / "refs/heads/a").mkdir(parents=True)
        (git / "refs/heads/a/b").write_text(f"{COMMIT}\n")
    if layout == "packed":
        (git / "packed-refs").write_text(
            f"# pack-refs with: peeled\n{'f' * 40} refs/heads/a\n{COMMIT} refs/heads/a/b\n"
        )


@pytest.mark.parametrize("layout", ["detached", "loose", "packed", "worktree", "unborn", "reftable"])
def test_results_name_the_commit_of_the_working_folder(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _repository(layout)
    Path("inner").mkdir()
    monkeypatch.chdir("inner")
    run("../bench.py", endpoint=ScriptedEndpoint("yes"), output_dir="../out", limit=1)
    monkeypatch.chdir("..")
    known = None if layout in ("unborn", "reftable") else COMMIT
    assert document("results.yml")["git_hash"] == known
    assert document("manifest.json").get("git_hash") == known


@pytest.mark.usefixtures("any_place")
def test_metrics_count_what_happened() -> None:
    evaluate(replies)
    found = document("eval_factory_metrics.json")
    stats = found["response_stats"]
    assert (stats["avg_prompt_tokens"], stats["max_prompt_tokens"], stats["max_total_tokens"]) == (20, 30, 31)
    assert stats["avg_latency_ms"] == pytest.approx(200)
    assert stats["max_latency_ms"] == pytest.approx(300)
    assert stats["status_codes"] == {"200": 3, "503": 1}
    assert stats["finish_reason"] == {"stop": 1, "tool_calls": 1, "length": 1}
    assert (stats["count"], stats["successful_count"], stats["tool_calls_count"]) == (4, 3, 2)
    reasoning = found["reasoning"]
    assert (reasoning["responses_with_reasoning"], reasoning["reasoning_unfinished_count"]) == (2, 1)
    assert (reasoning["total_reasoning_words"], reasoning["max_reasoning_words"]) == (6, 3)


@pytest.mark.usefixtures("any_place")
def test_predictions_are_one_line_of_ascii_for_each_sample_and_repeat() -> None:
    evaluate(replies, repeats=2)
    lines = content("my_qa/byob_predictions.jsonl").splitlines()
    records = [json.loads(line) for line in lines]
    assert all(line.isascii() for line in lines)
    assert [record["sample_id"] for record in records] == [0, 4, 1, 5, 2, 6, 3, 7]
    assert records[1]["metadata"] == {"q": "row 0: ü", "a": "yes", "_repeat": 1}
    assert [record["status"] for record in records[::2]] == [
        "scored",
        "scored",
        "scored",
        "skipped_model_error",
    ]
    assert records[2]["scores"] == {"correct": False, "kind": "text"}
    assert "out of order" in records[-1]["error"]
    assert records[-1]["response"] is None


@pytest.mark.usefixtures("any_place")
def test_the_first_exchanges_are_shown_with_their_replies() -> None:
    evaluate(replies)
    shown = document("report.json")
    assert [set(each) for each in shown] == [
        {"request_data", "display_request", "response", "endpoint", "cache_key"}
    ] * 4
    assert shown[0]["request_data"]["messages"][-1]["content"] == "row 0: ü"
    assert shown[0]["response"]["choices"][0]["message"]["content"] == "yes"
    assert shown[3]["response"]["error"]["code"] == 503
    assert "row 0: ü" in content("report.html").decode()


@pytest.mark.usefixtures("any_place")
def test_a_signal_that_comes_when_all_is_done_leaves_no_mark(here: Path) -> None:
    sent = 0

    def until_the_last(request: ModelRequest) -> str:
        nonlocal sent
        sent += 1
        if sent == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return "yes"

    assert evaluate(until_the_last).status == "completed"
    assert not files() & {*MARKS}


@pytest.mark.usefixtures("any_place")
def test_a_folder_never_holds_the_results_of_another_run(here: Path) -> None:
    """A run may end without any, and then they would seem to be its own."""
    evaluate("yes")
    whole, seen = files(), []

    def look(request: ModelRequest) -> str:
        seen.append(files())
        return "no"

    evaluate(look, overwrite=True, cache=False)
    assert seen == [{"run_config.yml"}] * 4
    assert files() == whole


def test_a_folder_is_not_written_by_runs_of_two_workspaces_at_once(here: Path) -> None:
    """Records of one workspace do not know those of another; the second run is refused, and may start when the first has ended."""
    refused: list[int] = []

    def script(request: ModelRequest) -> ScriptedAnswer:
        if not refused:
            refused.extend((of_another_workspace(here, "perf"), of_another_workspace(here, "run")))
        return replies(request)

    (here / "rows.csv").write_text("question,answer\n1+1=,2\n", encoding="utf-8")
    evaluate(script)
    assert refused == [5, 5]
    assert list(document("results.yml")["results"]["tasks"]) == ["my_qa"]
    assert of_another_workspace(here, "run") == 0
    assert list(document("results.yml")["results"]["tasks"]) == ["rows"]


def of_another_workspace(here: Path, command: str) -> int:
    """The exit code of a run that would write into the same folder. One that is refused leaves no record of a run that waits."""
    words = [command, "rows.csv", "--workspace", "elsewhere", "-q", "--output-dir", "out", "--overwrite"]
    done = subprocess.run(
        [sys.executable, "-m", "benchwright", *words], cwd=here, capture_output=True, text=True, check=False
    )
    if done.returncode == 5:
        assert "a run of another workspace writes its files into" in done.stderr
    (here / "elsewhere").mkdir(exist_ok=True)
    listed = subprocess.run(
        [sys.executable, "-m", "benchwright", "list", "--workspace", "elsewhere"],
        cwd=here, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "queued" not in listed.stdout
    return done.returncode


def test_a_load_test_keeps_its_folder_for_itself_too(here: Path) -> None:
    refused: list[int] = []

    def reply(body: object) -> str:
        if not refused:
            refused.extend((of_another_workspace(here, "perf"), of_another_workspace(here, "run")))
        return "fine"

    (here / "rows.csv").write_text("question,answer\n1+1=,2\n", encoding="utf-8")
    with recording(reply) as server:
        address = ["--model-url", server.url, "--model-id", "m", "--no-stream"]
        words = ["perf", "rows.csv", *address, "--output-dir", "out", "--requests=1", "--concurrency=1"]
        assert main([*words, "--request-timeout=120"]) == 0
    assert refused == [5, 5]
    assert sorted(path.name for path in (here / "out").iterdir()) == sorted(LoadFile)
    assert of_another_workspace(here, "perf") == 0


@pytest.mark.usefixtures("any_place")
def test_an_interrupted_run_leaves_all_files_and_a_mark_and_its_resumption_adds_up(here: Path) -> None:
    sent = 0

    def until_the_third(request: ModelRequest) -> str:
        nonlocal sent
        sent += 1
        if sent == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return "yes"

    result = evaluate(until_the_third)
    assert result.exit_code == 130
    mark = document(".nemo_evaluator_interrupted")
    assert mark["signal"] == "SIGTERM"
    assert mark["timestamp"] > 0
    task = document("results.yml")["results"]["tasks"]["my_qa"]
    assert task["partial"]
    assert (
        task["samples"]["evaluated"] == document("eval_factory_metrics.json")["response_stats"]["count"] < 4
    )
    assert resume(result, endpoint=ScriptedEndpoint("yes")).exit_code == 0
    assert not files() & {*MARKS}
    starts = [document(f"run_times/runtime_{number}.json") for number in (0, 1)]
    whole = document("eval_factory_metrics.json")["evaluation"]
    assert whole["total_runs"] == 2
    assert whole["runtime_seconds"] == pytest.approx(sum(start["runtime_seconds"] for start in starts))
    assert (whole["start_time"], whole["end_time"]) == (starts[0]["start_time"], starts[1]["end_time"])
    assert whole["peak_tree_memory_bytes"] >= whole["peak_memory_bytes"] > 1_000_000
    spent = sum(whole[f"{part}_time_seconds"] for part in ("startup", "inference", "scoring"))
    assert spent == pytest.approx(whole["runtime_seconds"], abs=1e-3)
    times = document("eval_factory_metrics.json")["response_stats"]["inference_run_times"]
    assert set(times) == {"0", "1"}
    moments = [
        starts[0]["start_time"],
        times["0"]["first_request_time"],
        times["0"]["last_request_time"],
        times["1"]["run_start"],
    ]
    assert sorted(moments) == moments
    for moment in moments:
        assert datetime.fromisoformat(moment).year > 2000


@pytest.mark.parametrize(
    "options", [{}, {"pipeline": {"use_raise_client_errors": True}}], ids=["", "fail fast"]
)
@pytest.mark.usefixtures("any_place")
def test_a_server_that_cannot_be_used_leaves_its_words_once(options: dict[str, Any]) -> None:
    result = evaluate(RequestFailure("rejected", "no such model", 404), **options)
    assert result.exit_code == 1
    assert content(".nemo_evaluator_server_error").count(b"no such model") == 1
    if options:
        return
    assert document("eval_factory_metrics.json")["response_stats"]["status_codes"] == {"404": 4}
    assert document("results.yml")["results"]["tasks"]["my_qa"]["outcomes"]["request_failed"] == 4


@pytest.mark.usefixtures("any_place")
def test_metadata_are_kept_and_their_versions_repeated() -> None:
    evaluate("yes", metadata={"versioning": {"data": "7"}, "owner": "me"})
    versions = document("results.yml")["metadata"]["versioning"]
    assert versions["data"] == "7"
    assert versions["benchwright"]
    assert document("metadata.yaml") == {"owner": "me", "versioning": versions}


def test_the_same_command_again_takes_what_is_paid_for(here: Path) -> None:
    (here / "benchwright.toml").write_text('[benchmarks.my_qa]\nfile = "bench.py"\n')
    with recording("yes") as server:
        command = ["run_eval", "--eval_type", "byob_my_qa.my_qa", "--model_id", "m", "--model_type", "chat", "--model_url", server.url,
                   "--output_dir", "out"]  # fmt: skip
        assert main([*command, "--overrides", "metadata.versioning.data=7"]) == 0
        assert document("results.yml")["metadata"]["versioning"]["data"] == 7
        assert (
            document("metadata.yaml")
            == document("run_config.yml")["metadata"] | document("results.yml")["metadata"]
        )
        first = document("results.yml")
        assert len(server.take()) == 4
        assert main(command) == 0
        assert not server.take()
    del first["metadata"]
    again = document("results.yml")
    (task,) = again["results"]["tasks"].values()
    assert task["samples"].pop("reused")["replies"] == 4
    assert "4 replies came from earlier runs" in task["notes"].pop()
    assert again == first
    assert not Path("out/metadata.yaml").exists(), "of the first run"
    stats = document("eval_factory_metrics.json")["response_stats"]
    assert (stats["cached_count"], stats["count"], stats["inference_time"]) == (4, 4, 0)
    assert document("eval_factory_metrics.json")["evaluation"]["total_runs"] == 1
