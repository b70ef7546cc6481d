"""`benchwright run TARGET`."""

from __future__ import annotations

from argparse import Namespace

from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.cli._run_flags import add_run_flags, run_options


def configure(parser: Parser) -> None:
    """Arguments of `run`."""
    parser.add_argument(
        "target", metavar="TARGET", help="test.csv, bench.py, bench.py:name, a module, or a name (see: ls)"
    )
    parser.add_argument("--dry-run", action="store_true", help="check only, as `benchwright check` does")
    add_run_flags(parser)
    parser.common.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.example(
        "benchwright run my_bench.py --limit 20",
        "benchwright run my_bench.py --model-url http://localhost:8000/v1 --model-id my-model --api-key-name MY_KEY",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Evaluate; a file with several benchmarks runs them all."""
    if arguments.dry_run:
        from benchwright.cli import _check

        return _check.execute(arguments, output)
    from benchwright.cli._progress import watching
    from benchwright.cli._results import conclude, print_result
    from benchwright.sdk import run_all

    options = run_options(arguments)
    with watching(quiet=arguments.quiet) as watcher:
        results = run_all(
            arguments.target,
            options,
            several=True,
            watcher=watcher,
            finished=lambda result: print_result(result, output),
        )
    return conclude(results, output)
