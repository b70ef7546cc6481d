"""The parts of the cascade: a letter in running text, a rule, and the result of reading a reply.

Chinese, Japanese and Korean characters are not part of a Latin word: in `选B项` the B is a word by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.scorers._mcq.view import ReplyText
from benchwright.scorers._replies import Span

WORD = r"(?-i:[^\W\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
"""One character of a word, except in scripts that write no spaces between words. Without regard to case, it takes 13 ms to compile."""

OPENERS = r"[\s({\[<]{0,4}"
CLOSERS = r"[)\]}>]{0,3}"
NOT_INSIDE = rf"(?<!{WORD})(?<!{WORD}['/.&-])"
"""Before a single letter: not the end of a word, nor a word that continues (`x-B`, `U.S`, `R&B`)."""
NOT_PART = rf"(?!{WORD}|'{WORD}|-[a-z]|\+|\#|&{WORD}|\.[A-Za-z]\.)"
"""After a single letter: not the rest of a word (`Bob`, `B12`, `B's`, `B-tree`, `C++`, `C#`, `D.C.`)."""
UNASKED = rf"(?!\s?{CLOSERS}\s?\?)"
"""After a letter that is not part of a question: "Is the answer B?" states nothing."""
STOP = (
    rf"(?=\s?(?:选项|项)?\s?{CLOSERS}\s?(?:[.,;:!(\[–—\-]|\n|$)"
    r"|\s(?:because|since|as|due|given|for|with|here|then|by|based|which|rather|instead|not|sagen|übrig|decir|dire|to\sme|on\s(?:this|that)|i\s(?:think|guess|believe|hope|suppose))\b)"
)
"""The letter ends the clause, or a reason follows."""
HARD_STOP = rf"(?=\s?{CLOSERS}\s?(?:[.!]|\n|$))"
"""The letter ends the sentence."""
CLOSED = r"(?=\s?[)\]]{0,2}\s?[}.:,])"
"""A brace closes after the letter."""

# Words that may follow an option called A or I; before any other word it is an article or a pronoun.
_GOES_ON = (
    r"(?:the|because|since|as|for|and|or|but|which|is|are|was|with|due|given|per|by|in|on|at|from|to|if|when|where|while|unless|although|though"
    r"|rather|instead|not|over|here|then|gets\smy|wins|would|must|should|seems|appears|fits|matches)\b"
)
_I_GOES_ON = r"(?:to\sme|the|because|since|as|for|and|or|which|is|with|due|given)\b"
_VERB = r"(?!\s(?:is|was|are|would|can|cannot|has|does|seems|looks|gives|means)\b|\s?(?:是|不|错|对|正确))"


def letter_at(view: ReplyText, at: int, options: Collection[str]) -> Span[str] | None:
    """The single option letter at `at`, after spaces and brackets; articles and pronouns do not count."""
    found = _letter().match(view.text, at)
    if found is None:
        return None
    letter = found["letter"].upper()
    start = found.start("letter")
    if letter not in options or is_word(view.text, start):
        return None
    return Span(start, start + 1, letter)


def is_word(text: str, at: int) -> bool:
    """Whether the letter at `at` is the article a or the pronoun I rather than an option."""
    letter = text[at]
    if letter in "Aa":
        return _article().match(text, at + 1) is not None
    if letter in "Ii":
        return _pronoun().match(text, at + 1) is not None
    return False


def joined_to(
    view: ReplyText, at: int, letter: str, options: Collection[str], covered: Callable[[ReplyText, int], bool]
) -> bool:
    """Whether another option is joined to the letter at `at`: `B or C`, `A/B`, `B, C`.

    Letters that are `covered` by an option's text do not count: `C, both A and B` is C.
    """
    after = _and_more().match(view.text, at + 1)
    if after is not None:
        other, place = after["letter"].upper(), after.start("letter")
        if (
            other in options
            and other != letter
            and not is_word(view.text, place)
            and not covered(view, place)
        ):
            return True
    before = _before().search(view.text, max(0, at - 16), at)
    return before is not None and before["letter"] in options and before["letter"] != letter


@cache
def _letter() -> re.Pattern[str]:
    return re.compile(rf"{OPENERS}(?P<letter>[A-Za-z]){NOT_PART}")


@cache
def _article() -> re.Pattern[str]:
    return re.compile(rf"[ ](?!(?i:{_GOES_ON}))[^\W\d_\u2e80-\u9fff\uac00-\ud7af]")


@cache
def _pronoun() -> re.Pattern[str]:
    return re.compile(rf"'|[ ](?!(?i:{_I_GOES_ON}))[^\W\d_\u2e80-\u9fff\uac00-\ud7af]")


@cache
def _and_more() -> re.Pattern[str]:
    joint = r"(?:,?\s?(?:or|and|and/or)\s|\s?(?:/|&|,|或者|或是|或|和|与|及|以及)\s?)"
    return re.compile(
        rf"{CLOSERS}(?:\s?\([^()\n]{{1,60}}\))?{joint}(?:(?:also|perhaps|maybe|possibly|probably|or|alternatively|even|both|option|choice|选项)\s?){{0,2}}"
        rf"[(\[]?(?P<letter>[A-Za-z]){NOT_PART}{_VERB}",
        re.IGNORECASE,
    )


@cache
def _before() -> re.Pattern[str]:
    return re.compile(
        rf"(?<!{WORD})(?P<letter>[A-Z])[)\]]?\s?(?:\s(?:or|and|nor)\s|/|&|或者?|和|与)\s?(?:option\s|choice\s)?[(\[]?$"
    )


Method: TypeAlias = Literal["exact", "pattern", "boxed", "option_text", "levenshtein", "none"]
"""How a letter was found: the reply is a letter; it states one; it boxes one; it contains one option's text; the nearest
text was guessed; not at all."""


class Extraction(Struct, frozen=True):
    """The option that a reply names, or why it names none."""

    letter: str | None
    """The option's letter; None: no answer could be read."""
    method: Method
    """The kind of rule that fired."""
    rule: str
    """Its name in `CHOICE_RULES`; for `none` the reason."""
    start: int | None
    """The first character that decided, counted in the given text."""
    end: int | None
    """The place after the last character that decided."""

    @property
    def span(self) -> str | None:
        """`12:13`, the form that is recorded with a sample."""
        return None if self.start is None else f"{self.start}:{self.end}"


