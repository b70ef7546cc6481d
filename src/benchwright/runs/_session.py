"""`Session`: where one call of a function or a command works."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Self

from benchwright.config import ConfigFile, find_config, named_store
from benchwright.core import NotFoundError
from benchwright.datasets import hub_commits
from benchwright.store import Store, Workspace, find_workspace, open_existing, open_store


class Session:
    """The folder, the configuration, the workspace and the store of one call. While it lasts, every revision of a hub dataset
    keeps one commit."""

    def __init__(
        self,
        workspace: str | os.PathLike[str] | None = None,
        store: str | None = None,
        *,
        config: ConfigFile | None = None,
    ) -> None:
        self.cwd = Path.cwd()
        self._named_store = partial(named_store, given=store)
        self._explicit = None if workspace is None else Path(workspace)
        self._config = config
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        self._opened.enter_context(hub_commits())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    @cached_property
    def config(self) -> ConfigFile | None:
        """The configuration: the given one, or the nearest upwards from the folder."""
        return self._config or find_config(self.cwd)

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace, which may be new."""
        return find_workspace(self.cwd, self._explicit, self._named_store)

    @cached_property
    def store(self) -> Store:
        """The store of the workspace, created if there is none."""
        return self._opened.enter_context(open_store(self.workspace))

    def recorded(self, *, new: bool = False) -> Store | None:
        """The store with what is recorded; None if nothing is. Raises NotFoundError for a given workspace that does not exist,
        unless it may be `new`."""
        place = (
            self.workspace
            if new
            else find_workspace(self.cwd, self._explicit, self._named_store, to_read=True)
        )
        store = open_existing(place)
        return None if store is None else self._opened.enter_context(store)

    def resumable(self, run: str) -> Store:
        """The store in which a recorded run goes on. Raises NotFoundError if nothing is recorded."""
        place = find_workspace(self.cwd, self._explicit, self._named_store, to_read=True)
        store = open_existing(place, to_write=True)
        if store is None:
            raise NotFoundError(
                f"no run {run!r}: there are no runs in {place.root} yet. Go to the folder of the run, "
                "or name it with --workspace"
            )
        return self._opened.enter_context(store)
