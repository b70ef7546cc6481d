"""`calibrate_judge`: compares a judge's grades (from a file, a run, or the judge itself) with human labels."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from benchwright.core import (
    DatasetError,
    NoteGrade,
    NotFoundError,
    RunFailedError,
    RunKind,
    RunSummary,
    SampleRecord,
    UsageError,
    clause,
    expand_home,
    finite_number,
    suggest,
)
from benchwright.engine import InterruptedRunError
from benchwright.results import (
    Calibration,
    Clusters,
    Disagreement,
    FoundRun,
    JudgedSample,
    LabelList,
    RunResult,
    ScoreColumns,
    StoreSamples,
    plural,
)
from benchwright.runs._compare import find_run
from benchwright.runs._labels import (
    TARGETS,
    Grades,
    Labelled,
    items_of,
    labelled_rows,
    recorded_grade,
)
from benchwright.runs._session import Session
from benchwright.scorers import TEMPLATES, JudgeConfig, JudgeTemplate, ScorerInput, Scores
from benchwright.store import Label, RunRecord, Store, Workspace

_WEIGHTS = ("none", "linear", "quadratic")
_MOST_WITHOUT = 0.05
"""Accepted share of samples without a grade, equal to that of failed samples in runs."""
_LONGEST_NAME = 1_000
_TEXT_FILES = (".txt", ".md", ".jinja", ".j2", ".tmpl", ".prompt", ".template")
"""Suffixes by which the name of a file is told from a template."""


_Place: TypeAlias = str | os.PathLike[str] | Workspace | None
"""Where the runs are."""


def calibrate_judge(
    labels: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
    *,
    run: int | str | RunResult | None = None,
    judge: Mapping[str, Any] | JudgeConfig | None = None,
    template: str | None = None,
    criteria: str = "",
    label_field: str = "label",
    grade_field: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    weights: str | None = None,
    disagreements: bool = False,
    workspace: _Place = None,
) -> Calibration:
    """Measure how far a judge agrees with humans, and estimate the score that humans would have given everything it judged.

    Args:
        labels: file or rows with human labels. Rows need, with a `run`: `sample_id` (and `repeat`) and the label; with a
            `judge`: `question`, `response`, `target` and the label; else the label and the judge's grade. Rows without
            a label count only as judged. None: the labels of judges that people gave to samples of the `run`.
        run: a run that has the judge's grades.
        judge: settings of a judge that grades the rows now, in a separate run.
        template: the question to the judge and the scores of its grades; None: `binary_qa` with a `judge`, else the
            built-in template that has the grades.
        criteria: further instructions for the `judge`.
        label_field: the field of the labels.
        grade_field: the field of the grades; None: `grade` in a file, `judge_grade` in a run.
        score_mapping: grade → score.
        weights: `none`, `linear` or `quadratic`; None: quadratic for scales of more than two grades.
        disagreements: whether the samples that judge and humans grade differently are listed, with the judge's reply.
        workspace: where runs are; None: found upwards from here.

    Raises:
        DatasetError: labels that cannot be used, with file, line, field and cure.
        UsageError: options that exclude each other.
    """
    _check_options(run, judge, template, weights)
    template = None if template is None else _template(template)
    if score_mapping is not None:
        score_mapping = {str(grade): _worth(grade, score) for grade, score in score_mapping.items()}
    notes: list[str] = []
    if labels is None:
        if run is None:
            raise UsageError("name the file of labels, or a run whose samples have labels: --labels RUN")
        rows = _labels_in_store(run, label_field, workspace, notes)
    else:
        rows = _read(labels)
    _check_fields(rows, labels, label_field, grade_field or "grade")
    items: list[Hashable] | None = None
    if judge is not None:
        template = template or "binary_qa"
        run, items = _ask(rows, judge, template, criteria, score_mapping, workspace), items_of(rows)
        rows = [Labelled(each.where, {**each.row, "sample_id": number}) for number, each in enumerate(rows)]
    grades = Grades(label_field, score_mapping, template)
    comparable = True
    if run is None:
        judged = grades.of_file(rows, grade_field or "grade")
    else:
        record, recorded = _recorded(run, grade_field or "judge_grade", workspace)
        if items is not None:  # the rows of that run have the labels, which make no other row
            recorded = {
                key: each if each is None else replace(each, item=items[key[0]])
                for key, each in recorded.items()
            }
        judged = grades.of_run(rows, recorded, notes)
        without = sum(each is None for each in recorded.values())
        comparable = without <= _MOST_WITHOUT * len(recorded) and not record.lost
        if without:
            notes.insert(0, f"{without} of {len(recorded)} samples have no grade and are left out")
        notes += _doubts(record)
    if not any(row.label is not None for row in judged):
        raise DatasetError(f"no row has both a label and a grade. Labels are in the field {label_field!r}")
    grades.refuse_two_scales(judged)
    found = Calibration.of(judged, grades.scores, weights=weights, notes=notes, comparable=comparable)  # type: ignore[arg-type]  # seen to be one of them
    if not disagreements:
        return found
    return replace(found, disagreements=_disagreements(judged, grades.scores, run, workspace))


def _session(place: _Place) -> Session:
    return Session(place.root, place.url) if isinstance(place, Workspace) else Session(place)


def _root(place: _Place) -> Path | None:
    return place.root if isinstance(place, Workspace) else None if place is None else Path(place)


def _labels_in_store(
    run: int | str | RunResult,
    field: str,
    workspace: _Place,
    notes: list[str],
) -> list[Labelled]:
    """The labels of judges on the samples of a run, as rows of a file of labels. One that is about another reply to a row is none
    of this run's."""
    with _session(workspace) as session:
        store, place = session.recorded(), session.workspace
        if store is None:
            raise NotFoundError(f"there are no runs in {place.root} yet")
        record = find_run(store, run, 0, place)
        return judge_labels(store, record.id, field, notes)


