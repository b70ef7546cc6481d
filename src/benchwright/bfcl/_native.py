"""Reads rows in the native layout: questions, answers and function documents in one folder."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.bfcl._categories import Category
from benchwright.bfcl._simulations import DOCUMENT_FILES
from benchwright.core import DatasetError, NotFoundError, Row, load_data_json

log = logging.getLogger("benchwright.bfcl")


class NativeFolder(Struct, frozen=True, dict=True):
    """A folder with rows. `version` decides the names of its files."""

    path: Path
    version: str = "v3"

    def questions_file(self, category: Category) -> Path:
        """The file with a category's questions."""
        return self.path / category.file_name(self.version)

    def answers_file(self, category: Category) -> Path:
        """The file with a category's answers."""
        return self.path / "possible_answer" / category.file_name(self.version)

    def has(self, category: Category) -> bool:
        """Whether there are rows of a category."""
        return self.questions_file(category).is_file()

    def rows(self, category: Category) -> Iterator[Row]:
        """The rows of a category in their order, each with its answer, its functions and its category."""
        path = self.questions_file(category)
        if not path.is_file():
            raise NotFoundError(
                f"{path}: there is no such file; it should contain the questions of {category.name}"
            )
        questions = [row for _, row in json_lines(path)]
        answers = self._answers(category)
        ids = Counter(str(row.get("id")) for row in questions)
        for number, row in enumerate(sorted(questions, key=_order)):
            identity = str(row.get("id"))
            found = {**row, "category": category.name, "id": identity}
            if ids[identity] > 1:  # one published id occurs twice
                found["id"] = f"{identity}#{number}"
            if answers is not None:
                found["ground_truth"] = self._answer(answers, identity, category)
            elif category.check in ("irrelevance", "relevance"):
                found["ground_truth"] = []
            if category.check == "multi_turn":
                found["function"] = self.documents(row.get("involved_classes") or ())
            yield found

    def documents(self, classes: Any) -> list[dict[str, Any]]:
        """The function documents of simulated classes."""
        found: list[dict[str, Any]] = []
        for name in classes:
            stem = DOCUMENT_FILES.get(name)
            if stem is None:
                raise DatasetError(
                    f"no simulated class {name!r} is known; known: {', '.join(DOCUMENT_FILES)}"
                )
            if stem not in self._documents:
                path = self.path / "multi_turn_func_doc" / f"{stem}.json"
                if not path.is_file():
                    raise NotFoundError(
                        f"{path}: there is no such file; it should describe the functions of {name}"
                    )
                self._documents[stem] = [_document(path, line, value) for line, value in json_lines(path)]
            found += self._documents[stem]
        return found

    @cached_property
    def _documents(self) -> dict[str, list[dict[str, Any]]]:
        return {}

    def _answers(self, category: Category) -> dict[str, Any] | None:
        """Answers by id; None for categories that need none, or have them in their questions."""
        if category.check not in ("ast", "multi_turn"):
            return None
        path = self.answers_file(category)
        if not path.is_file():
            raise NotFoundError(
                f"{path}: there is no such file; it should contain the answers of {category.name}"
            )
        return {str(row.get("id")): row.get("ground_truth") for _, row in json_lines(path)}

    def _answer(self, answers: dict[str, Any], identity: str, category: Category) -> Any:
        """The answer of an id, or else of its running number, because one published id is misspelt."""
        if identity in answers:
            return answers[identity]
        number = _number(identity)
        near = [other for other in answers if _number(other) == number and _stem(other) == _stem(identity)]
        if len(near) != 1:
            raise DatasetError(f"{self.answers_file(category)}: no answer has the id {identity!r}")
        log.info("%s: %s takes the answer %s, which has its running number", category.name, identity, near[0])
        return answers[near[0]]


def _document(path: Path, line: int, value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value.get("name"), str) or not value["name"]:
        raise DatasetError(f'{path}:{line}: the document of a function needs a "name"')
    return value


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of a file of JSON lines with their line numbers; blank lines are left out."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = load_data_json(line)
            except ValueError as error:
                raise DatasetError(f"{path}:{number}: this line is not JSON: {error}") from None
            if not isinstance(value, dict):
                raise DatasetError(f"{path}:{number}: expected a JSON object, found {type(value).__name__}")
            yield number, value


def _stem(identity: str) -> str:
    return identity.rpartition("_")[0]


def _number(identity: str) -> str:
    return identity.rpartition("_")[2].partition("-")[0]


def _order(row: dict[str, Any]) -> tuple[str, int]:
    identity = str(row.get("id"))
    number = _number(identity)
    return _stem(identity), int(number) if number.isdecimal() else 0
