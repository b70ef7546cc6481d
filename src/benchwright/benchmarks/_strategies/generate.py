"""Generate: one prompt, one reply."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from benchwright.benchmarks._requests import (
    Generation,
    chat_request,
    chat_requests,
    completions_requests,
    with_row_length,
)
from benchwright.benchmarks._strategies.base import Answer, Asking, RowPlan, Strategy, size_of
from benchwright.core import MissingFieldError, UsageError

if TYPE_CHECKING:
    from benchwright.benchmarks._prompts import PromptBuilder
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.core import ModelRequest, ModelType, Row


class Generate(Strategy):
    """The model answers one prompt."""

    name = "generate"

    def __init__(
        self,
        spec: BenchmarkSpec,
        prompts: PromptBuilder,
        generation: Generation,
        model_type: ModelType,
        *,
        echo_tokens: int = 0,
    ) -> None:
        super().__init__(spec, prompts, generation, model_type, echo_tokens=echo_tokens)
        self._length_field = spec.max_tokens_field
        self._media = spec.media
        self._history = spec.history
        self._requests = chat_requests if model_type == "chat" else completions_requests
        self._request = self._requests(generation)
        needs = (self._check_row, self._length_field, self._media, self._history)
        self._plain = all(need is None for need in needs)  # decided once for all rows

    @classmethod
    def check(cls, spec: BenchmarkSpec, model_type: ModelType | None) -> None:
        if spec.history is not None and model_type == "completions":
            raise UsageError(
                f"{spec.name} has chat messages and needs --model-type chat; a completions route takes one text"
            )

    def plan(self, row: Row) -> RowPlan:
        """One request."""
        prompt = self._build(row)
        system = prompt.system
        return RowPlan(prompt, 1, size_of(prompt.text) + (size_of(system) if system else 0))

    def identity(self, row: Row, plan: RowPlan) -> Hashable:
        """The prompt, and the names of the row's media."""
        return plan.prompt.text if self._media is None else (plan.prompt.text, self._media.names(row))

    def requests(self, row: Row, repeat: int = 0) -> tuple[ModelRequest]:
        """One request, the row's media read and encoded."""
        return (self.request(row, repeat),)

    def request(self, row: Row, repeat: int) -> ModelRequest:
        """The row's only request."""
        if self._plain:
            return self._request(self._build(row), repeat)
        if self._check_row is not None:
            self._check_row(row)
        prompt = self._build(row)
        generation, make = self._generation, self._request
        if self._length_field is not None:
            generation = with_row_length(generation, row, self._length_field)
            if generation is not self._generation:
                make = self._requests(generation)
        if self._history is not None and (history := self._history(row)):
            return chat_request(prompt, generation, repeat=repeat, history=history)
        if self._media is not None:
            return chat_request(prompt, generation, repeat=repeat, media=self._media(row))
        return make(prompt, repeat)

    async def answer(self, row: Row, repeat: int, asking: Asking) -> Answer:
        """The reply's text."""
        try:
            if self._media is None:
                request = self.request(row, repeat)
            else:  # reading and encoding a video takes longer than hundreds of rows
                request = await asking.in_thread(self.request, row, repeat)
        except MissingFieldError as error:
            return Answer(None, "", row, skipped=str(error))
        reply = await asking.ask(request)
        usage = reply.usage
        tokens: tuple[int, ...] | None = None if usage is None else (usage.prompt, usage.completion)
        if usage is not None and usage.cached:
            tokens = (usage.prompt, usage.completion, usage.cached)
        return Answer(reply, reply.text, row, usage=tokens)
