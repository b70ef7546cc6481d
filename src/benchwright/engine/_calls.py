"""The calls of samples to one endpoint: requests of strategies and scorers on their way to the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from benchwright.core import CallRecord, ModelReply, ModelRequest, Route, row_hash, step_key
from benchwright.engine._threads import DaemonThreads

if TYPE_CHECKING:
    from benchwright.endpoints import Endpoint
    from benchwright.engine._feed import WorkItem
    from benchwright.engine._findings import EndpointFindings


_ADAPTER_VERSION = 1
"""Raised when the same request body would be sent or read differently; part of every request key."""


class Ledger(Protocol):
    """Sends calls: recorded and cached during a run, unrecorded while it warms up."""

    def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        sample: SampleCalls,
    ) -> Coroutine[Any, Any, ModelReply]:
        """The reply to `request`; `key` is None for the only call of a sample."""


class CallJournal(Protocol):
    """Stores calls before their sample is done, so that a killed process loses no call that was paid for."""

    def keep(self, item: WorkItem, calls: Sequence[CallRecord]) -> Awaitable[None]:
        """Store calls of one sample. Await the result to be sure that they are stored."""


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
        """Send a request, or take the reply from the record. Returns the ledger's coroutine, which saves a frame."""
        return self.ledger.call(key, request, self.endpoint, self.identity, sample)

    def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Awaitable[Any]:
        """Call a function that may block, in a thread."""
        if self._pool is None:
            self._pool = DaemonThreads(self._threads, "benchwright-strategy")
        return self._pool.run(function, *arguments)

    def likelihood(self, reply: ModelReply, context: str, choice: str) -> tuple[float, bool] | ModelReply:
        """Log-probability of a candidate, and whether it is the greedy one; a failed reply if it has none."""
        from benchwright.endpoints import choice_likelihood

        return choice_likelihood(reply, context, choice, max_tokens=self._echo_tokens)


class SampleCalls:
    """Gives a strategy access to the model for one sample (implements `benchmarks.Asking`) and keeps the calls."""

    __slots__ = ("_calls", "_journal", "calls", "cut_off", "item", "numbers", "row")

    def __init__(self, calls: Calls, item: WorkItem, row: bytes, journal: CallJournal | None = None) -> None:
        self._calls = calls
        self._journal = journal
        self.item = item
        self.row = row
        """Its row as it was before a scorer could change it; its hash is the row's identity."""
        self.calls: tuple[CallRecord, ...] = ()
        """Calls that are not stored yet."""
        self.cut_off = False
        """Whether a call was not sent, or not finished: the sample then stays open for a resume."""
        self.numbers: dict[bytes, int] | None = None
        """For samples with several calls: the number of equal calls so far, by hash."""

    def ask(self, request: ModelRequest, part: str | None = None) -> Coroutine[Any, Any, ModelReply]:
        """Send a request, or take the reply from the record."""
        calls, item = self._calls, self.item
        key = None if part is None else step_key("call", item.sample_id, item.repeat, part)
        return calls.ledger.call(key, request, calls.endpoint, calls.identity, self)

    def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Awaitable[Any]:
        """Call a function that may block, in a thread."""
        return self._calls.in_thread(function, *arguments)

    def likelihood(self, reply: ModelReply, context: str, choice: str) -> tuple[float, bool] | ModelReply:
        """See `Calls.likelihood`."""
        return self._calls.likelihood(reply, context, choice)

    def add(self, call: CallRecord) -> None:
        """Add a finished call. The only call of a sample waits for the score, because both share a row; other calls are
        stored at once if there is a journal."""
        if self._journal is None or not call.key:
            self.calls = (*self.calls, call) if self.calls else (call,)
        else:
            # Not awaited: the score is stored later, and awaiting the score covers both.
            self._journal.keep(self.item, (call,))

    def store_early(self) -> Awaitable[None] | None:
        """Store a call whose score takes too long to wait for. Returns None if no call waits, or if there is no journal and
        all calls are in the record of the sample."""
        if self._journal is None or not self.calls:
            return None
        waiting, self.calls = self.calls, ()
        return self._journal.keep(self.item, waiting)


class RequestIdentity:
    """Hashes requests to one endpoint and keeps the findings about it. The part common to all requests is hashed once."""

    def __init__(self, fingerprint: str, findings: EndpointFindings) -> None:
        self._fingerprint = fingerprint
        self.findings = findings
        self._begun: dict[tuple[Route, int], hashlib.blake2b] = {}

    def number(self, key: str, request: ModelRequest, sample: SampleCalls) -> int | str:
        """Count a call of a sample with several calls, and return its number among equal calls.

        A scorer may send the same request for different rows, so the row's identity is part of the number there.
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
        """Hash a request to 16 bytes: endpoint, adapter version, route, repeat, full body, and its number among equal
        requests. The first of these has no number, as in older versions.

        If the body contains files, the record is hashed instead. It contains the SHA-256 of each file, which identifies
        the file without hashing its megabytes again.
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
        # Replies of TGI are read differently since benchwright removes stop texts from them.
        version = _ADAPTER_VERSION + (" api=tgi" in self._fingerprint)
        return hashlib.blake2b(f"{self._fingerprint}|{version}|{rest}".encode(), digest_size=16)
