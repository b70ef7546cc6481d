"""Function-calling evaluations by name: the shipped rows, their modes and settings, rows of one's own, and what goes wrong."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import DatasetError, ScriptedEndpoint, UsageError
from benchwright.bfcl import CATEGORIES, NativeFolder, evaluation_of
from benchwright.cli import main
from benchwright.core import JsonObject, ModelRequest, RequestFailure
from benchwright.demo import DemoSettings, demo_server
from benchwright.toolcalls import decode_calls
from recording_server import Refusal, recording
from waiting import PATIENCE_S

MINI = NativeFolder(Path(benchwright.bfcl.__file__).parent / "_mini_set")  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _no_published_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))


def rows_by_question() -> dict[str, Any]:
    """The shipped rows by what the user says first."""
    found = {}
    for category in CATEGORIES.values():
        if MINI.has(category):
            for row in MINI.rows(category):
                found[row["question"][0][-1]["content"], category.name] = row
    return found


ROWS = rows_by_question()


def first_allowed(truth: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, allowed in truth.items():
        values = [value for value in allowed if value != ""]
        if values:
            value = values[0]
            found[name] = first_allowed(value) if isinstance(value, dict) else value
    return found


class Source(str):
    """A value as it stands in code."""


def java_text(value: Any) -> str:
    """A value as Java and JavaScript write it; the types that the shipped rows have."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and isinstance(value[0], float):
        return Source(f"new double[]{{{', '.join(map(str, value))}}}")
    if isinstance(value, bool | list | dict):
        return Source(json.dumps(value))
    return Source(f"{value}L" if value == 5000 else str(value))


def right_calls(row: Any, turn: int) -> list[dict[str, dict[str, Any]]]:
    category = CATEGORIES[row["category"]]
    if category.check == "multi_turn":
        return [call for text in row["ground_truth"][turn] for call in decode_calls(f"[{text}]")]
    if category.check == "irrelevance":
        return []
    if category.check == "relevance":
        function = row["function"][0]
        return [{function["name"]: {}}]
    calls = [{name: first_allowed(truth)} for call in row["ground_truth"] for name, truth in call.items()]
    if category.language != "python":
        calls = [{n: {k: java_text(v) for k, v in a.items()} for n, a in call.items()} for call in calls]
    return calls


def reply_of(calls: list[dict[str, dict[str, Any]]], native: bool) -> str | JsonObject:
    if not calls:
        return "I can do that without calling anything."
    if not native:
        texts = [
            f"{n}({', '.join(f'{k}={_literal(v)}' for k, v in a.items())})"
            for call in calls
            for n, a in call.items()
        ]
        return f"[{', '.join(texts)}]"
    sent: list[Any] = [
        {
            "id": f"c{at}",
            "type": "function",
            "function": {"name": n.replace(".", "_"), "arguments": json.dumps(a)},
        }
        for at, call in enumerate(calls)
        for n, a in call.items()
    ]
    return {"choices": [{"message": {"content": None, "tool_calls": sent}, "finish_reason": "tool_calls"}]}


def _literal(value: Any) -> str:
    if isinstance(value, Source):
        return str(value)
    return json.dumps(value) if isinstance(value, str) else repr(value)


def replaying(native: bool, fault: Callable[[str, Any], Any] | None = None) -> Callable[[ModelRequest], Any]:
    """A server that knows every shipped row's answer; `fault` may put another reply in its place."""

    def answer(request: ModelRequest) -> Any:
        messages: list[Any] = request.body["messages"]  # type: ignore[assignment]
        said = [
            m["content"] for m in messages if m["role"] == "user" and not m["content"].startswith('[{"role"')
        ]
        offered = json.dumps(request.body.get("tools") or messages[0]["content"])
        row = next(row for row in ROWS.values() if _is_asked(row, said, offered))
        if fault is not None and (wrong := fault(row["id"], row)) is not None:
            return wrong
        last = messages[-1]
        if last["role"] == "tool" or last["content"].startswith('[{"role"'):
            return "Done."
        return reply_of(right_calls(row, len(said) - 1), native)

    return answer


