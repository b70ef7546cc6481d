"""A small loopback server that speaks the documented REST table, on a store of its own, and can be made to misbehave."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchwright.core import BenchwrightError, NotFoundError, UsageError
from benchwright.store import Lease, RecordRefusedError, StepRequest, Workspace, open_store
from stored_workflows import (
    add_event,
    add_metric,
    begin_step,
    complete_step,
    created_workflow,
    fail_step,
    finish_workflow,
)


class Stub:
    """What the server knows, and how it misbehaves."""

    def __init__(self, folder: Path) -> None:
        self.store = open_store(Workspace(folder))
        self.leases: dict[int, Lease] = {}
        self.seen: list[tuple[str, str, Any]] = []
        self.authorization: set[str | None] = set()
        self.lose_answers_to: dict[str, int] = {}
        """Path → how many requests are acted upon and then not answered."""
        self.flat_errors = False
        self.url = ""
        self.lock = threading.Lock()

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _ in self.seen]

    def answer(self, method: str, path: str, body: Any) -> Any:
        for pattern, act in self._routes():
            if found := re.fullmatch(pattern, f"{method} {path}"):
                return act(*map(int, found.groups()), body)
        raise NotFoundError(f"no route {method} {path}")

    def _routes(self) -> list[tuple[str, Callable[..., Any]]]:
        return [
            (r"GET /health", lambda body: {}),
            (r"POST /runs", self._create),
            (r"GET /runs/(\d+)", self._get),
            (r"POST /runs/(\d+)/complete", lambda run, body: self._finish(run, "completed", None)),
            (r"POST /runs/(\d+)/fail", self._fail_run),
            (r"POST /runs/(\d+)/output", self._output),
            (r"POST /runs/(\d+)/metrics", self._metric),
            (r"POST /runs/(\d+)/events", self._event),
            (r"POST /steps/begin", self._begin),
            (r"POST /steps/complete", self._complete),
            (r"POST /steps/fail", self._fail),
        ]

    def _create(self, body: Any) -> Any:
        given = body["input"]
        lease = created_workflow(
            self.store, body["workflow_name"], input_json=None if given is None else given.encode()
        )
        self.leases[lease.run_id] = lease
        return {"run_id": lease.run_id}

    def _get(self, run_id: int, body: Any) -> Any:
        run = self.store.run(run_id)
        return {
            "id": run.id, "workflow_name": run.name, "status": run.status,
            "input": None if run.input is None else json.dumps(run.input),
            "output": None if run.output is None else json.dumps(run.output),
            "started_at": "2026-01-02T03:04:05.000006Z", "finished_at": None, "error": run.error,
        }  # fmt: skip

    def _finish(self, run_id: int, status: Any, error: str | None) -> Any:
        if self.store.run(run_id).status != status:  # else the request was sent twice
            finish_workflow(self.store, self.leases[run_id], status, error=error)
        return {}

    def _fail_run(self, run_id: int, body: Any) -> Any:
        return self._finish(run_id, "interrupted" if body.get("interrupted") else "failed", body["error"])

    def _output(self, run_id: int, body: Any) -> Any:
        self.store.update_run(run_id, output=body["output"].encode())
        return {}

    def _metric(self, run_id: int, body: Any) -> Any:
        add_metric(self.store, self.leases[run_id], body["metric_name"], body["metric_value"], unit=body["unit"],
            step_id=body.get("step_id"), attempt=body.get("attempt", 0), tags=body.get("tags"), slot=body.get("slot"),
        )  # fmt: skip
        return {}

    def _event(self, run_id: int, body: Any) -> Any:
        add_event(
            self.store,
            self.leases[run_id],
            body["type"],
            body["message"],
            data=body["data"],
            step_id=body["step_id"],
        )
        return {}

    def _begin(self, body: Any) -> Any:
        request = StepRequest(
            body["step_key"], body["input_hash"], body["input"].encode(), body["on_input_change"],
            body["cache"], body["holder"],
        )  # fmt: skip
        decision = begin_step(self.store, self.leases[body["run_id"]], request)
        if decision.kind == "reuse":
            assert decision.output is not None
            return {"decision": "reuse", "output": decision.output.decode()}
        return {"decision": "run", "step_id": decision.step_id, "attempt": decision.attempt}

    def _complete(self, body: Any) -> Any:
        step = self.store.workflow_step(body["step_id"])
        lease = self.leases[step.run_id]
        complete_step(self.store, lease, step.id, body["attempt"], body["output"].encode())
        return {}

    def _fail(self, body: Any) -> Any:
        step = self.store.workflow_step(body["step_id"])
        fail_step(self.store, self.leases[step.run_id], step.id, body["attempt"], body["error"],
            interrupted=body.get("interrupted", False),
        )  # fmt: skip
        return {}


@contextmanager
def rest_stub(folder: Path) -> Iterator[Stub]:
    """The server, on a free loopback port."""
    stub = Stub(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer("GET", None)

        def do_POST(self) -> None:
            self._answer("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, method: str, body: Any) -> None:
            with stub.lock:
                stub.seen.append((method, self.path, body))
                stub.authorization.add(self.headers.get("Authorization"))
                status, answer = self._act(method, body)
                lost = stub.lose_answers_to.get(self.path, 0)
                stub.lose_answers_to[self.path] = max(0, lost - 1)
            if lost:
                self.close_connection = True
                return
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _act(self, method: str, body: Any) -> tuple[int, Any]:
            try:
                return 200, stub.answer(method, self.path, body)
            except BenchwrightError as error:
                status, code = 500, "internal"
                if isinstance(error, NotFoundError):
                    status, code = 404, "not_found"
                elif isinstance(error, RecordRefusedError):
                    status, code = 409, error.code
                elif isinstance(error, UsageError):
                    status, code = 422, "invalid"
                if stub.flat_errors:
                    return status, {"error": str(error)}
                told = {"code": code, "message": str(error), "hint": None, "retryable": False}
                return status, {"error": told}

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        stub.store.close()
