"""Servers that refuse a setting: learned once, sent otherwise, kept for resume, cache and rescoring, and noted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.config import RunOptions, find_config
from benchwright.core import ModelReply, ModelRequest, RequestFailure, RunFailedError, UsageError
from benchwright.demo import DemoSettings, demo_server
from benchwright.endpoints import AdaptedEndpoint
from benchwright.endpoints._refused_settings import RequestAdapter, cut_at, refused_setting
from benchwright.engine._models import ChosenModel
from recording_server import Refusal, recording

BENCH = """
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""
BODY: dict[str, Any] = {
    "model": "m", "messages": [], "temperature": 0.0, "max_tokens": 4096, "top_p": 1.0, "stop": ["\n"], "seed": 7,
}  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    rows = [{"question": f"q{n}", "answer": f"a{n}" if n % 3 else "other"} for n in range(12)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = tmp_path / "bench.py"
    path.write_text(BENCH, encoding="utf-8")
    return path


def rejected(words: str, status: int = 400) -> RequestFailure:
    return RequestFailure("rejected", f"{status} from http://h/v1/chat/completions: {words}", status)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "temperature"),
        ("Unsupported value: 'temperature' does not support 0.16 with this model. Only the default (1)", "temperature"),
        ("Unsupported parameter: 'stop' is not supported with this model.", "stop"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("Unknown parameter: 'seed'.", "seed"),
        ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "top_p"),
        ("`temperature` is deprecated for this model.", "temperature"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("body.seed: Extra inputs are not permitted", "seed"),
        ("unknown field `seed`", "seed"),
        ("Torch XLA does not support per-request seed.", "seed"),
        ("Unsupported param: stop", "stop"),
        ("litellm.UnsupportedParamsError: ollama does not support parameters: {'seed': 1}, for model=llama3", "seed"),
        ("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", "max_tokens"),
        ("Unsupported parameter: 'max_output_tokens' is not supported with this model.", "max_tokens"),
    ],
)  # fmt: skip
def test_refusals_are_known_by_their_words(words: str, name: str) -> None:
    assert refused_setting(rejected(words), BODY) == name
    assert refused_setting(rejected(words), {"model": "m", "messages": []}) is None


@pytest.mark.parametrize(
    "words",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "temperature must be strictly positive",
        "Invalid 'stop': array too long. Expected an array with maximum length 4",
        "Unsupported parameter: 'logprobs' is not supported with this model.",
        "tools are not supported by this model",
        "the model does not exist",
    ],
)
def test_other_refusals_teach_nothing(words: str) -> None:
    assert refused_setting(rejected(words), BODY) is None


def test_statuses_of_keys_and_addresses_teach_nothing() -> None:
    for status in (401, 403, 404, 429, 500):
        assert refused_setting(rejected("'seed' is not supported", status), BODY) is None


def test_a_value_the_server_does_not_take_comes_with_the_cure() -> None:
    advice = RequestAdapter.advice(rejected("temperature must be strictly positive"), BODY)
    assert "--temperature none" in advice
    assert RequestAdapter.advice(rejected("no such model"), BODY) == ""


@pytest.mark.parametrize(
    ("text", "stop", "expected"),
    [
        ("4\nQ: 3", ["\n"], ("answered", "4", "stop")),
        ("4 END. more", "END", ("answered", "4 ", "stop")),
        ("a;b|c", ["|", ";"], ("answered", "a", "stop")),
        ("\n4", ["\n"], ("empty", "", "stop")),
        ("4", ["\n"], ("answered", "4", "length")),
    ],
)
def test_replies_are_cut_as_the_server_would(text: str, stop: Any, expected: tuple[str, str, str]) -> None:
    reply = cut_at(stop, ModelReply("answered", text, finish_reason="length"))
    assert (reply.status, reply.text, reply.finish_reason) == expected


