"""The demo model as a judge: compare a response with a reference and give one of the grades in the prompt."""

from __future__ import annotations

import re

from benchwright.core import late_pattern
from benchwright.demo._numbers import FIGURE, Solved, number_of

_RESPONSE = r"(?:model |student |candidate |submitted |assistant |ai )?(?:response|submission|prediction|output|answer)"
_REFERENCE = r"(?:the )?(?:reference|gold|expected|correct|target|ground[- ]truth|ideal)(?: (?:answer|response|output|solution))?"
_SECTION = late_pattern(
    rf"^[ \t>*#\[<]*(?:(?P<reference>{_REFERENCE})|(?P<response>{_RESPONSE}(?: to (?:grade|judge|evaluate|check|rate))?)"
    r"|(?P<other>question|prompt|task|context)"
    r"|(?P<rules>instructions?|criteria|evaluation criteria|grades?|rules|rubric))"
    r"[ \t]*(?:\([^)\n]*\))?[ \t*\]>]*(?::|$|(?<=>)|(?<=\]))[ \t*]*",
    re.IGNORECASE | re.MULTILINE,
)
_END_TAG = late_pattern(r"</[\w -]+>|\[/?(?:END|BEGIN)[^\]\n]*\]", re.IGNORECASE)
_GRADES = late_pattern(
    r"GRADE:[ \t]*[`'\"<\[({]*([A-Za-z0-9]+(?:(?:[ \t]*(?:\||/|,|-|–|or|to)[ \t]*)+(?!GRADE)[A-Za-z0-9]+)*)"
)
_SPLIT = late_pattern(r"[ \t]*(?:\||/|,|-|–|\bor\b|\bto\b)[ \t]*")
_RANGE = late_pattern(r"(?<![\d.])(\d{1,3})[ \t]*(?:to|-|–|and)[ \t]*(\d{1,3})(?![\d.]*\d)")
_LISTED = late_pattern(
    r"^[ \t*-]*(?:GRADE:[ \t]*)?\**\"?'?([A-Z]+|\d{1,2})\"?'?\**[ \t]*(?:[-:=–—)]|\bif\b|\bmeans\b)",
    re.MULTILINE,
)
_NORMAL = late_pattern(r"[^\w\s.-]+")


def grade(text: str) -> Solved:
    """Grade the response in a judge prompt."""
    grades = _grades_of(text)
    response, reference = _sections(text)
    likeness = _likeness(response, reference)
    best_first = sorted(grades, key=int, reverse=True) if all(g.isdigit() for g in grades) else grades
    right = best_first[_rank(likeness, len(best_first))]
    steps = f"The response agrees with the reference to {likeness:.0%}."
    return Solved("grade", right, tuple(best_first), steps)


def _rank(likeness: float, grades: int) -> int:
    """Return the index of the grade, best first, for a likeness; the best grade needs nearly full agreement."""
    if grades == 2:
        return 0 if likeness >= 0.6 else 1
    return 0 if likeness >= 0.9 else min(1 + int((1.0 - likeness) * (grades - 1)), grades - 1)


def _grades_of(text: str) -> list[str]:
    """Find the grades that a prompt allows, best first: from `GRADE: C or GRADE: I`, a range, or a list of letters."""
    grades: list[str] = []
    for match in _GRADES.finditer(text):
        grades += [part for part in _SPLIT.split(match.group(1)) if _is_grade(part)]
    spread = _RANGE.search(text, text.find("GRADE:"))
    if spread is None and len(set(grades)) < 2:
        spread = _RANGE.search(text)
    if spread is not None and all(grade.isdigit() for grade in grades):
        low, high = int(spread.group(1)), int(spread.group(2))
        if low < high <= low + 100:
            return [str(value) for value in range(low, high + 1)]
    if len(set(grades)) < 2:
        grades += filter(_is_grade, _LISTED.findall(text))
    unique = list(dict.fromkeys(grades))
    return unique if len(unique) > 1 else ["C", "I"]


def _is_grade(text: str) -> bool:
    return text.isdigit() or (text.isupper() and text != "X" and len(text) <= 16)


def _sections(text: str) -> tuple[str, str]:
    """Find the response and the reference of a judge prompt; each is empty if there is none."""
    marks = list(_SECTION.finditer(text))
    response = reference = ""
    for at, mark in enumerate(marks):
        after = marks[at + 1] if at + 1 < len(marks) else None
        body = _END_TAG.split(text[mark.end() : after.start() if after else len(text)], maxsplit=1)[0]
        if (
            after is None or after.lastgroup == "rules"
        ):  # instructions follow the last section after a blank line
            body = "" if body.startswith("\n\n") else body.strip().split("\n\n", 1)[0]
        body = body.strip()
        if mark.lastgroup == "response" and body:
            response = body
        elif mark.lastgroup == "reference" and body:
            reference = body
    return response, reference


def _likeness(response: str, reference: str) -> float:
    a = " ".join(_NORMAL.sub(" ", response.lower()).split()).strip(" .")
    b = " ".join(_NORMAL.sub(" ", reference.lower()).split()).strip(" .")
    if not a or not b:
        return 0.0 if b else (1.0 if a else 0.0)
    if a == b or f" {b} " in f" {a} ":
        return 1.0
    expected, given = FIGURE.fullmatch(b[:41]), FIGURE.findall(a)
    if expected is not None:
        return 1.0 if given and len(given[-1]) <= 40 and number_of(given[-1]) == number_of(b) else 0.0
    left, right = a.split(), b.split()
    shared = len(set(left) & set(right))
    return min(0.99, 2 * shared / (len(set(left)) + len(set(right))))
