"""Benchmarks whose answers are calls: what is sent, what counts as a call, how turns go on, and what survives a stop."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from itertools import count, permutations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import benchwright
from benchwright import BenchmarkError, DatasetError, ScriptedEndpoint, benchmark
from benchwright.benchmarks import ToolTask, ToolTurn
from benchwright.cli import main
from benchwright.core import JsonObject, ModelRequest, RequestFailure
from benchwright.results._samples import find_samples
from benchwright.scorers import ScorerInput, tool_calls_match
from benchwright.store import find_workspace, open_store

NUMBERS = count()
"""Names of benchmarks are unique in a file."""
WEATHER: JsonObject = {
    "name": "geo.weather",
    "description": "Weather of a city",
    "parameters": {
        "type": "dict",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
TOOL: JsonObject = {"type": "function", "function": {**WEATHER, "name": "weather"}}
ROW = {
    "question": "Weather in Paris?",
    "tools": [TOOL],
    "calls": [{"name": "weather", "arguments": {"city": "Paris"}}],
}


def bench(rows: list[dict[str, Any]], **options: Any) -> Callable[..., Any]:
    options = {"tools_field": "tools", "expected_calls_field": "calls", **options}

    @benchmark(name=f"tools {next(NUMBERS)}", dataset=rows, prompt="{question}", **options)
    def score(sample: ScorerInput) -> Any:
        return tool_calls_match(sample)

    return score


def called(*calls: tuple[str, str], text: str | None = None) -> JsonObject:
    """A reply with calls, each of a name and the text of its arguments."""
    sent = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message: JsonObject = {"content": text, "tool_calls": sent}  # type: ignore[dict-item]
    return {"choices": [{"message": message, "finish_reason": "tool_calls"}]}


def samples(result: Any) -> list[Any]:
    return list(result.samples())


def test_tools_are_sent_and_calls_are_the_answer(tmp_path: Path) -> None:
    script = ScriptedEndpoint(called(("weather", '{"city": "paris"}')))
    result = benchwright.run(
        bench([ROW]), endpoint=script, workspace=tmp_path, temperature=0.5, max_tokens=77
    )
    body = script.requests[0].body
    assert (body["tools"], body["temperature"], body["max_tokens"]) == ([TOOL], 0.5, 77)
    assert result.metrics["correct"].value == 1.0
    assert result.summary.outcomes["scored"] == 1


def test_documents_become_tools_that_servers_take(tmp_path: Path) -> None:
    row = {
        **ROW,
        "tools": [WEATHER],
        "calls": [{"geo.weather": {"city": ["Paris", "Paris, France"], "days": [1, ""]}}],
    }
    script = ScriptedEndpoint(called(("geo_weather", '{"city": "Paris, France"}')))
    result = benchwright.run(bench([row]), endpoint=script, workspace=tmp_path)
    (tool,) = script.requests[0].body["tools"]  # type: ignore[misc,str-unpack]
    assert tool["function"]["name"] == "geo_weather"  # type: ignore[index,call-overload]
    assert tool["function"]["parameters"]["type"] == "object"  # type: ignore[index,call-overload]
    assert result.metrics["correct"].value == 1.0


@pytest.mark.parametrize("model_type", ["chat", "completions"])
def test_prompting_mode_describes_functions_and_reads_text(tmp_path: Path, model_type: str) -> None:
    row = {**ROW, "tools": [WEATHER], "calls": [{"name": "geo.weather", "arguments": {"city": "Paris"}}]}
    script = ScriptedEndpoint("[geo.weather(city='Paris')]")
    result = benchwright.run(
        bench([row]), endpoint=script, workspace=tmp_path, native_calling=False, model_type=model_type
    )
    body = script.requests[0].body
    assert "tools" not in body
    sent = str(body["messages"][0]["content"] if model_type == "chat" else body["prompt"])  # type: ignore[index,call-overload]
    assert "geo.weather" in sent
    assert result.metrics["correct"].value == 1.0


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (called(("weather", "{broken")), "ast_decoder:arguments_not_json"),
        (called(("weather", '["Paris"]')), "ast_decoder:arguments_not_object"),
        (called(("", "{}")), "ast_decoder:no_name"),
        ('<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>', "ast_decoder:calls_as_text"),
        ("[weather(city='Paris')]", "ast_decoder:calls_as_text"),
        ("<|python_tag|>weather.call(city='Paris')", "ast_decoder:calls_as_text"),
        ("I would ask (again): sunny(very=True)", "multiple_function_checker:wrong_count"),
        (called(("forecast", '{"city": "Paris"}')), "simple_function_checker:wrong_func_name"),
        (called(("weather", '{"city": "Rome"}')), "value_error:string"),
        (called(("weather", '{"city": "Paris"}'), ("weather", '{"city": "Paris"}')), "multiple_function_checker:wrong_count"),
        ("It is sunny.", "multiple_function_checker:wrong_count"),
    ],
)  # fmt: skip
def test_wrong_calls_are_named_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reply: Any, error: str
) -> None:
    result = benchwright.run(bench([ROW]), endpoint=ScriptedEndpoint(reply), workspace=tmp_path)
    (sample,) = samples(result)
    assert (sample["scores"]["correct"], sample["scores"]["error_type"]) == (False, error)
    assert sample["outcome"] == ("unparsed" if error.startswith("ast_decoder") else "scored")
    assert result.summary.derived == {f"errors.{error}": 1.0}
    assert any(error in note for note in result.summary.notes)
    if isinstance(reply, dict):  # whatever it holds can be looked at
        for call in reply["choices"][0]["message"]["tool_calls"]:
            words = re.findall(r"\w+", call["function"]["arguments"])
            assert all(word in sample["response"] for word in words)
            assert call["function"]["name"] in sample["response"]
        assert main(["show", str(result.run_id), "0", "--workspace", str(tmp_path)]) == 0
        assert "reply ──" in capsys.readouterr().out
    if "calls_as_text" in error:
        assert any("--no-native-calling" in note for note in result.summary.notes)
    if error.startswith("ast_decoder"):
        assert sample["scores"]["error"].startswith("the reply contains no calls that can be read: ")
        raw = reply if isinstance(reply, str) else reply["choices"][0]["message"]["tool_calls"][0]
        assert raw == (sample["response"] if isinstance(raw, str) else json.loads(sample["response"])[0])


@pytest.mark.parametrize(
    ("replies", "native", "noted"),
    [
        (("It is sunny.", "I cannot tell."), True, True),
        (("It is sunny.", called(("weather", '{"city": "Rome"}'))), True, False),
        (("It is sunny.", called(("weather", "{broken"))), True, False),
        (("It is sunny.", "I cannot tell."), False, False),
        (("It is sunny.", ""), True, False),
    ],
)
def test_functions_that_no_reply_calls_may_have_been_hidden_by_the_server(
    tmp_path: Path, replies: tuple[Any, ...], native: bool, noted: bool
) -> None:
    """llama.cpp answers as if there were no tools if the model's chat template has no place for them."""
    rows = [{**ROW, "question": str(number)} for number in range(len(replies))]
    script = ScriptedEndpoint(list(replies))
    result = benchwright.run(
        bench(rows), endpoint=script, workspace=tmp_path, native_calling=native, parallelism=1
    )
    assert any("no reply calls a function" in note for note in result.summary.notes) is noted


