"""The calls of one sample: what a strategy asks passes here on its way to the ledger."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias

from benchwright.benchmarks import Answer, Strategy
from benchwright.core import ModelReply, ModelRequest, RequestFailure, call_key
from benchwright.endpoints import EmptyContinuationError, Endpoint, continuation_likelihood
from benchwright.engine._feed import WorkItem
from benchwright.engine._findings import ServerFindings
from benchwright.engine._ledger import RequestIdentity
from benchwright.engine._threads import DaemonThreads


class Ledger(Protocol):
    """Where calls pass: recorded and cached in a run, unrecorded before its first."""

    def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        item: WorkItem,
    ) -> Coroutine[Any, Any, ModelReply]:
        """The reply to `request`; `key` is None for the only call of a sample."""


class Calls:
    """The calls of a run to one endpoint."""

    def __init__(
        self,
        ledger: Ledger,
        endpoint: Endpoint,
        fingerprint: str,
        findings: ServerFindings,
        *,
        threads: int = 2,
        echo_tokens: int = 0,
    ) -> None:
        self._ledger = ledger
        self._endpoint = endpoint
        self._identity = RequestIdentity(fingerprint, findings.of(fingerprint))
        self._threads = DaemonThreads(threads, "benchwright-strategy")
        self._echo_tokens = echo_tokens

    def ask(self, key: str | None, request: ModelRequest, item: WorkItem) -> Coroutine[Any, Any, ModelReply]:
        """Send, or take from the record. Hands out the ledger's own coroutine: one frame less to resume."""
        return self._ledger.call(key, request, self._endpoint, self._identity, item)

    def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._threads.run(function, *arguments)

    def likelihood(self, reply: ModelReply, context: str, choice: str) -> tuple[float, bool] | ModelReply:
        try:
            if reply.echoed is None:
                raise EmptyContinuationError("the reply holds no echoed log-probabilities")
            found = continuation_likelihood(reply.echoed, context, choice, max_tokens=self._echo_tokens)
        except EmptyContinuationError as error:
            failure = RequestFailure("bad_reply", f"choice {choice!r}: {error}")
            return ModelReply("failed", failure=failure)
        return found.logprob, found.is_greedy


Answering: TypeAlias = Callable[[WorkItem], Coroutine[Any, Any, Answer]]
"""From a sample to the model's answer."""


def answering(strategy: Strategy, calls: Calls) -> Answering:
    """How samples are answered by one strategy over these calls."""

    def answer(item: WorkItem) -> Coroutine[Any, Any, Answer]:
        return strategy.answer(item.row, item.repeat, SampleCalls(calls, item))

    return answer


class SampleCalls:
    """What a strategy is given to reach the model for one sample (`benchmarks.Asking`)."""

    __slots__ = ("_calls", "_item", "in_thread", "likelihood")

    def __init__(self, calls: Calls, item: WorkItem) -> None:
        self._calls = calls
        self._item = item
        self.in_thread = calls.in_thread
        self.likelihood = calls.likelihood

    def ask(self, request: ModelRequest, part: str | None = None) -> Coroutine[Any, Any, ModelReply]:
        """The reply, sent for or taken from the record."""
        item = self._item
        key = None if part is None else call_key(item.index, item.repeat, part)
        return self._calls.ask(key, request, item)
