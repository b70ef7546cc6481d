"""`benchwright cancel RUN`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", name, or folder (see: list)')
    add_workspace(parser)
    parser.example("benchwright cancel 12")


def execute(arguments: Namespace, output: Output) -> int:
    """End a run; JSON: `{"run_id", "status", "signalled", "note"}`."""
    from benchwright.core import NotFoundError
    from benchwright.runs import cancel_run
    from benchwright.store import named_run

    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(f"no run {arguments.run!r}: there are no runs here yet")
        run = named_run(store, arguments.run)
        signalled, note = cancel_run(store, run)
    if output.as_json:
        output.json({"run_id": run.id, "status": "canceled", "signalled": signalled, "note": note})
        return 0
    stopped = "" if signalled is None else f", process {signalled} was sent a signal to stop"
    output.line(f"run {run.id} canceled{stopped}")
    if note:
        output.note(f"note: {note}")
    return 0
