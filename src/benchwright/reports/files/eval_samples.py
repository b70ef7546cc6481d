"""Samples and exchanges in the files of `run_eval`: one record per sample, and the first requests with their replies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

import orjson

from benchwright.core import JsonObject, ModelReply, Outcome, encode_json, load_json
from benchwright.reports.views.samples import Predicted, RecordedCall

EXCHANGES = 5
"""Requests with their replies in `report.json` and `report.html`, unless the pipeline says otherwise."""
_STATUSES = {
    Outcome.REQUEST_FAILED: "skipped_model_error",
    Outcome.SCORER_FAILED: "skipped_scorer_error",
    Outcome.SKIPPED: "skipped_missing_field",
}
"""What such files call samples without a score. All others are `scored`; `outcome` tells them apart."""


def prediction(predicted: Predicted, rows: int, repeats: int) -> bytes:
    """A line of `byob_predictions.jsonl`, in ASCII. Each repeat has numbers of its own, `rows` after the one before."""
    view = predicted.view
    row: Any = None if view.metadata is None else orjson.loads(view.metadata)
    if repeats > 1 and isinstance(row, dict):
        row["_repeat"] = view.repeat
    line = encode_json(
        {
            "sample_id": view.sample_id + view.repeat * rows,
            "prompt": view.prompt,
            "response": view.response,
            "target": view.target,
            "scores": view.scores,
            "status": _STATUSES.get(Outcome(view.outcome), "scored"),
            "outcome": view.outcome,
            "error": view.error,
            "metadata": row,
        }
    )
    return (line if line.isascii() else json.dumps(load_json(line)).encode()) + b"\n"


def exchanges(calls: Iterable[RecordedCall], url: str, most: int = EXCHANGES) -> list[JsonObject]:
    """The first requests, `most` of them, with their replies, as `report.json` lists them."""
    return [
        {
            "request_data": call.request,
            "display_request": call.request,
            "response": _body(call.reply),
            "endpoint": url,
            "cache_key": call.input_hash.hex(),
        }
        for call in islice(calls, most)
    ]


def _body(reply: ModelReply) -> JsonObject:
    """A reply in the form of a chat completion. Servers send more; this is what a run keeps of it."""
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