def judge_labels(store: Store, run_id: int, field: str, notes: list[str]) -> list[Labelled]:
    """The same from an open store."""
    places = list(store.labelled(run_id, "judge"))
    given = store.labels({row for *_, row in places}, kind="judge")
    decided = LabelList.deciding(given)
    if disputed := LabelList.in_dispute(given):
        notes.append(f"people gave {plural(disputed, 'reply')} different grades; the newest counts")
    found = []
    for index, repeat, row in places:
        for view in StoreSamples.views(store, run_id, index):
            label = decided.get((row, "judge", Label.reply_id(view.response)))
            if label is not None and view.repeat == repeat:
                found.append(
                    Labelled(
                        f"the label of {label.who} on sample {index}",
                        {"sample_id": index, "repeat": repeat, field: label.value},
                    )
                )
    if not found:
        raise NotFoundError(
            f"no reply of run {run_id} has a label of the right grade. Give some on the page #/blind?runs={run_id} of benchwright serve, "
            f"or in a sheet: benchwright labels {run_id} --export labels.xlsx"
        )
    return found


def _disagreements(
    judged: Sequence[JudgedSample],
    scores: Mapping[str, float],
    run: int | str | RunResult | None,
    workspace: _Place,
) -> tuple[Disagreement, ...]:
    """The samples that judge and humans grade differently."""
    differ = [
        (each, each.label)
        for each in judged
        if each.label is not None and scores[each.label] != scores[each.grade]
    ]
    if run is None:
        return tuple(_of_line(each, label) for each, label in differ)
    with _session(workspace) as session:
        store = session.recorded()
        assert store is not None  # its grades were read
        number = find_run(store, run, 0, session.workspace).id
        return tuple(_of_sample(store, number, each, label) for each, label in differ)


def _of_line(each: JudgedSample, label: str) -> Disagreement:
    row = each.row or {}
    texts = {name: row.get(name) for name in ("question", "prompt", "response", "reason")}
    target = next((row[name] for name in TARGETS if row.get(name) is not None), None)
    number, repeat = (row.get(name) for name in ("sample_id", "repeat"))
    known: dict[str, str | None] = {name: None if text is None else str(text) for name, text in texts.items()}
    return Disagreement(
        sample_id=number if isinstance(number, int) else None,
        repeat=repeat if isinstance(repeat, int) else None,
        prompt=known["prompt"] or known["question"],
        response=known["response"],
        target=None if target is None else str(target),
        label=label,
        grade=each.grade,
        reason=known["reason"],
    )


def _of_sample(store: Store, run_id: int, each: JudgedSample, label: str) -> Disagreement:
    assert each.place is not None  # it is of a run
    index, repeat = each.place
    view = next(view for view in StoreSamples.views(store, run_id, index) if view.repeat == repeat)
    said = [reply.text for reply in StoreSamples.judge_replies(store, run_id, index).get(repeat, {}).values()]
    return Disagreement(
        sample_id=index, repeat=repeat, prompt=view.prompt, response=view.response, target=view.target, label=label,
        grade=each.grade, reason="\n".join(filter(None, said)) or None,
    )  # fmt: skip


def _check_options(run: object, judge: object, template: str | None, weights: str | None) -> None:
    """Raise UsageError for options that exclude each other or do not exist."""
    if run is not None and judge is not None:
        raise UsageError("run= has the judge's grades and judge= asks for new ones; give only one")
    if weights is not None and weights not in _WEIGHTS:
        raise UsageError(
            f"weights is {weights!r}; expected {', '.join(_WEIGHTS)}.{suggest(weights, _WEIGHTS)}"
        )
    if template is not None and template not in TEMPLATES and judge is None:
        raise UsageError(
            f"unknown judge template {template!r}.{suggest(template, TEMPLATES)} Known: {', '.join(TEMPLATES)}. "
            "Your own template is only used with --judge, as it does not define the scores of grades"
        )


def _check_fields(rows: Sequence[Labelled], labels: object, label_field: str, grade_field: str) -> None:
    """Raise DatasetError if no row has a label, or one has a label or a grade that is no plain value."""
    if not any(label_field in each.row for each in rows):
        fields = list(dict.fromkeys(str(name) for each in rows for name in each.row))
        raise DatasetError(
            f"{labels if isinstance(labels, str | os.PathLike) else 'labels'}: no row has the field {label_field!r}.{suggest(label_field, fields)} The rows have: "
            f"{', '.join(fields)}. Name the field of the labels with --label-field"
        )
    for each, field in ((each, field) for each in rows for field in (label_field, grade_field)):
        if isinstance(each.row.get(field), list | dict):
            raise DatasetError(
                f"{each.where}: field {field!r} is {each.row[field]!r:.60}; expected a text or a number"
            )


