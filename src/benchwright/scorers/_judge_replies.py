"""Reads the grade in a judge's reply: a pure function of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from benchwright.scorers._patterns import matches_of

_JSON_KEYS = ("grade", "score", "rating", "verdict")
_MARKUP = "*_`\"'[](){}<>$"
# "GRADE:", with the bold, quotes and brackets that judges put around it and around the grade.
_STATEMENT = re.compile(r"(?i)\bgrade[*_`\"']*\s*[:=：][\s*_`\"'\[(<{$]*(?:\\boxed\{\s*)?")
# A line with a statement and nothing else.
_ALONE = re.compile(rf"[\s#>\-*_`\"']*{_STATEMENT.pattern.removeprefix('(?i)')}\S+\s*", re.IGNORECASE)
# Marks the statement after it as one of several alternatives, as in the question: GRADE: C or GRADE: I.
_ALTERNATIVE = re.compile(r"(?i)(?:\bor|/|\|)[\s*_`\"'\[(<{$]*\Z")
_BEGUN_OBJECT = re.compile(r"\s*(?:```\w*\s*)?\{\s*\"")
# A key with its value; quotes inside a text would have a backslash.
_KEY = re.compile(r"(?i)(?<!\\)\"grade\"\s*:\s*(?:\"[^\"\\]*\"|[\w.+-]+)")
_DECODER = json.JSONDecoder()


def stated_grade(reply: str, grades: Mapping[str, str], *, closed: bool = False) -> str | None:
    """The grade after the last `GRADE:` that can be read; bold, brackets and case do not matter.

    `grades` maps spellings in upper case to the grade they mean. Numbers can be read too; if the grades are `closed`, only
    numbers that equal one of them. A last statement that is alone on its line and cannot be read ends the search, because
    an earlier grade would not be the judge's last word. A statement that leaves a choice, such as `C or I`, is not a
    grade.

    >>> stated_grade("GRADE: I. No, on reflection: GRADE: **c**", {"C": "C", "I": "I"})
    'C'
    """
    reply = _without_objects(reply)
    known = _any_of(tuple(grades))
    choice = _choice_of(tuple(grades))
    for statement in reversed(list(_STATEMENT.finditer(reply))):
        match = known.match(reply, statement.end()) if known else None
        before = reply[: statement.start()].rpartition("\n")[2]
        if choice.match(reply, statement.end()) or _is_alternative(before):
            if not before.strip(_MARKUP + "#->: \t\r"):  # it is at the start of its line
                return None
            continue
        if match:
            return grades[" ".join(match[0].upper().split())]
        words = reply[statement.end() :].partition("\n")[0].split()
        grade = words[0].rstrip(_MARKUP + ".,;:!") if words else ""
        if is_number(grade) and (not closed or same_number(grade, grades.values()) is not None):
            return grade
        if len(words) == 1:
            return None
    return None


def finished_statements(reply: str, grades: Mapping[str, str]) -> str:
    """The lines of a reply that was cut off which consist of a statement alone. Others may only consider a grade. The last line
    counts if its grade cannot go on: `1` may be the beginning of 10.

    >>> finished_statements("Is it GRADE: C? No.\\n**GRADE: I**\\nA better answer would be GRADE: C if", {})
    '**GRADE: I**'
    >>> finished_statements("GRADE: 1", {}), finished_statements("GRADE: 1\\n", {})
    ('', 'GRADE: 1')
    """
    *lines, last = reply.split("\n")
    found = [line for line in lines if _ALONE.fullmatch(line)]
    if _ALONE.fullmatch(last) and not _may_go_on(last, grades):
        found.append(last)
    return "\n".join(found)


def _may_go_on(line: str, grades: Mapping[str, str]) -> bool:
    """Whether the grade at the end of a line may be the beginning of another one."""
    begun = line[[each.end() for each in _STATEMENT.finditer(line)][-1] :].strip().upper()
    if begun not in grades and begun[-1:] in "0123456789.,+-":
        return True
    return len({grade for spelling, grade in grades.items() if spelling.startswith(begun)}) > 1


def stated_words(reply: str) -> str:
    """The text after the last `GRADE:`, up to the end of its line; empty if there is none."""
    statements = list(_STATEMENT.finditer(reply))
    if not statements:
        return ""
    return reply[statements[-1].end() :].partition("\n")[0].strip().strip(_MARKUP + ".,;:!")


def pattern_grade(reply: str, pattern: re.Pattern[str]) -> str | None:
    """Group 1 (or the whole match, without groups) of the last match that has one."""
    grade = None
    for found in matches_of(pattern, reply):
        if found is not None and _bare(found):
            grade = _bare(found)
    return grade


def json_grade(reply: str, *, whole: bool) -> str | None:
    """The grade in the reply's JSON: of the whole reply, or of the last object in it that has one.

    The keys `grade`, `score`, `rating`, `verdict` are tried in this order, outer objects before inner.

    >>> json_grade('Here: {"result": {"grade": "C"}}', whole=False)
    'C'
    """
    if whole:
        try:
            return _grade_in(json.loads(reply))
        except (ValueError, RecursionError):
            return None
    grade = None
    for _, _, value in _objects(reply):
        grade = _grade_in(value) or grade
    return grade


def _without_objects(reply: str) -> str:
    """The reply in which each JSON object that has a grade is replaced by this grade, or by nothing if it has another name.
    Other texts in the object may quote a grade, such as one that the judged response claims for itself. Of an object that was
    cut off, only its keys count."""
    parts, last = [], 0
    for start, end, value in _objects(reply) if _STATEMENT.search(reply) else ():
        if _grade_in(value) is not None:
            stated = _grade_in(value, _JSON_KEYS[:1])
            parts += [reply[last:start], "" if stated is None else f'"{_JSON_KEYS[0]}": "{stated}"']
            last = end
    rest = reply[last:]
    cut = _BEGUN_OBJECT.match(rest) and next(_objects(rest), None) is None
    return "".join(parts) + (" ".join(_KEY.findall(rest)) if cut else rest)


def is_number(grade: str) -> bool:
    """Whether the grade is a finite number."""
    try:
        value = float(grade)
    except ValueError:
        return False
    return value - value == 0


def same_number(grade: str, grades: Iterable[str]) -> str | None:
    """The one of `grades` that is the same number: a judge that writes 4.0 means the listed 4."""
    return next((known for known in grades if is_number(known) and float(known) == float(grade)), None)


def _bare(grade: str) -> str:
    return grade.strip().strip("*`").strip()


@lru_cache(maxsize=64)
def _any_of(spellings: tuple[str, ...]) -> re.Pattern[str] | None:
    if not spellings:
        return None
    longest_first = sorted(spellings, key=len, reverse=True)
    words = "|".join(r"\s+".join(map(re.escape, spelling.split())) for spelling in longest_first)
    # The grade must end there: "GRADE: incomplete" is not I, "GRADE: 4.5" is not 4, "GRADE: A-" is not A.
    return re.compile(rf"(?i)(?:{words})(?!\w|[.,]\d|[+\-])")


@lru_cache(maxsize=64)
def _choice_of(spellings: tuple[str, ...]) -> re.Pattern[str]:
    """Matches several alternatives: `C or I`, `C/I`, `C, P or I`, `4 or 5`; not `4/5`, which is 4 of 5."""
    one = "|".join(r"\s+".join(map(re.escape, spelling.split())) for spelling in spellings)
    number = r"[+-]?\d+(?:\.\d+)?"
    one = f"(?:{one}|{number})" if one else number
    around = r"[\s*_`\"'\[\](){}<>$]{0,6}"  # bounded: judges may add a page of white space
    stated = rf"(?:grade{around}[:=]{around})?"
    return re.compile(
        rf"(?i){one}(?:{around},{around}{stated}{one})*{around},?{around}"
        rf"(?:\bor\b|\||/(?!{around}\d))(?:\s+(?:maybe|perhaps|possibly))?{around}{stated}{one}(?!\w)"
    )


def _is_alternative(before: str) -> bool:
    """Whether a statement is one of several alternatives, judged by the text before it on its line."""
    return _ALTERNATIVE.search(before) is not None and _STATEMENT.search(before) is not None


_MOST_TRIES = 1_000
"""Braces that are tried from the start; after them, only as many of the last ones: the last object decides."""
_LONGEST_OBJECT = 65_536
"""Characters that are read of an object. An error counts the lines before it, so a long text would cost its length each time."""


def _objects(text: str) -> Iterator[tuple[int, int, object]]:
    """The outermost JSON objects in a text, in order, each with its start and end, up to one that is nested too deeply.

    That one is not searched, because each of its thousands of braces would cost as much as the first.
    """
    start, tries = text.find("{"), 0
    while start >= 0:
        try:
            value, length = _DECODER.raw_decode(text[start : start + _LONGEST_OBJECT])
        except RecursionError:
            return
        except ValueError:
            length = 1
        else:
            yield start, start + length, value
        start = text.find("{", start + length)
        tries += 1
        if tries == _MOST_TRIES and start >= 0:
            start = max(start, _last_braces(text))


def _last_braces(text: str) -> int:
    """Where the last braces begin that are tried."""
    place = len(text)
    for _ in range(_MOST_TRIES):
        place = max(text.rfind("{", 0, place), 0)
    return place


def _grade_in(value: object, keys: Sequence[str] = _JSON_KEYS) -> str | None:
    layer = [value]
    while layer:
        inner: list[object] = []
        for item in layer:
            if isinstance(item, dict):
                for key in keys:
                    found = item.get(key)
                    if isinstance(found, str | int | float) and _bare(str(found)):
                        return _bare(str(found))
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        layer = inner
    return None
