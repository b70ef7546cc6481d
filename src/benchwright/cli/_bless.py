"""`benchwright bless RUN`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from benchwright.cli._flags import add_accept_cached, add_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="a run, or a portable baseline from another machine"
    )
    parser.add_argument(
        "--as", dest="name", metavar="NAME", help="the name to give (default: the name of the benchmark)"
    )
    parser.add_argument(
        "--list", action="store_true", help="list the names, with the earlier baselines of each"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also bless a run that is partial or not comparable, or in place of one of another kind",
    )
    add_accept_cached(parser)
    add_workspace(parser)
    parser.example("benchwright bless last --as main", "benchwright bless --list")


def execute(arguments: Namespace, output: Output) -> int:
    """Give a name to a baseline; JSON: the move, or with --list `{"baselines": {NAME: [moves, oldest first]}}`."""
    from benchwright.core import UsageError, shown
    from benchwright.runs import bless

    if arguments.list:
        if arguments.run or arguments.name:
            raise UsageError("--list takes neither a run nor a name")
        return _list(arguments, output)
    if arguments.run is None:
        raise UsageError("name the run to bless, such as: benchwright bless last --as main")
    moved = bless(
        arguments.run,
        name=arguments.name,
        force=arguments.force,
        accept_cached=arguments.accept_cached,
        workspace=arguments.workspace,
    )
    if output.as_json:
        output.json(moved.to_json())
    else:
        output.line(
            shown(
                f"{moved.name} is now {moved.source}: {moved.benchmark} on {moved.model}, {moved.count:,} records"
            )
        )
    return 0


def _list(arguments: Namespace, output: Output) -> int:
    from benchwright.config import named_store
    from benchwright.core import kind_title, shown
    from benchwright.results import Baselines
    from benchwright.store import find_workspace

    place = find_workspace(
        Path.cwd(),
        None if arguments.workspace is None else Path(arguments.workspace),
        named_store,
        to_read=True,
    )
    found = Baselines(place).histories()
    if output.as_json:
        output.json(
            {"baselines": {name: [move.to_json() for move in moves] for name, moves in found.items()}}
        )
        return 0
    if not found:
        output.line("no baseline is blessed yet. Bless one with: benchwright bless RUN --as NAME")
    for name, moves in found.items():
        for place_in_time, move in enumerate(reversed(moves)):
            label = name if not place_in_time else " " * len(name)
            what = "" if not place_in_time else "  before"
            output.line(
                shown(
                    f"{label}  {move.blessed_at[:16]}Z  {move.source}: {move.benchmark} on {move.model}"
                    f"{f' ({kind_title(move.kind)})' if move.kind else ''}{what}"
                )
            )
    return 0
