"""The table of commands. Each is a module that is imported only when its command runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from argparse import Namespace

    from benchwright.cli._output import Output
    from benchwright.cli._parser import Parser


class CommandModule(Protocol):
    """The interface of a command's module."""

    def configure(self, parser: Parser) -> None:
        """Add the command's arguments."""

    def execute(self, arguments: Namespace, output: Output) -> int:
        """Execute the command and return the exit code."""


class Command(NamedTuple):
    """One line of the help text."""

    usage: str
    """Name and arguments."""
    summary: str
    """What it does."""
    module: str
    """The module that implements it."""


EXPORT_FORMATS = {"jsonl": "JSON lines", "csv": "CSV", "parquet": "Parquet", "xlsx": "Excel"}
"""What `export` writes, by the ending of the file."""


def either(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *first, last = words
    return f"{', '.join(first)} or {last}"


COMMANDS: dict[str, Command] = {
    "init": Command("init [DIR]", "write starter files: benchwright.toml, a benchmark and its data", "_init"),
    "ls": Command("ls", "list the evaluations that can be run from here", "_ls"),
    "check": Command(
        "check TARGET", "check a target and its gold (expected) answers; send no request", "_check"
    ),
    "validate": Command("validate FILE", "check every row of a file of questions", "_validate"),
    "run": Command("run TARGET", "evaluate, print a table and write the results to files", "_run"),
    "run_eval": Command("run_eval", "evaluate from a YAML run configuration or its flags", "_run_eval"),
    "perf": Command(
        "perf TARGET", "load test: send the data at a rate or concurrency and time the replies", "_perf"
    ),
    "compile": Command(
        "compile FILE.py", "make a package of benchmarks and install it, so that `ls` lists them", "_compile"
    ),
    "resume": Command("resume RUN", "resume a run where it stopped", "_resume"),
    "rescore": Command(
        "rescore RUN", "score the recorded replies of a run again, without requests to the model", "_rescore"
    ),
    "list": Command("list", "list the runs of this workspace, newest first", "_list"),
    "show": Command("show RUN [SAMPLE]", "show a run at a glance, or one sample in full", "_show"),
    "cancel": Command("cancel RUN", "stop the process of a run, and mark the run as canceled", "_cancel"),
    "rm": Command("rm RUN…", "delete runs with their records and files", "_rm"),
    "tag": Command("tag RUN [TAG…]", "set, remove or print the tags of a run", "_tag"),
    "rename": Command(
        "rename RUN NAME", "give a run another name, under which lists and histories show it", "_rename"
    ),
    "export": Command(
        "export RUN", f"write the samples of a run as {either(EXPORT_FORMATS.values())}", "_export"
    ),
    "compare": Command("compare A B…", "compare two to eight runs sample by sample", "_compare"),
    "report": Command(
        "report RUN… -o FILE", "write a run, or runs compared, as a page that needs no server", "_report"
    ),
    "gate": Command("gate RUN", "judge a run by a policy, for CI: GO, NO-GO or INCONCLUSIVE", "_gate"),
    "bless": Command("bless RUN", "name a run as a baseline that gates compare with", "_bless"),
    "labels": Command(
        "labels RUN", "list people's labels on samples, or write and read them as a sheet", "_labels"
    ),
    "judge-calibrate": Command(
        "judge-calibrate FILE",
        "compare a judge model with human labels and correct its score",
        "_judge_calibrate",
    ),
    "cache": Command(
        "cache ACTION", "manage the cached rows of hub datasets: info, verify, prune, clear", "_cache"
    ),
    "fetch": Command("fetch bfcl", "download published function-calling data into the cache", "_fetch"),
    "doctor": Command(
        "doctor", "check the records, recover damaged ones and list lost runs again", "_doctor"
    ),
    "store": Command(
        "store copy FROM TO", "copy runs to another store, such as a team's PostgreSQL database", "_store"
    ),
    "serve": Command("serve", "show this workspace in a browser and serve it over REST", "_serve"),
    "token": Command(
        "token ACT [NAME]", "make, list and take away tokens of people who may use a server", "_token"
    ),
    "simulate": Command("simulate", "serve the embedded demo model over HTTP", "_simulate"),
}
"""In the order of the help text."""

_HELP = """\
usage: benchwright COMMAND [OPTIONS]

Evaluate language-model endpoints on your own data and benchmarks.

commands:
{commands}

TARGET is a file of questions (test.csv, test.jsonl, …), a Python file of
benchmarks or a workflow (bench.py, bench.py:name), a module, an installed name,
a name from benchwright.toml, or a suite of models and datasets (suite.toml,
.yaml, .json, .py). RUN is a run's number, "last", a benchmark's name (its
newest run), or a run folder. Without a model, the embedded demo model answers.

options:
  -h, --help     show this help; after a command, its options and an example
  --version      print the version

Every command takes --json. Long options may be written with - or _.
Exit codes: 0 success, 1 failed, 2 wrong usage or configuration, 3 finished but not
comparable, 4 not found, 5 another process owns the run, 130 interrupted.

example:
  benchwright init demo && cd demo && benchwright run my_bench.py
"""


def help_text() -> str:
    """What `benchwright --help` prints."""
    lines = [f"  {command.usage:<21}{command.summary}" for command in COMMANDS.values()]
    return _HELP.format(commands="\n".join(lines))
