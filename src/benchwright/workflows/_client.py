"""`BenchwrightClient`: records runs and steps over the REST interface, which any language could use, and waits for servers
that restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from msgspec import Struct

from benchwright.core import JsonObject, JsonValue, clause, load_exact_json, load_json
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._environment import DEFAULT_BASE_URL, read_environment
from benchwright.workflows._recorder import ApiError, WorkflowError

if TYPE_CHECKING:
    from pyreqwest.client import Client

_CONNECT_TIMEOUT = timedelta(seconds=10)
_TIMEOUT = timedelta(minutes=5)
_PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 5.0, 8.0, 10.0)
"""Pauses before further attempts of a request without an answer: half a minute in total, for a server to restart."""


class HttpAnswer(NamedTuple):
    """The answer to a request."""

    status: int
    """Status code."""
    body: bytes
    """The whole body."""


class HttpSession(Protocol):
    """Sends requests. Pass another one to share connections, or in a test."""

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, again: bool
    ) -> HttpAnswer:
        """Send one request; `again`: sending it twice does no harm. Raises `ApiError` if there is no answer."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class ReqwestSession:
    """Implements `HttpSession`. Connects on first use; loopback is never proxied."""

    def __init__(self) -> None:
        self._clients: dict[bool, Client] = {}

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, again: bool
    ) -> HttpAnswer:
        from pyreqwest.exceptions import ConnectError, PyreqwestError

        from benchwright.endpoints import innermost_cause

        pauses = list(_PAUSES_S)
        while True:
            try:
                return await self._once(method, url, headers, body, again)
            except PyreqwestError as error:
                # A refused connection sent nothing; any other failure may have come after the server acted.
                if not pauses or not (again or isinstance(error, ConnectError)):
                    raise ApiError(
                        f"no answer from {url}: {clause(innermost_cause(error))}. Is the server running? Start it with: benchwright serve",
                        code="no_answer",
                        retryable=True,
                    ) from error
            await asyncio.sleep(pauses.pop(0))

    async def close(self) -> None:
        while self._clients:
            await self._clients.popitem()[1].close()

    async def _once(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, again: bool
    ) -> HttpAnswer:
        if again not in self._clients:
            from pyreqwest.client import ClientBuilder

            builder = ClientBuilder().follow_redirects(False).connect_timeout(_CONNECT_TIMEOUT).no_proxy()
            if not again:
                # A kept connection that a restarted server has closed fails as if the request had arrived. A request that
                # must not be sent twice gets a new connection, whose refusal is certain.
                builder = builder.pool_max_idle_per_host(0)
            self._clients[again] = builder.timeout(_TIMEOUT).build()
        request = self._clients[again].request(method, url).headers(headers)
        if body is not None:
            request = request.body_bytes(body)
        response = await request.build().send()
        return HttpAnswer(response.status, (await response.bytes()).to_bytes())


MEDIA_TYPE = "application/vnd.benchwright+json"
"""Clients that accept this type get errors as objects with a code; others get the message as plain text."""


class RunRecord(Struct, frozen=True):
    """A workflow run, as the REST interface returns it."""

    id: int
    """Number in the workspace."""
    workflow_name: str
    status: str
    """queued, running, interrupted, completed, failed or canceled."""
    input: JsonValue
    started_at: str
    """RFC 3339, UTC."""
    finished_at: str | None
    """RFC 3339, UTC; None while it runs."""
    error: str | None
    """Why it failed or stopped."""
    output: JsonValue = None
    """The result of its handler."""


class StepParams(Struct, frozen=True):
    """A step for `BenchwrightRun.step`."""

    key: str
    """The key of the step; unique in its run."""
    execute: Callable[[], Awaitable[Any] | Any]
    """The function that it executes."""
    input_value: Any = None
    """The value that its output depends on."""


class WorkflowClient(Protocol):
    """Access to runs and their records, over HTTP or in the workspace of this process."""

    async def health(self) -> JsonObject:
        """Identify the server."""
        ...

    async def create_run(self, name: str, input_value: Any = None) -> BenchwrightRun:
        """Record a new run."""
        ...

    async def get_run(self, run_id: int | None = None) -> RunRecord:
        """One run; without a number, the one that the environment names."""
        ...

    async def complete_run(self, run_id: int) -> None:
        """End a run as completed."""
        ...

    async def set_run_output(self, run_id: int, value: Any) -> None:
        """Record the output of a run."""
        ...

    async def fail_run(self, run_id: int, error: str) -> None:
        """End a run as failed."""
        ...

    async def emit_metric(self, run_id: int, name: str, value: float, unit: str | None = None) -> None:
        """Record a metric point."""
        ...

    async def run_step(
        self, *, run_id: int, step_key: str, input_value: Any, execute: Callable[[], Awaitable[Any] | Any]
    ) -> Any:
        """Execute a step once."""
        ...

    async def close(self) -> None:
        """Release resources."""
        ...


class BenchwrightRun(Struct, frozen=True):
    """A run that a client has created."""

    client: WorkflowClient
    """The client that records it."""
    id: int
    """Its number."""

    async def step(self, params: StepParams) -> Any:
        """Execute a step once."""
        return await self.client.run_step(
            run_id=self.id, step_key=params.key, input_value=params.input_value, execute=params.execute
        )

    async def complete(self) -> None:
        """End the run as completed."""
        await self.client.complete_run(self.id)

    async def fail(self, error: str) -> None:
        """End the run as failed."""
        await self.client.fail_run(self.id, error)

    async def emit(self, metric_name: str, metric_value: float, unit: str | None = None) -> None:
        """Record a metric point."""
        await self.client.emit_metric(self.id, metric_name, metric_value, unit)


