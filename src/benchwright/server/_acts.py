"""The routes with which a page changes a run, as the commands do: cancel, resume, rm, tag, rename and bless."""

from __future__ import annotations

from benchwright.server import _bodies as bodies
from benchwright.server._handlers import RestCall
from benchwright.server._state import ServerState
from benchwright.store import Store, listed_run


async def cancel(state: ServerState, call: RestCall) -> bodies.Done:
    """End a live run, as `cancel` does; it can be resumed."""

    def act(store: Store) -> bodies.Done:
        _, note = state.acts.cancel_run(store, store.run(call.run_id))
        said = f"run {call.run_id} canceled"
        return bodies.Done(f"{said}. {note}" if note else said)

    return await state.act(act)


async def resume(state: ServerState, call: RestCall) -> bodies.Done:
    """Start a process that resumes a run, as `resume` does. Answers when it has begun."""

    def act(store: Store) -> bodies.Done:
        process = state.acts.resume_apart(store, store.run(call.run_id))
        return bodies.Done(f"run {call.run_id} goes on in process {process}")

    return await state.act(act)


async def tag(state: ServerState, call: RestCall) -> bodies.Done:
    """Give a run tags, or take them away, as `tag` does."""
    body: bodies.Tags = call.body

    def act(store: Store) -> bodies.Done:
        found = state.acts.tag_run(store, store.run(call.run_id), body.tags)
        has = ", ".join(f"{name}={value}" for name, value in found.items()) or "no tags"
        return bodies.Done(f"run {call.run_id} has {has}")

    return await state.act(act)


async def rename(state: ServerState, call: RestCall) -> bodies.Done:
    """Give a run another name, as `rename` does."""
    body: bodies.Rename = call.body

    def act(store: Store) -> bodies.Done:
        return bodies.Done(
            f"run {call.run_id} is now {state.acts.rename_run(store, store.run(call.run_id), body.name)}"
        )

    return await state.act(act)


async def remove(state: ServerState, call: RestCall) -> bodies.Done:
    """Delete a run with its record and files, as `rm` does."""

    def act(store: Store) -> bodies.Done:
        _, kept = state.acts.remove_run(store, listed_run(store, call.run_id))
        return bodies.Done(
            f"run {call.run_id} deleted" + ("" if kept is None else f"; its files stay in {kept}")
        )

    return await state.act(act)


async def bless_run(state: ServerState, call: RestCall) -> bodies.Done:
    """Make a run the baseline of a name, as `bless` does."""
    body: bodies.Bless = call.body

    def act(store: Store) -> bodies.Done:
        store.run(call.run_id)
        moved = state.acts.bless(
            str(call.run_id),
            name=body.name,
            force=body.force,
            accept_cached=body.accept_cached,
            workspace=store.workspace.root,
        )
        return bodies.Done(f"{moved.name} is now {moved.source}")

    return await state.act(act)
