"""Every model call of a run passes here: recorded already? known from an earlier run? else sent and recorded.

The key of a request covers all that can change the answer: endpoint, adapter version, route, full body, and its
number among equal requests. Failed replies are recorded for this run but never offered to another.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from benchwright.core import (
    ADAPTER_VERSION,
    CallRecord,
    ModelReply,
    ModelRequest,
    RequestFailure,
    Route,
    StepRow,
    call_key,
    encode_json,
    is_redacted,
    reply_from_json,
    reply_to_json,
    row_hash,
)
from benchwright.endpoints import setting_advice
from benchwright.engine._feed import WorkItem
from benchwright.engine._token_estimate import estimated_tokens
from benchwright.store import StepWriter, Store

if TYPE_CHECKING:
    from benchwright.endpoints import Endpoint
    from benchwright.engine._findings import EndpointFindings
    from benchwright.engine._progress import Progress
    from benchwright.engine._stop import Stop


class CallLedger:
    """The durable calls of one run."""

    def __init__(
        self, *, run_id: int, store: Store, writer: StepWriter, stop: Stop, progress: Progress, cache: bool
    ) -> None:
        self._run_id = run_id
        self._store = store
        self._writer = writer
        self._stop = stop
        self._progress = progress
        # Asked once: in a workspace without replies no look-up is made at all.
        self._look_up = cache and store.index_replies()
        self._known = _KnownReplies(store, run_id)
        self.sent = 0
        """Requests sent by this start, retries included."""
        self.retries = 0
        """How many of them repeated a failed attempt."""
        self.cached = 0
        """Calls answered by an earlier run."""

    async def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        item: WorkItem,
    ) -> ModelReply:
        """The reply to `request`, recorded under `key`; without one it is the sample's only call, which is held
        for its score."""
        asked, attempts = request, 0
        adapter = identity.findings.adapter
        number = item.copy if key is None else identity.number(key, asked, item)
        while True:
            request = adapter.apply(asked)  # looked up and recorded as it is sent
            digest = identity.hash(request, number)
            if item.recorded is not None:
                known = self.recorded(key, digest, request, identity, item)
                if known is not None:
                    return known
            if self._look_up:
                output = await self._known.find(digest)
                if output is None and key is not None and is_first_of_judge(key, number):
                    # Older versions gave equal questions to a judge no numbers: such a reply is the first's.
                    output = await self._known.find(identity.hash(request))
                if output is not None and not _was_cut(output, request, endpoint):
                    return self.adopt(key, digest, request, output, item, identity)
            if not self._stop.may_send():
                item.out_of_budget = True
                return BUDGET_SPENT
            reply = await endpoint.send(request)
            self.sent += reply.attempts
            if reply.attempts > 1:
                self.retries += reply.attempts - 1
            failure = reply.failure
            if failure is None or not adapter.learn(request, failure):
                break
            attempts += reply.attempts
            self.retries += 1
        if failure is not None and (self._stop.stopped or failure.kind == "budget"):
            item.out_of_budget = True  # cut off, not failed: a resume asks again
            return reply
        if failure is not None:
            reply = advised(reply, failure, request)
        elif request is not asked:
            reply = adapter.finish(asked, reply)
        if attempts:
            reply = reply._replace(attempts=reply.attempts + attempts)
        if reply.served is not None:
            identity.findings.saw(reply.served)
        usage = reply.usage
        if usage is not None:
            self._stop.spent(usage.prompt + usage.completion)
        elif self._stop.limits_tokens and failure is None:
            self._stop.spent_about(estimated_tokens(request.body, reply))
        output, started = encode_json(reply_to_json(reply)), reply.started_at
        self._record(key, item, request, digest, output, failure is None, started, started + reply.latency_s)
        return reply

    def _record(
        self, key: str | None, item: WorkItem, request: ModelRequest,
        digest: bytes, output: bytes, reusable: bool, started_at: float, finished_at: float,
    ) -> None:  # fmt: skip
        kept = request.payload if request.record is None else request.record
        if key is None:
            item.held = CallRecord("", digest, kept, output, reusable, started_at, finished_at)
        else:
            # Not awaited: the sample's score is appended behind it, and whoever awaits that has both.
            self._writer.append((StepRow(key, digest, kept, output, reusable, started_at, finished_at),))

    def recorded(
        self, key: str | None, digest: bytes, request: ModelRequest, identity: RequestIdentity, item: WorkItem
    ) -> ModelReply | None:
        """What an earlier start of this run recorded under `key`, if it is the reply to this very request. Older
        versions did not number equal requests."""
        if item.recorded is None:
            return None
        key = key or call_key(item.index, item.repeat)
        known = item.recorded.get(key)
        if known is None:
            return None
        if known.input_hash in (digest, identity.hash(request)) and not is_redacted(known.output):
            return reply_from_json(orjson.loads(known.output))
        # Asked differently now, so that the old reply is another's; or stored without a secret it held, so that
        # its score might differ.
        self._store.forget_step(self._run_id, key)
        return None

    async def known_elsewhere(self, digest: bytes) -> bytes | None:
        """An equal request's output in another run, where the settings allow to take it."""
        return await self._known.find(digest) if self._look_up else None

    def adopt(
        self, key: str | None, digest: bytes, request: ModelRequest, output: bytes, item: WorkItem,
        identity: RequestIdentity,
    ) -> ModelReply:  # fmt: skip
        """Record another run's reply as one of this run's."""
        self.cached += 1
        self._progress.cached += 1
        now = time.time()
        self._record(key, item, request, digest, output, False, now, now)
        reply = reply_from_json(orjson.loads(output))
        if reply.served is not None:
            identity.findings.saw(reply.served)
        return reply


