"""Programs and workflows by command: run, killed, resumed, interrupted, compared; what is on record afterwards.

BENCHWRIGHT_KILLS sets how many runs are killed (6; 25 for a thorough look).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import warm
from benchwright.cli import main
from benchwright.results import duration
from benchwright.store import Store, Workspace, open_store
from waiting import PATIENCE_S, until, until_delivered

KILLS = int(os.environ.get("BENCHWRIGHT_KILLS", "6"))

SCRIPT = """
import asyncio, json, os, sys
from benchwright import emit, entrypoint, step, workflow

open("pid", "w").write(str(os.getpid()))

async def handler(given, ctx):
    total = 0
    for number in range(given.get("steps", 3)):
        async def one(number=number):
            with open("executed.log", "a") as log:
                log.write(f"{number}\\n")
            await asyncio.sleep(given.get("pause", 0))
            await emit(ctx, "square", number * number)
            return {"number": number, "nothing": None}
        total += (await step(ctx, step_key=f"s{number}", input_value=number, execute=one))["number"]
    print("said on stdout: ü")
    print("said on stderr", file=sys.stderr)
    if given.get("fail"):
        raise ValueError("as asked: ü")
    if "wait" in given:
        print("waiting", flush=True)
        await asyncio.sleep(given["wait"])
    await emit(ctx, "total", total)
    return {"total": total, "model": given.get("model")}

if __name__ == "__main__":
    entrypoint(workflow("my_eval", handler))
    sys.exit(int(os.environ.get("LEAVE_WITH", "0")))
"""
CONFIG = """
[benchmarks.my_eval]
type = "custom_code"
command = ["python", "my_eval.py"]
input = { steps = 4, model = "small" }

[benchmarks.by_http]
type = "custom_code"
command = ["env", "-u", "BENCHWRIGHT_WORKSPACE", "BENCHWRIGHT_WORKFLOW_NAME=my_eval", "python", "my_eval.py"]

[benchmarks.shell]
type = "custom_code"
command = ["sh", "-c", "echo $QUANTILES_RUN_ID $QUANTILES_WORKFLOW_NAME $QUANTILES_INPUT; test -n \\"$QUANTILES_TOKEN\\""]

[benchmarks.exits]
type = "custom_code"
command = ["sh", "-c", "exit 7"]

