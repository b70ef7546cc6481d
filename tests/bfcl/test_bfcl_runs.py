"""The evaluation as a run: rows, tasks, limits, scores, resuming, and datasets that must not start."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.bfcl import CATEGORIES, Definition
from benchwright.bfcl._categories import GROUPS
from benchwright.cli import main
from benchwright.scorers import ScorerInput
from recording_server import recording


@pytest.fixture(autouse=True)
def no_published_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def evaluation(name: str, **given: Any) -> Any:
    definition = Definition.of(name, given, Path.cwd())
    assert definition is not None
    return definition.load()


def replayed(spec: Any, row: dict[str, Any], native: bool) -> dict[str, Any]:
    """The scores of a model that answers with the ground truth."""
    from benchwright.bfcl._row_rules import _first
    from benchwright.toolcalls import decode_calls

    category = CATEGORIES[row["category"]]
    seen: dict[str, Any] = {**row, "_native_calling": native, "_calls": [], "_turns": []}
    if category.check == "multi_turn":
        seen["_turns"] = [[decode_calls(text) for text in turn] for turn in row["ground_truth"]]
    elif category.check == "relevance":
        seen["_calls"] = [{"anything": {}}]
    elif category.language == "python":
        seen["_calls"] = [
            {(name.replace(".", "_") if native else name): _first(expected)}
            for truth in row["ground_truth"]
            for name, expected in truth.items()
        ]
    scores: dict[str, Any] = spec.scorer(ScorerInput("", row.get("ground_truth"), seen))
    return scores


@pytest.mark.parametrize("native", [True, False])
def test_the_ground_truth_of_every_shipped_row_is_right(native: bool) -> None:
    spec = evaluation("bfclv3_ast" if native else "bfclv3_ast_prompting")
    assert spec.native_calling is native
    rows = [*spec.dataset.rows()]
    assert {row["category"] for row in rows} == {*GROUPS["ast"], *GROUPS["multi_turn"]}
    for row in rows:
        if CATEGORIES[row["category"]].language == "python":
            scores = replayed(spec, row, native)
            assert scores["correct"], (row["id"], scores)


def test_the_only_function_is_expected_whatever_the_ground_truth_calls_it() -> None:
    spec = evaluation("bfcl_simple")
    row = dict(next(spec.dataset.rows()))
    ((_, allowed),) = row["ground_truth"][0].items()
    row["ground_truth"] = [{"misspelt": allowed}]
    assert spec.gold(row) == [{row["function"][0]["name"]: allowed}]


def test_a_limit_holds_for_each_category() -> None:
    rows = list(evaluation("bfclv2_ast").limited(1).rows())
    assert len(rows) == len({row["category"] for row in rows}) == 13


def test_a_missed_function_is_offered_in_its_turn_only() -> None:
    spec = evaluation("bfcl_multi_turn_miss_func")
    task = spec.tool_tasks(next(spec.dataset.rows()))
    offered = [[function["name"] for function in turn.functions] for turn in task.turns]
    assert "move_task" not in offered[0]
    assert offered[1] == ["move_task"]
    assert task.turns[1].messages == ()
    assert "tasks" in task.open().call("find_tasks", {})


def test_executable_categories_are_skipped_with_a_reason() -> None:
    spec = evaluation("bfclv3", task="simple,exec_simple,rest")
    assert {row["category"] for row in spec.dataset.rows()} == {"simple"}
    assert any("exec_simple, rest: skipped" in doubt and "RAPID_API_KEY" in doubt for doubt in spec.doubts)
    with pytest.raises(benchwright.UsageError, match="nothing can be run"):
        evaluation("bfcl_executable")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tasks": "simple"}, "no setting tasks"),
        ({"task": "simpel"}, "simpel"),
        ({"data_version": "v5"}, "v5"),
        ({"data_version": "v4"}, "fetch bfcl --data-version v4"),
        ({"custom_dataset": {"path": "x"}}, "format is missing"),
        ({"custom_dataset": {"path": "x", "format": "csv"}}, "'csv'"),
        ({"custom_dataset": {"path": "x", "format": "native", "data_template_path": "y"}}, "only the openai"),
        ({"native_calling": "yes"}, "neither true nor false"),
    ],
)
def test_wrong_input_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(benchwright.UsageError, match=message):
        evaluation("bfclv3", **given)


def test_a_run_offline_gives_scores_by_category_and_resumes(tmp_path: Path) -> None:
    result = benchwright.run("bfcl_non_live", limit=1, max_requests=3)
    assert result.status != "completed"
    done = benchwright.resume(result.run_id)
    assert done.status == "completed"
    (folder,) = (tmp_path / ".benchwright" / "runs").iterdir()
    text = (folder / "results.yml").read_text()
    assert "non_live_ast:" in text
    assert "these rows ship with benchwright (" in text


def test_the_files_of_a_run_name_its_task_its_data_and_its_calls(tmp_path: Path) -> None:
    parameters = {"type": "object", "properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]}
    function = {"name": "start_timer", "description": "Start a timer.", "parameters": parameters}
    row = {
        "messages": [{"role": "user", "content": "Start a timer of 12 minutes."}],
        "tools": [{"type": "function", "function": function}],
        "tool_calls_ground_truth": [{"start_timer": {"minutes": [12]}}],
    }
    (tmp_path / "mine.jsonl").write_text(json.dumps(row) + "\n")
    given = {"task": "simple", "custom_dataset": {"path": "mine.jsonl", "format": "openai"}}
    result = benchwright.run("bfclv3_ast", input=given, demo_skill=1.0)
    (sample,) = result.samples()
    assert sample["calls"] == [{"start_timer": {"minutes": 12}}]
    assert json.loads(sample["target"]) == row["tool_calls_ground_truth"]
    (folder,) = (tmp_path / ".benchwright" / "runs").iterdir()
    params = yaml.safe_load((folder / "results.yml").read_text())["config"]["params"]
    assert (params["task"], params["extra"]["native_calling"]) == ("simple", True)
    assert params["extra"]["custom_dataset"] == {"path": str(tmp_path / "mine.jsonl"), "format": "openai"}


def test_the_messages_of_a_shown_sample_have_their_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = benchwright.run("bfcl_multi_turn_base", limit=1, demo_skill=1.0, workspace=tmp_path)
    assert main(["show", str(result.run_id), "0", "--workspace", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert '[assistant] add_task({"' in out
    assert "[assistant] null" not in out


def test_a_run_names_the_folders_of_results_and_scores_that_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine" / "result").mkdir(parents=True)  # somebody else's
    assert main(["run", "bfcl_simple", "--output-dir", "calls", "--quiet"]) == 0
    assert "report.html, result/, score/" in " ".join(capsys.readouterr().out.split())
    (tmp_path / "sums.csv").write_text("question,answer\n1+1=,2\n")
    assert main(["run", "sums.csv", "--output-dir", "mine", "--quiet"]) == 0
    assert "result/" not in capsys.readouterr().out


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("layout", ["openai", "native"])
def test_numbers_beyond_64_bits_are_compared_to_the_last_digit(
    tmp_path: Path, native: bool, layout: str
) -> None:
    right = 10**25 + 1
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    function = {"name": "is_prime", "description": "Whether a number is prime.", "parameters": parameters}
    asked = [[[{"role": "user", "content": str(number)}]] for number in (right, right + 1)]
    truth = [{"is_prime": {"n": [right]}}]
    data = tmp_path / "data"
    if layout == "openai":
        tools = [{"type": "function", "function": function}]
        rows = [{"messages": each, "tools": tools, "tool_calls_ground_truth": truth} for each in asked]
        data.write_text("\n".join(map(json.dumps, rows)))
    else:
        (data / "possible_answer").mkdir(parents=True)
        ids = [f"simple_{number}" for number in range(2)]
        rows = [
            {"id": id, "question": each, "function": [function]} for id, each in zip(ids, asked, strict=True)
        ]
        answers = [{"id": id, "ground_truth": truth} for id in ids]
        for folder, lines in ((data, rows), (data / "possible_answer", answers)):
            (folder / "BFCL_v3_simple.json").write_text("\n".join(map(json.dumps, lines)))

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        number = body["messages"][-1]["content"]
        call = {
            "id": "1",
            "type": "function",
            "function": {"name": "is_prime", "arguments": f'{{"n": {number}}}'},
        }
        return {"tool_calls": [call]} if native else {"content": f"[is_prime(n={number})]"}

    with recording(reply) as server:
        result = benchwright.run(
            "bfclv3_ast",
            task="simple",
            native_calling=native,
            tool_data=str(data),
            tool_data_format=layout,
            model_url=server.url,
            model_id="m",
        )
    for scored in (result, benchwright.rescore(result.run_id)):
        assert [sample["scores"]["correct"] for sample in scored.samples()] == [True, False]


def test_a_broken_dataset_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"messages": []}\n')
    given = {"task": "simple", "custom_dataset": {"path": "broken.jsonl", "format": "openai"}}
    with pytest.raises(benchwright.DatasetError, match=r"broken.jsonl:1"):
        benchwright.run("bfclv3", input=given)
    details = tmp_path / ".benchwright" / "custom_dataset_processing" / "validation_failure_details.json"
    assert json.loads(details.read_text())[0]["line"] == 1
    assert not (tmp_path / ".benchwright" / "runs").exists()


def test_expected_calls_are_shown_in_every_language_and_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = benchwright.run("bfclv3", task="java,javascript,multi_turn_base", limit=1)
    for sample in result.samples():
        truths = sample["metadata"]["ground_truth"]
        assert truths
        assert json.loads(sample["target"]) == truths
    assert main(["show", "last", "0"]) == 0
    assert "LogReader.tail(file='app.log', lines=10)" in capsys.readouterr().out


def test_the_messages_of_turns_are_shown_with_their_calls(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = benchwright.run("bfcl_multi_turn_base", limit=1, demo_skill=1.0)
    (sample,) = result.samples()
    name = next(iter(sample["calls"][0][0][0]))
    assert main(["show", "last", "0"]) == 0
    shown = capsys.readouterr().out
    assert f"[assistant] {name}({{" in shown
    assert "[assistant] null" not in shown


def test_the_faults_of_a_dataset_go_to_the_workspace_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "benchwright.toml").touch()
    (below / "broken.jsonl").write_text('{"messages": []}\n')
    monkeypatch.chdir(below)
    for act, place in ((benchwright.run, None), (benchwright.check, None), (benchwright.check, "other")):
        workspace = tmp_path if place is None else below / place
        with pytest.raises(benchwright.DatasetError, match=re.escape(str(workspace / ".benchwright"))):
            act("bfclv3_ast", task="simple", tool_data="broken.jsonl", workspace=place)
    assert not (below / ".benchwright").exists()


@pytest.mark.parametrize(
    ("name", "noted"),
    [
        ("bfcl_simple", True), ("bfcl_multi_turn_base", True), ("bfcl_irrelevance", True),
        ("bfcl_simple_prompting", False), ("bfcl_multi_turn_base_prompting", False),
    ],
)  # fmt: skip
def test_functions_that_no_reply_calls_may_have_been_hidden_by_the_server(
    tmp_path: Path, name: str, noted: bool
) -> None:
    hidden = benchwright.run(name, endpoint=ScriptedEndpoint("It is sunny."), workspace=tmp_path)
    assert any("no reply calls a function" in note for note in hidden.summary.notes) is noted
    shown = benchwright.run(name, workspace=tmp_path, demo_skill=1.0)
    calls = "irrelevance" not in name
    assert any("no reply calls a function" in note for note in shown.summary.notes) is (noted and not calls)


def test_a_category_counts_its_own_failures_as_wrong(tmp_path: Path) -> None:
    table = '[models.faulty]\ntype = "demo"\nerror_rate = 0.5\nmax_retries = 0\n'
    (tmp_path / "benchwright.toml").write_text(table)
    result = benchwright.run("bfclv3_ast", task="simple,multiple", model="faulty")
    samples = list(result.samples())
    assert {sample["outcome"] for sample in samples} >= {"scored", "request_failed"}
    for name in ("simple", "multiple"):
        own = [sample for sample in samples if sample["metadata"]["category"] == name]
        right = sum(bool((sample["scores"] or {}).get("correct")) for sample in own)
        metric = result.summary.metrics[name]
        assert (metric.with_failures, metric.with_failures_count) == (right / len(own), len(own))


FUNCTIONS = """
import os, socket
def add(a, b):
    return a + b
