"""One line of JSON per sample and repeat: prompt, reply, target, and what it cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import orjson

from benchwright.core import WITHOUT_REPLY, encode_json
from benchwright.reports.views.sample_columns import COLUMNS, SampleView
from benchwright.reports.views.samples import Predicted

Identify: TypeAlias = Callable[[int, int], str]
"""Row number and repeat to an id."""
EXPORTED = tuple(name for name, column in COLUMNS.items() if column.exported)
"""Columns that a prediction has under their own names, after those that it names otherwise."""
TABLE_COLUMNS = (
    "data_abbr", "id", "repeat", "success", "uuid", "origin_prompt", "prediction", "gold", "outcome", "error", "scores",
    *EXPORTED,
)  # fmt: skip
"""What tables of predictions have before the metrics and the row."""


def prediction_line(predicted: Predicted, dataset: str, identify: Identify) -> bytes:
    """The sample as one line of JSON."""
    view = predicted.view
    record: dict[str, Any] = {
        "data_abbr": dataset,
        "id": view.sample_id,
        "repeat": view.repeat,
        "success": view.outcome not in WITHOUT_REPLY,
        "uuid": identify(view.sample_id, view.repeat),
        "origin_prompt": _prompt(view),
        "prediction": view.response,
        "gold": view.target,
        "outcome": view.outcome,
        "scores": view.scores,
    }
    if predicted.error is not None:
        record["error"] = predicted.error
    for name in EXPORTED:
        record[name] = getattr(view, name)
    if view.choices is not None:
        record["choices"], record["choices_logprobs"] = view.choices, view.choices_logprobs
    record["row"] = None if view.metadata is None else orjson.Fragment(view.metadata)
    return _line(record)


def failed_line(predicted: Predicted, dataset: str) -> bytes:
    """A sample without a score: its prompt, and what went wrong."""
    view = predicted.view
    record = {
        "data_abbr": dataset,
        "id": view.sample_id,
        "repeat": view.repeat,
        "input": _prompt(view),
        "outcome": view.outcome,
        "error_info": view.error,
        "error": predicted.error,
    }
    return _line(record)


def sample_ids(identity: str) -> Identify:
    """Gives the samples of a run ids that no other sample has; the same each time they are written."""
    from uuid import NAMESPACE_URL, uuid5

    space = uuid5(NAMESPACE_URL, identity)
    return lambda sample, repeat: str(uuid5(space, f"{sample}/{repeat}"))


def _prompt(view: SampleView) -> Any:
    """The prompt; the messages where there is more than that one."""
    if view.messages is None:
        return view.prompt
    messages = orjson.loads(view.messages)
    plain = len(messages) == 1 and isinstance(messages[0].get("content"), str)
    return view.prompt if plain else messages


def _line(record: dict[str, Any]) -> bytes:
    return encode_json(record) + b"\n"
