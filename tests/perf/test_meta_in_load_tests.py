"""`.meta.json` in load tests: which rows are sent, in which order, and how long replies may be; by our rules and by AISBench's."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.perf.made_records import read_request_file

from benchwright import perf
from benchwright.core import DatasetError

SHARES = [[100, 0.5], [200, 0.3], [400, 0.2]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = "".join(f"{n}+1=,{n + 1},{10 + n}\n" for n in range(3))
    (tmp_path / "qa.csv").write_text("question,answer,max_tokens\n" + rows, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sent(
    folder: Path, meta: dict[str, Any] | None, *, compat: bool = False, **how: Any
) -> tuple[list[int], list[int]]:
    """The rows and the lengths that a test sent, in their order."""
    if meta is not None:
        (folder / "qa.csv.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    result = perf("qa.csv", concurrency=1, compat="aisbench" if compat else None, **how)
    requests = read_request_file(result.folder / "requests.parquet")
    texts = requests["prompt_hash"].to_pylist()
    names = prompt_hashes(folder)
    return [names.index(text) for text in texts], requests["requested_tokens"].to_pylist()


_NAMES: list[str] = []


def prompt_hashes(folder: Path) -> list[str]:
    """The prompts of the file as records name them, in the order of the file; found once."""
    if not _NAMES:
        (folder / "plain").mkdir()
        shutil.copy(folder / "qa.csv", folder / "plain/qa.csv")
        result = perf(folder / "plain/qa.csv", concurrency=1)
        _NAMES.extend(read_request_file(result.folder / "requests.parquet")["prompt_hash"].to_pylist())
    return _NAMES


def percentage(count: int, pairs: Any = None, **more: Any) -> dict[str, Any]:
    params = {"percentage_distribute": SHARES if pairs is None else pairs}
    return {"request_count": count, "output_config": {"method": "percentage", "params": params, **more}}


def test_counts_and_orders_of_rows(folder: Path) -> None:
    assert sent(folder, None) == ([0, 1, 2], [10, 11, 12])
    assert sent(folder, {"request_count": "7"})[0] == [0, 1, 2, 0, 1, 2, 0]
    rows, lengths = sent(folder, {"request_count": 7, "sampling_mode": "random"})
    assert Counter(rows) == {0: 3, 1: 2, 2: 2}
    assert lengths == [10 + row for row in rows]
    assert sorted(sent(folder, {"request_count": 2, "sampling_mode": "shuffle"}, compat=True)[0]) == [0, 1]
    found = {
        tuple(sent(folder, {"request_count": 2, "sampling_mode": "shuffle", "seed": seed})[0])
        for seed in range(3)
    }
    assert any(2 in rows for rows in found), "the whole file is permuted before it is cut"
    drawn = sent(folder, {"request_count": 9, "sampling_mode": "random_with_replacement", "seed": 5})[0]
    assert (
        drawn == sent(folder, {"request_count": 9, "sampling_mode": "random_with_replacement", "seed": 5})[0]
    )


@pytest.mark.parametrize(
    ("count", "pairs", "compat", "expected"),
    [
        (10, SHARES, False, {100: 5, 200: 3, 400: 2}),
        (7, SHARES, False, {100: 4, 200: 2, 400: 1}),
        (7, SHARES, True, {100: 3, 200: 2, 400: 2}),
        (100, [[5, 0.29], [6, 0.71]], False, {5: 29, 6: 71}),
        (100, [[5, 0.29], [6, 0.71]], True, {5: 28, 6: 72}),
        (10, [["5", "0.5"], [6, "0.5"]], False, {5: 5, 6: 5}),
    ],
)
def test_shares_of_lengths(
    folder: Path, count: int, pairs: Any, compat: bool, expected: dict[int, int]
) -> None:
    lengths = sent(folder, percentage(count, pairs), compat=compat)[1]
    assert Counter(lengths) == expected
    blocked = [length for length, number in expected.items() for _ in range(number)]
    assert (lengths == blocked) is compat
    assert sent(folder, percentage(count, pairs, order="blocked"))[1][: expected[blocked[0]] - 1] == (
        [blocked[0]] * (expected[blocked[0]] - 1)
    )


def test_lengths_stand_for_those_of_the_rows_and_switches_reach_the_requests(folder: Path) -> None:
    uniform = {
        "method": "uniform",
        "params": {"min_value": 4, "max_value": "6"},
        "ignore_eos": True,
        "min_tokens": 2,
    }
    lengths = sent(folder, {"request_count": 40, "output_config": uniform})[1]
    assert set(lengths) == {4, 5, 6}
    assert sent(folder, {"output_config": {"method": "column", "params": {"column": "max_tokens"}}})[1] == [
        10,
        11,
        12,
    ]


def test_every_fault_is_named_before_anything_is_sent(folder: Path) -> None:
    meta = {"request_count": True, "sampling_mode": "shufle", "extra": 1,
            "output_config": {"method": "uniform", "params": {"min_value": 9, "max_value": 3}}}  # fmt: skip
    (folder / "qa.csv.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        perf("qa.csv")
    said = str(caught.value)
    for part in (
        "request_count is true",
        "'shufle' is not one of",
        "extra is not a key",
        "min_value is 9, above max_value",
    ):
        assert part in said
    assert not (folder / ".benchwright/runs").exists() or not list((folder / ".benchwright/runs").iterdir())