def _template(given: str) -> str:
    """The text of a template, which may be in a file; or the name of a built-in or installed one. Raises UsageError for a text
    that does not show the judge what it grades, and NotFoundError for a file that is not there."""
    text, file = given, expand_home(given) if len(given) < _LONGEST_NAME and "\n" not in given else None
    if file is not None and file.is_file():
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--template {given}: the file cannot be read: {error}") from None
    elif file is not None and file.suffix in _TEXT_FILES and "{" not in given:
        raise NotFoundError(f"--template {given}: there is no such file")
    elif JudgeTemplate.named(given) is not None:
        return given
    if "response" not in JudgeTemplate.fields_of(text):
        raise UsageError(
            f"--template {given[:60]}: it has no {{response}}, so that the judge would not see the text that it grades. Write "
            "{question}, {response} and {reference} where the judge should read them"
        )
    return text


def _worth(grade: str, score: object) -> float:
    worth = finite_number(score)
    if worth is None:
        raise UsageError(
            f"score_mapping: {grade!r} is {score!r:.60}; expected the number that this grade is worth"
        )
    return worth


def _read(labels: str | os.PathLike[str] | Sequence[Mapping[str, Any]]) -> list[Labelled]:
    if not isinstance(labels, str | os.PathLike):
        return [Labelled(f"label {number}", dict(row)) for number, row in enumerate(labels)]
    try:
        found = labelled_rows(labels)
    except DatasetError as error:
        if "://" in os.fspath(labels) or expand_home(labels).exists():
            raise
        raise NotFoundError(str(error)) from None  # as for a target that is not there
    if not found:
        raise DatasetError(f"{Path(labels).name} has no rows")
    return found


def _recorded(
    run: int | str | RunResult, field: str, workspace: _Place
) -> tuple[RunRecord, dict[tuple[int, int], JudgedSample | None]]:
    """A run, and the grade of each of its samples and repeats; None: it has none."""
    with _session(workspace) as session:
        store, place = session.recorded(), session.workspace
        if store is None:
            raise NotFoundError(f"there are no runs in {place.root} yet")
        record = find_run(store, run, 0, place)
        found: dict[tuple[int, int], JudgedSample | None] = {}
        names: set[str] = set()
        for each in Clusters().samples(FoundRun.of(record, store).samples, ScoreColumns()):
            scores = each.scores or {}
            names.update(scores)
            graded = SampleRecord.graded(scores, field)
            found[each.row, each.repeat] = (
                None if graded is None else JudgedSample(each.cluster, recorded_grade(graded[0]), graded[1])
            )
    if not names:
        raise NotFoundError(
            f"run {record.id} has no grades: none of its {len(found):,} samples has a score, for example because the judge did not "
            f"answer. See: benchwright show {record.id} --failed"
        )
    if field not in names:
        raise NotFoundError(
            f"run {record.id} has no {field!r}.{suggest(field, names)} Its scores: {', '.join(sorted(names)) or 'none'}"
        )
    return record, found


def _doubts(run: RunRecord) -> Iterator[str]:
    """What the notes of a run say against its grades: older than the run, of the demo model, or missing."""
    if run.summary is not None and run.kind == RunKind.BENCHMARK:  # a workflow has no such notes
        summary = RunSummary.from_json(run.summary)
        for note in summary.notes:
            if summary.note_grades.get(note) != NoteGrade.INFORMATION:
                yield note


def _ask(
    rows: Sequence[Labelled],
    judge: Mapping[str, Any] | JudgeConfig,
    template: str,
    criteria: str,
    mapping: Mapping[str, float] | None,
    workspace: _Place,
) -> RunResult:
    """Let the judge grade the labelled rows in a run; its replies are recorded and cached like any others."""
    from benchwright.benchmarks import BenchmarkSpec
    from benchwright.runs._functions import run
    from benchwright.scorers import judge_score

    for each in rows:
        if not isinstance(each.row.get("response"), str):
            raise DatasetError(
                f"{each.where}: field 'response' is {each.row.get('response')!r}; a judge needs the text that it grades"
            )
    target = next((name for name in TARGETS if name in rows[0].row), "target")
    JudgeConfig.of(judge)  # raises before a run is created

    def graded(sample: ScorerInput) -> Scores:
        return judge_score(sample, template=template, criteria=criteria, score_mapping=mapping)

    # No decorator, because it would register the definition, which changes with each call.
    spec = BenchmarkSpec(
        name="judge-calibrate", key="judge_calibrate", dataset=[each.row for each in rows], prompt="{question}",
        scorer=graded, target_field=target, response_field="response", config={"judge": judge}, base_dir=Path.cwd(),
    )  # fmt: skip
    vars(graded)["_benchmark"] = spec
    result = run(graded, workspace=_root(workspace))
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
