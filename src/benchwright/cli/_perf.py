"""`benchwright perf TARGET`: load tests, and their live view on standard error."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from benchwright.cli._flags import add_flags, add_run_flags, given, name_configuration
from benchwright.cli._output import Output
from benchwright.cli._parser import Parser
from benchwright.cli._process import load
from benchwright.config import LOAD_OPTIONS, SHARED_WITH_RUNS, LoadOptions, RunOptions
from benchwright.core import RunKind, UsageError, shown, worst_exit_code

if TYPE_CHECKING:
    from benchwright.perf import LoadProgress, LoadWatcher
    from benchwright.runs import LoadResult


def configure(parser: Parser) -> None:
    parser.add_argument(
        "target", metavar="TARGET", nargs="?",
        help="test.csv, bench.py, bench.py:name, suite.toml, a module, or a name (see: ls)",
    )  # fmt: skip
    add_flags(parser, LOAD_OPTIONS)
    add_run_flags(parser, only=SHARED_WITH_RUNS, several=("model_url",))
    parser.add_argument(
        "--explain", metavar="FIGURE", help="print the definition of a figure, such as ttft, and exit"
    )
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="measure this client's own error against a simulator, and exit",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print what would be sent and the estimated cost; send nothing",
    )
    parser.add_help_all("target", "explain", "self_test", "dry_run")
    parser.common.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.example(
        "benchwright perf test.csv --concurrency 1,4,16 --requests 200 --model-url http://localhost:8000/v1",
        "benchwright perf qa.jsonl --rate 10 --seconds 60 --slo ttft=200ms,e2e=2s",
        "benchwright perf --synthetic input=512,output=128 --concurrency 8 --model-url http://localhost:8000/v1",
        "benchwright perf --explain ttft",
    )


def execute(arguments: Namespace, output: Output) -> int:
    """Put load on the server and print the figures."""
    if arguments.explain is not None:
        return _explain(arguments.explain, output)
    if arguments.self_test:
        return _self_test(arguments, output)
    load("runs")
    name_configuration(output)
    keywords = given(arguments, (*SHARED_WITH_RUNS, *(setting.name for setting in LOAD_OPTIONS)))
    options, how = LoadOptions.split(keywords)
    if arguments.dry_run:
        from benchwright.cli._perf_plan import show_plan

        return show_plan(arguments.target, options, how, output)
    return run_load(arguments.target, options, how, arguments, output)


def load_options(arguments: Namespace) -> LoadOptions:
    """The flags as options of a load test."""
    return LoadOptions.from_keywords(given(arguments, [setting.name for setting in LOAD_OPTIONS]))


def run_long_form(arguments: Namespace, output: Output) -> int:
    """`run … --mode perf`: a load test of what the long form names; `--mode perf_viz` shows the newest recorded ones."""
    from benchwright.cli._flags import resolved
    from benchwright.runs import Session

    mode, arguments.mode = arguments.mode, None
    if arguments.summarizer in ("default_perf", "stable_stage"):
        arguments.summarizer = None  # figures of the whole test and of its steady window are always given
    options = RunOptions.from_keywords(given(arguments, SHARED_WITH_RUNS))
    if mode == "perf_viz":
        return _show_recorded(arguments, output)
    how = {"warmup": arguments.num_warmups, "concurrency": arguments.parallelism, "format": arguments.format}
    load_how = LoadOptions.from_keywords({name: value for name, value in how.items() if value is not None})
    with Session(options.workspace, options.store):
        return run_load(resolved(arguments, options), options, load_how, arguments, output)


def _show_recorded(arguments: Namespace, output: Output) -> int:
    """Show the newest load test of each data and model: of the named data, or of all."""
    from pathlib import Path

    from benchwright.config import named_store
    from benchwright.core import NotFoundError
    from benchwright.results import LoadView
    from benchwright.store import find_workspace, open_existing

    typed = [arguments.target, *(arguments.datasets or ()), *(arguments.custom_dataset_path or ())]
    names = {Path(name).name for name in typed if name}
    store = open_existing(find_workspace(Path.cwd(), arguments.workspace, named_store, to_read=True))
    shown: set[tuple[str, str]] = set()
    views = []
    if store is not None:
        with store:
            for run in store.runs():
                fits = not names or Path(run.target).name in names
                if run.kind == RunKind.LOAD and fits and (run.target, run.model) not in shown:
                    shown.add((run.target, run.model))
                    views.append(LoadView.recorded(store, run))
    if not views:
        raise NotFoundError(
            f"no load test of {', '.join(sorted(names)) or 'anything'} is recorded here. Start one: --mode perf"
        )
    if output.as_json:
        output.json({"results": [view.to_json() for view in views], "exit_code": 0})
    for view in () if output.as_json else views:
        output.show(view)
    return 0


def run_load(target: Any, options: RunOptions, how: LoadOptions, arguments: Namespace, output: Output) -> int:
    """Do the tests of a target and print each result. Returns the exit code of the worst."""
    from benchwright.runs import perf

    results: list[LoadResult] = []

    def finished(result: LoadResult) -> None:
        results.append(result)
        for problem in result.report_problems:
            output.note(f"error: {result.name} ended, but {problem}")
        if not output.as_json:
            _print(result, output)

    with watching_load(quiet=arguments.quiet) as watcher:
        perf(target, options, how, watcher=watcher, finished=finished)
    code = worst_exit_code([result.exit_code for result in results])
    if output.as_json:
        output.json({"results": [result.to_json() for result in results], "exit_code": code})
    return code


def _print(result: LoadResult, output: Output) -> None:
    output.show(result.view)


def _explain(name: str, output: Output) -> int:
    from benchwright.perf import Metric

    found = Metric.named(name)
    if output.as_json:
        output.json(found.to_json())
    else:
        output.line(found.explanation)
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


EVERY_S = 5.0
"""Seconds between two lines in a log."""


@contextmanager
def watching_load(*, quiet: bool) -> Iterator[LoadWatcher | None]:
    """Yield a watcher that suits the stream. Its output is removed at the end in any case."""
    stream = sys.stderr
    if quiet:
        yield None
    elif stream.isatty() and os.environ.get("TERM") != "dumb":
        live = LiveLine(stream)
        try:
            yield live
        finally:
            live.close()
    else:
        yield LogLines(stream)


def load_line(progress: LoadProgress, width: int | None = None) -> str:
    """The state of a test in one line: progress, the rate and latencies of the last seconds, errors.

    In a narrow terminal, what tells least is left out. It is plain text that takes about 50 µs to make and write; anything slower would affect the
    figures.
    """
    settings, place = progress.settings, ""
    if len(settings.levels) > 1 or settings.search is not None:
        unit = "/s" if settings.open_loop else " in flight"
        place = f"{progress.stage + 1}/{len(settings.levels)}"
        if settings.search is not None:
            place = f"probe {progress.stage + 1}"
        place = f" [{place}: {progress.level:g}{unit}]"
    done = f"warming up: {progress.done:,}" if progress.phase == "warmup" else f"{progress.done:,}"
    if settings.requests is not None and progress.phase != "warmup":
        done += f" of {settings.requests:,}"
    time_ = ""
    if progress.seconds is not None:
        time_ = f" in {min(progress.elapsed_s, progress.seconds):.0f} of {round(progress.seconds, 1):g} s"
    parts = [progress.name + place, done + time_]
    recent = progress.recent()
    light = [f"{progress.in_flight:,} in flight"]  # first what is left out first
    for name, pair in (("ITL", recent.itl_s), ("TTFT", recent.ttft_s)):
        if pair is not None:
            late = "" if pair[1] is None else f" (p99 {pair[1] * 1000:,.0f})"
            light.append(f"{name} {pair[0] * 1000:,.0f}{late} ms")
    light.append(f"{recent.rate:,.1f}/s")
    parts += reversed(light)
    if progress.within is not None and progress.done and progress.phase != "warmup":
        parts.append(f"{100 * progress.within / progress.done:.1f} % within limits")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    left = progress.left_s(recent.rate)
    if left is not None and progress.phase != "warmup" and not progress.stopping:
        parts.append(f"about {left:,.0f} s left")
    if progress.stopping:
        parts.append(progress.stopping)
    if width is not None:
        while light and len(", ".join(parts)) > width:
            parts.remove(light.pop(0))
        if len(", ".join(parts)) > width:
            parts[1] = done
        if (beyond := len(", ".join(parts)) - width) > 0:
            parts[0] = progress.name[: max(1, len(progress.name) - beyond - 1)] + "…" + place
    return shown(", ".join(parts))


def finished_line(progress: LoadProgress, number: int) -> str:
    """A level that has ended, in one line."""
    level, done, failed, figures, within = progress.finished[number]
    unit = "/s" if progress.settings.open_loop else " in flight"
    parts = [f"{level:g}{unit}: {done:,} requests", f"{figures.rate:,.1f}/s"]
    if figures.ttft_s is not None:
        late = "" if figures.ttft_s[1] is None else f" (p99 {figures.ttft_s[1] * 1000:,.0f})"
        parts.append(f"TTFT {figures.ttft_s[0] * 1000:,.0f}{late} ms")
    if within is not None:
        parts.append(f"{100 * within:.1f} % within limits")
    if failed:
        parts.append(f"{failed:,} failed")
    return shown(", ".join(parts))


class LiveLine:
    """Redraws one line of a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = False
        self._finished = 0

    def show(self, progress: LoadProgress) -> None:
        """Redraw the line, with a line above it for each level that has ended."""
        if progress.ended:
            self.close()
            return
        try:
            width = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            width = 80
        try:
            for number in range(self._finished, len(progress.finished)):
                self._stream.write(f"\r\x1b[K{finished_line(progress, number)}\n")
            self._finished = len(progress.finished)
            width = max(20, width - 1)
            self._stream.write("\r\x1b[K" + load_line(progress, width)[:width])
            self._stream.flush()
            self._drawn = True
        except OSError:  # the terminal has gone; the test continues
            self._drawn = False

    def close(self) -> None:
        """Remove the line."""
        if self._drawn:
            self._drawn = False
            with suppress(OSError):
                self._stream.write("\r\x1b[K")
                self._stream.flush()


class LogLines:
    """Writes a line every few seconds, and one at once when the test starts to stop."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + EVERY_S
        self._stopping = False

    def show(self, progress: LoadProgress) -> None:
        """Write when it is time."""
        begins_to_stop = bool(progress.stopping) and not self._stopping
        if progress.ended or not (begins_to_stop or time.monotonic() >= self._next):
            return
        self._stopping = bool(progress.stopping)
        self._next = time.monotonic() + EVERY_S
        try:
            self._stream.write(load_line(progress) + "\n")
            self._stream.flush()
        except OSError:
            self._next = float("inf")
