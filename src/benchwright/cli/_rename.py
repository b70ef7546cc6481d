"""`benchwright rename RUN NAME`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", name, or folder (see: list)')
    parser.add_argument("name", metavar="NAME", help="the name under which lists and histories show the run")
    add_workspace(parser)
    parser.example("benchwright rename 12 quiz_de")


def execute(arguments: Namespace, output: Output) -> int:
    """Rename a run; JSON: `{"run_id", "name", "before"}`."""
    from benchwright.core import NotFoundError
    from benchwright.runs import rename_run
    from benchwright.store import named_run

    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(f"no run {arguments.run!r}: there are no runs here yet")
        run = named_run(store, arguments.run)
        name = rename_run(store, run, arguments.name)
    if output.as_json:
        output.json({"run_id": run.id, "name": name, "before": run.name})
    else:
        output.line(f"run {run.id} is now {name}; it was {run.name}")
    return 0
