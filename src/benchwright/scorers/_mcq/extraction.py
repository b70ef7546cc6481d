"""What a rule of the cascade is, and what reading a reply found: the letter, the rule and the place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.scorers._mcq.letters import UNASKED

Method: TypeAlias = Literal["exact", "pattern", "boxed", "option_text", "levenshtein", "none"]
"""How a letter was found: the reply is a letter; it states one; it boxes one; it names one option's text; the
nearest text was guessed; not at all."""


class Extraction(Struct, frozen=True):
    """The option that a reply names, or why it names none."""

    letter: str | None
    """The option's letter; None: no answer could be read."""
    method: Method
    """The kind of rule that fired."""
    rule: str
    """Its name in `CHOICE_RULES`; for `none` the reason."""
    start: int | None
    """First character of what decided, counted in the text that was given."""
    end: int | None
    """The place after its last character."""

    @property
    def span(self) -> str | None:
        """`12:13`, as it is kept with a sample."""
        return None if self.start is None else f"{self.start}:{self.end}"


def nothing(reason: str) -> Extraction:
    """No answer, and why."""
    return Extraction(None, "none", reason, None, None)


Step: TypeAlias = Literal["whole reply", "statement", "lone letter", "option text"]
"""Steps of the cascade: the first that finds something ends it. Of statements the last one counts."""


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """One rule of the cascade."""

    name: str
    """What a verdict calls it."""
    method: Method
    """The kind of rule; a statement that names an option's text instead of its letter is `option_text`."""
    step: Step
    """Where in the cascade it stands."""
    meaning: str
    """What it reads."""
    examples: tuple[str, ...]
    """Replies that it decides, where A is 2258, B 2263, C 2281 and D "none of these"."""
    pattern: str | None = None
    """Regular expression of what stands before the letter or text; None: the rule is code."""
    cues: tuple[str, ...] = ()
    """Small-letter pieces of which the text must hold one for the pattern to be tried."""
    ending: str = UNASKED
    """Regular expression of what must follow."""

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled when first used."""
        return _compiled(self.pattern or "(?!)")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
