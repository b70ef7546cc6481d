"""`benchwright list`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser, value_of
from benchwright.cli._run_flags import add_workspace
from benchwright.cli._workspace import existing_store
from benchwright.config import Setting

_LIMIT = Setting("limit", "int", "show the newest N (default: 30)", least=1)


def configure(parser: Parser) -> None:
    """Arguments of `list`."""
    parser.add_argument("--limit", type=value_of(_LIMIT), default=30, metavar="N", help=_LIMIT.meaning)
    parser.add_argument("--name", metavar="BENCHMARK", help="only runs of this benchmark")
    parser.add_argument(
        "--status", metavar="STATUS", help="only completed, interrupted, failed or running ones"
    )
    add_workspace(parser)
    parser.example("benchwright list --name my_bench --limit 5")


def execute(arguments: Namespace, output: Output) -> int:
    """Runs, newest first; JSON: `{"runs": […]}`."""
    with existing_store(arguments) as store:
        runs = [] if store is None else store.runs()
    if arguments.name is not None:
        runs = [run for run in runs if run.name == arguments.name]
    if arguments.status is not None:
        runs = [run for run in runs if run.status == arguments.status]
    shown = runs[: arguments.limit]
    if output.as_json:
        from benchwright.reports import run_json

        output.json({"runs": [run_json(run) for run in shown]})
    elif not shown:
        output.line("no runs yet; start one with: benchwright run TARGET")
    else:
        from benchwright.reports import run_table

        output.show(run_table(shown))
        if len(runs) > len(shown):
            output.note(f"{len(runs) - len(shown)} older runs are not shown; see them with --limit")
    return 0
