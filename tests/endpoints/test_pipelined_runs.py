"""Runs within a pipeline: what is recorded, what the cache, `rescore`, `resume` and `compare` make of it, and how it ends."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.config import (
    Caching,
    FailedRequests,
    PayloadModifier,
    ProgressTracking,
    RaiseClientErrors,
    Reasoning,
    RequestLogging,
    SystemMessage,
)
from benchwright.core import ConfigError, ModelRequest, UsageError
from benchwright.endpoints import with_body
from benchwright.endpoints._pipeline.exchange_log import LOG_FILE
from benchwright.endpoints._pipeline.progress import ProgressPoster
from recording_server import RecordingServer, recording
from waiting import PATIENCE_S


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("question,answer\n" + "".join(f"q{n},a{n}\n" for n in range(6)))
    return path


def run(rows: Path, server: RecordingServer | None, *steps: Any, **more: Any) -> benchwright.RunResult:
    model = {} if server is None else {"model_url": server.url, "model_id": "m", "max_retries": 0}
    return benchwright.run(rows, workspace=rows.parent, pipeline=steps or None, **{**model, **more})


def echo(body: dict[str, Any]) -> str:
    return "<r>hm</r>\na" + body["messages"][-1]["content"][1:]


THINKING = Reasoning(start_reasoning_token="<r>", end_reasoning_token="</r>")


def test_requests_are_recorded_as_they_were_sent_and_replies_as_they_were_scored(rows: Path) -> None:
    with recording(echo) as server:
        result = run(rows, server, SystemMessage("S"), PayloadModifier(params_to_add={"top_k": 3}), THINKING)
        assert result.summary.metrics["exact"].value == 1.0
        assert all(body["top_k"] == 3 and body["messages"][0]["content"] == "S" for body in server.bodies)
    table = pq.read_table(result.folder / "samples.parquet").to_pylist()
    assert {row["response"] for row in table} == {f"a{n}" for n in range(6)}
    config = yaml.safe_load((result.folder / "run_config.yml").read_text())
    steps = config["target"]["api_endpoint"]["adapter_config"]["interceptors"]
    assert [step["name"] for step in steps] == ["system_message", "payload_modifier", "reasoning"]
    assert "--pipeline" in config["command"]


def test_the_cache_serves_equal_steps_and_no_others(rows: Path) -> None:
    with recording(echo) as server:
        first = run(rows, server, SystemMessage("S"), THINKING)
        watched = run(rows, server, SystemMessage("S"), THINKING, RequestLogging())
        other = run(rows, server, SystemMessage("S"))
        plain = run(rows, server)
        repeated = run(rows, server, SystemMessage("S"), THINKING, repeats=2)
        off = run(rows, server, SystemMessage("S"), THINKING, Caching(reuse_cached_responses=False))
        sent = [each.requests_sent for each in (first, watched, other, plain, repeated, off)]
        assert sent == [6, 0, 6, 6, 6, 6]
        assert other.summary.metrics["exact"].value == 0.0
    assert not (watched.folder / LOG_FILE).exists(), "nothing was sent, so nothing is logged"


def test_the_same_model_name_elsewhere_is_another_model(rows: Path) -> None:
    with recording(echo) as here, recording("no idea") as there:
        run(rows, here, SystemMessage("S"), THINKING)
        result = run(rows, there, SystemMessage("S"), THINKING)
        assert (len(there.bodies), result.summary.metrics["exact"].value) == (6, 0.0)


def test_replies_are_scored_again_and_a_stopped_run_resumed_within_the_same_steps(rows: Path) -> None:
    with recording(echo) as server:
        steps = SystemMessage("S"), THINKING
        whole = run(rows, server, *steps)
        again = benchwright.rescore(whole.run_id, workspace=rows.parent)
        assert again.summary.metrics["exact"].value == 1.0
        server.take()
        part = run(rows, server, *steps, max_requests=2, parallelism=1, cache=False)
        assert part.summary.partial
        resumed = benchwright.resume(part.run_id, workspace=rows.parent, max_requests=100)
        assert resumed.summary.metrics["exact"].count == 6
        bodies = server.bodies
        assert len(bodies) == 6
        assert all(body["messages"][0] == {"role": "system", "content": "S"} for body in bodies)


def test_comparing_names_other_steps_and_ignores_observers(rows: Path) -> None:
    with recording(echo) as server:
        first = run(rows, server, THINKING)
        watched = run(rows, server, THINKING, RequestLogging())
        other = run(rows, server, THINKING, SystemMessage("S"))

        def differences(a: benchwright.RunResult, b: benchwright.RunResult) -> str:
            found = benchwright.compare(a.run_id, b.run_id, workspace=rows.parent)
            return json.dumps(found.to_json(), default=str)

        assert "system_message" in differences(first, other)
        assert "request_logging" not in differences(first, watched)


Answer = tuple[int, dict[str, Any]]


@contextmanager
def serving(answer: Callable[[int, dict[str, Any]], Answer]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server whose answers have a status; `answer` gets the number of the request, from 1, and its body."""
    seen: list[dict[str, Any]] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                seen.append(body)
                number = len(seen)
            status, value = answer(number, body)
            payload = json.dumps(value).encode()
            with suppress(OSError):  # the client may have gone
                self.send_response(status)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def said(text: str) -> Answer:
    return 200, {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def error(status: int, words: str) -> Answer:
    return status, {"error": {"message": words}}


@pytest.mark.parametrize(("parallelism", "fine"), [(1, 2), (4, 0)])
def test_a_client_error_stops_the_run_at_once(rows: Path, parallelism: int, fine: int) -> None:
    """All later requests hang until the test is over, so only a run that gives them up comes back."""
    over = threading.Event()

    def answer(number: int, body: dict[str, Any]) -> Answer:
        if number > fine + 1:
            over.wait(PATIENCE_S)
        return error(401, "no entry") if number == fine + 1 else said("x")

    with serving(answer) as (url, seen):
        result = run(
            rows, None, RaiseClientErrors(), FailedRequests(),
            model_url=url, model_id="m", parallelism=parallelism, max_retries=0,
        )  # fmt: skip
        assert len(seen) <= fine + parallelism
        over.set()
        resumed = benchwright.resume(result.run_id, workspace=rows.parent)
    assert resumed.summary.outcomes["scored"] == 5
    assert result.exit_code == 1
    assert "stopped by raise_client_errors: 401" in result.stopped_because
    assert any("raise_client_errors" in note for note in result.summary.notes)
    assert result.summary.outcomes["request_failed"] == 1
    assert '"no entry"' in (result.folder / LOG_FILE).read_text()


def test_other_failures_and_refused_settings_stop_nothing(rows: Path) -> None:
    def answer(number: int, body: dict[str, Any]) -> Answer:
        if "max_tokens" in body:
            return error(400, "Unsupported parameter: 'max_tokens' is not supported with this model.")
        failing = {"q1": error(429, "slow down"), "q2": error(500, "oh"), "q3": error(408, "late")}
        return failing.get(body["messages"][-1]["content"]) or said(echo(body))

    with serving(answer) as (url, seen):
        result = run(
            rows,
            None,
            RaiseClientErrors(),
            THINKING,
            model_url=url,
            model_id="m",
            max_retries=0,
            parallelism=1,
        )
    outcomes = result.summary.outcomes
    assert (outcomes["scored"], outcomes["request_failed"], result.stopped_because) == (3, 3, "")
    assert len(seen) == 7, "the refused setting is learned by the first request, and sent otherwise"


def test_steps_meet_faulty_servers(rows: Path) -> None:
    """Each fault has the outcome that it has without steps, and the good rows are scored."""
    thinking_only = {
        "choices": [{"message": {"content": None, "reasoning_content": "hm"}, "finish_reason": "length"}]
    }
    faults: dict[str, Answer] = {
        "q0": (200, {}),
        "q1": error(503, "busy"),
        "q2": (200, {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
        "q3": (200, {"choices": [{"message": {"content": 3}}]}),
        "q4": (200, thinking_only),
    }
    steps = [SystemMessage("S"), PayloadModifier(params_to_add={"x": 1}), RequestLogging(), FailedRequests()]
    with serving(lambda number, body: faults.get(body["messages"][-1]["content"]) or said("a5")) as (
        url,
        seen,
    ):
        model = {"model_url": url, "model_id": "m", "max_retries": 0, "cache": False}
        plain = run(rows, None, **model).summary.outcomes
        stepped = run(rows, None, *steps, **model).summary.outcomes
    assert plain == stepped
    assert (plain["request_failed"], plain["empty"], plain["truncated"], plain["scored"]) == (3, 1, 1, 1)
    assert seen[-1]["x"] == 1


def test_a_progress_url_of_the_environment_may_have_a_password(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recording("ok") as progress, recording(echo) as server:
        monkeypatch.setenv(
            "HOOK", progress.url.replace("//", "//me:p%2Fw-55-x@") + "/progress?token=t0-k3n-991"
        )
        result = run(rows, server, ProgressTracking("${HOOK}", progress_tracking_interval=6))
        (posted,) = progress.received
    assert posted.path == "/v1/progress?token=t0-k3n-991"
    assert posted.headers["authorization"] == [f"Basic {b64encode(b'me:p/w-55-x').decode()}"]
    config = (result.folder / "run_config.yml").read_text()
    assert server.url in config, "the host of a secret URL is not secret: here it is that of the model"
    assert "progress_tracking_url: ${HOOK}" in config


def test_progress_is_posted_and_a_dead_url_only_noted(rows: Path) -> None:
    with recording("ok") as progress, recording(echo) as server:
        url = progress.url + "/progress"
        run(rows, server, ProgressTracking(url, progress_tracking_interval=4))
        counts = [body["samples_processed"] for body in progress.bodies]
        assert counts == [4, 6]
        dead = f"http://127.0.0.1:{progress.server_port}/v1"
    with recording(echo) as server:
        result = run(rows, server, ProgressTracking(dead), THINKING)
    assert result.exit_code == 0
    assert any("progress could not be posted" in note for note in result.summary.notes)


def test_a_resumed_run_posts_what_all_its_starts_have_done(rows: Path) -> None:
    with recording("ok") as progress, recording(echo) as server:
        step = ProgressTracking(progress.url)
        stopped = run(rows, server, step, max_requests=4, parallelism=1)
        assert stopped.status == "interrupted"
        assert benchwright.resume(stopped.run_id, workspace=rows.parent).status == "completed"
        assert [body["samples_processed"] for body in progress.bodies] == [1, 2, 3, 4, 5, 6]


def test_an_interrupted_run_does_not_wait_for_its_last_post() -> None:
    """A URL that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        poster = ProgressPoster(ProgressTracking(f"http://127.0.0.1:{silent.getsockname()[1]}/"))
        poster.count(0)
        asyncio.run(poster.aclose(lambda: True))
        assert "no answer yet" in poster.note


def test_two_runs_at_once_do_not_mix(rows: Path, tmp_path: Path) -> None:
    def one(name: str) -> tuple[benchwright.RunResult, list[dict[str, Any]]]:
        with recording(lambda body: name) as server:
            folder = tmp_path / name
            folder.mkdir()
            (folder / "rows.csv").write_text(rows.read_text())
            return run(folder / "rows.csv", server, SystemMessage(name), RequestLogging()), server.bodies

    with ThreadPoolExecutor(2) as pool:
        for name, (result, bodies) in zip("ab", pool.map(one, "ab"), strict=True):
            assert {body["messages"][0]["content"] for body in bodies} == {name}
            assert len(bodies) == 6
            events = [json.loads(line) for line in (result.folder / LOG_FILE).read_text().splitlines()]
            assert {event["body"]["messages"][0]["content"] for event in events} == {name}


def test_a_failing_step_fails_its_samples_and_names_itself(rows: Path) -> None:
    class Moody:
        name = "moody"

        def on_request(self, request: ModelRequest) -> ModelRequest:
            if "q3" in json.dumps(request.body):
                raise ValueError("not this one")
            return with_body(request, {**request.body, "user": "u"})

    with recording(echo) as server:
        result = run(rows, server, Moody(), THINKING)
        assert len(server.bodies) == 5
    assert result.summary.outcomes["request_failed"] == 1
    assert "step moody failed, and nothing was sent: ValueError: not this one" in result.first_failure
    with pytest.raises(ConfigError, match="step moody was an object in a Python program"):
        benchwright.resume(result.run_id, workspace=rows.parent, retry_failed=True)


def test_demo_and_scripted_models_have_pipelines_too(rows: Path) -> None:
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> str:
        asked.append(request)
        return echo(request.body)  # type: ignore[arg-type]

    scripted = ScriptedEndpoint(answer)
    result = run(rows, None, SystemMessage("S"), THINKING, RequestLogging(max_requests=1), endpoint=scripted)
    assert result.summary.metrics["exact"].value == 1.0
    assert asked[0].body["messages"][0] == {"role": "system", "content": "S"}  # type: ignore[index]
    assert (result.folder / LOG_FILE).read_text().count("\n") == 1
    with pytest.raises(ConfigError, match="answers without HTTP"):
        run(rows, None, PayloadModifier(headers_to_add={"X-A": "1"}))


def test_ranked_choices_and_a_system_message_are_refused_together(tmp_path: Path) -> None:
    path = tmp_path / "mcq.csv"
    path.write_text("question,A,B,answer\n1+1?,2,3,A\n")
    with recording() as server:
        with pytest.raises(ConfigError, match="nothing may be put in front"):
            run(path, server, SystemMessage("S"), infer_method="logprob")
        (report,) = benchwright.check(
            path, pipeline=[SystemMessage("S"), RequestLogging()], workspace=tmp_path
        )
        assert any("which the prompts here do not show: system_message" in each for each in report.warnings)
        assert server.bodies == []


def test_each_model_of_a_suite_has_its_own_pipeline(rows: Path) -> None:
    with recording(echo) as first, recording(echo) as second:
        models = [
            {
                "name": name,
                "base_url": server.url,
                "model": "m",
                "pipeline": {"params_to_add": {"user": name}},
            }
            for name, server in (("one", first), ("two", second))
        ]
        models[1]["adapter_config"] = models[1].pop("pipeline")
        suite = rows.parent / "suite.yaml"
        suite.write_text(yaml.safe_dump({"models": models, "datasets": [{"path": str(rows)}]}))
        benchwright.run_suite(suite, workspace=rows.parent, work_dir=rows.parent / "work")
        assert {body["user"] for body in first.bodies} == {"one"}
        assert {body["user"] for body in second.bodies} == {"two"}


def test_function_calls_pass_the_steps(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "w", "description": "gone", "parameters": schema}}
    row = {
        "messages": [{"role": "user", "content": "weather in Paris?"}],
        "tools": [tool],
        "tool_calls_ground_truth": [{"function": {"name": "w", "arguments": {"city": "Paris"}}}],
    }
    path = tmp_path / "calls.jsonl"
    path.write_text(json.dumps(row) + "\n")
    call = {"id": "1", "type": "function", "function": {"name": "w", "arguments": '{"city": "Paris"}'}}
    with recording(lambda body: {"content": None, "tool_calls": [call]}) as server:
        result = benchwright.run(
            "bfclv3_ast", task="simple", tool_data=str(path), tool_data_format="openai", native_calling=True,
            model_url=server.url, model_id="m", workspace=tmp_path,
            pipeline=[SystemMessage("S"), PayloadModifier(params_to_remove=("description",)), THINKING],
        )  # fmt: skip
        assert result.summary.metrics["correct"].value == 1.0
        assert server.bodies[0]["messages"][0]["content"] == "S"
        assert server.bodies[0]["tools"][0]["function"].keys() == {"name", "parameters"}


def test_judges_and_workflows_pass_no_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("question,answer\nq0,a0\n")
    with recording(echo) as server, recording("GRADE: C") as judge:
        result = run(
            rows, server, SystemMessage("S"), THINKING,
            qa_metrics="judge", judge_url=judge.url, judge_id="j",
        )  # fmt: skip
        assert result.exit_code == 0
        assert [message["role"] for message in judge.bodies[0]["messages"]] == ["user"]
        assert server.bodies[0]["messages"][0]["content"] == "S"
    table = '[models.brief]\nbase_url = "http://127.0.0.1:9"\nmodel = "j"\npipeline = { params_to_add = { x = 1 } }\n'
    (tmp_path / "benchwright.toml").write_text(table)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="requests to judges do not go through a pipeline"):
        run(rows, None, qa_metrics="judge", judge_model="brief")
    with pytest.raises(UsageError, match="which calls of workflows do not pass"):
        asyncio.run(benchwright.call_llm("brief", "j", [{"role": "user", "content": "Hi"}]))


def test_what_contradicts_itself_is_refused_before_anything_is_sent(rows: Path) -> None:
    with recording(echo) as server:
        with pytest.raises(UsageError, match="the pipeline says otherwise"):
            run(rows, server, Caching(reuse_cached_responses=False), cache=True)
        with pytest.raises(ConfigError, match="environment variable NOT_THERE_AT_ALL"):
            run(rows, server, PayloadModifier(headers_to_add={"X-Api-Key": "${NOT_THERE_AT_ALL}"}))
        for steps, words in (
            ([Caching(reuse_cached_responses=True)], "takes replies from a cache"),
            ([ProgressTracking("http://127.0.0.1:9/")], "progress_tracking counts samples"),
            ([RaiseClientErrors()], "a load test counts errors"),
        ):
            with pytest.raises(UsageError, match=words):
                benchwright.perf(
                    rows,
                    workspace=rows.parent,
                    model_url=server.url,
                    model_id="m",
                    requests=2,
                    pipeline=steps,
                )
        assert server.bodies == []


def test_a_load_test_sends_what_the_steps_make_of_its_requests(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPELINE_TEST_KEY", "kept-out-of-sight-1234")
    with recording(echo) as server:
        steps = [SystemMessage("S"), PayloadModifier(headers_to_add={"X-Load": "1"}), RequestLogging()]
        result = benchwright.perf(
            rows,
            workspace=rows.parent,
            model_url=server.url,
            model_id="m",
            requests=4,
            concurrency=2,
            pipeline=steps,
            headers={"X-Api-Key": "${PIPELINE_TEST_KEY}"},
        )
        received = [each for each in server.received if each.path.endswith("completions")]
        assert len(received) >= 4
        assert all(each.body["messages"][0]["content"] == "S" for each in received)
        assert all(each.headers["x-load"] == ["1"] for each in received)
        assert all(each.headers["x-api-key"] == ["kept-out-of-sight-1234"] for each in received)
    assert "kept-out-of-sight-1234" not in (result.folder / LOG_FILE).read_text()
