"""`benchwright token add NAME`, `token list` and `token rm NAME`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_workspace
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.cli._web import named_or_nearest, need_server


def configure(parser: Parser) -> None:
    parser.add_argument(
        "act", metavar="ACT", choices=("add", "list", "rm"), help="add, list or rm (take away)"
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="whose token it is, such as ann")
    parser.add_argument("--read-only", action="store_true", help="with add: the token changes nothing")
    add_workspace(parser)
    parser.example("benchwright token add ann --read-only", "benchwright token rm ann")


def execute(arguments: Namespace, output: Output) -> int:
    """Tokens of people; JSON: `{"name", "token", "read_only"}` of a new one, `{"removed"}`, or `{"tokens": [{"name", "read_only",
    "created_at"}]}`."""
    from benchwright.core import UsageError

    need_server()
    from benchwright.server import People

    people = People(named_or_nearest(arguments))
    name = arguments.name
    if (name is None) is not (arguments.act == "list"):
        wrong = "takes no name" if name else "needs a name, such as ann"
        raise UsageError(f"token {arguments.act} {wrong}")
    if arguments.read_only and arguments.act != "add":
        raise UsageError("--read-only belongs to token add")
    if arguments.act == "add":
        token = people.add(name, read_only=arguments.read_only)
        if output.as_json:
            output.json({"name": name, "token": token, "read_only": arguments.read_only})
            return 0
        output.line(f"token of {name}: {token}")
        output.note(
            "it is not shown again, and the workspace keeps only its hash. It "
            + ("reads and changes nothing" if arguments.read_only else "can change everything")
            + "; enter it in the pages, or send it as: Authorization: Bearer TOKEN"
        )
    elif arguments.act == "rm":
        people.remove(name)
        if output.as_json:
            output.json({"removed": name})
        else:
            output.line(f"the token of {name} no longer works, nor does any tab that it opened")
    else:
        found = people.listed()
        if output.as_json:
            listed = [
                {"name": one.name, "read_only": one.read_only, "created_at": one.created_at} for one in found
            ]
            output.json({"tokens": listed})
        elif not found:
            output.line("nobody has a token yet; make one with: benchwright token add NAME")
        for one in found if not output.as_json else ():
            what = "reads" if one.read_only else "can change everything"
            output.line(f"{one.name}  {what}  since {one.created_at[:16]}Z")
    return 0
