"""Which columns of a file hold the question, the options and the expected answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_uppercase

from benchwright.benchmarks._missing_fields import is_blank
from benchwright.benchmarks._questions.options import QuestionOptions
from benchwright.core import Row, UsageError

LETTERS = ascii_uppercase
"""What options are called, in order."""

BEYOND = "AA"
"""The column of a 27th option, named as spreadsheets name it. It exists to be refused."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a row keeps what it asks. Names are those after `mapping`."""

    question: tuple[str, ...] = ("question",)
    """Columns of the question; several are shown one below the other."""
    answer: str = "answer"
    """Column of the expected answer."""
    letters: str = ""
    """The only letters that are options; empty: all that follow one another from A."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Columns of other names that hold options, and the letters they become."""
    from_list: str | None = None
    """The one column that holds all options, where the user names it."""

    @classmethod
    def of(cls, options: QuestionOptions) -> Columns:
        """As the options say. UsageError for options that cannot be lettered."""
        given = [name for name in options.input_columns if not _is_letter(name)]
        if options.input_columns and not given:
            raise UsageError(
                f"input_columns names only options ({', '.join(options.input_columns)}); name the column of the "
                "question too"
            )
        wanted = options.options or tuple(name for name in options.input_columns if _is_letter(name))
        answer = options.output_column or cls().answer
        if len(wanted) == 1 and not _is_letter(wanted[0]):
            return cls(tuple(given) or cls().question, answer, from_list=wanted[0])
        if wanted and not 2 <= len(wanted) <= len(LETTERS):
            raise UsageError(
                f"options names {len(wanted)} columns ({', '.join(wanted)}); expected 2 to {len(LETTERS)}"
            )
        letters = LETTERS[: len(wanted)]
        mapping = {name: letter for name, letter in zip(wanted, letters, strict=True) if name != letter}
        if all(_is_letter(name) for name in wanted) and mapping:
            raise UsageError(
                f"options is {', '.join(wanted)}; options follow one another from A, as in {', '.join(letters)}"
            )
        return cls(tuple(given) or cls().question, answer, letters, mapping)

    @property
    def only(self) -> frozenset[str] | None:
        """The letters that count, where not all do."""
        return frozenset(self.letters) if self.letters else None

    def has_answer(self, row: Row) -> bool:
        """Whether a row says what is right."""
        return not is_blank(row.get(self.answer))


def _is_letter(name: str) -> bool:
    return len(name) == 1 and name in LETTERS