[benchmarks.missing]
type = "custom_code"
command = ["no-such-program-at-all"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_eval.py").write_text(SCRIPT)
    (tmp_path / "benchwright.toml").write_text(CONFIG)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BENCHWRIGHT_", "QUANTILES_"))}
    # `env python` finds the interpreter of these tests, as in an environment that is active.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return kept | {"PATH": path, "VIRTUAL_ENV": sys.prefix} | more


def benchwright(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return warm.run(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder, env=environment(**more), capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


def look(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that only reads, in this process."""
    with chdir(folder), redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main(list(words))
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A command under way, in a process group of its own as a terminal makes it."""
    return warm.Popen(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    )  # fmt: skip


def until_waiting(command: subprocess.Popen[str]) -> None:
    assert command.stdout is not None
    for line in command.stdout:
        if line == "waiting\n":
            return
    raise AssertionError(command.communicate()[1])


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def store_of(folder: Path) -> Store:
    return open_store(Workspace(folder))


def recorded(folder: Path, run_id: int = 1) -> dict[str, Any]:
    """All that must be the same however often a run was killed."""
    store = store_of(folder)
    run = store.run(run_id)
    steps = store.page_steps(run_id, limit=1000).items
    points = store.page_metrics(run_id, limit=1000).items
    store.close()
    return {
        "status": run.status,
        "input": run.input,
        "output": run.output,
        "steps": sorted((s.key, s.generation, s.status, s.input_hash, s.output) for s in steps),
        "metrics": sorted((p.name, p.value, p.unit or "") for p in points),
    }


def test_a_configured_program_runs_as_a_workflow(folder: Path) -> None:
    (folder / "below").mkdir()
    done = benchwright(folder / "below", "run", "my_eval", "--tag", "prompt=v2")
    assert done.returncode == 0, done.stderr
    assert "said on stdout: ü\n" in done.stdout
    assert "said on stderr\n" in done.stderr
    assert "run 1 my_eval: completed" in done.stdout
    run = store_of(folder).run(1)
    assert (run.kind, run.status, run.output) == ("workflow", "completed", {"total": 6, "model": "small"})
    assert run.tags == {"prompt": "v2"}
    assert run.settings["command"] == ["python", "my_eval.py"]
    assert run.settings["cwd"] == str(folder)
    entry = run.manifest["entry"]
    assert isinstance(entry, dict)
    assert entry["path"] == str(folder / "my_eval.py")
    assert (run.folder / "stdout.txt").read_text() == "said on stdout: ü\n"
    assert (run.folder / "stderr.txt").read_text() == "said on stderr\n"
    assert run.worked is not None
    assert f"run 1 my_eval: completed after {duration(round(run.worked, 6))}" in done.stdout, (
        "as show and list say it"
    )
    again = benchwright(folder, "resume", "1", "--json")
    assert again.returncode == 0
    assert told(again)["exit_code"] is None, "nothing was started"


def test_json_has_the_documented_fields_and_nothing_else_on_standard_output(folder: Path) -> None:
    done = benchwright(folder, "run", "my_eval", "--json", "--input", '{"steps": 1, "new": [null]}')
    result = told(done)
    assert "said on stdout" in done.stderr
    assert result["base_url"].startswith("http://127.0.0.1:")
    expected = {
        "run_id": 1,
        "workflow_name": "my_eval",
        "input": {"steps": 1, "model": "small", "new": [None]},
        "warning": "--input replaces steps of the configuration",
        "command": ["python", "my_eval.py"],
        "server_started_by_us": True,
        "status": "completed",
        "success": True,
        "exit_code": 0,
        "signal": None,
        "stdout": "said on stdout: ü\n",
        "stderr": "said on stderr\n",
        "error": None,
        "metrics": {"square": 0, "total": 0},
        "steps": {"completed": 1},
        "output": {"total": 0, "model": "small"},
    }
    assert {key: result[key] for key in expected} == expected
    alone = told(benchwright(folder, "run", "my_eval", "--json", "--no-server"))
    assert (alone["base_url"], alone["server_started_by_us"], alone["success"]) == (None, False, True)


def test_a_failing_workflow_exits_1_with_its_traceback_on_record(folder: Path) -> None:
    done = benchwright(folder, "run", "my_eval", "--input", '{"fail": true}', "-q")
    assert done.returncode == 1
    assert "error: my_eval failed: ValueError: as asked: ü" in done.stderr
    run = store_of(folder).run(1)
    assert run.status == "failed"
    assert "my_eval.py" in (run.error or "")
    assert (run.error or "").endswith("ValueError: as asked: ü\n")


def test_exit_statuses_and_signals_decide(folder: Path) -> None:
    assert benchwright(folder, "run", "exits").returncode == 1
    assert store_of(folder).run(1).error == "exited with status 7"
    late = benchwright(folder, "run", "my_eval", LEAVE_WITH="3")
    assert late.returncode == 1, "the program said that it failed, although its workflow had completed"
    assert store_of(folder).run(2).status == "failed"
    resumed = benchwright(folder, "resume", "2")
    assert (resumed.returncode, store_of(folder).run(2).status) == (0, "completed")
    assert (folder / "executed.log").read_text().split() == ["0", "1", "2", "3"], "no step is done twice"


def test_programs_in_other_languages_are_told_by_the_older_names_too(folder: Path) -> None:
    done = benchwright(folder, "run", "shell", "--json", "--input", '{"a": "ü"}')
    assert (done.returncode, told(done)["stdout"]) == (0, '1 shell {"a":"\\u00fc"}\n')
    assert store_of(folder).run(1).status == "completed"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "missing"], 2, "no program 'no-such-program-at-all' on PATH"),
        (["run", "my_eval", "--input", "[1]"], 2, "--input"),
        (["run", "my_eval", "--input", "{half"], 2, "--input"),
        (["run", "my_eval", "--limit", "3"], 2, "--limit: my_eval is a program"),
        (["run", "my_eval", "--tag", "novalue"], 2, "expected NAME=VALUE"),
        (["run", "my_eval.py:other"], 2, "has no workflow 'other'"),
        (["resume", "9"], 4, "no run '9'"),
    ],
)
def test_what_cannot_start_says_why_and_leaves_no_run(
    folder: Path, words: list[str], code: int, said: str
) -> None:
    done = benchwright(folder, *words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not (folder / ".benchwright").exists() or store_of(folder).runs() == []


def test_a_python_file_with_a_workflow_is_a_target(folder: Path) -> None:
    done = benchwright(folder, "run", "my_eval.py", "--input", '{"steps": 2}', "--json")
    assert (done.returncode, told(done)["workflow_name"], told(done)["output"]["total"]) == (0, "my_eval", 1)
    without_a_start = SCRIPT.partition('if __name__ == "__main__":')[0] + 'it = workflow("quiet", handler)\n'
    (folder / "quiet.py").write_text(without_a_start)
    done = benchwright(folder, "run", "quiet.py", "--input", "{}", "--json")
    assert (done.returncode, told(done)["output"]["total"]) == (0, 3), done.stderr
    assert store_of(folder).run(2).name == "quiet"


def test_a_run_of_plain_python_is_resumed_by_command(folder: Path) -> None:
    words = [sys.executable, "my_eval.py", "--input", '{"fail": true}']
    assert warm.run(words, cwd=folder, env=environment(), capture_output=True, check=False).returncode == 1
    text = SCRIPT.replace('if given.get("fail"):', "if False:")
    (folder / "my_eval.py").write_text(text)
    done = benchwright(folder, "resume", "last", "--json")
    assert (done.returncode, told(done)["output"]) == (0, {"total": 3, "model": None}), done.stderr
    assert told(done)["run_id"] == 1
    store = store_of(folder)
    (resumed,) = (event for event in store.events(1) if event.kind == "run.resumed")
    assert isinstance(resumed.data, dict)
    assert "code_changed" in resumed.data
    assert (folder / "executed.log").read_text().split() == ["0", "1", "2"]


def test_the_frozen_command_and_input_go_on_unless_todays_are_wanted(folder: Path) -> None:
    benchwright(folder, "run", "my_eval", "--input", '{"fail": true}')
    changed = CONFIG.replace('model = "small"', 'model = "large"').replace("steps = 4", "steps = 5")
    (folder / "benchwright.toml").write_text(changed)
    assert benchwright(folder, "resume", "1").returncode == 1
    assert store_of(folder).run(1).input == {"steps": 4, "model": "small", "fail": True}
    (folder / "my_eval.py").write_text(SCRIPT.replace('if given.get("fail"):', "if False:"))
    done = benchwright(folder, "resume", "1", "--use-current-config", "--json")
    assert (done.returncode, told(done)["output"]) == (0, {"total": 10, "model": "large"}), done.stderr
    data = [event.data for event in store_of(folder).events(1) if event.kind == "run.resumed"][-1]
    assert isinstance(data, dict)
    assert data["use_current_config"] == {
        "command": {"before": ["python", "my_eval.py"], "now": ["python", "my_eval.py"]},
        "input": {
            "before": {"steps": 4, "model": "small", "fail": True},
            "now": {"steps": 5, "model": "large", "fail": True},
        },
    }


def test_ctrl_c_interrupts_once_and_kills_twice(folder: Path) -> None:
    command = start(folder, "run", "my_eval", "--input", '{"wait": 60}')
    until_waiting(command)
    os.killpg(command.pid, signal.SIGINT)
    out, err = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 130, err
    assert "my_eval: interrupted" in out
    assert store_of(folder).run(1).status == "interrupted"
    stubborn = SCRIPT.replace('await asyncio.sleep(given["wait"])', "import time; time.sleep(60)")
    (folder / "my_eval.py").write_text(stubborn)
    command = start(folder, "resume", "1")
    until_waiting(command)
    os.killpg(command.pid, signal.SIGINT)
    until_delivered(command.pid, signal.SIGINT)
    assert command.poll() is None, "the program is waited for"
    os.killpg(command.pid, signal.SIGINT)
    command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 130
    assert store_of(folder).run(1).status == "interrupted"


def test_signals_that_are_ignored_stay_ignored(folder: Path) -> None:
    words = ["nohup", sys.executable, "-m", "benchwright", "run", "my_eval", "--input", '{"wait": 2}']
    command = subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until_waiting(command)
    command.send_signal(signal.SIGHUP)
    command.communicate(timeout=PATIENCE_S)
    assert (command.returncode, store_of(folder).run(1).status) == (0, "completed")


def test_a_program_that_takes_too_long_is_stopped(folder: Path) -> None:
    done = benchwright(folder, "run", "my_eval", "--input", '{"wait": 60}', "--timeout", "2", "--json")
    assert (done.returncode, told(done)["status"]) == (1, "failed")
    assert told(done)["error"] == "took longer than --timeout 2 seconds"
    assert recorded(folder)["status"] == "failed"


def test_two_resumes_at_once_and_a_live_owner(folder: Path) -> None:
    command = start(folder, "run", "my_eval", "--input", '{"wait": 60}')
    until_waiting(command)
    refused = benchwright(folder, "resume", "1")
    assert refused.returncode == 5
    assert "being executed by process" in refused.stderr
    command.kill()  # and its program dies with it
    command.communicate()
    held = 'while not __import__("pathlib").Path("go").exists(): await asyncio.sleep(0.01)'
    (folder / "my_eval.py").write_text(SCRIPT.replace('await asyncio.sleep(given["wait"])', held))
    both = [start(folder, "resume", "1"), start(folder, "resume", "1")]
    until(lambda: any(each.poll() is not None for each in both), "one of them to be refused")
    (folder / "go").touch()
    for each in both:
        each.communicate(timeout=PATIENCE_S)
    assert sorted(each.returncode for each in both) == [0, 5]
    assert recorded(folder)["output"] == {"total": 6, "model": "small"}


def kill_at(folder: Path, name: str, whom: str, seconds: float) -> None:
    """Start a run, kill -9 the program, the command or both after that time."""
    (folder / "pid").unlink(missing_ok=True)
    words = ("resume", "1") if (folder / ".benchwright").exists() and store_of(folder).runs() else (
        "run", name, "--input", '{"steps": 25, "pause": 0.02}'
    )  # fmt: skip
    command = start(folder, *words)
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "pid").exists() and command.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(seconds)
    child = int((folder / "pid").read_text() or "0") if (folder / "pid").exists() else 0
    if whom != "command" and child:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    if whom != "program":
        command.kill()
    out, err = command.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in err or "my_eval" in err, err + out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["my_eval", "by_http"])
