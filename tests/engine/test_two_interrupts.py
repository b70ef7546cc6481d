"""Ctrl-C twice ends a run whatever its scorer does; what was done is on record, and `resume` does the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import benchwright
import warm
from benchwright.demo import DemoSettings, demo_server
from benchwright.engine._watchdog import GRACE_S
from waiting import PATIENCE_S, until, until_delivered

BENCH = """
import asyncio, re, time
from pathlib import Path
from benchwright import benchmark, scorer
rows = [{{"question": f"What is {{n}} + 1?", "answer": n + 1}} for n in range(12)]

def quick():
    return {{"correct": True}}

def stuck_here():
    if Path("free").exists():
        return False
    Path("stuck").touch()
    return True

@benchmark(name="stuck", dataset=rows, prompt="{{question}}", target_field="answer")
@scorer
{scorer}
"""
SCORERS = {
    # In a thread, where no signal reaches it and the event loop starves: only another process can help.
    "a pattern in a thread": """
def score(sample):
    if stuck_here():
        re.match(r"(a+)+$", "a" * 64 + "!")
    return quick()
""",
    # After quick samples scorers run in the event loop.
    "a pattern in the loop": """
def score(sample):
    if sample.target > 8 and stuck_here():
        re.match(r"(a+)+$", "a" * 64 + "!")
    return quick()
""",
    "a sleep in a thread": """
def score(sample):
    if stuck_here():
        time.sleep(1000)
    return quick()
""",
    "a function at exit": """
def score(sample):
    if stuck_here():
        import atexit
        atexit.register(time.sleep, 1000)
        time.sleep(1000)
    return quick()
""",
    "a process of its own": """
def score(sample):
    if stuck_here():
        import multiprocessing
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(1000,))
        process.start()
        process.join()
    return quick()
""",
    "a question to the user": """
def score(sample):
    if stuck_here():
        input("?")
    return quick()
""",
    "an async sleep that cannot be cancelled": """
async def score(sample):
    while stuck_here():
        try:
            await asyncio.sleep(1000)
        except BaseException:
            pass
    return quick()
""",
}


def interrupt_again(child: subprocess.Popen[bytes]) -> None:
    """Interrupt a second time, and return when the command has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        until_delivered(child.pid, signal.SIGINT)
        child.send_signal(signal.SIGINT)
        try:
            child.wait(timeout=2 * GRACE_S)
            return
        except subprocess.TimeoutExpired:
            pass  # one may have come before the command listened, or while it noted the first: press again
    raise AssertionError("the command is deaf to Ctrl-C")