def nothing(reason: str) -> Extraction:
    """No answer, and why."""
    return Extraction(None, "none", reason, None, None)


Step: TypeAlias = Literal["whole reply", "statement", "lone letter", "option text"]
"""Steps of the cascade. The first step that finds something ends it. Of several statements the last one counts."""


class ChoiceRule(Struct, frozen=True):
    """One rule of the cascade."""

    name: str
    """Its name in a verdict."""
    method: Method
    """The kind of rule; a statement that names an option's text instead of its letter is `option_text`."""
    step: Step
    """Its step in the cascade."""
    meaning: str
    """What it reads."""
    examples: tuple[str, ...]
    """Replies that it decides, if A is 2258, B 2263, C 2281 and D "none of these"."""
    pattern: str | None = None
    """Regular expression for the text before the letter or option text; None: the rule is code."""
    ending: str = UNASKED
    """Regular expression for the text that must follow."""
    overlaps: bool = False
    """Whether a match may begin within another."""

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled when first used."""
        return caseless(self.pattern or "(?!)")

    def found(self, view: ReplyText) -> Iterable[re.Match[str]]:
        """The matches of the pattern in a view."""
        return view.matches(self.pattern, overlapping=self.overlaps) if self.pattern else ()


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled when first used."""
    return re.compile(pattern)


@cache
def caseless(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled when first used, without regard to case."""
    return re.compile(pattern, re.IGNORECASE)
