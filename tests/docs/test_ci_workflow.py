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
    worse = shell(f"benchwright run bench.py --demo-skill 0.1 --quiet && {gate}", folder)
    assert worse.returncode == 1, worse.stdout + worse.stderr
    assert ElementTree.parse(folder / "gate.xml").getroot().get("failures") == "1"


def test_the_page_shows_the_files_of_the_example() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```\w+\n(.*?)^```$", page)
    for name in ("workflow.yml", "policy.toml", "bench.py", "Makefile"):
        assert (EXAMPLE / name).read_text(encoding="utf-8") in blocks, name
