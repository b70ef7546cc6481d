"""Pipelines for the older package and for this one: every setting of every step, and a server that answers both alike.

`record_pipelines.py` has the older package run them into `golden_pipelines.jsonl`; a test runs them here.
"""

# fmt: off
from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MESSAGES: dict[str, dict[str, Any]] = {
    "plain": {"content": "B"},
    "think": {"content": "<think>let me see\nmore</think>\n\nB\n"},
    "twice": {"content": "<think>a</think> x <think>b</think> B"},
    "open": {"content": "<think>never ends B"},
    "lone": {"content": "no start here</think>B"},
    "custom": {"content": "[T]hm[/T]B"},
    "apart": {"content": "B", "reasoning_content": "some thinking here"},
    "alone": {"content": None, "reasoning_content": "only thinking"},
    "newer": {"content": "B", "reasoning": "vllm style"},
    "null": {"content": None},
}
"""What the server answers to each question."""
ROWS = tuple(MESSAGES)
PROGRESS, OUT = "{PROGRESS}", "{OUT}"
"""Stand for the URL that progress is posted to, and for the folder of the run."""


def body_of(row: str) -> dict[str, Any]:
    """A request before the pipeline."""
    message = {"role": "user", "content": f"Q: {row}"}
    return {"model": "m", "messages": [message], "temperature": 0.0, "max_tokens": 4096, "top_p": 1.0}


def step(name: str, **config: Any) -> dict[str, Any]:
    return {"name": name, "config": config}


TRACKED = {"use_progress_tracking": True, "progress_tracking_url": PROGRESS}
TOKENS = {"start_reasoning_token": "[T]", "end_reasoning_token": "[/T]"}
CASES: dict[str, dict[str, Any]] = {
    "none": {},
    "system": {"use_system_prompt": True, "custom_system_prompt": "Sys; $(id)\n{{x}}"},
    "system append": {"interceptors": [step("system_message", system_message="S", strategy="append"), "endpoint"]},
    "system replace": {"interceptors": [step("system_message", system_message="S", strategy="replace"), "endpoint"]},
    "two systems": {"interceptors": [step("system_message", system_message="S"), step("system_message", system_message="T", strategy="append"), "endpoint"]},
    "add": {"params_to_add": {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}, "temperature": 0.9}},
    "remove": {"params_to_remove": ["top_p", "role", "nothing"]},
    "remove content": {"params_to_remove": ["content"]},
    "rename": {"params_to_rename": {"max_tokens": "max_completion_tokens", "none": "x"}},
    "remove, add, rename": {"params_to_remove": ["top_p"], "params_to_add": {"top_p": 0.5, "a": 1}, "params_to_rename": {"a": "b", "top_p": "p"}},
    "rename in a chain": {"params_to_rename": {"max_tokens": "a", "a": "b"}},
    "rename onto": {"params_to_rename": {"max_tokens": "top_p"}},
    "headers": {"headers_to_add": {"X-A": "a;b $(id)", "x-b": "two"}, "headers_to_rename": {"authorization": "api-key"}},
    "headers chain": {"headers_to_add": {"X-A": "1"}, "headers_to_rename": {"X-A": "X-B"}, "headers_to_remove": ["AUTHORIZATION"]},
    "two modifiers": {"interceptors": [step("payload_modifier", params_to_add={"a": 1}), step("payload_modifier", params_to_rename={"a": "b"}), "endpoint"]},
    "system, then no messages": {"interceptors": [step("system_message", system_message="S"), step("payload_modifier", params_to_remove=["messages"]), "endpoint"]},
    "other messages, then system": {"interceptors": [
        step("payload_modifier", params_to_add={"messages": [{"role": "user", "content": "other: plain"}]}),
        step("system_message", system_message="S"), "endpoint"]},
    "disabled": {"interceptors": [{**step("system_message", system_message="S"), "enabled": False}, "endpoint"]},
    "reasoning": {"process_reasoning_traces": True},
    "reasoning by its old name": {"use_reasoning": True, "track_reasoning": True},
    "reasoning with tokens": {"process_reasoning_traces": True, **TOKENS},
    "reasoning emptied": {"process_reasoning_traces": True, "include_if_reasoning_not_finished": False},
    "reasoning with tokens emptied": {"process_reasoning_traces": True, **TOKENS, "include_if_reasoning_not_finished": False},
    "reasoning migrated": {"interceptors": ["endpoint", step("reasoning", migrate_reasoning_content=True, add_reasoning=False, enable_caching=False)]},
    "reasoning listed": {"interceptors": ["endpoint", step("reasoning", enable_caching=False, stats_file_saving_interval=2, logging_aggregated_stats_interval=5)]},
    "cache": {"use_caching": True, "caching_dir": f"{OUT}/mine"},
    "no cache": {"use_caching": False},
    "saved": {"use_caching": False, "save_requests": True, "save_responses": True, "max_saved_requests": 2, "max_saved_responses": 3, "generate_html_report": False},
    "saved, listed": {"interceptors": [step("caching", cache_dir=f"{OUT}/cache", reuse_cached_responses=True, save_requests=True), "endpoint"]},
    "requests logged": {"use_request_logging": True},
    "one request logged": {"use_request_logging": True, "max_logged_requests": 1},
    "all requests logged": {"interceptors": [step("request_logging", max_requests=None, log_request_headers=False), "endpoint"]},
    "replies logged": {"use_response_logging": True, "max_logged_responses": 4},
    "replies logged, listed": {"interceptors": ["endpoint", step("response_logging", log_response_headers=False, max_responses=2)]},
    "progress": {**TRACKED, "progress_tracking_interval": 4},
    "progress listed": {"interceptors": ["endpoint", step("progress_tracking", progress_tracking_url=PROGRESS, progress_tracking_interval=3)]},
    "progress put": {"interceptors": ["endpoint", step("progress_tracking", progress_tracking_url=PROGRESS, request_method="PUT", output_dir=OUT)]},
    "no statistics": {"tracking_requests_stats": False},
    "statistics listed": {"interceptors": ["endpoint", step("response_stats", collect_token_stats=True, cache_dir=f"{OUT}/stats", save_individuals=False)]},
    "report of two": {"html_report_size": 2},
    "report of all": {
        "interceptors": [step("caching", cache_dir=f"{OUT}/cache", save_requests=True), "endpoint"],
        "post_eval_hooks": [step("post_eval_report", report_types=["json"], html_report_size=None)]},
    "report as HTML": {"include_json": False},
    "no report": {"generate_html_report": False},
    "failures logged": {"log_failed_requests": True},
    "client errors": {"use_raise_client_errors": True},
    "client errors in a range": {"interceptors": ["endpoint", step("raise_client_errors", exclude_status_codes=[404], status_code_range_start=400, status_code_range_end=450)]},
    "client errors by number": {"interceptors": ["endpoint", step("raise_client_errors", status_codes=[418])]},
    "everything": {
        "use_system_prompt": True, "custom_system_prompt": "S", "params_to_add": {"k": 1}, "params_to_remove": ["top_p"],
        "params_to_rename": {"max_tokens": "max_completion_tokens"}, "headers_to_add": {"X-A": "b"}, "use_request_logging": True,
        "use_response_logging": True, "process_reasoning_traces": True, "log_failed_requests": True, **TRACKED},
}
FAILING: dict[str, dict[str, int]] = {
    "failures logged": {"lone": 422, "think": 503}, "client errors": {"twice": 422}, "client errors in a range": {"twice": 404},
    "client errors by number": {"open": 418}, "everything": {"lone": 422},
}
"""Questions that the server answers with another status."""


