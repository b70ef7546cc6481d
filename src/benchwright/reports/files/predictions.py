"""One line of JSON per sample and repeat: what was asked, replied, expected, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import orjson

from benchwright.core import WITHOUT_REPLY, JsonObject, encode_json
from benchwright.reports.views.sample_columns import in_blocks
from benchwright.reports.views.samples import SampleView, views_of
from benchwright.store import SampleSteps, Store

Identify: TypeAlias = Callable[[int, int], str]
"""Row number and repeat to an id."""

"""Outcomes without a reply."""


class Predicted(NamedTuple):
    """A sample with what its record adds to the view."""

    view: SampleView
    """The sample."""
    error: JsonObject | None
    """`kind`, `message` and `http_status` of what went wrong."""


def predictions_of(store: Store, run_id: int) -> Iterator[Predicted]:
    """All samples of a run in row order, streamed."""
    for samples, _ in in_blocks(store.samples(run_id)):
        for view, steps in zip(views_of(samples), samples, strict=True):
            yield Predicted(view, None if view.error is None else _error(view, steps))


def prediction_line(predicted: Predicted, dataset: str, identify: Identify) -> bytes:
    """The sample as one line of JSON."""
    view = predicted.view
    record: dict[str, Any] = {
        "data_abbr": dataset,
        "id": view.sample_id,
        "repeat": view.repeat,
        "success": view.outcome not in WITHOUT_REPLY,
        "uuid": identify(view.sample_id, view.repeat),
        "origin_prompt": _asked(view),
        "prediction": view.response,
        "gold": view.target,
        "outcome": view.outcome,
        "scores": view.scores,
    }
    if predicted.error is not None:
        record["error"] = predicted.error
    for name in ("reasoning", "prompt_tokens", "completion_tokens", "latency_s", "ttft_s", "finish_reason"):
        record[name] = getattr(view, name)
    if view.choices is not None:
        record["choices"], record["choices_logprobs"] = view.choices, view.choices_logprobs
    record["row"] = None if view.metadata is None else orjson.Fragment(view.metadata)
    return _line(record)


def failed_line(predicted: Predicted, dataset: str) -> bytes:
    """A sample without a score: what was asked and what went wrong."""
    view = predicted.view
    record = {
        "data_abbr": dataset,
        "id": view.sample_id,
        "repeat": view.repeat,
        "input": _asked(view),
        "outcome": view.outcome,
        "error_info": view.error,
        "error": predicted.error,
    }
    return _line(record)


def sample_ids(run_id: int, workspace: str) -> Identify:
    """Gives the samples of a run ids that no other sample has; the same each time they are written."""
    from uuid import NAMESPACE_URL, uuid5

    space = uuid5(NAMESPACE_URL, f"benchwright:{workspace}#{run_id}")
    return lambda sample, repeat: str(uuid5(space, f"{sample}/{repeat}"))


def _asked(view: SampleView) -> Any:
    """The prompt; the messages where there is more than that one."""
    if view.messages is None:
        return view.prompt
    messages = orjson.loads(view.messages)
    plain = len(messages) == 1 and isinstance(messages[0].get("content"), str)
    return view.prompt if plain else messages


def _error(view: SampleView, steps: SampleSteps) -> JsonObject:
    error: JsonObject = {"kind": view.outcome, "message": view.error}
    if view.outcome == "request_failed" and steps.call_output is not None:
        failure = orjson.loads(steps.call_output).get("x")
        if failure:
            error["kind"], error["http_status"] = failure[0], failure[2]
    return error


def _line(record: dict[str, Any]) -> bytes:
    return encode_json(record) + b"\n"
