"""Run the tests that depend on the Python version on every other installed Python: `make test-pythons`.

Looks for interpreters on the path and among pyenv's versions, and takes the newest release of each version that benchwright
supports, except the version that runs this file. Each gets its own environment, `.venv/3.13` for example. Give versions as
arguments to try only those, and words that begin after `--` as arguments of pytest instead of the usual tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
PARTS = (
    "tests/test_warm.py",
    "tests/cli/test_start_up.py",
    "tests/cli/test_development_mode.py",
    "tests/cli/test_json_alone.py",
    "tests/cli/test_closed_streams.py",
    "tests/store",
    "tests/workflows",
    "tests/engine/test_two_interrupts.py",
    "tests/engine/test_stubborn_users.py",
    "tests/runs/test_time_of_runs.py",
    "tests/promises",
)
"""What a version of Python can change: start-up, warnings, SQLite, event loops, signals, tracebacks."""
LONGEST_S = 25 * 60
"""Seconds after which the tests of one Python hang."""
_PROBE = "import sys; print(*sys.version_info[:3], sys.version_info.releaselevel, sys._base_executable)"


class Interpreter(NamedTuple):
    """An installed Python."""

    release: tuple[int, ...]
    path: str

    @property
    def version(self) -> str:
        """`3.13`, for example."""
        return ".".join(map(str, self.release[:2]))


def installed() -> list[Interpreter]:
    """The newest release of each supported version except ours, oldest version first."""
    newest: dict[tuple[int, ...], Interpreter] = {}
    for path in _candidates():
        found = _probed(path)
        if found is not None and found.release[:2] >= OLDEST and found.release[:2] != sys.version_info[:2]:
            known = newest.setdefault(found.release[:2], found)
            newest[found.release[:2]] = max(known, found)
    return [newest[version] for version in sorted(newest)]


def _candidates() -> Iterator[Path]:
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    pyenv = shutil.which("pyenv")
    root = os.environ.get("PYENV_ROOT") or (pyenv and _output([pyenv, "root"]))
    if root:
        folders += sorted(Path(root, "versions").glob("*/bin"))
    for folder in folders:
        for path in sorted(folder.glob("python3.*")):
            if re.fullmatch(r"python3\.\d+", path.name):
                yield path


def _probed(path: Path) -> Interpreter | None:
    """None if it does not start: a shim of pyenv, for example, names versions that are not enabled."""
    *release, level, executable = (_output([str(path), "-c", _PROBE]) or "0 none -").split(maxsplit=4)
    return Interpreter(tuple(map(int, release)), executable) if level == "final" else None


def _output(words: list[str]) -> str | None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def promised() -> set[str]:
    """Versions that the package says it was tested with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = (re.search(r":: (3\.\d+)$", classifier) for classifier in project["classifiers"])
    return {match.group(1) for match in found if match}


def prepare(python: Interpreter) -> bool:
    """Install benchwright, and what its tests need, into an environment of this Python."""
    words = ["make", "install", f"PYTHON={python.path}", f"VENV=.venv/{python.version}"]
    return subprocess.run(words, cwd=ROOT, check=False).returncode == 0


def test(python: Interpreter, words: list[str]) -> bool:
    """Run the tests; False if one failed, or they took too long."""
    bin_ = ROOT / ".venv" / python.version / "bin"
    path = f"{bin_}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        done = subprocess.run(
            [str(bin_ / "pytest"), *(words or PARTS)],
            cwd=ROOT,
            check=False,
            timeout=LONGEST_S,
            env={**os.environ, "PATH": path},
        )
    except subprocess.TimeoutExpired:
        print(f"Python {python.version}: stopped after {LONGEST_S:g} s", file=sys.stderr)
        return False
    return done.returncode == 0


def main(words: list[str]) -> int:
    """0 if all that was tried passed."""
    split = words.index("--") if "--" in words else len(words)
    wanted, given = set(words[:split]), words[split + 1 :]
    failed = []
    pythons = [python for python in installed() if not wanted or python.version in wanted]
    for python in pythons:
        release = ".".join(map(str, python.release))
        print(f"== Python {release}: {python.path}", flush=True)
        if not prepare(python):
            print(f"Python {release}: what the tests need cannot be installed", file=sys.stderr)
            if python.version in promised() or wanted:
                failed.append(release)
        elif not test(python, given):
            failed.append(release)
    if missing := wanted - {python.version for python in pythons}:
        failed += sorted(missing)
    tried = ", ".join(python.version for python in pythons) or "none installed"
    print(f"other Pythons: {tried}; failed: {', '.join(failed) or 'none'}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