def priced(symbol):
    return {"price": len(os.environ["NO_SUCH_KEY_OF_A_SERVICE"] + symbol)}
def weather(city):
    raise ConnectionError("no route to " + city)
def ends(code):
    os._exit(code)
"""
EXPECTED = {
    "exec_simple": [
        ["add(a=1, b=2)"],
        ["priced(symbol='X')"],
        ["weather(city='Oslo')"],
        ["absent()"],
        ["add(1, 1)"],
    ],
    "exec_parallel": [["add(a=1, b=2)", "add(a=3, b=4)"], ["add(a=1, b=2)", "weather(city='Oslo')"]],
}


def executable_rows(folder: Path, expected: dict[str, list[list[str]]]) -> dict[str, Any]:
    """A native folder of executable rows, and the `--input` that evaluates it."""
    folder.mkdir()
    names = ("add", "priced", "weather", "absent", "ends")
    functions = [
        {"name": name, "description": "", "parameters": {"type": "dict", "properties": {}}} for name in names
    ]
    for category, rows in expected.items():
        lines = [
            {
                "id": f"{category}_{number}",
                "question": [[{"role": "user", "content": " and ".join(calls)}]],
                "function": functions,
                "ground_truth": calls,
                "execution_result_type": ["exact_match"] * len(calls),
            }
            for number, calls in enumerate(rows)
        ]
        (folder / f"BFCL_v3_{category}.json").write_text("\n".join(map(json.dumps, lines)))
    module = folder / "functions.py"
    module.write_text(FUNCTIONS)
    return {
        "task": ",".join(expected),
        "native_calling": False,
        "custom_dataset": {"path": str(folder), "format": "native"},
        "executable_module": str(module),
    }


def test_rows_whose_expected_calls_cannot_be_executed_are_skipped_before_they_are_sent(
    tmp_path: Path,
) -> None:
    def truth(body: dict[str, Any]) -> str:
        said = str(body["messages"][-1]["content"]).replace(" and ", ", ")
        return "[" + said.replace("add(1, 1)", "add(a=1, b=1)") + "]"

    given = executable_rows(tmp_path / "data", EXPECTED)
    with recording(truth) as server:
        result = benchwright.run(
            "bfclv3", input=given, model_url=server.url, model_id="m", output_dir=tmp_path / "out"
        )
    assert len(server.bodies) == 3  # nothing is sent for the others
    assert result.summary.outcomes["skipped"] == 4
    metrics = result.summary.metrics
    assert {name: (figure.value, figure.with_failures) for name, figure in metrics.items() if name != "parsed"} == {
        "correct": (1.0, 1.0), "exec_simple": (1.0, 1.0), "exec_parallel": (1.0, 1.0),
    }  # fmt: skip
    notes = " ".join(result.summary.notes)
    assert "exec_simple: 3 of 5 samples skipped, because their expected calls could not be executed" in notes
    assert "exec_parallel: 1 of 2 samples skipped" in notes
    errors = " ".join(str(sample["error"]) for sample in result.samples() if sample["outcome"] == "skipped")
    for why in (
        "NO_SUCH_KEY_OF_A_SERVICE",
        "ConnectionError: no route to Oslo",
        "there is no function absent",
    ):
        assert why in errors
    head = json.loads(
        next((tmp_path / "out").rglob("BFCL_v3_exec_simple_score.json")).read_text().splitlines()[0]
    )
    assert (head["accuracy"], head["total_count"], head["failed_count"], head["skipped_count"]) == (
        1.0,
        2,
        0,
        3,
    )


def test_a_reply_that_ends_the_process_is_wrong_and_does_not_hide_the_expected_result(tmp_path: Path) -> None:
    given = executable_rows(tmp_path / "data", {"exec_simple": [["add(a=1, b=2)"]]})
    with recording(lambda body: "[ends(code=3)]") as server:
        result = benchwright.run("bfclv3", input=given, model_url=server.url, model_id="m")
    (sample,) = result.samples()
    assert (sample["outcome"], result.summary.metrics["correct"].value) == ("scored", 0.0)
