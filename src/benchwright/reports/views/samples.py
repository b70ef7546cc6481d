"""One sample as reports show it: the recorded steps put back together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from benchwright.core import ModelReply, NotFoundError, reply_from_json
from benchwright.reports.views.sample_columns import in_blocks, sample_columns
from benchwright.store import SampleFilter, SampleSteps, Store


class SampleView(NamedTuple):
    """One sample and repeat. A tuple, because a run may have a million of these."""

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


def sample_views(store: Store, run_id: int, index: int | None = None) -> Iterator[SampleView]:
    """All samples of a run in row order, streamed; or the repeats of one row."""
    for samples, _ in in_blocks(store.samples(run_id, index)):
        yield from views_of(samples)


def filtered_views(store: Store, run_id: int, where: SampleFilter, limit: int) -> list[SampleView]:
    """The first samples of a run that pass a filter, in row order, at most `limit`."""
    found = store.page_samples(run_id, where, limit=limit).items
    return list(views_of(found)) if found else []


def views_of(samples: Sequence[SampleSteps]) -> Iterator[SampleView]:
    """The samples, each by itself."""
    return map(SampleView._make, zip(*sample_columns(samples).values(), strict=True))


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