def _is_asked(row: Any, said: list[str], offered: str) -> bool:
    turns = [turn[-1]["content"] if turn else None for turn in row["question"][: len(said)]]
    same = len(turns) == len(said) and all(
        one == other or (one is None and other.startswith("More functions"))
        for one, other in zip(turns, said, strict=True)
    )
    held_back = [name for names in (row.get("missed_function") or {}).values() for name in names]
    if len(said) == 1 and any(f'"{name}"' in offered or f'\\"{name}\\"' in offered for name in held_back):
        return False
    names = [function["name"] for function in row["function"] if function["name"] not in held_back]
    return same and all(name.replace(".", "_") in offered or name in offered for name in names)


@pytest.mark.parametrize("name", ["bfclv3_ast", "bfclv3_ast_prompting"])
def test_replayed_answers_score_as_right_in_every_category(name: str, tmp_path: Path) -> None:
    script = ScriptedEndpoint(replaying(native=name == "bfclv3_ast"))
    result = benchwright.run(name, endpoint=script, workspace=tmp_path)
    wrong = [
        (s["metadata"]["id"], s["scores"]["error"]) for s in result.samples() if not s["scores"]["correct"]
    ]
    assert wrong == []
    assert len(result.metrics) == 2 + 17
    assert result.summary.outcomes["scored"] == result.summary.evaluated
    assert any("benchwright fetch bfcl" in note for note in result.summary.notes)
    assert result.summary.derived["overall"] == 1.0


def test_wrong_answers_and_failures_are_told_apart(tmp_path: Path) -> None:
    """Of ten rows of `multiple` and `irrelevance` and more, known ones err and fail; a failure is neither right nor wrong."""
    wrong = {"simple_0", "irrelevance_0", "multi_turn_base_0"}
    failing = {"simple_1", "irrelevance_1", "multi_turn_base_1"}
    busy = RequestFailure("rate_limited", "status 429: slow down", 429)

    def fault(identity: str, row: Any) -> Any:
        if identity in failing:
            return busy
        if identity not in wrong:
            return None
        return (
            reply_of([{row["function"][0]["name"]: {"no_such": 1}}], True)
            if "multi" not in identity
            else "No."
        )

    script = ScriptedEndpoint(replaying(True, fault))
    result = benchwright.run(
        "bfclv3_ast", endpoint=script, workspace=tmp_path, task="simple,irrelevance,multi_turn_base"
    )
    assert result.summary.outcomes["request_failed"] == 3
    rows = {"simple": 5, "irrelevance": 3, "multi_turn_base": 5}
    for name, count in rows.items():
        metric = result.metrics[name]
        assert (metric.count, metric.value) == (count - 1, pytest.approx((count - 2) / (count - 1)))
        assert metric.with_failures == pytest.approx((count - 2) / count)
    assert result.metrics["correct"].with_failures == pytest.approx(7 / 13)
    kinds = {kind: count for kind, count in result.summary.derived.items() if kind.startswith("errors.")}
    assert kinds == {
        "errors.simple_function_checker:missing_required": 1.0,
        "errors.irrelevance_error:decoder_success": 1.0,
        "errors.multi_turn:empty_turn_model_response": 1.0,
    }
    failing.clear()
    again = ScriptedEndpoint(replaying(True, fault))
    resumed = benchwright.resume(result.run_id, endpoint=again, workspace=tmp_path, retry_failed=True)
    assert resumed.summary.outcomes["request_failed"] == 0
    assert resumed.metrics["correct"].value == pytest.approx(10 / 13)


def score_lines(folder: Path, category: str) -> list[Any]:
    path = folder / "score" / "scripted" / f"BFCL_v3_{category}_score.json"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("native", [True, False])
