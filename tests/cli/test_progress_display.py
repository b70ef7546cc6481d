"""Progress: a bar at a terminal, a line now and then in a log, nothing when told so."""

from __future__ import annotations

import io
import time

import pytest

from benchwright.cli import _progress as shown_progress
from benchwright.cli._progress import (
    BarWatcher,
    DebugWatcher,
    LineWatcher,
    aside,
    progress_line,
    time_left_s,
    watching,
)
from benchwright.engine import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def half_done() -> Progress:
    progress = Progress("my_qa")
    progress.phase = "asking"
    progress.total, progress.done, progress.recorded = 2000, 1000, 200
    progress.in_flight, progress.failed, progress.cached = 64, 3, 5
    progress.started = time.monotonic() - 8.0
    return progress


def test_failed_requests_to_judges_are_counted_before_their_samples_fail() -> None:
    progress = half_done()
    assert "judge" not in progress_line(progress)
    progress.judge_retries = 3
    assert "3 failed judge requests sent again" in progress_line(progress)


def test_a_line_says_all_that_matters() -> None:
    line = progress_line(half_done())
    for part in (
        "my_qa: 1,000 of 2,000 (50 %)",
        "per second",
        "64 in flight",
        "3 failed",
        "5 from earlier runs",
        "s left",
    ):
        assert part in line


def test_time_left_is_told_by_the_rate_of_this_start() -> None:
    assert time_left_s(half_done()) == pytest.approx(10.0, rel=0.05)
    fresh = Progress("my_qa")
    assert time_left_s(fresh) is None
    assert progress_line(fresh) == "my_qa: checking"


def test_why_it_stops_is_shown() -> None:
    progress = half_done()
    progress.stopping = "interrupted; finishing what is in flight"
    assert "interrupted; finishing" in progress_line(progress)


def test_a_log_gets_a_line_only_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(shown_progress.time, "monotonic", lambda: clock[0])
    out = io.StringIO()
    watcher = LineWatcher(out)
    for moment in (100.0, 104.9, 105.1, 105.2, 109.0, 110.2):
        clock[0] = moment
        watcher.show(half_done())
    assert len(out.getvalue().splitlines()) == 2


def test_a_closed_log_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(shown_progress, "EVERY_S", 0.0)
    watcher = LineWatcher(Closed())
    watcher.show(half_done())
    watcher.show(half_done())


def test_the_stream_decides_how_progress_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with watching(quiet=False, stream=Terminal()) as watcher:
        assert isinstance(watcher, BarWatcher)
    with watching(quiet=False, stream=io.StringIO()) as watcher:
        assert isinstance(watcher, LineWatcher)
    with watching(quiet=True, stream=Terminal()) as watcher:
        assert watcher is None
    monkeypatch.setenv("TERM", "dumb")
    with watching(quiet=False, stream=Terminal()) as watcher:
        assert isinstance(watcher, LineWatcher)


@pytest.mark.parametrize("colour", [True, False])
def test_a_bar_is_drawn_and_taken_away(monkeypatch: pytest.MonkeyPatch, colour: bool) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    if colour:
        monkeypatch.delenv("NO_COLOR", raising=False)
    else:
        monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    watcher = BarWatcher()
    progress = half_done()
    watcher.show(progress)
    drawn = out.getvalue()
    assert "my_qa" in drawn
    assert "1000/2000" in drawn
    assert "64 in flight" in drawn
    assert "3 failed" in drawn
    assert ("\x1b[31m" in drawn) is colour, "NO_COLOR is respected"
    progress.phase = "done"
    watcher.show(progress)
    watcher.show(progress)
    watcher.close()
    assert out.getvalue().endswith("\x1b[2K"), "the line is cleared: the result takes its place"


def test_why_it_stops_can_be_read_in_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    watcher = BarWatcher()
    progress = half_done()
    progress.failed = 0
    progress.stopping = "interrupted; Ctrl-C stops at once"
    watcher.show(progress)
    watcher.close()
    drawn = out.getvalue()
    for part in ("my_qa", "1000/2000", "64 in flight", progress.stopping):
        assert part in drawn
    assert "failed" not in drawn, "it is red: said only when something has"


def test_several_runs_have_a_bar_each_until_they_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "160")
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    watcher = BarWatcher()
    first, second = half_done(), half_done()
    first.name, second.name = "sums on one", "sums on two"
    watcher.show(first)
    watcher.show(second)
    out.truncate(0)
    watcher.show(first)
    drawn = out.getvalue()
    assert "sums on one" in drawn
    assert "sums on two" in drawn
    first.phase = "done"
    watcher.show(first)
    out.truncate(0)
    watcher.show(second)
    assert "sums on one" not in out.getvalue()
    with aside(watcher):
        assert out.getvalue().endswith("\x1b[2K"), "there is room to print"
    out.truncate(0)
    watcher.show(second)
    assert "sums on two" in out.getvalue(), "the bar comes back"
    watcher.close()


def test_a_log_gets_lines_of_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(shown_progress.time, "monotonic", lambda: clock[0])
    out = io.StringIO()
    watcher = LineWatcher(out)
    runs = [half_done(), half_done()]
    for moment in (100.0, 106.0, 107.0, 111.5):
        clock[0] = moment
        for run in runs:
            watcher.show(run)
    assert len(out.getvalue().splitlines()) == 4


def test_debug_tells_each_stage_and_failure_once() -> None:
    out = io.StringIO()
    watcher = DebugWatcher(out)
    progress = half_done()
    progress.recent_failures.extend(["row 3: boom", "row 4: \x1b[2Jboom"])
    watcher.show(progress)
    watcher.show(progress)
    progress.phase = "done"
    watcher.show(progress)
    assert out.getvalue().splitlines() == [
        "my_qa: asking 2,000 samples, 200 recorded",
        "my_qa: failed: row 3: boom",
        "my_qa: failed: row 4: \\x1b[2Jboom",
        "my_qa: done, 1,000 of 2,000 samples, 3 failed",
    ]
