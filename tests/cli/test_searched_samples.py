"""`show RUN --text T` looks at every sample, however many a page searches at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.store._statements import samples

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="rows", dataset=[{"q": f"row {k:04d} of {k % 2}", "target": "x"} for k in range(450)], prompt="{q}")
@scorer
def rows(sample: ScorerInput) -> dict:
    return {"correct": False, "length": len(sample.metadata["q"])}
"""


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(samples, "_MOST_SEARCHED", 100)
    monkeypatch.setattr(samples, "_SEARCHED_AT_ONCE", 20)
    Path("bench.py").write_text(BENCH)
    assert main(["run", "bench.py", "--quiet"]) == 0

    def rows(*words: str) -> list[int]:
        capsys.readouterr()
        assert main(["show", "last", *words, "--json"]) == 0
        return [sample["sample_id"] for sample in json.loads(capsys.readouterr().out)["samples"]]

    return rows


@pytest.mark.parametrize("row", [0, 19, 20, 99, 100, 101, 299, 449])
def test_a_text_is_found_in_any_row(found: Any, row: int) -> None:
    assert found("--text", f"row {row:04d}") == [row]


def test_pages_are_put_together(found: Any) -> None:
    assert found("--text", "of 1", "--limit", "1000") == list(range(1, 450, 2))
    assert found("--text", "of 1", "--limit", "130") == list(range(1, 260, 2))
    assert found("--text", "row 0", "--wrong", "--where", "length>1", "--limit", "430") == list(range(430))


def test_what_is_nowhere_is_looked_for_everywhere(found: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert found("--text", "nowhere") == []


def test_a_list_continues_only_where_a_page_can_end(found: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A cursor is no row number: 3 is the fourth repeat of row 0, which this run does not have."""
    capsys.readouterr()
    main(["show", "last", "--wrong", "--limit", "4", "--json"])
    place = json.loads(capsys.readouterr().out)["next"]
    assert found("--after", str(place), "--limit", "2") == [4, 5]
    assert found("--after", "0", "--limit", "2") == [1, 2], "the place of row 0"
    for wrong in {1, 3, 449, place - 1, place + 1, 10**9}:
        assert main(["show", "last", "--after", str(wrong)]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert (
            f"no page of run 1 ended at {wrong}. To continue a list, give `next` of the page before" in told
        )
