"""Labels of a calibration: reads them and a judge's grades, and knows what each grade is worth."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.core import DatasetError, UsageError, finite_number, load_data_json
from benchwright.datasets import open_dataset
from benchwright.results import JudgedSample
from benchwright.scorers import TEMPLATES

TARGETS = ("target", "reference", "answer")
"""Fields that may have the expected answer."""
YES = frozenset({"yes", "y", "true", "1", "ja", "wahr"})
NO = frozenset({"no", "n", "false", "0", "nein", "falsch"})
_WORDS = {
    **dict.fromkeys((*YES, "c", "correct", "right", "good", "pass", "passed", "ok", "richtig", "korrekt", "gut"), 1),
    **dict.fromkeys((*NO, "i", "incorrect", "wrong", "bad", "fail", "failed", "schlecht"), 0),
}  # fmt: skip
"""Words that are worth the same to everybody, for the mapping to paste. Others get no number there: a wrong one would turn
the figures around."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Labelled(Struct, frozen=True):
    """One row of the labels."""

    where: str
    """File and line."""
    row: dict[str, Any]
    """Its fields."""


def items_of(rows: Sequence[Labelled]) -> list[Hashable]:
    """Which rows of a file are copies or repeats of each other: those with the same question and target; if there is no
    question, those with the same `sample_id`. A question that all rows share, such as "Is this polite?", tells nothing
    apart; then the responses do."""
    asked = [
        (repr(each.row.get("question")), repr([each.row.get(name) for name in TARGETS])) for each in rows
    ]
    if len(set(asked)) == 1 and any("response" in each.row for each in rows):
        return [repr(each.row.get("response", at)) for at, each in enumerate(rows)]
    return [
        asked[at]
        if each.row.get("question") is not None
        else at
        if each.row.get("sample_id") is None
        else str(each.row["sample_id"]).strip()
        for at, each in enumerate(rows)
    ]


