"""Runs against servers that fail now and then: the numbers are those of a server that does not."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

import benchwright
from benchwright import RunResult, benchmark, judge_score, scorer
from benchwright.core import BenchwrightError, ModelReply
from benchwright.scorers import exact_match

names = count()


class Server(ThreadingHTTPServer):
    """Answers each question with its own text, unless `fault` has answered already."""

    daemon_threads = True

    def __init__(self, fault: Callable[[Handler, str, int], bool]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        self.seen: Counter[str] = Counter()
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """One connection, kept open."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][-1]["content"]
        with self.server.lock:
            self.server.seen[text] += 1
            number = self.server.seen[text]
        if self.server.fault(self, text, number):
            return
        if body.get("stream"):
            self.events({"delta": {"content": text}}, {"delta": {}, "finish_reason": "stop"})
        else:
            choice = {"message": {"content": text}, "finish_reason": "stop"}
            self.answer(json.dumps({"choices": [choice]}).encode())

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def events(self, *choices: dict[str, Any]) -> None:
        events = [b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n" for choice in choices]
        self.answer(b"".join([*events, b"data: [DONE]\n\n"]), Content_Type="text/event-stream")

    def drop(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(fault: Callable[[Handler, str, int], bool]) -> Iterator[Server]:
    server = Server(fault)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def echo_of(rows: int) -> Any:
    @benchmark(
        name=f"echo {next(names)}",
        dataset=[{"question": f"q{n}", "target": f"q{n}"} for n in range(rows)],
        prompt="{question}",
    )
    @scorer
    def echo(sample: Any) -> dict[str, Any]:
        return exact_match(sample)

    return echo


def evaluate(server: Server, tmp_path: Path, rows: int = 4, target: Any = None, **options: Any) -> RunResult:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    settings: dict[str, Any] = {"retry_backoff": 0.001, "workspace": tmp_path, **options}
    return benchwright.run(target or echo_of(rows), model_url=url, model_id="m", **settings)


def test_stream_that_is_cut_is_asked_again(tmp_path: Path) -> None:
    def cut_the_first(handler: Handler, text: str, number: int) -> bool:
        if number == 1:
            handler.events({"delta": {"role": "assistant", "content": ""}})
        return number == 1

    with serving(cut_the_first) as server:
        result = evaluate(server, tmp_path, stream=True)
    assert result.summary.outcomes["scored"] == 4
    assert result["correct"] == 1.0
    assert result.requests_sent == 8


def test_cut_streams_recorded_as_answers_by_earlier_versions_are_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda handler, text, number: False) as server:
        with monkeypatch.context() as earlier:
            now = ModelReply.to_json
            earlier.setattr(
                ModelReply,
                "to_json",
                lambda reply: now(replace(reply, status="empty", text="", finish_reason=None)),
            )
            evaluate(server, tmp_path, stream=True)
        again = evaluate(server, tmp_path, stream=True)
        cached = evaluate(server, tmp_path, stream=True)
    assert (again.requests_sent, again["correct"], again.summary.outcomes["empty"]) == (4, 1.0, 0)
    assert (cached.requests_sent, cached["correct"]) == (0, 1.0)


def half_a_body(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
    handler.drop()


FAULTS: list[Callable[[Handler], None]] = [
    Handler.drop,
    half_a_body,
    lambda handler: handler.answer(b"{}", 429, Retry_After="0.01"),
    lambda handler: handler.answer(b"{}", 429),
    lambda handler: handler.answer(b"{}", 500),
    lambda handler: handler.answer(b"<html><title>Bad Gateway</title></html>", 503),
    lambda handler: handler.answer(b"<html><title>Sign in</title></html>"),
    lambda handler: handler.answer(b'{"choices": [{"mess'),
    lambda handler: handler.answer(b'{"choices": []}'),
    lambda handler: handler.answer(b'{"error": {"message": "out of memory"}}'),
    lambda handler: handler.events({"delta": {"content": "half an ans"}}),
]


@pytest.mark.parametrize("stream", [False, True])
def test_every_fifth_request_may_fail_and_no_row_is_lost(tmp_path: Path, stream: bool) -> None:
    chance = random.Random(7)
    lock = threading.Lock()
    faults = 0

    def now_and_then(handler: Handler, text: str, number: int) -> bool:
        nonlocal faults
        with lock:
            fails, fault = chance.random() < 0.2, chance.choice(FAULTS[:10] if not stream else FAULTS)
            faults += fails
        if fails and number <= 6:  # seven times in a row would be one row in a hundred thousand
            fault(handler)
        return fails and number <= 6

    with serving(now_and_then) as server:
        result = evaluate(server, tmp_path, rows=400, stream=stream)
    assert result.summary.outcomes["scored"] == 400
    assert result["correct"] == 1.0
    assert faults > 40
    assert result.requests_sent == sum(server.seen.values())


def test_requests_on_closed_connections_count_towards_budgets_and_are_no_retries(tmp_path: Path) -> None:
    def close_when_used_before(handler: Handler, text: str, number: int) -> bool:
        # There is one handler for each connection. The client's port would not tell: the system may give it out again.
        again = vars(handler).setdefault("requests_here", 0) > 0
        vars(handler)["requests_here"] += 1
        if again:
            handler.drop()
        return again

    with serving(close_when_used_before) as server:
        result = evaluate(server, tmp_path, rows=40, max_retries=0, parallelism=4)
        assert sum(server.seen.values()) == result.requests_sent > 40
        assert result.summary.outcomes["scored"] == 40
        server.seen.clear()
        limited = evaluate(server, tmp_path, rows=41, max_requests=9, parallelism=4, cache=False)
        assert sum(server.seen.values()) == limited.requests_sent == 9


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("depth", [300, 3_000])
def test_reply_nested_too_deep_costs_its_sample_only(tmp_path: Path, status: int, depth: int) -> None:
    body = b'{"error": {"code": 400, "detail": ' + b"[" * depth + b"]" * depth + b"}}"
    healthy = threading.Event()

    def nested(handler: Handler, text: str, number: int) -> bool:
        if text == "q1" and not healthy.is_set():
            handler.answer(body, status)
            return True
        return False

    with serving(nested) as server:
        target = echo_of(4)
        result = evaluate(server, tmp_path, target=target, max_retries=1)
        assert (result.summary.outcomes["scored"], result.summary.outcomes["request_failed"]) == (3, 1)
        healthy.set()
        again = benchwright.resume(result.run_id, target=target, workspace=tmp_path, retry_failed=True)
    assert again.summary.outcomes["scored"] == 4


def openai_error(message: str, code: Any = None, **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, "code": code, **more}}).encode()