@pytest.mark.parametrize(
    "reply",
    [
        called(("weather", "{")),
        called(("weather", '{"city": "Par')),
        called(text="<tool_call>\n"),
        called(text='<tool_call>\n{"name": "weather", "arg'),
    ],
)
def test_a_call_that_reached_max_tokens_is_not_blamed_on_the_model_or_the_server(
    tmp_path: Path, reply: dict[str, Any]
) -> None:
    """llama.cpp leaves a cut call in the text if its name is not complete, and sends it as a call if its arguments are not."""
    cut = {"choices": [{**reply["choices"][0], "finish_reason": "length"}]}
    result = benchwright.run(bench([ROW]), endpoint=ScriptedEndpoint(cut), workspace=tmp_path)
    (sample,) = samples(result)
    assert (sample["outcome"], sample["scores"]["error_type"]) == ("unparsed", "ast_decoder:cut_off")
    assert not any("calls as text" in note for note in result.summary.notes)
    assert any("reached max_tokens" in note for note in result.summary.notes)


def test_a_reply_of_any_kind_costs_its_sample_only(tmp_path: Path) -> None:
    """A Python dict may have keys that JSON has not; texts may be long, half a character, or code."""
    replies = [
        "[weather(city={(1, 2): 3, b'x': 4, 1j: 5, None: 6})]", "[weather(city=1e999, days=-1e999)]", "[weather(**{'city': 1})]",
        "[weather(city=(1, b'\\xff'), days=1j)]", "[" * 1_000_000, "\ud800", "[weather(city='\ud800')]",
        "[__import__('os').mkdir('written')]", "[weather(city=__import__('os').mkdir('written'))]",
        "[weather(city=0x" + "f" * 20_000 + ")]", "[weather(city=[0b" + "1" * 20_000 + ", g(h=1)])]",
    ]  # fmt: skip
    rows = [{**ROW, "question": str(number)} for number in range(len(replies))]

    def answer(request: ModelRequest) -> str:
        return replies[int(str(request.body["messages"][-1]["content"]))]  # type: ignore[index,call-overload]

    result = benchwright.run(
        bench(rows), endpoint=ScriptedEndpoint(answer), workspace=tmp_path, native_calling=False
    )
    assert result.metrics["correct"].value == 0
    assert result.summary.outcomes["scored"] + result.summary.outcomes["unparsed"] == len(replies)
    assert all(sample["scores"]["error_type"] for sample in samples(result))
    assert not list(tmp_path.rglob("written"))