def test_the_files_of_the_published_program_agree_with_the_run(tmp_path: Path, native: bool) -> None:
    """Wrong, unreadable and failed samples; the files are read back, and follow a resume and a rescore."""
    failing = {"simple_1", "multi_turn_base_1"}
    wrong: dict[str, Any] = {
        "simple_0": reply_of([{"weather_forecast": {"no_such": 1}}], native),
        "simple_2": "[mail_send(to='me')]" if native else "Gladly: [f(a=1)]",
        "irrelevance_0": reply_of([{"anything": {}}], native),
        "multi_turn_base_0": "No.",
    }
    busy = RequestFailure("rate_limited", "status 429: slow down", 429)

    def fault(identity: str, row: Any) -> Any:
        return busy if identity in failing else wrong.get(identity)

    result = benchwright.run(
        "bfclv3_ast", endpoint=ScriptedEndpoint(replaying(native, fault)), workspace=tmp_path, native_calling=native,
        task="simple,java,irrelevance,multi_turn_base", output_dir=tmp_path / "out", repeats=2,
    )  # fmt: skip
    out = tmp_path / "out"
    assert_files_agree(out, result, native)
    head, *lines = score_lines(out, "simple")
    assert head == {
        "accuracy": 0.5, "correct_count": 4, "total_count": 8, "failed_count": 2, "accuracy_failures_as_wrong": 0.4,
    }  # fmt: skip
    assert [(line["id"], line.get("repeat", 0)) for line in lines] == [
        ("simple_0", 0), ("simple_0", 1), ("simple_2", 0), ("simple_2", 1),
    ]  # fmt: skip
    assert_counts_have_the_form_of_results(out)
    derived = result.summary.derived
    assert (derived["simple"], derived["simple.failures_as_wrong"]) == (0.5, 0.4)
    assert derived["java.failures_as_wrong"] == derived["java"]
    assert derived["overall.failures_as_wrong"] < derived["overall"]
    assert any(
        "neither right nor wrong: simple 2, multi_turn_base 2" in note for note in result.summary.notes
    )
    assert lines[0].keys() == {
        "id", "model_name", "test_category", "valid", "error", "error_type", "prompt", "model_result_raw",
        "model_result_decoded", "possible_answer",
    }  # fmt: skip
    failing.clear()
    script = ScriptedEndpoint(replaying(native, fault))
    resumed = benchwright.resume(result.run_id, endpoint=script, workspace=tmp_path, retry_failed=True)
    assert_files_agree(out, resumed, native)
    assert score_lines(out, "simple")[0]["failed_count"] == 0
    assert not any("failures_as_wrong" in name for name in resumed.summary.derived)
    again = benchwright.rescore(result.run_id, workspace=tmp_path)
    assert_files_agree(again.folder, again, native)


def assert_counts_have_the_form_of_results(folder: Path) -> None:
    """Of several turns, tokens and seconds of each reply of each turn; of one turn, a number or nothing."""
    results = folder / "result" / "scripted"
    for category in ("simple", "multi_turn_base"):
        for text in (results / f"BFCL_v3_{category}_result.json").read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            shape = [len(turn) for turn in line["result"]] if category == "multi_turn_base" else None
            if isinstance(line["result"], str) or shape is None:
                assert not isinstance(line["latency"], list)
                continue
            for count in ("input_token_count", "output_token_count", "latency"):
                assert [len(turn) for turn in line[count]] == shape, (count, line["id"])


