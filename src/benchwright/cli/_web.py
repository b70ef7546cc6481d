"""Opens pages of a workspace in the browser, for `--web` and `--open`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.core import RunKind

if TYPE_CHECKING:
    from benchwright.store import RunRecord, Workspace

_PLACES = {RunKind.LOAD: "/load", RunKind.WORKFLOW: "/workflows"}
"""Where the pages of kinds of runs are that have their own."""
ONCE = "works once, within 10 minutes"
"""What must be known of a printed URL."""


def add_web(parser: Parser, what: str) -> None:
    """Add `--web`."""
    parser.add_argument(
        "--web",
        action="store_true",
        help=f"open {what} in the browser, on a server that is started if there is none",
    )


def page_of(run: RunRecord) -> str:
    """The address of the page of a run."""
    return f"{_PLACES.get(run.kind, '/runs')}/{run.id}"  # type: ignore[call-overload]


def open_page(
    workspace: Workspace, address: str, output: Output, *, handed: tuple[str, Any] | None = None
) -> dict[str, Any]:
    """Open a page, and print where it is for people whose browser is elsewhere. Returns what `--json` prints of it."""
    need_server()
    from benchwright.server import opened_page

    page = opened_page(workspace, address, handed=handed)
    if page.started:
        output.note(
            f"started a server for this workspace (process {page.pid}); it ends {page.idle_minutes} minutes after its last page is "
            f"closed, or at once with: kill -INT {page.pid}"
        )
    words = f"open: {page.open_url} ({ONCE})"
    if output.as_json:
        output.note(words)
    else:
        output.line(words)
    browse(workspace, page.open_url)
    return {"open_url": page.open_url, "pid": page.pid, "started": page.started}


def open_new(arguments: Namespace, output: Output) -> None:
    """With `--open`, open the page that goes to the next run as soon as it is recorded."""
    if not arguments.open:
        return
    from benchwright.store import open_existing

    workspace = named_or_nearest(arguments)
    last = 0
    if (store := open_existing(workspace)) is not None:
        with store:
            last = max((run.id for run in store.runs(limit=1)), default=0)
    open_page(workspace, f"/runs?follow={last}", output)


def need_server() -> None:
    """Raise UsageError if the packages of the server are not installed."""
    try:
        import benchwright.server  # noqa: F401
    except ModuleNotFoundError as error:  # not part of a plain installation
        from benchwright.core import UsageError

        raise UsageError(
            f"serving needs the extra `server` ({error.name} is missing): pip install 'benchwright[server]', "
            "or in a clone: pip install '.[server]'"
        ) from None


def named_or_nearest(arguments: Namespace) -> Workspace:
    """The workspace that the flags name, or the nearest one."""
    from benchwright.config import named_store
    from benchwright.store import find_workspace

    explicit = None if arguments.workspace is None else Path(arguments.workspace)
    return find_workspace(Path.cwd(), explicit, named_store)


def browse(workspace: Workspace, url: str) -> None:
    """Open a URL in the browser of this desktop, if there is one. The code in it must not be among the words of a command, which
    other users of the machine can list, so the browser opens a private file that leads there."""
    import webbrowser

    if not _has_desktop():
        return
    place = workspace.state / "open.html"
    with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={url}"><a href="{url}">Open the page</a>'
        )
    try:
        webbrowser.open(place.as_uri())
    except webbrowser.Error:
        return  # the URL was printed


def _has_desktop() -> bool:
    """Whether a browser would open in a window. One in the terminal would take it away from the command."""
    shown = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return sys.platform == "darwin" or any(os.environ.get(name) for name in shown)
