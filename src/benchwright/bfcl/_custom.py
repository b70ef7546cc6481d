"""Custom datasets: a native folder, or one file in the OpenAI format. Every row is checked before anything is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchwright.bfcl._categories import CATEGORIES, Category
from benchwright.bfcl._data_templates import load_template
from benchwright.bfcl._native import NativeFolder
from benchwright.bfcl._row_rules import messages_row, misnamed, question_of, truth_of, unreachable
from benchwright.core import BadRow, DatasetError, Row, exact_json, load_json, suggest

DETAILS_FILE = "validation_failure_details.json"
"""The file that lists all faults of a dataset."""
Format = Literal["native", "openai"]
_LISTED = 20
_DRY: ContextVar[bool] = ContextVar("dry", default=False)
_UP_TO_A_VALUE = re.compile(r"\s*(?=\S)")


@contextmanager
def without_files() -> Iterator[None]:
    """Within this context, faults of datasets are reported but not written to a file."""
    token = _DRY.set(True)
    try:
        yield
    finally:
        _DRY.reset(token)


@dataclass(slots=True)
class CustomRows:
    """The rows of a custom dataset, and what is wrong with it."""

    rows: list[Row] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    """Each has `error` and, if known, `file`, `category`, `line` and the raw `data`."""
    doubts: list[str] = field(default_factory=list)
    """Rows whose ground truth cannot pass, and other remarks."""
    hopeless: list[str] = field(default_factory=list)
    """Ids of rows whose ground truth cannot pass."""
    as_text: bool = False
    """Whether calls are read from text."""

    def refuse(
        self, file: Path, category: str, error: str, line: int | None = None, data: str | None = None
    ) -> None:
        """Note a fault."""
        found: dict[str, Any] = {} if line is None else {"line": line}
        found["error"] = error
        if data is not None:
            found["data"] = data
        self.faults.append({**found, "file": str(file), "category": category})


def read_custom(
    path: Path,
    format: Format,
    categories: Sequence[Category],
    *,
    template: Path | None = None,
    details: Path | None = None,
    skip_bad_rows: bool = False,
    as_text: bool = False,
) -> CustomRows:
    """Every row of a dataset. With `as_text`, calls are read from text. Raises DatasetError for a broken dataset, after
    writing all faults into the folder `details`; `skip_bad_rows` leaves out the bad rows instead."""
    details = None if _DRY.get() else details
    found = CustomRows(as_text=as_text)
    try:
        if format == "native":
            if template is not None:
                raise DatasetError("data_template_path: only the openai format takes a template")
            _read_native(path, categories, found)
        elif format == "openai":
            _read_openai(path, categories, template, found)
        else:
            raise DatasetError(f"format {format!r} is not known; expected native or openai")
        if not (found.rows or found.faults):
            raise DatasetError(f"{path}: there are no rows")
    except DatasetError as error:  # of the dataset as a whole
        _write_details([{"error": str(error), "file": str(path), "category": ""}], details)
        raise
    if found.faults:
        _write_details(found.faults, details)
        if not (skip_bad_rows and found.rows and all("line" in fault for fault in found.faults)):
            raise _broken(found.faults, details)
        count = len(found.faults)
        left = "1 bad row of {} is" if count == 1 else f"{count:,} bad rows of {{}} are"
        found.doubts.append(f"{left.format(path)} left out: {found.faults[0]['error']}")
    return found


def _read_native(path: Path, categories: Sequence[Category], found: CustomRows) -> None:
    if not path.is_dir():
        raise DatasetError(
            f"File not found: {path}: the native format is a folder with BFCL_v3_<category>.json files"
        )
    version = "v4" if any(path.glob("BFCL_v4_*.json")) and not any(path.glob("BFCL_v3_*.json")) else "v3"
    folder = NativeFolder(path, version)
    there = [category for category in categories if folder.has(category)]
    if not there:
        has = sorted(file.name for file in path.glob("*.json"))
        found.refuse(
            folder.questions_file(categories[0]),
            categories[0].name,
            f"File not found: {folder.questions_file(categories[0])}; the folder has: {', '.join(has) or 'no JSON files'}",
        )
    absent = [category.name for category in categories if category not in there]
    if there and absent:
        found.doubts.append(f"{path} has no rows of: {', '.join(absent)}")
    for category in there:
        _read_category(folder, category, found)


def _read_category(folder: NativeFolder, category: Category, found: CustomRows) -> None:
    answers = _answers(folder, category, found)
    file = folder.questions_file(category)
    seen: set[str] = set()
    for line, raw, value in _lines(file, category.name, "Validation failed for line {}: ", found):
        try:
            identity = value.get("id")
            if not isinstance(identity, str) or not identity:
                raise ValueError('field "id" is missing or no text')
            if identity in seen:
                raise ValueError(f"the id {identity!r} occurs twice")
            seen.add(identity)
            row = question_of(value, category, identity)
            if category.check == "multi_turn":
                row["function"] = folder.documents(row["involved_classes"])
            if answers is not None:
                if identity not in answers:
                    raise ValueError(f"no answer has the id {identity!r} in {folder.answers_file(category)}")
                row["ground_truth"] = answers[identity]
            _take(row, category, file, line, found)
        except (ValueError, DatasetError) as error:
            found.refuse(file, category.name, f"Validation failed for line {line}: {error}", line, raw)
    if answers is not None and (left := [identity for identity in answers if identity not in seen]):
        found.doubts.append(
            f"{folder.answers_file(category)}: answers without a question: {', '.join(left[:5])}"
        )


def _answers(folder: NativeFolder, category: Category, found: CustomRows) -> dict[str, Any] | None:
    if category.check not in ("ast", "multi_turn"):
        return None
    file = folder.answers_file(category)
    if not file.is_file():
        found.refuse(file, category.name, f"File not found: {file}")
        return {}
    answers: dict[str, Any] = {}
    for line, raw, value in _lines(file, category.name, "Validation failed for line {}: ", found):
        try:
            identity, truth = value.get("id"), value.get("ground_truth")
            if not isinstance(identity, str):
                raise ValueError('field "id" is missing or no text')
            if category.check == "multi_turn":
                if not isinstance(truth, list) or not all(isinstance(turn, list) for turn in truth):
                    raise ValueError("the ground truth must list the calls of each turn")
                answers[identity] = truth
            else:
                answers[identity] = truth_of(truth)
        except ValueError as error:
            found.refuse(file, category.name, f"Validation failed for line {line}: {error}", line, raw)
    return answers


def _read_openai(
    path: Path, categories: Sequence[Category], template: Path | None, found: CustomRows
) -> None:
    if not path.is_file():
        raise DatasetError(f"File not found: {path}: the openai format is one file of JSON lines")
    shape = load_template(template) if template is not None else None
    for category in categories:
        if category.check == "multi_turn" and len(categories) == 1:
            raise DatasetError(
                f"{category.name}: the openai format has no multi-turn rows; use the native format"
            )
    numbers = 0
    for line, raw, value in _lines(path, categories[0].name, "Dataset conversion error: ", found):
        number, numbers = line - 1, numbers + 1
        try:
            category = _category_of(value, categories)
            rendered = shape(value) if shape is not None else value
            if not isinstance(rendered, dict):
                raise ValueError(f"the data template gives {type(rendered).__name__}; expected an object")
            row = messages_row(rendered, category, f"{category.name}_{number}")
            _take(row, category, path, line, found)
        except ValueError as error:
            name = categories[0].name if len(categories) == 1 else str(value.get("category", ""))
            found.refuse(path, name, f"Dataset conversion error: {error}", line, raw)


def _category_of(row: Row, categories: Sequence[Category]) -> Category:
    """The category of a row: the only one, or the one that the row names."""
    name = row.get("category")
    if name is None and len(categories) == 1:
        return categories[0]
    names = [category.name for category in categories]
    if name is None:
        raise ValueError(
            f'several categories are evaluated, and the row has no field "category"; name one: task={names[0]}'
        )
    if name not in CATEGORIES or (len(categories) > 1 and name not in names):
        raise ValueError(f"category {name!r} is not evaluated.{suggest(str(name), names)}")
    if CATEGORIES[name].check in ("multi_turn", "executable", "rest"):
        raise ValueError(f"category {name!r} cannot be written in the openai format; use the native format")
    return CATEGORIES[name]


def _take(row: Row, category: Category, file: Path, line: int, found: CustomRows) -> None:
    if category.check in ("irrelevance", "relevance"):
        row["ground_truth"] = []
    found.rows.append(row)
    if category.check != "ast":
        return
    if (why := unreachable(row, category, as_text=found.as_text)) is not None:
        found.hopeless.append(row["id"])
        found.doubts.append(f"{file}:{line}: no call can pass: {why}")
    elif (why := misnamed(row)) is not None:
        found.doubts.append(f"{file}:{line}: {why}")


def _lines(
    file: Path, category: str, prefix: str, found: CustomRows
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    text = file.read_text(encoding="utf-8-sig", errors="surrogateescape")
    for number, raw in _documents(text) or enumerate(text.split("\n"), 1):
        if not raw.strip():
            continue
        readable = raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if readable != raw:
            fault = f"{prefix.format(number)}the line is not UTF-8 text; save the file as UTF-8"
            found.refuse(file, category, fault, number, readable)
            continue
        try:
            value = load_json(raw)
            if not isinstance(value, dict):
                raise ValueError(f"expected a JSON object, found {type(value).__name__}")
        except ValueError as error:
            found.refuse(file, category, f"{prefix.format(number)}{error}", number, raw)
            continue
        yield number, raw, value


def _documents(text: str) -> list[tuple[int, str]]:
    """The objects of a file in which they span several lines, each with the line on which it begins.

    Empty if the first line is a complete object, as it should be, or if the file contains something else.

    >>> _documents('{"a":\\n 1}\\n{"b": 2}'), _documents('{"a": 1}\\n{"b":'), _documents('{\\n"a": 1')
    ([(1, '{"a":\\n 1}'), (3, '{"b": 2}')], [], [])
    """
    found: list[tuple[int, str]] = []
    decoder, end, line = json.JSONDecoder(), 0, 1
    try:
        while gap := _UP_TO_A_VALUE.match(text, end):
            line += gap[0].count("\n")
            value, end = decoder.raw_decode(text, gap.end())
            raw = text[gap.end() : end]
            if not isinstance(value, dict) or not (found or "\n" in raw):
                return []
            found.append((line, raw))
            line += raw.count("\n")
    except (ValueError, RecursionError):
        return []
    return found


def _write_details(faults: Sequence[dict[str, Any]], folder: Path | None) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DETAILS_FILE).write_bytes(exact_json(list(faults), indent=True) + b"\n")


def _broken(faults: Sequence[dict[str, Any]], folder: Path | None) -> DatasetError:
    bad = [BadRow(fault["file"], fault.get("line", 1), fault["error"]) for fault in faults[:_LISTED]]
    error = DatasetError.of_rows(bad, len(faults))
    if folder is None:
        return error
    return DatasetError(f"{error}\nAll of them: {folder / DETAILS_FILE}", error.bad_rows)
