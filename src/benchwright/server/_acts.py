"""The routes with which a page changes a run, as the commands do: cancel, rm and bless."""

from __future__ import annotations

from benchwright.server import _bodies as bodies
from benchwright.server._handlers import RestCall
from benchwright.server._state import ServerState
from benchwright.store import Store


async def cancel(state: ServerState, call: RestCall) -> bodies.Done:
    """End a live run, as `cancel` does; it can be resumed."""

    def act(store: Store) -> bodies.Done:
        done = state.acts.cancel_run(store, store.run(call.run_id))
        said = f"run {done.run_id} canceled"
        return bodies.Done(f"{said}. {done.note}" if done.note else said)

    return await state.read(act)


async def remove(state: ServerState, call: RestCall) -> bodies.Done:
    """Delete a run with its record and files, as `rm` does."""

    def act(store: Store) -> bodies.Done:
        done = state.acts.remove_run(store, store.run(call.run_id))
        return bodies.Done(
            f"run {done.run_id} deleted" + ("" if done.kept is None else f"; its files stay in {done.kept}")
        )

    return await state.read(act)


async def bless_run(state: ServerState, call: RestCall) -> bodies.Done:
    """Make a run the baseline of a name, as `bless` does."""
    body: bodies.Bless = call.body

    def act(store: Store) -> bodies.Done:
        store.run(call.run_id)
        moved = state.acts.bless(str(call.run_id), name=body.name, workspace=store.workspace.root)
        return bodies.Done(f"{moved.name} is now {moved.source}")

    return await state.read(act)
