"""Python files that hold workflows: recognised by their text, without running them, and run where no line does it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from msgspec import Struct

from benchwright.core import UsageError, suggest


class Script(Struct, frozen=True):
    """A Python file with workflows."""

    path: Path
    """The file."""
    names: tuple[str, ...]
    """Names of its workflows, as far as they are written out."""
    starts_itself: bool
    """Whether the file calls `entrypoint`."""

    def command(self) -> tuple[str, ...]:
        """What runs it."""
        if self.starts_itself:
            return (sys.executable, str(self.path))
        return (
            sys.executable,
            "-c",
            "from benchwright.workflows import run_script; run_script(__import__('sys').argv[1])",
            str(self.path),
        )


def find_script(target: str, cwd: Path) -> tuple[Script, str | None] | None:
    """The script that `file.py` or `file.py:name` means, and the workflow named; None for anything else.

    A file that defines benchmarks is none, nor is one that cannot be parsed: loading it will say why.
    """
    place, _, name = target.partition(":")
    path = cwd / Path(place).expanduser()
    if path.suffix != ".py" or not path.is_file():
        return None
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return None
    script = _read(path, tree)
    if script is None:
        return None
    if name and script.names and name not in script.names:
        raise UsageError(
            f"{place} has no workflow {name!r}.{suggest(name, script.names)} It has: {', '.join(script.names)}"
        )
    return script, name or None


def _read(path: Path, tree: ast.Module) -> Script | None:
    ours = _imported(tree)
    called: set[str] = set()
    names: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if any(_word(decorator, ours) == "benchmark" for decorator in node.decorator_list):
                return None
        elif isinstance(node, ast.Call):
            word = _word(node, ours)
            called.add(word)
            if word == "workflow" and (first := _first_text(node)) is not None:
                names.append((node.lineno, node.col_offset, first))
    if not called & {"entrypoint", "workflow"}:
        return None
    return Script(
        path.resolve(), tuple(dict.fromkeys(name for *_, name in sorted(names))), "entrypoint" in called
    )


def _imported(tree: ast.Module) -> dict[str, str]:
    """Names in the file that stand for ours; modules map to an empty text."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "benchwright":
            found.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "benchwright":
                    found[(alias.asname or alias.name).partition(".")[0]] = ""
    return found


def _word(node: ast.expr, ours: dict[str, str]) -> str:
    """Which of our functions an expression calls or names; empty for any other."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Name):
        return ours.get(node.id, "")
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and ours.get(node.value.id) == "":
        return node.attr
    return ""


def _first_text(call: ast.Call) -> str | None:
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name"), None)
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None


def run_script(path: str) -> None:
    """Run the workflows of a file that defines some and does not call `entrypoint` itself."""
    import runpy

    from benchwright.workflows._entrypoint import entrypoint
    from benchwright.workflows._execution import WorkflowDescriptor

    sys.argv = [path]
    sys.path[0:1] = [str(Path(path).parent)]
    found = runpy.run_path(path, run_name="__benchwright_workflow__")
    entrypoint(*{id(v): v for v in found.values() if isinstance(v, WorkflowDescriptor)}.values())
