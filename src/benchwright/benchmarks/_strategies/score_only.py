"""Score only: the response is in the row, and nothing is requested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benchwright.benchmarks._fields import response_of
from benchwright.benchmarks._missing_fields import has_column, parameter_without_column
from benchwright.benchmarks._prompts import Prompt
from benchwright.benchmarks._strategies.base import Answer, Asking, RowPlan, Strategy
from benchwright.core import MissingFieldError

if TYPE_CHECKING:
    from benchwright.core import ModelRequest, Row


class ScoreOnly(Strategy):
    """Scores ready-made responses unchanged."""

    name = "score_only"

    def plan(self, row: Row) -> RowPlan:
        """No request."""
        response = response_of(self._spec, row)
        return RowPlan(self._prompt(row), 0, 0, (response,))

    def requests(self, row: Row, repeat: int = 0) -> tuple[ModelRequest, ...]:
        """None."""
        return ()

    async def answer(self, row: Row, repeat: int, asking: Asking) -> Answer:
        """The row's response. The prompt is only for the record."""
        prompt = self._prompt(row).text
        try:
            return Answer(None, response_of(self._spec, row), row, prompt)
        except MissingFieldError as error:
            return Answer(None, "", row, prompt, skipped=str(error))

    def missing_fields(self, columns: Sequence[str], missing: Mapping[str, int]) -> Iterator[str]:
        """Only the column with the responses is needed."""
        field = self._spec.response_field
        if field is not None and not has_column(field, columns):
            yield parameter_without_column(self._spec, "response_field", columns)

    def _prompt(self, row: Row) -> Prompt:
        try:
            return self._build(row)
        except MissingFieldError:
            return Prompt("")
