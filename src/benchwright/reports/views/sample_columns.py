"""Recorded steps put back together into samples, many at a time.

Column by column: a run may have a million samples, and their file has columns too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchwright.core import encode_json, load_each
from benchwright.reports.views.request_bodies import asked, text_of
from benchwright.store import SampleSteps

BLOCK_ROWS = 100
"""Samples that are put together at a time. More would save little, and with Python's own settings their values live long
enough to have the collector look through them again and again."""
BLOCK_BYTES = 200_000
"""Bytes of recorded text at a time, roughly."""

_UNASKED = ("request_failed", "skipped")
"""Outcomes where an empty response is none."""


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
    records: list[dict[str, Any]] = load_each(scores)
    replies: list[dict[str, Any]] = load_each([b"{}" if output is None else output for output in outputs])
    prompts, systems, messages = asked(bodies)
    in_records, in_replies = set[str]().union(*records), set[str]().union(*replies)

    def recorded(name: str) -> Sequence[Any]:
        return [record.get(name) for record in records] if name in in_records else [None] * len(records)

    def replied(name: str) -> Sequence[Any]:
        return [reply.get(name) for reply in replies] if name in in_replies else [None] * len(replies)

    choices, outcomes, responses = recorded("_choices"), recorded("o"), replied("t")
    if "_choices" in in_records:
        prompts = tuple(map(_without_choice, prompts, messages, choices))
    if "p" in in_records:
        prompts = tuple(record.get("p", prompt) for record, prompt in zip(records, prompts, strict=True))
    if "conversation" in in_records:
        messages = tuple(map(_conversation, records, messages))
    if "r" in in_records:
        responses = [record.get("r", given) for record, given in zip(records, responses, strict=True)]
    if not all(responses):
        responses = list(map(_response, responses, outcomes))
    usages = [
        record.get("u") or reply.get("u") or (None, None)
        for record, reply in zip(records, replies, strict=True)
    ]
    return {
        "sample_id": numbers,
        "repeat": repeats,
        "prompt": prompts,
        "system": systems,
        "messages": messages,
        "response": responses,
        "reasoning": replied("r"),
        "target": [target if target.__class__ is str else text_of(target) for target in recorded("t")],
        "outcome": outcomes,
        "error": recorded("e"),
        "scores": recorded("s"),
        "prompt_tokens": [usage[0] for usage in usages],
        "completion_tokens": [usage[1] for usage in usages],
        "latency_s": replied("l"),
        "ttft_s": replied("tt"),
        "attempts": [reply.get("n", 1) if reply else None for reply in replies],
        "started_at": replied("at"),
        "finish_reason": replied("f"),
        "metadata": rows,
        "choices": choices,
        "choices_logprobs": recorded("_choices_logprobs"),
        "choices_is_greedy": recorded("_choices_is_greedy"),
    }


def _without_choice(prompt: str | None, messages: bytes | None, choices: list[str] | None) -> str | None:
    """The first choice was sent as the continuation of the prompt."""
    if prompt and choices and messages is None and prompt.endswith(choices[0]):
        return prompt[: len(prompt) - len(choices[0])]
    return prompt


def _conversation(record: dict[str, Any], messages: bytes | None) -> bytes | None:
    """All turns, where there were several."""
    conversation = record.get("conversation")
    return messages if conversation is None else encode_json(conversation)


def _response(response: str | None, outcome: str) -> str | None:
    return response if response or outcome not in _UNASKED else None
