"""Datasets with an odd value in any place: each is refused with its place, or evaluated; none ends in an exception of Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import benchwright.bfcl
from benchwright import BenchwrightError
from benchwright.bfcl import Definition
from benchwright.scorers import ScorerInput

ODD: tuple[Any, ...] = (
    None,
    True,
    5,
    -1.5,
    10**30,
    "",
    "x",
    [],
    [None],
    [[]],
    [["x"]],
    ["x"],
    {},
    {"x": None},
    {"": []},
)
FUNCTION = {
    "name": "move",
    "description": "Moves.",
    "parameters": {
        "type": "object",
        "properties": {"x": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "dict"}},
        "required": ["x"],
    },
}
ASK = [{"role": "user", "content": "Move."}]
TRUTH = [{"move": {"x": [[1]], "o": [{"k": [1, ""]}, ""]}}]
OPENAI = {
    "messages": [ASK],
    "tools": [{"type": "function", "function": FUNCTION}],
    "tool_calls_ground_truth": TRUTH,
    "category": "simple",
}
BOARD = "multi_turn_miss_func_0"
MINI = Path(benchwright.bfcl.__file__).parent / "_mini_set"
FILES: dict[str, dict[str, Any]] = {
    "simple": {
        "BFCL_v3_simple.json": {"id": "simple_0", "question": [ASK], "function": [FUNCTION]},
        "possible_answer/BFCL_v3_simple.json": {"id": "simple_0", "ground_truth": TRUTH},
    },
    "exec_simple": {
        "BFCL_v3_exec_simple.json": {
            "id": "exec_simple_0",
            "question": [ASK],
            "function": [FUNCTION],
            "ground_truth": ["move(x=[1])"],
            "execution_result_type": ["exact_match"],
        },
    },
    "multi_turn_miss_func": {
        "BFCL_v3_multi_turn_miss_func.json": {
            "id": BOARD,
            "question": [ASK, []],
            "involved_classes": ["TaskBoard"],
            "initial_config": {"TaskBoard": {"people": ["Ada"], "tasks": [{"title": "x", "due": None}]}},
            "missed_function": {"1": ["move_task"]},
        },
        "possible_answer/BFCL_v3_multi_turn_miss_func.json": {
            "id": BOARD,
            "ground_truth": [["list_people()"], ["move_task(1, column='done')"]],
        },
        "multi_turn_func_doc/task_board.json": {"name": "move_task", "parameters": {"properties": {}}},
    },
}


def changed(value: Any) -> Iterator[Any]:
    """Copies of a JSON value in each of which one place is absent or contains an odd value."""
    yield from ODD
    keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        for inner in changed(value[key]):
            copy = deepcopy(value)
            copy[key] = inner
            yield copy
        copy = deepcopy(value)
        del copy[key]
        yield copy


def attempt(task: str, path: Path) -> None:
    """Read a dataset, and do what a run does with its rows, except for sending them."""
    custom = {"path": str(path), "format": "native" if path.is_dir() else "openai"}
    module = path.parent / "module.py"
    given = {"task": task, "custom_dataset": custom, "executable_module": str(module)}
    definition = Definition.of("bfclv3_ast", given, path.parent)
    assert definition is not None
    spec = definition.load()
    for row in spec.dataset.rows():
        assert spec.tool_tasks is not None
        assert spec.gold is not None
        spec.gold(row)
        opened = spec.tool_tasks(row).open
        if opened is not None:
            opened()
        seen = {**row, "_calls": [{"move": {"x": [1]}}], "_turns": [[], []], "_native_calling": True}
        if "exec" not in task:  # it would start a process
            spec.scorer(ScorerInput("", row.get("ground_truth"), seen))


def is_refused(task: str, path: Path, odd: object) -> bool:
    try:
        attempt(task, path)
    except BenchwrightError as refusal:
        if path.name in str(refusal):
            return True
        pytest.fail(f"no place is named: {refusal}: {odd}")
    except Exception as error:
        pytest.fail(f"{type(error).__name__}: {error}: {odd}")
    return False


def test_no_odd_value_in_a_row_of_the_openai_format_is_a_defect(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    refused = []
    for odd in changed(OPENAI):
        path.write_text(json.dumps(odd) + "\n")
        refused.append(is_refused("simple", path, odd))
    assert sum(refused) > len(refused) / 2


@pytest.mark.parametrize(("task", "name"), [(task, name) for task, files in FILES.items() for name in files])
def test_no_odd_value_in_a_native_file_is_a_defect(tmp_path: Path, task: str, name: str) -> None:
    folder = tmp_path / "odd"
    for file, right in FILES[task].items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(json.dumps(right) + "\n")
    attempt(task, folder)
    for odd in changed(FILES[task][name]):
        (folder / name).write_text(json.dumps(odd) + "\n")
        is_refused(task, folder, odd)
