"""Runs and checks suites on the command line, and prints the results."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from benchwright.cli._flags import suite_options
from benchwright.cli._output import Output, note_problems, print_result

if TYPE_CHECKING:
    from benchwright.config import RunOptions
    from benchwright.reports import Table
    from benchwright.runs import PairResult, Pairs, Suite, SuiteCheck, SuiteResult


def run_pairs(suite: Suite, options: RunOptions, arguments: Namespace, output: Output) -> int:
    """Run all pairs; JSON: `{"suite", "notes", "work_folder", "results", "comparison", "exit_code"}`."""
    from benchwright.cli._progress import aside, watching
    from benchwright.runs import DEFAULT_WORK_DIR, run_suite

    how = suite_options(arguments).over(suite.settings)
    if how.work_dir is None and (arguments.target is None or arguments.models or suite.path.is_file()):
        how = replace(how, work_dir=DEFAULT_WORK_DIR)
    several: list[bool] = []

    def planned(pairs: Pairs) -> None:
        several.append(len(pairs.pairs) > 1)
        for note in pairs.notes:
            output.note(f"note: {note}")
        if arguments.debug:
            output.note(f"{len(pairs.pairs)} runs: {', '.join(pair.label for pair in pairs.pairs)}")

    with watching(quiet=arguments.quiet, debug=arguments.debug) as watcher:

        def finished(pair: PairResult) -> None:
            with aside(watcher):
                _print_pair(pair, output, in_full=not any(several) and bool(several))

        result = run_suite(suite, options, how, watcher=watcher, planned=planned, finished=finished)
    if output.as_json:
        output.json(result.to_json())
    else:
        _print_end(result, output)
    return result.exit_code


def check_pairs(
    suite: Suite, options: RunOptions, arguments: Namespace, output: Output, *, tasks: bool
) -> int:
    """Check all pairs; with `tasks`, as a table of what would be run. JSON: `{"checks": […], "exit_code": n}`, each
    with `suite_model` and `suite_dataset`."""
    from msgspec.structs import replace

    from benchwright.cli._check import check_blocks, check_code, open_findings, report_json
    from benchwright.runs import check_suite

    found = check_suite(suite, options, suite_options(arguments).over(suite.settings))
    allowed = arguments.allow_failing_gold
    codes = [check_code(pair.report, pair.ready, allowed) for pair in found.pairs]
    code = max(codes, default=0)
    if getattr(arguments, "web", False):
        named = [
            replace(pair.report, samples=pair.samples, key=f"{pair.dataset} on {pair.model}")
            for pair in found.pairs
        ]
        open_findings(named, codes, arguments, output)
        return code
    if output.as_json:
        checks = [
            {
                "suite_model": pair.model,
                "suite_dataset": pair.dataset,
                "ok": each == 0,
                **report_json(replace(pair.report, samples=pair.samples)),
            }
            for pair, each in zip(found.pairs, codes, strict=True)
        ]
        output.json({"checks": checks, "exit_code": code})
        return code
    for note in found.notes:
        output.note(f"note: {note}")
    seen: set[int] = set()
    reports: dict[str, set[int]] = {}
    for pair in found.pairs:
        reports.setdefault(pair.dataset, set()).add(id(pair.report))
    for pair, each in zip(found.pairs, codes, strict=True):
        if id(pair.report) not in seen and not (each == 0 and (arguments.quiet or tasks)):
            if len(reports[pair.dataset]) > 1:  # models get different requests, or some cannot be used
                alike = [other.model for other in found.pairs if other.report is pair.report]
                output.line(f"{pair.dataset} on {', '.join(alike)}:")
            output.show(check_blocks(pair.report, each))
        seen.add(id(pair.report))
    if tasks:
        output.show([_task_table(found, codes)])
    return code


def search_names(arguments: Namespace, output: Output) -> int:
    """Print where names come from; JSON: `{"found": [{kind, name, source}]}`."""
    from pathlib import Path

    from benchwright.config import find_config
    from benchwright.core import UsageError
    from benchwright.runs import origins

    cwd = Path.cwd()
    config = find_config(cwd)
    models = [*(arguments.models or []), *([arguments.model] if arguments.model else [])]
    datasets = [*(arguments.datasets or []), *(arguments.custom_dataset_path or [])]
    if arguments.target is not None:
        datasets.append(arguments.target)
    if not models and not datasets:
        raise UsageError(
            "--search needs names: give some with --models or --datasets. List all with: benchwright ls"
        )
    found = [
        {"kind": kind, "name": name, "source": source}
        for kind, names in (("models", models), ("datasets", datasets))
        for name, source in origins(kind, names, config_dir=arguments.config_dir, config=config, cwd=cwd)  # type: ignore[arg-type]  # the two words above
    ]
    code = 0 if all(each["source"] for each in found) else 4
    if output.as_json:
        output.json({"found": found, "exit_code": code})
        return code
    for each in found:
        output.line(
            f"{each['kind'][:-1]} {each['name']}: {each['source'] or 'not found (see: benchwright ls)'}"
        )
    return code


def _print_pair(pair: PairResult, output: Output, *, in_full: bool) -> None:
    """Print one line when a pair ends, or the whole result if it is the only pair."""

    if output.as_json:
        return
    if pair.not_begun:
        output.note(f"{pair.label}: {pair.error}")
    elif pair.result is None:
        output.note(f"error: {pair.label}: {pair.error}")
    elif in_full:
        print_result(pair.result, output)
    else:
        note_problems(pair.result, pair.label, output)
        output.line(_line(pair))


def _line(pair: PairResult) -> str:
    from benchwright.results import duration, result_sentence

    assert pair.result is not None
    sentence = result_sentence(pair.label, pair.result.summary)
    return f"{sentence}; {duration(pair.result.seconds)} (run {pair.run_id})"


def _print_end(result: SuiteResult, output: Output) -> None:
    from benchwright.runs import DEFAULT_WORK_DIR

    if len(result.pairs) > 1 or any(
        pair.result is not None and not pair.result.seconds for pair in result.pairs
    ):
        output.show(result.comparison)
    if result.work_folder is not None:
        output.line(f"work folder: {result.work_folder}/")
        page = max(result.work_folder.glob("summary/summary_*.html"), default=None)
        if page is not None:
            output.line(f"in a browser: {page}")
        if any(pair.result is None or pair.result.summary.partial for pair in result.pairs):
            where = (
                "" if result.work_folder.parent == DEFAULT_WORK_DIR else f" -w {result.work_folder.parent}"
            )
            output.line(f"resume what is missing: benchwright run{where} --reuse {result.work_folder.name}")


def _task_table(found: SuiteCheck, codes: Sequence[int]) -> Table:
    """What would be run: one line per pair."""
    from benchwright.cli._check import VERDICTS
    from benchwright.core import printable
    from benchwright.reports import Table

    numbers = ("rows", "requests", "prompt tokens (about)")
    rows = (
        (
            str(number), printable(pair.model), printable(pair.dataset), f"{pair.report.rows:,}", f"{pair.report.requests:,}",
            f"{pair.report.prompt_tokens_estimate:,}", VERDICTS[code],
        )
        for number, (pair, code) in enumerate(zip(found.pairs, codes, strict=True), 1)
    )  # fmt: skip
    return Table.of(("task", "model", "dataset", *numbers, ""), rows, right=("task", *numbers), whole=numbers)
