"""Recorded steps put back together into samples, many at a time.

Column by column: a run may have a million samples, and their file has columns too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchwright.core import WITHOUT_REPLY, encode_json, reply_columns, score_columns
from benchwright.reports.views.request_bodies import asked, text_of
from benchwright.store import SampleSteps

BLOCK_ROWS = 100
"""Samples that are put together at a time. More would save little, and with Python's own settings their values live long
enough to have the collector look through them again and again."""
BLOCK_BYTES = 200_000
"""Bytes of recorded text at a time, roughly."""


def in_blocks(
    samples: Iterable[SampleSteps], most_rows: int = BLOCK_ROWS, most_bytes: int = BLOCK_BYTES
) -> Iterator[tuple[list[SampleSteps], int]]:
    """Samples by the block, each with its size: bytes of recorded text. None is larger than the given or our own limit
    by more than its last sample."""
    most_rows, most_bytes = min(most_rows, BLOCK_ROWS), min(most_bytes, BLOCK_BYTES)
    block: list[SampleSteps] = []
    size = 0
    for sample in samples:
        block.append(sample)
        _, _, row, score, body, output = sample
        size += len(score) + len(row or b"") + len(body or b"") + len(output or b"")
        if size >= most_bytes or len(block) >= most_rows:
            yield block, size
            block, size = [], 0
    if block:
        yield block, size


def sample_columns(samples: Sequence[SampleSteps]) -> dict[str, Sequence[Any]]:
    """The fields of `SampleView` by name, each with a value per sample; there must be samples."""
    numbers, repeats, rows, scores, bodies, outputs = zip(*samples, strict=True)
    records = score_columns(scores)
    replies = reply_columns([b"{}" if output is None else output for output in outputs])
    recorded, replied = records.column, replies.column
    prompts, systems, messages = asked(bodies)
    choices, outcomes = recorded("choices"), recorded("outcome")
    if records.holds("choices"):
        prompts = tuple(map(_without_choice, prompts, messages, choices))
    prompts = records.or_else("prompt", prompts)
    if records.holds("conversation"):
        messages = tuple(map(_conversation, recorded("conversation"), messages))
    responses = records.or_else("response", replied("text"))
    if not all(responses):
        responses = list(map(_response, responses, outcomes))
    usages = [
        sample or reply or (None, None)
        for sample, reply in zip(recorded("usage"), replied("usage"), strict=True)
    ]
    return {
        "sample_id": numbers,
        "repeat": repeats,
        "prompt": prompts,
        "system": systems,
        "messages": messages,
        "response": responses,
        "reasoning": replied("reasoning"),
        "target": [target if target.__class__ is str else text_of(target) for target in recorded("target")],
        "outcome": outcomes,
        "error": recorded("error"),
        "scores": recorded("scores"),
        "prompt_tokens": [usage[0] for usage in usages],
        "completion_tokens": [usage[1] for usage in usages],
        "latency_s": replied("latency_s"),
        "ttft_s": replied("ttft_s"),
        "attempts": [
            None if output is None else sent
            for output, sent in zip(outputs, replied("attempts", 1), strict=True)
        ],
        "started_at": replied("started_at"),
        "finish_reason": replied("finish_reason"),
        "metadata": rows,
        "choices": choices,
        "choices_logprobs": recorded("choices_logprobs"),
        "choices_is_greedy": recorded("choices_is_greedy"),
    }


def _without_choice(prompt: str | None, messages: bytes | None, choices: list[str] | None) -> str | None:
    """The first choice was sent as the continuation of the prompt."""
    if prompt and choices and messages is None and prompt.endswith(choices[0]):
        return prompt[: len(prompt) - len(choices[0])]
    return prompt


def _conversation(conversation: Any, messages: bytes | None) -> bytes | None:
    """All turns, where there were several."""
    return messages if conversation is None else encode_json(conversation)


def _response(response: str | None, outcome: str) -> str | None:
    return response if response or outcome not in WITHOUT_REPLY else None
