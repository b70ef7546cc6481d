"""Turns an answer into scores and an outcome. A scorer that raises, or whose judge fails, never becomes a zero.

Scorers run in the event loop while they are fast. A scorer that calls a model (a judge, `model_call_fn`) or is slow runs
in threads.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from msgspec import Struct

from benchwright.benchmarks import Answer, BenchmarkSpec, scores_of
from benchwright.core import Outcome, ReplyStatus, Row
from benchwright.engine._calls import SampleCalls
from benchwright.engine._group import StopAtOnce
from benchwright.engine._scorer_pace import SLOW_SCORER_S, ScorerPace
from benchwright.engine._threads import DaemonThreads
from benchwright.scorers import JudgeCall, JudgeFailedError, ScorerInput, Scores

_NOT_THE_SCORERS = (KeyboardInterrupt, StopAtOnce, asyncio.CancelledError, GeneratorExit)
"""Exceptions that end the run or the task and do not come from the scorer."""

_OUR_CODE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_LIBRARY = os.path.dirname(os.__file__) + os.sep


class _NeedsThread(SystemExit):
    """Raised when a scorer calls a model while it runs in the event loop. It is not an Exception, so that an `except
    Exception` in the scorer does not swallow it, and threads of the scorer end with it silently."""


class Scored(Struct, frozen=True):
    """The result of scoring one sample."""

    outcome: Outcome
    """How it ended."""
    scores: Scores | None
    """The scorer's numbers, if it returned any."""
    error: str | None
    """Why it returned none."""
    target: Any
    """The expected answer."""
    reason: str | None = None
    """The reason under which a judge's failure is counted."""


AskModel = Callable[[SampleCalls, int, Any, dict[str, Any]], Any]
"""`(sample, number, prompt, overrides)` → awaitable text: the `model_call_fn` of scorers."""
AskJudge = Callable[[SampleCalls, int, JudgeCall], Any]
"""`(sample, number, call)` → awaitable text."""


class Scoring:
    """Scores answers of one benchmark."""

    def __init__(
        self, spec: BenchmarkSpec, *, ask_model: AskModel, ask_judge: AskJudge, threads: int
    ) -> None:
        self._spec = spec
        self._target = spec.target_reader()
        self._ask_model = ask_model
        self._ask_judge = ask_judge
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._threads = DaemonThreads(threads, "benchwright-scorer")
        self._in_loop = False
        # A scorer declared `async` does not block.
        self.pace = ScorerPace(in_threads=not inspect.iscoroutinefunction(spec.scorer))
        """Where the scorer runs."""

    def close(self) -> None:
        """Release the threads."""
        self._threads.close()

    def target(self, row: Row) -> Any:
        """The expected answer of a row."""
        return self._target(row)

    def score(
        self, calls: SampleCalls, answer: Answer, given: tuple[Any] | None = None
    ) -> Scored | Awaitable[Scored]:
        """Score one answer, against another target if one is `given`. Returns the result if the scorer is fast, else an awaitable."""
        spec = self._spec
        target = self._target(calls.item.row) if given is None else given[0]
        if answer.skipped is not None:
            return Scored(Outcome.SKIPPED, None, answer.skipped, target)
        reply = answer.reply
        if reply is not None and reply.failure is not None:
            return Scored(Outcome.REQUEST_FAILED, None, reply.failure.message, target)
        if answer.broken is not None:
            return Scored(Outcome.SCORER_FAILED, None, answer.broken, target)
        live = _LiveCalls(self, calls)
        sample = ScorerInput(
            answer.response,
            target,
            answer.metadata,
            live.model_call,
            spec.config,
            answer.conversation,
            answer.turn_index,
            ask=live.ask,
        )
        if self.pace.in_threads:
            return self._later(live, sample, answer, None)
        started = perf_counter()
        self._in_loop = True
        failure: BaseException | None = None
        scores: Scores | None = None
        try:
            result = spec.score(sample)
            if type(result) is not dict and inspect.isawaitable(result):
                return self._later(live, sample, answer, result)
            scores = scores_of(result)
        except _NOT_THE_SCORERS:
            raise
        except BaseException as error:  # an error in a user's code fails only this sample
            failure = error
        finally:
            self._in_loop = False
        if live.refused:  # the result is void, because a question was not sent
            self.pace.asks_a_model()
            return self._later(live, sample, answer, None)
        took = perf_counter() - started
        if took > SLOW_SCORER_S:
            self.pace.slow_in_loop(took)
        if scores is None:
            return _failed(answer, failure, target)
        if reply is not None and reply.status == "answered" and _DECISIVE.isdisjoint(scores):
            return Scored(Outcome.SCORED, scores, None, target)  # same as `_outcome`, without the call
        return Scored(_outcome(answer, scores), scores, None, target)

    async def _later(
        self, live: _LiveCalls, sample: ScorerInput, answer: Answer, result: Awaitable[Any] | None
    ) -> Scored:
        """Await an `async` scorer, or run the scorer in a thread."""
        failure: BaseException | None = None
        scores: Scores | None = None
        try:
            if result is not None:
                scores = scores_of(await result)
            else:
                scores = await self._threads.run(self._run_in_thread, live, sample)
        except _NOT_THE_SCORERS:
            raise
        except BaseException as error:  # an error in a user's code fails only this sample
            failure = error
        if live.refused:
            self.pace.asks_a_model()
            live.refused = False
            return await self._later(live, sample, answer, None)
        if scores is None:
            return _failed(answer, failure, sample.target)
        return Scored(_outcome(answer, scores), scores, None, sample.target)

    def _run_in_thread(self, live: _LiveCalls, sample: ScorerInput) -> Scores:
        started = perf_counter()
        result = self._spec.score(sample)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        if live.questions:
            self.pace.asks_a_model()
        else:
            self.pace.took_in_thread(perf_counter() - started)
        return scores_of(result)

    def wait_for(self, question: Any) -> str:
        """Send a question from a scorer's thread through the event loop."""
        # While the scorer runs in the loop, threads that it started get no reply either, because the loop is busy.
        if self._in_loop or threading.get_ident() == self._loop_thread:
            question.close()
            raise _NeedsThread
        text: str = asyncio.run_coroutine_threadsafe(question, self._loop).result()
        return text

    def question(self, calls: SampleCalls, number: int, prompt: Any, overrides: dict[str, Any]) -> Any:
        """The awaitable of a `model_call_fn` call."""
        return self._ask_model(calls, number, prompt, overrides)

    def judge_question(self, calls: SampleCalls, number: int, call: JudgeCall) -> Any:
        """The awaitable of a judge's call."""
        return self._ask_judge(calls, number, call)


