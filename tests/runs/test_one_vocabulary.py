"""Exports, `samples.parquet`, sheets of labels and calibrations call the same thing by the same name, in every format, and give the same
figures whichever way a label takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.cli import main
from benchwright.core import ModelRequest
from benchwright.datasets import open_dataset
from benchwright.results import LabelList, without_formula
from benchwright.store import Workspace, open_store
from recording_server import recording

FORMATS = ("csv", "jsonl", "xlsx")
SHARED = ("sample_id", "repeat", "prompt", "response", "target", "outcome")
"""Columns that all four have."""
HUMAN = {n: "C" if n % 2 else "I" for n in range(9)}
BENCHMARK = """
from benchwright import benchmark, judge_score, scorer

@benchmark(name="graded", dataset="q.jsonl", prompt="{question}", system_prompt="Be short.", target_field="answer",
           judge={"url": "URL", "model_id": "j"})
@scorer
def graded(sample):
    return judge_score(sample)
"""


def replied(request: ModelRequest) -> str:
    number = int(request.payload.split(b"q")[-1].split(b"?")[0])
    return {0: "=1+1", 1: "-", 2: 'two\nlines, "quoted"', 3: "'apostrophe"}.get(number, f"reply {number}")


def grade(body: dict[str, Any]) -> str:
    text = json.dumps(body["messages"])
    return f"Because.\nGRADE: {'I' if any(f'q{n}?' in text for n in range(0, 12, 3)) else 'C'}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("vocabulary")
    answers: list[Any] = ["B", 7, 2.5, ["x", "y"], "=A1", True]
    rows = [{"question": f"q{n}?", "answer": answers[n % 6], "topic": "ab"[n % 2]} for n in range(12)]
    (place / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch, recording(grade) as server:
        patch.chdir(place)
        (place / "graded.py").write_text(BENCHMARK.replace("URL", server.url))
        benchwright.run("graded.py", endpoint=ScriptedEndpoint(replied), repeats=2)
    return place


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with open_store(Workspace(folder)) as store:
        for label in store.labels():
            store.remove_label(label.id)


def json_of(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    code = main([*words, "--json"])
    told = capsys.readouterr().out
    assert code == 0, told
    return json.loads(told)


def rows_of(file: str) -> list[dict[str, Any]]:
    """The rows of a file, as a calibration reads them."""
    name = f"{file}?sheet=samples" if file == "samples.xlsx" else file
    return [dict(row) for batch in open_dataset(name).batches() for row in batch.rows]


def shared(row: dict[str, Any]) -> list[str | None]:
    """What the shared columns say, as text."""
    return [None if row[name] in (None, "") else str(row[name]) for name in SHARED]


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_column_has_the_same_value_in_every_file(
    folder: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    (file,) = folder.rglob("samples.parquet")
    recorded = pq.read_table(file).to_pylist()
    assert main(["export", "1", "-o", f"samples.{format}"]) == 0
    assert main(["labels", "1", "--export", f"labels.{format}"]) == 0
    capsys.readouterr()
    exported, sheet = rows_of(f"samples.{format}"), rows_of(f"labels.{format}")
    plain = [shared(row) for row in recorded]
    expected = plain if format != "csv" else [list(map(without_formula, row)) for row in plain]
    assert len(expected) == 24
    assert [shared(row) for row in exported] == expected
    assert [shared(row) for row in sheet] == expected
    shown = json_of(capsys, "show", "1", "--samples", "--limit", "100")["samples"]
    assert [shared(row) for row in shown] == plain
    grades = [str(json.loads(row["scores"])["judge_grade"]) for row in recorded]
    assert [row["grade"] for row in sheet] == grades
    assert [row["grade"] for row in exported] == grades


@pytest.mark.parametrize("format", FORMATS)
def test_a_label_gives_the_same_figures_whichever_way_it_takes(
    folder: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    with open_store(Workspace(folder)) as store:  # as on the page
        for number, given in HUMAN.items():
            store.add_label(LabelList.new(store, 1, number, 0, kind="judge", value=given, who="ann"))
    expected = json_of(capsys, "judge-calibrate", "--labels", "1")
    differ = json_of(capsys, "judge-calibrate", "--labels", "1", "--disagreements")["disagreements"]
    assert set(differ[0]) >= {*SHARED} - {"outcome"} | {"label", "grade"}
    sheet = f"labels.{format}"
    assert main(["labels", "1", "--export", sheet]) == 0
    assert json_of(capsys, "judge-calibrate", sheet, "--run", "1") == expected
    alone = json_of(capsys, "judge-calibrate", sheet)
    assert (alone["labelled"], alone["accuracy"]) == (expected["labelled"], expected["accuracy"])
    here_only = folder / f"samples.{format}"
    assert main(["export", "1", "-o", str(here_only)]) == 0
    labelled(here_only)
    assert json_of(capsys, "judge-calibrate", str(here_only), "--run", "1") == expected
    by_file = json_of(capsys, "judge-calibrate", str(here_only))
    assert (by_file["labelled"], by_file["accuracy"]) == (expected["labelled"], expected["accuracy"])
    with open_store(Workspace(folder)) as store:
        for label in store.labels():
            store.remove_label(label.id)
    done = json_of(capsys, "labels", "1", "--import", str(here_only))
    assert done["added"] == len(HUMAN)
    assert json_of(capsys, "judge-calibrate", "--labels", "1") == expected


def labelled(file: Path) -> None:
    """Fill in the labels of an exported file, as a person does in a sheet."""
    if file.suffix == ".xlsx":
        from openpyxl import load_workbook

        book = load_workbook(file)
        sheet = book["samples"]
        names = [cell.value for cell in sheet[1]]
        column = len(names) + 1
        sheet.cell(1, column, "label")
        for line in range(2, sheet.max_row + 1):
            number = sheet.cell(line, names.index("sample_id") + 1).value
            if number in HUMAN:
                sheet.cell(line, column, HUMAN[number])
        book.save(file)
        return
    rows = rows_of(file.name)
    for row in rows:
        row["label"] = HUMAN.get(int(row["sample_id"]))
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return
    import csv

    with file.open("w", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
