"""Reads and judges stored results in the files of the published program, without a model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchwright.benchmarks import ToolTask
from benchwright.bfcl._categories import CATEGORIES, Category, categories_of
from benchwright.bfcl._native import NativeFolder, json_lines
from benchwright.bfcl._packages import DataProvider
from benchwright.bfcl._score_files import FAILED, ScoreFiles, result_file
from benchwright.bfcl._simulations import Simulation
from benchwright.bfcl._verdicts import verdict_of
from benchwright.core import NotFoundError, Row, load_exact_json, open_artifacts
from benchwright.toolcalls import CallDecodeError, Calls, CallVerdict, decode_calls


def evaluate_results(
    results: Path,
    provider: DataProvider,
    *,
    task: str = "all",
    scores: Path | None = None,
    native: bool = True,
) -> ScoreFiles:
    """Judge the result files of one model (`BFCL_v3_<category>_result.json`), and write score files and tables into
    `scores`. Categories without a file are left out."""
    folder = NativeFolder(provider.data, provider.version)
    model = results.name
    found = [
        each
        for each in categories_of(task)
        if (results / result_file(each, provider.version, "result")).is_file()
    ]
    if not found:
        raise NotFoundError(f"{results}: there is no file BFCL_{provider.version}_<category>_result.json")
    files = ScoreFiles(provider.version, model)
    for category in found:
        files.begin(category)
        for row, result in _pairs(folder, category, results):
            if isinstance(result, str) and result.startswith(FAILED):
                files.add_failed(category)
                continue
            verdict, calls = _judge(row, result, provider, native)
            scores_of_row = {"category": category.name, "correct": verdict.valid, **verdict.fault}
            files.add(row, result, calls, scores_of_row)
    if scores is not None:
        files.write(open_artifacts(scores))
    return files


def _pairs(folder: NativeFolder, category: Category, results: Path) -> Iterator[tuple[Row, Any]]:
    stored: dict[str, dict[int, Any]] = {}
    for _, line in json_lines(results / result_file(category, folder.version, "result")):
        stored.setdefault(str(line.get("id")), {})[line.get("repeat", 0)] = line.get("result")
    for row in folder.rows(category):
        found = stored.get(row["id"]) or stored.get(row["id"].partition("#")[0]) or {}
        for result in found.values():
            yield row, result


def _judge(row: Row, result: Any, provider: DataProvider, native: bool) -> tuple[CallVerdict, Any]:
    category = CATEGORIES[row["category"]]
    if category.check == "multi_turn":
        turns = _turns(result, native)
        stopped = turns is not None and any(len(steps) > ToolTask.max_steps for steps in turns)
        simulation = partial(
            Simulation,
            row.get("initial_config") or {},
            row["involved_classes"],
            row["function"],
            source=provider.classes,
            long_context="long_context" in category.name,
        )
        return verdict_of(row, None, turns=turns, stopped=stopped, open_simulation=simulation), turns
    calls, error = _calls(result, category, native)
    return verdict_of(row, calls, error=error, native=native), calls


def _turns(result: Any, native: bool) -> list[list[Calls | None]] | None:
    if not isinstance(result, list):
        return None
    return [[_calls(step, CATEGORIES["simple"], native)[0] for step in turn] for turn in result]


def _calls(result: Any, category: Category, native: bool) -> tuple[Calls | None, str | None]:
    """The calls of a stored result: a list of `{name: JSON text}`, or a text, which contains no calls if they are
    native."""
    try:
        if isinstance(result, str):
            if native:
                return None, "no_calls"
            return decode_calls(result, category.language), None
        calls: Calls = []
        for item in result:
            ((name, arguments),) = item.items()
            values: Any = load_exact_json(arguments) if isinstance(arguments, str) else arguments
            calls.append({name: values})
        return calls, None
    except CallDecodeError as error:
        return None, error.reason
    except (AttributeError, TypeError, ValueError):
        return None, "arguments_not_json"
