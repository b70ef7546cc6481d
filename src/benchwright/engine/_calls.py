"""The calls of samples to one endpoint: what a strategy or a scorer asks passes here on its way to the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from benchwright.core import (
    ADAPTER_VERSION,
    CallRecord,
    ModelReply,
    ModelRequest,
    RequestFailure,
    Route,
    call_key,
    row_hash,
)
from benchwright.engine._threads import DaemonThreads

if TYPE_CHECKING:
    from benchwright.endpoints import Endpoint
    from benchwright.engine._feed import WorkItem
    from benchwright.engine._findings import EndpointFindings


class Ledger(Protocol):
    """Where calls pass: recorded and cached in a run, unrecorded before its first."""

    def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        sample: SampleCalls,
    ) -> Coroutine[Any, Any, ModelReply]:
        """The reply to `request`; `key` is None for the only call of a sample."""


class Journal(Protocol):
    """Where calls are stored before their sample is done, so that a kill loses none that was paid for."""

    def keep(self, item: WorkItem, calls: Sequence[CallRecord]) -> Awaitable[None]:
        """Store calls of one sample; to be awaited by whoever needs to know that they are stored."""


class Calls:
    """Calls to one endpoint."""

    def __init__(
        self,
        ledger: Ledger,
        endpoint: Endpoint,
        fingerprint: str,
        findings: EndpointFindings,
        *,
        threads: int = 2,
        echo_tokens: int = 0,
    ) -> None:
        self.ledger = ledger
        self.endpoint = endpoint
        self.identity = RequestIdentity(fingerprint, findings)
        self._threads = threads
        self._pool: DaemonThreads | None = None
        self._echo_tokens = echo_tokens

    def ask(
        self, key: str | None, request: ModelRequest, sample: SampleCalls
    ) -> Coroutine[Any, Any, ModelReply]:
        """Send, or take from the record. Hands out the ledger's own coroutine: one frame less to resume."""
        return self.ledger.call(key, request, self.endpoint, self.identity, sample)

    def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Awaitable[Any]:
        """What a function gives that may block."""
        if self._pool is None:
            self._pool = DaemonThreads(self._threads, "benchwright-strategy")
        return self._pool.run(function, *arguments)

    def likelihood(self, reply: ModelReply, context: str, choice: str) -> tuple[float, bool] | ModelReply:
        """Log-probability of a candidate, and whether it is the greedy one; a failed reply if it has none."""
        from benchwright.endpoints import EmptyContinuationError, continuation_likelihood

        try:
            if reply.echoed is None:
                raise EmptyContinuationError("the reply holds no echoed log-probabilities")
            found = continuation_likelihood(reply.echoed, context, choice, max_tokens=self._echo_tokens)
        except EmptyContinuationError as error:
            failure = RequestFailure("bad_reply", f"choice {choice!r}: {error}")
            return ModelReply("failed", failure=failure)
        return found.logprob, found.is_greedy


class SampleCalls:
    """What a strategy is given to reach the model for one sample (`benchmarks.Asking`), and what came of it."""

    __slots__ = ("_calls", "_journal", "calls", "cut_off", "item", "numbers", "row")

    def __init__(self, calls: Calls, item: WorkItem, row: bytes, journal: Journal | None = None) -> None:
        self._calls = calls
        self._journal = journal
        self.item = item
        """The sample."""
        self.row = row
        """Its row as it was before a scorer could change it; its hash is the row's identity."""
        self.calls: tuple[CallRecord, ...] = ()
        """Calls that are not stored yet."""
        self.cut_off = False
        """Whether a call was not sent, or not finished: the sample then stays open for a resume."""
        self.numbers: dict[bytes, int] | None = None
        """Of samples with several calls: equal ones so far, by hash."""

    def ask(self, request: ModelRequest, part: str | None = None) -> Coroutine[Any, Any, ModelReply]:
        """The reply, sent for or taken from the record."""
        calls, item = self._calls, self.item
        key = None if part is None else call_key(item.sample_id, item.repeat, part)
        return calls.ledger.call(key, request, calls.endpoint, calls.identity, self)

    def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Awaitable[Any]:
        """What a function gives that may block."""
        return self._calls.in_thread(function, *arguments)

    def likelihood(self, reply: ModelReply, context: str, choice: str) -> tuple[float, bool] | ModelReply:
        """See `Calls.likelihood`."""
        return self._calls.likelihood(reply, context, choice)

    def add(self, call: CallRecord) -> None:
        """A finished call. The sample's only call waits for its score, with which it shares a row; others are stored
        at once where there is a journal."""
        if self._journal is None or not call.key:
            self.calls = (*self.calls, call) if self.calls else (call,)
        else:
            # Not awaited: the sample's score is stored after it, and whoever awaits that has both.
            self._journal.keep(self.item, (call,))

    def store_early(self) -> Awaitable[None] | None:
        """Store what waits for a score that takes longer than a reply should wait. None if nothing waits, or
        without a journal: then all calls are in the record of the sample."""
        if self._journal is None or not self.calls:
            return None
        waiting, self.calls = self.calls, ()
        return self._journal.keep(self.item, waiting)


class RequestIdentity:
    """Hashes requests to one endpoint, and has what is known of it. What all of them share is hashed once."""

    def __init__(self, fingerprint: str, findings: EndpointFindings) -> None:
        self._fingerprint = fingerprint
        self.findings = findings
        self._begun: dict[tuple[Route, int], hashlib.blake2b] = {}

    def number(self, key: str, request: ModelRequest, sample: SampleCalls) -> int | str:
        """The number of one of several calls of a sample among equal ones. Counts it.

        What a scorer asks may be the same for different rows, so there the row's identity is part of the number.
        """
        if sample.numbers is None:
            sample.numbers = {}
        plain, copy = self.hash(request), sample.item.copy
        again = sample.numbers.get(plain, 0)
        sample.numbers[plain] = again + 1
        if key.startswith("judge/") or "/m" in key:
            return f"{copy}/{again}/{row_hash(sample.row).hex()}"
        return f"{copy}/{again}" if again else copy

    def hash(self, request: ModelRequest, number: int | str = 0) -> bytes:
        """16 bytes that stand for the request: endpoint, adapter version, route, repeat and full body, and its
        number among equal requests. The first has none, as in older versions.

        Of a body that contains files the record is hashed, which has the SHA-256 of each: as telling as the files
        themselves, without going over their megabytes again.
        """
        if number:
            digest = self._begin(f"{request.route}|{request.repeat}+{number}|")
        else:
            kind = (request.route, request.repeat)
            begun = self._begun.get(kind)
            if begun is None:
                begun = self._begun[kind] = self._begin(f"{request.route}|{request.repeat}|")
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
