"""Converse: the row or a function supplies each next user turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.benchmarks._missing_fields import parameter_without_column
from benchwright.benchmarks._prompts import next_user_turn, user_turns
from benchwright.benchmarks._requests import conversation_request, open_conversation
from benchwright.benchmarks._strategies.base import (
    Answer,
    Asking,
    RowPlan,
    Strategy,
    size_of,
    tokens_of,
)
from benchwright.core import JsonObject, MissingFieldError, UsageError

if TYPE_CHECKING:
    from benchwright.benchmarks._scan import RowScan, ScannedRow
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.core import ModelReply, ModelRequest, ModelType, Row


class Converse(Strategy):
    """A conversation of several turns, each a request."""

    name = "multi_turn"
    threads = 32

    @classmethod
    def check(cls, spec: BenchmarkSpec, model_type: ModelType | None) -> None:
        if model_type not in (None, "chat"):
            raise UsageError(
                f"benchmark {spec.name!r} is a conversation and needs --model-type chat, not {model_type}"
            )

    def plan(self, row: Row) -> RowPlan:
        """One request for each user turn that is known."""
        spec, prompt = self._spec, self._build(row)
        # Each request sends all user turns before it again; the model's replies are not known yet.
        sent = length = size_of(prompt.text) + size_of(prompt.system or "")
        if spec.turns_field is None:
            return RowPlan(prompt, 1, sent)
        turns = user_turns(row, spec.turns_field)
        later = turns if spec.prompt else turns[1:]
        cut_from = 1 + len(later) if 1 + len(later) > spec.max_turns else 0
        later = later[: spec.max_turns - 1]
        for turn in later:
            length += size_of(turn)
            sent += length
        return RowPlan(prompt, 1 + len(later), sent, tuple(later), cut_from=cut_from)

    def requests(self, row: Row, repeat: int = 0) -> tuple[ModelRequest]:
        """The first turn; later ones contain replies."""
        self._checked(row)
        return (self._request(open_conversation(self._build(row)), repeat),)

    async def answer(self, row: Row, repeat: int, asking: Asking) -> Answer:
        """Turn after turn until there is none left, a turn fails, or `max_turns` is reached."""
        try:
            self._checked(row)
            conversation = open_conversation(self._build(row))
        except MissingFieldError as error:
            return Answer(None, "", row, skipped=str(error))
        replies: list[ModelReply] = []
        broken: str | None = None
        user: str | None = ""
        while user is not None:
            turn = len(replies)
            reply = await asking.ask(self._request(conversation, repeat), f"t{turn:03d}")
            replies.append(reply)
            if reply.failure is not None:
                break
            conversation.append({"role": "assistant", "content": reply.text})
            try:
                user = await self._next_turn(row, conversation, turn + 1, asking)
            except Exception as error:  # the user's function failed, or the turns are invalid
                broken = f"turn {turn + 1}: {error}"
                break
            if user is not None:
                conversation.append({"role": "user", "content": user})
        return Answer(
            replies[-1],
            replies[-1].text,
            row,
            broken=broken,
            conversation=conversation,
            turn_index=len(replies) - 1,
            extra={"conversation": list(conversation)},
            usage=tokens_of(replies),
        )

    def gold(self, scanned: ScannedRow, target: Any) -> Iterator[Answer]:
        """The target as the reply to the first turn."""
        for answer in super().gold(scanned, target):
            first: JsonObject = {"role": "user", "content": scanned.prompt.text}
            answer.conversation = [first, {"role": "assistant", "content": answer.response}]
            answer.turn_index = 0
            yield answer

    def missing_fields(self, columns: Sequence[str], missing: Mapping[str, int]) -> Iterator[str]:
        """Fields that the prompt reads, and the column with the turns."""
        yield from super().missing_fields(columns, missing)
        if self._spec.turns_field is not None and self._spec.turns_field not in columns:
            yield parameter_without_column(self._spec, "turns_field", columns)

    def doubts(self, scan: RowScan, source: str) -> Iterator[str]:
        """Warn if the prompt is also the first turn."""
        spec = self._spec
        first = next(iter(scan.first), None)
        if not (spec.prompt and spec.turns_field) or first is None:
            return
        turns = first.row.get(spec.turns_field)
        if turns and turns[0] == first.prompt.text:
            yield (
                f'"{spec.turns_field}" begins with the prompt itself, which is then sent twice; leave the prompt '
                f'empty (prompt="") when the column contains every turn'
            )

    def _request(self, conversation: Sequence[JsonObject], repeat: int) -> ModelRequest:
        return conversation_request(conversation, self._generation, repeat=repeat)

    async def _next_turn(
        self, row: Row, conversation: list[JsonObject], turn: int, asking: Asking
    ) -> str | None:
        if self._spec.next_turn is None:
            return next_user_turn(self._spec, row, conversation, turn)
        # The user's function may block, for instance to ask another model for the user's words.
        found: str | None = await asking.in_thread(next_user_turn, self._spec, row, conversation, turn)
        return found
