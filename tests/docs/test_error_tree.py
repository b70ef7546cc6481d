"""The tree of exceptions in docs/internals.md is whole and true."""

from __future__ import annotations

import ast
from pathlib import Path

import benchwright

PACKAGE = Path(benchwright.__file__).parent
PAGE = PACKAGE.parents[1] / "docs" / "internals.md"
ROOT = "BenchwrightError"


def test_the_tree_of_exceptions_is_drawn_as_it_is() -> None:
    drawn = drawn_tree()
    assert drawn in PAGE.read_text(encoding="utf-8"), f"put this into {PAGE.name}:\n{drawn}"


def drawn_tree() -> str:
    """Each exception below its base, with its room and the exit code of a command that it ends."""
    classes = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.bases and isinstance(node.bases[0], ast.Name):
                classes[node.name] = node, node.bases[0].id, path.relative_to(PACKAGE).parts[0]
    lines: list[str] = []

    def draw(name: str, code: int, depth: int) -> None:
        node, _, room = classes[name]
        code = next((value for line in node.body if (value := exit_code(line)) is not None), code)
        lines.append(f"{'    ' * depth + name:<32}{code:>3}  {room}")
        for child in sorted(child for child, (_, base, _) in classes.items() if base == name):
            draw(child, code, depth + 1)

    draw(ROOT, 1, 0)
    return "\n".join(lines)


def exit_code(line: ast.stmt) -> int | None:
    """The number in `exit_code = 2`, with or without its type."""
    target = line.target if isinstance(line, ast.AnnAssign) else None
    if isinstance(line, ast.Assign):
        target = line.targets[0]  # type: ignore[assignment]
    named = isinstance(target, ast.Name) and target.id == "exit_code"
    value = getattr(line, "value", None)
    return value.value if named and isinstance(value, ast.Constant) else None