def assert_files_agree(folder: Path, result: Any, native: bool) -> None:
    """With the table of the run, and with a second judgement of the stored replies."""
    from benchwright.bfcl import evaluate_results
    from benchwright.bfcl._packages import DataProvider

    stored = evaluate_results(
        folder / "result" / "scripted", DataProvider("v3", MINI.path, None, "mini"), scores=folder / "again", native=native
    )  # fmt: skip
    assert stored.failed == result.summary.failed
    for name, (right, rows) in stored.board.tallies.items():
        metric = result.metrics[name]
        assert (rows, right / rows) == (metric.count, metric.value), name
        head, *wrong = score_lines(folder, name)
        assert (head["total_count"], head["accuracy"]) == (rows, right / rows)
        read_back = (folder / "again" / f"BFCL_v3_{name}_score.json").read_text(encoding="utf-8").splitlines()
        assert [line["error_type"] for line in wrong] == [
            json.loads(line)["error_type"] for line in read_back[1:]
        ]
    for table in ("data_overall", "data_non_live", "data_live", "data_multi_turn"):
        written = (folder / "score" / "scripted" / f"{table}.csv").read_text(encoding="utf-8")
        assert written == (folder / "again" / f"{table}.csv").read_text(encoding="utf-8")


def test_replies_without_scores_give_results_alone(tmp_path: Path) -> None:
    result = benchwright.run(
        "bfcl_simple",
        endpoint=ScriptedEndpoint("No."),
        workspace=tmp_path,
        limit=1,
        infer_only=True,
        model_id="m",
    )
    (line,) = (result.folder / "result" / "scripted" / "BFCL_v3_simple_result.json").read_text().splitlines()
    assert json.loads(line)["result"] == "No."
    assert not (result.folder / "score").exists()


CHATTY = {
    "simple_0": "Sure, here you are:\n```python\n[{calls}]\n```\nAnything else?",
    "simple_1": "<think>[wrong()]</think> I call {calls}.",
    "simple_2": "It is sunny.",
}


def test_a_lenient_reading_is_scored_next_to_the_strict_one_and_changes_nothing_in_it(tmp_path: Path) -> None:
    def fault(identity: str, row: Any) -> Any:
        if identity == "simple_3":
            return positional(row)
        form = CHATTY.get(identity)
        return form and form.replace("{calls}", str(reply_of(right_calls(row, 0), False)).strip("[]"))

    task = {"task": "simple,irrelevance,multi_turn_base", "native_calling": False}
    strict = benchwright.run(
        "bfclv3_ast", endpoint=ScriptedEndpoint(replaying(False, fault)), workspace=tmp_path, **task
    )
    lenient = benchwright.run(
        "bfclv3_ast", endpoint=ScriptedEndpoint(replaying(False, fault)), workspace=tmp_path, lenient_calls=True, **task
    )  # fmt: skip
    assert "correct_lenient" not in strict.metrics
    for name in ("correct", "parsed", "simple", "multi_turn_base"):
        assert lenient.metrics[name].value == strict.metrics[name].value, name
    assert lenient.summary.outcomes == strict.summary.outcomes
    by_id = {s["metadata"]["id"]: s["scores"] for s in lenient.samples()}
    assert [(by_id[f"simple_{n}"]["correct"], by_id[f"simple_{n}"]["correct_lenient"]) for n in range(5)] == [
        (False, True),
        (False, True),
        (False, False),
        (False, True),
        (True, True),
    ]
    assert any(
        "finds other calls in 3 of 13 samples; right: 9 as published" in n for n in lenient.summary.notes
    )
    assert lenient.metrics["correct_lenient"].value == pytest.approx(12 / 13)
    again = benchwright.rescore(strict.run_id, workspace=tmp_path, lenient_calls=True)
    assert again.metrics["correct_lenient"].value == lenient.metrics["correct_lenient"].value
    with pytest.raises(UsageError, match="lenient_calls: bfcl_simple does not read calls from texts"):
        benchwright.run(
            "bfcl_simple", endpoint=ScriptedEndpoint("No."), workspace=tmp_path, lenient_calls=True
        )


def test_a_lenient_reading_of_several_turns_judges_the_same_replies(tmp_path: Path) -> None:
    """Without names of parameters, calls do nothing as published; the lenient reading carries them out."""
    named = replaying(False)

    def answer(request: ModelRequest) -> Any:
        return re.sub(r"(?<!find_tasks\()\b\w+=", "", named(request))  # not its first parameter

    result = benchwright.run(
        "bfcl_multi_turn_base_prompting", endpoint=ScriptedEndpoint(answer), workspace=tmp_path, lenient_calls=True
    )  # fmt: skip
    assert (result.metrics["correct"].value, result.metrics["correct_lenient"].value) == (0, 1)


