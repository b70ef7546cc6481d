"""From a work item to the model's answer: one small class per strategy, all with the same one method."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchwright.benchmarks import (
    BenchmarkSpec,
    Generation,
    MissingFieldError,
    Prompt,
    PromptBuilder,
    body_settings,
    chat_request,
    choice_request,
    completions_request,
    conversation_request,
    next_user_turn,
    open_conversation,
    resolve_choices,
    response_of,
    with_row_length,
)
from benchwright.core import JsonObject, ModelReply, ModelRequest, RequestFailure, Route, call_key
from benchwright.endpoints import EchoProfile, EmptyContinuationError, Endpoint, continuation_likelihood
from benchwright.engine._feed import WorkItem
from benchwright.engine._findings import ServerFindings
from benchwright.engine._ledger import RequestIdentity
from benchwright.engine._threads import DaemonThreads


@dataclass(slots=True)
class Answer:
    """What the scorer will see, or why it will see nothing."""

    reply: ModelReply | None
    """The reply that decides the outcome (the last, where there are several); None without a model call."""
    response: str
    """The text to score."""
    metadata: dict[str, Any]
    """The row, with what the strategy adds."""
    prompt: str | None = None
    """Kept in the record where no call holds it."""
    skipped: str | None = None
    """Why the row could not be asked."""
    broken: str | None = None
    """Why the user's own code could not carry the sample to its end."""
    conversation: list[JsonObject] | None = None
    """All messages, for multi-turn benchmarks."""
    turn_index: int | None = None
    """0-based number of the last turn, for multi-turn benchmarks."""
    extra: dict[str, Any] | None = None
    """Fields of the `SampleRecord` that the strategy fills."""
    usage: tuple[int, int] | None = None
    """Prompt and completion tokens of all the sample's calls, where the server counted them."""


class Strategy(Protocol):
    """Asks the model about one sample."""

    async def answer(self, item: WorkItem) -> Answer:
        """The answer; a row that cannot be asked comes back as skipped."""


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
        self, ledger: Ledger, endpoint: Endpoint, fingerprint: str, findings: ServerFindings
    ) -> None:
        self._ledger = ledger
        self._endpoint = endpoint
        self._identity = RequestIdentity(fingerprint, findings.of(fingerprint))

    def ask(self, key: str | None, request: ModelRequest, item: WorkItem) -> Coroutine[Any, Any, ModelReply]:
        """Send, or take from the record. Hands out the ledger's own coroutine: one frame less to resume."""
        return self._ledger.call(key, request, self._endpoint, self._identity, item)


