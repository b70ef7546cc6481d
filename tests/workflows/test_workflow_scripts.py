"""Workflows as scripts: plain `python my_eval.py`, under a parent that manages the run, and what signals do to them."""

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
from benchwright import compare
from benchwright.store import Store, Workspace, open_store
from benchwright.workflows import child_environment
from stored_workflows import claimed_workflow, created_workflow, finish_workflow
from waiting import PATIENCE_S, until_delivered

SCRIPT = """
import asyncio, sys
from benchwright import emit, entrypoint, step, workflow

async def handler(given, ctx):
    given = given or {}
    async def wait():
        print("waiting", flush=True)
        await asyncio.sleep(given.get("wait", 0))
        return "waited"
    total = 0
    for number in range(given.get("steps", 3)):
        total += await step(ctx, step_key=f"s{number}", input_value=number, execute=lambda: number * 2)
    if given.get("fail"):
        raise ValueError("as asked: ü")
    if given.get("exit") is not None:
        sys.exit(given["exit"])
    waited = await ctx.step(step_key="wait", execute=wait)
    await emit(ctx, "total", total)
    return {"total": total, "waited": waited}

async def other(ctx):
    return "other"

if __name__ == "__main__":
    entrypoint(workflow("my_eval", handler), *([workflow("second", other)] if "--two" in sys.argv else []))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "my_eval.py"
    path.write_text(SCRIPT)
    return path


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BENCHWRIGHT_", "QUANTILES_"))}
    return kept | more


def run(script: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return warm.run(
        [sys.executable, script.name, *words],
        cwd=script.parent,
        env=env or environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def store_of(script: Path) -> Store:
    return open_store(Workspace(script.parent))


def test_a_plain_script_runs_its_only_workflow_in_the_workspace_above(script: Path) -> None:
    done = run(script, "--input", '{"steps": 2}', "--unknown-to-us")
    assert (done.returncode, done.stdout) == (0, "waiting\n"), done.stderr
    assert done.stderr == "run 1 my_eval: completed, 3 steps. See: benchwright show 1\n"
    record = store_of(script).run(1)
    assert (record.status, record.input, record.output) == (
        "completed",
        {"steps": 2},
        {"total": 2, "waited": "waited"},
    )
    command = record.settings["command"]
    assert isinstance(command, list)
    assert command[1:] == ["my_eval.py", "--input", '{"steps": 2}', "--unknown-to-us"]
    again = run(script, "--resume", "1")
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr == "run 1 my_eval: complete already. See: benchwright show 1\n"


def test_a_script_is_the_same_however_it_is_started(script: Path) -> None:
    # In processes that start from nothing: what a script has imported is on record.
    for words in (
        ["my_eval.py", "--input", "{}"],
        ["-m", "benchwright", "run", "my_eval.py:my_eval", "--no-server"],
    ):
        done = subprocess.run(
            [sys.executable, *words],
            cwd=script.parent, env=environment(), capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    plain, managed = (store_of(script).run(number).manifest for number in (1, 2))
    for part in ("entry", "modules", "versions"):
        assert plain[part] == managed[part]
    found = compare(1, 2, workspace=script.parent)
    assert (found.notes, found.differs) == ((), False)


def test_a_failing_script_prints_and_records_the_traceback(script: Path) -> None:
    done = run(script, "--input", '{"fail": true}')
    assert done.returncode == 1
    assert "ValueError: as asked: ü" in done.stderr
    assert 'my_eval.py", line' in done.stderr
    record = store_of(script).run(1)
    assert record.status == "failed"
    assert record.error is not None
    assert done.stderr == (
        f"{record.error.rstrip()}\nrun 1 my_eval: failed; resume it with: python my_eval.py --resume 1\n"
    )
    assert "benchwright/runs" not in done.stderr, "our own frames tell the user nothing"
    assert store_of(script).workflow_step_counts(1) == {"completed": 3}


def test_a_handler_that_leaves_with_a_status_is_recorded(script: Path) -> None:
    assert run(script, "--input", '{"exit": 3}').returncode == 3
    assert store_of(script).run(1).status == "failed"


def test_of_several_workflows_one_is_named(script: Path) -> None:
    unnamed = run(script, "--two")
    assert unnamed.returncode == 2
    assert "several workflows (my_eval, second); choose one with --name" in unnamed.stderr
    assert run(script, "--two", "--name", "second").returncode == 0
    wrong = run(script, "--two", "--name", "secnd")
    assert wrong.returncode == 2
    assert "Unknown workflow: secnd. Did you mean 'second'?" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert store_of(script).run(1).output == "other"
    assert run(script, "--two", "--name", "my_eval", "--input", '{"fail": true}').returncode == 1
    resumed = run(script, "--two", "--resume", "2")
    assert "ValueError: as asked" in resumed.stderr, "the run tells which workflow it is one of"
    assert store_of(script).run(2).starts == 2
    store_of(script).create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
    assert run(script, "--resume", "last").returncode == 1, "the last run of this script, not of all"
    assert store_of(script).run(2).starts == 3


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--input", "{not json"], 2, "--input is not JSON"),
        (["--resume", "7"], 4, "no run '7'"),
        (["--resume"], 2, "expected one argument"),
    ],
)
def test_what_cannot_start_says_why(script: Path, words: list[str], code: int, told: str) -> None:
    done = run(script, *words)
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_interrupt_the_run_and_leave_nothing_running(script: Path, number: int, code: int) -> None:
    child = start(script, {"wait": 60})
    child.send_signal(number)
    _, told = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == code
    assert "resume it with: python my_eval.py --resume 1" in told
    assert "Traceback" not in told
    store = store_of(script)
    assert store.run(1).status == "interrupted"
    assert store.workflow_step_counts(1) == {"completed": 3, "interrupted": 1}


STUBBORN = """import time
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass"""


@pytest.mark.parametrize("body", ["import time; time.sleep(60)", STUBBORN])
def test_a_second_signal_ends_a_script_that_does_not_stop(script: Path, body: str) -> None:
    line = next(each for each in SCRIPT.splitlines() if 'await asyncio.sleep(given.get("wait", 0))' in each)
    indent = line[: len(line) - len(line.lstrip())]
    script.write_text(SCRIPT.replace(line.strip(), body.replace("\n        ", f"\n{indent}")))
    child = start(script, {})
    child.send_signal(signal.SIGTERM)
    until_delivered(child.pid, signal.SIGTERM)
    assert child.poll() is None, "the first waits for the code to come back"
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 143


def test_a_run_of_a_live_script_is_not_resumed_and_of_a_killed_one_is(script: Path) -> None:
    child = start(script, {"wait": 60})
    refused = run(script, "--resume", "last")
    assert refused.returncode == 5
    assert f"process {child.pid}" in refused.stderr
    forced = warm.Popen(
        [sys.executable, script.name, "--resume", "1", "--force"],
        cwd=script.parent, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert forced.stdout is not None
    assert forced.stdout.readline() == "waiting\n"
    child.send_signal(signal.SIGTERM)  # who lost the run cannot mark it
    child.communicate(timeout=PATIENCE_S)
    assert store_of(script).run(1).status == "running"
    assert child.returncode == 143
    forced.kill()
    forced.communicate()
    assert store_of(script).run(1).status == "interrupted"


def start(script: Path, given: Any) -> subprocess.Popen[str]:
    child = warm.Popen(
        [sys.executable, script.name, "--input", json.dumps(given)],
        cwd=script.parent, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "waiting\n"
    return child


def test_a_managed_run_is_handed_to_the_script_which_ends_it(script: Path) -> None:
    store = store_of(script)
    lease = created_workflow(store, "my_eval", input_json=b'{"steps":1}', status="queued")
    variables = child_environment(lease, "my_eval", {"steps": 1}, script.parent)
    done = run(script, "--two", env=environment(**variables))
    assert (done.returncode, done.stderr) == (0, "")
    record = store.run(lease.run_id)
    assert (record.status, record.output, record.starts) == (
        "completed",
        {"total": 0, "waited": "waited"},
        1,
    )
    assert "entry" in record.manifest
    assert store.events(lease.run_id)[0].kind == "run.started"


def test_a_managed_run_that_fails_is_recorded_as_failed(script: Path) -> None:
    store = store_of(script)
    lease = created_workflow(store, "my_eval", status="queued")
    done = run(script, env=environment(**child_environment(lease, "my_eval", {"fail": True}, script.parent)))
    assert done.returncode == 1
    assert "ValueError: as asked" in done.stderr
    assert store.run(lease.run_id).status == "failed"


def test_a_parent_ends_the_run_of_a_child_that_was_killed(script: Path) -> None:
    store = store_of(script)
    lease = created_workflow(store, "my_eval", status="queued")
    child = warm.Popen(
        [sys.executable, script.name],
        cwd=script.parent,
        env=environment(**child_environment(lease, "my_eval", {"wait": 60}, script.parent)),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "waiting\n"
    child.kill()
    child.communicate()
    assert store.run(lease.run_id).status == "interrupted"
    finish_workflow(store, lease, "failed", error="the workflow's process was killed (SIGKILL)")
    assert store.run(lease.run_id).status == "failed"


def test_a_managed_name_that_the_script_lacks_is_refused(script: Path) -> None:
    store = store_of(script)
    lease = created_workflow(store, "another", status="queued")
    done = run(script, env=environment(**child_environment(lease, "another", None, script.parent)))
    assert done.returncode == 2
    assert "Unknown workflow: another" in done.stderr


def test_older_names_of_the_variables_are_understood(script: Path) -> None:
    store = store_of(script)
    lease = created_workflow(store, "my_eval", status="queued")
    variables = child_environment(lease, "my_eval", {"steps": 2}, script.parent)
    renamed = {name.replace("BENCHWRIGHT_", "QUANTILES_"): value for name, value in variables.items()}
    assert run(script, env=environment(**renamed)).returncode == 0
    assert store.run(lease.run_id).output == {"total": 2, "waited": "waited"}


def test_a_script_that_lost_its_run_says_so_and_exits_with_5(script: Path) -> None:
    child = start(script, {"wait": 0.7})
    store = store_of(script)
    claimed_workflow(store, 1, force=True)
    _, told = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 5
    assert f"process {os.getpid()}" in told
    assert "Traceback" not in told
    assert store.run(1).status == "running"


FILLING = """
from benchwright import entrypoint, workflow

