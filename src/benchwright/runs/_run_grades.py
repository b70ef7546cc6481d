"""The grades that a run's judge may give, which are those that people may give as labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

import orjson

from benchwright.core import SampleRecord
from benchwright.runs._labels import recorded_grade
from benchwright.scorers import TEMPLATES
from benchwright.store import Store

_GRADE = b'"judge_grade"'
_MOST_READ = 2_000
"""Graded samples by which the scale is found."""
_STATED = re.compile(r"GRADE:[ \t]*(.+)")
_BETWEEN = re.compile(r"\s*(?:,|/|\||\bor\b|\band\b|GRADE:)\s*")
_RANGE = re.compile(r"(\d{1,2})\s*(?:-|–|to)\s*(\d{1,2})")
_MARKS = " \t.;`'\"*<>[](){}"


def graded_samples(store: Store, run_id: int) -> Iterator[tuple[int, int, str, float]]:
    """Row, repeat, grade and worth of every sample that a judge graded."""
    for index, repeat, _, record in store.scored(run_id):
        if _GRADE in record:
            found = SampleRecord.graded(SampleRecord.score_fields(record).get("scores"))
            if found is not None:
                yield index, repeat, recorded_grade(found[0]), found[1]


def run_grades(store: Store, run_id: int) -> list[str]:
    """The grades of a run's judge, the best first: those of the built-in template that has the recorded ones, else those that the
    question to the judge states, else the recorded ones. Empty for a run without a judge."""
    worth = {grade: score for _, _, grade, score in islice(graded_samples(store, run_id), _MOST_READ)}
    return scale_of(worth, _stated(store, run_id) if worth else [])


def scale_of(worth: Mapping[str, float], stated: list[str]) -> list[str]:
    """The grades of a scale, the best first, given what the recorded ones are worth and those that the question states.

    >>> scale_of({"I": 0.0}, []), scale_of({"good": 1.0}, ["good", "fair", "bad"]), scale_of({"bad": 0.0, "good": 1.0}, [])
    (['C', 'I'], ['good', 'fair', 'bad'], ['good', 'bad'])
    """
    for template in TEMPLATES.values():
        if worth and all(template.scores.get(grade) == score for grade, score in worth.items()):
            return sorted(template.scores, key=lambda grade: -template.scores[grade])
    known = sorted(worth, key=lambda grade: -worth[grade])
    return stated if known and {*known} <= {*stated} else known


def _stated(store: Store, run_id: int) -> list[str]:
    """The grades that the first question to a judge lists after its last `GRADE:`."""
    first = next(iter(sorted(store.calls(run_id, 0, 0, "judge").items())), None)
    if first is None or first[1].input is None:
        return []
    try:
        asked = str(orjson.loads(first[1].input)["messages"][0]["content"])
    except (ValueError, LookupError, TypeError):  # damaged
        return []
    lines = _STATED.findall(asked)
    return stated_grades(lines[-1]) if lines else []


def stated_grades(line: str) -> list[str]:
    """The grades in the text after `GRADE:`.

    >>> stated_grades("good, fair or bad"), stated_grades("C or GRADE: I"), stated_grades("one digit from 1 to 3")
    (['good', 'fair', 'bad'], ['C', 'I'], ['1', '2', '3'])
    """
    if (found := _RANGE.search(line)) is not None:
        low, high = int(found[1]), int(found[2])
        return [str(number) for number in range(low, high + 1)]
    return list(dict.fromkeys(filter(None, (part.strip(_MARKS) for part in _BETWEEN.split(line)))))