class _LiveCalls:
    """The calls that a scorer can make while it scores one sample. They are numbered, so that each is a separate step."""

    __slots__ = ("_calls", "_scoring", "questions", "refused")

    def __init__(self, scoring: Scoring, calls: SampleCalls) -> None:
        self._scoring = scoring
        self._calls = calls
        self.questions = 0
        """Questions so far."""
        self.refused = False
        """Whether a question could not be sent because the scorer ran in the event loop."""

    def model_call(self, prompt: Any, **overrides: Any) -> str:
        """Call the model under test: `model_call_fn(prompt_or_messages, temperature=…, max_tokens=…)` → text."""
        return self._wait(self._scoring.question(self._calls, self._number(), prompt, overrides))

    def ask(self, call: JudgeCall) -> str:
        """Call a judge."""
        return self._wait(self._scoring.judge_question(self._calls, self._number(), call))

    def _number(self) -> int:
        self.questions += 1
        return self.questions - 1

    def _wait(self, question: Any) -> str:
        try:
            return self._scoring.wait_for(question)
        except _NeedsThread:
            self.refused = True
            self.questions = 0  # the scorer runs again in a thread, with the same numbers
            raise


async def _awaited(result: Any) -> Any:
    return await result


def _failed(answer: Answer, error: BaseException | None, target: Any) -> Scored:
    text = str(error) or type(error).__name__
    if type(error).__module__ == "builtins":
        text = f"{type(error).__name__}: {text}"
    reason = error.reason if isinstance(error, JudgeFailedError) else None
    return Scored(_outcome(answer, None), None, f"scorer failed{_place(error)}: {text}", target, reason)


def _place(error: BaseException | None) -> str:
    """` at file.py:12`: the innermost line of the user's code."""
    place = ""
    trace = None if error is None else error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if not path.startswith((_OUR_CODE, _LIBRARY, "<")):
            place = f" at {os.path.basename(path)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


_DECISIVE = frozenset(("parsed", "response_parsed"))
"""Scores that decide an outcome. Without them, an answered sample that has scores is scored."""


def _outcome(answer: Answer, scores: Scores | None) -> Outcome:
    """The outcome. Empty, truncated and refused replies keep their outcome even if the scorer returned a number."""
    if answer.reply is None:
        status: ReplyStatus = "answered" if answer.response else "empty"
    else:
        status = answer.reply.status
    if status != "answered":
        if status == "empty":
            return Outcome.EMPTY
        if status == "truncated":
            return Outcome.TRUNCATED
        if status == "refused":
            return Outcome.REFUSED
    if scores is None:
        return Outcome.SCORER_FAILED
    if scores.get("parsed") is False or scores.get("response_parsed") is False:
        return Outcome.UNPARSED
    return Outcome.SCORED