TOO_LONG = {
    "OpenAI": (400, openai_error(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. "
        "Please reduce the length of the messages.", "context_length_exceeded")),
    "OpenAI by its code": (400, openai_error("Your input is too long.", "context_length_exceeded")),
    "vLLM": (400, openai_error(
        "This model's maximum context length is 2048 tokens. However, you requested 3100 tokens (3000 in the "
        "messages, 100 in the completion). Please reduce the length of the messages or completion.", 400)),
    "vLLM, newer": (400, openai_error(
        "The decoder prompt (length 5000) is longer than the maximum model length of 2048. Make sure that "
        "`max_model_len` is no smaller than the number of text tokens.", 400)),
    "llama.cpp": (400, openai_error(
        "the request exceeds the available context size, try increasing it", 400,
        type="exceed_context_size_error", n_prompt_tokens=5000, n_ctx=4096)),
    "llama-cpp-python": (400, openai_error(
        "This model's maximum context length is 512 tokens, however you requested 619 tokens (603 in your prompt; "
        "16 for the completion). Please reduce your prompt; or completion length.", "context_length_exceeded")),
    "TGI": (422, json.dumps({
        "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3000 `inputs` "
        "tokens and 100 `max_new_tokens`", "error_type": "validation"}).encode()),
    "TGI, inputs alone": (422, json.dumps({
        "error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 3000",
        "error_type": "validation"}).encode()),
    "inside a 200": (200, openai_error("prompt is too long: 205000 tokens > 200000 maximum", 400)),
}  # fmt: skip


