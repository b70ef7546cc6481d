"""Conversations in progress: turn after turn in one slot, with the users' thinking time in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from msgspec.structs import replace

from benchwright.core import JsonValue, ModelReply, ModelRequest
from benchwright.perf._conversations import Conversation, Turn, parse_think_time, with_turn
from benchwright.perf._plan import PlannedRequest, planned_request
from benchwright.perf._records import Sending
from benchwright.perf._values import LoadSettings, PhaseName

_FIRST_WORDS = 200


class OpenConversations:
    """The conversations of one phase in one process. The loop that owns the slots supplies the functions that send and
    record requests."""

    def __init__(
        self,
        settings: LoadSettings,
        send: Callable[[Sending], Awaitable[ModelReply | None]],
        not_sent: Callable[[Sending, str], None],
        offered: Callable[[PhaseName], None],
    ) -> None:
        self._settings, self._send, self._not_sent, self._offered = settings, send, not_sent, offered
        self._think = parse_think_time(settings.think_time or "0")
        self._stopped = asyncio.Event()
        self.thinking = 0
        """Number of users who are thinking."""

    def stop(self) -> None:
        """Stop: no conversation sends another turn, and thinking users wake up."""
        self._stopped.set()

    async def converse(self, sending: Sending, conversation: Conversation) -> None:
        """Send all turns of a conversation; it ends after a failed turn."""
        if conversation.delay_s:
            due = (sending.planned or monotonic()) + conversation.delay_s
            sending.planned, sending.free_at = None if sending.planned is None else due, due
            if not await self._pause(due):
                return
        own = self._settings.turn_mode != "every_with_gt"
        talk = OpenConversation(sending.entry.request, conversation, own_replies=own)
        while True:
            reply = await self._send(sending)
            if reply is None:
                self._leave_turns(sending, talk)
                return
            ended = reply.times.last_byte or monotonic()
            try:
                following = await talk.next(reply.text)
            except Exception as error:  # the user's function
                why = f"the benchmark's next_turn raised {type(error).__name__}: {error}"
                self._not_sent(_after(sending, sending.entry, None), why[:_FIRST_WORDS])
                return
            if following is None:
                return
            request, turn = following
            pause = turn.delay_s
            if pause is None:
                pause = self._think(f"{self._settings.seed}/{sending.conversation}/{talk.turn}")
            entry = replace(planned_request(request, sending.entry.row), conversation=conversation)
            sending = _after(sending, entry, ended + pause)
            if not await self._pause(ended + pause):
                return
            self._offered(sending.phase)

    async def _pause(self, due: float) -> bool:
        """Wait until `due`; False: the test has stopped, and nothing more is sent."""
        self.thinking += 1
        try:
            if not self._stopped.is_set() and (left := due - monotonic()) > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await self._stopped.wait()
        finally:
            self.thinking -= 1
        return not self._stopped.is_set()

    def _leave_turns(self, failed: Sending, talk: OpenConversation) -> None:
        """Record the turns after a failed one as not sent."""
        sending = failed
        for turn in talk.left:
            sending = _after(sending, replace(failed.entry, max_tokens=turn.max_tokens), None)
            self._not_sent(sending, f"turn {failed.turn + 1} of the conversation failed")


def _after(before: Sending, entry: PlannedRequest, due: float | None) -> Sending:
    """The following turn."""
    planned = None if before.planned is None else due
    found = Sending(before.number + 1, before.stage, before.phase, entry, planned, before.worker, before.url)
    found.conversation, found.turn, found.free_at = before.conversation, before.turn + 1, due
    return found


class OpenConversation:
    """One conversation in progress: its messages so far."""

    def __init__(self, first: ModelRequest, conversation: Conversation, *, own_replies: bool) -> None:
        self._first, self._conversation, self._own = first, conversation, own_replies
        messages = first.body["messages"]
        assert isinstance(messages, list)  # only the chat route converses
        self._messages: list[JsonValue] = list(messages)
        self.turn = conversation.first_turn
        """Index of the turn that was built last."""

    @property
    def left(self) -> tuple[Turn, ...]:
        """Known turns that are not built yet."""
        return self._conversation.later[self.turn - self._conversation.first_turn :]

    async def next(self, reply: str) -> tuple[ModelRequest, Turn] | None:
        """The request of the next turn; None: the conversation is over. What a user's function raises passes through."""
        found = await self._next_turn(reply)
        if found is None:
            return None
        self.turn += 1
        said = reply if self._own or found.before is None else found.before
        if self._conversation.next_turn is None:
            self._messages.append({"role": "assistant", "content": said})
        self._messages.append({"role": "user", "content": found.user})
        return with_turn(self._first, self._messages, found.max_tokens), found

    async def _next_turn(self, reply: str) -> Turn | None:
        supply = self._conversation.next_turn
        if supply is None:
            return self.left[0] if self.left else None
        self._messages.append({"role": "assistant", "content": reply})
        # The user's function may block, for instance to ask another model for the user's words.
        said: Any = list(self._messages)
        words = await asyncio.to_thread(supply, said, self.turn + 1)
        return None if words is None else Turn(words)