class Stub(ThreadingHTTPServer):
    """The server; also takes the posts of progress."""

    daemon_threads = True

    def __init__(self, failing: dict[str, int] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.failing = failing or {}
        self.received: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet

    def do_POST(self) -> None:
        assert isinstance(self.server, Stub)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append({"method": self.command, "path": self.path, "headers": headers, "body": body})
        messages = body.get("messages") or [{}]
        row = str(messages[-1].get("content", "")).rpartition(" ")[2]
        status = self.server.failing.get(row, 200)
        answer: dict[str, Any] = {"error": {"message": f"status {status}"}}
        if status == 200:
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **MESSAGES.get(row, {"content": "B"})}}
            answer = {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}}
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(content))), ("Set-Cookie", "sid=cookie")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_PATCH = do_PUT = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


_TRANSPORT = ("host", "content-length", "content-type", "connection", "accept", "accept-encoding", "user-agent")


def seen(stub: Stub, posts: Stub) -> dict[str, Any]:
    """What reached the server, and what was posted."""
    first = stub.received[0] if stub.received else {"path": "", "headers": {}}
    return {
        "path": first["path"],
        "headers": {name: value for name, value in first["headers"].items() if name not in _TRANSPORT},
        "bodies": [each["body"] for each in stub.received],
        "posts": [[each["method"], each["body"]["samples_processed"]] for each in posts.received],
    }


def filled(adapter: Any, out: str, posts: Stub) -> Any:
    return json.loads(json.dumps(adapter).replace(OUT, out).replace(PROGRESS, posts.url))
