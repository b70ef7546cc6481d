"""A reply in the form that rules read: without reasoning, emphasis, LaTeX markup and quotes, but with traceable places.

Rules read `ReplyText.text`; `ReplyText.span` returns the corresponding place in the reply, so that a report can mark the characters
that decided.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache

from benchwright.scorers._starts import WordStarts
from benchwright.scorers._stems import matches_at
from benchwright.scorers._triggers import may_match

HEAD_CHARS = 20_000
TAIL_CHARS = 100_000
"""Only the beginning and the end of a longer answer are read, so that rules stay fast on megabytes of text."""

# Reasoning in the tags that models and servers use. Text before a lone closing tag is reasoning too (prompt templates may
# contain the opening one), and so is everything after an opening tag that is never closed.
_THINKING = (
    r"(?P<open><(?:think|thinking|thought|reasoning|reflection|seed:think)>|\[THINK\]|<\|begin_of_thought\|>|◁think▷)"
    r"|</(?:think|thinking|thought|reasoning|reflection|seed:think)>|\[/THINK\]|<\|end_of_thought\|>|◁/think▷"
    r"|<\|channel\|>final<\|message\|>"
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
# Markup that says nothing about the answer. Each alternative begins with another character and is bounded, so that the
# search is linear.
_MARK = (
    rf"(?:\*\*+|(?<!\w)\*|\*(?!\w)|[`$\"“”„«»「」『』‘{_INVISIBLE}]|~~[^~\n]{{1,80}}~~|~~|(?<![^\W_])_+|_+(?![^\W_])"
    r"|(?<!\w)['’]|['’](?!\w)|(?m:^)\#{1,6}(?=\s)|(?m:^)>(?=\s)"
    r"|\\(?:text(?:bf|it|rm|tt|sf|sc)?|math(?:bf|it|rm|tt|sf|bb)|bf|rm|it|left|right|quad|displaystyle)(?![A-Za-z])"
    r"|\\[()\[\],;:! {}%$&#_]"
    r"|<\|[^<>|]{1,30}\|>|</?s>|<(?:eos|bos|end_of_turn)>"
    r"|</?(?:b|strong|i|em|u|p|br|span|div|code|pre|mark|font|center|sup|sub|h[1-6])(?:\s[^<>]{0,100})?/?>)"
)
# A single space or line break between words stays: most of a text needs no work.
# The characters that a gap can begin with come first: they rule out nearly every place at once, four times as fast.
_BEGINS = rf"*`$\"“”„«»「」『』‘’'~_\#>\\<{_INVISIBLE}"
_GAP = rf"(?=[{_BEGINS}]|\s[\s{_BEGINS}]|[^\S \n])(?:{_MARK}|\s(?=\s|{_MARK})|[^\S \n])(?:\s|{_MARK})*+"
_CUT = "_\n_"  # word characters, so that a word or number that was cut does not count as whole

# Wide letters, digits and signs as plain ones, circled letters as letters; one character for one.
_PLAIN = str.maketrans(
    {
        **{chr(0xFF01 + at): chr(0x21 + at) for at in range(94)},
        **{
            chr(first + at): chr(65 + at) for first in (0x24B6, 0x1F130, 0x1F150, 0x1F170) for at in range(26)
        },
        **{chr(0x24D0 + at): chr(97 + at) for at in range(26)},
        **dict(zip("。、【】〔〕〈〉《》−‐‑’⁄∕", ".,[][]<><>---'//", strict=True)),
    }
)


class ReplyText:
    """The readable text of a reply."""

    __slots__ = ("_at", "_lower", "_origin", "_spans", "_starts", "covered", "text", "unfinished")

    def __init__(self, reply: str) -> None:
        self._at: list[int] = [0]
        """Where each part begins in `text`."""
        self._origin: list[int] = [0]
        """Where it begins in the reply."""
        self.covered: list[tuple[int, int]] | None = None
        """Where the texts of options are that contain letters, once they are looked for."""
        self._lower: str | None = None
        self._starts: WordStarts | None = None
        self._spans: dict[str, list[tuple[int, int]]] = {}
        kept, self.unfinished = without_reasoning(reply)
        """`unfinished`: the reply ends inside its reasoning."""
        if kept == [(0, len(reply))] and len(reply) <= HEAD_CHARS and _gaps().search(reply) is None:
            self.text = reply if reply.isascii() else reply.translate(_PLAIN)
            return
        parts: list[str] = []
        length = 0
        self._at, self._origin = [], []
        for part, origin in _parts(reply, _windows(kept)):
            if part:
                parts.append(part)
                self._at.append(length)
                self._origin.append(origin)
                length += len(part)
        text = "".join(parts)
        self.text = text if text.isascii() else text.translate(_PLAIN)

    @property
    def lower(self) -> str:
        """`text` in lower case, character for character."""
        if self._lower is None:
            self._lower = lower_alike(self.text)
        return self._lower

    @property
    def starts(self) -> WordStarts:
        """Where patterns can begin in `text`, in any case."""
        if self._starts is None:
            self._starts = WordStarts(self.lower)
        return self._starts

    def until(self, end: int) -> ReplyText:
        """The view up to `end` of its text."""
        part = object.__new__(ReplyText)
        part._at, part._origin, part._lower, part._spans = self._at, self._origin, None, {}
        part._starts = part.covered = None
        part.text, part.unfinished = self.text[:end], False
        return part

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the reply of the characters `start` to `end` of `text`."""
        return self._place(start), self._place(end - 1) + 1

    def spans(self, pattern: str) -> list[tuple[int, int]]:
        """Where a pattern is found in `text`, in any case: looked for once, however often it is asked for."""
        found = self._spans.get(pattern)
        if found is None:
            found = self._spans[pattern] = [one.span() for one in self.matches(pattern)]
        return found

    def matches(self, pattern: str, *, overlapping: bool = False) -> Iterable[re.Match[str]]:
        """The matches of a pattern in `text`, in any case; overlapping ones: `Final answer: the final answer is C` has two."""
        starts = self.starts[pattern]
        if starts is None:
            if not may_match(pattern, self.lower):
                return ()
            compiled = _compiled(pattern)
            return _overlapping(compiled, self.text) if overlapping else compiled.finditer(self.text)
        if not starts:
            return ()
        found = matches_at(_compiled(pattern), self.text, starts)
        return found if overlapping else _apart(found)

    def may(self, pattern: str) -> bool:
        """Whether a pattern may be in it, in any case; False only if it cannot."""
        starts = self.starts[pattern]
        return may_match(pattern, self.lower) if starts is None else bool(starts)

    def is_marked(self, start: int, end: int) -> bool:
        """Whether quotes or emphasis are around the characters `start` to `end` of `text`."""
        opened = self._place(start) > (self._place(start - 1) + 1 if start else 0)
        if not opened or end + 1 >= len(self.text):
            return opened
        after = end + self.text[end].isspace()  # a blank may stand for marks and a blank
        return self._place(after) > self._place(end - 1) + 1 + after - end

    def _place(self, at: int) -> int:
        part = bisect_right(self._at, at) - 1
        return self._origin[part] + at - self._at[part]


