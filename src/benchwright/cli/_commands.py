"""The commands by name. Each is a module of its own, imported only when it is the one that was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from argparse import Namespace

    from benchwright.cli._output import Output
    from benchwright.cli._parser import Parser


class CommandModule(Protocol):
    """What a command's module offers."""

    def configure(self, parser: Parser) -> None:
        """Add the command's arguments."""

    def execute(self, arguments: Namespace, output: Output) -> int:
        """Do it and return the exit code."""


class Command(NamedTuple):
    """One line of the help text."""

    usage: str
    """Name and arguments."""
    summary: str
    """What it does."""
    module: str
    """Where it is."""


COMMANDS: dict[str, Command] = {
    "init": Command("init [DIR]", "write a starter: benchwright.toml, one benchmark, its data", "_init"),
    "ls": Command("ls", "evaluations that can be run from here", "_ls"),
    "check": Command("check TARGET", "find out all that can be known without spending a request", "_check"),
    "validate": Command("validate FILE", "look at every row of a file of questions", "_validate"),
    "run": Command("run TARGET", "evaluate; prints a table and writes the run's files", "_run"),
    "resume": Command("resume RUN", "go on with a run where it stopped", "_resume"),
    "rescore": Command("rescore RUN", "score a run's recorded replies again; no model is asked", "_rescore"),
    "list": Command("list", "runs of this workspace, newest first", "_list"),
    "show": Command("show RUN [SAMPLE]", "one run at a glance, or one sample in full", "_show"),
    "cancel": Command("cancel RUN", "end a run for good; its process is told to stop", "_cancel"),
    "rm": Command("rm RUN…", "delete runs: records and files", "_rm"),
    "export": Command("export RUN", "a run's samples as JSON lines, CSV or Parquet", "_export"),
    "compare": Command("compare A B", "two runs side by side, sample by sample", "_compare"),
    "cache": Command("cache ACTION", "rows of hub datasets kept here: info, verify, prune, clear", "_cache"),
    "doctor": Command("doctor", "check the records, recover damaged ones, list lost runs again", "_doctor"),
    "serve": Command("serve", "REST interface of this workspace on loopback", "_serve"),
    "simulate": Command("simulate", "serve the embedded demo model over HTTP", "_simulate"),
}
"""In the order of the help text."""

_HELP = """\
usage: benchwright COMMAND [OPTIONS]

Evaluate language-model endpoints on data and benchmarks you bring yourself.

commands:
{commands}

TARGET is a file of questions (test.csv, test.jsonl, …), a Python file of
benchmarks or a workflow (bench.py, bench.py:name), a module, an installed name,
a name from benchwright.toml, or a suite of models and datasets (suite.toml,
.yaml, .json, .py). RUN is a run's number, "last", a benchmark's name (its
newest run), or a run folder. Without a model, the embedded demo model answers.

options:
  -h, --help     this text; after a command, its options and an example
  --version      the version

Every command takes --json. Long options are written with - or _ alike.
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 finished but not
comparable, 4 not found, 5 another process owns the run, 130 interrupted.

example:
  benchwright init demo && cd demo && benchwright run my_bench.py
"""


def help_text() -> str:
    """What `benchwright --help` prints."""
    lines = [f"  {command.usage:<19}{command.summary}" for command in COMMANDS.values()]
    return _HELP.format(commands="\n".join(lines))