def test_no_call_is_right_where_none_is_expected_and_a_failed_request_is_neither(tmp_path: Path) -> None:
    quiet = {**ROW, "question": "Tell me a joke", "calls": []}
    busy = RequestFailure("rate_limited", "status 429: slow down", 429)
    answers = {"joke": "Why did …", "poem": called(("weather", '{"city": "Paris"}')), "riddle": busy}

    def script(request: ModelRequest) -> Any:
        question = str(request.body["messages"])
        return next(answer for word, answer in answers.items() if word in question)

    rows = [{**quiet, "question": f"Tell me a {word}"} for word in answers]
    target = bench(rows)
    result = benchwright.run(target, endpoint=ScriptedEndpoint(script), workspace=tmp_path)
    joke, poem, riddle = samples(result)
    assert (joke["outcome"], joke["scores"]["correct"]) == ("scored", True)
    assert (poem["outcome"], poem["scores"]["error_type"]) == ("scored", "irrelevance_error:decoder_success")
    assert (riddle["outcome"], riddle["scores"]) == ("request_failed", None)
    metric = result.metrics["correct"]
    assert (metric.value, metric.count, metric.with_failures) == (0.5, 2, pytest.approx(1 / 3))
    # A resume asks again for what failed, and for nothing else.
    answers["riddle"] = "What walks …"
    again = ScriptedEndpoint(script)
    resumed = benchwright.resume(
        result.run_id, endpoint=again, target=target, workspace=tmp_path, retry_failed=True
    )
    assert len(again.requests) == 1
    assert resumed.metrics["correct"].value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("reply", "native", "outcome", "correct"),
    [
        ("No, thanks.", True, "scored", True),
        ("No, thanks.", False, "scored", True),
        ("[]", False, "scored", True),
        (called(("weather", "{broken")), True, "unparsed", False),
        (called(("", "{}")), True, "unparsed", False),
        ("[weather(city='Paris')]", True, "unparsed", False),
        ("[weather(city='Paris')]", False, "scored", False),
    ],
)
@pytest.mark.parametrize("expected", [[], "[]"])
def test_a_call_where_none_is_expected_is_wrong_even_if_it_cannot_be_read(
    tmp_path: Path, reply: Any, native: bool, outcome: str, correct: bool, expected: Any
) -> None:
    result = benchwright.run(
        bench([{**ROW, "calls": expected}]),
        endpoint=ScriptedEndpoint(reply),
        workspace=tmp_path,
        native_calling=native,
    )
    (sample,) = samples(result)
    assert (sample["outcome"], sample["scores"]["correct"]) == (outcome, correct)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tools": "no list"}, '"tools" is not JSON'),
        ({"tools": {"name": "f"}}, "a list of functions is expected"),
        ({"tools": [{"description": "no name"}]}, 'function 1 of "tools": it has no "name"'),
        ({"tools": [TOOL, {"name": "f", "parameters": []}]}, 'function 2 of "tools": "parameters" of f is list'),
        ({"tools": [{"name": "f", "parameters": {"properties": [1]}}]}, '"properties" of f is list'),
        ({"tools": [{"name": "f", "parameters": {"properties": {"a": True}}}]}, "the schema of a of f is bool, not an object"),
        ({"tools": [{"name": "f", "parameters": {"properties": {"a": "string"}}}]}, "the schema of a of f is str, not an object"),
        ({"tools": [{"name": "f", "parameters": {"properties": {}, "required": ["x"]}}]}, "f requires x"),
        ({"tools": [{"name": "f", "parameters": {"properties": {}, "required": [["x"]]}}]}, "lists ..x.., which is not a name"),
    ],
)  # fmt: skip
def test_functions_that_are_none_are_found_before_anything_is_sent(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    script = ScriptedEndpoint("x")
    with pytest.raises(DatasetError, match=reason.replace("(", "\\(")):
        benchwright.run(bench([{**ROW, **change}]), endpoint=script, workspace=tmp_path)
    assert not script.requests


def test_check_finds_names_that_servers_refuse_and_expected_calls_that_cannot_be_right() -> None:
    odd = {**TOOL, "function": {**WEATHER, "name": "what weather?"}}  # type: ignore[dict-item]
    unreachable = {**ROW, "calls": [{"name": "weather", "arguments": {"town": "Paris"}}]}
    (report,) = benchwright.check(bench([ROW, {**ROW, "tools": [odd]}, unreachable]))
    assert any("servers refuse: 'what weather?'" in warning for warning in report.warnings)
    assert report.gold is not None
    assert (report.gold.checked, report.gold.right) == (3, 1)
    (prompting,) = benchwright.check(bench([ROW, {**ROW, "tools": [odd]}]), native_calling=False)
    assert not any("servers refuse" in warning for warning in prompting.warnings)


@pytest.mark.parametrize(
    ("names", "native", "warned"),
    [
        (("a.b", "a_b"), True, True),
        (("a.b", "a_b"), False, False),
        (("a", "a"), False, True),
        (("a", "b"), True, False),
    ],
)
def test_check_warns_of_functions_that_are_sent_under_one_name(
    names: tuple[str, str], native: bool, warned: bool
) -> None:
    functions = [{**WEATHER, "name": name} for name in names]
    row = {**ROW, "tools": functions, "calls": [{"name": names[0], "arguments": {"city": "Paris"}}]}
    (report,) = benchwright.check(bench([row]), native_calling=native)
    assert any("several functions of a row have" in warning for warning in report.warnings) is warned


def test_check_warns_of_expected_values_of_another_type_than_the_schema_gives() -> None:
    row = {**ROW, "calls": [{"name": "weather", "arguments": {"city": "Paris", "days": "two"}}]}
    (report,) = benchwright.check(bench([ROW, row]))
    assert report.gold is not None
    assert (report.gold.checked, report.gold.right) == (2, 2), "by the published rules it is right"
    (warning,) = [each for each in report.warnings if "schema says" in each]
    assert "gives days as 'two', but the schema says integer" in warning
    (report,) = benchwright.check(bench([ROW]))
    assert not any("schema says" in each for each in report.warnings)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"tools_field": None}, "expected_calls_field needs tools_field"),
        ({"tools_field": 7}, "give the name of a column"),
        ({"turns_field": "turns"}, "leave out turns_field"),
        ({"target_field": "answer"}, "leave out target_field"),
    ],
)
def test_definitions_that_cannot_work(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(BenchmarkError, match=reason):
        bench([ROW], **options)


def test_the_flag_is_refused_where_no_functions_are_offered(tmp_path: Path) -> None:
    @benchmark(name="plain", dataset=[{"q": "1"}], prompt="{q}")
    def score(sample: ScorerInput) -> Any:
        return {"correct": True}

    with pytest.raises(benchwright.UsageError, match="--no-native-calling"):
        benchwright.run(score, workspace=tmp_path, native_calling=False)


# -- turns, with an environment --


class Lamp:
    """A lamp that counts how often it was switched."""

    def __init__(self) -> None:
        self.on = False

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        if name == "break":
            raise ValueError("the lamp is broken")
        if name != "switch":
            return f"there is no function {name}"
        self.on = bool(arguments["on"])
        return f"on={self.on}"


SWITCH: JsonObject = {
    "name": "switch",
    "description": "Switch the lamp",
    "parameters": {"type": "dict", "properties": {}},
}
BREAK: JsonObject = {
    "name": "break",
    "description": "Break the lamp",
    "parameters": {"type": "dict", "properties": {}},
}


def lamps(
    tmp_path: Path, turns: tuple[ToolTurn, ...], rows: int = 1, *, native: bool = True
) -> Callable[..., Any]:
    seen: list[Any] = []

    @benchmark(
        name=f"lamps {next(NUMBERS)}",
        dataset=[{"id": n} for n in range(rows)],
        prompt="{id}",
        tools_field="tools",
    )
    def score(sample: ScorerInput) -> Any:
        seen.append(sample.metadata)
        stopped = sample.metadata["_stopped"]
        return {"correct": not stopped, "replies": sum(map(len, sample.metadata["_turns"]))}

    spec = score._benchmark  # type: ignore[attr-defined]
    task = ToolTask(turns=turns, open=Lamp)
    score._benchmark = replace(spec, tool_tasks=lambda row: task, native_calling=native)  # type: ignore[attr-defined]
    score.seen = seen  # type: ignore[attr-defined]
    return score


def said(text: str, *functions: JsonObject) -> ToolTurn:
    return ToolTurn(({"role": "user", "content": text},), functions)


TWO_TURNS = (said("Light, please.", SWITCH), ToolTurn((), (BREAK,)))


def test_results_go_back_to_the_model_until_it_calls_nothing(tmp_path: Path) -> None:
    script = ScriptedEndpoint(
        [called(("switch", '{"on": true}'), ("dim", "{}")), "It is light.", called(("break", "{}")), "Done."]
    )
    target = lamps(tmp_path, TWO_TURNS)
    result = benchwright.run(target, endpoint=script, workspace=tmp_path)
    assert result.metrics["replies"].value == 4
    second = script.requests[1].body["messages"]
    assert [message["role"] for message in second] == ["user", "assistant", "tool", "tool"]  # type: ignore[union-attr,index,call-overload]
    assert [(m["tool_call_id"], m["content"]) for m in second[2:]] == [  # type: ignore[index]
        ("c0", "on=True"),
        ("c1", "there is no function dim"),
    ]
    first, third = script.requests[0].body["tools"], script.requests[2].body["tools"]
    assert [tool["function"]["name"] for tool in first] == ["switch"]  # type: ignore[union-attr,index,call-overload]
    assert [tool["function"]["name"] for tool in third] == ["switch", "break"]  # type: ignore[union-attr,index,call-overload]
    assert "More functions" in script.requests[2].body["messages"][-1]["content"]  # type: ignore[operator,index,call-overload]
    last = script.requests[3].body["messages"][-1]  # type: ignore[index]
    assert last["content"] == "Error during execution: the lamp is broken"  # type: ignore[index,call-overload]
    (seen,) = target.seen  # type: ignore[attr-defined]
    assert seen["_turns"] == [[[{"switch": {"on": True}}, {"dim": {}}], None], [[{"break": {}}], None]]


def test_results_in_prompting_mode_are_one_message_of_the_user(tmp_path: Path) -> None:
    script = ScriptedEndpoint(["[switch(on=True)]", "It is light.", "No."])
    benchwright.run(lamps(tmp_path, TWO_TURNS, native=False), endpoint=script, workspace=tmp_path)
    second = script.requests[1].body["messages"]
    assert [m["role"] for m in second] == ["system", "user", "assistant", "user"]  # type: ignore[union-attr,index,call-overload]
    assert second[-1]["content"] == '[{"role":"tool","name":"switch(on=True)","content":"on=True"}]'  # type: ignore[index,call-overload]
    assert "break" in script.requests[2].body["messages"][-1]["content"]  # type: ignore[operator,index,call-overload]
    assert all("tools" not in request.body for request in script.requests)


def test_a_model_that_never_stops_calling_is_stopped(tmp_path: Path) -> None:
    script = ScriptedEndpoint(called(("switch", '{"on": true}')))
    result = benchwright.run(lamps(tmp_path, TWO_TURNS), endpoint=script, workspace=tmp_path)
    assert len(script.requests) == 21
    assert result.metrics["correct"].value == 0.0
    assert result.summary.outcomes["scored"] == 1


@pytest.mark.parametrize("given", [{}, {"id": None}, {"id": 7}, {"id": ""}, {"id": "same"}])
def test_calls_without_ids_of_their_own_get_some(tmp_path: Path, given: dict[str, Any]) -> None:
    call = {**given, "type": "function", "function": {"name": "switch", "arguments": '{"on": true}'}}
    reply: JsonObject = {"choices": [{"message": {"content": None, "tool_calls": [call, call]}}]}
    script = ScriptedEndpoint([reply, "Done.", "Done."])
    benchwright.run(lamps(tmp_path, TWO_TURNS), endpoint=script, workspace=tmp_path)
    *_, assistant, one, two = script.requests[1].body["messages"]  # type: ignore[misc,str-unpack]
    sent = [each["id"] for each in assistant["tool_calls"]]  # type: ignore[index,call-overload,union-attr]
    assert sent == [one["tool_call_id"], two["tool_call_id"]]  # type: ignore[index,call-overload]
    assert len(set(sent)) == 2


def test_a_stopped_run_resumes_within_a_turn_without_asking_again(tmp_path: Path) -> None:
    answers = [called(("switch", '{"on": true}')), "It is light.", called(("break", "{}")), "Done."]
    target = lamps(tmp_path, TWO_TURNS)
    first = ScriptedEndpoint(answers[:3])
    result = benchwright.run(target, endpoint=first, workspace=tmp_path, max_requests=3, parallelism=1)
    assert (len(first.requests), result.summary.partial) == (3, True)
    second = ScriptedEndpoint(answers[3:])
    resumed = benchwright.resume(result.run_id, endpoint=second, target=target, workspace=tmp_path)
    assert len(second.requests) == 1
    assert resumed.metrics["replies"].value == 4
    # Scored again without a model: the calls are carried out once more on a new lamp.
    rescored = benchwright.rescore(result.run_id, target=target, workspace=tmp_path)
    assert rescored.metrics["replies"].value == 4


def test_a_request_that_fails_within_a_turn_fails_the_sample(tmp_path: Path) -> None:
    script = ScriptedEndpoint([called(("switch", '{"on": true}')), TimeoutError("too slow")])
    result = benchwright.run(lamps(tmp_path, TWO_TURNS), endpoint=script, workspace=tmp_path)
    assert result.summary.outcomes["request_failed"] == 1


# -- what is shown, and the demo model --


def test_a_sample_shows_its_calls_next_to_the_expected_ones(tmp_path: Path) -> None:
    row = {**ROW, "calls": [{"weather": {"city": ["Paris"], "days": [2, ""]}}]}
    wrong = ScriptedEndpoint(called(("weather", '{"city": "Rome"}'), ("weather", '{"city": "Oslo"}')))
    result = benchwright.run(bench([row]), endpoint=wrong, workspace=tmp_path)
    with open_store(find_workspace(tmp_path)) as store:
        (details,) = find_samples(store, result.run_id, "0").samples
    assert details.calls is not None
    assert details.calls.rows == (
        ("", "weather(city='Rome')", "weather(city='Paris', days=2 or left out)"),
        ("", "weather(city='Oslo')", ""),
    )
    assert str(details.calls.difference).startswith("multiple_function_checker:wrong_count")
    assert details.to_json()["calls"]["called"] == ["weather(city='Rome')", "weather(city='Oslo')"]  # type: ignore[index,call-overload]


def test_the_calls_of_turns_are_shown_by_turn(tmp_path: Path) -> None:
    script = ScriptedEndpoint([called(("switch", '{"on": true}')), "It is light.", "No."])
    result = benchwright.run(lamps(tmp_path, TWO_TURNS), endpoint=script, workspace=tmp_path)
    with open_store(find_workspace(tmp_path)) as store:
        (details,) = find_samples(store, result.run_id, "0").samples
    assert details.calls is not None
    assert details.calls.rows == (("turn 1", "switch(on=True)", ""),)


@pytest.mark.parametrize("native", [True, False])
def test_the_demo_model_calls_functions_in_both_modes(tmp_path: Path, native: bool) -> None:
    rows = [
        {**ROW, "tools": [WEATHER], "calls": [{"name": "geo.weather", "arguments": {"city": "Paris"}}]},
        {**ROW, "question": "Tell me a joke", "tools": [WEATHER], "calls": []},
    ]
    result = benchwright.run(
        bench(rows), model="demo", demo_skill=1.0, workspace=tmp_path, native_calling=native
    )
    assert result.metrics["correct"].value == 1.0


@pytest.mark.parametrize("native", [True, False])
def test_the_demo_model_goes_through_turns(tmp_path: Path, native: bool) -> None:
    """It ends a turn after a result, and takes functions that come later for its last question."""
    target = lamps(tmp_path, (said("Switch the lamp.", SWITCH), ToolTurn((), (BREAK,))), native=native)
    benchwright.run(target, model="demo", demo_skill=1.0, workspace=tmp_path)
    (seen,) = target.seen  # type: ignore[attr-defined]
    assert [[None if calls is None else [*calls[0]] for calls in turn] for turn in seen["_turns"]] == [
        [["switch"], None],
        [["switch"], None],
    ]


@pytest.mark.parametrize(
    ("allowed", "written", "correct"),
    [
        ([5, "five"], "5", True), ([5, "five"], "'five'", True), ([5, "five"], "5.0", False), ([5, "five"], "6", False),
        ([1.5, None], "None", True), ([2.0], "2", True), ([[1, "a"]], "[1, 'a']", True), ([""], "'x'", False),
        ([True, "yes"], "True", True), ([True, "yes"], "1", False),
    ],
)  # fmt: skip
def test_a_ready_made_response_may_have_any_allowed_type(
    allowed: list[Any], written: str, correct: bool
) -> None:
    found = tool_calls_match(ScorerInput(f"[f(a={written})]", [{"f": {"a": allowed}}], {}))
    assert found["correct"] is correct


def match(calls: list[Any], expected: list[Any], functions: list[JsonObject] | None) -> Any:
    row: dict[str, Any] = {"_calls": calls, "_call_error": None}
    if functions is not None:
        row["_functions"] = functions
    return tool_calls_match(ScorerInput("", expected, row))["correct"]


@pytest.mark.parametrize("offered", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_calls_match_in_any_order_if_and_only_if_a_permutation_does(seed: int, offered: bool) -> None:
    draw = random.Random(seed)
    functions: list[JsonObject] | None = (
        [{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}}]
        if offered
        else None
    )
    for _ in range(8):
        size = draw.randint(2, 4)
        expected = [
            {"f": {"a": draw.sample(range(4), draw.randint(1, 3)), "b": ["x", "y", ""][draw.randrange(3) :]}}
            for _ in range(size)
        ]
        calls: list[Any] = [
            {"f": {"a": draw.randrange(4)} | ({"b": draw.choice("xy")} if draw.random() < 0.5 else {})}
            for _ in range(size)
        ]
        one_by_one = any(
            all(match([call], [truth], functions) for call, truth in zip(order, expected, strict=True))
            for order in permutations(calls)
        )
        assert match(calls, expected, functions) is one_by_one, (calls, expected)


def test_an_expected_call_leaves_the_only_call_that_fits_another_to_it() -> None:
    calls = [{"f": {"a": 1}}, {"f": {"a": 2}}]
    assert match(calls, [{"f": {"a": [1, 2]}}, {"f": {"a": [1]}}], None)
    assert not match(calls, [{"f": {"a": [1]}}, {"f": {"a": [1]}}], None)
    assert match([{"f": {"a": 1}}, {"f": {"a": "x"}}], [{"f": {"a": ["x"]}}, {"f": {"a": [1]}}], None)
    assert not match([calls[0]], [{"f": {"a": [1]}}, {"f": {"a": [1]}}], None)
