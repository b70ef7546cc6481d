"""What reading a reply found: the letter, how it was found, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Method: TypeAlias = Literal["exact", "pattern", "boxed", "option_text", "levenshtein", "none"]
"""How a letter was found: the reply is a letter; it states one; it boxes one; it names one option's text; the
nearest text was guessed; not at all."""


@dataclass(frozen=True, slots=True)
class Extraction:
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
    """Behind its last character."""

    @property
    def span(self) -> str | None:
        """`12:13`, as it is kept with a sample."""
        return None if self.start is None else f"{self.start}:{self.end}"


def nothing(reason: str) -> Extraction:
    """No answer, and why."""
    return Extraction(None, "none", reason, None, None)
