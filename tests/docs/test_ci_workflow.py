"""The workflow of examples/ci: its steps run as they stand, in their order, and stop a worse model."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ci"


def steps() -> list[dict[str, Any]]:
    workflow = yaml.safe_load((EXAMPLE / "workflow.yml").read_text(encoding="utf-8"))
    return [step for step in workflow["jobs"]["gate"]["steps"] if "run" in step]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "CI": "true",  # as every such system sets it
        "PIP_NO_INDEX": "1",  # what is installed suffices, and nothing may be fetched
    }
    return subprocess.run(
        ["bash", "-e", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_steps_of_the_workflow_run_as_they_stand(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".benchwright"))
    (folder / "benchwright.toml").write_text("")  # the folder is a workspace, whatever stands above it
    first = shell("benchwright run bench.py --quiet && make bless", folder)
    assert first.returncode == 0, first.stdout + first.stderr
    for step in steps():
        done = shell(step["run"], folder)
        assert done.returncode == 0, f"{step['name']}: {done.stdout}{done.stderr}"
    assert (folder / "summary.md").read_text(encoding="utf-8").startswith("## ✅ GO: sums")
    assert ElementTree.parse(folder / "gate.xml").getroot().get("failures") == "0"

    gate = next(step["run"] for step in steps() if step["name"] == "Gate")
    worse = shell(
        f"benchwright run bench.py --demo-skill 0.1 --output-dir evaluation --overwrite --quiet && {gate}",
        folder,
    )
    assert worse.returncode == 1, worse.stdout + worse.stderr
    assert ElementTree.parse(folder / "gate.xml").getroot().get("failures") == "1"


FAULTS = {
    "the server is down": ("--model-url http://127.0.0.1:9/v1 --model-id m --max-retries 0", True,
        1,
        "NO-GO", "cannot connect to 127.0.0.1:9"),
    "the evaluation cannot start": ("--model nobody", True, 4, "No verdict", "no run 'evaluation'"),
    "there is no baseline yet": ("--model demo", False, 4, "No verdict", "benchwright export RUN --baseline baseline.jsonl"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_there_is_a_verdict_to_show_whatever_fails(tmp_path: Path, fault: str) -> None:
    flags, based, code, title, reason = FAULTS[fault]
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".benchwright"))
    (folder / "benchwright.toml").write_text("")
    if based:
        assert shell("benchwright run bench.py --quiet && make bless", folder).returncode == 0
    by_name = {step["name"]: step for step in steps()}
    shell(by_name["Evaluate"]["run"].replace("--model demo", flags), folder)
    assert by_name["Gate"]["if"] == by_name["Show the verdict"]["if"] == "always()"
    assert shell(by_name["Gate"]["run"], folder).returncode == code
    assert shell(by_name["Show the verdict"]["run"], folder).returncode == 0
    shown = (folder / "summary.md").read_text(encoding="utf-8")
    assert title in shown.splitlines()[0]
    assert reason in shown
    assert ElementTree.parse(folder / "gate.xml").getroot().tag == "testsuites"


BROKEN = {
    "the benchmark is broken": ("bench.py", "import nothing_like_it", "Check the benchmark and its data, without a request"),
    "the model is unknown": ("Evaluate", "--model nobody", "Evaluate"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_results_of_an_earlier_job_are_not_judged_in_place_of_this_ones(tmp_path: Path, fault: str) -> None:
    name, text, failing = BROKEN[fault]
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".benchwright"))
    (folder / "benchwright.toml").write_text("")
    assert shell("benchwright run bench.py --quiet && make bless", folder).returncode == 0
    by_name = {step["name"]: step["run"] for step in steps() if step["name"] != "Install"}
    for line in by_name.values():  # a job that leaves its folder behind
        assert shell(line, folder).returncode == 0
    assert (folder / "summary.md").read_text(encoding="utf-8").startswith("## ✅ GO")

    (folder / "summary.md").unlink()
    if name == "bench.py":
        with (folder / name).open("a") as file:
            file.write(f"\n{text}\n")
    failed = ""
    codes = {}
    for step in steps():
        if step["name"] != "Install" and (not failed or step.get("if") == "always()"):
            line = step["run"].replace("--model demo", text) if step["name"] == name else step["run"]
            codes[step["name"]] = shell(line, folder).returncode
            failed = failed or (step["name"] if codes[step["name"]] else "")
    assert failed == failing
    assert codes["Gate"] == 4
    assert (folder / "summary.md").read_text(encoding="utf-8").startswith("## ⚠️ No verdict")


def test_every_exit_code_of_the_gate_is_in_the_table() -> None:
    from benchwright.core import ConfigError, NotFoundError, UsageError
    from benchwright.results._gates.verdict import EXIT_CODES

    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    table = page.partition("| `gate` |")[2].partition("\n\n")[0]
    listed = {int(code) for code in re.findall(r"(?m)^\|? ?\|? (\d) \|", f"|{table}")}
    assert {
        *EXIT_CODES.values(),
        UsageError.exit_code,
        ConfigError.exit_code,
        NotFoundError.exit_code,
    } <= listed


def test_the_page_shows_the_files_of_the_example() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```\w+\n(.*?)^```$", page)
    for name in ("workflow.yml", "policy.toml", "bench.py", "Makefile"):
        assert (EXAMPLE / name).read_text(encoding="utf-8") in blocks, name
