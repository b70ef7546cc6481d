"""Labels in a sheet: a run's samples with the labels that people gave, written to a file and read back.

The columns are those of `samples.parquet`, the judge's `grade` and a person's `label` as `judge-calibrate` names them, and one column
for each other kind of label.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchwright.core import (
    BenchwrightError,
    DamagedRecordError,
    DatasetError,
    NotFoundError,
    UsageError,
    clause,
    encode_json,
    expand_home,
    load_data_json,
    suggest,
)
from benchwright.reports import write_rows
from benchwright.results import LabelList, StoreSamples
from benchwright.runs._labels import NO, YES, as_text, labelled_rows
from benchwright.runs._run_grades import run_grades
from benchwright.store import LABEL_KINDS, Label, RunRecord, Store

FORMATS = ("csv", "xlsx", "jsonl")
"""What labels are written as, by the ending of the file."""
OF_SAMPLES = ("sample_id", "repeat", "prompt", "response", "target", "outcome", "grade")
"""Columns that show the sample."""
OF_LABELS = (
    "label", "gold_wrong", "right_target", "ambiguous", "extraction_wrong", "right_reading", "tags", "note",
)  # fmt: skip
"""Columns that people fill in."""
COLUMNS = (*OF_SAMPLES, *OF_LABELS, "who", "row_id")
"""All columns; `row_id` identifies the row, so that no label gets to another one."""
_REMOVED = "-"
"""What takes a label away; an empty cell changes nothing."""
_YES = YES | {"x"}
_MOST_NAMED = 20
"""Problems that an error names."""


def export_labels(store: Store, run: RunRecord, file: str | os.PathLike[str]) -> tuple[Path, int]:
    """Write all samples of a run with their labels, one line for each person who labelled a sample. Returns the file and its lines."""
    path = expand_home(file)
    kind = _format(path)
    try:
        return path, write_rows(path, kind, _lines(store, run))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another file") from None
    except DamagedRecordError:
        raise
    except ValueError as error:
        raise UsageError(
            f"{path} cannot be written: {clause(error)}; choose another format: labels.jsonl"
        ) from None


def _format(path: Path) -> str:
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise UsageError(
            f"{path}: labels are written and read as {', '.join(f'.{each}' for each in FORMATS)}.{suggest(ending, FORMATS)}"
        )
    return ending


def _lines(store: Store, run: RunRecord) -> Iterator[list[Any]]:
    yield list(COLUMNS)
    rows = {(index, repeat): row for index, repeat, row, _ in _places(store, run.id)}
    labels: dict[str, list[Label]] = {}
    for label in store.labels({row for *_, row in store.labelled(run.id)}):
        labels.setdefault(label.row, []).append(label)
    for view in StoreSamples.views(store, run.id):
        row = rows.get((view.sample_id, view.repeat), "")
        reply = Label.reply_id(view.response)
        given = [label for label in labels.get(row, ()) if label.applies_to(reply)]
        grade = (view.scores or {}).get("judge_grade")
        shown = [view.sample_id, view.repeat, view.prompt, view.response, view.target, view.outcome, grade]
        for who in dict.fromkeys([label.who for label in given]) or [None]:
            own = {label.kind: label.value for label in given if label.who == who and label.kind != "tag"}
            tags = sorted(str(label.value) for label in given if label.who == who and label.kind == "tag")
            yield [
                *shown,
                own.get("judge"),
                "yes" if "gold" in own else None,
                own.get("gold"),
                "yes" if "ambiguous" in own else None,
                "yes" if "extraction" in own else None,
                own.get("extraction"),
                _tags_cell(tags),
                own.get("note"),
                who,
                row,
            ]


def _places(store: Store, run_id: int) -> Iterator[tuple[int, int, str, bytes]]:
    for index, repeat, digest, record in store.scored(run_id):
        yield index, repeat, digest.hex(), record


def _tags_cell(tags: list[str]) -> str | None:
    if any("," in tag or tag.startswith("[") for tag in tags):
        return encode_json(tags).decode()
    return ", ".join(tags) or None


def import_labels(
    store: Store, run: RunRecord, file: str | os.PathLike[str], who: str
) -> tuple[str, Counter[str]]:
    """Read labels from a file and record them. Empty cells change nothing, `-` takes one's label away. Returns the file, and how many labels were
    `added`, `changed`, `removed`, and `unchanged`. Raises DatasetError with every
    line that cannot be used, and then records nothing."""
    path = expand_home(file)
    _format(path)
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    reader = _LabelLines(store, run, who)
    for each in labelled_rows(path):
        reader.read(each.where, each.row)
    if reader.problems:
        more = len(reader.problems) - _MOST_NAMED
        listed = "\n".join(reader.problems[:_MOST_NAMED]) + (f"\n… and {more:,} more" if more > 0 else "")
        raise DatasetError(f"{listed}\nNothing was imported.")
    if not reader.lines:
        raise DatasetError(f"{path.name} has no rows")
    return str(path), reader.recorded()


class _LabelLines:
    """Reads lines of a file, and keeps what they say until all were read."""

    def __init__(self, store: Store, run: RunRecord, who: str) -> None:
        self._store, self._run, self._who = store, run, who
        self._rows = {(index, repeat): row for index, repeat, row, _ in _places(store, run.id)}
        self._elsewhere = {
            (row, repeat): (index, repeat) for (index, repeat), row in reversed(self._rows.items())
        }
        """The first sample of each row and repeat."""
        self._grades = run_grades(store, run.id)
        self._said: dict[str, tuple[str, Label]] = {}
        self._taken: list[Label] = []
        self.problems: list[str] = []
        self.lines = 0

    def read(self, where: str, row: Mapping[str, Any]) -> None:
        self.lines += 1
        try:
            if not any(name in row for name in OF_LABELS):
                fields = ", ".join(map(str, row))
                raise UsageError(
                    f"the row has no column of a label ({', '.join(OF_LABELS)}); it has {fields}"
                )
            if any(_filled(row.get(name)) for name in OF_LABELS):
                self._read(where, row)
        except BenchwrightError as error:
            self.problems.append(f"{where}: {clause(error)}")

    def _read(self, where: str, row: Mapping[str, Any]) -> None:
        index, repeat = _number(row, "sample_id", None), _number(row, "repeat", 0)
        known = self._rows.get((index, repeat))
        if _filled(row.get("row_id")) and str(row["row_id"]) != known:  # of a run with another order
            index, repeat = self._elsewhere.get((str(row["row_id"]), repeat), (index, repeat))
            known = self._rows.get((index, repeat))
        if known is None:
            raise UsageError(
                f"run {self._run.id} has no sample {index}, repeat {repeat}; it has {len(self._rows):,} samples"
            )
        if _filled(row.get("row_id")) and str(row["row_id"]) != known:
            raise UsageError(
                f"field 'row_id': sample {index} of run {self._run.id} is another row than that of this line. Import the file with the run "
                "that it was exported from, or another one on the same data"
            )
        who = str(row["who"]) if _filled(row.get("who")) else self._who
        for kind, value, name in _labels_in(row):
            blank = Label(
                row=known, kind=kind, who=who, created_at=time.time(), run_id=self._run.id, sample_id=index,
                repeat=repeat, value=value, reply=self._reply(kind, index, repeat),
            )  # fmt: skip
            if value == _REMOVED:
                self._taken.append(blank)
                continue
            try:
                if kind == "judge" and value is not None:
                    blank = replace(blank, value=LabelList.one_of(value, self._grades, self._run.id))
                label = blank.checked()
            except UsageError as error:
                raise UsageError(f"field {name!r}: {clause(error)}") from None
            earlier = self._said.get(label.key)
            if earlier is not None and earlier[1].value != label.value:
                raise UsageError(
                    f"field {name!r} is {label.value!r}, and {earlier[0]} says {earlier[1].value!r} of the same "
                    f"{'reply' if label.reply else 'row'}; keep one"
                )
            self._said[label.key] = where, label

    def _reply(self, kind: str, index: int, repeat: int) -> str | None:
        if not LABEL_KINDS[kind].of_reply:
            return None
        views = StoreSamples.views(self._store, self._run.id, index)
        return next((Label.reply_id(view.response) for view in views if view.repeat == repeat), None)

    def recorded(self) -> Counter[str]:
        """Record what the lines say. Returns how many labels were `added`, `changed`, `removed`, and `unchanged`."""
        rows = {label.row for _, label in self._said.values()} | {label.row for label in self._taken}
        before = {label.key: label for label in self._store.labels(rows)}
        counts: Counter[str] = Counter()
        for taken in self._taken:
            gone = [
                key
                for key, label in before.items()
                if (label.row, label.kind, label.reply, label.who)
                == (taken.row, taken.kind, taken.reply, taken.who)
            ]
            for key in gone:
                self._store.remove_label(before.pop(key).id)
            counts["removed"] += len(gone)
        for _, label in self._said.values():
            kept = self._store.add_label(label)
            old = before.get(label.key)
            counts["added" if old is None else "unchanged" if old == kept else "changed"] += 1
        return counts


def _labels_in(row: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    """What a line says: kind, value, and the column. The value `-` takes the label away."""
    for kind, flag, column in (
        ("gold", "gold_wrong", "right_target"),
        ("extraction", "extraction_wrong", "right_reading"),
    ):
        value, marked = _cell(row, column), _marked(row, flag)
        if value == _REMOVED or marked == _REMOVED:
            yield kind, _REMOVED, flag
        elif value is not None and marked is False:
            raise UsageError(f"field {column!r} is {value!r}, and {flag!r} says no; change one of them")
        elif value is not None or marked:
            yield kind, value, column if value is not None else flag
    if (ambiguous := _marked(row, "ambiguous")) is not None and ambiguous is not False:
        yield "ambiguous", _REMOVED if ambiguous == _REMOVED else None, "ambiguous"
    for kind, column in (("judge", "label"), ("note", "note")):
        if (value := _cell(row, column)) is not None:
            yield kind, value, column
    for tag in _tags(row):
        yield "tag", tag, "tags"


def _tags(row: Mapping[str, Any]) -> list[str]:
    value = row.get("tags")
    if isinstance(value, str) and value.startswith("["):
        try:
            value = load_data_json(value)
        except ValueError as error:
            raise UsageError(f"field 'tags' is not a list of texts: {clause(error)}") from None
    if isinstance(value, list):
        return [str(each) for each in value]
    return [tag.strip() for tag in (_cell(row, "tags") or "").split(",") if tag.strip()]


def _filled(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _cell(row: Mapping[str, Any], column: str) -> str | None:
    value = row.get(column)
    if not _filled(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    text = as_text(value)
    return text[1:] if text[:1] == "'" and text[1:2] in "=+-@\t\r" and len(text) > 1 else text


def _marked(row: Mapping[str, Any], column: str) -> bool | str | None:
    """Whether a column is marked; `-` if its label goes, None if it says nothing."""
    text = _cell(row, column)
    if text is None or text == _REMOVED:
        return text
    word = text.strip().lower()
    if word not in _YES | NO:
        raise UsageError(
            f"field {column!r} is {text!r}; write yes, leave it empty, or write - to take the label away"
        )
    return word in _YES


def _number(row: Mapping[str, Any], column: str, default: int | None) -> int:
    value = row.get(column)
    if not _filled(value):
        value = default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(
            f"field {column!r} is {value!r}; expected the number of a sample, as `benchwright labels RUN --export FILE` writes it"
        )
    return value
