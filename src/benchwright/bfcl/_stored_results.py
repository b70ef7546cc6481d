"""Results and scores in the files of the published program: read, judged without asking a model, and written."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchwright.bfcl._categories import CATEGORIES, GROUPS, Category, categories_of
from benchwright.bfcl._native import NativeFolder, json_lines
from benchwright.bfcl._packages import Provider
from benchwright.bfcl._scores import AVERAGES, Scoreboard
from benchwright.bfcl._simulations import Simulation
from benchwright.bfcl._verdicts import verdict_of
from benchwright.core import NotFoundError, Row, exact_json, load_json
from benchwright.toolcalls import CallDecodeError, Calls, CallVerdict, decode_calls

_FAILED = "Error during inference:"
_TABLES: Mapping[str, Sequence[str]] = {
    "data_non_live": (*GROUPS["non_live"], *(a.name for a in AVERAGES if a.name.startswith("non_live"))),
    "data_live": (*GROUPS["live"], *(a.name for a in AVERAGES if a.name.startswith("live"))),
    "data_multi_turn": (*GROUPS["multi_turn"], "multi_turn_overall"),
    "data_overall": ("overall", "non_live_overall", "live_overall", "multi_turn_overall"),
}
"""CSV files, and the columns of each."""


@dataclass(frozen=True, slots=True)
class StoredScores:
    """What stored results come to."""

    board: Scoreboard
    failed: int
    """Results that hold a failed request: neither right nor wrong."""


def evaluate_results(
    results: Path, provider: Provider, *, task: str = "all", scores: Path | None = None, native: bool = True
) -> StoredScores:
    """Judge the result files of one model (`BFCL_v3_<category>_result.json`), and write score files and tables into
    `scores`. Categories without a file are left out."""
    folder = NativeFolder(provider.data, provider.version)
    board, failed = Scoreboard(), 0
    found = [
        each for each in categories_of(task) if _file(results, each, provider.version, "result").is_file()
    ]
    if not found:
        raise NotFoundError(f"{results}: there is no file BFCL_{provider.version}_<category>_result.json")
    for category in found:
        lines: list[dict[str, Any]] = []
        for row, result in _pairs(folder, category, results):
            if isinstance(result, str) and result.startswith(_FAILED):
                failed += 1
                continue
            verdict, calls = _judge(row, result, folder, provider, native)
            board.add({"category": category.name, "correct": verdict.valid, "error_type": verdict.error_type})
            if scores is not None and not verdict.valid:
                lines.append(_wrong(row, result, calls, verdict, results.name))
        if scores is not None:
            _write_scores(_file(scores, category, provider.version, "score"), board, category, lines)
    if scores is not None:
        write_tables(scores, board, results.name)
    return StoredScores(board, failed)


def write_tables(folder: Path, board: Scoreboard, model: str) -> None:
    """The CSV tables: percentages with two decimals, `N/A` for what was not run, and which averages are incomplete."""
    figures = board.figures()
    incomplete = {name for name, _, gaps in board.averages() if gaps}
    folder.mkdir(parents=True, exist_ok=True)
    for table, columns in _TABLES.items():
        with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["model", *columns, "incomplete"])
            values = [f"{100 * figures[name]:.2f}%" if name in figures else "N/A" for name in columns]
            writer.writerow([model, *values, " ".join(name for name in columns if name in incomplete)])


def _file(folder: Path, category: Category, version: str, kind: str) -> Path:
    return folder / category.file_name(version).replace(".json", f"_{kind}.json")


def _pairs(folder: NativeFolder, category: Category, results: Path) -> Iterator[tuple[Row, Any]]:
    stored = {
        str(line.get("id")): line.get("result")
        for _, line in json_lines(_file(results, category, folder.version, "result"))
    }
    for row in folder.rows(category):
        identity = row["id"].partition("#")[0]
        if identity in stored:
            yield row, stored[identity]


def _judge(
    row: Row, result: Any, folder: NativeFolder, provider: Provider, native: bool
) -> tuple[CallVerdict, Any]:
    category = CATEGORIES[row["category"]]
    if category.check == "multi_turn":
        turns = _turns(result)
        simulation = partial(
            Simulation,
            row.get("initial_config") or {},
            row["involved_classes"],
            row["function"],
            source=provider.classes,
            long_context="long_context" in category.name,
        )
        return verdict_of(row, None, turns=turns, open_simulation=simulation), turns
    calls, error = _calls(result, category)
    return verdict_of(row, calls, error=error, native=native), calls


def _turns(result: Any) -> Any:
    if not isinstance(result, list):
        return None
    return [[_calls(step, CATEGORIES["simple"])[0] for step in turn] for turn in result]


def _calls(result: Any, category: Category) -> tuple[Calls | None, str | None]:
    """The calls of a stored result: a list of `{name: JSON text}`, or a text."""
    try:
        if isinstance(result, str):
            return decode_calls(result, category.language), None
        calls: Calls = []
        for item in result:
            ((name, arguments),) = item.items()
            calls.append({name: load_json(arguments) if isinstance(arguments, str) else arguments})
        return calls, None
    except CallDecodeError as error:
        return None, error.reason
    except (AttributeError, TypeError, ValueError):
        return None, "arguments_not_json"


def _wrong(row: Row, result: Any, calls: Any, verdict: CallVerdict, model: str) -> dict[str, Any]:
    return {
        "id": row["id"],
        "model_name": model,
        "test_category": row["category"],
        "valid": False,
        "error": [verdict.message],
        "error_type": verdict.error_type,
        "prompt": {key: row[key] for key in ("id", "question", "function") if key in row},
        "model_result_raw": result,
        "model_result_decoded": calls,
        "possible_answer": row.get("ground_truth"),
    }


def _write_scores(path: Path, board: Scoreboard, category: Category, wrong: list[dict[str, Any]]) -> None:
    tally = board.tallies.get(category.name)
    right, rows = (tally.right, tally.rows) if tally is not None else (0, 0)
    head = {"accuracy": right / rows if rows else None, "correct_count": right, "total_count": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(exact_json(line) + b"\n" for line in ({**head}, *wrong)))
