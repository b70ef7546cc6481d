"""`benchwright resume RUN`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, cast

from benchwright.cli._flags import add_code_flags, add_run_flags, given, refuse_code_flags
from benchwright.cli._output import Output, conclude, print_result
from benchwright.cli._parser import Parser
from benchwright.cli._process import load
from benchwright.config import RESUME_OVERRIDES

if TYPE_CHECKING:
    from benchwright.config import RunKeywords


def configure(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help='number, "last", benchmark name, or folder (see: list)')
    parser.add_argument("--retry-failed", action="store_true", help="send samples without a score again")
    parser.add_argument(
        "--allow-changed", action="store_true", help="resume even if the benchmark file has changed"
    )
    parser.add_argument(
        "--use-current-config",
        action="store_true",
        help="programs: use the command and input of the current configuration",
    )
    parser.add_argument(
        "--force", action="store_true", help="programs: take over the run from the process that executes it"
    )
    add_run_flags(parser, only=(*RESUME_OVERRIDES, "workspace", "store"))
    add_code_flags(parser, tags=False)
    parser.common.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.example("benchwright resume last", "benchwright resume 12 --retry-failed --parallelism 4")


def execute(arguments: Namespace, output: Output) -> int:
    """Resume a run where it stopped."""
    load("runs")
    from benchwright.cli import _code
    from benchwright.cli._flags import existing_store
    from benchwright.results import kind_of
    from benchwright.store import named_run

    with existing_store(arguments) as store:
        found = None if store is None else named_run(store, arguments.run)
        if store is not None and found is not None and kind_of(found).starts_program:
            if arguments.retry_failed or arguments.allow_changed:
                from benchwright.core import UsageError

                raise UsageError(
                    "--retry-failed, --allow-changed: only for benchmarks; a program executes its failed steps again in any case"
                )
            return _code.resume_and_print(store, found, arguments, output)
    refuse_code_flags(arguments, arguments.run)
    return _resume_benchmark(arguments, output)


def _resume_benchmark(arguments: Namespace, output: Output) -> int:
    from benchwright.cli._progress import watching
    from benchwright.runs import resume

    values = given(arguments)
    with watching(quiet=arguments.quiet) as watcher:
        result = resume(
            arguments.run,
            retry_failed=arguments.retry_failed,
            allow_changed=arguments.allow_changed,
            watcher=watcher,
            **cast("RunKeywords", values),
        )
    print_result(result, output)
    return conclude([result], output)
