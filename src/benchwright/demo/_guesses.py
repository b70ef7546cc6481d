"""What the demo model says when it does not know: a phrase of the passage, a word of the question, or chatter."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_CONTENT = re.compile(r"[^\W\d_]{4,}")
_NAME = re.compile(r"[A-Z]\w+(?: (?:of |the |de )?[A-Z]\w+)*")
_FIGURE = re.compile(r"\d[\d,.]*\d|\d")
_OPEN_TASK = re.compile(
    r"(?i)\b(?:write|describe|explain|summari[sz]e|story|essay|poem|discuss|tell me|list|introduce|outline|advice)\b"
)
_COMMON = frozenset(
    {
        "about", "after", "also", "answer", "because", "been", "does", "following", "from", "have", "into",
        "many", "much", "only", "question", "should", "that", "their", "them", "then", "there", "these",
        "they", "this", "what", "when", "where", "which", "while", "will", "with", "would", "your",
    }
)  # fmt: skip
WORDS = (
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "with", "on", "by", "at", "from", "this",
    "which", "one", "may", "part", "small", "large", "first", "next", "each", "same", "many", "simple", "common",
    "clear", "useful", "general", "example", "result", "case", "point", "system", "number", "question", "answer",
    "model", "value", "order", "time", "place", "work", "form", "line", "side", "group", "study", "light", "water",
    "house", "paper", "letter", "sound", "field", "change", "reason", "measure", "step", "table",
)  # fmt: skip
"""The words of its chatter; as many as there are values of six bits."""


def is_open_task(block: str) -> bool:
    """Whether free text is wanted rather than an answer."""
    return _OPEN_TASK.search(block) is not None


def chatter(bits: int, words: int) -> str:
    """Meaningless sentences of a given length; the same bits give the same words."""
    pieces = []
    state = bits | 1
    for at in range(words):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        word = WORDS[state >> 58]
        pieces.append(word.capitalize() if at % 12 == 0 else word)
        if at % 12 == 11 or at == words - 1:
            pieces[-1] += "."
    return " ".join(pieces)


def guess(block: str, bits: int) -> str:
    """An answer from the passage above the question, or any word of the question."""
    lines = block.rsplit("\n", 1)
    if len(lines) == 2 and len(lines[0]) > len(lines[1]):
        found = _from_passage(lines[0], lines[1])
        if found:
            return found
    words = [word for word in _CONTENT.findall(block[:2000]) if word.lower() not in _COMMON]
    return words[bits % len(words)] if words else WORDS[bits & 63]


def _from_passage(passage: str, question: str) -> str:
    asked = {word.lower() for word in _CONTENT.findall(question)} - _COMMON
    best, shared = "", 0
    for match in _SENTENCE.finditer(passage[:8000]):
        sentence = match.group().strip()
        count = sum(word.lower() in asked for word in _CONTENT.findall(sentence))
        if count > shared:
            best, shared = sentence, count
    if not best:
        return ""
    lowered = question.lower()
    if "how many" in lowered or "how much" in lowered or "when" in lowered or "year" in lowered:
        figure = _FIGURE.search(best)
        if figure is not None:
            return figure.group()
    if "who" in lowered or "where" in lowered or "which" in lowered or "what" in lowered:
        for name in _NAME.findall(best):
            if name.lower() not in lowered and name.lower() not in _COMMON and len(name) > 3:
                return str(name)
    return best
