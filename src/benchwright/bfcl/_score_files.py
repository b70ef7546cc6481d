"""Writes results and scores in the files of the published program, for a run or for stored results."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from shutil import copyfileobj
from typing import IO, Any

from benchwright.bfcl._categories import CATEGORIES, GROUPS, Category
from benchwright.bfcl._scores import Scoreboard
from benchwright.core import Artifacts, Row, exact_json

FAILED = "Error during inference:"
"""The start of the result of a failed request."""
_IN_MEMORY = 1_000_000
"""Bytes of a file that are kept in memory."""


def _tables(board: Scoreboard) -> dict[str, list[str]]:
    """The CSV files and their columns."""
    names = [average.name for average in board.averages_of]
    return {
        "data_non_live": [*GROUPS["non_live"], *(name for name in names if name.startswith("non_live"))],
        "data_live": [*GROUPS["live"], *(name for name in names if name.startswith("live"))],
        "data_multi_turn": [*GROUPS["multi_turn"], "multi_turn_overall"],
        "data_overall": [
            "overall",
            *(name for name in names if name.endswith("_overall") or name.startswith("total_")),
        ],
    }


class ScoreFiles:
    """Gathers scores, sample by sample, and writes score files and tables."""

    def __init__(self, version: str, model: str) -> None:
        self._version = version
        self._model = model
        self._wrong: dict[str, JsonLines] = {}
        self.board = Scoreboard(version)

    @property
    def failed(self) -> int:
        """Samples without a score."""
        return sum(self.board.failed.values()) + sum(self.board.skipped.values())

    def begin(self, category: Category) -> None:
        """Add a category, which has a file even if none of its samples is wrong."""
        self._of(category.name)

    def add_failed(self, category: Category, group: str | None = None) -> None:
        """Add a sample that is neither right nor wrong; `group` as it was recorded."""
        self.begin(category)
        self.board.add_failure(group or category.name)

    def add(self, row: Row, result: Any, calls: Any, scores: Mapping[str, Any], repeat: int = 0) -> None:
        """Add a sample that is right or wrong by its scores."""
        self.board.add(scores)
        wrong = self._of(str(scores["category"]))
        if scores.get("correct"):
            return
        line = {
            "id": row["id"],
            "model_name": self._model,
            "test_category": row["category"],
            "valid": False,
            "error": [scores.get("error")],
            "error_type": scores.get("error_type"),
            "prompt": {key: row[key] for key in ("id", "question", "function") if key in row},
            "model_result_raw": result,
            "model_result_decoded": calls,
            "possible_answer": row.get("ground_truth"),
        }
        wrong.add({**line, "repeat": repeat} if repeat else line)

    def write(self, run: Artifacts, folder: str = "") -> None:
        """Write all files; `folder` is put before their names."""
        for name, wrong in self._wrong.items():
            right, rows = self.board.tallies.get(name, (0, 0))
            failed = self.board.failed.get(name, 0)
            head = {
                "accuracy": right / rows if rows else None,
                "accuracy_failures_as_wrong": right / (rows + failed) if rows + failed else None,
                "correct_count": right,
                "total_count": rows,
                "failed_count": failed,
            }
            if skipped := self.board.skipped.get(name):
                head["skipped_count"] = skipped
            wrong.write(run, folder + result_file(CATEGORIES[name], self._version, "score"), head)
        write_tables(run, folder, self.board, self._model)

    def _of(self, category: str) -> JsonLines:
        found = self._wrong.get(category)
        if found is None:
            found = self._wrong[category] = JsonLines()
        return found


def write_tables(run: Artifacts, folder: str, board: Scoreboard, model: str) -> None:
    """Write the CSV tables: percentages with two decimals, `N/A` for parts that were not run, and incomplete averages."""
    figures = board.figures()
    incomplete = {name for name, _, gaps in board.averages() if gaps}
    for table, columns in _tables(board).items():
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["model", *columns, "incomplete"])
        values = [f"{100 * figures[name]:.2f}%" if name in figures else "N/A" for name in columns]
        writer.writerow([model, *values, " ".join(name for name in columns if name in incomplete)])
        run.write(f"{folder}{table}.csv", text.getvalue().encode())


def result_file(category: Category, version: str, kind: str) -> str:
    """The name of the file of a category; `kind` is `result` or `score`. Version 4 has a folder for each kind of category."""
    name = category.file_name(version).replace(".json", f"_{kind}.json")
    if version != "v4":
        return name
    level = "live" if category.live else "multi_turn" if category.check == "multi_turn" else "non_live"
    return f"{level}/{name}"


class JsonLines:
    """JSON lines for a file. They are in memory at first, and in a temporary file once they are many."""

    def __init__(self) -> None:
        self._text: IO[bytes] = io.BytesIO()

    def add(self, line: Mapping[str, Any]) -> None:
        self._text.write(exact_json(dict(line)) + b"\n")
        if isinstance(self._text, io.BytesIO) and self._text.tell() > _IN_MEMORY:
            from tempfile import TemporaryFile

            spilled = TemporaryFile()  # noqa: SIM115  # closed with this object
            spilled.write(self._text.getvalue())
            self._text = spilled

    def write(self, run: Artifacts, name: str, head: Mapping[str, Any] | None = None) -> None:
        """Write the file, with `head` before the other lines."""
        self._text.seek(0)
        with run.create(name) as file:
            if head is not None:
                file.write(exact_json(dict(head)) + b"\n")
            copyfileobj(self._text, file)
        self._text.close()
