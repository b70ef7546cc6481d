"""Calls that scorers make: judges, and `model_call_fn`. Durable and cached like every other call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.benchmarks import Generation
from benchwright.core import (
    BenchwrightError,
    JsonObject,
    ModelReply,
    ModelRequest,
    Route,
    encode_json,
    step_key,
)
from benchwright.demo import DemoSettings
from benchwright.endpoints import AdaptedEndpoint, EndpointSettings, OpenEndpoint, open_endpoint
from benchwright.engine._calls import Calls, SampleCalls
from benchwright.engine._findings import ServerFindings
from benchwright.engine._group import RunGroup
from benchwright.engine._ledger import CallLedger
from benchwright.engine._loop import in_event_loop
from benchwright.engine._stop import RetryGate
from benchwright.scorers import CutReply, JudgeCall, JudgeConfig, JudgeFailedError

if TYPE_CHECKING:
    from benchwright.engine._cost_limit import JudgeShares, Metering


class ModelCalls:
    """`sample.model_call_fn(prompt_or_messages, **overrides)`: a scorer's calls to the model under test."""

    def __init__(self, generation: Generation, route: Route) -> None:
        self._generation = generation
        self._route = route

    async def ask(self, sample: SampleCalls, number: int, prompt: Any, overrides: dict[str, Any]) -> str:
        """Return the reply's text. A failed request raises, which gives the sample the outcome `scorer_failed`."""
        asked = prompt if isinstance(prompt, list) else str(prompt)
        request = self._generation.but(**overrides).request(asked, self._route, repeat=sample.item.repeat)
        reply = await sample.ask(request, f"m{number:03d}")
        if reply.failure is not None:
            raise BenchwrightError(f"model_call_fn: {reply.failure.message}")
        return reply.text


class JudgeCalls:
    """Judges, one endpoint per judge configuration, opened on first use."""

    def __init__(
        self,
        ledger: CallLedger,
        parallelism: int,
        gate: RetryGate,
        group: RunGroup,
        findings: ServerFindings,
        metered: Metering | None = None,
        *,
        max_retries: int | None = None,
        shares: JudgeShares | None = None,
    ) -> None:
        self._shares = shares
        self._max_retries = max_retries
        self._ledger = ledger
        self._gate = gate
        self._group = group
        self._findings = findings
        self._parallelism = parallelism
        self._metered = metered
        self._open: dict[JudgeConfig, tuple[OpenEndpoint, Calls]] = {}

    async def ask(self, sample: SampleCalls, number: int, call: JudgeCall) -> str:
        """The judge's text, or `JudgeFailedError`."""
        item = sample.item
        if self._shares is not None:
            self._shares.enter(item)
        key = step_key("judge", item.sample_id, item.repeat, f"{number:03d}")
        reply = await self._calls(call.config).ask(key, judge_request(call, item.repeat), sample)
        return judge_text(reply)

    @property
    def retries(self) -> int:
        """Requests to judges that failed and were sent again."""
        return sum(endpoint.retries for endpoint, _ in self._open.values())

    @property
    def requests_sent(self) -> int:
        """Requests sent to judges, counting every attempt."""
        return sum(endpoint.requests_sent for endpoint, _ in self._open.values())

    async def aclose(self) -> None:
        """Close the judges' connections."""
        for endpoint, _ in self._open.values():
            await endpoint.aclose()

    def _calls(self, config: JudgeConfig) -> Calls:
        if config not in self._open:
            settings = judge_settings(config, self._parallelism, self._max_retries)
            endpoint: OpenEndpoint = open_endpoint(
                settings, gate=self._gate, limiter=self._group.limiter(settings), judge=True
            )
            if self._metered is not None:
                endpoint = self._metered(endpoint, config.model_id)
            fingerprint = settings.fingerprint()
            calls = Calls(self._ledger, endpoint, fingerprint, self._findings.of(fingerprint))
            self._open[config] = (endpoint, calls)
        return self._open[config][1]


_RETRIES = 16
"""Further attempts of judges, unless the judge or the run says otherwise."""


def judge_settings(
    config: JudgeConfig, parallelism: int, max_retries: int | None = None
) -> EndpointSettings | DemoSettings:
    """The endpoint that a judge's configuration describes, with the `max_retries` of the run if it has none."""
    if config.is_demo:
        return DemoSettings(model_id=config.model_id, parallelism=config.parallelism or parallelism)
    return EndpointSettings(
        url=config.url,
        model_id=config.model_id,
        api_key_name=config.api_key_name,
        request_timeout_s=config.request_timeout,
        max_retries=next(n for n in (config.max_retries, max_retries, _RETRIES) if n is not None),
        parallelism=config.parallelism or parallelism,
        verify=config.verify if config.ca_file is None else config.ca_file,
    )


def judge_request(call: JudgeCall, repeat: int = 0) -> ModelRequest:
    """The request for a question to a judge."""
    body: JsonObject = call.body
    return ModelRequest("chat", body, encode_json(body), repeat)


def judge_text(reply: ModelReply) -> str:
    """The judge's text. A reply without text counts as a failed judge."""
    if reply.failure is not None:
        raise JudgeFailedError(f"the judge gave no reply: {reply.failure.message}")
    if reply.status != "answered":
        raise JudgeFailedError(f"the judge's reply was {reply.status}")
    return CutReply(reply.text) if reply.finish_reason == "length" else reply.text


def ask_judge(call: JudgeCall) -> str:
    """Ask a judge outside a run, and return its text. Nothing is recorded."""
    reply: ModelReply = in_event_loop(_ask_once(call))
    return judge_text(reply)


async def _ask_once(call: JudgeCall) -> ModelReply:
    endpoint = open_endpoint(judge_settings(call.config, parallelism=1), judge=True)
    try:
        return await AdaptedEndpoint(endpoint).send(judge_request(call))
    finally:
        await endpoint.aclose()
