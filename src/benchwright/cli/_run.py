"""`benchwright run TARGET`: benchmarks, suites and programs; and the long form with `--models`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from benchwright.cli._flags import (
    add_code_flags,
    add_gold_flag,
    add_run_flags,
    add_suite_flags,
    check_target,
    given,
    name_configuration,
    refuse_code_flags,
    refuse_suite_flags,
    resolved,
    run_options,
)
from benchwright.cli._output import Output, conclude, print_result
from benchwright.cli._parser import Parser
from benchwright.cli._process import load
from benchwright.cli._run_configs import add_config_flags, execute_configs, refuse_config_flags
from benchwright.cli._web import open_new
from benchwright.config import SuiteOptions
from benchwright.core import NotFoundError, UsageError

if TYPE_CHECKING:
    from benchwright.config import RunOptions
    from benchwright.results import Slices
    from benchwright.runs import Resolved, Suite


def configure(parser: Parser) -> None:
    add_suite_flags(parser)
    parser.add_argument(
        "--open", action="store_true", help="open the page of the run in the browser as it begins"
    )
    parser.add_argument("--dry-run", action="store_true", help="only check, as `benchwright check` does")
    add_gold_flag(parser)
    parser.add_argument(
        "--by", metavar="COLUMN", help="also show the headline metric by the values of a column of the data"
    )
    add_run_flags(parser)
    add_config_flags(parser, "--config", "--run-config")
    add_code_flags(parser, tags=True)
    parser.add_help_all("dry_run", "run_config", "override")
    parser.common.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.add_argument(
        "--format",
        choices=("aisbench",),
        help="with --mode perf: also write files in the format of this tool",
    )
    parser.common.add_argument(
        "--debug", action="store_true", help="print stages, failures and tracebacks of internal errors"
    )
    parser.example(
        "benchwright run my_bench.py --limit 20",
        "benchwright run test_mcq.csv --model-url http://localhost:8000/v1 --model-id my-model --api-key-name MY_KEY",
        "benchwright run --config run.yaml -o config.params.limit_samples=20",
        "benchwright run my_eval --input '{\"limit\": 10}'",
        "benchwright run --models local demo --custom-dataset-path test_mcq.csv test_qa.jsonl --mode all",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Evaluate the target; all benchmarks of a file or a suite are run."""
    from benchwright.cli._progress import tracebacks

    with tracebacks(arguments.debug):
        return _execute(arguments, output)


def _execute(arguments: Namespace, output: Output) -> int:
    if arguments.run_config is not None:
        return _run_configuration(arguments, output)
    refuse_config_flags(arguments)
    check_target(arguments)
    if arguments.allow_failing_gold and not arguments.dry_run:
        raise UsageError(
            "--allow-failing-gold is for checks: add --dry-run or leave it out. A run does not score gold answers"
        )
    if arguments.search:
        from benchwright.cli._suites import search_names

        return search_names(arguments, output)
    load("runs")
    name_configuration(output)
    return _run(arguments, output)


def _run_configuration(arguments: Namespace, output: Output) -> int:
    refuse_suite_flags(arguments)
    refuse_code_flags(arguments, str(arguments.run_config))
    name_configuration(output)
    open_new(arguments, output)
    return execute_configs(arguments, {"eval_type": arguments.target, **given(arguments)}, output)


def _run(arguments: Namespace, output: Output) -> int:
    from benchwright.runs import Program, Session

    if arguments.mode in SuiteOptions.load_modes:
        from benchwright.cli._perf import run_long_form

        return run_long_form(arguments, output)
    if arguments.format is not None:
        raise UsageError(
            "--format aisbench needs --mode perf; results of other modes: benchwright export --help"
        )
    options = run_options(arguments)
    with Session(
        options.workspace, options.store
    ):  # resolving and running see the same commit of a hub dataset
        found = resolved(arguments, options)
        if arguments.dry_run:
            from benchwright.cli import _check

            return _check.check_resolved(found, options, arguments, output, tasks=True)
        open_new(arguments, output)
        if isinstance(found, Program):
            from benchwright.cli import _code

            return _code.run_and_print(found.plan, arguments, output)
        refuse_code_flags(arguments, arguments.target or "the target")
        if found.is_suite:
            from benchwright.cli._suites import run_pairs

            return run_pairs(cast("Suite", found), options, arguments, output)
        return _run_benchmarks(found, options, arguments, output)


def _run_benchmarks(found: Resolved, options: RunOptions, arguments: Namespace, output: Output) -> int:
    from benchwright.cli._progress import watching
    from benchwright.results import RunResult
    from benchwright.runs import run

    if arguments.mode == "infer":
        options = replace(options, infer_only=True)
    results: list[RunResult] = []
    sliced: dict[int, Slices] = {}
    failed: list[int] = []

    def finished(result: RunResult) -> None:
        results.append(result)
        print_result(result, output)
        if arguments.by is None or not result.metrics:
            return
        from benchwright.runs import slices

        try:
            sliced[result.run_id] = slices(result, arguments.by, workspace=options.workspace)
        except (NotFoundError, UsageError) as error:  # the run itself is good
            output.note(f"error: {result.name} ended, but it cannot be sliced: {error}")
            failed.append(error.exit_code)
            return
        if not output.as_json:
            output.view(sliced[result.run_id])

    with watching(quiet=arguments.quiet, debug=arguments.debug) as watcher:
        run(found, options, watcher=watcher, finished=finished)
    code = conclude(results, output, sliced)
    return code or max(failed, default=0)