class _KnownReplies:
    """Looks replies of earlier runs up: all that are needed in one turn of the event loop, together."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store = store
        self._run_id = run_id
        self._waiting: dict[bytes, list[asyncio.Future[bytes | None]]] = {}
        self._answering: set[asyncio.Task[None]] = set()  # a task that nobody refers to may be lost

    async def find(self, digest: bytes) -> bytes | None:
        """The reply to an equal request of another run; None if there is none."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            task = loop.create_task(self._answer())
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        found: asyncio.Future[bytes | None] = (
            loop.create_future()
        )  # one each: a worker that ends cancels its own
        self._waiting.setdefault(digest, []).append(found)
        return await found

    async def _answer(self) -> None:
        await asyncio.sleep(0)  # whoever else has a turn now joins
        waiting, self._waiting = self._waiting, {}
        replies: dict[bytes, bytes] = {}
        failure: Exception | None = None
        try:
            replies = await self._store.reusable(self._run_id, list(waiting))
        except Exception as error:  # whoever waits must learn of it
            failure = error
        for digest, futures in waiting.items():
            for future in futures:
                if future.done():
                    continue
                if failure is None:
                    future.set_result(replies.get(digest))
                else:
                    future.set_exception(failure)


def _was_cut(output: bytes, request: ModelRequest, endpoint: Endpoint) -> bool:
    """Whether a recorded reply is what came of a stream before it broke off. Earlier versions took `[DONE]` for the
    end of an answer and recorded it as whole; now it is a failure, and no such reply is recorded."""
    if not request.body.get("stream") or not getattr(endpoint, "ends_with_reason", False):
        return False
    return "f" not in orjson.loads(output)


BUDGET_SPENT = ModelReply(
    status="failed", failure=RequestFailure("budget", "not sent: the run's budget is spent"), attempts=0
)
"""What a call gets once nothing may be sent any more; never recorded."""


def advised(reply: ModelReply, failure: RequestFailure, request: ModelRequest) -> ModelReply:
    """The failed reply with the cure, where the server's words name a setting of the request."""
    if failure.kind != "rejected":
        return reply
    message = f"{failure.message}{setting_advice(failure, request.body)}"
    return reply._replace(failure=replace(failure, message=message))


def is_first_of_judge(key: str, number: int | str) -> bool:
    """Whether a call asks a judge what no call of its sample, or of a copy of its row, asked before."""
    return key.startswith("judge/") and str(number).startswith("0/0/")


class RequestIdentity:
    """Hashes requests to one endpoint, and has what is known of it. What all of them share is hashed once."""

    def __init__(self, fingerprint: str, findings: EndpointFindings) -> None:
        self._fingerprint = fingerprint
        self.findings = findings
        self._begun: dict[tuple[Route, int], hashlib.blake2b] = {}

    def number(self, key: str, request: ModelRequest, item: WorkItem) -> int | str:
        """The number of one of several calls of a sample among equal ones. Counts it.

        What a scorer asks may be the same for different rows, so there the row's identity is part of the number.
        """
        if item.asked is None:
            item.asked = {}
        plain = self.hash(request)
        again = item.asked.get(plain, 0)
        item.asked[plain] = again + 1
        if key.startswith("judge/") or "/m" in key:
            return f"{item.copy}/{again}/{row_hash(item.row_json).hex()}"
        return f"{item.copy}/{again}" if again else item.copy

    def hash(self, request: ModelRequest, number: int | str = 0) -> bytes:
        """16 bytes that stand for the request: endpoint, adapter version, route, repeat and full body, and its
        number among equal requests. The first has none, as in older versions.

        Of a body that holds files the record is hashed, which has the SHA-256 of each: as telling as the files
        themselves, without going over their megabytes again.
        """
        kind = (request.route, request.repeat)
        begun = self._begun.get(kind)
        if begun is None:
            begun = self._begun[kind] = self._begin(f"{request.route}|{request.repeat}|")
        if number:
            begun = self._begin(f"{request.route}|{request.repeat}+{number}|")
        digest = begun.copy()
        if request.record is None:
            digest.update(request.payload)
        else:
            digest.update(b"\0media\0")
            digest.update(request.record)
        return digest.digest()

    def _begin(self, rest: str) -> hashlib.blake2b:
        # TGI's replies are read differently since its stop texts are taken off them.
        version = ADAPTER_VERSION + (" api=tgi" in self._fingerprint)
        return hashlib.blake2b(f"{self._fingerprint}|{version}|{rest}".encode(), digest_size=16)
