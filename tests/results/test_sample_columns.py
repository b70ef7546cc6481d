"""Steps put together many at a time give what each gives by itself."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given, strategies as st

from benchwright.core import encode_json
from benchwright.results import SampleView
from benchwright.results._sample_columns import BLOCK_BYTES, BLOCK_ROWS, COLUMNS, in_blocks, sample_columns
from benchwright.results._samples import StoreSamples
from benchwright.store import SampleSteps, verdict_of

TEXTS = st.text(max_size=5)
TARGETS = st.one_of(TEXTS, st.none(), st.integers(), st.lists(TEXTS, max_size=2), st.booleans())
CHOICES = st.lists(TEXTS, max_size=2)
USAGE = st.lists(st.integers(0, 99), min_size=2, max_size=2)
RECORDS = st.fixed_dictionaries(
    {"o": st.sampled_from(["scored", "empty", "request_failed", "skipped"])},
    optional={
        "t": TARGETS,
        "s": st.dictionaries(TEXTS, st.one_of(st.booleans(), st.floats(0, 1), TEXTS), max_size=2),
        "e": TEXTS,
        "g": TEXTS,
        "p": TEXTS,
        "r": st.none() | TEXTS,
        "u": st.none() | USAGE,
        "conversation": st.lists(
            st.builds(lambda text: {"role": "user", "content": text}, TEXTS), max_size=2
        ),
        "_choices": CHOICES,
        "_choices_logprobs": st.lists(st.none() | st.floats(-9, 0), max_size=2),
        "_choices_is_greedy": st.lists(st.booleans(), max_size=2),
        "tools": st.lists(st.builds(lambda name: {name: {"a": 1}}, TEXTS), max_size=2),
    },
)
REPLIES = st.fixed_dictionaries(
    {"s": st.just("answered"), "t": TEXTS, "at": st.floats(0, 1), "l": st.floats(0, 1)},
    optional={
        "r": TEXTS,
        "f": TEXTS,
        "u": st.builds(lambda usage: [*usage, "server"], USAGE),
        "tt": st.floats(0, 1),
        "n": st.integers(2, 4),
    },
)
CHATS = st.builds(
    lambda text: {"model": "m", "messages": [{"role": "user", "content": text}], "top_p": 1.0}, TEXTS
)
SYSTEMS = st.builds(
    lambda system, text: {
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}]
    },
    TEXTS,
    TEXTS,
)
PROMPTS = st.builds(lambda text: {"model": "m", "prompt": text}, TEXTS)
SAMPLES = st.builds(
    SampleSteps,
    st.integers(0, 9),
    st.integers(0, 1),
    st.none() | st.builds(lambda text: encode_json({"q": text}), TEXTS),
    RECORDS.map(encode_json),
    st.none() | st.one_of(CHATS, CHATS, SYSTEMS, PROMPTS).map(encode_json),
    st.none() | REPLIES.map(encode_json),
)


def plainly(steps: SampleSteps) -> SampleView:
    """The rules for one sample, without regard to speed."""
    record: dict[str, Any] = orjson.loads(steps.score)
    body: dict[str, Any] = orjson.loads(steps.call_input or b"{}")
    reply: dict[str, Any] = orjson.loads(steps.call_output or b"{}")
    messages, choices, target = body.get("messages"), record.get("_choices"), record.get("t")
    prompt = messages[-1]["content"] if messages else body.get("prompt")
    if prompt and choices and not messages and prompt.endswith(choices[0]):
        prompt = prompt.removesuffix(choices[0])
    if record.get("conversation") is not None:
        shown = orjson.dumps(record["conversation"])
    else:
        shown = orjson.dumps(messages) if messages else None
    response = record["r"] if "r" in record else reply.get("t")
    if not response and record["o"] in ("request_failed", "skipped"):
        response = None
    usage = record.get("u") or reply.get("u") or [None, None]
    return SampleView(
        sample_id=steps.sample,
        repeat=steps.repeat,
        prompt=record.get("p", prompt),
        system=messages[0]["content"] if messages and messages[0]["role"] == "system" else None,
        messages=shown,
        response=response,
        reasoning=reply.get("r"),
        target=target if target is None or isinstance(target, str) else orjson.dumps(target).decode(),
        calls=orjson.dumps(record["tools"]) if record.get("tools") is not None else None,
        outcome=record["o"],
        error=record.get("e"),
        group=record.get("g"),
        scores=record.get("s"),
        verdict=verdict_of(record.get("s")),
        grade=(record.get("s") or {}).get("judge_grade"),
        prompt_tokens=usage[0],
        completion_tokens=usage[1],
        latency_s=reply.get("l"),
        ttft_s=reply.get("tt"),
        attempts=reply.get("n", 1) if reply else None,
        started_at=reply.get("at"),
        finish_reason=reply.get("f"),
        metadata=steps.score_input,
        choices=choices,
        choices_logprobs=record.get("_choices_logprobs"),
        choices_is_greedy=record.get("_choices_is_greedy"),
    )


@given(st.lists(SAMPLES, min_size=1, max_size=8))
def test_many_samples_give_what_each_gives_plainly(samples: list[SampleSteps]) -> None:
    assert list(StoreSamples.views_of(samples)) == [plainly(sample) for sample in samples]
    assert tuple(sample_columns(samples)) == SampleView._fields


def test_blocks_are_bounded_by_rows_and_by_bytes() -> None:
    small = SampleSteps(0, 0, b"{}", b"{}", None, None)
    large = SampleSteps(1, 0, None, b"{}", b"{}", b"x" * BLOCK_BYTES)
    samples = [small] * (BLOCK_ROWS + 1) + [large] * 2 + [small]
    blocks = list(in_blocks(samples))
    assert [sample for block, _ in blocks for sample in block] == samples
    assert [len(block) for block, _ in blocks] == [BLOCK_ROWS, 2, 1, 1]
    assert [size for _, size in blocks] == [4 * BLOCK_ROWS, BLOCK_BYTES + 8, BLOCK_BYTES + 4, 4]
    assert [len(block) for block, _ in in_blocks(samples[:5], most_rows=2)] == [2, 2, 1]
    assert [len(block) for block, _ in in_blocks(samples[:5], most_bytes=5)] == [2, 2, 1]
    assert list(in_blocks([])) == []


def test_every_field_of_a_sample_is_a_column() -> None:
    assert tuple(COLUMNS) == SampleView._fields