async def handler(ctx):
    for number in range(3000):
        await ctx.step(step_key=f"s{number}", execute=lambda: "x" * 2000)
    return "done"

if __name__ == "__main__":
    entrypoint(workflow("filling", handler))
"""


def test_a_full_disk_ends_a_script_cleanly_and_it_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    try:
        script = tmp_path / "filling.py"
        script.write_text(FILLING)
        done = run(script, "--workspace", str(disk))
        assert done.returncode == 1
        assert done.stderr.startswith("error: the disk is full")
        assert "Everything recorded before is safe" in done.stderr
        assert "Traceback" not in done.stderr
        store = open_store(Workspace(disk))
        recorded = store.workflow_step_counts(1)["completed"]
        assert recorded > 100
        store.close()
        subprocess.run(["mount", "-o", "remount,size=40m", str(disk)], check=True)
        resumed = run(script, "--workspace", str(disk), "--resume", "last")
        assert resumed.returncode == 0, resumed.stderr
        assert f"3000 steps, {recorded} of them recorded before" in resumed.stderr
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("--resum", "--resume"), ("--res", "--resume"), ("--inputs", "--input"),
     ("--output", None), ("--two", None), ("-r", None)],
)  # fmt: skip
def test_a_misspelled_option_is_reported(word: str, meant: str | None, script: Path) -> None:
    ended = run(script, word, *(["--name", "my_eval"] if word == "--two" else []))
    assert ended.returncode == 0
    said = [line for line in ended.stderr.splitlines() if line.startswith("warning")]
    assert said == (
        []
        if meant is None
        else [f"warning: {word} is no option of benchwright and is left to the script. Did you mean {meant}?"]
    )


KILLED = """
import asyncio, os, signal
from pathlib import Path
from benchwright import entrypoint, workflow
from benchwright.store import Workspace, open_store

async def handler(ctx):
    await ctx.step(step_key="first", execute=lambda: 1)
    await ctx.step(step_key="second", execute=die)
    return "done"

async def die():
    await until_recorded()
    if not os.path.exists("calm"):
        os.kill(os.getpid(), signal.SIGKILL)
    return 2

async def until_recorded():
    while not os.path.exists("calm"):
        with open_store(Workspace(Path.cwd())) as store:
            if len(store.page_steps(1).items) == 2:
                return
        await asyncio.sleep(0.01)

entrypoint(workflow("killed", handler))
"""


def test_a_killed_workflow_shows_no_running_step_and_how_to_resume_it(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    assert run(script).returncode == -signal.SIGKILL

    def said(*words: str) -> str:
        ended = warm.run(
            [sys.executable, "-m", "benchwright", *words],
            cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        return str(ended.stdout + ended.stderr)

    shown = said("show", "last")
    assert "2 steps: 1 completed, 1 interrupted\nResume it: benchwright resume 1\n" in shown
    assert "running" not in shown
    assert "running" not in said("show", "last", "--steps")
    (tmp_path / "calm").touch()
    assert "run 1 is resumed with 1 completed step;" in said("resume", "last")