class ReasoningModel:
    """Refuses as OpenAI's reasoning models do, one setting at a time; goes on after the answer."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.refusals = 0

    def __call__(self, request: ModelRequest) -> Any:
        body = request.body
        assert json.loads(request.payload) == body
        for name, words in (
            ("max_tokens", "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
            ("temperature", "'temperature' does not support 0.0 with this model. Only the default (1) value is supported."),
            ("stop", "'stop' is not supported with this model."),
            ("seed", "'seed' is not supported with this model."),
        ):  # fmt: skip
            if name in body:
                self.refusals += 1
                return rejected(f"Unsupported parameter: {words}")
        self.taken.append(dict(body))
        messages: Any = body["messages"]
        return str(messages[-1]["content"]).replace("q", "a") + "\nQ: another one\nA: 5"


def run(bench: Path, workspace: Path, model: Any, **more: Any) -> Any:
    return benchwright.run(
        bench, endpoint=ScriptedEndpoint(model), workspace=workspace, stop="\n", seed=7, parallelism=1, **more
    )


def test_refused_settings_are_learned_once_and_the_score_does_not_change(bench: Path, tmp_path: Path) -> None:
    model = ReasoningModel()
    result = run(bench, tmp_path, model)
    assert model.refusals == 4  # one for each setting, by the first sample
    assert len(model.taken) == 12
    assert all(set(body) == {"model", "messages", "max_completion_tokens", "top_p"} for body in model.taken)
    willing = run(
        bench, tmp_path / "willing", lambda r: str(r.body["messages"][-1]["content"]).replace("q", "a")
    )
    assert result.summary.metrics == willing.summary.metrics
    notes = " | ".join(result.summary.notes)
    for part in ("max_completion_tokens", "refuses temperature = 0.0", "refuses stop", "refuses seed = 7"):
        assert part in notes
    assert not any("refuses" in note for note in willing.summary.notes)


def test_a_resumed_run_sends_the_adapted_bodies_at_once(bench: Path, tmp_path: Path) -> None:
    stopped = run(bench, tmp_path, ReasoningModel(), max_requests=9)
    assert stopped.status == "interrupted"
    model = ReasoningModel()
    resumed = benchwright.resume(stopped.run_id, endpoint=ScriptedEndpoint(model), workspace=tmp_path)
    assert model.refusals == 0
    assert len(model.taken) == 12 - 5
    calm = run(bench, tmp_path / "calm", ReasoningModel())
    assert resumed.summary == calm.summary


def test_rescoring_finds_the_replies_and_keeps_the_notes(bench: Path, tmp_path: Path) -> None:
    first = run(bench, tmp_path, ReasoningModel())
    again = benchwright.rescore(first.run_id, workspace=tmp_path)
    assert again.summary.metrics == first.summary.metrics
    assert [n for n in again.summary.notes if "refuses" in n] == [
        n for n in first.summary.notes if "refuses" in n
    ]


def test_calls_that_nobody_records_are_adapted_as_well() -> None:
    model = ReasoningModel()
    endpoint = AdaptedEndpoint(ScriptedEndpoint(model))
    body = {**BODY, "messages": [{"role": "user", "content": "q1"}]}
    reply = asyncio.run(endpoint.send(ModelRequest("chat", body, json.dumps(body).encode())))
    assert (reply.text, reply.attempts) == ("a1", 5)


def test_the_record_names_what_was_sent_and_where_replies_were_cut(bench: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    run(bench, tmp_path, ReasoningModel(), output_dir=folder)
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    assert all("\n" not in row["response"] for row in rows)
    results = yaml.safe_load((folder / "results.yml").read_text())
    assert "refuses stop" in json.dumps(results)


def test_a_user_given_field_that_is_refused_is_not_dropped(bench: Path, tmp_path: Path) -> None:
    def model(request: ModelRequest) -> Any:
        return rejected("Unsupported parameter: 'top_k' is not supported") if "top_k" in request.body else "x"

    result = benchwright.run(
        bench, endpoint=ScriptedEndpoint(model), workspace=tmp_path, extra_body={"top_k": 5}
    )
    assert result.summary.outcomes["request_failed"] == 12


def bodies_of(bench: Path, workspace: Path, **settings: Any) -> dict[str, Any]:
    endpoint = ScriptedEndpoint("a1")
    benchwright.run(bench, endpoint=endpoint, workspace=workspace, limit=1, **settings)
    return endpoint.requests[0].body


@pytest.mark.parametrize("name", ["temperature", "top_p", "max_tokens", "stop", "seed"])
def test_any_sampling_setting_can_be_left_out(bench: Path, tmp_path: Path, name: str) -> None:
    everything = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 5, "stop": "X", "seed": 3}
    assert set(everything) <= set(bodies_of(bench, tmp_path / "all", **everything))
    sent = bodies_of(bench, tmp_path / "some", **{**everything, name: "none"})
    assert name not in sent
    assert set(everything) - {name} <= set(sent)


def test_none_in_the_configuration(bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "benchwright.toml").write_text(
        '[models.m]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\ntemperature = "none"\nstop = "none"\nseed = 4\n'
    )
    monkeypatch.chdir(tmp_path)
    config = find_config(tmp_path)
    chosen = ChosenModel.of(RunOptions(model="m"), config).generation.settings
    assert [chosen[name] for name in ("temperature", "stop", "seed", "top_p")] == [None, None, 4, 1.0]
    chosen = ChosenModel.of(RunOptions(model="m", temperature=0.3, seed="none"), config).generation.settings
    assert (chosen["temperature"], chosen["seed"]) == (0.3, None)


def test_none_is_refused_where_nothing_can_be_left_out() -> None:
    with pytest.raises(UsageError, match="limit"):
        RunOptions(limit="none")  # type: ignore[arg-type]  # what this is about


def test_warm_ups_that_are_sent_again_count_towards_the_budget(bench: Path) -> None:
    def refusing(body: dict[str, Any]) -> str:
        if "max_tokens" in body:
            raise Refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return "a"

    with recording(refusing) as server:
        benchwright.run(
            bench, model_url=server.url, model_id="m", num_warmups=2, max_requests=7, workspace=bench.parent
        )
        assert len(server.bodies) == 7


def test_requests_that_check_an_echo_count_towards_the_budget(tmp_path: Path) -> None:
    rows = "".join(f"What is {n} + 1?,{n + 1},{n + 3},A\n" for n in range(3))
    (tmp_path / "rows.csv").write_text(f"question,A,B,answer\n{rows}", encoding="utf-8")
    with demo_server(DemoSettings()) as server:

        def sent(limit: int | None) -> int:
            before = server.stats()["requests"]
            benchwright.run(
                tmp_path / "rows.csv", infer_method="logprob_text", model_url=server.url, model_id="demo",
                max_requests=limit, cache=False, workspace=tmp_path,
            )  # fmt: skip
            return int(server.stats()["requests"] - before)

        needed = sent(None)
        assert sent(needed) == needed
        before = server.stats()["requests"]
        with pytest.raises(RunFailedError, match="max_requests=5 before the first row"):
            sent(5)
        assert server.stats()["requests"] - before == 5
