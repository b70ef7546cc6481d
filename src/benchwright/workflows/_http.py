"""Records a run on a server, for a workflow process that knows only a URL.

In addition to the documented fields, requests have fields that make them safe to send twice: `holder` identifies a call of
`begin`, `attempt` the attempt that ends, `slot` a metric point. A server may ignore them.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress

from benchwright.core import JsonObject, JsonValue, RunStatus, UsageError
from benchwright.store import BeginDecision, StepRequest
from benchwright.workflows._client import BenchwrightClient
from benchwright.workflows._recorder import ApiError

_LAST_WORD_S = 5.0
"""How long a cancelled step may take to report its end."""


class HttpRecorder:
    """Implements `Recorder` over REST."""

    def __init__(self, client: BenchwrightClient, run_id: int) -> None:
        self._client = client
        self._beats = True
        self.run_id = run_id

    async def begin(self, request: StepRequest) -> BeginDecision:
        request = request._replace(holder=request.holder or secrets.token_hex(8))
        body: JsonObject = {
            "run_id": self.run_id,
            "step_key": request.key,
            "input_hash": request.input_hash,
            "input": None if request.input is None else request.input.decode(),
            "on_input_change": request.on_input_change,
            "cache": request.cache,
            "holder": request.holder,
        }
        answer = await self._client.call("POST", "/steps/begin", body)
        if answer.get("decision") == "reuse":
            output = answer.get("output")
            return BeginDecision(
                "reuse", _number(answer, "step_id", 0), _number(answer, "attempt", 1), _bytes(output)
            )
        if "step_id" not in answer:
            raise ApiError(f"the server's answer to /steps/begin names no step: {answer!r}")
        return BeginDecision(
            "run",
            _number(answer, "step_id", 0),
            _number(answer, "attempt", 1),
            generation=_number(answer, "generation", 1),
            failures=_number(answer, "failures", 0),
        )

    async def complete(self, step_id: int, attempt: int, output: bytes) -> None:
        body: JsonObject = {"step_id": step_id, "output": output.decode(), "attempt": attempt}
        await self._client.call("POST", "/steps/complete", body)

    async def fail(self, step_id: int, attempt: int, error: str, *, interrupted: bool = False) -> None:
        body: JsonObject = {"step_id": step_id, "error": error, "attempt": attempt}
        if not interrupted:
            await self._client.call("POST", "/steps/fail", body)
            return
        # The task is being cancelled, so the request gets a separate task and a moment.
        reporting = asyncio.ensure_future(
            self._client.call("POST", "/steps/fail", {**body, "interrupted": True})
        )
        reporting.add_done_callback(
            lambda task: task.cancelled() or task.exception()
        )  # otherwise asyncio prints it
        with suppress(TimeoutError, ApiError):
            await asyncio.wait_for(asyncio.shield(reporting), _LAST_WORD_S)
        reporting.cancel()

    async def emit(
        self,
        name: str,
        value: float,
        *,
        unit: str | None = None,
        tags: JsonObject | None = None,
        step_id: int | None = None,
        attempt: int = 0,
        slot: int | None = None,
    ) -> None:
        number = _finite(name, value)
        body: JsonObject = {"metric_name": name, "metric_value": number, "unit": unit}
        extra: JsonObject = {"tags": tags, "step_id": step_id, "attempt": attempt or None, "slot": slot}
        body.update({field: given for field, given in extra.items() if given is not None})
        await self._client.call("POST", f"/runs/{self.run_id}/metrics", body, again=slot is not None)

    async def event(
        self, kind: str, message: str, *, data: JsonValue = None, step_id: int | None = None
    ) -> None:
        body: JsonObject = {"type": kind, "message": message, "data": data, "step_id": step_id}
        await self._client.call("POST", f"/runs/{self.run_id}/events", body, again=False)

    async def set_output(self, output: bytes) -> None:
        await self._client.call("POST", f"/runs/{self.run_id}/output", {"output": output.decode()})

    async def finish(
        self, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        if status == "completed":
            if output is not None:
                await self.set_output(output)
            body: JsonObject = {} if output is None else {"output": output.decode()}
            await self._client.call("POST", f"/runs/{self.run_id}/complete", body)
            return
        body = {"error": error or status}
        if status != "interrupted":
            await self._client.call("POST", f"/runs/{self.run_id}/fail", body)
            return
        try:  # the user wants to leave, so a missing server is not waited for
            async with asyncio.timeout(_LAST_WORD_S):
                await self._client.call("POST", f"/runs/{self.run_id}/fail", {**body, "interrupted": True})
        except TimeoutError:
            raise ApiError("the server did not answer", code="no_answer", retryable=True) from None

    async def heartbeat(self) -> None:
        """Report that the process is alive; a server without this route gets only one such request."""
        if not self._beats:
            return
        try:
            await self._client.call("POST", f"/runs/{self.run_id}/heartbeat", {})
        except ApiError as error:
            self._beats = error.status not in (404, 405)

    async def close(self) -> None:
        """Do nothing; the code that created the client closes it."""


def _number(answer: JsonObject, name: str, otherwise: int) -> int:
    value = answer.get(name)
    return value if isinstance(value, int) else otherwise


def _bytes(text: JsonValue) -> bytes | None:
    return text.encode() if isinstance(text, str) else None


def _finite(name: str, value: float) -> float:
    import math

    number = float(value)
    if not math.isfinite(number):
        raise UsageError(f"metric {name!r} is {value!r}; expected a finite number")
    return number
