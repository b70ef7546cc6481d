"""A warm process is told from one that starts in the usual way by nothing but its time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warm

SHOWN = """
import json, os, sys, time
print(json.dumps({
    "arguments": [sys.argv, sys.orig_argv[1:], sys.path[0], sys.warnoptions],
    "module": [__name__, globals().get("__file__")],
    "place": [os.getcwd(), sorted(os.environ.items()), time.tzname],
    "family": [os.getppid(), os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid()],
    "streams": [[s.encoding, s.errors, s.line_buffering, s.write_through, s.name] for s in (sys.stdout, sys.stderr)],
    "input": sys.stdin.read(),
    "files": sorted(os.listdir("/proc/self/fd"))[:3],
}))
"""
ENDS = {
    "a code": "import sys; sys.exit(7)",
    "a message": "import sys; sys.exit('that is all')",
    "an error": "def f(): raise ValueError('as asked')\nf()",
    "an interrupt": "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)",
    "a kill": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "a warning": "import warnings; warnings.warn('mind')",
    "a thread": "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()",
    "an exit handler": "import atexit; atexit.register(print, 'bye'); print('hello')",
    "a reader that left": "import os, sys; os.close(1); print('x')",
}


def both(*words: str, **options: Any) -> list[tuple[Any, ...]]:
    """How the command ends and what it prints, started in both ways."""
    found = []
    for run in (subprocess.run, warm.run):
        done = run([sys.executable, *words], capture_output=True, text=True, **options)
        found.append((done.returncode, done.stdout, done.stderr))
    return found


@pytest.mark.parametrize("form", ["-c", "-m", "script", "-W"])
def test_it_finds_what_the_other_finds(form: str, tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text(SHOWN, encoding="utf-8")
    words = {
        "-c": ["-c", SHOWN, "--a", "ü"], "-m": ["-m", "shown", "--a", "-c"], "script": ["shown.py", "x"],
        "-W": ["-W", "error", "-c", SHOWN],
    }[form]  # fmt: skip
    environment = {**os.environ, "TZ": "Asia/Tokyo", "MINE": "ä"}
    usual, forked = both(
        *words, cwd=tmp_path, env=environment, input="said\n", start_new_session=form == "-m"
    )
    assert (usual[0], forked[0]) == (0, 0), (usual, forked)
    assert json.loads(usual[1]) == json.loads(forked[1])


@pytest.mark.parametrize("end", ENDS)
def test_it_ends_as_the_other_ends(end: str) -> None:
    usual, forked = both("-c", ENDS[end])
    assert usual == forked


def test_it_is_a_child_that_signals_reach() -> None:
    code = "import signal, sys\nprint('ready', flush=True)\nsignal.pause()"
    for number in (signal.SIGTERM, signal.SIGKILL):
        with warm.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, process_group=0
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            os.killpg(child.pid, number)
            assert child.wait() == -number


def test_what_python_reads_at_its_start_is_read() -> None:
    usual, forked = both(
        "-c", "import sys; print(sys.flags.hash_randomization)", env={**os.environ, "PYTHONHASHSEED": "0"}
    )
    assert usual == forked == (0, "0\n", "")
