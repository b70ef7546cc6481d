"""`benchwright list`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._commands import either
from benchwright.cli._flags import add_workspace, existing_store, named_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.config import Setting
from benchwright.core import RUN_STATUSES, RunKind

_LIMIT = Setting("limit", "int", "show the newest N runs (default: 30)", least=1)
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


def configure(parser: Parser) -> None:
    parser.add_argument("--limit", type=value_of(_LIMIT), default=30, metavar="N", help=_LIMIT.meaning)
    parser.add_argument(
        "--name", "--eval", dest="name", metavar="NAME", help="only runs of this benchmark or workflow"
    )
    parser.add_argument("--suite", metavar="NAME", help="only runs of this suite, named as its file is")
    parser.add_argument(
        "--status",
        metavar="STATUS",
        choices=tuple(RUN_STATUSES),
        help=f"only runs with this status: {', '.join(RUN_STATUSES)}",
    )
    kinds = [kind.value for kind in RunKind]
    parser.add_argument(
        "--kind", choices=kinds, metavar="KIND", help=f"only runs of this kind: {either(kinds)}"
    )
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="only runs started since TIME: 30m, 12h, 7d, or a date such as 2026-03-01",
    )
    add_workspace(parser)
    parser.example(
        "benchwright list --name my_bench --limit 5", "benchwright list --status failed --since 7d"
    )


def since(text: str, flag: str = "--since") -> float:
    """The time that a flag names, in seconds since the epoch. Raises UsageError for other text."""
    import time
    from datetime import datetime

    from benchwright.core import UsageError

    count, unit = text[:-1], text[-1:]
    if unit in _UNITS and count.replace(".", "", 1).isdecimal():
        return time.time() - float(count) * _UNITS[unit]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise UsageError(
            f"{flag} {text!r}: expected how long ago (30m, 12h, 7d, 2w) or a date (2026-03-01, 2026-03-01T12:00)"
        ) from None


def execute(arguments: Namespace, output: Output) -> int:
    """Runs, newest first; JSON: `{"runs": […]}`."""
    from benchwright.results import view_of
    from benchwright.store import whole

    earliest = None if arguments.since is None else since(arguments.since)
    with existing_store(arguments) as store:
        runs = [] if store is None else store.runs()
        lost = named_workspace(arguments).run_folders({run.id for run in runs})
        if store is not None and arguments.status is not None:
            runs = [whole(store, run) for run in runs]  # one that has lost records is not completed
        for field in ("name", "status", "kind"):
            requested = getattr(arguments, field)
            if requested is not None:
                runs = [run for run in runs if getattr(run, field) == requested]
        if arguments.suite is not None:
            runs = [run for run in runs if run.settings.get("suite") == arguments.suite]
        if earliest is not None:
            runs = [run for run in runs if run.created_at >= earliest]
        shown = runs[: arguments.limit]
        views = [view_of(run, store) for run in shown]
    workspace = named_workspace(arguments)
    if output.as_json:
        output.json({"runs": [view.to_json() for view in views]})
    elif lost and not runs:
        output.line(workspace.without_runs())
    elif not shown:
        filtered = any((arguments.name, arguments.suite, arguments.status, arguments.kind, arguments.since))
        output.line("no such runs" if filtered else "no runs yet; start one with: benchwright run TARGET")
    else:
        from benchwright.reports import run_list

        output.show(run_list(views))
        if len(runs) > len(shown):
            output.note(f"{len(runs) - len(shown)} older runs are not shown; see them with --limit")
    if lost and (runs or output.as_json):
        output.note(f"{len(lost)} run folders are not on record; list them with: benchwright doctor")
    return 0
