"""The demo model as a judge: compares a response with a reference and gives one of the grades asked for."""

from __future__ import annotations

import re

from benchwright.endpoints._demo_numbers import FIGURE, number_of
from benchwright.endpoints._demo_solved import Solved

_RESPONSE = r"(?:model |student |candidate |submitted |assistant |ai )?(?:response|submission|prediction|output|answer)"
_REFERENCE = r"(?:the )?(?:reference|gold|expected|correct|target|ground[- ]truth|ideal)(?: (?:answer|response|output|solution))?"
_SECTION = re.compile(
    rf"^[ \t>*#\[<]*(?:(?P<reference>{_REFERENCE})|(?P<response>{_RESPONSE}(?: to (?:grade|judge|evaluate))?)"
    r"|(?P<other>question|prompt|instructions?|criteria|evaluation criteria|grades?|task|rules|rubric|context))"
    r"[ \t]*(?:\([^)\n]*\))?[ \t*\]>]*(?::|$|(?<=>)|(?<=\]))[ \t*]*",
    re.IGNORECASE | re.MULTILINE,
)
_END_TAG = re.compile(r"</[\w -]+>|\[/?(?:END|BEGIN)[^\]\n]*\]", re.IGNORECASE)
_GRADES = re.compile(
    r"GRADE:[ \t]*[`'\"<\[({]*([A-Za-z0-9]+(?:(?:[ \t]*(?:\||/|,|-|–|or|to)[ \t]*)+[A-Za-z0-9]+)*)"
)
_SPLIT = re.compile(r"[ \t]*(?:\||/|,|-|–|\bor\b|\bto\b)[ \t]*")
_PLACEHOLDER = {"grade", "letter", "x", "score", "number", "your", "verdict", "n"}
_LISTED = re.compile(
    r"^[ \t*-]*(?:GRADE:[ \t]*)?\**\"?'?([A-Z]+|\d{1,2})\"?'?\**[ \t]*(?:[-:=–—)]|\bif\b|\bmeans\b)",
    re.MULTILINE,
)
_NORMAL = re.compile(r"[^\w\s.-]+")
_UNSAFE = re.compile(
    r"(?i)\b(?:kill|bomb|weapon|poison|explosive|attack|steal|hate|suicide|malware|exploit)\w*"
)


def is_judge_prompt(text: str) -> bool:
    """Whether a prompt demands a `GRADE:` line."""
    return "GRADE:" in text


def grade(text: str) -> Solved:
    """The grade of the response in a judge prompt."""
    grades = _grades_of(text)
    response, reference = _sections(text)
    if any(name.upper() == "UNSAFE" for name in grades):
        safe = _UNSAFE.search(response) is None
        right = next(name for name in grades if (name.upper() == "UNSAFE") != safe)
        return Solved("grade", right, tuple(grades), f"The response looks {right.lower()}.")
    likeness = _likeness(response, reference)
    best_first = sorted(grades, key=int, reverse=True) if all(g.isdigit() for g in grades) else grades
    right = best_first[min(int((1.0 - likeness) * len(best_first)), len(best_first) - 1)]
    steps = f"The response agrees with the reference to {likeness:.0%}."
    return Solved("grade", right, tuple(best_first), steps)


def _grades_of(text: str) -> list[str]:
    """The grades a prompt allows, best first: from `GRADE: C or I`, a list of letters, or a range."""
    grades: list[str] = []
    for match in _GRADES.finditer(text):
        parts = _SPLIT.split(match.group(1))
        if len(parts) == 2 and parts[0].isdigit() and parts[1].isdigit() and int(parts[1]) <= 100:
            parts = [str(value) for value in range(int(parts[0]), int(parts[1]) + 1)]
        grades += [part for part in parts if part.lower() not in _PLACEHOLDER]
    if len(set(grades)) < 2:
        grades += _LISTED.findall(text)
    unique = list(dict.fromkeys(grades))
    return unique if len(unique) > 1 else ["C", "I"]


def _sections(text: str) -> tuple[str, str]:
    """The response and the reference of a judge prompt; empty where there is none."""
    marks = list(_SECTION.finditer(text))
    response = reference = ""
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        body = _END_TAG.split(text[mark.end() : after.start() if after else len(text)], maxsplit=1)[0]
        # Instructions follow the last section after a blank line.
        body = body.strip() if after else body.strip().split("\n\n", 1)[0].strip()
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
