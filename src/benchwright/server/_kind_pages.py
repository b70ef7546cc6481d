"""The routes behind the pages of load tests, of what `check` found, and of gates."""

from __future__ import annotations

from benchwright.core import JsonObject, RunKind
from benchwright.results import load_document
from benchwright.server import _bodies as bodies
from benchwright.server._guard import Refusal
from benchwright.server._handlers import RestCall
from benchwright.server._state import ServerState
from benchwright.store import Store


async def get_load_test(state: ServerState, call: RestCall) -> JsonObject:
    """Get a load test in full, as `show --json` prints it, with definitions of its figures, numbers of charts, and words about them."""

    def read(store: Store) -> JsonObject:
        run = store.run(call.run_id)
        if run.kind != RunKind.LOAD:
            raise Refusal(404, "not_found", f"run {run.id} is not a load test")
        return load_document(store, run)

    return await state.read(read)


async def hand_over(state: ServerState, call: RestCall) -> bodies.Empty:
    """Hand over the document of a page, such as the findings of a check, until the server stops."""
    body: bodies.HandOver = call.body
    state.handed.keep(body.page, body.document)
    return bodies.Empty()


async def get_handed(state: ServerState, call: RestCall) -> bytes:
    """Get the document that a command handed over for a page."""
    page = call.query["page"] or ""
    found = state.handed.get(page)
    if found is None:
        raise Refusal(
            404, "not_found", f"no command has opened the page {page[:100]!r} since this server was started", "run the command that opens it again, such as `benchwright check TARGET --web`"
        )  # fmt: skip
    return found