class BenchwrightClient:
    """Implements `WorkflowClient` over HTTP. An asynchronous context manager.

    `base_url` and `token` come from BENCHWRIGHT_BASE_URL and BENCHWRIGHT_TOKEN if they are not given.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        token: str | None = None,
        session: HttpSession | None = None,
    ) -> None:
        surroundings = read_environment()
        self.base_url = (base_url or surroundings.base_url or DEFAULT_BASE_URL).rstrip("/")
        token = token or surroundings.token
        self._headers = {"Content-Type": "application/json", "Accept": f"{MEDIA_TYPE}, application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._session = session or ReqwestSession()
        self._owns_session = session is None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close connections, unless the caller passed the session."""
        if self._owns_session:
            await self._session.close()

    async def health(self) -> JsonObject:
        """Identify the server: service, version, workspace."""
        return await self.call("GET", "/health")

    async def create_run(self, name: str, input_value: Any = None) -> BenchwrightRun:
        text = None if input_value is None else stable_stringify(input_value)
        answer = await self.call("POST", "/runs", {"workflow_name": name, "input": text}, again=False)
        return BenchwrightRun(self, _number(answer, "run_id"))

    async def get_run(self, run_id: int | None = None) -> RunRecord:
        """One run; without a number, the one that BENCHWRIGHT_RUN_ID names."""
        run_id = run_id if run_id is not None else own_run_id()
        answer = await self.call("GET", f"/runs/{run_id}")
        return RunRecord(
            id=_number(answer, "id"),
            workflow_name=str(answer.get("workflow_name")),
            status=str(answer.get("status")),
            input=_parsed(answer.get("input")),
            started_at=str(answer.get("started_at")),
            finished_at=_text(answer.get("finished_at")),
            error=_text(answer.get("error")),
            output=_parsed(answer.get("output")),
        )

    async def complete_run(self, run_id: int) -> None:
        await self.call("POST", f"/runs/{run_id}/complete", {})

    async def set_run_output(self, run_id: int, value: Any) -> None:
        await self.call("POST", f"/runs/{run_id}/output", {"output": stable_stringify(value)})

    async def fail_run(self, run_id: int, error: str) -> None:
        await self.call("POST", f"/runs/{run_id}/fail", {"error": error})

    async def emit_metric(self, run_id: int, name: str, value: float, unit: str | None = None) -> None:
        body: JsonObject = {"metric_name": name, "metric_value": value, "unit": unit}
        await self.call("POST", f"/runs/{run_id}/metrics", body, again=False)

    async def run_step(
        self, *, run_id: int, step_key: str, input_value: Any, execute: Callable[[], Awaitable[Any] | Any]
    ) -> Any:
        from benchwright.workflows._context import WorkflowContext
        from benchwright.workflows._http import HttpRecorder

        ctx = WorkflowContext(HttpRecorder(self, run_id), "", self)
        return await ctx.step(step_key=step_key, execute=execute, input_value=input_value)

    async def call(
        self, method: str, path: str, body: JsonObject | None = None, *, again: bool = True
    ) -> JsonObject:
        """Send one request and return its answer; `again`: sending it twice does no harm. Raises `ApiError` for a refusal."""
        # Lone surrogates become question marks, as a store on this machine keeps them: a server takes no body that has any.
        content = (
            None
            if body is None
            else json.dumps(body, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
        )
        answer = await self._session.request(
            method, self.base_url + path, headers=self._headers, body=content, again=again
        )
        if not 200 <= answer.status < 300:
            raise api_error(answer)
        try:
            read = load_exact_json(answer.body or b"{}")
        except ValueError:
            read = None
        if not isinstance(read, dict):
            raise ApiError(
                f"{self.base_url}{path} answered something that is not a JSON object. Is that address a benchwright server?",
                status=answer.status,
            )
        return read


def api_error(answer: HttpAnswer) -> ApiError:
    """The error of a refusal: the `error` of a JSON object, else the body, else the status."""
    text = answer.body.decode("utf-8", "replace")
    try:
        body = load_json(text)
    except ValueError:
        body = None
    refused = body.get("error") if isinstance(body, dict) else None
    if isinstance(refused, dict):
        hint = refused.get("hint")
        message = f"{refused.get('message')} {hint}" if hint else str(refused.get("message"))
        return ApiError(
            message,
            status=answer.status,
            code=_text(refused.get("code")),
            retryable=refused.get("retryable") is True,
        )
    message = refused if isinstance(refused, str) and refused else text.strip() or f"HTTP {answer.status}"
    return ApiError(message, status=answer.status)


def own_run_id() -> int:
    """The run that this process was started to execute."""
    run_id = read_environment().run_id
    if run_id is None:
        raise WorkflowError("no run is named: give its number, or set BENCHWRIGHT_RUN_ID")
    return run_id


def _number(answer: JsonObject, name: str) -> int:
    value = answer.get(name)
    if not isinstance(value, int):
        raise ApiError(f"the server's answer has no number {name!r}: {answer!r}")
    return value


def _text(value: JsonValue) -> str | None:
    return None if value is None else str(value)


def _parsed(value: JsonValue) -> JsonValue:
    """Decode an input or output, which is sent as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        parsed = load_exact_json(value)
    except ValueError:
        return value
    return parsed
