"""The routes behind the pages of a run and its samples. What they read may be long, so they read it in a thread."""

from __future__ import annotations

from benchwright.core import JsonObject
from benchwright.results import run_document
from benchwright.server._handlers import RestCall
from benchwright.server._state import ServerState


async def get_details(state: ServerState, call: RestCall) -> JsonObject:
    """Get a run in full, as `show --json` prints it; a benchmark run also has `page`, what its page shows in words."""
    return await state.read(lambda store: run_document(store, store.run(call.run_id)))
