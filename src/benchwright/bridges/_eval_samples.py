"""Samples and exchanges in the files of `run_eval`: one record per sample, and the first requests with their replies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson

from benchwright.core import JsonObject, ModelReply, Outcome, load_json
from benchwright.results import COLUMNS, RecordedStep, dump_each

EXCHANGES = 5
"""Requests with their replies in `report.json`, unless the pipeline says otherwise."""
_STATUSES: dict[str, str] = {
    Outcome.REQUEST_FAILED.value: "skipped_model_error",
    Outcome.SCORER_FAILED.value: "skipped_scorer_error",
    Outcome.SKIPPED.value: "skipped_missing_field",
}
"""The status of samples without a score in such files. All others are `scored`; `outcome` distinguishes them."""


_PREDICTED = [name for name, column in COLUMNS.items() if column.predicted]
_PREDICTION = ("sample_id", *_PREDICTED, "status", "metadata")
PREDICTION_COLUMNS = (*_PREDICTED, "sample_id", "repeat", "metadata")


def predictions(columns: Mapping[str, Sequence[Any]], rows: int, repeats: int) -> bytes:
    """Lines of `byob_predictions.jsonl`, in ASCII. The numbers of each repeat start `rows` after those of the one before."""
    numbered = list(zip(columns["sample_id"], columns["repeat"], columns["metadata"], strict=True))
    # Column by column: building each record separately takes twice as long.
    values = zip(
        [number + repeat * rows for number, repeat, _ in numbered],
        *(columns[name] for name in _PREDICTED),
        [_STATUSES.get(outcome, "scored") for outcome in columns["outcome"]],
        [
            orjson.Fragment(row) if row is not None and repeats == 1 else _row(row, repeat)
            for _, repeat, row in numbered
        ],
        strict=True,
    )
    records = [dict(zip(_PREDICTION, each, strict=True)) for each in values]
    lines = b"\n".join(filter(None, dump_each(records))) + b"\n"
    if lines.isascii():
        return lines
    return b"".join([json.dumps(load_json(line)).encode() + b"\n" for line in lines.splitlines()])


def _row(row: bytes | None, repeat: int) -> Any:
    value = None if row is None else load_json(row)
    if isinstance(value, dict):
        value["_repeat"] = repeat
    return value


def exchanges(calls: Iterable[RecordedStep], url: str, most: int = EXCHANGES) -> list[JsonObject]:
    """The first requests, `most` of them, with their replies, as `report.json` lists them."""
    return [
        {
            "request_data": request,
            "display_request": request,
            "response": _body(ModelReply.from_json(load_json(call.output))),
            "endpoint": url,
            "cache_key": call.input_hash.hex(),
        }
        for call in islice(calls, most)
        for request in (None if call.input is None else load_json(call.input),)
    ]


def _body(reply: ModelReply) -> JsonObject:
    """A reply in the form of a chat completion, with the fields that a run keeps."""
    if reply.failure is not None:
        failure = reply.failure
        return {
            "error": {"message": failure.message, "type": failure.kind, "code": failure.http_status},
        }
    message: JsonObject = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    body: JsonObject = {"choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}]}
    if (usage := reply.usage) is not None:
        body["usage"] = {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.prompt + usage.completion,
        }
    return body
