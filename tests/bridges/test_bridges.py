"""Foreign formats are reached by the rows of one table, and loaded only by what needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import benchwright
from benchwright.core import bridge
from benchwright.core._bridges import BRIDGES

ROOM = Path(benchwright.__file__).parent / "bridges"


@pytest.mark.parametrize("name", list(BRIDGES))
def test_every_row_has_its_module(name: str) -> None:
    assert bridge(name).__doc__


def test_every_module_is_used() -> None:
    texts = [path.read_text(encoding="utf-8") for path in ROOM.glob("*.py")]
    for path in ROOM.glob("_[a-z]*.py"):
        used = any(f"benchwright.bridges.{path.stem} import" in text for text in texts)
        assert used or path.stem in BRIDGES.values(), f"nothing leads to {path.name}"


def test_a_run_without_foreign_files_loads_no_bridge(tmp_path: Path) -> None:
    (tmp_path / "qa.csv").write_text("question,answer\n1+1,2\n")
    program = (
        "import sys; from benchwright.cli import main\n"
        "assert main(['run', 'qa.csv', '--quiet']) == 0\n"
        "assert not [name for name in sys.modules if name.startswith('benchwright.bridges')]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
