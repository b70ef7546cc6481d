"""Docstrings say more than names: one that only repeats its name, the parameters and the class is noise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import benchwright

_PACKAGE = Path(benchwright.__file__).parent
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a all an and are as at be by each for from get give has have in is it its of on one or return that the their them they this "
        "to was were which with",
    )
)
_PLAIN = re.compile(r"[A-Za-z_\s.,'’`]*")
"""Signs and numbers say something that no name does."""


def _words(text: str) -> set[str]:
    split = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text).lower()
    return {_stem(word) for word in re.findall("[a-z]+", split) if word not in _FILLERS}


def _stem(word: str) -> str:
    return re.sub(r"(?<=..)(?:ies|es|s|ed|ing|e|y)$", "", word)


def _repeats(text: str, known: str) -> bool:
    return bool(text) and _PLAIN.fullmatch(text) is not None and _words(text) <= _words(known)


def _empty(node: ast.AST, around: str) -> Iterator[ast.Expr]:
    """Docstrings inside a node that only repeat names."""
    children = [*ast.iter_child_nodes(node)]
    for before, child in zip([None, *children], children, strict=False):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            known = f"{around} {child.name}"
            if not isinstance(child, ast.ClassDef):
                known += " " + " ".join(each.arg for each in [*child.args.args, *child.args.kwonlyargs])
            first = child.body[0]
            if len(child.body) > 1 and _repeats(_text(first), known):
                yield cast("ast.Expr", first)
            yield from _empty(child, f"{around} {child.name}" if isinstance(child, ast.ClassDef) else around)
        elif isinstance(child, ast.Expr) and isinstance(before, ast.Assign | ast.AnnAssign):
            target = before.target if isinstance(before, ast.AnnAssign) else before.targets[0]
            if _repeats(_text(child), f"{around} {ast.unparse(target)}"):
                yield child


def _text(node: ast.AST) -> str:
    """The text of a docstring; empty for other statements."""
    value = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else ""
    return value if isinstance(value, str) else ""


_READ = ("server", "bfcl/_environments")
"""Where docstrings are data: the texts of the OpenAPI document, and of functions that models are offered."""


def empty_docstrings() -> Iterator[tuple[Path, ast.Expr]]:
    """All of the package."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        if path.relative_to(_PACKAGE).as_posix().startswith(_READ):
            continue
        for found in _empty(ast.parse(path.read_text(encoding="utf-8")), ""):
            yield path, found


def test_no_docstring_only_repeats_a_name() -> None:
    found = [
        f"{path.relative_to(_PACKAGE)}:{node.lineno}: {_text(node)}" for path, node in empty_docstrings()
    ]
    assert not found, "say what the name does not, or leave it out:\n" + "\n".join(found)
