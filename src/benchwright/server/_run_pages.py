"""The routes behind the pages of a run and its samples. What they read may be long, so they read it in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from benchwright.core import JsonObject, suggest
from benchwright.results import (
    COLUMNS,
    SampleDetails,
    SearchPage,
    StoreSamples,
    run_document,
    sample_document,
)
from benchwright.server import _bodies as bodies
from benchwright.server._guard import Refusal
from benchwright.server._handlers import RestCall
from benchwright.server._labelling import judge_grades
from benchwright.server._state import ServerState
from benchwright.store import RunRecord, SampleFilter, SampleOrder, Store


async def get_details(state: ServerState, call: RestCall) -> JsonObject:
    """Get a run in full, as `show --json` prints it; a benchmark run also has `page`, what its page shows in words."""
    return await state.read_whole(lambda store: run_document(store, store.run(call.run_id)))


async def list_samples(state: ServerState, call: RestCall) -> bodies.SamplePage:
    """List the samples of a benchmark run that pass a filter; a page may be short though there are more."""
    query = call.query
    where, order = _filter(query), SampleOrder(query["sort"], query["descending"] == "true")
    columns = _columns(query["columns"])
    other = query["changed_from"]

    by_facets = (
        not where.looks
        and where.metric is None
        and where.labelled is None
        and order.by is None
        and other is None
    )

    def read(store: Store) -> bodies.SamplePage:
        run = store.run(call.run_id)
        samples = StoreSamples(store, run.id)
        within = (
            where if other is None else replace(where, places=_changed(state, samples, run, store.run(other)))
        )
        page = samples.page(
            within,
            after=query["after"],
            limit=query["limit"],
            order=order,
            patience_s=query["patience_s"],
        )
        total = _total(state, store, run, where) if by_facets else None
        if within.places is not None and where == SampleFilter() and order.by is None:
            total = len(within.places)
        return bodies.SamplePage(
            samples=[_shown(each, columns, query["cut"]) for each in samples.with_judges(page.items)],
            note=samples.verdict_note() or None if where.verdict is not None else None,
            next=page.next,
            total=total,
            looked=page.looked,
            indexed=None if page.indexed is None else list(page.indexed),
        )

    return await (state.read if by_facets else state.read_whole)(read)


async def get_sample(state: ServerState, call: RestCall) -> JsonObject:
    """Get a sample in full: as `show RUN SAMPLE --json` has it, with its requests, its repeats, the same row in other runs, and the grades
    of its judge, the best first."""
    row, repeat = call.path["sample_id"], call.path["repeat"]

    def read(store: Store) -> JsonObject:
        found = sample_document(store, store.run(call.run_id), row, repeat)
        graded = found["grade"] is not None
        return {**found, "grades": list(judge_grades(state, store, call.run_id)) if graded else []}

    return await state.read(read)


async def search_all(state: ServerState, call: RestCall) -> SearchPage:
    """Search names, models, tags, prompts, replies, targets and judges' replies of all runs; a page tells how far it looked."""
    query = call.query
    return await state.read_whole(
        lambda store: SearchPage.of(store, query["q"] or "", after=query["after"], limit=query["limit"])
    )


def _changed(state: ServerState, samples: StoreSamples, run: RunRecord, other: RunRecord) -> Sequence[int]:
    """The places of samples that changed from another run: found once, if both runs have ended."""
    question = ("changed", run.id, run.finished_at, other.id, other.finished_at)
    known: Sequence[int] | None = state.answers.get(question)
    if known is None:
        known = samples.changed_from(other.id)
        if None not in question:
            state.answers.keep(question, known)
    return known


def _filter(query: Mapping[str, Any]) -> SampleFilter:
    where = {
        name: query[name] for name in SampleFilter.__struct_fields__ if name in query and name != "scored"
    }
    scored = query["scored"]
    return SampleFilter(scored=None if scored is None else scored == "true", **where)


def _total(state: ServerState, store: Store, run: RunRecord, where: SampleFilter) -> int:
    question = ("counts", run.id, run.finished_at)
    counts: Mapping[Any, int] | None = state.answers.get(question)
    if counts is None:
        counts = store.sample_counts(run.id)
        if run.finished_at is not None:
            state.answers.keep(question, counts)
    return sum(count for facet, count in counts.items() if where.passes(facet))


_COLUMNS = (*COLUMNS, "reason")
"""The columns of samples in lists: those of their file, and what judges wrote."""


def _columns(text: str | None) -> list[str] | None:
    """The columns that were asked for; None: all."""
    if text is None:
        return None
    names = text.split(",")
    for name in names:
        if name not in _COLUMNS:
            near = suggest(name, _COLUMNS)
            raise Refusal(
                422,
                "invalid",
                f"samples have no column {name[:40]!r}.{near}",
                f"there are {', '.join(_COLUMNS)}",
            )
    return names


def _shown(details: SampleDetails, columns: list[str] | None, cut: int | None) -> JsonObject:
    shown = {**details.sample.to_json(), "reason": details.reason}
    if columns is not None:
        shown = {name: shown[name] for name in columns}
    return shown if cut is None else {name: _cut(value, cut) for name, value in shown.items()}


def _cut(value: Any, most: int) -> Any:
    """A value with every text in it cut."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]}…"
    if isinstance(value, dict):
        return {name: _cut(each, most) for name, each in value.items()}
    return [_cut(each, most) for each in value] if isinstance(value, list) else value
