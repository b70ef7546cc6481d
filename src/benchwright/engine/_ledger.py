"""Makes every model call of a run: takes the reply from the record or from an earlier run, or sends the request.

The key of a request covers everything that can change the answer: endpoint, adapter version, route, full body, and its
number among equal requests. Failed replies are recorded for this run but never offered to another.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from benchwright.benchmarks import estimate_tokens
from benchwright.core import (
    CallRecord,
    JsonObject,
    JsonValue,
    ModelReply,
    ModelRequest,
    RequestFailure,
    encode_json,
    is_redacted,
    step_key,
)
from benchwright.endpoints import RequestAdapter

if TYPE_CHECKING:
    from benchwright.endpoints import Endpoint
    from benchwright.engine._calls import RequestIdentity, SampleCalls
    from benchwright.engine._feed import WorkItem
    from benchwright.engine._journal import KnownReplies
    from benchwright.engine._progress import Progress
    from benchwright.engine._stop import Stop


class CallLedger:
    """The calls of one run. Needs no store; a run with a store passes in the replies of earlier runs."""

    def __init__(self, *, stop: Stop, progress: Progress, known: KnownReplies[bytes] | None = None) -> None:
        """`known` finds replies of earlier runs, if the settings allow reusing them."""
        self._stop = stop
        self._progress = progress
        self._known = known
        self.sent = 0
        """Requests sent by this start, retries included."""
        self.retries = 0
        self.sent_again = 0
        """How many of them repeated a failed attempt."""
        self.cached = 0
        """Calls answered by an earlier run."""
        self.elsewhere = 0
        """Replies of a rescored run that are not in the run it scores again."""

    async def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        sample: SampleCalls,
    ) -> ModelReply:
        """Return the reply to `request` and add it to the sample's calls under `key`. No key: it is the only call."""
        written, attempts, lost = request, 0, 0
        item, stop = sample.item, self._stop
        adapter = identity.findings.adapter
        number = item.copy if key is None else identity.number(key, written, sample)
        while True:
            if adapter.known:
                request = adapter.apply(written)  # looked up and recorded in the form that is sent
            digest = identity.hash(request, number)
            if item.recorded is not None:
                recorded = recorded_reply(key, digest, request, identity, item)
                if recorded is not None:
                    return recorded
            if self._known is not None:
                output = await self._known.find(digest)
                if output is None and key is not None and is_first_of_judge(key, number):
                    # Older versions did not number equal questions to a judge: such a reply belongs to the first one.
                    output = await self._known.find(identity.hash(request))
                if output is not None and not _was_cut(output, request, endpoint):
                    return self.adopt(key, digest, request, output, identity, sample)
            if not stop.unlimited and not stop.may_send():
                sample.cut_off = True
                return BUDGET_SPENT
            reply = await endpoint.send(request)
            self.sent += reply.attempts
            if reply.attempts > 1:
                self.retries += reply.attempts - 1 - reply.lost
                self.sent_again += reply.lost
            failure = reply.failure
            if failure is None or not adapter.learn(request, failure):
                break
            attempts, lost = attempts + reply.attempts, lost + reply.lost
            self.retries += 1
        if failure is not None:
            if reply.untried or failure.kind == "budget":
                stop.out_of_time()  # if the deadline ended the request, it is why the run stops
                sample.cut_off = True  # not failed for good: a resumed run sends it again
                return reply
            reply = advised(reply, failure, request)
        elif request is not written:
            reply = adapter.finish(written, reply)
        if attempts:
            reply = replace(reply, attempts=reply.attempts + attempts, lost=reply.lost + lost)
        if reply.served is not None:
            identity.findings.saw(reply.served)
        if stop.limits_tokens:
            self._account(request, reply)
        record, started = reply.to_json(), reply.started_at
        kept = request.payload if request.record is None else request.record
        call = CallRecord(
            key or "", digest, kept, encode_json(record), failure is None, started, started + record["l"]
        )
        if key is None:  # the same as `add`, without a function call
            sample.calls = (call,)
        else:
            sample.add(call)
        return reply

    def _account(self, request: ModelRequest, reply: ModelReply) -> None:
        """Count the tokens of a reply against the budget."""
        usage = reply.usage
        if usage is not None:
            self._stop.spent(usage.prompt + usage.completion)
        elif reply.failure is None:
            self._stop.spent_about(estimated_tokens(request.body, reply))

    async def known_elsewhere(self, digest: bytes) -> bytes | None:
        """The output of an equal request in another run, if the settings allow reusing it."""
        found = None if self._known is None else await self._known.find(digest)
        self.elsewhere += found is not None
        return found

    def adopt(
        self, key: str | None, digest: bytes, request: ModelRequest, output: bytes, identity: RequestIdentity,
        sample: SampleCalls,
    ) -> ModelReply:  # fmt: skip
        """Record another run's reply as one of this run's."""
        self.cached += 1
        self._progress.cached += 1
        now = time.time()
        kept = request.payload if request.record is None else request.record
        sample.add(CallRecord(key or "", digest, kept, output, False, now, now))
        reply = ModelReply.from_json(orjson.loads(output))
        if reply.served is not None:
            identity.findings.saw(reply.served)
        return reply


