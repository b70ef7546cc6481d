"""The rules for a row of a question file, each with its cure, and the report on all rows of a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from shlex import quote
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._fields import is_blank
from benchwright.benchmarks._missing_fields import target_problem
from benchwright.benchmarks._prompts import build_prompts
from benchwright.benchmarks._questions.columns import BEYOND, LETTERS, Columns, likely_question
from benchwright.benchmarks._questions.options import DataType
from benchwright.benchmarks._questions.row_options import options_reader, whole_number
from benchwright.benchmarks._scan import RowScan, scan_rows
from benchwright.benchmarks._spec import BenchmarkSpec, RowCheck
from benchwright.benchmarks._warnings import missing_answers, repetitions
from benchwright.core import BadRow, DatasetError, Information, MissingFieldError, Row, exact_json, listed
from benchwright.datasets import Filter

LENGTH = "max_tokens"
"""The column with the maximum reply length of each row."""

_SHOWN_CHARS = 40
_TOTALS = (
    "total", "totals", "sum", "grand total", "subtotal", "count", "average", "mean", "summe", "gesamt", "gesamtsumme", "zwischensumme",
    "anzahl", "mittelwert", "durchschnitt", "insgesamt", "somme", "totale", "suma", "totaal", "итого", "合计", "总计", "合計",
)  # fmt: skip
"""What the first cell of a row of totals says."""


def stem_reader(columns: Columns) -> Callable[[Row], str]:
    """How a row's question is read. Raises MissingFieldError if there is none."""

    def one(row: Row, name: str) -> str:
        value = row.get(name)
        if type(value) is str:
            if value.strip():
                return value
        elif isinstance(value, list | dict):
            raise MissingFieldError(
                name, reason=f'"{name}" is {_kind(value)}; expected the text of the question'
            )
        elif value is not None:
            return str(value)
        raise _missing(name, row)

    if len(columns.question) == 1:
        (only,) = columns.question
        return lambda row: one(row, only)
    return lambda row: "\n".join([one(row, name) for name in columns.question])


def _first_text(row: Row) -> str | None:
    return next((value.strip() for value in row.values() if isinstance(value, str) and value.strip()), None)


def _says_totals(row: Row) -> bool:
    """Whether the first text of a row says that it is one of totals."""
    text = _first_text(row)
    return text is not None and text.strip(":. ").casefold() in _TOTALS


_A_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_A_NUMBER = re.compile(r"[-+]?[\d\s.,'’]*\d[\s.,\d]*[%€$£]?")


def _is_total(value: object) -> bool:
    """Whether a cell may stand in a row of totals: nothing, or a number."""
    if isinstance(value, str):
        return not value.strip() or _A_NUMBER.fullmatch(value.strip()) is not None
    return value is None or isinstance(value, int | float)


def _looks_like_totals(row: Row, answer: str) -> bool:
    """Whether a row without a question is one of totals: it says so, or has numbers only, and its answer is at most a number."""
    if not _is_total(row.get(answer)):
        return False
    if _first_text(row) is not None:
        return _says_totals(row)
    return is_blank(row.get(answer)) and any(isinstance(value, int | float) for value in row.values())


class WithoutTotals(Filter, frozen=True):
    """Leaves out the rows of totals of a table: no question, at most a number as the answer, and the first text says so. `field`
    is the first column of the question. A row that has numbers only may be a question that is missing, and stays a bad row."""

    answer: str
    """The column of the answer, as the data has it."""
    also: tuple[str, ...] = ()
    """The other columns of the question."""
    found: dict[str, None] = field(default_factory=dict)
    """The first cell of each row that was left out."""

    def keeps(self, row: Row) -> bool:
        """Whether a row is none of totals."""
        asks = any(not is_blank(row.get(name)) for name in (self.field, *self.also))
        if asks or not _is_total(row.get(self.answer)) or not _says_totals(row):
            return True
        self.found[str(_first_text(row))] = None
        return False

    def note(self) -> str:
        """The rows, by their first cells."""
        if not self.found:
            return ""
        return Information(
            f"left out as totals, not as rows: {listed([repr(cell) for cell in self.found], 3)}"
        )


