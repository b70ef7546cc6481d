"""Opens the workspace for commands that only look. Looking creates nothing."""

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
    """The workspace that `--workspace` names, or the nearest one. NotFoundError for a named folder that is not there."""
    from benchwright.store import existing_workspace

    return existing_workspace(Path.cwd(), None if arguments.workspace is None else Path(arguments.workspace))


@contextmanager
def existing_store(arguments: Namespace) -> Iterator[Store | None]:
    """The workspace's store; None where there is none yet. NotFoundError for a named folder that is not there."""
    from benchwright.store import open_existing

    store = open_existing(named_workspace(arguments))
    with nullcontext() if store is None else store:
        yield store


def name_configuration(output: Output) -> None:
    """Say which configuration is in force where it is not the current folder's: it may be overlooked there."""
    from benchwright.config import find_config

    here = Path.cwd()
    config = find_config(here)
    if config is not None and config.path.parent != here.resolve():
        output.note(f"configuration: {config.path}")
