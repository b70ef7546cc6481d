"""The REST server beside a program, on a free loopback port, for as long as the program runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchwright.server import serving
from benchwright.store import Lease, Workspace
from benchwright.workflows import ServerBeside


@contextmanager
def beside(workspace: Workspace, lease: Lease) -> Iterator[ServerBeside | None]:
    """A server that may write to the run of a lease."""
    with serving(workspace) as (address, state):
        state.hold(lease)
        yield ServerBeside(address.url, address.token)
