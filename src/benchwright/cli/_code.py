"""`run` and `resume` of programs: `custom_code` entries, and Python files with workflows."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from benchwright.cli._flags import refuse_benchmark_flags, run_tags, server_next_to
from benchwright.cli._output import Output
from benchwright.cli._progress import EVERY_S

if TYPE_CHECKING:
    from benchwright.runs import ProgramPlan, ProgramProgress, ProgramResult
    from benchwright.store import RunRecord, Store

_METRICS_SHOWN = 3


def check_program(plan: ProgramPlan, output: Output) -> int:
    """`--dry-run`: check that the program exists; JSON: `{"command", "cwd", "input", "warning", "exit_code"}`."""
    plan.executable()
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
    """Run a program to its end, and print how it ended."""
    from benchwright.config import named_store
    from benchwright.runs import run_program
    from benchwright.store import find_workspace, open_store

    tags = run_tags(arguments)
    serve = server_next_to(arguments, None if arguments.quiet else output.note)
    explicit = None if arguments.workspace is None else Path(arguments.workspace)
    if plan.warning and not output.as_json:
        output.note(f"warning: {plan.warning}")
    store = open_store(find_workspace(Path.cwd(), explicit, named_store))
    display = CodeDisplay(quiet=arguments.quiet, as_json=output.as_json)
    try:
        result = run_program(store, plan, tags=tags, serve=serve, timeout=arguments.timeout, watcher=display)
    finally:
        display.close()
        store.close()
    return print_ending(result, output)


def resume_and_print(store: Store, run: RunRecord, arguments: Namespace, output: Output) -> int:
    """Resume a program, and print how it ended."""
    from benchwright.config import find_config
    from benchwright.runs import resume_program

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
    """Print how it ended. Returns the exit code."""
    if output.as_json:
        output.json(result.to_json())
        return result.exit_status
    if result.error and result.status == "failed":
        last = result.error.strip().rpartition("\n")[2]
        output.note(f"error: {result.workflow_name} failed: {last}")
    output.show(result)
    return result.exit_status


class CodeDisplay:
    """Passes the output of a program on and, on a terminal, keeps a line about its progress below."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._quiet = quiet
        # With --json, standard output is for JSON only.
        self._streams = {"stdout": sys.stderr if as_json else sys.stdout, "stderr": sys.stderr}
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not quiet
        self._lock = threading.Lock()
        self._drawn = False
        self._line_open = False
        self._next = time.monotonic() + EVERY_S

    def begun(self, run_id: int, recorded: int | None = None) -> None:
        """Print the number of the run, for use in another terminal, and what a resumed run has already."""
        if self._quiet:
            return
        what = "has started"
        if recorded is not None:
            what = f"is resumed with {recorded:,} completed {'step' if recorded == 1 else 'steps'}"
        self._say(f"run {run_id} {what}; see it with: benchwright show {run_id}\n")

    def output(self, stream: str, data: bytes) -> None:
        """Pass on what was printed."""
        target = self._streams[stream]
        with self._lock:
            self._wipe()
            target.flush()
            binary: BinaryIO | None = getattr(target, "buffer", None)
            if binary is None:  # a stream that a test supplies
                target.write(data.decode("utf-8", "replace"))
            else:
                binary.write(data)
                binary.flush()
            self._line_open = not data.endswith(b"\n")

    def progress(self, progress: ProgramProgress) -> None:
        """Draw the line, or write one now and then if there is no terminal."""
        if self._quiet:
            return
        text = progress_text(progress)
        if not self._terminal:
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + EVERY_S
                self._say(text + "\n")
            return
        with self._lock:
            if not self._line_open:  # an unfinished line of the program is not overwritten
                width = shutil.get_terminal_size().columns - 1
                sys.stderr.write(f"\r\x1b[2K{text[:width]}")
                sys.stderr.flush()
                self._drawn = True

    def close(self) -> None:
        """Remove the line."""
        with self._lock:
            self._wipe()

    def _wipe(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._drawn = False

    def _say(self, text: str) -> None:
        with self._lock:
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except OSError:  # the reader has gone; the run continues
                self._quiet = True


def progress_text(progress: ProgramProgress) -> str:
    """A run in one line."""
    from benchwright.core import shown
    from benchwright.results import duration

    steps = progress.steps
    done = steps.get("completed", 0)
    parts = [f"{progress.name}: {done:,} {'step' if done == 1 else 'steps'} done"]
    parts += [f"{steps[status]:,} {status}" for status in ("running", "failed") if steps.get(status)]
    metrics = list(progress.metrics.items())
    parts += [f"{name} {value:.4g}" for name, value in metrics[:_METRICS_SHOWN]]
    if len(metrics) > _METRICS_SHOWN:
        parts.append(f"{len(metrics) - _METRICS_SHOWN} more metrics")
    parts.append(duration(progress.seconds))
    if progress.stopping:
        parts.append(progress.stopping)
    return shown(", ".join(parts)).replace("\n", " ")