class Grades:
    """Reads labels and grades, and knows their scores."""

    def __init__(self, label_field: str, mapping: Mapping[str, float] | None, template: str | None) -> None:
        self._field = label_field
        self._given = self._mapped = mapping is not None
        self.scores = dict(mapping or {})
        if mapping is None and template is not None and template in TEMPLATES:
            self.scores = dict(TEMPLATES[template].scores)
            self._given = True

    def of_file(self, rows: Sequence[Labelled], grade_field: str) -> list[JudgedSample]:
        """Read labels and grades from the file."""
        self._find_scale(
            [(each.row.get(name), each.where) for each in rows for name in (grade_field, self._field)]
        )
        found = []
        for item, each in zip(items_of(rows), rows, strict=True):
            if each.row.get(grade_field) is None:
                fields = ", ".join(map(str, each.row))
                raise DatasetError(
                    f"{each.where}: field {grade_field!r} is missing (the row has {fields}). Name the field of the judge's "
                    "grades with --grade-field, a run that has them with --run, or a judge to ask with --judge"
                )
            grade = self._known(each, grade_field)
            assert grade is not None  # checked above
            found.append(
                JudgedSample(item, grade, self.scores[grade], self._known(each, self._field), row=each.row)
            )
        return found

    def of_run(
        self,
        rows: Sequence[Labelled],
        recorded: Mapping[tuple[int, int], JudgedSample | None],
        notes: list[str],
    ) -> list[JudgedSample]:
        """Read labels from the file and grades from a run; None: the sample has no grade."""
        graded = {key: each for key, each in recorded.items() if each is not None}
        worth = {each.grade: each.score for each in graded.values()}
        self._find_scale([(each.row.get(self._field), each.where) for each in rows], worth)
        labels: dict[tuple[int, int], str] = {}
        for each in rows:
            key = _sample(each, recorded)
            label = self._known(each, self._field)
            if key in labels:
                name = f"{key[0]}/{key[1]}" if key[1] else key[0]
                raise DatasetError(f"{each.where}: sample {name} already has a label; keep one")
            if label is not None:
                labels[key] = label
        if left := sum(key not in graded for key in labels):
            notes.append(f"{left} of {len(labels)} labels are of samples without a grade")
        return [
            JudgedSample(each.item, each.grade, self.scores[each.grade], labels.get(key), place=key)
            for key, each in graded.items()
        ]

    def refuse_two_scales(self, samples: Sequence[JudgedSample]) -> None:
        """Raise UsageError if labels and grades are not on one scale: 0 and 1 on one side and 1 to 5 on the other, or words
        that the mapping gives no common score."""
        sides = {
            "labels": {each.label for each in samples if each.label is not None},
            "grades": {each.grade for each in samples if each.label is not None},
        }
        for one, other in (("labels", "grades"), ("grades", "labels")):
            shares, steps = (
                {number for text in sides[side] if (number := _as_number(text)) is not None}
                for side in (one, other)
            )
            if 0 in shares <= {0, 1} and steps and 0 not in steps and max(steps) > 1:
                raise UsageError(
                    f"the {one} are 0 and 1, the {other} {', '.join(sorted(sides[other])[:8])}: they are not on one scale, and 1 "
                    f"would mean the best and the worst. Write the {one} in words, such as yes and no, and say what these are "
                    "worth with --score-mapping"
                )
        worth = {side: {self.scores[word] for word in words} for side, words in sides.items()}
        if self._mapped and not worth["labels"] & worth["grades"] and min(map(len, worth.values())) > 1:
            shown = "; ".join(
                f"{side} {', '.join(f'{word} {self.scores[word]:g}' for word in sorted(words)[:8])}"
                for side, words in sides.items()
            )
            raise UsageError(
                f"no label has the score of any grade ({shown}), so that none could agree. Give labels and grades that mean "
                "the same the same score, all of them in --score-mapping"
            )

    def _find_scale(self, values: Sequence[tuple[Any, str]], recorded: Mapping[str, float] = {}) -> None:
        """Find the scores of grades if none are given: from the built-in template that has them, or as numbers. Grades that a
        run recorded have their scores already, and labels are worth the same. Each value comes with its place."""
        if self._given:
            self._add_recorded(recorded)
            return
        texts = {
            as_text(value): where
            for value, where in reversed(values)
            if value not in (None, "") and not isinstance(value, bool)
        }
        for template in TEMPLATES.values():
            scores = template.scores
            shared = recorded.keys() & scores.keys()
            agrees = not recorded or (shared and all(scores[grade] == recorded[grade] for grade in shared))
            known = {grade.upper() for grade in (*scores, *recorded)}
            if agrees and {text.upper() for text in texts} <= known:
                self.scores = {**scores, **recorded}
                return
        own = all(_as_number(grade) == score for grade, score in recorded.items())
        numbers = {text: _as_number(text) if own else None for text in texts}
        self.scores = {text: number for text, number in numbers.items() if number is not None} | dict(
            recorded
        )
        upper = {grade.upper() for grade in self.scores}
        if not all(text.upper() in upper for text in texts):
            strange = [text for text in sorted(texts) if text.upper() not in upper][:8]
            unknown = [f'"{text[:40]}"' for text in strange]
            listed = " and ".join(filter(None, (", ".join(unknown[:-1]), unknown[-1])))
            common = {} if set(recorded.values()) - {0.0, 1.0} else _WORDS
            mapping = ", ".join(
                f'"{text[:40]}": {common.get(text.lower(), "…")}' for text in sorted(texts)[:8]
            )
            worth = ", ".join(f"{grade} {score:g}" for grade, score in sorted(recorded.items())[:8])
            raise UsageError(
                f"No score is defined for the grade{'s' * (len(unknown) > 1)} {listed} ({texts[strange[0]]}). Define all scores with --score-mapping "
                f"'{{{mapping}}}', with the score of each grade{f' (the grades of the run are worth {worth})' * bool(worth)}, "
                "or name the judge's --template"
            )

    def _add_recorded(self, recorded: Mapping[str, float]) -> None:
        """Add recorded grades that are not listed, such as C/I of a panel. On another scale, their scores would mean nothing."""
        unlisted = {grade: score for grade, score in recorded.items() if grade not in self.scores}
        if unlisted and any(self.scores.get(grade, score) != score for grade, score in recorded.items()):
            raise UsageError(
                f"the run has the grades {', '.join(sorted(unlisted)[:8])}, and --score-mapping or --template gives its other "
                "grades new scores; add these to --score-mapping"
            )
        self.scores.update(unlisted)

    def _known(self, each: Labelled, field: str) -> str | None:
        """The grade in a field, in the spelling of the scale; None if there is none."""
        value = each.row.get(field)
        if value is None or value == "":
            return None
        text = as_text(value)
        if text in self.scores and not isinstance(value, bool):
            return text
        for grade, score in self.scores.items():
            if isinstance(value, bool) and score == float(value):
                return grade
            if grade.upper() == text.upper():
                return grade
        raise DatasetError(
            f"{each.where}: field {field!r} is {value!r}; expected one of {', '.join(self.scores)}. Correct it, or say what "
            "it is worth with --score-mapping"
        )


