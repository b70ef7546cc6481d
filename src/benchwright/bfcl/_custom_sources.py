"""The rows of custom datasets, read one at a time from a native folder or a file in the OpenAI format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from benchwright.bfcl._categories import CATEGORIES, Category, category_named
from benchwright.bfcl._custom_files import Answers, RawObject, raw_objects
from benchwright.bfcl._data_templates import Shape, load_template
from benchwright.bfcl._native import NativeFolder
from benchwright.bfcl._row_rules import messages_row, question_of, truth_of
from benchwright.core import DatasetError, Row, clause, load_data_json, suggest
from benchwright.datasets import PlacedRow

if TYPE_CHECKING:
    from benchwright.bfcl._custom import CustomRows

Source: TypeAlias = "Callable[[CustomRows], Iterator[GoodRow]]"
"""Reads a part of a dataset from its files, and reports the faults and doubts that it finds."""


GoodRow: TypeAlias = tuple[Row, Category, Path, int]
"""A row without faults, its category, and the file and line of its ground truth."""


def open_native(
    path: Path, categories: Sequence[Category], found: CustomRows, opens: Callable[[Row], object] | None
) -> None:
    """Add the sources of a folder. `opens` tries the simulated classes of a row; it raises DatasetError if they cannot be
    loaded."""
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
        answers = _answers(folder, category, found)
        found.sources.append(partial(_native_rows, folder, category, answers, opens))


def _native_rows(
    folder: NativeFolder,
    category: Category,
    answers: Answers | None,
    opens: Callable[[Row], object] | None,
    found: CustomRows,
) -> Iterator[GoodRow]:
    file = folder.questions_file(category)
    seen: set[str] = set()
    for line, raw, value in _objects(file, category.name, "Validation failed for line {}: ", found):
        try:
            place = file, line
            identity = value.get("id")
            if not isinstance(identity, str) or not identity:
                raise ValueError('field "id" is missing or not a text')
            if identity in seen:
                raise ValueError(f"the id {identity!r} occurs twice")
            seen.add(identity)
            row = question_of(value, category, identity)
            if category.check == "multi_turn":
                row["function"] = folder.documents(row["involved_classes"])
                if opens is not None:
                    opens(row)
            if answers is not None:
                if identity not in answers:
                    raise ValueError(f"no answer has the id {identity!r} in {folder.answers_file(category)}")
                row["ground_truth"] = answers[identity]
                place = answers.file, answers.line(identity)
        except (ValueError, DatasetError) as error:
            found.refuse(file, category.name, f"Validation failed for line {line}: {error}", line, raw.text)
            continue
        yield _good(row, category, *place)
    if answers is not None and (left := [identity for identity in answers if identity not in seen]):
        found.doubt(f"{folder.answers_file(category)}: answers without a question: {', '.join(left[:5])}")


def _answers(folder: NativeFolder, category: Category, found: CustomRows) -> Answers | None:
    if category.check not in ("ast", "multi_turn"):
        return None
    file = folder.answers_file(category)
    read = partial(_answer, several_turns=category.check == "multi_turn")
    answers = Answers(file, read)
    if not file.is_file():
        found.refuse(file, category.name, f"File not found: {file}")
        return answers
    for line, raw, value in _objects(file, category.name, "Validation failed for line {}: ", found):
        try:
            identity = value.get("id")
            if not isinstance(identity, str):
                raise ValueError('field "id" is missing or not a text')
            if identity in answers:
                raise ValueError(f"the id {identity!r} occurs twice")
            read(value)
            answers.add(identity, raw)
        except ValueError as error:
            found.refuse(file, category.name, f"Validation failed for line {line}: {error}", line, raw.text)
    return answers


def _answer(value: dict[str, Any], *, several_turns: bool) -> Any:
    truth = value.get("ground_truth")
    if not several_turns:
        return truth_of(truth)
    if not isinstance(truth, list) or not all(isinstance(turn, list) for turn in truth):
        raise ValueError("the ground truth must list the calls of each turn")
    if not all(isinstance(call, str) for turn in truth for call in turn):
        raise ValueError('a call in the ground truth of several turns is a text, such as "list_people()"')
    return truth


def openai_source(path: Path, categories: Sequence[Category], template: Path | None) -> Source:
    if not path.is_file():
        raise DatasetError(f"File not found: {path}: the openai format is one file of JSON lines")
    for category in categories:
        if category.check == "multi_turn" and len(categories) == 1:
            raise DatasetError(
                f"{category.name}: the openai format has no multi-turn rows; use the native format"
            )
    shape = load_template(template) if template is not None else None
    return partial(_openai_rows, path, categories, shape)


def _openai_rows(
    path: Path, categories: Sequence[Category], shape: Shape | None, found: CustomRows
) -> Iterator[GoodRow]:
    for line, raw, value in _objects(path, categories[0].name, "Dataset conversion error: ", found):
        try:
            given = value if shape is None else _named_row(shape(value), value)
            category = _category_of(given, categories)
            if category not in categories:
                found.leave_out(category.name)
                continue
            identity = f"{category.name}_{line - 1}"
            if shape is None:
                row = messages_row(given, category, identity)
            else:
                row = _rendered_row(given, category, identity)
        except ValueError as error:
            name = categories[0].name if len(categories) == 1 else str(value.get("category", ""))
            found.refuse(path, name, f"Dataset conversion error: {error}", line, raw.text)
            continue
        yield _good(PlacedRow(row, line), category, path, line)


def _named_row(rendered: Any, row: Row) -> Row:
    """The row that a data template gives, with the category of the row in the file if it names none."""
    if not isinstance(rendered, dict):
        raise ValueError(f"the data template gives {type(rendered).__name__}; expected an object")
    name = row.get("category")
    return (
        rendered if "category" in rendered or category_named(name) is None else {**rendered, "category": name}
    )


def _rendered_row(rendered: Row, category: Category, identity: str) -> Row:
    """The row that a data template gives, in the form of the evaluation."""
    try:
        return messages_row(rendered, category, identity)
    except ValueError as error:
        raise ValueError(
            f"{clause(error)}. The row is what the data template gives; in it, lists and objects end with | tojson"
        ) from None


def _category_of(row: Row, categories: Sequence[Category]) -> Category:
    """The category of a row: the one that it names, or else the only one that is evaluated."""
    name = row.get("category")
    if name is None and len(categories) == 1:
        return categories[0]
    names = [category.name for category in categories]
    if name is None:
        raise ValueError(
            f'several categories are evaluated, and the row has no field "category"; name one: task={names[0]}'
        )
    category = category_named(name)
    if category is None:
        raise ValueError(f"there is no category {name!r}.{suggest(str(name), [*names, *CATEGORIES])}")
    if category in categories and category.check in ("multi_turn", "executable", "rest"):
        raise ValueError(f"category {name!r} cannot be written in the openai format; use the native format")
    return category


def _good(row: Row, category: Category, file: Path, line: int) -> GoodRow:
    if category.check in ("irrelevance", "relevance"):
        row["ground_truth"] = []
    return row, category, file, line


def _objects(
    file: Path, category: str, prefix: str, found: CustomRows
) -> Iterator[tuple[int, RawObject, dict[str, Any]]]:
    for raw in raw_objects(file):
        number = raw.line
        if not raw.is_text:
            fault = f"{prefix.format(number)}the line is not UTF-8 text; save the file as UTF-8"
            found.refuse(file, category, fault, number, raw.text)
            continue
        try:
            value = load_data_json(raw.text)
            if not isinstance(value, dict):
                raise ValueError(f"expected a JSON object, found {type(value).__name__}")
        except ValueError as error:
            found.refuse(file, category, f"{prefix.format(number)}{error}", number, raw.text)
            continue
        yield number, raw, value
