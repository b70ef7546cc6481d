"""CI sees the same environment everywhere, and `make test-pythons` finds the Pythons that start."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import on_other_pythons
from on_other_pythons import Interpreter

ROOT = Path(__file__).parent.parent


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def test_pythons_that_start_are_found_on_the_path_and_at_pyenv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin/python3.97", "echo 'pyenv: python3.97: command not found' >&2; exit 127")
    program(tmp_path / "bin/python3.10", "echo 3 10 4 final /old/python3.10")
    program(tmp_path / "bin/python3.98", "echo 3 98 1 final '/with a space/python3.98'")
    program(tmp_path / "bin/python3.96", "echo 3 96 0 candidate /early/python3.96")
    program(tmp_path / "bin/python3.98-config", "echo 3 99 1 final /wrong")
    program(tmp_path / "pyenv/versions/3.97.2/bin/python3.97", "echo 3 97 2 final /pyenv/python3.97")
    program(tmp_path / "pyenv/versions/3.97.10/bin/python3.97", "echo 3 97 10 final /pyenv/newer")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert on_other_pythons.installed() == [
        Interpreter((3, 97, 10), "/pyenv/newer"),
        Interpreter((3, 98, 1), "/with a space/python3.98"),
    ]


def test_the_parts_that_can_differ_exist_and_classifiers_name_versions() -> None:
    assert [part for part in on_other_pythons.PARTS if not (ROOT / part).exists()] == []
    assert {"3.11", "3.12", "3.13"} <= on_other_pythons.promised()


@pytest.mark.parametrize("failing", ["", "test-pythons", "test"])
def test_ci_runs_everything_in_a_plain_environment(tmp_path: Path, failing: str) -> None:
    program(
        tmp_path / "make",
        f'echo "$1" >> {tmp_path}/targets; env >> {tmp_path}/variables; [ "$1" != "{failing}" ]',
    )
    seen = {
        "PIP_RETRIES": "7",
        "NPM_CONFIG_FOO": "a b",
        "HTTPS_PROXY": "",
        "SSL_CERT_FILE": "/certificates",
        "LANG": "C.UTF-8",
    }
    hidden = {
        "CI": "true",
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
        "TZ": "Asia/Tokyo",
        "OPENAI_API_KEY": "sk-x",
    }
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run")],
        env={**hidden, **seen, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (1 if failing else 0), done.stderr
    assert (tmp_path / "targets").read_text().split() == ["test-environment", "test-pythons", "test"]
    variables = dict(line.split("=", 1) for line in (tmp_path / "variables").read_text().splitlines())
    assert {name: variables.get(name) for name in seen} == seen
    assert not hidden.keys() & variables.keys()
