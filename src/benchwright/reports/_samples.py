"""One sample as reports show it: the recorded steps put back together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from benchwright.core import ModelReply, NotFoundError, reply_from_json
from benchwright.store import SampleSteps, Store


class SampleView(NamedTuple):
    """One sample and repeat. A tuple, because a run may have a million of these on their way to a file."""

    sample_id: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    prompt: str | None
    """What the model was asked, system message apart; without a call, what would have been asked."""
    system: str | None
    """System message, for chat."""
    messages: bytes | None
    """Chat messages as sent, or the whole conversation where there were several turns; JSON."""
    response: str | None
    """The text that was scored; null when there was none."""
    reasoning: str | None
    """The model's thinking."""
    target: str | None
    """Expected answer; JSON where it is no text."""
    outcome: str
    """How the sample ended."""
    error: str | None
    """Why there is no score."""
    scores: dict[str, Any] | None
    """What the scorer gave."""
    prompt_tokens: int | None
    """Prompt tokens, over all calls of the sample."""
    completion_tokens: int | None
    """Completion tokens, over all calls of the sample."""
    latency_s: float | None
    """Last call: seconds from sending to the last byte."""
    ttft_s: float | None
    """Last call: seconds to the first token, for streams."""
    attempts: int | None
    """Last call: requests sent for it."""
    started_at: float | None
    """Last call: wall clock of the first attempt, seconds since the epoch."""
    finish_reason: str | None
    """Last call: as the server gave it."""
    metadata: bytes | None
    """The row; JSON."""
    choices: list[str] | None
    """Ranked continuations, where the benchmark ranks."""
    choices_logprobs: list[float | None] | None
    """Their log-likelihoods."""
    choices_is_greedy: list[bool] | None
    """Whether each is what the model would have said."""


@dataclass(frozen=True, slots=True)
class JudgeView:
    """One question to a judge."""

    repeat: int
    """Repeat of the sample."""
    number: int
    """0-based number within the sample."""
    reply: ModelReply
    """What the judge said."""


def sample_view(steps: SampleSteps) -> SampleView:
    """Put the steps of one sample together."""
    record: dict[str, Any] = orjson.loads(steps.score)
    body: dict[str, Any] = {} if steps.call_input is None else orjson.loads(steps.call_input)
    reply: dict[str, Any] = {} if steps.call_output is None else orjson.loads(steps.call_output)
    choices = record.get("_choices")
    prompt, system, messages = _asked(body, choices)
    outcome = record["o"]
    response = record["r"] if "r" in record else reply.get("t")
    usage = record.get("u") or reply.get("u") or (None, None)
    conversation = record.get("conversation")
    return SampleView(
        steps.sample,
        steps.repeat,
        record.get("p", prompt),
        system,
        messages if conversation is None else orjson.dumps(conversation),
        response if response or outcome not in ("request_failed", "skipped") else None,
        reply.get("r"),
        _text(record.get("t")),
        outcome,
        record.get("e"),
        record.get("s"),
        usage[0],
        usage[1],
        reply.get("l"),
        reply.get("tt"),
        reply.get("n", 1) if reply else None,
        reply.get("at"),
        reply.get("f"),
        steps.score_input,
        choices,
        record.get("_choices_logprobs"),
        record.get("_choices_is_greedy"),
    )


def sample_views(store: Store, run_id: int, index: int | None = None) -> Iterator[SampleView]:
    """All samples of a run in row order, streamed; or the repeats of one row."""
    return map(sample_view, store.samples(run_id, index))


def find_samples(store: Store, run_id: int, wanted: str) -> list[SampleView]:
    """The repeats of a row: `12`, or one of them: `12/0`. `NotFoundError` says what there is."""
    row, _, repeat = wanted.partition("/")
    if not row.isdigit() or not (repeat.isdigit() or "/" not in wanted):
        raise NotFoundError(
            f"sample {wanted!r} is not a row number. Rows count from 0; 12/1 is the second repeat of row 12"
        )
    found = list(sample_views(store, run_id, int(row)))
    if repeat:
        found = [view for view in found if view.repeat == int(repeat)]
    if not found:
        count = store.count_steps(run_id, "score")
        raise NotFoundError(
            f"run {run_id} has no sample {wanted}; it has {count} samples, counted from 0. "
            f"See: benchwright show {run_id}"
        )
    return found


def judge_views(store: Store, run_id: int, index: int) -> list[JudgeView]:
    """What judges said about one row."""
    found = []
    for key, step in sorted(store.recorded(run_id, "judge", index, index).items()):
        _, _, repeat, number = key.split("/")
        found.append(JudgeView(int(repeat), int(number), reply_from_json(orjson.loads(step.output))))
    return found


def _asked(body: dict[str, Any], choices: list[str] | None) -> tuple[str | None, str | None, bytes | None]:
    """Prompt, system message and messages of a request body."""
    messages = body.get("messages")
    if not messages:
        prompt = _text(body.get("prompt"))
        if prompt and choices and prompt.endswith(choices[0]):
            prompt = prompt[: len(prompt) - len(choices[0])]  # the first choice was sent as its continuation
        return prompt, None, None
    system = _text(messages[0].get("content")) if messages[0].get("role") == "system" else None
    return _words(messages[-1].get("content")), system, orjson.dumps(messages)


def _words(content: Any) -> str | None:
    """The text of a message; of content parts, that of those which are text."""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return "\n".join(
            str(part["text"]) for part in content if part.get("type") == "text" and "text" in part
        )
    return _text(content)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
