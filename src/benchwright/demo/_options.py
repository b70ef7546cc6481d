"""Multiple choice of the demo model: finds the lettered options and picks one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from benchwright.demo._numbers import FIGURE, number_of
from benchwright.demo._solved import Solved

_LINE = re.compile(r"^[ \t]*(?:\(([A-Za-z])\)|([A-Z])[.):]|([a-z])\))[ \t]*(\S[^\n]*)", re.MULTILINE)
_INLINE = re.compile(
    r"(?:(?<=\s)|^)(?:\(([A-Z])\)|([A-Z])\))\s{0,9}(.*?)(?=\s{1,9}\(?[A-Z]\)|\s{0,9}\Z)", re.DOTALL
)
_WORD = re.compile(r"\w{4,}")


class Options(NamedTuple):
    """A question and its options."""

    stem: str
    """What is asked, without the options."""
    labels: tuple[str, ...]
    """The letters, as written."""
    texts: tuple[str, ...]
    """What each letter stands for."""


def find_options(block: str) -> Options | None:
    """The last complete run of options A, B, … in a question, or None.

    >>> find_options("Which?\\nA) x\\nB) y").labels
    ('A', 'B')
    """
    found: list[tuple[str, str, int]] = []
    for match in _LINE.finditer(block):
        round_, upper, lower, text = match.groups()
        found.append((round_ or upper or lower, text.strip(), match.start()))
    options = _last_run(block, found)
    if options is not None or ")" not in block:
        return options
    found = [
        (m.group(1) or m.group(2), m.group(3).strip(" ,;\n"), m.start()) for m in _INLINE.finditer(block)
    ]
    return _last_run(block, found)


def _last_run(block: str, found: list[tuple[str, str, int]]) -> Options | None:
    for first in range(len(found) - 2, -1, -1):
        letter = found[first][0]
        if letter not in "Aa":
            continue
        length = 1
        while first + length < len(found) and ord(found[first + length][0]) == ord(letter) + length:
            length += 1
        if length < 2:
            continue
        run = found[first : first + length]
        stem = block[: run[0][2]].strip()
        return Options(stem, tuple(label for label, _, _ in run), tuple(text for _, text, _ in run))
    return None


def choose(options: Options, solve_stem: Callable[[str], Solved], bits: int) -> Solved:
    """The option that the stem's own answer names; failing that, the one closest in words, or by chance."""
    solved = solve_stem(options.stem)
    at = None if solved.kind in ("guess", "essay") else _matching(options.texts, solved)
    if at is None:
        at = _closest(options, bits)
        kind = "guess"
    else:
        kind = "option"
    label, text = options.labels[at], options.texts[at]
    same = (text, f"{label}. {text}", f"({label})")
    return Solved("option" if kind == "option" else "guess", label, options.labels, solved.steps, same)


def _matching(texts: tuple[str, ...], solved: Solved) -> int | None:
    right = solved.right.strip().lower()
    lowered = [text.strip(" .").lower() for text in texts]
    for at, text in enumerate(lowered):
        if text == right or text in solved.same:
            return at
    if solved.kind == "number":
        value = number_of(right)
        for at, text in enumerate(lowered):
            figure = FIGURE.search(text)
            if (
                figure is not None
                and len(figure.group()) <= 40
                and abs(number_of(figure.group()) - value) < 1e-3
            ):
                return at
        return None
    for at, text in enumerate(lowered):
        if right in text and len(right) > 1:
            return at
    return None


def _closest(options: Options, bits: int) -> int:
    stem = {word.lower() for word in _WORD.findall(options.stem)}
    shared = [sum(word.lower() in stem for word in _WORD.findall(text)) for text in options.texts]
    best = max(shared)
    candidates = [at for at, count in enumerate(shared) if count == best]
    return candidates[bits % len(candidates)]
