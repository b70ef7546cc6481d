"""`benchwright ls`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.core import as_json


def configure(parser: Parser) -> None:
    parser.add_argument(
        "--models", action="store_true", help="list what --model accepts, instead of evaluations"
    )
    parser.add_argument(
        "--plugins", action="store_true", help="list plugins of installed packages, instead of evaluations"
    )
    parser.example("benchwright ls", "benchwright ls --models", "benchwright ls --plugins")


def execute(arguments: Namespace, output: Output) -> int:
    """List what can be run from here; JSON: `{"evaluations": [{name, kind, source, description, problem}]}`."""
    if arguments.models:
        return _models(output)
    if arguments.plugins:
        return _plugins(output)
    from benchwright.runs import list_evaluations

    found = list_evaluations()
    if output.as_json:
        output.json({"evaluations": as_json(found)})
        return 0
    if all(evaluation.kind == "builtin" for evaluation in found):
        output.line("no evaluations of your own here yet. Write a starter with: benchwright init")
    from rich import box
    from rich.text import Text

    from benchwright.reports import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
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


def _models(output: Output) -> int:
    """List what `--model` accepts; JSON: `{"models": [{name, kind, api, type, stream, url, model, description}]}`."""
    from benchwright.runs import list_models

    found = list_models()
    if output.as_json:
        output.json({"models": as_json(found)})
        return 0
    from rich import box
    from rich.text import Text

    from benchwright.reports import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
    for heading in ("name", "from", "api", "description"):
        table.add_column(heading, overflow="fold")
    for model in found:
        table.add_row(Text(model.name), Text(model.kind), Text(model.api or ""), Text(model.description))
    output.show(table)
    output.line("profiles need an address: --model-url URL, or --host-ip HOST --host-port PORT")
    return 0


def _plugins(output: Output) -> int:
    """List plugins; JSON: `{"plugins": [{kind, name, package, version, target, problem}]}`."""
    from benchwright.runs import list_plugins

    found = list_plugins()
    if output.as_json:
        output.json({"plugins": as_json(found)})
        return 0
    if not found:
        output.line("no installed package has plugins for benchwright")
        return 0
    from rich import box
    from rich.text import Text

    from benchwright.reports import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
    for heading in ("kind", "name", "package", "refers to"):
        table.add_column(heading, overflow="fold")
    for plugin in found:
        about = Text(plugin.target)
        if plugin.problem is not None:
            about = Text(plugin.problem, "red")
        table.add_row(plugin.kind, Text(plugin.name), Text(f"{plugin.package} {plugin.version}"), about)
    output.show(table)
    return 0
