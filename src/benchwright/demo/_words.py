"""The demo model's tokens, and what it says when it does not know: a phrase of the passage, a word of the question, chatter.

Tokens are words with their leading space, single punctuation marks, single ideographs. Joined they give the text back,
whatever the text. A token never depends on what follows it except that a word goes on until it ends, so the tokens of a
prompt stay the same when more text follows (unless the prompt ends inside a word, or in a blank that a following word
takes along).
"""

from __future__ import annotations

import re

# Scripts written without blanks would otherwise be one token per sentence.
_UNSPACED = "\u0e00-\u0eff\u2e80-\u2fdf\u3005-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf" ?[^\W{_UNSPACED}]+| ?[^\w\s]|[\w\s]")


def _kind(char: str) -> str:
    if char == " ":
        return " "
    if char.isspace():
        return "n"
    return "w" if re.match(r"\w", char) else "p"


_KINDS = bytes(ord(_kind(chr(code))) if code < 128 else 0 for code in range(256))


def split_tokens(text: str) -> list[str]:
    """The tokens of a text.

    >>> split_tokens("Hello, 二 worlds!")
    ['Hello', ',', ' ', '二', ' worlds', '!']
    """
    return _TOKEN.findall(text)


def count_tokens(text: str) -> int:
    """`len(split_tokens(text))`. Plain ASCII is counted by character classes: 1 µs instead of 6 for 80 letters."""
    if not text.isascii():
        return len(_TOKEN.findall(text))
    if text.isalnum():  # most answers are one word or number
        return 1
    kinds = text.encode().translate(_KINDS)
    blanks = kinds.count(b" ")
    blank_words = kinds.count(b" w")
    words = blank_words + kinds.count(b"nw") + kinds.count(b"pw") + kinds.startswith(b"w")
    return words + kinds.count(b"p") + kinds.count(b"n") + blanks - blank_words - kinds.count(b" p")


def token_offsets(tokens: list[str]) -> list[int]:
    """Where each token starts in the joined text, counted in code points."""
    offsets = []
    position = 0
    for token in tokens:
        offsets.append(position)
        position += len(token)
    return offsets


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
