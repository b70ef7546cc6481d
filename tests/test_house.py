"""The house rules that a reader relies on: imports point one way, fronts are sorted and true."""

from __future__ import annotations

import ast
import gc
import importlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import benchwright

PACKAGE = Path(benchwright.__file__).parent
# Rooms from left to right: a room imports only those before it, and of these only the ones named here.
MAY_IMPORT: dict[str, str] = {
    "core": "",
    "toolcalls": "core",
    "stats": "core",
    "store": "core",
    "config": "core",
    "datasets": "core",
    "endpoints": "core config",
    "demo": "core toolcalls endpoints",
    "scorers": "core toolcalls",
    "benchmarks": "core config datasets toolcalls scorers",
    "bfcl": "core toolcalls datasets scorers benchmarks",
    "packages": "core datasets benchmarks bfcl",
    "perf": "core stats endpoints store",
    "engine": "core stats config store datasets endpoints demo scorers benchmarks",
    "results": "core toolcalls stats config store perf",
    "reports": "core stats perf results",
    "workflows": "core config store datasets endpoints benchmarks engine",
    "runs": "core config store datasets endpoints scorers benchmarks bfcl perf engine results reports workflows",
    "server": "core store datasets results reports workflows",
    "cli": "core config store datasets demo benchmarks bfcl packages perf engine results reports runs server",
    "bridges": "core config perf results reports",
}
ROOMS = sorted(p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists())


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Every node of a file; each file is parsed once for all tests."""
    gc.disable()  # all of the nodes stay: looking for some to collect takes longer than parsing
    try:
        return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    finally:
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _forgotten_afterwards() -> Iterator[None]:
    """Millions of nodes would slow down all that comes later in the process."""
    yield
    nodes_of.cache_clear()


@cache
def imports_of(path: Path) -> list[tuple[str, int]]:
    """Modules of ours that a file imports, lazy and type-only imports included, with line numbers."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write the room's full name"
            found.append((node.module, node.lineno))
    return [(name, line) for name, line in found if name.split(".")[0] == "benchwright"]


@pytest.mark.parametrize("room", ROOMS)
def test_room_imports_what_the_table_allows_and_nothing_else(room: str) -> None:
    assert room in MAY_IMPORT, f"room {room} has no line in the import table"
    allowed = set(MAY_IMPORT[room].split())
    wrong, used = [], set()
    for path in (PACKAGE / room).rglob("*.py"):
        for name, line in imports_of(path):
            parts = name.split(".")
            if len(parts) == 1 or parts[1] == room:
                continue
            used.add(parts[1])
            if parts[1] not in allowed:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)
    assert used == allowed, f"{room} imports {allowed - used} no more: take it out of the table"


def test_imports_point_one_way() -> None:
    order = list(MAY_IMPORT)
    backwards = [
        f"{room} → {other}"
        for room, allowed in MAY_IMPORT.items()
        for other in allowed.split()
        if order.index(other) >= order.index(room)
    ]
    assert not backwards


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_entered_through_their_front(room: str) -> None:
    wrong = []
    for path in (PACKAGE / room).rglob("*.py"):
        for name, line in imports_of(path):
            parts = name.split(".")
            if len(parts) > 2 and parts[1] != room:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {name}, not benchwright.{parts[1]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ROOMS)
def test_front_lists_what_it_exports_in_order(room: str) -> None:
    module = importlib.import_module(f"benchwright.{room}")
    listed = module.__all__
    missing = [name for name in listed if not hasattr(module, name)]
    assert not missing
    assert len(listed) == len(set(listed))
    ranked = sorted(listed, key=lambda n: (0 if n.isupper() else 1 if n[0].isupper() else 2, n))
    assert list(listed) == ranked, "sort __all__ as ruff does: CONSTANTS, Classes, functions"


FOR_PLUGINS = {"endpoints", "reports"}
"""Rooms that also offer the types that plugins need for their annotations."""
IMPORTED_ELSEWHERE = {
    "demo.demo_server",
    "packages.load_package",
    "runs.ask_again",
    "runs.blind_samples",
    "runs.harmless_settings",
    "runs.resume_apart",  # through the seam of the server
    "runs.judge_agreement",
    "workflows.run_script",
}
"""By tests of every room, by the packages that `compile` writes, by a server, which is handed the room, and by the process of a workflow."""


