"""The routes with which people label samples, grade replies blindly, and ask a model again."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Any

from benchwright.core import JsonObject, NotFoundError
from benchwright.results import LabelList
from benchwright.server import _bodies as bodies
from benchwright.server._guard import Refusal
from benchwright.server._handlers import RestCall
from benchwright.server._state import ServerState
from benchwright.store import LABEL_KINDS, Label, Page, Store, open_store


async def add_label(state: ServerState, call: RestCall) -> JsonObject:
    """Label a sample, or replace one's own label of the same kind; it shows in every run on its row."""
    body: bodies.NewLabel = call.body
    row, repeat = call.path["sample_id"], call.path["repeat"]

    def act(store: Store) -> JsonObject:
        store.run(call.run_id)
        grades = judge_grades(state, store, call.run_id) if body.kind == "judge" else []
        label = LabelList.new(
            store, call.run_id, row, repeat, kind=body.kind, value=body.value, who=call.who, grades=grades
        )
        kept = store.add_label(label)
        return kept.to_json(kept.reply)

    return await state.read(act)


def judge_grades(state: ServerState, store: Store, run_id: int) -> list[str]:
    """The grades of a run's judge, the best first: found once, if the run has ended. Empty without a judge."""
    run = store.run(run_id)
    question = ("grades", run.id, run.finished_at)
    known: list[str] | None = state.answers.get(question)
    if known is None:
        try:
            found: Any = state.acts.blind_samples(store, [run_id], 0, 0)
            known = found["grades"]
        except NotFoundError:
            known = []
        if run.finished_at is not None:
            state.answers.keep(question, known)
    return known or []


async def remove_label(state: ServerState, call: RestCall) -> bodies.Done:
    """Take a label away."""

    def act(store: Store) -> bodies.Done:
        gone = store.remove_label(call.path["label_id"])
        return bodies.Done(f"label {gone.id} ({LABEL_KINDS[gone.kind].words}) removed")

    return await state.read(act)


async def list_labels(state: ServerState, call: RestCall) -> Page[JsonObject]:
    """List labels, newest first."""
    query = call.query
    limit = query["limit"]

    def read(store: Store) -> Page[JsonObject]:
        rows = None
        if query["run"] is not None:
            store.run(query["run"])
            rows = {row for *_, row in store.labelled(query["run"], query["kind"])}
        wanted = (query["q"] or "").casefold()
        found = store.labels(
            rows,
            kind=query["kind"],
            who=query["who"],
            after=query["after"],
            limit=None if wanted else limit + 1,
        )
        page = list(islice((each for each in found if _has(each, wanted)), limit + 1))
        return Page(
            [each.to_json(each.reply) for each in page[:limit]],
            page[limit - 1].id if len(page) > limit else None,
        )

    return await (state.read if query["run"] is None else state.read_whole)(read)


async def label_effect(state: ServerState, call: RestCall) -> JsonObject:
    """Compute what labels would change of a run, by scoring its labelled samples again, as `labels RUN --json` has it; nothing is recorded."""
    acts = state.acts

    def act() -> JsonObject:
        with open_store(state.store.workspace) as store:
            found: JsonObject = acts.run_labels(store, store.run(call.run_id)).to_json()
            return found

    return await asyncio.to_thread(act)  # not in the thread of reads, which would wait for the scorer


async def get_blind(state: ServerState, call: RestCall) -> JsonObject:
    """Get samples with a judge's grade to grade oneself: without the grade, without names of models, in random order."""
    runs = _runs(call)
    return await state.read_whole(
        lambda store: state.acts.blind_samples(store, runs, call.query["seed"], call.query["limit"])
    )


async def get_agreement(state: ServerState, call: RestCall) -> JsonObject:
    """Get how far judges agree with people's labels so far, as `judge-calibrate --json` has it, by run."""
    runs = _runs(call)
    return await state.read_whole(lambda store: state.acts.judge_agreement(store, runs))


async def ask_again(state: ServerState, call: RestCall) -> JsonObject:
    """Send the request of a sample again, changed, to the run's model, and score the reply; it becomes no part of the run."""
    body: bodies.AskAgain = call.body
    sample = call.path["sample_id"], call.path["repeat"]
    acts = state.acts

    def act() -> JsonObject:
        with open_store(state.store.workspace) as store:
            return acts.ask_again(store, store.run(call.run_id), sample, body.body, call.who).to_json()

    return await asyncio.to_thread(act)  # not in the thread of reads, which would wait for the model


def _has(label: Label, wanted: str) -> bool:
    return not wanted or wanted in (label.value or "").casefold()


def _runs(call: RestCall) -> list[int]:
    text = call.query["runs"] or ""
    names = text.split(",")
    if not all(name.isascii() and name.isdecimal() and len(name) < 18 for name in names):
        raise Refusal(422, "invalid", f"runs is {text[:80]!r}", "name runs by their numbers: ?runs=1,2")
    return [int(name) for name in names]
