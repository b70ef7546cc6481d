"""Runs, prints or explains a run configuration, for `run_eval` and `run --config`."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs
from msgspec.structs import replace

from benchwright.cli._output import Output, conclude, note_problems, print_result
from benchwright.cli._parser import Parser, value_of
from benchwright.cli._process import load
from benchwright.config import Setting
from benchwright.core import UsageError, expand_home, worst_exit_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchwright.config import RunConfigs
    from benchwright.reports import Table
    from benchwright.runs import ConfiguredRun, Ended


class _Once(Action):
    """A flag that may be given once, under one of its names."""

    def __call__(
        self, parser: ArgumentParser, space: Namespace, value: object, flag: str | None = None
    ) -> None:
        if getattr(space, self.dest) is not None:
            parser.error(f"{flag} {value}: {getattr(space, self.dest)} is already named; give one file")
        setattr(space, self.dest, value)


_AT_ONCE = Setting("parallel_tasks", "int", "tasks at the same time", least=1)


def add_config_flags(parser: Parser, *names: str) -> None:
    """Add the flags of run configurations; `names` are those of the file."""
    group = parser.add_argument_group("run configurations")
    group.add_argument(
        *names, dest="run_config", metavar="FILE", type=Path, action=_Once,
        help="YAML file with config and target, or with evaluation.tasks",
    )  # fmt: skip
    group.add_argument(
        "-o", dest="override", metavar="KEY=VALUE", action="append",
        help="override file and flags by a dotted key; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--overrides", metavar="KEY=VALUE,…", action="append", help="several overrides, comma-separated"
    )
    group.add_argument(
        "--explain-config", action="store_true", help="only print every value and where it comes from"
    )
    group.add_argument(
        "--parallel-tasks", nargs="?", type=value_of(_AT_ONCE), const=0, metavar="N",
        help="run all tasks of a file at the same time, or N at a time (default: one after the other)",
    )  # fmt: skip


def refuse_config_flags(arguments: Namespace) -> None:
    """Raise UsageError for a flag that has no effect without a run configuration."""
    for name, flag in (
        ("override", "-o"),
        ("overrides", "--overrides"),
        ("explain_config", "--explain-config"),
        ("parallel_tasks", "--parallel-tasks"),
    ):
        if getattr(arguments, name) is not None and getattr(arguments, name) is not False:  # 0 is a value
            folder = ". For a folder of results: --output-dir DIR" if flag == "-o" else ""
            raise UsageError(f"{flag} is for run configurations: name one with --config FILE{folder}")


def execute_configs(
    arguments: Namespace,
    flags: Mapping[str, Any],
    output: Output,
    *,
    complete: bool = False,
    check: Callable[[Sequence[ConfiguredRun]], int] | None = None,
) -> int:
    """Merge file, flags and overrides, and run, print or `check` the result. `complete`: the folder and the model must be
    given."""
    from benchwright.config import RunConfigs

    overrides = ",".join(filter(None, arguments.overrides or ()))
    found = RunConfigs.read(arguments.run_config, flags, overrides, arguments.override or ())
    if arguments.parallel_tasks is not None and not found.several:
        raise UsageError("--parallel-tasks is for a file with evaluation.tasks")
    if complete:
        for config in found.configs:
            config.check_complete()
    return _execute(found, arguments, output, complete=complete, check=check)


def _execute(
    found: RunConfigs,
    arguments: Namespace,
    output: Output,
    *,
    complete: bool,
    check: Callable[[Sequence[ConfiguredRun]], int] | None,
) -> int:
    load("runs")
    from benchwright.runs import ConfiguredRun

    for note in found.notes:
        output.note(f"note: {note}")
    dry = arguments.explain_config or (check is None and arguments.dry_run)  # `check` has no such flag
    runs = [_with_files(ConfiguredRun.of(config, dry=dry), again=complete) for config in found.configs]
    if arguments.explain_config:
        return _explain(runs, output)
    if check is not None:
        return check(runs)
    if arguments.dry_run:
        return _print(runs, output)
    for run in runs:
        _name_replaced(run, output)
    if found.several:
        return _run_tasks(runs, arguments, output, all_at_once=found.at_once)
    return _run(runs[0], arguments, output)


def _with_files(run: ConfiguredRun, *, again: bool) -> ConfiguredRun:
    """The run with the files that readers of such folders expect. `again`: the same folder may be used once more, as users
    of such commands do; replies that are already paid for come from the records."""
    from benchwright.reports import EVAL_REPORT

    options = run.options
    reports = tuple(dict.fromkeys((*(options.reports or ()), EVAL_REPORT)))
    overwrite = True if again and options.overwrite is None else options.overwrite
    return structs.replace(run, options=replace(options, reports=reports, overwrite=overwrite))


def _name_replaced(run: ConfiguredRun, output: Output) -> None:
    """Print whose files this run will replace."""
    from benchwright.results import writer_of

    folder = run.options.output_dir
    if folder is None or not run.options.overwrite or (writer := writer_of(expand_home(folder))) is None:
        return
    output.note(
        f"{folder}: this run will replace the files of run {writer[0]} ({writer[1]}), whose record is kept"
    )


def _run(run: ConfiguredRun, arguments: Namespace, output: Output) -> int:
    from benchwright.cli._progress import watching
    from benchwright.config import exported
    from benchwright.results import RunResult
    from benchwright.runs import Benchmarks, run as evaluate

    results: list[RunResult] = []

    def finished(result: RunResult) -> None:
        results.append(result)
        print_result(result, output)

    with (
        exported(run.config.variables),
        watching(quiet=arguments.quiet, debug=getattr(arguments, "debug", False)) as watcher,
    ):
        evaluate(Benchmarks(run.found), run.options, watcher=watcher, finished=finished)
    return conclude(results, output)


def _run_tasks(
    runs: Sequence[ConfiguredRun], arguments: Namespace, output: Output, *, all_at_once: bool
) -> int:
    """Run all tasks; JSON: `{"tasks": [{task, result, error, exit_code}], "exit_code": n}`."""
    from benchwright.cli._progress import aside, watching
    from benchwright.runs import ConfiguredRun

    at_once = arguments.parallel_tasks
    if at_once is None:
        at_once = 0 if all_at_once else 1
    if at_once != 1 and any(run.config.variables != runs[0].config.variables for run in runs):
        output.note("note: tasks with different env_vars do not run at the same time; those with the same do")
    with watching(quiet=arguments.quiet, debug=getattr(arguments, "debug", False)) as watcher:

        def finished(task: Ended) -> None:
            with aside(watcher):
                _print_task(task, output)

        results = ConfiguredRun.run_all(
            runs, at_once=at_once or len(runs), watcher=watcher, finished=finished
        )
    code = worst_exit_code([task.exit_code for task in results])
    if output.as_json:
        output.json({"tasks": [_task_json(task) for task in results], "exit_code": code})
    else:
        output.show([_summary(results)])
    return code


def _task_json(task: Ended) -> dict[str, Any]:
    result = None if task.result is None else task.result.to_json()
    return {"task": task.label, "result": result, "error": task.problem or None, "exit_code": task.exit_code}


def _print_task(task: Ended, output: Output) -> None:
    if output.as_json:
        return
    if task.result is None:
        output.note(f"error: {task.label}: {task.problem}")
    else:
        note_problems(task.result, task.label, output)
        output.line(f"{task.label}: {task.result}")


def _summary(results: Sequence[Ended]) -> Table:
    """One line per task."""
    from benchwright.reports import Table
    from benchwright.results import headline_of

    def row(task: Ended) -> tuple[str, ...]:
        code = str(task.exit_code)
        if task.result is None:
            return task.label, "", "", "", "", code, task.problem.split("\n")[0]
        summary = task.result.summary
        headline = headline_of(summary)
        value = "" if headline is None else f"{summary.metrics[headline].value:.4f}"
        counts = f"{summary.evaluated:,}", f"{summary.failed:,}"
        return (
            task.label,
            headline or "no scores",
            value,
            *counts,
            code,
            f"run {task.result.run_id} {task.result.status}",
        )

    numbers = ("value", "samples", "failed", "exit code")
    return Table.of(("task", "metric", *numbers, ""), map(row, results), right=numbers)


def _print(runs: Sequence[ConfiguredRun], output: Output) -> int:
    """Print what would be run; JSON: `{"configs": [{task, config, command}], "exit_code": 0}`."""
    if output.as_json:
        shown = [{"task": run.name, "config": run.as_document(), "command": run.command} for run in runs]
        output.json({"configs": shown, "exit_code": 0})
        return 0
    import yaml

    for run in runs:
        output.line(f"Rendered config{f' of {run.name}' if len(runs) > 1 else ''}:\n")
        output.line(yaml.safe_dump(run.as_document(), sort_keys=False, allow_unicode=True, width=2**20))
        output.line(f"Rendered command:\n\n{run.command}")
    return 0


def _explain(runs: Sequence[ConfiguredRun], output: Output) -> int:
    """Print where values come from; JSON: `{"configs": [{task, values: [{key, value, layer, source, over}]}], "exit_code": 0}`."""
    if output.as_json:
        shown = [{"task": run.name, "values": [value.to_json() for value in run.explained()]} for run in runs]
        output.json({"configs": shown, "exit_code": 0})
        return 0
    from benchwright.reports import Table, line

    for run in runs:
        rows = [
            (
                each.key,
                str(each.value),
                each.layer,
                each.source,
                ", ".join(f"{it.value} ({it.source})" for it in each.over),
            )
            for each in run.explained()
        ]
        table = Table.of(("key", "value", "layer", "from", "instead of"), rows, whole=("key", "layer"))
        output.show([line(run.name, "bold"), table] if len(runs) > 1 else [table])
    return 0
