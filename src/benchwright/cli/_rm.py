"""`benchwright rm RUN…`."""

from __future__ import annotations

import sys
from argparse import Namespace

from benchwright.cli._flags import add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="+", help='number, "last", name, or folder (see: list)')
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask for confirmation")
    add_workspace(parser)
    parser.example("benchwright rm 12", "benchwright rm 3 4 --yes")


def execute(arguments: Namespace, output: Output) -> int:
    """Delete runs; JSON: `{"removed": [{"run_id", "folder", "kept"}]}`."""
    from benchwright.core import NotFoundError
    from benchwright.runs import remove_run
    from benchwright.store import listed_run, named_run

    removed = []
    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(f"no run {arguments.run[0]!r}: there are no runs here yet")
        found = {}
        for name in arguments.run:
            run = listed_run(store, int(name)) if name.isdigit() else named_run(store, name)
            found[run.id] = run
        if not (
            arguments.yes or output.as_json or _agreed([f"{run.id} {run.name}" for run in found.values()])
        ):
            output.line("nothing was deleted")
            return 0
        for run in found.values():
            folder, kept = remove_run(store, run)
            removed.append({"run_id": run.id, "folder": folder and str(folder), "kept": kept and str(kept)})
            if not output.as_json:
                staying = "" if kept is None else f"; its files stay in {kept}"
                output.line(f"run {run.id} {run.name} deleted{staying}")
    if output.as_json:
        output.json({"removed": removed})
    return 0


def _agreed(names: list[str]) -> bool:
    """Ask for confirmation, at a terminal only."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    from benchwright.core import shown

    sys.stderr.write(shown(f"delete run {', '.join(names)} with its record and files? [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