_PREDICTED = {"id": "sample_id", "origin_prompt": "prompt", "prediction": "response", "gold": "target"}
"""Columns of predictions in a work folder, and their names everywhere else."""
_SAMPLE = {"sample_id", "prompt", "response"}
"""Columns by which a row is a sample, exported or from a sheet of labels."""


def labelled_rows(file: str | os.PathLike[str]) -> list[Labelled]:
    """The rows of a file of labels; of an exported workbook, those of its samples."""
    name = os.fspath(file)
    places = [f"{name}?sheet={_SHEET}", name] if name.lower().endswith(".xlsx") else [name]
    for place in places:
        try:
            return [
                Labelled(f"{Path(name).name}:{line}", as_labelled(row))
                for batch in open_dataset(place).batches()
                for line, row in zip(batch.lines, batch.rows, strict=True)
            ]
        except DatasetError as error:
            if place == name or "has no sheet" not in str(error):
                raise
    return []


_SHEET = "samples"
"""The sheet of an exported workbook that has its samples."""


def as_labelled(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of labels. An exported sample has its question in the prompt, and the judge's grade among its scores."""
    found = dict(row)
    if _PREDICTED.keys() <= found.keys():
        for column, name in _PREDICTED.items():
            found.setdefault(name, found[column])
    if not found.keys() >= _SAMPLE:
        return found
    found.setdefault("question", found["prompt"])
    scores = found.get("scores")
    if isinstance(scores, str):
        with suppress(ValueError):
            scores = load_data_json(scores)
    if "grade" not in found and isinstance(scores, dict) and scores.get("judge_grade") is not None:
        found["grade"] = scores["judge_grade"]
    return found


def recorded_grade(value: Any) -> str:
    """A recorded grade. A judge that writes 4.0 gives the same grade as one that writes 4."""
    number = _as_number(str(value))
    return str(value) if number is None else as_text(number)


def _as_number(text: str) -> float | None:
    return finite_number(float(text)) if _NUMBER.fullmatch(text) else None


def as_text(value: Any) -> str:
    """A value of a cell as text; a sheet has 4.0 where a person wrote 4."""
    text = str(value).strip()
    return text[:-2] if isinstance(value, float) and text.endswith(".0") else text


def _sample(each: Labelled, recorded: Mapping[tuple[int, int], JudgedSample | None]) -> tuple[int, int]:
    found = []
    for field, default in (("sample_id", None), ("repeat", 0)):
        value = each.row.get(field, default)
        if value is None:
            raise DatasetError(
                f"{each.where}: the row has no {field!r}, the number of a sample as `benchwright show RUN` and `benchwright export "
                f"RUN` give it (the row has {', '.join(map(str, each.row))})"
            )
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise DatasetError(
                f"{each.where}: field {field!r} is {value!r}; expected the number of a sample, as `benchwright show RUN` "
                "and samples.parquet give it"
            )
        found.append(value)
    key = found[0], found[1]
    if key not in recorded:
        raise DatasetError(
            f"{each.where}: the run has no sample {key[0]}, repeat {key[1]}; it has {len(recorded)} samples"
        )
    return key
