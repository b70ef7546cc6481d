"""Workbooks of runs, suites, comparisons, load tests and workflows: a summary, every sample with the data's own columns, and no formula."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from benchwright.cli import main

FORMULA = '=HYPERLINK("http://x")'
LONG = "long words " * 30
PROGRAM = """
import benchwright as bw

async def handler(ctx):
    async def add():
        await ctx.emit("accuracy", 0.5)
        return {"text": "=1+1"}
    return await ctx.step(step_key="add", execute=add, input_value={"a": 1})

bw.entrypoint(bw.workflow("adding", handler))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every kind: a suite (1, 2), a load test (3) and a workflow (4)."""
    place = tmp_path_factory.mktemp("books")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        with Path("sums.csv").open("w", newline="", encoding="utf-8") as file:
            rows = [[f"{n}+1?", n + 1, FORMULA if n % 2 else LONG, n] for n in range(24)]
            csv.writer(file).writerows([["question", "answer", "topic", "sample_id"], *rows])
        Path("benchwright.toml").write_text('[models.weak]\ntype = "demo"\nskill = 0.2\n')
        Path("both.json").write_text(json.dumps({"models": ["weak", "demo"], "datasets": ["sums.csv"]}))
        Path("adding.py").write_text(PROGRAM)
        assert main(["run", "both.json", "--quiet"]) == 0
        main(["perf", "sums.csv", "--concurrency", "1", "--requests", "5", "--quiet"])
        assert main(["run", "adding.py", "--quiet"]) == 0
    return place


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def opened(*words: str) -> Any:
    assert main([*words, "-o", "book.xlsx"]) == 0
    return openpyxl.load_workbook("book.xlsx")


@pytest.mark.parametrize(
    ("words", "sheets"),
    [
        (("export", "1"), ["summary", "samples"]),
        (("export", "both"), ["summary", "verdicts", "notes", "samples"]),
        (("export", "1", "2"), ["summary", "changed samples"]),
        (("compare", "1", "2", "--by", "topic"), ["summary", "changed samples"]),
        (("export", "3"), ["summary", "notes", "requests"]),
        (("export", "4"), ["summary", "steps"]),
    ],
)
def test_every_sheet_has_a_header_that_stays_filters_widths_and_only_text(
    words: tuple[str, ...], sheets: list[str]
) -> None:
    book = opened(*words)
    assert book.sheetnames == sheets
    for sheet in book:
        assert sheet.freeze_panes == "A2", sheet.title
        assert sheet.auto_filter.ref == sheet.dimensions.replace(":", ":"), sheet.title
        assert sheet.max_row > 1, sheet.title
        assert all(cell.font.b for cell in sheet[1])
        assert all(8 <= each.width <= 60 for each in sheet.column_dimensions.values())
        assert len({cell.value for cell in sheet[1]}) == sheet.max_column, "no two columns have one name"
        for row in sheet.iter_rows(min_row=2):
            assert all(cell.data_type != "f" for cell in row), "a text is no formula"


def test_samples_have_the_columns_of_the_data_next_to_the_scores() -> None:
    sheet = opened("export", "both")["samples"]
    titles = [cell.value for cell in sheet[1]]
    assert titles[:7] == ["model", "dataset", "sample_id", "repeat", "question", "answer", "topic"]
    assert "row.sample_id" in titles, "the data's own id is not the number of the row"
    rows = [dict(zip(titles, row, strict=True)) for row in sheet.iter_rows(min_row=2, values_only=True)]
    assert len(rows) == 48
    assert {row["model"] for row in rows} == {"weak", "demo"}
    assert {row["topic"] for row in rows} == {FORMULA, LONG}


def test_a_comparison_by_a_column_keeps_the_column_in_every_file() -> None:
    for ending in ("csv", "tex", "xlsx", "md", "html"):
        assert main(["compare", "1", "2", "--by", "topic", "-o", f"c.{ending}"]) == 0
    with Path("c.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["slice"] for row in rows if row["column"] == "topic"} == {f"'{FORMULA}", LONG}
    assert "topic = " in Path("c.tex").read_text(encoding="utf-8")
    assert "topic" in Path("c.md").read_text(encoding="utf-8")
    sheet = openpyxl.load_workbook("c.xlsx")["summary"]
    assert [cell.value for cell in sheet[1]][-2:] == ["column", "slice"]


@pytest.mark.parametrize(
    ("name", "noun", "count"),
    [("1", "samples", 24), ("3", "requests", 5), ("4", "steps", 1), ("both", "figures", 2)],
)
@pytest.mark.parametrize("ending", ["jsonl", "csv", "xlsx"])
def test_every_kind_is_exported(
    name: str, noun: str, count: int, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", name, "-o", f"e.{ending}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": f"e.{ending}", "format": ending, noun: count}
    if ending == "jsonl":
        assert len(Path("e.jsonl").read_text(encoding="utf-8").splitlines()) == count
