"""Every fault in every kind of run, streamed or not: one documented outcome, and a failure is never a wrong answer."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import benchwright
from benchwright.cli import main
from benchwright.core import RunKind

FAULTS = {
    "closed": ("connection", "reset"),
    "half": ("broken_stream", "broken_stream"),
    "429": ("rate_limited", "http_429"),
    "500": ("server_error", "http_5xx"),
    "400": ("rejected", "http_4xx"),
    "too_long": ("prompt_too_long", "http_4xx"),
    "page": ("bad_reply", "protocol"),
    "no_choices": ("bad_reply", "protocol"),
    "number": ("bad_reply", "protocol"),
    "tools_no_list": ("bad_reply", "protocol"),
    "error_inside": ("server_error", "http_5xx"),
    "broken_off": ("server_error", "http_5xx"),
}
"""Fault → its kind in runs, and its outcome in load tests."""
LONG = "This model's maximum context length is 4096 tokens, but you sent 9000 tokens."


class Faulty(BaseHTTPRequestHandler):
    """Answers a prompt that names a fault with that fault, and any other with `fine` or the call `f(k="v")`."""

    protocol_version = "HTTP/1.1"
    server: FaultyServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps(body["messages"])
        named = re.search(r"!(\w+)!", text) if body["model"] == self.server.faulty else None
        fault = named and named.group(1)
        stream = bool(body.get("stream"))
        if fault == "closed":
            self.close_connection = True
        elif fault == "half":
            self.send(b'data: {"choices": [{"delta": {"content": "fi', missing=9)
        elif fault in ("429", "500", "400", "too_long"):
            words = LONG if fault == "too_long" else "so it is"
            status = 400 if fault == "too_long" else int(fault)
            self.send(json.dumps({"error": {"message": words}}).encode(), status)
        elif fault == "page":
            self.send(b"<html><title>Hello</title></html>")
        elif fault == "no_choices":
            self.reply(stream, {"choices": []})
        elif fault == "error_inside":
            self.reply(stream, {"error": {"message": "out of memory"}})
        elif fault in ("number", "tools_no_list", "broken_off"):
            wrong = {"number": {"content": 7}, "tools_no_list": {"content": None, "tool_calls": "f"}}
            said = wrong.get(fault, {"content": "fi"})
            finish = "error" if fault == "broken_off" else "stop"
            kind = "delta" if stream else "message"
            self.reply(stream, {"choices": [{kind: said, "finish_reason": finish}]})
        else:
            self.reply(
                stream,
                {"choices": [{"finish_reason": "stop", "delta" if stream else "message": _good(body, text)}]},
            )

    def reply(self, stream: bool, said: dict[str, Any]) -> None:
        whole = json.dumps(said).encode()
        self.send(b"data: " + whole + b"\n\ndata: [DONE]\n\n" if stream else whole)

    def send(self, raw: bytes, status: int = 200, missing: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw) + missing))
        self.end_headers()
        self.wfile.write(raw)
        self.close_connection = self.close_connection or missing > 0


def _good(body: dict[str, Any], text: str) -> dict[str, Any]:
    if body["model"] == "judge":
        return {"content": "GRADE: C"}
    if "tools" in body:
        called = {"name": "f", "arguments": '{"k": "v"}'}
        return {
            "content": None,
            "tool_calls": [{"index": 0, "id": "1", "type": "function", "function": called}],
        }
    return {"content": "[f(k='v')]" if "functions" in text else "fine"}


class FaultyServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    faulty = "m"
    """The model whose requests fail."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.chdir(tmp_path)
    server = FaultyServer(("127.0.0.1", 0), Faulty)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


