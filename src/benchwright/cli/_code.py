"""`run` and `resume` of programs: `custom_code` entries, and Python files with workflows."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.cli._code_display import CodeDisplay
from benchwright.cli._code_flags import refuse_benchmark_flags, run_tags, server_next_to
from benchwright.cli._output import Output

if TYPE_CHECKING:
    from benchwright.store import RunRecord, Store
    from benchwright.workflows import ProgramPlan, ProgramResult


def check_program(plan: ProgramPlan, output: Output) -> int:
    """`--dry-run`: whether the program is there; JSON: `{"command", "cwd", "input", "warning", "exit_code"}`."""
    from benchwright.workflows import program_executable

    program_executable(plan.command, plan.cwd)
    if output.as_json:
        described = {"command": [*plan.command], "cwd": str(plan.cwd), "input": plan.input}
        output.json({**described, "warning": plan.warning, "exit_code": 0})
        return 0
    from benchwright.core import canonical_json

    output.line(f"{plan.name} is a program: {' '.join(plan.command)} (in {plan.cwd})")
    output.line(f"input: {canonical_json(plan.input).decode()}")
    if plan.warning:
        output.note(f"warning: {plan.warning}")
    return 0


def run_and_print(plan: ProgramPlan, arguments: Namespace, output: Output) -> int:
    """Run it to its end."""
    from benchwright.store import find_workspace, open_store
    from benchwright.workflows import run_program

    tags = run_tags(arguments)
    serve = server_next_to(arguments, None if arguments.quiet else output.note)
    explicit = None if arguments.workspace is None else Path(arguments.workspace)
    if plan.warning and not output.as_json:
        output.note(f"warning: {plan.warning}")
    store = open_store(find_workspace(Path.cwd(), explicit))
    display = CodeDisplay(quiet=arguments.quiet, as_json=output.as_json)
    try:
        result = run_program(store, plan, tags=tags, serve=serve, timeout=arguments.timeout, watcher=display)
    finally:
        display.close()
        store.close()
    return print_ending(result, output)


def resume_and_print(store: Store, run: RunRecord, arguments: Namespace, output: Output) -> int:
    """Resume it and print the result."""
    from benchwright.config import find_config
    from benchwright.workflows import resume_program

    refuse_benchmark_flags(arguments, run.name)
    serve = server_next_to(arguments, None if arguments.quiet else output.note)
    display = CodeDisplay(quiet=arguments.quiet, as_json=output.as_json)
    try:
        result = resume_program(
            store,
            run,
            config=find_config(Path.cwd()) if arguments.use_current_config else None,
            use_current_config=arguments.use_current_config,
            force=arguments.force,
            serve=serve,
            timeout=arguments.timeout,
            watcher=display,
        )
    finally:
        display.close()
    if result.warning and not output.as_json:
        output.note(f"note: {result.warning}")
    return print_ending(result, output)


def print_ending(result: ProgramResult, output: Output) -> int:
    """Print how it ended; the exit code."""
    if output.as_json:
        output.json(result.to_json())
        return result.exit_status
    from benchwright.reports import code_result

    if result.error and result.status == "failed":
        last = result.error.strip().rpartition("\n")[2]
        output.note(f"error: {result.workflow_name} failed: {last}")
    output.show(
        code_result(
            run_id=result.run_id,
            name=result.workflow_name,
            status=result.status,
            error=result.error,
            steps=result.steps,
            metrics=result.metrics,
            output=result.output,
            seconds=result.duration_seconds,
        )
    )
    return result.exit_status
