"""`benchwright perf TARGET`: load tests."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from benchwright.cli._flags import add_flags, add_run_flags, given
from benchwright.cli._loading import load
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.cli._workspace import name_configuration
from benchwright.config import LOAD_OPTIONS, SHARED_WITH_RUNS, LoadOptions, RunOptions
from benchwright.core import RunKind, UsageError, worst_exit_code

if TYPE_CHECKING:
    from benchwright.sdk import LoadResult


def configure(parser: Parser) -> None:
    """Arguments of `perf`."""
    parser.add_argument(
        "target", metavar="TARGET", nargs="?",
        help="test.csv, bench.py, bench.py:name, suite.toml, a module, or a name (see: ls)",
    )  # fmt: skip
    add_flags(parser, LOAD_OPTIONS)
    add_run_flags(parser, only=SHARED_WITH_RUNS)
    parser.add_argument(
        "--explain", metavar="FIGURE", help="print the definition of a figure, such as ttft, and end"
    )
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="measure this client's own error against a simulator, and end",
    )
    parser.add_help_all("target", "explain", "self_test")
    parser.common.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.example(
        "benchwright perf test.csv --concurrency 1,4,16 --requests 200 --model-url http://localhost:8000/v1",
        "benchwright perf qa.jsonl --rate 10 --seconds 60 --slo ttft=200ms,e2e=2s",
        "benchwright perf --explain ttft",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Load the server, print the figures."""
    if arguments.explain is not None:
        return _explain(arguments.explain, output)
    if arguments.self_test:
        return _self_test(arguments, output)
    if arguments.target is None:
        raise UsageError("nothing to send: give a target, as in benchwright perf test.csv")
    load("sdk")
    name_configuration(output)
    return run_load(arguments.target, RunOptions.from_keywords(given(arguments, SHARED_WITH_RUNS)),
                    load_options(arguments), arguments, output)  # fmt: skip


def load_options(arguments: Namespace) -> LoadOptions:
    """The flags as options of a load test."""
    return LoadOptions.from_keywords(given(arguments, [setting.name for setting in LOAD_OPTIONS]))


def run_long_form(arguments: Namespace, output: Output) -> int:
    """`run … --mode perf`: a load test of what the long form names; `--mode perf_viz` shows the newest recorded ones."""
    from benchwright.cli._flags import resolved
    from benchwright.datasets import hub_commits

    mode, arguments.mode = arguments.mode, None
    if arguments.summarizer in ("default_perf", "stable_stage"):
        arguments.summarizer = None  # figures of the whole test and of its steady window are always there
    options = RunOptions.from_keywords(given(arguments, SHARED_WITH_RUNS))
    if mode == "perf_viz":
        return _show_recorded(arguments, output)
    how = {"warmup": arguments.num_warmups, "concurrency": arguments.parallelism}
    load_how = LoadOptions.from_keywords({name: value for name, value in how.items() if value is not None})
    with hub_commits():
        return run_load(resolved(arguments, options), options, load_how, arguments, output)


def _show_recorded(arguments: Namespace, output: Output) -> int:
    """The load tests of the named data, or all of them, newest first: one for each data and model."""
    from pathlib import Path

    from benchwright.core import NotFoundError
    from benchwright.reports import load_table, recorded_load
    from benchwright.store import existing_workspace, open_existing

    wanted = [arguments.target, *(arguments.datasets or ()), *(arguments.custom_dataset_path or ())]
    names = {Path(name).name for name in wanted if name}
    store = open_existing(existing_workspace(Path.cwd(), arguments.workspace))
    shown: set[tuple[str, str]] = set()
    views = []
    if store is not None:
        with store:
            for run in store.runs():
                fits = not names or Path(run.target).name in names
                if run.kind == RunKind.LOAD and fits and (run.target, run.model) not in shown:
                    shown.add((run.target, run.model))
                    views.append(recorded_load(store, run))
    if not views:
        raise NotFoundError(
            f"no load test of {', '.join(sorted(names)) or 'anything'} is recorded here. Start one: --mode perf"
        )
    if output.as_json:
        output.json({"results": [view.to_json() for view in views], "exit_code": 0})
    for view in () if output.as_json else views:
        output.show(load_table(view))
    return 0


def run_load(target: Any, options: RunOptions, how: LoadOptions, arguments: Namespace, output: Output) -> int:
    """Do the tests of a target and print each result. Returns the exit code of the worst."""
    from benchwright.cli._load_progress import watching_load
    from benchwright.sdk import perf

    results: list[LoadResult] = []

    def finished(result: LoadResult) -> None:
        results.append(result)
        if not output.as_json:
            _print(result, output)

    with watching_load(quiet=arguments.quiet) as watcher:
        perf(target, options, how, watcher=watcher, finished=finished)
    code = worst_exit_code([result.exit_code for result in results])
    if output.as_json:
        output.json({"results": [result.to_json() for result in results], "exit_code": code})
    return code


def _print(result: LoadResult, output: Output) -> None:
    from benchwright.reports import load_table

    output.show(load_table(result.view))


def _explain(name: str, output: Output) -> int:
    from benchwright.perf import explain

    output.line(explain(name))
    return 0


def _self_test(arguments: Namespace, output: Output) -> int:
    from benchwright.perf import self_test

    how = load_options(arguments)
    try:
        concurrency = int((how.concurrency or ("64",))[0])
    except ValueError:
        raise UsageError(f"--concurrency {how.concurrency}: expected a whole number") from None
    found = self_test(
        concurrency=max(1, concurrency), requests=how.requests or 8 * concurrency, workers=how.workers or 1
    )
    if output.as_json:
        output.json(found.to_json())
    else:
        output.line(found.text())
    return 3 if found.health.verdict == "limit" else 0