TOOL = {"type": "function", "function": {"name": "f", "description": "Does it.", "parameters": {
    "type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}}}  # fmt: skip
JUDGED = """
from benchwright import benchmark, judge_score, scorer

@benchmark(name="judged", dataset="rows.jsonl", prompt="{{question}}", target_field="answer",
           judge={{"url": "{url}", "model_id": "judge", "max_retries": 0}})
@scorer
def judged(sample):
    return judge_score(sample)
"""


def written(prompts: list[str], url: str) -> None:
    """The prompts as data of every kind of run."""
    lines = [{"question": prompt, "answer": "fine"} for prompt in prompts]
    calls = [
        {"messages": [{"role": "user", "content": prompt}], "tools": [TOOL],
         "tool_calls_ground_truth": [{"name": "f", "arguments": {"k": "v"}}]}
        for prompt in prompts
    ]  # fmt: skip
    for name, rows in (("rows.jsonl", lines), ("calls.jsonl", calls)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("judged.py").write_text(JUDGED.format(url=url))


STEPS = {"params_to_add": {"top_k": 1}, "process_reasoning_traces": True, "log_failed_requests": True}
RUNS: dict[str, Callable[..., benchwright.RunResult]] = {
    "questions": lambda **model: benchwright.run("rows.jsonl", **model),
    "pipeline": lambda **model: benchwright.run("rows.jsonl", pipeline=STEPS, **model),
    "native calls": lambda **model: benchwright.run("bfcl_simple", tool_data="calls.jsonl", **model),
    "prompted calls": lambda **model: benchwright.run(
        "bfcl_simple_prompting", tool_data="calls.jsonl", **model
    ),
    "judged": lambda **model: benchwright.run("judged.py", **model),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", RUNS)
def test_each_fault_has_its_outcome_in_every_kind_of_run(
    server: FaultyServer, kind: str, stream: bool
) -> None:
    written([*(f"!{fault}! so?" for fault in FAULTS), "well?"], server.url)
    model = {"model_url": server.url, "model_id": "m", "max_retries": 0, "stream": stream, "cache": False}
    result = RUNS[kind](**model)
    *failed, good = pq.read_table(result.folder / "samples.parquet").to_pylist()
    assert {row["outcome"] for row in failed} == {"request_failed"}
    assert {row["scores"] for row in failed} == {None}
    assert good["outcome"] == "scored"
    expected: dict[str, int] = {}
    for reason, _ in FAULTS.values():
        expected[reason] = expected.get(reason, 0) + 1
    assert result.summary.reasons == expected
    assert {(metric.count, metric.value) for metric in result.summary.metrics.values()} == {(1, 1.0)}
    assert result.exit_code == 3


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_each_fault_has_its_outcome_in_load_tests(server: FaultyServer, stream: bool) -> None:
    written([*(f"!{fault}! so?" for fault in FAULTS), "well?"], server.url)
    result = benchwright.perf(
        "rows.jsonl",
        model_url=server.url,
        model_id="m",
        stream=stream,
        concurrency=2,
        stop_error_share=1.0,
        score=True,
    )
    found = pq.read_table(result.folder / "requests.parquet").to_pylist()
    outcomes = {row["row"]: (row["outcome"], row["score_outcome"]) for row in found}
    assert outcomes == dict(
        enumerate([*((outcome, None) for _, outcome in FAULTS.values()), ("ok", "scored")])
    )
    assert (result.exit_code, result.summary.stages[0].scores["exact"].mean) == (3, 1.0)


def test_a_judge_that_fails_makes_no_answer_wrong(server: FaultyServer) -> None:
    server.faulty = "judge"
    written([*(f"!{fault}! so?" for fault in FAULTS), "well?"], server.url)
    result = benchwright.run("judged.py", model_url=server.url, model_id="m", max_retries=0)
    assert result.summary.outcomes["scorer_failed"] == result.summary.reasons["judge_failed"] == len(FAULTS)
    assert result.summary.metrics["judge_score"].value == 1.0


FLOW = """
from benchwright import LLMError, call_llm, entrypoint, workflow

async def ask(prompt):
    reply = await call_llm("openai", "m", [{{"role": "user", "content": prompt}}], base_url="{url}", retries=0)
    return reply["content"]

async def handler(prompts, ctx):
    said = []
    for prompt in prompts["all"]:
        try:
            said.append(await ctx.do(ask, prompt))
        except LLMError:
            said.append(None)
    return said

if __name__ == "__main__":
    entrypoint(workflow("flow", handler))
"""


def test_calls_of_workflows_raise_at_the_same_faults(
    server: FaultyServer, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("flow.py").write_text(FLOW.format(url=server.url))
    prompts = {"all": [*(f"!{fault}! so?" for fault in FAULTS), "well?"]}
    assert main(["run", "flow.py", "--input", json.dumps(prompts), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["output"] == [*[None] * len(FAULTS), "fine"]


def test_a_run_of_which_every_request_failed_is_no_success(
    server: FaultyServer, capfd: pytest.CaptureFixture[str]
) -> None:
    written([f"!500! {number}" for number in range(3)], server.url)
    endpoint = {"url": server.url, "model_id": "m", "type": "chat"}
    params = {"params": {"max_retries": 0}}
    one = {
        "config": {"type": "judged.py:judged", "output_dir": "one", **params},
        "target": {"api_endpoint": endpoint},
    }
    tasks = [{"name": "judged.py:judged"}]
    shared = {"nemo_evaluator_config": {"config": params}}
    several = {
        "execution": {"output_dir": "several"},
        "target": one["target"],
        "evaluation": {**shared, "tasks": tasks},
    }
    model = {"name": "a", "url": server.url, "model_id": "m", "max_retries": 0}
    suite = {"models": [model, "demo"], "datasets": ["rows.jsonl"]}
    for name, content in (("one.json", one), ("several.json", several), ("suite.json", suite)):
        Path(name).write_text(json.dumps(content))
    Path("policy.toml").write_text("[[failures]]\nmax = 1.0\n")
    Path("load.toml").write_text('[[load]]\nfigure = "error_share"\nmax = 1.0\n')
    direct = ["--model-url", server.url, "--model-id", "m"]
    codes = {
        code: [main(words) for words in commands]
        for code, commands in {
            1: (
                ["run", "rows.jsonl", *direct, "--max-retries", "0"],
                ["perf", "rows.jsonl", *direct],
                ["run", "bfcl_simple", "--tool-data", "calls.jsonl", *direct, "--max-retries", "0"],
                ["run_eval", "--run-config", "one.json"],
                ["run_eval", "--run-config", "several.json"],
                ["run", "suite.json"],
                ["run", "suite.json", "--mode", "perf"],
                ["rescore", "1"],
                ["resume", "1", "--retry-failed"],
            ),
            3: (["gate", "1", "--policy", "policy.toml"], ["gate", "2", "--policy", "load.toml"]),
            2: (["bless", "1"], ["bless", "2"], ["export", "1", "--baseline", "b"]),
        }.items()
    }
    assert {code: set(found) for code, found in codes.items()} == {1: {1}, 3: {3}, 2: {2}}
    capfd.readouterr()
    assert main(["list", "--json"]) == 0
    runs = json.loads(capfd.readouterr().out)["runs"]
    assert {run["kind"] for run in runs} == {RunKind.BENCHMARK, RunKind.LOAD}
    assert {run["status"] for run in runs if run["model"] != "demo"} == {"failed"}


def test_a_judge_that_grades_too_few_rows_is_not_calibrated(server: FaultyServer) -> None:
    server.faulty = "judge"
    judge = {"url": server.url, "model_id": "judge", "max_retries": 0}
    rows = [
        {"question": f"!{name}! {n}", "response": "r", "target": "t", "label": "C"}
        for n in range(10)
        for name in ("500", "fine")
    ]
    for kept, comparable in ((rows, False), (rows[1::2], True)):
        found = benchwright.calibrate_judge(kept, judge=judge)
        assert (found.judged, found.comparable, found.exit_code) == (10, comparable, 0 if comparable else 3)
