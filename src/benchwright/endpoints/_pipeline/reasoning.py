"""The built-in step that separates a model's reasoning from its answers."""

from __future__ import annotations

from msgspec.structs import replace

from benchwright.config import Reasoning
from benchwright.core import ModelReply, ModelRequest

_ENDPOINTS_START = "<think>"
"""The tag that the endpoint removes from unfinished reasoning, independent of the tokens of the step."""


class ReasoningStep:
    """Implements the reply half of `Step`.

    Reasoning that the endpoint has already split off (`reasoning_content`, `<think>` tags) stays split off. Unfinished
    reasoning is kept as the answer, or leaves the answer empty, as the settings say.
    """

    def __init__(self, step: Reasoning) -> None:
        self.name = step.name
        self._start: str = step.value("start_reasoning_token")
        self._end: str = step.value("end_reasoning_token")
        self._keeps: bool = step.value("include_if_not_finished")
        self._migrates: bool = step.value("migrate_reasoning_content")

    def on_reply(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """The reply with its reasoning separate from its answer."""
        if reply.failure is not None or request.body.get("echo"):
            return reply
        text = reply.text
        if self._end in text:
            *thoughts, answer = text.split(self._end)
            thoughts = [thought.strip().removeprefix(self._start).strip() for thought in thoughts]
            joined = "\n".join(part for part in (reply.reasoning, *thoughts) if part)
            reply = _answering(replace(reply, text=answer.strip("\n"), reasoning=joined))
        elif not text and reply.reasoning and reply.status == "truncated":
            # The endpoint found unfinished reasoning and no answer.
            if self._keeps:
                return replace(reply, text=_ENDPOINTS_START + reply.reasoning, status="answered")
        elif self._start in text and not self._keeps:
            reply = replace(
                reply, text="", reasoning=text.partition(self._start)[2].strip(), status="truncated"
            )
        if self._migrates and reply.reasoning and reply.status != "truncated":
            text = f"{self._start}{reply.reasoning}{self._end}{reply.text}"
            return replace(reply, text=text, status="answered" if reply.status == "empty" else reply.status)
        return reply


def _answering(reply: ModelReply) -> ModelReply:
    """The reply with the status that its answer gives it."""
    if reply.status == "refused" or reply.tool_calls is not None or reply.text.strip():
        return reply
    return replace(reply, status="truncated" if reply.finish_reason == "length" else "empty")
