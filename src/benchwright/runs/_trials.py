"""Asking again: one sample of a run with a changed request, sent to the run's model and scored. It is no part of the run."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from msgspec.structs import replace

from benchwright.core import (
    JsonObject,
    ModelReply,
    ModelRequest,
    NotFoundError,
    SampleRecord,
    UsageError,
    clause,
    encode_json,
    kind_title,
    load_data_json,
    load_exact_json,
)
from benchwright.datasets import hub_commits, recorded_pins
from benchwright.endpoints import Endpoint, open_endpoint
from benchwright.engine import Budget, Prepared, RunSettings, SampleWorker, WorkItem
from benchwright.results import StoreSamples
from benchwright.runs._resume import LOADING, benchmark_again, refuse_adopted
from benchwright.store import RunRecord, SampleSteps, Store, Trial


def ask_again(store: Store, run: RunRecord, sample: tuple[int, int], body: str, who: str) -> Trial:
    """Send the request of a sample with another body to the run's model, score the reply as the run did, and record both with their
    cost. Raises UsageError for a body that is none, and for a sample with several requests."""
    if run.kind != "benchmark":
        raise UsageError(
            f"run {run.id} is {kind_title(run.kind)}; only samples of benchmarks can be asked again"
        )
    refuse_adopted(run, "asked again")
    steps = _one_call(store, run, sample)
    changed = _body(body, steps)
    settings = replace(
        RunSettings.from_json(run.settings),
        cache=False,
        rescored_from=None,
        labels=None,
        budget=Budget(),
        parallelism=1,
    )
    if settings.changing_steps:
        raise UsageError(
            f"run {run.id} has a pipeline that changes requests or replies; its samples cannot be asked again one by one"
        )
    if not settings.endpoint.reusable:
        raise UsageError(f"the model of run {run.id} was a script of the process that ran it, which is gone")
    with LOADING, hub_commits(recorded_pins(run.manifest)):
        prepared = Prepared.of(benchmark_again(settings, None), settings)
    started = time.time()
    record, reply = asyncio.run(_asked(prepared, steps, changed))
    return store.add_trial(
        Trial(
            run_id=run.id,
            sample_id=sample[0],
            repeat=sample[1],
            who=who,
            created_at=started,
            content=_content(record, reply, changed, prepared),
        )
    )


def _one_call(store: Store, run: RunRecord, sample: tuple[int, int]) -> SampleSteps:
    found = next((each for each in store.samples(run.id, sample[0]) if each.repeat == sample[1]), None)
    if found is None:
        raise NotFoundError(
            f"run {run.id} has no sample {sample[0]}/{sample[1]}. Rows and repeats count from 0"
        )
    calls = [key for key in store.calls(run.id, sample[0], sample[0]) if int(key[15:19]) == sample[1]]
    if len(calls) != 1 or found.call_input is None or found.score_input is None:
        raise UsageError(
            f"sample {sample[0]}/{sample[1]} made {len(calls)} requests to the model; only a sample with one can be asked again"
        )
    return found


def _body(text: str, steps: SampleSteps) -> JsonObject:
    try:
        changed = load_data_json(text)
    except ValueError as error:
        raise UsageError(f"the request is not JSON: {clause(error)}") from None
    if not isinstance(changed, dict):
        raise UsageError('the request is not a JSON object such as {"messages": […]}')
    sent: Any = load_exact_json(steps.call_input or b"{}")
    for name in (
        "model",
        "stream",
        "stream_options",
        "n",
    ):  # they decide who answers, and how the reply is read
        if changed.get(name) != sent.get(name):
            raise UsageError(f"{name!r} is {changed.get(name)!r}; it stays {sent.get(name)!r}, as in the run")
    return changed


class _Changed:
    """An endpoint to which another body is sent than the one that the benchmark makes of the row."""

    def __init__(self, endpoint: Endpoint, body: JsonObject) -> None:
        self._endpoint, self._body = endpoint, body
        self.reply: ModelReply | None = None

    async def send(self, request: ModelRequest) -> ModelReply:
        """Send the other body."""
        if request.record is not None:
            raise UsageError(
                "the record of this request has no images or sounds; it cannot be sent again from here"
            )
        changed = replace(request, body=self._body, payload=encode_json(self._body))
        self.reply = await self._endpoint.send(changed)
        return self.reply


async def _asked(
    prepared: Prepared, steps: SampleSteps, body: JsonObject
) -> tuple[SampleRecord, ModelReply | None]:
    endpoint = open_endpoint(prepared.settings.endpoint)
    changed = _Changed(endpoint, body)
    row: Any = load_exact_json(steps.score_input or b"{}")
    try:
        async with SampleWorker(prepared.rows, prepared.settings, changed) as worker:
            record = await worker.do(WorkItem(steps.sample, steps.repeat, row))
    finally:
        await endpoint.aclose()
    if not isinstance(record, SampleRecord):
        raise UsageError("the request was not sent: a limit of the run forbids it")
    return record, changed.reply


def _content(
    record: SampleRecord, reply: ModelReply | None, body: JsonObject, prepared: Prepared
) -> JsonObject:
    steps = SampleSteps(
        record.sample_id, record.repeat, record.row, record.score_text(), encode_json(body),
        record.calls[0].output if record.calls else None,
    )  # fmt: skip
    (view,) = StoreSamples.views_of([steps])
    usage = None if reply is None else reply.usage
    price = prepared.prices.model
    spent = (
        None
        if price is None or usage is None
        else price.cost(usage.prompt, usage.completion, usage.cached or 0)
    )
    found: JsonObject = {
        "body": encode_json(body).decode(),
        "response": view.response,
        "reasoning": view.reasoning,
        "outcome": view.outcome,
        "verdict": view.verdict,
        "error": view.error,
        "scores": view.scores,
        "latency_s": view.latency_s,
        "prompt_tokens": view.prompt_tokens,
        "completion_tokens": view.completion_tokens,
        "cost": None if spent is None or price is None else {"amount": spent, "currency": price.currency},
    }
    return found
