"""Handlers of what people decide by: slices and distributions of a run, comparisons, and the history of a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from benchwright.core import JsonObject
from benchwright.results import (
    ComparisonOptions,
    History,
    Slices,
    run_distributions,
    suite_document,
)
from benchwright.server._guard import Refusal
from benchwright.server._handlers import RestCall
from benchwright.server._state import ServerState
from benchwright.store import RunRecord, Store

T = TypeVar("T")


async def get_slices(state: ServerState, call: RestCall) -> Slices:
    """Get a metric of a run by the values of a column of its data."""
    by, metric = call.query["by"], call.query["metric"]
    if not by:
        raise Refusal(422, "invalid", "by is missing", "name a column of the data: ?by=topic")

    return await _of_samples(
        state, call, ("slices", by, metric), lambda store, run: Slices.of(store, run, by, metric)
    )


async def get_distributions(state: ServerState, call: RestCall) -> JsonObject:
    """Get the distributions of scores, times, tokens, cost and length over the samples of a benchmark run, and how stable its repeats are."""
    return await _of_samples(state, call, ("distributions",), run_distributions)


async def _of_samples(
    state: ServerState, call: RestCall, question: tuple[object, ...], reading: Callable[[Store, RunRecord], T]
) -> T:
    """What is read from all samples of a run: once, if the run has ended."""

    def read(store: Store) -> T:
        run = store.run(call.run_id)
        asked = (*question, run.id, run.finished_at)
        known: T | None = state.answers.get(asked)
        if known is None:
            known = reading(store, run)
            if run.finished_at is not None:
                state.answers.keep(asked, known)
        return known

    return await state.read_once((*question, call.run_id), read)


async def get_comparison(state: ServerState, call: RestCall) -> JsonObject:
    """Compare two to eight runs, as `compare --json` prints it; the first is the baseline."""
    text = call.query["runs"] or ""
    names = text.split(",")
    if not all(name.isascii() and name.isdecimal() and len(name) < 18 for name in names):
        raise Refusal(422, "invalid", f"runs is {text[:80]!r}", "name runs by their numbers: ?runs=1,2,3")
    metric, force = call.query["metric"], call.query["force"] == "true"
    options = ComparisonOptions(metric=metric, force=force, listed=call.query["limit"])

    def read(store: Store) -> JsonObject:
        found = [int(name) for name in names]
        ended = [store.run(number).finished_at for number in found]
        question = ("compare", *found, *ended, call.query["by"], metric, force, call.query["limit"])
        known: JsonObject | None = state.answers.get(question)
        if known is None:
            known = state.acts.compare_runs(found, options, by=call.query["by"], store=store).to_json()
            if None not in ended:
                state.answers.keep(question, known)
        return known

    asked = tuple(sorted(call.query.items(), key=str))
    return await state.read_once(("compare", *asked), read)


async def get_history(state: ServerState, call: RestCall) -> History:
    """Get the runs of one name, oldest first, each with its headline and what changed since the run before it."""
    query = call.query
    if not query["name"]:
        raise Refusal(422, "invalid", "name is missing", "name a benchmark: ?name=questions")

    def read(store: Store) -> History:
        harmless = state.acts.harmless_settings()
        return History.of(store, query["name"], harmless, after=query["after"], limit=query["limit"])

    return await state.read(read)


async def get_suite(state: ServerState, call: RestCall) -> JsonObject:
    """Get a suite: the newest run of each model on each dataset, and which models are the best by paired tests."""
    name = call.query["name"]
    if not name:
        raise Refusal(422, "invalid", "name is missing", "name a suite, as its file is called: ?name=nightly")

    def read(store: Store) -> JsonObject:
        state.catalogue.refresh(store)
        numbers = state.catalogue.of_suite(name)
        runs = [store.run(number) for number in numbers]
        question = ("suite", name, *((run.id, run.finished_at) for run in runs))
        known: JsonObject | None = state.answers.get(question)
        if known is None:
            known = suite_document(store, name, runs or None)
            if all(run.finished_at is not None for run in runs):
                state.answers.keep(question, known)
        return known

    return await state.read(read)
