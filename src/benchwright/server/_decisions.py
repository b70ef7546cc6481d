"""Handlers of what people decide by: slices of a run."""

from __future__ import annotations

from benchwright.results import Slices, run_slices
from benchwright.server._guard import Refusal
from benchwright.server._handlers import RestCall
from benchwright.server._state import ServerState
from benchwright.store import Store


async def get_slices(state: ServerState, call: RestCall) -> Slices:
    """Get a metric of a run by the values of a column of its data."""
    by, metric = call.query["by"], call.query["metric"]
    if not by:
        raise Refusal(422, "invalid", "by is missing", "name a column of the data: ?by=topic")

    def read(store: Store) -> Slices:
        run = store.run(call.run_id)
        question = ("slices", run.id, run.finished_at, by, metric)
        known: Slices | None = state.answers.get(question)
        if known is None:
            known = run_slices(store, run, by, metric)
            if run.finished_at is not None:
                state.answers.keep(question, known)
        return known

    return await state.read(read)
