"""The flags of programs, and the check that each flag fits its target."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchwright.cli._parser import Parser, value_of
from benchwright.cli._run_flags import given
from benchwright.config import SUITE_SETTINGS, Setting

if TYPE_CHECKING:
    from benchwright.store import Lease, Workspace
    from benchwright.workflows import Serve, ServerBeside

_TIMEOUT = Setting("timeout", "number", "stop the program after this time", above=0)
_ONLY_FOR_PROGRAMS = ("timeout", "tag", "no_server", "use_current_config", "force")
_LONG_FORM = ("models", "reuse", "config_dir", *(setting.name for setting in SUITE_SETTINGS))


def add_code_flags(parser: Parser, *, tags: bool) -> None:
    """Add the flags of programs."""
    group = parser.add_argument_group("programs and workflows")
    group.add_argument("--timeout", type=value_of(_TIMEOUT), metavar="SECONDS", help=_TIMEOUT.meaning)
    group.add_argument(
        "--no-server", action="store_true", help="do not start a REST server next to the program"
    )
    if tags:
        group.add_argument(
            "--tag", action="append", metavar="NAME=VALUE", help="label the run; may be repeated"
        )


def refuse_benchmark_flags(arguments: Namespace, name: str) -> None:
    """Raise UsageError for a flag that has no effect on a program."""
    from benchwright.workflows import refuse_settings

    long_form = [flag for flag in _LONG_FORM if getattr(arguments, flag, None)]
    refuse_settings(name, [*given(arguments), *long_form])


def refuse_code_flags(arguments: Namespace, name: str) -> None:
    """Raise UsageError for a flag that has no effect on a benchmark."""
    from benchwright.core import UsageError

    typed = [flag for flag in _ONLY_FOR_PROGRAMS if getattr(arguments, flag, None)]
    if typed:
        flags = ", ".join(f"--{flag.replace('_', '-')}" for flag in typed)
        raise UsageError(f"{flags}: only for programs and workflows, and {name} is a benchmark")


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


def server_next_to(arguments: Namespace, note: object) -> Serve | None:
    """The function that starts a REST server next to a program; None with `--no-server`, and, with a note, where the
    packages are missing."""
    from importlib.util import find_spec

    if arguments.no_server:
        return None
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        if callable(note):
            note(
                "no REST server next to the program: pip install 'benchwright[server]' (Python programs need none)"
            )
        return None
    return _serve_next_to


@contextmanager
def _serve_next_to(workspace: Workspace, lease: Lease) -> Iterator[ServerBeside | None]:
    """Serve on a free loopback port, with the right to write to the run of the lease."""
    from benchwright.server import serving
    from benchwright.workflows import ServerBeside

    with serving(workspace) as (address, state):
        state.hold(lease)
        yield ServerBeside(address.url, address.token)
