"""`benchwright ls`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser


def configure(parser: Parser) -> None:
    """`ls` needs no arguments."""
    parser.example("benchwright ls")


def execute(arguments: Namespace, output: Output) -> int:
    """What can be run from here; JSON: `{"evaluations": [{name, kind, source, description, problem}]}`."""
    from dataclasses import asdict

    from benchwright.sdk import list_evaluations

    found = list_evaluations()
    if output.as_json:
        output.json({"evaluations": [asdict(evaluation) for evaluation in found]})
        return 0
    if not found:
        output.line("nothing to run here yet; write a starter with: benchwright init")
        return 0
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("name", "from", "description"):
        table.add_column(heading, overflow="fold")
    for evaluation in found:
        about = Text(evaluation.description)
        if evaluation.problem is not None:
            about = Text(f"cannot be run: {evaluation.problem}", "red")
        origin = evaluation.source if evaluation.kind == "installed" else evaluation.kind
        table.add_row(Text(evaluation.name), Text(origin), about)
    output.show(table)
    return 0
