"""What a benchmark requires and this Python lacks: told with a command that can be pasted into a shell."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from benchwright.benchmarks import BenchmarkSpec, _warnings as checks
from benchwright.benchmarks._warnings import definition_warnings


def told(*required: str) -> list[str]:
    spec = BenchmarkSpec(
        name="x",
        key="x",
        dataset=[],
        prompt="{q}",
        base_dir=Path(),
        scorer=lambda s: {},
        requirements=required,
    )
    return list(definition_warnings(spec))


def test_a_missing_package_is_told_with_a_quoted_command() -> None:
    (found,) = told("no-such-package>=2", "rich", "other.missing", "third-missing[a,b]<3  # why")
    assert found.startswith(
        "required packages are not installed: no-such-package>=2, other.missing, third-missing[a,b]<3; run: "
    )
    command = found.partition("run: ")[2]
    assert "'no-such-package>=2'" in command
    assert shlex.split(command) == [
        *("pip", "install", "no-such-package>=2", "other.missing", "third-missing[a,b]<3")
    ]


def test_another_version_is_told() -> None:
    (found,) = told("rich>=999")
    assert found.startswith("required packages are installed in another version: rich>=999 (installed: ")
    assert found.endswith("); run: pip install 'rich>=999'")


@pytest.mark.parametrize(
    ("version", "requirement", "met"),
    [
        ("2.10.0", "p>=2.9", True),
        ("2.9", "p>=2.10", False),
        ("2", "p==2.0.0", True),
        ("2.0.1", "p==2.0", False),
        ("2.0.1", "p==2.0.*", True),
        ("2", "p==2.0.*", True),
        ("2.1", "p==2.0.*", False),
        ("2.1", "p!=2.1", False),
        ("2.1", "p!=2.*", False),
        ("3.1", "p!=2.*", True),
        ("2.1", "p<2.1", False),
        ("2.1", "p<=2.1", True),
        ("2.1", "p>2.1", False),
        ("2.1", "p>=2,<3", True),
        ("3.0", "p >= 2, < 3", False),
        ("3.0", "p (>=2,<3)", False),
        ("1.4.5", "p~=1.4.2", True),
        ("1.5", "p~=1.4.2", False),
        ("1.4.1", "p~=1.4.2", False),
        ("1.9", "p~=1.4", True),
        ("2.0", "p~=1.4", False),
        ("2.0", "p[extra]>=3", False),
        ("2.1.0+cu121", "p==2.1.0", True),
        ("2.1.0+cu121", "p>=2.2", False),
        # As pip decides.
        ("2.0rc1", "p>=2.0", False),
        ("2.0rc1", "p>=2.0rc1", True),
        ("2.0rc1", "p>=1", True),
        ("2.0rc1", "p<2", False),
        ("2.0rc1", "p>=3", False),
        ("1!2.0", "p>=3", True),
        ("weird", "p>=3", True),
        ("2.0", "p>=3rc1", False),
        ("2.0", "p===3", False),
        ("2.0", "p>=3; python_version >= '3'", False),
        ("2.0", "p>=3; python_version < '3'", True),
        ("2.0", "p @ https://example.org/p-3.zip", True),
        ("2.0", "p", True),
        ("2.0", "p>=1  # not 3", True),
    ],
)
def test_versions_are_compared_as_pip_does(
    monkeypatch: pytest.MonkeyPatch, version: str, requirement: str, met: bool
) -> None:
    monkeypatch.setattr(checks, "_installed_version", {"p": version}.get)
    assert (told(requirement) == []) is met


def test_a_package_for_another_python_is_not_missed() -> None:
    assert told("no-such-package; python_version < '3'", "no-such-package; sys_platform == 'nowhere'") == []
    assert len(told("no-such-package; python_version >= '3'")) == 1


def test_options_and_paths_are_left_alone() -> None:
    assert told("-r more.txt", "--no-deps", "./wheels/p.whl") == []