def comparable(text: str) -> str:
    """A text in the form in which texts are compared: without markup and case, white space collapsed."""
    if text.isascii() and text.isalnum():
        return text.lower()
    return lower_alike(ReplyText(text).text.strip())


def lower_alike(text: str) -> str:
    """Convert to lower case without moving any character."""
    lower = text.lower()
    if len(lower) != len(text):  # such as İ, whose small letter is two characters
        lower = "".join(small if len(small := char.lower()) == 1 else char for char in text)
    return lower if lower.isascii() else lower.replace("ς", "σ")


def without_reasoning(reply: str) -> tuple[list[tuple[int, int]], bool]:
    """The parts of the reply that are not reasoning, and whether the reply ends inside its reasoning."""
    if "<" not in reply and "◁" not in reply and "[" not in reply:
        return [(0, len(reply))], False
    kept: list[tuple[int, int]] = []
    opened: int | None = None
    begin = 0
    for tag in _thinking().finditer(reply):
        if tag["open"]:
            if opened is None:
                kept.append((begin, tag.start()))
                opened = tag.start()
        else:
            if opened is None:
                kept.clear()
            opened = None
            begin = tag.end()
    if opened is None:
        kept.append((begin, len(reply)))
    return kept, opened is not None


def _windows(kept: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first and the last characters of the kept parts, if these are long."""
    if sum(end - start for start, end in kept) <= HEAD_CHARS + TAIL_CHARS:
        return kept
    head: list[tuple[int, int]] = []
    left = HEAD_CHARS
    for start, end in kept:
        head.append((start, min(end, start + left)))
        left -= head[-1][1] - start
        if left <= 0:
            break
    tail: list[tuple[int, int]] = []
    left = TAIL_CHARS
    for start, end in reversed(kept):
        tail.append((max(start, end - left), end))
        left -= end - tail[-1][0]
        if left <= 0:
            break
    return [*head, (-1, -1), *reversed(tail)]


def _parts(reply: str, windows: list[tuple[int, int]]) -> list[tuple[str, int]]:
    """Pieces of readable text with the place in the reply where each begins."""
    parts: list[tuple[str, int]] = []
    place = 0
    for number, (start, end) in enumerate(windows):
        if start < 0:
            parts.append((_CUT[0], place))
            parts.append((_CUT[1:], max(place, windows[number + 1][0] - 2)))
            continue
        if number and windows[number - 1][0] >= 0:
            parts.append(("\n", place))
        at = start
        for gap in _gaps().finditer(reply, start, end):
            between, found = gap.span()
            filler = _filler(gap[0], reply, between, found)
            if filler != gap[0]:
                parts.append((reply[at:between], at))
                parts.append((filler, between))
                at = found
        parts.append((reply[at:end], at))
        place = max(end - 1, 0)
    return parts


def _filler(gap: str, reply: str, start: int, end: int) -> str:
    """The replacement of a gap: a line break or a blank if it contains one, or if it separates two words."""
    if "\n" in gap or "\r" in gap:
        return "\n"
    if not gap.strip(_INVISIBLE):
        return ""
    parts_words = start > 0 and end < len(reply) and reply[start - 1].isalnum() and reply[end].isalnum()
    return " " if parts_words or any(map(str.isspace, gap)) else ""


def _overlapping(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    found = pattern.search(text)
    while found is not None:
        yield found
        found = pattern.search(text, found.start() + 1)


def _apart(matches: Iterable[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Those that begin after the one before them has ended."""
    end = 0
    for found in matches:
        if found.start() >= end:
            yield found
            end = found.end()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _thinking() -> re.Pattern[str]:
    return re.compile(_THINKING, re.IGNORECASE)


@cache
def _gaps() -> re.Pattern[str]:
    return re.compile(_GAP)
