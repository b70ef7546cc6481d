"""The entry point: finds the command, and turns every error into a message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from benchwright.cli._commands import COMMANDS, CommandModule, help_text
from benchwright.cli._output import Output
from benchwright.cli._process import begin, end, standard_streams

if TYPE_CHECKING:
    from benchwright.core import BenchwrightError

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    begin(ours=argv is None)
    words = normalise(sys.argv[1:] if argv is None else argv)
    output = Output(json="--json" in words)
    if not words or words[0] in ("-h", "--help") or words == ["help"]:
        output.own_words(help_text().rstrip())
        return 0
    if words[0] == "--version":
        from benchwright import __version__

        output.line(__version__)
        return 0
    if words[0] == "help":
        words = [*words[1:], "--help"]
    code = None
    try:
        with output.alone(ours=argv is None):
            code = _guarded(words, output)
    finally:
        end(code)
    if argv is None and code == INTERRUPTED:
        _exit_if_stopped_twice()
    return code


def _exit_if_stopped_twice() -> None:
    """End the process without Python's clean-up, which would wait for what a scorer left behind: threads, processes, exit
    handlers, a lock on standard input."""
    engine = sys.modules.get("benchwright.engine")
    if engine is None or not engine.RunGroup.stopped_twice():
        return
    if "multiprocessing" in sys.modules:
        import multiprocessing

        for child in multiprocessing.active_children():
            child.kill()
    for stream in standard_streams():
        with suppress(OSError, ValueError):  # closed, or without a reader
            stream.flush()
    os._exit(INTERRUPTED)


def _guarded(words: list[str], output: Output) -> int:
    from benchwright.core import FLAGS_TYPED

    typed = FLAGS_TYPED.set(True)
    try:
        return _execute(words, output)
    except KeyboardInterrupt:
        output.error("interrupted", "Interrupted", INTERRUPTED)
        return INTERRUPTED
    except Exception as error:
        return _report(error, output)
    finally:
        FLAGS_TYPED.reset(typed)


def normalise(words: Sequence[str]) -> list[str]:
    """Replace `_` by `-` in long options; values, and everything after a bare `--`, stay the same.

    >>> normalise(["run", "my_bench.py", "--max_tokens=5", "--model_id", "my_model"])
    ['run', 'my_bench.py', '--max-tokens=5', '--model-id', 'my_model']
    """
    normal: list[str] = []
    for number, word in enumerate(words):
        if word == "--":
            return [*normal, *words[number:]]
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            word = name.replace("_", "-") + equals + value
        normal.append(word)
    return normal


def _execute(words: list[str], output: Output) -> int:
    from importlib import import_module

    from benchwright.cli._parser import Parser
    from benchwright.core import UsageError, suggest

    name = words[0]
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        near = ""
        if what == "command":
            from benchwright.cli._habits import meant_command

            meant = meant_command(name)
            near = f" Type: benchwright {meant}." if meant else suggest(name, COMMANDS)
        if os.path.isfile(name):  # as other programs take a file of benchmarks
            packaged = f", or benchwright compile {name}" if name.endswith(".py") else ""
            near = f" It is a file; say what to do with it: benchwright run {name}{packaged}."
        if name.startswith("--"):  # as other programs take flags without a command
            from benchwright.config import LOAD_OPTIONS, RUN_SETTINGS

            flag = name.partition("=")[0]
            for owner, settings in (("run", RUN_SETTINGS), ("perf", LOAD_OPTIONS)):
                if flag == "--models" or any(flag in each.flags for each in settings):
                    raise UsageError(f"{flag} belongs to a command. Type: benchwright {owner} {flag} …")
        if what == "option":
            from benchwright.cli._habits import meant_option

            cure = meant_option(name.partition("=")[0], "benchwright", ())
            near = (
                f" {cure[0].upper()}{cure[1:]}."
                if cure
                else " Options follow a command, as in benchwright run TARGET --limit 5."
            )
            name = name.partition("=")[0]
        raise UsageError(
            f"unknown {what} {name!r}.{near} Commands: {', '.join(COMMANDS)}. See: benchwright --help"
        )
    command = COMMANDS[name]
    module = cast(CommandModule, import_module(f"benchwright.cli.{command.module}"))
    parser = Parser(name, command.usage, command.summary)
    module.configure(parser)
    arguments = parser.parse(words[1:])
    if isinstance(arguments, str):
        output.line(arguments)
        return 0
    arguments.typed = words
    named = getattr(arguments, "store", None)
    if named is None:
        return module.execute(arguments, output)
    from benchwright.config import using_store

    with using_store(named):
        code = module.execute(arguments, output)
    if not output.as_json and sys.stderr.isatty():
        output.note(
            "commands that are named above need the same --store; BENCHWRIGHT_STORE sets it for all of them"
        )
    return code


def _with_cure(error: Exception) -> BenchwrightError | None:
    """Turn an error of the disk or the database into one with a cure; any command may raise it."""
    from errno import EDQUOT, ENOSPC

    from benchwright.store import plain_store_error

    if (plain := plain_store_error(error)) is not None:
        return plain
    if isinstance(error, OSError) and error.filename is not None:
        from benchwright.core import BenchwrightError

        full = error.errno in (ENOSPC, EDQUOT)
        cure = (
            "Free disk space and try again"
            if full
            else "Check that it exists and its permissions, or remove it"
        )
        what = "the disk is full" if full else error.strerror
        return BenchwrightError(f"{error.filename} cannot be read or written: {what}. {cure}.")
    return None


def _report(error: Exception, output: Output) -> int:
    from benchwright.core import BenchwrightError

    if isinstance(error, BenchwrightError):
        output.error(str(error), type(error).__name__, error.exit_code)
        return error.exit_code
    plain = _with_cure(error)
    if plain is not None:
        output.error(str(plain), type(plain).__name__, plain.exit_code)
        return plain.exit_code
    if os.environ.get("BENCHWRIGHT_DEBUG"):
        import traceback

        output.note(traceback.format_exc().rstrip())
    hint = "This is a defect of benchwright. Set BENCHWRIGHT_DEBUG=1 to see the traceback."
    output.error(f"{type(error).__name__}: {error}\n{hint}", type(error).__name__, 1)
    return 1