def positional(row: Any) -> str:
    """The right call without names of parameters."""
    ((name, values),) = right_calls(row, 0)[0].items()
    order = row["function"][0]["parameters"]["properties"]
    return f"[{name}({', '.join(_literal(values[key]) for key in order if key in values)})]"


def test_a_limit_counts_the_rows_of_each_category_and_settings_reach_requests(tmp_path: Path) -> None:
    script = ScriptedEndpoint("No.")
    result = benchwright.run(
        "bfclv2_ast", endpoint=script, workspace=tmp_path, task="simple,java,irrelevance", limit=2, temperature=0.3,
        max_tokens=99, top_p=0.5,
    )  # fmt: skip
    assert {name: result.metrics[name].count for name in ("simple", "java", "irrelevance")} == {
        "simple": 2, "java": 2, "irrelevance": 2,
    }  # fmt: skip
    for request in script.requests:
        assert (request.body["temperature"], request.body["max_tokens"], request.body["top_p"]) == (
            0.3,
            99,
            0.5,
        )
        assert request.body["tools"]


@pytest.mark.parametrize("task", ["simple", "multi_turn_base"])
def test_retries_time_limits_and_parallelism_reach_requests(tmp_path: Path, task: str) -> None:
    words: dict[str, Any] = {"model_id": "m", "task": task, "limit": 3, "cache": False, "workspace": tmp_path}
    seen: Counter[str] = Counter()
    together, released = threading.Barrier(3), threading.Event()

    def busy(body: dict[str, Any]) -> str:
        seen[str(body["messages"])] += 1
        if seen[str(body["messages"])] == 1:
            raise Refusal("busy", 503)
        return "No."

    def at_once(body: dict[str, Any]) -> str:
        if body["messages"][-1]["role"] == "user" and not any(
            m["role"] == "assistant" for m in body["messages"]
        ):
            together.wait(PATIENCE_S)
        return "No."

    def silent(body: dict[str, Any]) -> str:
        released.wait(PATIENCE_S)
        return "No."

    with recording(busy) as server:
        result = benchwright.run(
            "bfclv3_ast", model_url=server.url, max_retries=1, retry_backoff=0.001, **words
        )
        assert result.summary.outcomes["request_failed"] == 0
        assert set(seen.values()) == {2}
    with recording(at_once) as server:
        result = benchwright.run("bfclv3_ast", model_url=server.url, parallelism=3, **words)
        assert result.summary.outcomes["request_failed"] == 0
    with recording(silent) as server:
        result = benchwright.run(
            "bfclv3_ast", model_url=server.url, max_retries=0, request_timeout=0.2, **words
        )
        released.set()
    assert result.summary.outcomes["request_failed"] == 3
    assert result.summary.reasons == {"timeout": 3}


def test_the_mode_of_an_evaluation_can_be_chosen(tmp_path: Path) -> None:
    script = ScriptedEndpoint("No.")
    benchwright.run("bfcl_simple", endpoint=script, workspace=tmp_path, native_calling=False, limit=1)
    benchwright.run(
        "bfcl_simple_prompting", endpoint=script, workspace=tmp_path, native_calling=True, limit=1
    )
    assert ["tools" in request.body for request in script.requests] == [False, True]
    benchwright.run("bfcl_simple", endpoint=script, workspace=tmp_path, limit=1)
    found = benchwright.compare(1, 3, workspace=tmp_path).inputs
    assert found["differences"] == [{"path": "$.native_calling", "run_a": False, "run_b": True}]


