"""`benchwright store copy FROM TO [RUN…]`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser

if TYPE_CHECKING:
    from benchwright.store import RunRecord, Workspace


def configure(parser: Parser) -> None:
    parser.add_argument("act", metavar="ACT", choices=("copy",), help="copy")
    parser.add_argument("source", metavar="FROM", help="a workspace's folder, an SQLite file or a URL")
    parser.add_argument("target", metavar="TO", help="the same")
    parser.add_argument("run", metavar="RUN", nargs="*", help='number, "last" or name; without one, all runs')
    parser.example(
        "benchwright store copy . 'postgresql://host/evals?workspace=team'",
        "benchwright store copy . results.db 3 4",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Copy runs; JSON: `{"copied": [RUN…], "known": [RUN…]}`."""
    from benchwright.core import NotFoundError, UsageError
    from benchwright.results import plural
    from benchwright.store import named_run, open_existing, open_store

    source, target = (_place(each) for each in (arguments.source, arguments.target))
    if source.store_url == target.store_url:
        raise UsageError("FROM and TO are the same store")
    opened = open_existing(source)
    if opened is None:
        raise NotFoundError(f"nothing is recorded in {arguments.source}")
    with opened as here, open_store(target) as there:
        numbers = sorted(
            {named_run(here, name).id for name in arguments.run} or (run.id for run in here.runs())
        )

        def told(run: RunRecord, records: int) -> None:
            if not output.as_json:
                output.line(f"run {run.id} {run.name}: {records:,} records")

        copied, known = here.copy_to(there, numbers, told)
    if output.as_json:
        output.json({"copied": copied, "known": known})
    else:
        was = f"; {plural(len(known), 'run')} there already" if known else ""
        output.line(f"{plural(len(copied), 'run')} copied and compared record by record{was}")
    return 0


def _place(named: str) -> Workspace:
    """A folder has its own database, whatever its configuration names."""
    from benchwright.config import named_store
    from benchwright.store import find_workspace

    here = Path.cwd()
    if "://" not in named and Path(named).is_dir():
        return find_workspace(here, Path(named), None)
    return find_workspace(here, None, lambda root: named_store(root, named))