def test_killed_runs_go_on_to_the_same_results(tmp_path: Path, name: str) -> None:
    undisturbed = tmp_path / "undisturbed"
    disturbed = tmp_path / "disturbed"
    for place in (undisturbed, disturbed):
        place.mkdir()
        (place / "my_eval.py").write_text(SCRIPT)
        (place / "benchwright.toml").write_text(CONFIG)
    done = benchwright(undisturbed, "run", name, "--input", '{"steps": 25, "pause": 0.02}')
    assert done.returncode == 0, done.stderr
    chance = random.Random(7)
    whom = ["program", "command", "both"]
    for number in range(max(2, KILLS // 2)):
        kill_at(disturbed, name, whom[number % 3], chance.uniform(0.0, 0.35))
    last = benchwright(disturbed, "resume", "1")
    assert last.returncode == 0, last.stderr
    assert recorded(disturbed) == recorded(undisturbed)
    executed = (disturbed / "executed.log").read_text().split()
    assert len(executed) <= 25 + max(2, KILLS // 2), "only open steps are done again"


def test_a_quantiles_file_is_read_too(folder: Path) -> None:
    (folder / "benchwright.toml").rename(folder / "quantiles.toml")
    done = benchwright(folder, "run", "my_eval", "--json")
    assert (done.returncode, told(done)["success"]) == (0, True), done.stderr
    assert (folder / ".benchwright").is_dir()


@pytest.mark.parametrize("name", ["my_eval", "by_http"])
def test_a_run_is_canceled_and_deleted(folder: Path, name: str) -> None:
    command = start(folder, "run", name, "--input", '{"wait": 60}')
    until_waiting(command)
    kept = benchwright(folder, "rm", "1")
    assert kept.returncode == 5
    assert "End it first: benchwright cancel 1" in kept.stderr
    done = benchwright(folder, "cancel", "1", "--json")
    assert (done.returncode, told(done)["status"]) == (0, "canceled"), done.stderr
    command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 130
    store = store_of(folder)
    place = store.run(1).folder
    assert (store.run(1).status, place.is_dir()) == ("canceled", True)
    assert "running" not in store.workflow_step_counts(1)
    store.close()
    assert benchwright(folder, "cancel", "1").returncode == 2
    assert benchwright(folder, "rm", "1").returncode == 0
    assert not place.exists()
    assert store_of(folder).runs() == []
    assert benchwright(folder, "rm", "1").returncode == 4


def test_lists_and_views_of_workflows(folder: Path) -> None:
    assert benchwright(folder, "run", "my_eval", "-q").returncode == 0
    assert benchwright(folder, "run", "my_eval", "-q", "--input", '{"fail": true}').returncode == 1
    runs = told(look(folder, "list", "--json", "--kind", "workflow", "--eval", "my_eval", "--since", "1h"))
    assert [run["status"] for run in runs["runs"]] == ["failed", "completed"]
    assert told(look(folder, "list", "--json", "--status", "failed"))["runs"][0]["id"] == 2
    assert told(look(folder, "list", "--json", "--kind", "benchmark")) == {"runs": []}
    assert look(folder, "list", "--since", "soon").returncode == 2
    shown = told(look(folder, "show", "1", "--json"))
    assert (shown["run"]["workflow_name"], shown["run"]["model_name"]) == ("my_eval", "small")
    assert shown["run"]["output"] == {"total": 6, "model": "small"}
    assert shown["stdout"] == "said on stdout: ü\n"
    point = {"metric_name": "total", "metric_value": 6.0, "unit": None, "step_id": None, "tags": None}
    assert {key: shown["metrics"][-1][key] for key in point} == point
    sample = shown["samples"][2]
    expected = {
        "step_key": "s2",
        "number": 2,
        "nothing": None,
        "status": "completed",
        "attempts": 1,
        "error": None,
    }
    assert {key: sample[key] for key in expected} == expected
    assert sample["metrics"] == {"square": 4.0}
    events = told(look(folder, "show", "1", "--events", "--json"))["events"]
    assert [event["kind"] for event in events[:3]] == ["run.started", "step.started", "step.completed"]
    assert events[1]["step_key"] == "s0"
    text = look(folder, "show", "2").stdout
    for part in ("ValueError: as asked: ü", "s3", "said on stderr", "python my_eval.py"):
        assert part in text
    assert '"number": 1' in look(folder, "show", "1", "s1").stdout
    assert look(folder, "show", "1", "s9").returncode == 4
    assert look(folder, "show", "1", "--failed-only").stdout == "no steps\n"
    compared = told(look(folder, "compare", "1", "2", "--json", "--fail-on-diff"))
    assert (compared["differs"], compared["exit_code"]) == (True, 1)


def test_a_benchmark_takes_no_flags_of_programs(folder: Path) -> None:
    (folder / "test.csv").write_text("question,answer\n1+1=,2\n")
    done = benchwright(folder, "run", "test.csv", "--tag", "a=b")
    assert done.returncode == 2
    assert "--tag: only for programs and workflows, and test.csv is a benchmark" in done.stderr


def test_only_the_end_of_what_a_program_prints_is_kept(folder: Path) -> None:
    text = "import sys\nfor n in range(60000):\n    print(f'{n:063d}')\n"
    (folder / "loud.py").write_text(text)
    (folder / "benchwright.toml").write_text(
        '[benchmarks.loud]\ntype = "custom_code"\ncommand = ["python", "loud.py"]\n'
    )
    done = benchwright(folder, "run", "loud", "--json")
    kept = told(done)["stdout"]
    assert len(kept) == 1024 * 1024
    assert kept.endswith(f"{59999:063d}\n")
    file = store_of(folder).run(1).folder / "stdout.txt"
    assert file.read_text() == kept
    assert done.stderr.count("\n") >= 60000, "all of it was passed on"
