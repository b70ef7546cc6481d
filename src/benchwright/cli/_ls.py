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
    from benchwright.reports import Table

    rows = (
        (
            each.name,
            each.source if each.kind == "installed" else each.kind,
            each.description if each.problem is None else (f"cannot be run: {each.problem}", "red"),
        )
        for each in found
    )
    output.show([Table.of(("name", "from", "description"), rows)])
    return 0


def _models(output: Output) -> int:
    """List what `--model` accepts; JSON: `{"models": [{name, kind, api, type, stream, url, model, description}]}`."""
    from benchwright.runs import list_models

    found = list_models()
    if output.as_json:
        output.json({"models": as_json(found)})
        return 0
    from benchwright.reports import Table

    rows = ((each.name, each.kind, each.api or "", each.description) for each in found)
    output.show([Table.of(("name", "from", "api", "description"), rows)])
    output.line("profiles need an address: --model-url URL, or --host-ip HOST --host-port PORT")
    return 0


def _plugins(output: Output) -> int:
    """List plugins; JSON: `{"plugins": [{kind, name, package, version, target, problem}]}`."""
    from benchwright.core import Registry

    found = Registry.all_installed()
    if output.as_json:
        plugins = [
            {
                "kind": each.kind,
                "name": each.entry.name,
                "package": each.entry.package,
                "version": each.entry.version,
                "target": each.entry.target,
                "problem": each.problem,
            }
            for each in found
        ]
        output.json({"plugins": plugins})
        return 0
    if not found:
        output.line("no installed package has plugins for benchwright")
        return 0
    from benchwright.reports import Table

    rows = (
        (
            each.kind,
            each.entry.name,
            f"{each.entry.package} {each.entry.version}",
            each.entry.target if each.problem is None else (each.problem, "red"),
        )
        for each in found
    )
    output.show([Table.of(("kind", "name", "package", "refers to"), rows)])
    return 0
