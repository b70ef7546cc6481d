"""`make demo` keeps to its clone: what a folder above holds is neither used nor changed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import warm

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_demos_records_stay_in_its_clone(tmp_path: Path) -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ
    ).stdout
    (line,) = [line for line in shown.splitlines() if "benchwright run" in line]
    (tmp_path / ".benchwright").mkdir()
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "examples" / "arithmetic", clone / "examples" / "arithmetic")
    words = shlex.split(line)[1:]
    warm.run([sys.executable, "-m", "benchwright", *words], cwd=clone, check=True, capture_output=True)
    assert (clone / ".benchwright").is_dir()
    assert not list((tmp_path / ".benchwright").iterdir())
    assert ".benchwright/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert ".benchwright in this clone" in shown