def test_rows_that_moved_within_their_file_are_compared(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    truth = [{"name": "f", "arguments": {}}]
    rows = [
        json.dumps({"messages": [{"role": "user", "content": f"{n}?"}], "tools": [tool], "tool_calls_ground_truth": truth})
        for n in range(6)
    ]  # fmt: skip
    for name, lines in (("one", rows), ("two", rows[:0:-1])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        benchwright.run(
            "bfcl_simple", tool_data=str(tmp_path / f"{name}.jsonl"), endpoint=ScriptedEndpoint("No."),
            workspace=tmp_path, cache=False,
        )  # fmt: skip
    found = benchwright.compare(1, 2, workspace=tmp_path, force=True).to_json()
    metrics: Any = found["metrics"]
    assert {metric["paired"]["pairs"] for metric in metrics if metric["paired"]} == {5}


def test_names_and_listings() -> None:
    from benchwright.runs import list_evaluations

    names = {each.name for each in list_evaluations()}
    assert {
        "bfclv2",
        "bfclv2_ast",
        "bfclv2_ast_prompting",
        "bfclv3",
        "bfclv3_ast",
        "bfclv3_ast_prompting",
    } <= names
    assert all(evaluation_of(f"bfcl_{name}") is not None for name in CATEGORIES)
    with pytest.raises(benchwright.NotFoundError, match="Did you mean 'bfclv3_ast'"):
        benchwright.check("bfclv3_asd")
    with pytest.raises(UsageError, match="no category or group 'simpel'"):
        benchwright.check("bfclv3_ast", task="simpel")
    with pytest.raises(UsageError, match="task: only function-calling evaluations"):
        benchwright.check("pubmedqa", task="simple")
    with pytest.raises(UsageError, match="give them with tool_data=PATH"):
        benchwright.check("bfclv3_ast", tool_data_format="native")


def test_executable_categories_are_left_out_with_the_reason(tmp_path: Path) -> None:
    script = ScriptedEndpoint("No.")
    result = benchwright.run("bfclv2", endpoint=script, workspace=tmp_path, task="simple,executable", limit=1)
    assert any(note.startswith("exec_simple, ") for note in result.summary.notes)
    assert result.summary.evaluated == 1


QUESTION = {
    "id": "simple_0",
    "question": [[{"role": "user", "content": "Area of a triangle with base 10 and height 5?"}]],
    "function": [
        {
            "name": "triangle_area",
            "description": "Area of a triangle.",
            "parameters": {
                "type": "dict",
                "properties": {"base": {"type": "integer"}, "height": {"type": "integer"}},
                "required": ["base", "height"],
            },
        }
    ],
}
TRUTH = [{"triangle_area": {"base": [10], "height": [5]}}]
RIGHT = reply_of([{"triangle_area": {"base": 10, "height": 5}}], True)


def native_folder(place: Path, question: Any = QUESTION) -> Path:
    (place / "possible_answer").mkdir(parents=True)
    (place / "BFCL_v3_simple.json").write_text(json.dumps(question) + "\n", encoding="utf-8")
    answer = {"id": "simple_0", "ground_truth": TRUTH}
    (place / "possible_answer" / "BFCL_v3_simple.json").write_text(
        json.dumps(answer) + "\n", encoding="utf-8"
    )
    return place


def test_rows_of_your_own_in_the_native_layout(tmp_path: Path) -> None:
    folder = native_folder(tmp_path / "mine")
    script = ScriptedEndpoint(RIGHT)
    result = benchwright.run(
        "bfclv3_ast", endpoint=script, workspace=tmp_path, task="simple", tool_data=str(folder)
    )
    assert (result.metrics["simple"].value, result.summary.rows) == (1.0, 1)
    assert not any("ship with benchwright" in note for note in result.summary.notes)
    again = benchwright.rescore(result.run_id, workspace=tmp_path)
    assert again.metrics["simple"].value == 1.0


def test_rows_of_your_own_in_the_openai_format_with_a_template(tmp_path: Path) -> None:
    row = {
        "chat": [{"role": "user", "content": QUESTION["question"][0][0]["content"]}],  # type: ignore[index]
        "available": [{"type": "function", "function": QUESTION["function"][0]}],  # type: ignore[index]
        "truth": [{"name": "triangle_area", "arguments": {"base": 10, "height": 5}}],
    }
    data, template = tmp_path / "mine.jsonl", tmp_path / "template.json"
    data.write_text(json.dumps(row) + "\n", encoding="utf-8")
    fields = {"messages": "chat", "tools": "available", "tool_calls_ground_truth": "truth"}
    template.write_text(
        json.dumps({field: f"{{{{ item.{name} | tojson }}}}" for field, name in fields.items()}),
        encoding="utf-8",
    )
    result = benchwright.run(
        "bfclv3_ast", endpoint=ScriptedEndpoint(RIGHT), workspace=tmp_path, task="simple", tool_data="mine.jsonl",
        tool_data_template="template.json",
    )  # fmt: skip
    assert result.metrics["simple"].value == 1.0


def test_a_broken_dataset_stops_the_run_and_is_never_replaced(tmp_path: Path) -> None:
    folder = native_folder(tmp_path / "mine", {**QUESTION, "function": "none"})
    script = ScriptedEndpoint(RIGHT)
    with pytest.raises(DatasetError, match="BFCL_v3_simple"):
        benchwright.run(
            "bfclv3_ast", endpoint=script, workspace=tmp_path, task="simple", tool_data=str(folder),
            output_dir=tmp_path / "out",
        )  # fmt: skip
    assert not script.requests
    details = tmp_path / "out" / "custom_dataset_processing" / "validation_failure_details.json"
    (fault,) = json.loads(details.read_text(encoding="utf-8"))
    assert fault["line"] == 1
    assert fault["category"] == "simple"


def test_a_run_configuration_evaluates_rows_of_your_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file of the published package's manual, but for its path and its model."""
    native_folder(tmp_path / "mine")
    custom = {"path": str(tmp_path / "mine"), "format": "native"}
    document = {
        "config": {"type": "bfclv3", "params": {"task": "simple", "extra": {"custom_dataset": custom}}},
        "target": {"api_endpoint": {"type": "chat"}},
    }
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    with demo_server(DemoSettings(skill=1.0)) as server:
        flags = ["--model_url", server.url, "--model_id", "demo", "--output_dir", "out"]
        code = main(
            ["run_eval", "--run_config", "run.json", *flags, "--overrides", "config.params.max_retries=0"]
        )
    assert code == 0, capsys.readouterr()
    results = (tmp_path / "out" / "results.yml").read_text(encoding="utf-8")
    assert "simple" in results
    assert "bfcl.bfclv3" in results


def test_a_check_says_what_a_run_costs_and_nothing_that_is_not_so() -> None:
    (report,) = benchwright.check("bfclv3_ast")
    assert report.ok
    assert (report.rows, report.requests) == (43, 57)  # of several turns, one for each
    assert report.prompt_tokens_estimate > 5000  # functions included
    assert report.unused_fields == ()
    assert not any("no answer" in warning for warning in report.warnings)
    assert report.gold is not None
    assert (report.gold.right, report.gold.checked) == (20, 20)


def test_a_table_may_name_an_evaluation(tmp_path: Path) -> None:
    (tmp_path / "benchwright.toml").write_text(
        '[benchmarks.mine]\nfile = "bfclv3_ast"\ntask = "simple"\nnative_calling = false\nlimit = 1\n',
        encoding="utf-8",
    )
    script = ScriptedEndpoint("No.")
    result = benchwright.run("mine", endpoint=script, workspace=tmp_path)
    assert (result.name, result.summary.rows) == ("mine", 1)
    assert "tools" not in script.requests[0].body
    resumed = benchwright.resume(result.run_id, endpoint=ScriptedEndpoint("No."), workspace=tmp_path)
    assert resumed.summary.evaluated == 1