def test_fronts_offer_what_another_room_or_a_user_imports() -> None:
    """Tests import what only they need from its module."""
    used: set[tuple[str, str]] = set()
    for folder in ("src", "examples"):
        for path in (PACKAGE.parents[1] / folder).rglob("*.py*"):
            if path.suffix in (".py", ".pyi") and path != PACKAGE / "__init__.pyi":
                used |= {
                    (node.module.split(".")[1], alias.name)
                    for node in nodes_of(path)
                    if isinstance(node, ast.ImportFrom)
                    and re.fullmatch(r"benchwright\.\w+", node.module or "")
                    for alias in node.names
                    if node.module
                }
                text = path.read_text(encoding="utf-8")
                for room in re.findall(
                    r"^ *from benchwright import (\w+)$", text, re.MULTILINE
                ):  # a room by its name
                    used |= {(room, name) for name in re.findall(rf"\b{room}\.(\w+)", text)}
    manual = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE.parents[1] / "docs").glob("*.md"))
    named = {
        word
        for code in re.findall(r"```.*?```|`[^`]+`", manual, re.DOTALL)
        for word in re.findall(r"\w+", code)
    }
    idle = [
        f"{room}.{name}"
        for room in sorted({*ROOMS} - FOR_PLUGINS)
        for name in importlib.import_module(f"benchwright.{room}").__all__
        if (room, name) not in used and name not in named
    ]
    assert {*idle} == IMPORTED_ELSEWHERE, (
        "nothing outside these rooms uses these names: take them out of the fronts"
    )


def test_no_room_but_the_store_knows_its_database() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] == "store":
            continue
        for node in nodes_of(path):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom):
                names = {str(node.module)}
            if "sqlite3" in names or (isinstance(node, ast.Attribute) and node.attr == "database"):
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")  # type: ignore[attr-defined]
    assert not wrong, f"use the protocols of benchwright.store instead: {', '.join(wrong)}"


_ON_DISK = {
    "exists", "glob", "is_dir", "is_file", "iterdir", "joinpath", "mkdir", "open", "read_bytes", "read_text", "rename", "rglob",
    "rmdir", "stat", "touch", "unlink", "write_bytes", "write_text",
}  # fmt: skip
_FOLDERS_OF_THEIR_OWN = ("packages/", "datasets/_hf/", "bfcl/_packages.py", "core/_artifacts.py")
"""Code whose folders are never those of runs: packages, the caches of hubs; and what puts the files of runs into folders."""


def test_nobody_joins_a_path_to_the_folder_of_a_run() -> None:
    """The files of a run may be anywhere: `open_artifacts(run.folder)` reads and writes them, and knows their names."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        place = str(path.relative_to(PACKAGE))
        if place.startswith(_FOLDERS_OF_THEIR_OWN):
            continue
        for node in nodes_of(path):
            joined = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
            left = node.left if joined else node.value if isinstance(node, ast.Attribute) else None
            of_a_run = isinstance(left, ast.Attribute) and left.attr == "folder"
            named = isinstance(node, ast.BinOp) and any(
                isinstance(part, ast.Name)
                and part.id in ("RunFile", "LoadFile", "CallFolder", "STREAM_FILES")
                for part in ast.walk(node.right)
            )
            touched = isinstance(node, ast.Attribute) and node.attr in _ON_DISK
            if (joined and (of_a_run or named)) or (of_a_run and touched):
                found.append(f"{place}:{node.lineno}")  # type: ignore[attr-defined]
    assert not found, f"use open_artifacts instead: {', '.join(found)}"


def test_values_are_structs() -> None:
    """One kind of value inside. What users hand in may be a dataclass; its canonical form takes it apart."""
    users = {"scorers/_scorer.py", "workflows/_canonical.py"}
    used = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^ *(from|import) dataclasses\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert used == users, "declare values as msgspec.Struct"


def test_values_become_json_in_one_way() -> None:
    own = [path.name for path in PACKAGE.rglob("*.py") if "to_builtins" in path.read_text(encoding="utf-8")]
    assert own == ["_json.py"], "use benchwright.core.as_json, which also writes paths and times"


TABLES = "runs|steps|events|marks|metrics|workflow_steps|reply_index|sample_index|sample_metrics"
LOOK_BELOW_THE_PORTS = {
    "stored_records.py",
    "counted_statements.py",
    "conftest.py",
    "quoted_secrets.py",
    "test_house.py",
}
"""The helper with the tables, those that watch every connection, and one that looks for secrets in every file."""


def test_no_test_but_those_of_the_store_knows_its_database() -> None:
    """Another driver must not need other tests: what they need of the records is in `tests/stored_records.py`."""
    tests = Path(__file__).parent
    sql = re.compile(rf"\b(FROM|INTO|UPDATE)\s+({TABLES})\b")
    wrong = []
    for path in sorted(tests.rglob("*.py")):
        if path.name in LOOK_BELOW_THE_PORTS or path.relative_to(tests).parts[0] == "store":
            continue
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"import sqlite3|sqlite3\.connect", line) or sql.search(line):
                wrong.append(f"{path.relative_to(tests)}:{number}")
    assert not wrong, "use the ports, or tests/stored_records.py"


def test_messages_end_a_sentence_with_one_mark() -> None:
    """What exceptions say may end in a mark of its own; `clause` takes it off."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for text in nodes_of(path):
            parts = text.values if isinstance(text, ast.JoinedStr) else ()
            for said, after in pairwise(parts):
                name = said.value if isinstance(said, ast.FormattedValue) else None
                foreign = isinstance(name, ast.Name) and name.id in ("error", "reason")
                if foreign and isinstance(after, ast.Constant) and str(after.value)[0] in ".;,!?":
                    found.append(f"{path.relative_to(PACKAGE)}:{text.lineno}")
    assert not found, "write {clause(error)} before a mark"