class RowRules:
    """Checks one row. Raises MissingFieldError, with the reason, if it cannot be sent or scored."""

    __slots__ = ("_also", "_called", "_columns", "_options", "_several", "_stem")

    def __init__(
        self,
        columns: Columns,
        data_type: DataType,
        *,
        also: RowCheck | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> None:
        self._columns = columns
        self._called = {usual: name for name, usual in (mapping or {}).items()}
        self._also = also
        self._stem = stem_reader(columns)
        self._options = None if data_type == "qa" else options_reader(columns)
        self._several = data_type == "mcq_multi"

    def __call__(self, row: Row) -> None:
        """Examine a row; for a scan of all rows."""
        self.examine(row)

    def examine(self, row: Row) -> int:
        """The number of the row's options; 0 if it is not multiple choice."""
        try:
            self._stem(row)
        except MissingFieldError as error:
            raise self._without_question(row, error) from None
        if self._also is not None:
            self._also(row)
        length = row.get(LENGTH)
        if length is not None and (type(length) is not int or length < 0):
            _check_length(length)
        if self._options is None:
            _check_text_answer(row.get(self._columns.answer), self._columns.answer)
            return 0
        options = self._options(row)
        self._check_options(row, options)
        if self._columns.has_answer(row):
            _check_letter(row[self._columns.answer], options, self._columns.answer, several=self._several)
        return len(options)

    def _without_question(self, row: Row, error: MissingFieldError) -> MissingFieldError:
        """The error for a row whose cell of the question is empty, with the user's name of the column and the cure."""
        name = error.field
        if name not in row or not is_blank(row[name]):
            return error
        called = self._called.get(name, name)
        what = f'missing "{called}": it is {"null" if row[name] is None else "empty"}'
        if _looks_like_totals(row, self._columns.answer):
            return MissingFieldError(
                name,
                reason=f"{what}. This looks like a row of totals: delete it, or leave it out with --skip-bad-rows",
            )
        return MissingFieldError(
            name, reason=f"{what}. Fill it in, or leave the row out with --skip-bad-rows"
        )

    def equal_options(self, row: Row) -> str | None:
        """The text that two options of a row share; None if all differ."""
        texts = [] if self._options is None else [text.strip() for text in self._options(row).values()]
        if len(set(texts)) == len(texts):
            return None
        return next(text for index, text in enumerate(texts) if text in texts[:index])

    def _check_options(self, row: Row, options: Mapping[str, str]) -> None:
        only = self._columns.only
        found = [
            name
            for name, value in row.items()
            if len(name) == 1
            and name in LETTERS
            and name not in self._columns.question
            and value is not None
            and (only is None or name in only)
            and str(value).strip()
        ]
        if len(options) == len(LETTERS) and not is_blank(row.get(BEYOND)):
            raise MissingFieldError(
                BEYOND,
                reason=f"more than {len(LETTERS)} options, and the letters end at Z; use fewer options",
            )
        if len(found) > len(options):
            lacking = LETTERS[len(options)]
            raise MissingFieldError(
                lacking,
                reason=f"options {', '.join(sorted(found))} have a gap: {lacking} is missing or empty. Options "
                "follow one another from A",
            )
        if len(options) < 2:
            has = f"only {', '.join(options)}" if options else "none"
            raise MissingFieldError(
                LETTERS[len(options)],
                reason=f"a multiple-choice question needs two or more options (A, B, …); this row has {has}",
            )
        for letter in options:
            if isinstance(row[letter], list | dict):
                raise MissingFieldError(
                    letter, reason=f"option {letter} is {_kind(row[letter])}; expected a text"
                )


def _check_length(value: Any) -> None:
    if value == "":
        return
    try:
        length = float(value)  # "512.0" too: spreadsheets write this in a column with empty cells
        usable = length >= 0 and length == int(length) and not isinstance(value, bool)
    except (TypeError, ValueError, OverflowError):
        usable = False
    if not usable:
        raise MissingFieldError(
            LENGTH,
            reason=f"{LENGTH} {_shown(value)} is not a whole number of 0 or more (0 or empty: the run's)",
        )


def _check_letter(answer: Any, options: Mapping[str, str], field: str, *, several: bool) -> None:
    from benchwright.scorers import gold_letters

    letters = gold_letters(answer, options)
    if letters is not None and (several or len(letters) == 1):
        return
    if letters is not None:
        raise MissingFieldError(
            field,
            reason=f"{field} {_shown(answer)} names several options ({', '.join(letters)}), and the rows have one right "
            "option each; where several may be right: --data-type mcq_multi",
        )
    known = f"A-{LETTERS[len(options) - 1]}"
    text = f"{field} {_shown(answer)} is not one of {known}"
    number = whole_number(answer)
    if number is not None and number <= len(options):
        text += ". If it is the position of an option, name the first position: --answer-index 0 or --answer-index 1"
    elif isinstance(answer, list | dict):
        text += ": expected one letter"
    elif len(str(answer).strip()) > 1:
        text += ", nor the text of exactly one option"
        dates = [option for option in options.values() if _A_DATE.match(option)]
        if dates:
            text += f". Cells with dates are read as {listed(dates, 3)}: write the answer in the same way, or as a letter"
    raise MissingFieldError(field, reason=text)


def _is_calls(answer: Any) -> bool:
    """Whether an answer is a call, or a list of them: `{"name", "arguments"}`, or as a server sends them."""
    calls = answer if isinstance(answer, list) else [answer]
    return all(
        isinstance(call, dict)
        and ({"name", "arguments"} <= call.keys() or isinstance(call.get("function"), dict))
        for call in calls
    )


def _check_text_answer(answer: Any, field: str) -> None:
    kind = type(answer)
    if kind is str or answer is None or kind is int or kind is float or kind is bool:
        return
    if isinstance(answer, dict) or (
        isinstance(answer, list) and any(isinstance(one, list | dict) or one is None for one in answer)
    ):
        inside = " with something other than texts and numbers" if isinstance(answer, list) else ""
        if _is_calls(answer):
            raise MissingFieldError(
                field,
                reason=f"{field} looks like function calls, which a file of questions does not score. Write a benchmark in Python with "
                f'tools_field= and expected_calls_field="{field}" (docs/tools.md, "Your own tools")',
            )
        raise MissingFieldError(
            field,
            reason=f"{field} is {_kind(answer)}{inside}; expected a text, a number, or a list of them (any of which is right)",
        )


def _missing(name: str, row: Row) -> MissingFieldError:
    if name in row:
        state = "null" if row[name] is None else "empty"
        return MissingFieldError(name, reason=f'missing "{name}": it is {state}')
    return MissingFieldError(name, reason=lambda: _not_there(name, row))


def _not_there(name: str, row: Row) -> str:
    near = likely_question(row)
    cure = f'. Did you mean "{near}"? Name the column: --input-columns {quote(near)}' if near else ""
    has = f"the row has: {listed(row)}" if row else "the row has no fields"
    return f'missing "{name}"; {has}{cure}'


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "no text"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else exact_json(value).decode()
    text = f"{text[:_SHOWN_CHARS]}…" if len(text) > _SHOWN_CHARS else text
    return f'"{text}"' if isinstance(value, str) else text


LISTED_BAD_ROWS = 100_000
"""Number of bad rows that are listed. The limit bounds the memory; a longer list would not be read."""


class CountingRules:
    """Row rules that also count the options, and rows that can be sent but look wrong."""

    def __init__(self, rules: RowRules) -> None:
        self._rules = rules
        self.options: Counter[int] = Counter()
        """Good rows by their number of options."""
        self._twins: list[str] = []
        self._nulls: list[str] = []

    def __call__(self, row: Row) -> None:
        """Check a row by the rules, and count its options."""
        self.options[self._rules.examine(row)] += 1
        if (twin := self._rules.equal_options(row)) is not None:
            self._twins.append(twin)
        for name, value in row.items():
            if type(value) is str and "\0" in value:
                self._nulls.append(name)
                break

    def doubts(self) -> Iterator[str]:
        """Warnings about equal options, and about characters that belong in no text."""
        if self._twins:
            has = "1 row has" if len(self._twins) == 1 else f"{len(self._twins)} rows have"
            yield f"{has} two equal options, of which only one can be right; the first are both {_shown(self._twins[0])}"
        if self._nulls:
            has = "1 row has" if len(self._nulls) == 1 else f"{len(self._nulls)} rows have"
            yield f'{has} the character \\0 in a cell, which is sent as it is; the first is in "{self._nulls[0]}"'


def tallied(spec: BenchmarkSpec) -> tuple[BenchmarkSpec, CountingRules | None]:
    """The benchmark with row rules that count; None if it has no such rules."""
    if not isinstance(spec.check_row, RowRules):
        return spec, None
    tally = CountingRules(spec.check_row)
    return replace(spec, check_row=tally), tally


class FileReport(Struct, frozen=True, kw_only=True):
    """The contents of a file of questions."""

    file: str
    """The file as the user wrote it."""
    data_type: str
    """mcq or qa; empty if no row can be read."""
    rows: int = 0
    """Rows that can be sent."""
    answers: int = 0
    """How many of them have an answer."""
    options: Mapping[int, int]
    """Rows of multiple choice by their number of options."""
    columns: tuple[str, ...] = ()
    """Every column that occurs."""
    errors: tuple[str, ...] = ()
    """Errors about the file as a whole."""
    warnings: tuple[str, ...] = ()
    """Warnings for the user."""
    bad_rows: tuple[BadRow, ...] = ()
    """Rows that cannot be sent or scored, in the order of the file."""
    bad_total: int = 0
    """Number of bad rows."""

    @classmethod
    def of(cls, spec: BenchmarkSpec, *, limit: int | None = None) -> FileReport:
        """Check every row of a file of questions, and list all bad ones."""
        counting, tally = tallied(spec)
        file = str(spec.dataset)
        options: Counter[int] = Counter() if tally is None else tally.options
        try:
            reader = spec.open(limit, sampled=False)
            scan = scan_rows(counting, reader, build_prompts(spec), LISTED_BAD_ROWS)
        except DatasetError as error:
            return cls(
                file=file,
                data_type=spec.data_type if options else "",  # without a row, it is a guess
                options={},
                errors=(str(error),),
                bad_rows=error.bad_rows,
            )
        return cls(
            file=file,
            data_type=spec.data_type,
            rows=scan.rows,
            answers=scan.rows - scan.missing_targets,
            options={count: options[count] for count in sorted(options) if count},
            columns=scan.columns,
            errors=tuple(_errors(spec, scan)),
            warnings=(
                *_warnings(spec, scan),
                *(() if tally is None else tally.doubts()),
                *reader.doubts(),
                *reader.notes(),
            ),
            bad_rows=scan.bad_rows,
            bad_total=scan.bad_total,
        )

    def __repr__(self) -> str:
        return f"<FileReport {self.file}: {self.data_type}, rows {self.rows}, bad rows {self.bad_total}>"

    @property
    def ok(self) -> bool:
        """Whether every row can be sent and scored."""
        return not self.errors and self.bad_total == 0


def _errors(spec: BenchmarkSpec, scan: RowScan) -> list[str]:
    if not scan.rows and not scan.bad_total:
        return ["the file has no rows"]
    problem = target_problem(spec, scan)
    return [*scan.absent, *([] if problem is None else [problem])]


def _warnings(spec: BenchmarkSpec, scan: RowScan) -> list[str]:
    partly = missing_answers(spec, scan)
    return [*spec.doubts, *([] if partly is None else [partly]), *repetitions(scan)]
