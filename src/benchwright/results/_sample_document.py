"""The JSON of one sample for its page: as `show RUN SAMPLE --json` has it, with its requests, its repeats and other runs."""

from __future__ import annotations

from typing import Any

from benchwright.core import (
    JsonObject,
    JsonValue,
    ModelReply,
    NotFoundError,
    SampleRecord,
    load_exact_json,
    rfc3339,
)
from benchwright.results._kinds import view_of
from benchwright.results._labels import sample_labels
from benchwright.results._sample_columns import SampleView
from benchwright.results._samples import SampleDetails, StoreSamples
from benchwright.results._tool_calls import calls_view
from benchwright.store import Label, RecordedStep, RunRecord, Store

_LONGEST = 400
"""Characters of a reply in a list of repeats or of other runs."""
_PATIENCE = 0.3
"""Seconds in which the rows of other runs are indexed; the next visit goes on."""


def sample_document(store: Store, run: RunRecord, index: int, repeat: int) -> JsonObject:
    """A sample with `run`, `name`, `verdict`, `row`, `requests`, `repeats`, `elsewhere`, `labels` and `trials`: the row as JSON text, all requests
    to the model and to judges, the other repeats of its row, the same row in other runs, what people say of it, and what they got when
    they asked again. `elsewhere_unread` counts runs of the same name that were not searched yet."""
    steps = list(store.samples(run.id, index))
    views = list(StoreSamples.views_of(steps)) if steps else []
    place = next((at for at, view in enumerate(views) if view.repeat == repeat), None)
    if place is None:
        raise NotFoundError(f"run {run.id} has no sample {index}/{repeat}. Rows and repeats count from 0")
    judges = StoreSamples.judge_replies(store, run.id, index).get(repeat, {})
    details = SampleDetails(views[place], judges, calls_view(SampleRecord.from_score(steps[place].score)))
    row = views[place].metadata
    others, unread = store.same_row(run.id, index, repeat, patience_s=_PATIENCE)
    elsewhere: list[JsonValue] = []
    for (number, _), view in zip(
        others, StoreSamples.views_of([sample for _, sample in others]) if others else (), strict=True
    ):
        known = view_of(store.run(number))
        named: JsonObject = {"name": known.name, "model": known.model_title, "title": known.title}
        elsewhere.append({"run_id": number, **named, **_brief(view)})
    reply = Label.reply_id(views[place].response)
    return {
        **details.to_json(),
        "run": view_of(run).to_json(),
        "name": SampleRecord.from_score(steps[place].score).name,
        "row": None if row is None else row.decode(errors="replace"),
        "requests": _requests(store, run.id, index, repeat),
        "repeats": [_brief(view) for view in views],
        "elsewhere": elsewhere,
        "elsewhere_unread": unread,
        "labels": [label.to_json(reply) for label in sample_labels(store, run.id, index, repeat)],
        "trials": [trial.to_json() for trial in store.trials(run.id, (index, repeat))],
    }


def _brief(view: SampleView) -> JsonObject:
    text = view.response
    return {
        "sample_id": view.sample_id,
        "repeat": view.repeat,
        "outcome": view.outcome,
        "verdict": view.verdict,
        "scores": view.scores,
        "response": text if text is None or len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
    }


def _requests(store: Store, run_id: int, index: int, repeat: int) -> list[JsonValue]:
    prefixes = {kind: f"{kind}/{index:09d}/{repeat:04d}" for kind in ("call", "judge")}
    found: list[JsonValue] = []
    for kind in ("call", "judge"):
        calls: dict[str, RecordedStep] = store.calls(
            run_id, index, index, "call" if kind == "call" else "judge"
        )
        found += [_request(kind, key, calls[key]) for key in sorted(calls) if key.startswith(prefixes[kind])]
    return found


def _request(kind: str, key: str, call: RecordedStep) -> JsonObject:
    reply = ModelReply.from_json(_json(call.output) or {})
    failure = reply.failure
    return {
        "to": "judge" if kind == "judge" else "scorer's model" if "/m" in key else "model",
        "key": key,
        "status": reply.status,
        "http_status": None if failure is None else failure.http_status,
        "error": None if failure is None else failure.message,
        "attempts": reply.attempts,
        "started_at": rfc3339(reply.started_at) if reply.started_at else None,
        "latency_s": reply.latency_s or None,
        "finish_reason": reply.finish_reason,
        "text": reply.text,
        "reasoning": reply.reasoning or None,
        "body": None if call.input is None else call.input.decode(errors="replace"),
    }


def _json(text: bytes) -> Any:
    return load_exact_json(text)
