"""Text that is nested too deep is refused where it is read, and what is read can be written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint, benchmark, scorer
from benchwright.core import (
    MAX_DEPTH,
    ConfigError,
    DatasetError,
    TooDeepError,
    check_depth,
    content_hash,
    encode_json,
    exact_json,
    load_exact_json,
    load_json,
)


def nested(depth: int, inner: str = "1") -> str:
    return "[" * depth + inner + "]" * depth


def objects(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize("make", [nested, objects])
@pytest.mark.parametrize("load", [load_json, load_exact_json])
@pytest.mark.parametrize("inner", ["", "12345678901234567890123"])
def test_what_is_read_can_be_written(
    load: Callable[[bytes], Any], make: Callable[[int], str], inner: str
) -> None:
    text = make(MAX_DEPTH).replace("1", inner or "1")
    value = load(text.encode())
    for write in (encode_json, exact_json, content_hash):
        assert write(value)
    for depth in (MAX_DEPTH + 1, 1_000, 1_100, 100_000):
        with pytest.raises(TooDeepError):
            load(make(depth).encode())


def test_values_of_any_depth_are_written_all_the_same() -> None:
    value: Any = 1
    for _ in range(50_000):
        value = [value]
    for write in (encode_json, exact_json, content_hash):
        assert write({"row": value})
    with pytest.raises(TooDeepError):
        check_depth(value)
    shared: list[Any] = [1]
    for _ in range(100):
        shared = [shared, shared]  # 2^100 paths, 101 lists
    check_depth(shared)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TooDeepError):
        check_depth(endless)


@pytest.mark.parametrize("depth", [MAX_DEPTH, 400, 5_000])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_row_is_refused_with_its_line(tmp_path: Path, depth: int, name: str) -> None:
    rows = ['{"question": "a", "target": "b"}', f'{{"question": "a", "target": "b", "x": {nested(depth)}}}']
    text = "\n".join(rows) if name.endswith("l") else "[\n" + ",\n".join(rows) + "\n]"
    (tmp_path / name).write_text(text + "\n")
    with pytest.raises(DatasetError, match="nested more than") as caught:
        benchwright.run(str(tmp_path / name), workspace=tmp_path)
    assert f"{name}:2" in str(caught.value) or f"{name}:3" in str(caught.value)


def test_deepest_row_goes_through_a_run_and_its_reports(tmp_path: Path) -> None:
    deep = json.loads(nested(MAX_DEPTH - 1))
    deeper: Any = 1
    for _ in range(5_000):
        deeper = [deeper]

    @benchmark(
        name="deep rows",
        dataset=[{"question": "a", "target": "b", "x": deep}, {"question": "a", "target": "b", "x": deeper}],
        prompt="{question}",
    )
    @scorer
    def score(sample: Any) -> dict[str, Any]:
        return {"correct": True}

    result = benchwright.run(score, endpoint=ScriptedEndpoint("b"), workspace=tmp_path)
    assert result.summary.outcomes["scored"] == 2
    from benchwright.cli import main

    for command in (
        ["show", "1", "0"],
        ["show", "1", "1", "--json"],
        ["export", "1", "-o", str(tmp_path / "x.jsonl")],
    ):
        assert main([*command, "--workspace", str(tmp_path)]) == 0


@pytest.mark.parametrize("depth", [300, 3_000])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("suite.json", '{{"models": [], "datasets": {deep}}}'),
        ("suite.yaml", "models: []\ndatasets: {deep}\n"),
        ("suite.toml", "models = []\ndatasets = {deep}\n"),
    ],
)
def test_suite_is_refused(tmp_path: Path, name: str, text: str, depth: int) -> None:
    from benchwright.config import read_document

    path = tmp_path / name
    path.write_text(text.format(deep=nested(depth)))
    with pytest.raises(ConfigError, match="nested"):
        read_document(path)


def test_workspace_file_and_flags_are_refused(tmp_path: Path) -> None:
    from benchwright.config._files import read_config

    path = tmp_path / "benchwright.toml"
    path.write_text(f"[run]\nextra_body = {{ a = {nested(3_000)} }}\n")
    with pytest.raises(ConfigError, match="nested"):
        read_config(path)
