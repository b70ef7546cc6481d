"""`benchwright tag RUN [NAME=VALUE…]`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace, existing_store
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", name, or folder (see: list)')
    parser.add_argument(
        "tags", metavar="NAME=VALUE", nargs="*", default=[], help="tags to set; none: print those it has"
    )
    parser.add_argument(
        "--remove", action="append", default=[], metavar="NAME", help="take a tag away; may be repeated"
    )
    add_workspace(parser)
    parser.example("benchwright tag 12 prompt=v2", "benchwright tag 12 --remove prompt")


def execute(arguments: Namespace, output: Output) -> int:
    """Set and remove tags; JSON: `{"run_id", "tags"}`."""
    from benchwright.core import NotFoundError, UsageError
    from benchwright.runs import tag_run
    from benchwright.store import named_run

    changes: dict[str, str | None] = dict.fromkeys(arguments.remove)
    for text in arguments.tags:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r}: expected NAME=VALUE, such as prompt=v2")
        changes[name.strip()] = value
    with existing_store(arguments) as store:
        if store is None:
            raise NotFoundError(f"no run {arguments.run!r}: there are no runs here yet")
        run = named_run(store, arguments.run)
        found = tag_run(store, run, changes) if changes else dict(run.tags or {})
    if output.as_json:
        output.json({"run_id": run.id, "tags": found})
    else:
        has = ", ".join(f"{name}={value}" for name, value in found.items()) or "no tags"
        output.line(f"run {run.id} {run.name}: {has}")
    return 0
