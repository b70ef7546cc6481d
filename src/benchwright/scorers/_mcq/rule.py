"""What a rule of the cascade is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from benchwright.scorers._mcq.extraction import Method

Step: TypeAlias = Literal["whole reply", "statement", "lone letter", "option text"]
"""Steps of the cascade: the first that finds something ends it. Of statements the last one counts."""

Ending: TypeAlias = Literal["any", "stop", "hard_stop", "closed"]
"""What must follow a statement: anything; a pause or a reason; the end of the sentence; a closing brace."""


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
    ending: Ending = "any"
    """What must follow."""

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled when first used."""
        return _compiled(self.pattern or "(?!)")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