LET_GO = {130, -signal.SIGKILL}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCORERS)
def test_two_interrupts_end_any_run(tmp_path: Path, kind: str) -> None:
    (tmp_path / "bench.py").write_text(BENCH.format(scorer=SCORERS[kind].strip()), encoding="utf-8")
    silence, speaker = os.pipe()  # an input on which nobody says anything
    written = tmp_path / "errors.txt"  # no pipe: a process that the scorer has left behind would hold it open
    with demo_server(DemoSettings(skill=1.0)) as server, written.open("wb") as stream:
        child = warm.Popen(
            [sys.executable, "-m", "benchwright", "run", "bench.py", "--model-url", server.url, "--model-id", "demo",
             "--parallelism", "1"],
            cwd=tmp_path, stdin=silence, stdout=subprocess.DEVNULL, stderr=stream, start_new_session=True,
        )  # fmt: skip
        try:
            until(lambda: (tmp_path / "stuck").exists() or child.poll() is not None)
            assert child.poll() is None, written.read_text(encoding="utf-8")
            child.send_signal(signal.SIGINT)
            interrupt_again(child)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            os.close(silence)
            os.close(speaker)
        errors = written.read_text(encoding="utf-8")
        assert child.returncode in LET_GO, errors
        assert "Traceback" not in errors
        asked = server.stats()["requests"]
        (tmp_path / "free").touch()
        done = warm.run(
            [sys.executable, "-m", "benchwright", "resume", "last", "--json"],
            cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["results"][0]["summary"]["outcomes"]["scored"] == 12
        assert server.stats()["requests"] == 12, f"{asked} replies were paid for, and each is asked for once"


QUESTIONS = "question,answer\n" + "".join(f"What is {n} + 1?,{n + 1}\n" for n in range(60))


def test_a_closed_terminal_costs_no_reply(tmp_path: Path) -> None:
    """Neither the signal nor the bars that can no longer be drawn lose what is in flight."""
    (tmp_path / "sums.csv").write_text(QUESTIONS, encoding="utf-8")
    ours, terminal = os.openpty()
    with demo_server(DemoSettings(ttft_ms=30)) as server:
        child = warm.Popen(
            [sys.executable, "-m", "benchwright", "run", "sums.csv", "--model-url", server.url, "--model-id", "demo",
             "--parallelism", "4", "--output-dir", "out"],
            cwd=tmp_path, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
            env={**os.environ, "TERM": "xterm"},
        )  # fmt: skip
        os.close(terminal)
        until(lambda: int(str(server.stats()["requests"])) > 8)
        os.close(ours)
        child.send_signal(signal.SIGHUP)
        assert child.wait(timeout=PATIENCE_S) == 130
        assert (tmp_path / "out" / "results.yml").exists()
        done = benchwright.resume("last", workspace=tmp_path)
        assert (done.status, done.summary.outcomes["scored"]) == ("completed", 60)
        assert server.stats()["requests"] == 60, "each is sent once"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_first_request_lets_the_command_clean_up(
    tmp_path: Path, number: signal.Signals
) -> None:
    code = """
import pathlib, time
try:
    pathlib.Path("loading").touch()
    time.sleep(1000)
finally:
    pathlib.Path("loading").unlink()
"""
    (tmp_path / "bench.py").write_text(code, encoding="utf-8")
    child = warm.Popen(
        [sys.executable, "-m", "benchwright", "run", "bench.py"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until((tmp_path / "loading").exists)
    child.send_signal(number)
    _, errors = child.communicate(timeout=PATIENCE_S)
    assert (child.returncode, errors) == (130, "error: interrupted\n")
    assert not (tmp_path / "loading").exists()


STORM = """
import asyncio, os, signal, sys
from benchwright.engine import _watchdog
from benchwright.engine._group import RunGroup

_watchdog.GRACE_S = 10_000
SIGNALS = 3_000

async def deep(depth):
    if depth:
        return await deep(depth - 1)
    await asyncio.sleep(0)
    return [number for number in steps()]

def steps():
    yield from range(3)

async def main():
    group, heard = RunGroup(), []
    with group.open(), group.listening(lambda: heard.append(group.signal)):
        if os.fork() == 0:
            for number in range(SIGNALS):
                os.kill(os.getppid(), (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3])
            os._exit(0)
        sender = asyncio.create_task(asyncio.to_thread(os.wait))
        while not sender.done():
            await asyncio.gather(*(deep(5) for _ in range(20)))
        assert 2 <= len(heard) <= SIGNALS, len(heard)
    print("whole")

if sys.argv[1] == "uvloop":
    import uvloop
    uvloop.run(main())
else:
    asyncio.run(main())
"""


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_signals_at_any_moment_do_not_crash_python(loop: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STORM, loop], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr


OTHER_SIGNALS = """
import asyncio, multiprocessing, os, signal, sys, time
from benchwright.engine._group import RunGroup

def workers():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) * 5:
        worker = os.fork()
        if worker == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # it was asyncio's
            os.kill(os.getpid(), number)
            time.sleep(60)
            os._exit(3)
        assert os.WTERMSIG(os.waitpid(worker, 0)[1]) == number

async def main():
    group = RunGroup()
    signal.signal(signal.SIGUSR1, lambda *_: None)  # its number is a line break for a shell
    with group.open(), group.listening(lambda: None):
        os.kill(os.getpid(), signal.SIGUSR1)
        workers()
        await asyncio.sleep(0)
        shell = group._watchdog._shell
        assert os.waitpid(shell, os.WNOHANG) == (0, 0), "the watchdog has ended"
        assert not group.interrupted, group.signal
    print("whole")

asyncio.run(main())
"""


def test_signals_to_workers_and_other_signals_are_none_for_the_run() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OTHER_SIGNALS], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
