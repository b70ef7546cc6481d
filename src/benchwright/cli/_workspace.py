"""Opens the workspace for commands that only read. Reading creates nothing."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchwright.cli._output import Output
    from benchwright.store import Store, Workspace


def named_workspace(arguments: Namespace) -> Workspace:
    """The workspace that `--workspace` names, or the nearest one. Raises NotFoundError for a missing folder."""
    from benchwright.store import existing_workspace

    return existing_workspace(Path.cwd(), None if arguments.workspace is None else Path(arguments.workspace))


@contextmanager
def existing_store(arguments: Namespace) -> Iterator[Store | None]:
    """The store of the workspace; None if there is none yet. Raises NotFoundError for a missing folder."""
    from benchwright.store import open_existing

    store = open_existing(named_workspace(arguments))
    with nullcontext() if store is None else store:
        yield store


def name_configuration(output: Output) -> None:
    """Print which configuration is used, unless it is in the current folder."""
    from benchwright.config import find_config

    here = Path.cwd()
    config = find_config(here)
    if config is not None and config.path.parent != here.resolve():
        output.note(f"configuration: {config.path}")
