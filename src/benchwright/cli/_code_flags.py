"""The flags that only programs take, and which flags of benchmarks they do not."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from benchwright.cli._parser import Parser, value_of
from benchwright.cli._run_flags import given
from benchwright.config import SUITE_SETTINGS, Setting

if TYPE_CHECKING:
    from benchwright.workflows import Serve

_TIMEOUT = Setting("timeout", "number", "stop the program after this time", above=0)
_ONLY_FOR_PROGRAMS = ("timeout", "tag", "no_server", "use_current_config", "force")
_LONG_FORM = ("models", "reuse", "config_dir", *(setting.name for setting in SUITE_SETTINGS))


def add_code_flags(parser: Parser, *, tags: bool) -> None:
    """Add the flags of programs."""
    group = parser.add_argument_group("programs and workflows")
    group.add_argument("--timeout", type=value_of(_TIMEOUT), metavar="SECONDS", help=_TIMEOUT.meaning)
    group.add_argument("--no-server", action="store_true", help="start no REST server beside the program")
    if tags:
        group.add_argument(
            "--tag", action="append", metavar="NAME=VALUE", help="a label for the run; may be given again"
        )


def refuse_benchmark_flags(arguments: Namespace, name: str) -> None:
    """A flag without effect is a mistake."""
    from benchwright.workflows import refuse_settings

    long_form = [flag for flag in _LONG_FORM if getattr(arguments, flag, None)]
    refuse_settings(name, [*given(arguments), *long_form])


def refuse_code_flags(arguments: Namespace, name: str) -> None:
    """The same the other way round."""
    from benchwright.core import UsageError

    typed = [flag for flag in _ONLY_FOR_PROGRAMS if getattr(arguments, flag, None)]
    if typed:
        flags = ", ".join(f"--{flag.replace('_', '-')}" for flag in typed)
        raise UsageError(f"{flags}: only programs and workflows take this, and {name} is a benchmark")


def run_tags(arguments: Namespace) -> dict[str, str]:
    """`--tag NAME=VALUE` as labels."""
    from benchwright.core import UsageError

    tags = {}
    for text in arguments.tag or ():
        name, equals, value = text.partition("=")
        if not name.strip() or not equals:
            raise UsageError(f"--tag {text!r}: expected NAME=VALUE, such as --tag prompt=v2")
        tags[name.strip()] = value
    return tags


def server_beside(arguments: Namespace, note: object) -> Serve | None:
    """What starts the REST server beside a program; None: not wanted, or not installed, which is noted."""
    from importlib.util import find_spec

    if arguments.no_server:
        return None
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        if callable(note):
            note("no REST server beside the program: pip install 'benchwright[server]' (Python needs none)")
        return None
    from benchwright.cli._code_server import beside

    return beside
