"""The demo model's tokens: how a text is split, how likely each token is, and what the model says if it has no answer.

Tokens are words with their leading space, single punctuation marks, and single ideographs. Joined, they always give the
original text. A token does not depend on the text after it, except that a word continues until it ends, so the tokens of a
prompt stay the same if more text follows (unless the prompt ends inside a word, or in a space that becomes part of a
following word).

Log-probabilities are a distribution over the next token that depends only on the seed and the text before it. A
`Reader` reads a text token by token. When the text reaches an open answer (`Answer:`, a question mark, `=`), it requests
the model's continuations; a token that follows one of them is likely, and the next token of the best continuation is the
greedy one. Elsewhere the greedy token is filler text. Generating and echoing use the same `Reader`, so they agree exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, log1p
from typing import NamedTuple
from zlib import crc32

from benchwright.core import late_pattern
from benchwright.demo._requests import ends_in_cue
from benchwright.demo._settings import ONE, share

# Scripts written without spaces would otherwise be one token per sentence.
_UNSPACED = "\u0e00-\u0eff\u2e80-\u2fdf\u3005-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = late_pattern(rf" ?[^\W{_UNSPACED}]+| ?[^\w\s]|[\w\s]")


def split_tokens(text: str) -> list[str]:
    """Split a text into tokens.

    >>> split_tokens("Hello, 二 worlds!")
    ['Hello', ',', ' ', '二', ' worlds', '!']
    """
    return _TOKEN.findall(text)


def count_tokens(text: str) -> int:
    """Return the number of tokens of a text."""
    return len(_TOKEN.findall(text))


class ScoredToken(NamedTuple):
    """A token and its likelihood."""

    text: str
    logprob: float | None = None
    """Natural logarithm of its probability; None for the first token of an echoed text, which nothing precedes."""
    top: dict[str, float] | None = None
    """The most likely tokens in its place, if requested."""


_CONTENT = late_pattern(r"[^\W\d_]{4,}")
_OPEN_TASK = late_pattern(
    r"(?i)\b(?:write|describe|explain|summari[sz]e|story|essay|poem|discuss|tell me|list|introduce|outline|advice)\b"
)
WORDS = (
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "with", "on", "by", "at", "from", "this",
    "which", "one", "may", "part", "small", "large", "first", "next", "each", "same", "many", "simple", "common",
    "clear", "useful", "general", "example", "result", "case", "point", "system", "number", "question", "answer",
    "model", "value", "order", "time", "place", "work", "form", "line", "side", "group", "study", "light", "water",
    "house", "paper", "letter", "sound", "field", "change", "reason", "measure", "step", "table",
)  # fmt: skip
"""The words of filler text; as many as there are values of six bits."""


def is_open_task(block: str) -> bool:
    """Whether the task asks for free text rather than an answer."""
    return _OPEN_TASK.search(block) is not None


def chatter(bits: int, words: int) -> str:
    """Return meaningless sentences of a given length; the same bits give the same words."""
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
    """Guess: any word of the question."""
    words = _CONTENT.findall(block[-2000:])
    return str(words[bits % len(words)]) if words else WORDS[bits & 63]


END = "\n"
"""The token that marks the end of an answer."""
_WEAK_CUES = frozenset(("?", "=", ".", "is", "equals", "are"))
_MAX_WEAK_PLANS = 200
"""Weaker signs of an answer that are used in one text; a long text of question marks would otherwise take seconds."""
_WEAK_PLAN_CHARS = 4000
"""Characters before a weaker sign that are read."""
_CUE_LINE_CHARS = 80
_OTHER = 0x5BD1E995

Continuations = Callable[[str, bool], tuple[Sequence[str], Sequence[str]]]
"""From a text to the continuations that the model would choose, best first, and those that it takes for wrong. The flag says
whether guesses count too."""


class Reader:
    """Reads a text and gives, at each position, the likelihood of each next token."""

    __slots__ = (
        "_continuations", "_cues", "_fresh", "_greedy", "_hash", "_line_start", "_live", "_position", "_seen",
        "_shunned", "_sure", "_weak_plans", "text",
    )  # fmt: skip

    def __init__(self, seed: int, continuations: Continuations, *, cues: bool = True) -> None:
        self.text = ""
        self._position = 0
        self._hash = crc32(b"%d" % seed)
        self._continuations = continuations
        self._cues = cues
        self._live: list[tuple[list[str], int]] = []
        self._fresh = False
        self._seen: set[str] = set()
        self._line_start = 0
        self._greedy: str | None = None
        self._shunned: frozenset[str] = frozenset()
        self._sure = 0.0
        self._weak_plans = 0

    def read(self, text: str) -> None:
        """Read a text without scoring it."""
        self.text += text
        for token in split_tokens(text):
            self._advance(token)

    def follow(self, tokens: Sequence[str], top: int) -> list[ScoredToken]:
        """Read further tokens and return the likelihood of each, with the `top` best in its place."""
        self.text += "".join(tokens)
        scored = []
        for token in tokens:
            scored.append(
                ScoredToken(token, self.logprob(token), self.alternatives(top, token) if top else None)
            )
            self._advance(token)
        return scored

    def expect(self, texts: Sequence[str]) -> None:
        """Set the continuations that the model would give now, best first."""
        self._live = [(split_tokens(text), 0) for text in texts if text]
        self._fresh = True
        self._greedy = None

    def greedy(self) -> str:
        """Return the most likely next token; `END` if the answer is complete."""
        if self._greedy is None:
            self._decide()
        assert self._greedy is not None
        return self._greedy

    def logprob(self, token: str) -> float:
        """Return the natural logarithm of the probability of a next token."""
        if token == self.greedy():
            return log(self._sure)
        rest = log1p(-self._sure)
        chance = share(crc32(token.encode("utf-8", "surrogatepass"), self._hash ^ _OTHER))
        key = token.strip().lower()
        for plan, at in self._live:
            if at < len(plan) and plan[at].strip().lower() == key:
                return rest + log((0.5 + 0.1 * chance) / len(self._live))
        if self._fresh and key in self._shunned:
            return rest - 12.0 - chance
        if key in self._seen:  # words of the question are more likely
            return rest + log(0.01 + 0.02 * chance)
        return rest - 4.6 - 7.0 * chance

    def alternatives(self, count: int, actual: str | None = None) -> dict[str, float]:
        """Return the most likely next tokens, best first; the first is the greedy one."""
        best = self.greedy()
        if count == 1:
            return {best: log(self._sure)}
        pool = {best: None}
        blank = "" if self._after_blank() else " "
        for plan, at in self._live:
            if at < len(plan):
                pool[plan[at] if at or blank else plan[at].lstrip(" ")] = None
        start = int(share(self._hash ^ 0x2545F491) * 64)
        for at in range(count):
            pool[blank + WORDS[(start + 7 * at) & 63]] = None
        if actual is not None:
            pool[actual] = None
        scored = sorted(
            ((self.logprob(token), token) for token in pool), key=lambda pair: (-pair[0], pair[1])
        )
        return {token: value for value, token in scored[:count]}

    def _after_blank(self) -> bool:
        return self._position > 0 and self.text[self._position - 1].isspace()

    def _decide(self) -> None:
        luck = share(self._hash)
        if self._live:
            plan, at = self._live[0]
            self._sure = 0.80 + 0.19 * luck
            if at == len(plan):
                self._greedy = END
            elif at == 0 and self._cues:
                self._greedy = plan[0].lstrip(" ") if self._after_blank() else plan[0]
            else:
                self._greedy = plan[at]
            return
        # Filler text ends only after its own full stop; a text that just breaks off always continues.
        other = share(self._hash ^ 0x6C8E9CF5)
        self._sure = 0.36 + 0.2 * luck
        stopped = self._position > 0 and self.text[self._position - 1] == "."
        if stopped and other < 0.5:
            self._greedy = END
        elif other > 0.92 and not stopped and not self._after_blank():
            self._greedy = "."
        else:
            word = WORDS[int(share(self._hash ^ 0x1B873593) * ONE) & 63]
            self._greedy = word if self._after_blank() else " " + word

    def _advance(self, token: str) -> None:
        self._hash = crc32(token.encode("utf-8", "surrogatepass"), self._hash)
        self._position += len(token)
        self._greedy = None
        key = token.strip().lower()
        if key:
            self._seen.add(key)
        if self._live and (key or not self._fresh):  # spaces before an answer do not count
            self._live = [
                (plan, at + 1)
                for plan, at in self._live
                if at < len(plan) and plan[at].strip().lower() == key
            ]
            self._fresh = False
        if self._cues:
            self._look_for_cue(token, key)

    def _look_for_cue(self, token: str, key: str) -> None:
        """Start an answer if the text opens one. An answer line always does, weaker signs only outside a continuation."""
        end = self._position
        if token == "\n":
            self._line_start = end
        elif key in (":", "*") and ends_in_cue(self.text[max(self._line_start, end - _CUE_LINE_CHARS) : end]):
            self._plan(True, 0)
        elif key in _WEAK_CUES and not self._live and self._weak_plans < _MAX_WEAK_PLANS:
            self._weak_plans += 1
            self._plan(key == "?", max(0, end - _WEAK_PLAN_CHARS))

    def _plan(self, guesses: bool, start: int) -> None:
        texts, shunned = self._continuations(self.text[start : self._position], guesses)
        if texts:
            self.expect([" " + text for text in texts])
            self._shunned = frozenset(split_tokens(text)[0].strip().lower() for text in shunned if text)