class Generate:
    """One prompt, one reply."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        prompts: PromptBuilder,
        generation: Generation,
        route: Route,
        calls: Calls,
    ) -> None:
        self._prompts = prompts
        self._generation = generation
        self._settings = body_settings(generation)
        self._check_row = spec.check_row
        self._length_field = spec.max_tokens_field
        self._media = spec.media
        self._history = spec.history
        self._build = chat_request if route == "chat" else completions_request
        self._calls = calls
        # Files are read and encoded beside the loop: a video takes longer than hundreds of rows.
        self._threads = None if spec.media is None else DaemonThreads(2, "benchwright-media")

    async def answer(self, item: WorkItem) -> Answer:
        """Render, ask."""
        try:
            if self._check_row is not None:
                self._check_row(item.row)
            prompt = self._prompts.build(item.row)
            history = () if self._history is None else self._history(item.row)
        except MissingFieldError as error:
            return Answer(None, "", item.row, skipped=str(error))
        generation, settings = self._generation, self._settings
        if self._length_field is not None:
            generation = with_row_length(generation, item.row, self._length_field)
            if generation is not self._generation:
                settings = body_settings(generation)
        if history:
            request = chat_request(prompt, generation, repeat=item.repeat, history=history)
        elif self._media is None or self._threads is None:
            request = self._build(prompt, generation, repeat=item.repeat, settings=settings)
        else:
            try:
                request = await self._threads.run(self._with_media, prompt, generation, item)
            except MissingFieldError as error:  # a file that was there when the rows were checked
                return Answer(None, "", item.row, skipped=str(error))
        reply = await self._calls.ask(None, request, item)
        usage = reply.usage
        tokens = None if usage is None else (usage.prompt, usage.completion)
        return Answer(reply, reply.text, item.row, usage=tokens)

    def _with_media(self, prompt: Prompt, generation: Generation, item: WorkItem) -> ModelRequest:
        assert self._media is not None
        return chat_request(prompt, generation, repeat=item.repeat, media=self._media(item.row))


class ScoreOnly:
    """The response stands in the row; no request is made."""

    def __init__(self, spec: BenchmarkSpec, prompts: PromptBuilder) -> None:
        self._spec = spec
        self._prompts = prompts

    async def answer(self, item: WorkItem) -> Answer:
        """Read the response; the prompt is rendered as well as it can be, for the record."""
        row = item.row
        try:
            prompt = self._prompts.build(row).text
        except MissingFieldError:
            prompt = ""
        try:
            return Answer(None, response_of(self._spec, row), row, prompt)
        except MissingFieldError as error:
            return Answer(None, "", row, prompt, skipped=str(error))


class RankChoices:
    """Log-likelihood of each candidate continuation; the likeliest is the response."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        prompts: PromptBuilder,
        generation: Generation,
        profile: EchoProfile,
        calls: Calls,
    ) -> None:
        self._spec = spec
        self._prompts = prompts
        self._generation = generation
        self._profile = profile
        self._calls = calls

    async def answer(self, item: WorkItem) -> Answer:
        """Ask for all candidates at once."""
        row = item.row
        try:
            prompt = self._prompts.build(row)
            choices = resolve_choices(self._spec, row)
        except MissingFieldError as error:
            return Answer(None, "", row, skipped=str(error))
        if not choices:
            return Answer(None, "", row, skipped="the row has no choices (choices_field, choices)")
        context = prompt.flat
        replies = await asyncio.gather(*(self._ask(item, context, n, c) for n, c in enumerate(choices)))
        for reply in replies:
            if reply.failure is not None:  # ranking the rest would answer another question
                return Answer(reply, "", row)
        logprobs: list[float] = []
        greedy: list[bool] = []
        for choice, reply in zip(choices, replies, strict=True):
            try:
                if reply.echoed is None:
                    raise EmptyContinuationError("the reply holds no echoed log-probabilities")
                likelihood = continuation_likelihood(
                    reply.echoed, context, choice, max_tokens=self._profile.max_tokens
                )
            except EmptyContinuationError as error:
                failure = RequestFailure("bad_reply", f"choice {choice!r}: {error}")
                return Answer(ModelReply("failed", failure=failure), "", row)
            logprobs.append(likelihood.logprob)
            greedy.append(likelihood.is_greedy)
        best = logprobs.index(max(logprobs))
        ranking: JsonObject = {
            "_choices": list(choices),
            "_choices_logprobs": list(logprobs),
            "_choices_is_greedy": list(greedy),
        }
        extra = {name.removeprefix("_"): value for name, value in ranking.items()}
        return Answer(replies[best], choices[best], {**row, **ranking}, extra=extra, usage=_tokens(replies))

    async def _ask(self, item: WorkItem, context: str, number: int, choice: str) -> ModelReply:
        request = choice_request(
            context,
            choice,
            self._generation.model,
            max_tokens=self._profile.max_tokens,
            repeat=item.repeat,
            extra_body=self._generation.extra_body,
        )
        return await self._calls.ask(call_key(item.index, item.repeat, f"c{number:03d}"), request, item)


class MultiTurn:
    """A conversation: the row or a function supplies each next user turn."""

    def __init__(
        self, spec: BenchmarkSpec, prompts: PromptBuilder, generation: Generation, calls: Calls
    ) -> None:
        self._spec = spec
        self._prompts = prompts
        self._generation = generation
        self._calls = calls
        self._threads = DaemonThreads(32, "benchwright-turns")

    async def answer(self, item: WorkItem) -> Answer:
        """Ask turn after turn until there is none left, a turn fails, or `max_turns` is reached."""
        try:
            conversation = open_conversation(self._prompts.build(item.row))
        except MissingFieldError as error:
            return Answer(None, "", item.row, skipped=str(error))
        replies: list[ModelReply] = []
        broken: str | None = None
        user: str | None = ""
        while user is not None:
            turn = len(replies)
            request = conversation_request(conversation, self._generation, repeat=item.repeat)
            key = call_key(item.index, item.repeat, f"t{turn:03d}")
            reply = await self._calls.ask(key, request, item)
            replies.append(reply)
            if reply.failure is not None:
                break
            conversation.append({"role": "assistant", "content": reply.text})
            try:
                user = await self._next_turn(item, conversation, turn + 1)
            except Exception as error:  # the user's function, or turns that are no turns
                broken = f"turn {turn + 1}: {error}"
                break
            if user is not None:
                conversation.append({"role": "user", "content": user})
        return Answer(
            replies[-1],
            replies[-1].text,
            item.row,
            broken=broken,
            conversation=conversation,
            turn_index=len(replies) - 1,
            extra={"conversation": list(conversation)},
            usage=_tokens(replies),
        )

    async def _next_turn(self, item: WorkItem, conversation: list[JsonObject], turn: int) -> str | None:
        if self._spec.next_turn is None:
            return next_user_turn(self._spec, item.row, conversation, turn)
        # The user's function may block, for instance to ask another model for the user's words.
        return await self._threads.run(next_user_turn, self._spec, item.row, conversation, turn)


def _tokens(replies: Sequence[ModelReply]) -> tuple[int, int] | None:
    """Of all calls together; None where the server did not count one of them, since part of a sum is none."""
    prompt = completion = 0
    for reply in replies:
        if reply.usage is None:
            return None
        prompt += reply.usage.prompt
        completion += reply.usage.completion
    return (prompt, completion) if replies else None
