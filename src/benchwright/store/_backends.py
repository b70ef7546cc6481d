"""Opens the store that a URL names. A backend is one folder of this package and one row here."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from benchwright.core import UsageError, suggest
from benchwright.store._protocols import Store
from benchwright.store._records import Recovered, StoreError
from benchwright.store._workspace import Workspace

_BACKENDS = {"sqlite": "benchwright.store._sqlite"}
"""Backends by the scheme of their URLs. Each is imported only when a store is opened."""


class Backend(Protocol):
    """The interface of a backend's package."""

    def workspace_at(self, url: str) -> Workspace:
        """The workspace of a URL."""

    def open_store(self, workspace: Workspace, *, read_only: bool) -> Store:
        """Open the workspace's store; create or migrate it unless `read_only`."""

    def exists(self, workspace: Workspace) -> bool:
        """Whether anything was ever recorded there."""

    def writable(self, workspace: Workspace) -> bool:
        """Whether this user may record there."""

    def problems(self, workspace: Workspace) -> list[str]:
        """Descriptions of damage; empty if the store is sound."""

    def recover(self, workspace: Workspace) -> Recovered:
        """Keep what can be read of a damaged store."""

    def plain_error(self, error: Exception) -> StoreError | None:
        """An exception of the database's driver, with its cause and cure; None for other exceptions."""


def open_store(place: str | Workspace, *, read_only: bool = False) -> Store:
    """Open a store by its URL, such as `sqlite:////srv/evals/.benchwright/benchwright.db`, or that of a workspace.

    It is created or migrated as needed, unless `read_only`. Use it as a context manager.
    """
    if isinstance(place, str):
        place = _backend(place).workspace_at(place)
    return _backend(place.store_url).open_store(place, read_only=read_only)


def open_existing(workspace: Workspace, *, to_write: bool = False) -> Store | None:
    """Open a workspace's store; None if nothing was ever recorded, because reading creates nothing.

    A store that this user may only read is opened for reading, unless the caller has something `to_write`.
    """
    backend = _backend(workspace.store_url)
    if not backend.exists(workspace):
        return None
    return backend.open_store(workspace, read_only=not (to_write or backend.writable(workspace)))


def store_problems(workspace: Workspace) -> list[str] | None:
    """Descriptions of damage in a workspace's store; None if nothing was ever recorded."""
    backend = _backend(workspace.store_url)
    return backend.problems(workspace) if backend.exists(workspace) else None


def recover_store(workspace: Workspace) -> Recovered:
    """Replace a damaged store by one with everything that can still be read. The damaged one is kept aside."""
    return _backend(workspace.store_url).recover(workspace)


def plain_store_error(error: Exception) -> StoreError | None:
    """An exception that a backend let through, with its cause and cure; None for other exceptions."""
    backends = (cast(Backend, import_module(module)) for module in _BACKENDS.values())
    return next((plain for backend in backends if (plain := backend.plain_error(error)) is not None), None)


def _backend(url: str) -> Backend:
    scheme, colon, _ = url.partition("://")
    module = _BACKENDS.get(scheme) if colon else None
    if module is None:
        # The message leaves out the rest of the URL, which may contain a password.
        wrong = f"there is no store of the kind {scheme!r}" if colon else f"{url!r} is not a URL of a store"
        raise UsageError(
            f"{wrong}; known: {', '.join(_BACKENDS)}.{suggest(scheme, list(_BACKENDS)) if colon else ''} "
            "Write it as in sqlite:////srv/evals/.benchwright/benchwright.db"
        )
    return cast(Backend, import_module(module))