def recorded_reply(
    key: str | None, digest: bytes, request: ModelRequest, identity: RequestIdentity, item: WorkItem
) -> ModelReply | None:
    """The reply that an earlier start of this run recorded under `key`, if it belongs to exactly this request and no secret
    was removed from it. Older versions did not number equal requests."""
    if item.recorded is None:
        return None
    known = item.recorded.get(key or step_key("call", item.sample_id, item.repeat))
    if known is None or known.input_hash not in (digest, identity.hash(request)) or is_redacted(known.output):
        return None
    return ModelReply.from_json(orjson.loads(known.output))


def _was_cut(output: bytes, request: ModelRequest, endpoint: Endpoint) -> bool:
    """Whether a recorded reply is the beginning of a stream that broke off. Earlier versions took `[DONE]` for the end of an
    answer and recorded such replies as complete; now they are failures and are not recorded."""
    if not request.body.get("stream") or not getattr(endpoint, "ends_with_reason", False):
        return False
    return "f" not in orjson.loads(output)


BUDGET_SPENT = ModelReply(
    status="failed", failure=RequestFailure("budget", "not sent: the run's budget is spent"), attempts=0
)
"""The reply to calls after the run may send nothing more; never recorded."""


def advised(reply: ModelReply, failure: RequestFailure, request: ModelRequest) -> ModelReply:
    """Add a cure to a failed reply if the server's message names a setting of the request."""
    if failure.kind != "rejected":
        return reply
    message = f"{failure.message}{RequestAdapter.advice(failure, request.body)}"
    return replace(reply, failure=replace(failure, message=message))


def is_first_of_judge(key: str, number: int | str) -> bool:
    """Whether a call is the first one to a judge with this question, among its sample and copies of its row."""
    return key.startswith("judge/") and str(number).startswith("0/0/")


def estimated_tokens(body: JsonObject, reply: ModelReply) -> int:
    """Estimate the tokens of a call from the texts of the request and of the reply, including its reasoning.

    >>> estimated_tokens({"messages": [{"role": "user", "content": "12345678"}]}, ModelReply("answered", "abc"))
    3
    """
    sent = _text_chars(body.get("messages")) + _text_chars(body.get("prompt"))
    if "tools" in body:
        sent += len(encode_json(body["tools"]))
    return estimate_tokens(sent + len(reply.text) + len(reply.reasoning))


def _text_chars(value: JsonValue) -> int:
    """Characters of a text, of messages, or of the text parts of one; images and sounds have none."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(map(_text_chars, value))
    if isinstance(value, dict):
        return _text_chars(value.get("content")) + _text_chars(value.get("text"))
    return 0
