"""`calibrate_judge`: compares a judge's grades (from a file, a run, or the judge itself) with human labels."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.core import (
    DatasetError,
    NotFoundError,
    RunFailedError,
    UsageError,
    clause,
    finite_number,
    score_fields,
    suggest,
)
from benchwright.datasets import open_dataset
from benchwright.engine import InterruptedRunError
from benchwright.reports import Calibration, JudgedRow, calibration
from benchwright.runs import RunResult
from benchwright.scorers import TEMPLATES, JudgeConfig, ScorerInput, Scores
from benchwright.sdk._compare import find_run
from benchwright.store import existing_workspace, open_existing

_WEIGHTS = ("none", "linear", "quadratic")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MOST_WITHOUT = 0.05
"""Accepted share of samples without a grade, equal to that of failed samples in runs."""
_TARGETS = ("target", "reference", "answer")


class _Labelled(Struct, frozen=True):
    """One row of the labels."""

    where: str
    """File and line."""
    row: dict[str, Any]
    """Its fields."""


def calibrate_judge(
    labels: str | os.PathLike[str] | Sequence[Mapping[str, Any]],
    *,
    run: int | str | RunResult | None = None,
    judge: Mapping[str, Any] | JudgeConfig | None = None,
    template: str | None = None,
    criteria: str = "",
    label_field: str = "label",
    grade_field: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    weights: str | None = None,
    workspace: str | os.PathLike[str] | None = None,
) -> Calibration:
    """Measure how far a judge agrees with humans, and estimate the score that humans would have given everything it judged.

    Args:
        labels: file or rows with human labels. Rows need, with a `run`: `sample_id` (and `repeat`) and the label; with a
            `judge`: `question`, `response`, `target` and the label; else the label and the judge's grade. Rows without
            a label count only as judged.
        run: a run that has the judge's grades.
        judge: settings of a judge that grades the rows now, in a separate run.
        template: the question to the judge and the scores of its grades; None: `binary_qa` with a `judge`, else the
            built-in template that has the grades.
        criteria: further instructions for the `judge`.
        label_field: the field of the labels.
        grade_field: the field of the grades; None: `grade` in a file, `judge_grade` in a run.
        score_mapping: grade → score.
        weights: `none`, `linear` or `quadratic`; None: quadratic for scales of more than two grades.
        workspace: where runs are; None: found upwards from here.

    Raises:
        DatasetError: labels that cannot be used, with file, line, field and cure.
        UsageError: options that exclude each other.
    """
    if run is not None and judge is not None:
        raise UsageError("run= has the judge's grades and judge= asks for new ones; give only one")
    if weights is not None and weights not in _WEIGHTS:
        raise UsageError(
            f"weights is {weights!r}; expected {', '.join(_WEIGHTS)}.{suggest(weights, _WEIGHTS)}"
        )
    if template is not None and template not in TEMPLATES and judge is None:
        raise UsageError(
            f"unknown judge template {template!r}.{suggest(template, TEMPLATES)} Known: {', '.join(TEMPLATES)}"
        )
    if score_mapping is not None:
        score_mapping = {str(grade): _worth(grade, score) for grade, score in score_mapping.items()}
    rows = _read(labels)
    if not any(label_field in each.row for each in rows):
        fields = list(dict.fromkeys(str(name) for each in rows for name in each.row))
        raise DatasetError(
            f"{labels if isinstance(labels, str | os.PathLike) else 'labels'}: no row has the field {label_field!r}.{suggest(label_field, fields)} The rows have: "
            f"{', '.join(fields)}. Name the field of the labels with --label-field"
        )
    for each, field in ((each, field) for each in rows for field in (label_field, grade_field or "grade")):
        if isinstance(each.row.get(field), list | dict):
            raise DatasetError(
                f"{each.where}: field {field!r} is {each.row[field]!r:.60}; expected a text or a number"
            )
    if judge is not None:
        template = template or "binary_qa"
        result = _ask(rows, judge, template, criteria, score_mapping, workspace)
        rows = [_Labelled(each.where, {**each.row, "sample_id": number}) for number, each in enumerate(rows)]
        run = result
    grades = _Grades(label_field, score_mapping, template)
    notes: list[str] = []
    comparable = True
    if run is None:
        judged = grades.of_file(rows, grade_field or "grade")
    else:
        recorded = _recorded(run, grade_field or "judge_grade", workspace)
        judged = grades.of_run(rows, recorded, notes)
        without = sum(each is None for each in recorded.values())
        comparable = without <= _MOST_WITHOUT * len(recorded)
        if without:
            notes.insert(0, f"{without} of {len(recorded)} samples have no grade and are left out")
    if not any(row.label is not None for row in judged):
        raise DatasetError(f"no row has both a label and a grade. Labels are in the field {label_field!r}")
    return calibration(judged, grades.scores, weights=weights, notes=notes, comparable=comparable)  # type: ignore[arg-type]  # seen to be one of them


def _worth(grade: str, score: object) -> float:
    worth = finite_number(score)
    if worth is None:
        raise UsageError(
            f"score_mapping: {grade!r} is {score!r:.60}; expected the number that this grade is worth"
        )
    return worth


def _read(labels: str | os.PathLike[str] | Sequence[Mapping[str, Any]]) -> list[_Labelled]:
    if not isinstance(labels, str | os.PathLike):
        return [_Labelled(f"label {number}", dict(row)) for number, row in enumerate(labels)]
    reader = open_dataset(os.fspath(labels))
    name = Path(labels).name
    found = [
        _Labelled(f"{name}:{line}", dict(row))
        for batch in reader.batches()
        for line, row in zip(batch.lines, batch.rows, strict=True)
    ]
    if not found:
        raise DatasetError(f"{name} has no rows")
    return found


def _recorded(
    run: int | str | RunResult, field: str, workspace: str | os.PathLike[str] | None
) -> dict[tuple[int, int], tuple[str, float] | None]:
    """Grade and score of each sample and repeat of a run; None if there is no grade."""
    place = existing_workspace(Path.cwd(), None if workspace is None else Path(workspace))
    store = open_existing(place)
    if store is None:
        raise NotFoundError(f"there are no runs in {place.root} yet")
    with store:
        record = find_run(store, run, 0, place)
        found: dict[tuple[int, int], tuple[str, float] | None] = {}
        names: set[str] = set()
        score_name = field.replace("grade", "score")
        for index, repeat, text in store.scores(record.id):
            scores = score_fields(text).get("scores") or {}
            names.update(scores)
            known = field in scores and score_name in scores
            found[index, repeat] = (_grade(scores[field]), float(scores[score_name])) if known else None
    if field not in names:
        raise NotFoundError(
            f"run {record.id} has no {field!r}.{suggest(field, names)} Its scores: {', '.join(sorted(names)) or 'none'}"
        )
    return found


class _Grades:
    """Reads labels and grades, and knows their scores."""

    def __init__(self, label_field: str, mapping: Mapping[str, float] | None, template: str | None) -> None:
        self._field = label_field
        self._given = mapping is not None
        self.scores = dict(mapping or {})
        if mapping is None and template is not None and template in TEMPLATES:
            self.scores = dict(TEMPLATES[template].scores)
            self._given = True

    def of_file(self, rows: Sequence[_Labelled], grade_field: str) -> list[JudgedRow]:
        """Read labels and grades from the file."""
        self._find_scale(
            [value for each in rows for value in (each.row.get(grade_field), each.row.get(self._field))]
        )
        found = []
        for each in rows:
            if each.row.get(grade_field) is None:
                fields = ", ".join(map(str, each.row))
                raise DatasetError(
                    f"{each.where}: field {grade_field!r} is missing (the row has {fields}). Name the field of the judge's "
                    "grades with --grade-field, a run that has them with --run, or a judge to ask with --judge"
                )
            grade = self._known(each, grade_field)
            assert grade is not None  # checked above
            found.append(JudgedRow(grade, self.scores[grade], self._known(each, self._field)))
        return found

    def of_run(
        self,
        rows: Sequence[_Labelled],
        recorded: Mapping[tuple[int, int], tuple[str, float] | None],
        notes: list[str],
    ) -> list[JudgedRow]:
        """Read labels from the file and grades from a run."""
        graded = {key: known for key, known in recorded.items() if known is not None}
        repeated = any(repeat for _, repeat in recorded)
        if repeated:
            graded = {key: known for key, known in graded.items() if key[1] == 0}
            notes.append("the run has repeats: only the first of each row counts here")
        self._find_scale([each.row.get(self._field) for each in rows], dict(graded.values()))
        labels: dict[tuple[int, int], str] = {}
        for each in rows:
            key = _sample(each, recorded)
            label = self._known(each, self._field)
            if key[1] and label is not None:
                raise DatasetError(
                    f"{each.where}: field 'repeat' is {key[1]}; only the first repeat of each row counts here. Label repeat 0"
                )
            if key in labels:
                raise DatasetError(f"{each.where}: sample {key[0]} has a label already; keep one")
            if label is not None:
                labels[key] = label
        if left := sum(key not in graded for key in labels):
            notes.append(f"{left} of {len(labels)} labels are of samples without a grade")
        return [JudgedRow(grade, self.scores[grade], labels.get(key)) for key, (grade, _) in graded.items()]

    def _find_scale(self, values: Sequence[Any], recorded: Mapping[str, float] = {}) -> None:
        """Find the scores of grades if none are given: from the built-in template that has them, or as numbers. Grades that a
        run recorded have their scores already, and labels are worth the same."""
        if self._given:
            self._add_recorded(recorded)
            return
        texts = {_text(value) for value in values if value not in (None, "") and not isinstance(value, bool)}
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
            shown = ", ".join(text[:40] for text in sorted(texts)[:8])
            raise UsageError(
                f"what are the grades {shown} worth? Say so with --score-mapping "
                '\'{"GRADE": 1, "OTHER": 0}\', or with the --template of the judge'
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

    def _known(self, each: _Labelled, field: str) -> str | None:
        """The grade in a field, in the spelling of the scale; None if there is none."""
        value = each.row.get(field)
        if value is None or value == "":
            return None
        text = _text(value)
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


def _grade(value: Any) -> str:
    """A recorded grade. A judge that writes 4.0 gives the same grade as one that writes 4."""
    number = _as_number(str(value))
    return str(value) if number is None else _text(number)


def _as_number(text: str) -> float | None:
    return finite_number(float(text)) if _NUMBER.fullmatch(text) else None


def _text(value: Any) -> str:
    text = str(value).strip()
    return text[:-2] if isinstance(value, float) and text.endswith(".0") else text


def _sample(each: _Labelled, recorded: Mapping[tuple[int, int], Any]) -> tuple[int, int]:
    found = []
    for field, default in (("sample_id", None), ("repeat", 0)):
        value = each.row.get(field, default)
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


def _ask(
    rows: Sequence[_Labelled],
    judge: Mapping[str, Any] | JudgeConfig,
    template: str,
    criteria: str,
    mapping: Mapping[str, float] | None,
    workspace: str | os.PathLike[str] | None,
) -> RunResult:
    """Let the judge grade the labelled rows in a run; its replies are recorded and cached like any others."""
    from benchwright.benchmarks import BenchmarkSpec
    from benchwright.scorers import judge_score
    from benchwright.sdk._front import run

    for each in rows:
        if not isinstance(each.row.get("response"), str):
            raise DatasetError(
                f"{each.where}: field 'response' is {each.row.get('response')!r}; a judge needs the text that it grades"
            )
    target = next((name for name in _TARGETS if name in rows[0].row), "target")
    JudgeConfig.of(judge)  # raises before a run is created

    def graded(sample: ScorerInput) -> Scores:
        return judge_score(sample, template=template, criteria=criteria, score_mapping=mapping)

    # No decorator, because it would register the definition, which changes with each call.
    spec = BenchmarkSpec(
        name="judge-calibrate", key="judge_calibrate", dataset=[each.row for each in rows], prompt="{question}",
        scorer=graded, target_field=target, response_field="response", config={"judge": judge}, base_dir=Path.cwd(),
    )  # fmt: skip
    vars(graded)["_benchmark"] = spec
    result = run(graded, workspace=None if workspace is None else Path(workspace))
    assert isinstance(result, RunResult)
    if result.exit_code == InterruptedRunError.exit_code:  # figures of some rows must not pass for all
        raise InterruptedRunError(
            f"interrupted: the judge graded {result.summary.evaluated} of {len(rows)} rows. The same command asks for the others only"
        )
    if not result.summary.metrics:
        reason = result.first_failure or result.stopped_because or "see its samples"
        raise RunFailedError(
            f"the judge graded {'no row' if len(rows) == 1 else f'none of the {len(rows)} rows'}: {clause(reason)}. See: benchwright show {result.run_id} --failed"
        )
    return result
