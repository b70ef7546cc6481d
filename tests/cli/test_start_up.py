"""--help is quick: it imports nothing that only a run needs."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from benchwright.cli._commands import COMMANDS

HEAVY = (
    "numpy", "pandas", "pyarrow", "pyreqwest", "httpx", "requests", "aiohttp", "fastapi", "starlette", "uvicorn",
    "rich", "asyncio", "jinja2", "yaml", "sqlite3", "uvloop", "zstandard", "rapidfuzz",
)  # fmt: skip


def loaded_by(words: list[str]) -> list[str]:
    program = (
        "import sys; from benchwright.cli import main; code = main(sys.argv[1:]); "
        "print(code, *sorted(sys.modules), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    code, *modules = done.stderr.splitlines()
    assert code == "0"
    return modules


@pytest.mark.parametrize("words", [["--help"], ["--version"], [], *([name, "--help"] for name in COMMANDS)])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    loaded = loaded_by(words)
    assert [name for name in HEAVY if name in loaded] == []


def test_help_takes_less_than_a_fifth_of_a_second_of_cpu() -> None:
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "benchwright", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert sorted(spent)[2] < 0.2, spent