@pytest.mark.parametrize("wording", TOO_LONG)
def test_prompt_that_is_too_long_is_a_reason_of_its_own(tmp_path: Path, wording: str) -> None:
    def refuse_some(handler: Handler, text: str, number: int) -> bool:
        if text in ("q1", "q2"):
            handler.answer(TOO_LONG[wording][1], TOO_LONG[wording][0])
        elif text == "q3":
            handler.answer(openai_error("no such thing"), 400)
        return text in ("q1", "q2", "q3")

    with serving(refuse_some) as server:
        result = evaluate(server, tmp_path, rows=6)
        assert sum(server.seen.values()) == 6  # none is tried again
    assert result.summary.reasons == {"prompt_too_long": 2, "rejected": 1}
    assert result.summary.outcomes["request_failed"] == 3
    assert any("2 of 6 prompts were longer than the model's context" in note for note in result.summary.notes)
    assert "fewer examples" in result.first_failure
    written = yaml.safe_load((result.folder / "results.yml").read_text())
    (task,) = written["results"]["tasks"].values()
    assert task["reasons"] == {"prompt_too_long": 2, "rejected": 1}


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        ("maximum context length is 2048 tokens. However, you requested 4126 tokens (30 in the messages, 4096 in "
         "the completion)", "lower --max-tokens"),
        ("'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 "
         "tokens and your request has 30 input tokens", "--max-tokens"),
    ],
)  # fmt: skip
def test_prompt_that_fits_is_not_called_too_long(tmp_path: Path, words: str, cure: str) -> None:
    def refuse(handler: Handler, text: str, number: int) -> bool:
        handler.answer(openai_error(words, 400), 400)
        return True

    with serving(refuse) as server:
        result = evaluate(server, tmp_path)
    assert result.summary.reasons == {"rejected": 4}
    assert cure in result.first_failure


def test_replies_that_reached_max_tokens_are_counted(tmp_path: Path) -> None:
    def cut(handler: Handler, text: str, number: int) -> bool:
        if text in ("q0", "q2"):
            choice = {"message": {"content": text}, "finish_reason": "length"}
            handler.answer(json.dumps({"choices": [choice]}).encode())
        return text in ("q0", "q2")

    with serving(cut) as server:
        target = echo_of(5)
        result = evaluate(server, tmp_path, target=target)
        again = evaluate(server, tmp_path, target=target)  # from the cache
    for found in (result, again):
        assert found.summary.cut == 2
        assert "2 of 5 replies reached max_tokens, so that their ends may be missing; raise --max-tokens" in (
            found.summary.notes
        )
    assert again.requests_sent == 0


def test_the_commonest_failure_is_named(tmp_path: Path) -> None:
    def fail(handler: Handler, text: str, number: int) -> bool:
        message = "the disk is odd" if text == "q0" else f"model number {len(text)} is not loaded"
        handler.answer(openai_error(message), 400)
        return True

    with serving(fail) as server:
        result = evaluate(server, tmp_path, rows=6, parallelism=1)
    assert result.exit_code == 1
    assert "is not loaded" in result.first_failure
    assert result.first_failure.endswith("(5 of 6 failures)")


def test_advice_for_a_judge_names_the_judges_settings(tmp_path: Path) -> None:
    def refuse_the_judge(handler: Handler, text: str, number: int) -> bool:
        if "GRADE" in text or "grade" in text:
            handler.answer(openai_error("who are you?"), 401)
            return True
        return False

    with serving(refuse_the_judge) as server:
        url = f"http://127.0.0.1:{server.server_port}/v1"

        @benchmark(
            name=f"judged {next(names)}",
            dataset=[{"question": f"q{n}", "target": "x"} for n in range(3)],
            prompt="{question}",
            judge={"url": url, "model_id": "judge", "max_retries": 0},
        )
        @scorer
        def judged(sample: Any) -> Any:
            return judge_score(sample, template="binary_qa")

        result = evaluate(server, tmp_path, target=judged)
    assert result.summary.outcomes["scorer_failed"] == 3
    assert "with the judge's api_key" in result.first_failure
    assert "--api-key-name" not in result.first_failure


def test_a_server_that_is_down_is_not_blamed_for_its_log_probabilities(tmp_path: Path) -> None:
    with serving(lambda handler, text, number: False) as server:
        port = server.server_port  # closed again below

    @benchmark(
        name=f"ranked {next(names)}",
        dataset=[{"question": "q", "choices": ["a", "b"], "target": "a"}],
        prompt="{question}",
        endpoint_type="completions_logprob",
        choices_field="choices",
    )
    @scorer
    def ranked(sample: Any) -> dict[str, Any]:
        return exact_match(sample)

    with pytest.raises(BenchwrightError, match="Is the server running") as caught:
        benchwright.run(
            ranked, model_url=f"http://127.0.0.1:{port}", model_id="m", workspace=tmp_path, max_retries=0
        )
    assert "logprobs" not in str(caught.value)
