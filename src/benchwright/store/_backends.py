"""Opens the store that a URL names. A driver is one file in `_drivers` and one row here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TypeAlias, cast

from benchwright.core import UsageError, suggest
from benchwright.store._driver import Driver
from benchwright.store._ports import Store
from benchwright.store._records import Recovered, StoreError
from benchwright.store._workspace import Workspace, nearest_workspace

_DRIVERS = {"sqlite": "sqlite_file", "postgresql": "postgres", "memory": "sqlite_memory"}
"""Files of drivers by the scheme of their URLs. Each is imported only when a store is opened."""


_HOME = "benchwright.store._drivers"


def open_store(place: str | Workspace, *, read_only: bool = False) -> Store:
    """Open a store by its URL, such as `sqlite:////srv/evals/.benchwright/benchwright.db`, or that of a workspace.

    It is created or changed to this version as needed, unless `read_only`. Use it as a context manager.
    """
    workspace = workspace_at(place) if isinstance(place, str) else place
    return _opened(workspace, _driver(workspace), read_only=read_only)


def workspace_at(url: str) -> Workspace:
    """The workspace whose records a URL names."""
    return _kind(url).workspace_at(url)


Named: TypeAlias = Callable[[Path], str | None]
"""The URL of the store that the user names for the workspace in a folder; None: it has its own. Who calls knows where names are."""


def find_workspace(
    start: Path, explicit: Path | None = None, named: Named | None = None, *, to_read: bool = False
) -> Workspace:
    """The explicit folder, else the nearest ancestor with records or a configuration, else `start` itself; with the store that is
    named, if one is. A store has its own place for the files of runs, unless there is an explicit folder. Commands that only read
    set `to_read`: then an explicit folder that does not exist raises NotFoundError."""
    found = nearest_workspace(start, explicit, to_read=to_read)
    url = None if named is None else named(found.root)
    if url is None:
        return found
    place = workspace_at(url)
    return place if explicit is None else Workspace(found.root, url=place.store_url)


def open_existing(workspace: Workspace, *, to_write: bool = False) -> Store | None:
    """Open a workspace's store; None if nothing was ever recorded, because reading creates nothing.

    A store that this user may only read is opened for reading, unless the caller has something `to_write`.
    """
    driver = _driver(workspace)
    if not driver.exists():
        return None
    return _opened(workspace, driver, read_only=not (to_write or driver.writable()))


def store_problems(
    workspace: Workspace, *, repair: bool = False
) -> tuple[list[str] | None, Recovered | None]:
    """Descriptions of damage in a workspace's store; None if nothing was ever recorded. With `repair`, a damaged store is replaced by one
    with everything that can still be read, and kept aside."""
    driver = _driver(workspace)
    if not driver.exists():
        return None, None
    problems = driver.problems()
    if not problems or not repair:
        return problems, None
    from benchwright.store._statements.schema import connected

    return problems, driver.recover(connected)


def plain_store_error(error: Exception) -> StoreError | None:
    """An exception that a driver let through, with its cause and cure; None for other exceptions."""
    # Only of those that were loaded: no other can have raised it, and its library may not be installed.
    for file in _DRIVERS.values():
        module = sys.modules.get(f"{_HOME}.{file}")
        if module is not None and isinstance(error, module.DRIVER.errors):
            found: StoreError = module.DRIVER.plain_error(error)
            return found
    return None


def _opened(workspace: Workspace, driver: Driver, *, read_only: bool) -> Store:
    from benchwright.store._statements import OpenedStore

    return OpenedStore(workspace, driver, read_only=read_only)


def _driver(workspace: Workspace) -> Driver:
    return _kind(workspace.store_url)(workspace)


def _kind(url: str) -> type[Driver]:
    scheme, colon, _ = url.partition("://")
    file = _DRIVERS.get(scheme) if colon else None
    if file is None:
        # The message leaves out the rest of the URL, which may contain a password.
        wrong = f"there is no store of the kind {scheme!r}" if colon else f"{url!r} is not a URL of a store"
        raise UsageError(
            f"{wrong}; known: {', '.join(_DRIVERS)}.{suggest(scheme, list(_DRIVERS)) if colon else ''} "
            "Write it as in sqlite:////srv/evals/.benchwright/benchwright.db"
        )
    return cast("type[Driver]", import_module(f"{_HOME}.{file}").DRIVER)
