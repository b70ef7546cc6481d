"""The choices of a row under their labels, in the order in which they are shown, and which of them is right."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchwright.benchmarks._missing_fields import MissingFieldError
from benchwright.benchmarks._nocode.shuffle import shuffled
from benchwright.benchmarks._nocode.values import scalar_text, text_of
from benchwright.config import ChoiceStyle
from benchwright.core import Row, load_json


class Shown(NamedTuple):
    """What a row offers."""

    choices: list[dict[str, str]]
    """Label and text of each choice, in order: what templates see."""
    golden: str
    """Label of the right one."""

    @property
    def labels(self) -> list[str]:
        """The labels that are in use."""
        return [choice["label"] for choice in self.choices]


class ChoiceReader:
    """Reads rows of one evaluation. Raises MissingFieldError, with the reason, for one that cannot be asked."""

    __slots__ = ("_style",)

    def __init__(self, style: ChoiceStyle) -> None:
        self._style = style

    @property
    def columns(self) -> frozenset[str]:
        """Columns that choices come from."""
        style = self._style
        return frozenset(style.columns) | ({style.column} if style.column is not None else set())

    def __call__(self, row: Row) -> Shown:
        """The choices of one row."""
        style = self._style
        texts = self._texts(row)
        labels = style.labels
        if not texts or len(texts) > len(labels):
            where = style.column or ", ".join(style.columns)
            raise MissingFieldError(
                where,
                reason=f'"{where}" holds {len(texts)} choices; expected 1 to {len(labels)} (choice_labels)',
            )
        right = self._right(row, len(texts))
        order = list(range(len(texts)))
        if style.seed_column is not None:
            seed = scalar_text(row, style.seed_column, "the shuffle's seed_column")
            order = shuffled(len(texts), seed, style.algorithm)
        shown = [{"label": label, "text": texts[at]} for label, at in zip(labels, order, strict=False)]
        return Shown(shown, labels[order.index(right)])

    def golden(self, row: Row) -> str:
        """The right label; empty for a row that cannot be asked."""
        try:
            return self(row).golden
        except MissingFieldError:
            return ""

    def _texts(self, row: Row) -> list[str]:
        style = self._style
        if style.column is None:
            return [scalar_text(row, column, "the choice") for column in style.columns]
        column = style.column
        if column not in row:
            scalar_text(row, column, "the column of choices")  # says what is there instead
        value: Any = row[column]
        if isinstance(value, str):
            try:
                value = load_json(value)
            except ValueError:
                raise _odd(column, "a text that is no JSON") from None
        if isinstance(value, dict):
            lacking = [label for label in style.labels if label not in value]
            if lacking:
                raise _odd(column, f"an object without {', '.join(lacking)}")
            value = [value[label] for label in style.labels]
        if not isinstance(value, list):
            raise _odd(column, "null" if value is None else f"a {type(value).__name__}")
        texts = [text_of(entry) for entry in value]
        kept = [text for text in texts if text is not None]
        if len(kept) != len(texts):
            raise _odd(column, "something else than texts, numbers and booleans")
        return kept

    def _right(self, row: Row, count: int) -> int:
        style = self._style
        column, labels = style.answer_column, style.labels[:count]
        if style.answer == "choice":
            return style.columns.index(column)
        said = scalar_text(row, column, "the answer's column").strip()
        if style.answer == "label":
            for at, label in enumerate(labels):
                if label.strip().casefold() == said.casefold():
                    return at
            raise MissingFieldError(
                column, reason=f'"{column}" is {said!r}; expected one of {", ".join(labels)}'
            )
        try:
            number = float(said)
            at = int(number) - style.index_base
            fits = number == int(number) and 0 <= at < count
        except (ValueError, OverflowError):
            fits = False
        if not fits or isinstance(row[column], bool):
            last = style.index_base + count - 1
            raise MissingFieldError(
                column,
                reason=f'"{column}" is {said!r}; expected a whole number from {style.index_base} to {last} (index_base '
                f"{style.index_base})",
            )
        return at


def _odd(column: str, found: str) -> MissingFieldError:
    return MissingFieldError(
        column,
        reason=f'"{column}" is {found}; expected a list of choices, an object by label, or either as JSON text',
    )