def test_p_values_are_written_in_one_way() -> None:
    """A format of its own shows a small p-value as 0 sooner or later; `p_text` does not."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in nodes_of(path):
            if not isinstance(node, ast.FormattedValue) or path.name == "_texts.py":
                continue
            names = {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(node.value)}
            if any(re.fullmatch(r"p|p_(value|holm|missed|adjusted).*", name) for name in names):
                called = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "")
                if called != "p_text" and node.format_spec is not None:
                    found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert not found, "write {p_text(p_value)}"


def test_the_version_is_the_same_wherever_it_stands() -> None:
    from importlib.metadata import version

    from benchwright.core import VERSION

    assert VERSION == benchwright.__version__ == version("benchwright")


def test_the_version_stands_in_one_place() -> None:
    """The build reads it from the package, so a release is one edit."""
    import tomllib

    root = PACKAGE.parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert root / project["tool"]["hatch"]["version"]["path"] == PACKAGE / "core" / "_version.py"
    literal = f'"{benchwright.__version__}"'
    found = [path for path in PACKAGE.rglob("*.py") if literal in path.read_text(encoding="utf-8")]
    assert found == [PACKAGE / "core" / "_version.py"]


def test_files_of_tests_have_names_of_their_own() -> None:
    """Two of one name in different rooms cannot be collected together, and the whole suite is when that shows."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_top_of_the_tree_holds_what_belongs_there() -> None:
    """A note that somebody left there would be committed with the rest, and shipped."""
    root = Path(__file__).parents[1]
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a clone")
    found = {name.split("/")[0] for name in tracked.stdout.splitlines()}
    known = ".ci .gitignore CHANGELOG.md LICENSE Makefile README.md SECURITY.md benchmarks docs examples pyproject.toml src tests"
    assert found == set(known.split())


def test_a_home_folder_is_asked_for_in_one_place() -> None:
    """`Path.expanduser` and `Path.home` raise where there is no home folder, or no such user."""
    asking = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
        and (node.attr == "expanduser" or (node.attr == "home" and getattr(node.value, "id", "") == "Path"))
    ]
    assert [place.partition(":")[0] for place in asking] == ["core/_home.py"], asking


def test_no_code_asks_which_kind_of_model_it_has() -> None:
    """Kinds of models have the same methods, so that a new kind is one class."""
    kinds = {"EndpointSettings", "DemoSettings", "ScriptedSettings", "PipelinedModel"}
    asking = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "isinstance"
        and kinds & {getattr(part, "id", "") for part in ast.walk(node.args[1])}
    ]
    assert not asking, "give `ModelSettings` a method with a default, and the kind its own"
