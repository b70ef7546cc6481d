"""`benchwright rescore RUN`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._flags import add_run_flags, run_options
from benchwright.cli._output import Output, conclude, print_result
from benchwright.cli._parser import Parser
from benchwright.cli._process import load
from benchwright.config import RESCORE_OPTIONS


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", benchmark name, or folder (see: list)')
    parser.add_argument(
        "--target", metavar="TARGET", help="score with this benchmark or file of questions instead"
    )
    parser.add_argument(
        "--labels",
        action="store_true",
        help="leave out rows labelled ambiguous, and correct wrong targets and readings by people's labels",
    )
    add_run_flags(parser, only=RESCORE_OPTIONS)
    parser.common.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.example(
        "benchwright rescore last",
        "benchwright rescore 12 --mcq-fallback levenshtein",
        "benchwright rescore 12 --target other.py:stricter",
        "benchwright rescore 12 --labels",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Score recorded replies again; JSON as of `run`."""
    load("runs")
    from benchwright.cli._progress import watching
    from benchwright.runs import rescore

    options = run_options(arguments)
    with watching(quiet=arguments.quiet) as watcher:
        result = rescore(
            arguments.run, options, target=arguments.target, labels=arguments.labels, watcher=watcher
        )
    print_result(result, output)
    return conclude([result], output)
