"""Patterns that are compiled when they are first used do what `re.compile` gives."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import benchwright
from benchwright.core import late_pattern

_PACKAGE = Path(benchwright.__file__).parent


def _declared() -> list[tuple[str, str]]:
    """Module and name of every late pattern of the package."""
    found: list[tuple[str, str]] = []
    for path in sorted(_PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "late_pattern(" not in text:
            continue
        module = ".".join(["benchwright", *path.relative_to(_PACKAGE).with_suffix("").parts])
        found += [
            (module.removesuffix(".__init__"), ast.unparse(node.targets[0]))
            for node in ast.parse(text).body
            if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("late_pattern(")
        ]
    return found


def test_every_late_pattern_of_the_package_compiles() -> None:
    declared = _declared()
    assert len(declared) > 50
    for module, name in declared:
        pattern: re.Pattern[str] = getattr(import_module(module), name)
        pattern.search  # noqa: B018  # compiles it
        assert pattern.pattern


@pytest.mark.parametrize("text", ["", "a1b22", "--7"])
def test_a_late_pattern_has_the_methods_of_a_pattern(text: str) -> None:
    late, plain = late_pattern(r"([a-z]*)([0-9]+)"), re.compile(r"([a-z]*)([0-9]+)")
    assert late.findall(text) == plain.findall(text)
    assert late.split(text) == plain.split(text)
    assert late.sub(r"\2", text) == plain.sub(r"\2", text)
    assert (late.fullmatch(text) is None) == (plain.fullmatch(text) is None)
    assert (late.pattern, late.flags, late.groups) == (plain.pattern, plain.flags, plain.groups)


def test_a_late_pattern_takes_flags_and_bytes() -> None:
    assert late_pattern("A", re.IGNORECASE).search("xa")
    assert late_pattern(b"a+").findall(b"aab") == [b"aa"]


def test_a_bad_pattern_is_refused_when_it_is_used() -> None:
    with pytest.raises(re.error):
        late_pattern("(").search("")
