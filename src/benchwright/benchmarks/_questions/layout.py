"""How a file lays out its questions if it has no columns `question`, `A`, `B`, …, `answer`.

Datasets keep options in a list, in a dict or in columns of other names, and answers as an index or a label. The first
rows of a file show its layout. It is reported with every result and converted row by row, so prompts, checks and scorers
see only one layout. If anything is uncertain, rows are left unchanged, and the row check refuses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._fields import is_blank
from benchwright.benchmarks._questions.columns import (
    BEYOND,
    LETTERS,
    Columns,
    answer_columns,
    columns_of_media,
    likely_answers,
    question_column,
    same_column,
    shown_by,
    translated_column,
)
from benchwright.benchmarks._questions.options import QuestionOptions
from benchwright.benchmarks._questions.row_options import (
    OptionSource,
    RowOptions,
    hides_options,
    option_source,
    unlabelled,
    whole_number,
)
from benchwright.core import DatasetError, Information, Row, UsageError
from benchwright.datasets import DatasetReader

SAMPLE_ROWS = 1000
"""How many rows determine the layout. The check of all rows refuses later ones that differ."""

SEVERAL_SHARE = 0.05
"""If at least this share of answers names several options, the file has several right options per question. Below it,
such an answer is a mistake, and the row is refused."""


class Layout(Struct, frozen=True, kw_only=True):
    """The column names of a file, and how its rows become questions with lettered options."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    """Columns to rename."""
    shape: Callable[[Row], Row] | None = None
    """Further conversion of each row, after the renaming."""
    notes: tuple[str, ...] = ()
    """Sentences that describe how options and answers are read."""
    used: frozenset[str] = frozenset()
    """Columns that are read under other names, or that repeat a column that is read."""
    several: bool = False
    """Whether an answer means several options."""
    likely_answer: str = ""
    """A column with values that looks like the answer and is not read."""
    likely_options: tuple[str, ...] = ()
    """Columns whose cells are lists, of which the answers are letters, if no options are read."""


def find_layout(reader: DatasetReader, options: QuestionOptions, columns: Columns) -> Layout:
    """The layout of a file, from its first rows. `reader` returns the rows of the data unchanged.

    Raises UsageError for options that contradict the rows, and for a column of images that cannot be sent.
    """
    rows = _sample(reader)
    names = list(dict.fromkeys(name for row in rows for name in row))
    layout = _layout_of_text(rows, names, options, columns)
    taken = {*columns.question, columns.answer, *layout.used, *columns.mapping}
    free = [name for name in names if name not in taken]
    layout = replace(layout, likely_answer=_likely_answer(rows, free))
    if options.data_type != "qa" and layout.shape is None:
        written = next(
            (name for name, usual in layout.mapping.items() if usual == columns.answer), columns.answer
        )
        hidden = tuple(name for name in free if hides_options(rows, name, written))
        layout = replace(layout, likely_options=hidden)
    shown = columns_of_media(rows, free)
    if not shown:
        return layout
    notes = [Information(f'{kind} files are read from "{name}"') for name, kind in shown.items()]
    return replace(
        layout,
        shape=shown_by(shown, layout.shape),
        notes=(*layout.notes, *notes),
        used=layout.used | shown.keys(),
    )


def _likely_answer(rows: Sequence[Row], free: Sequence[str]) -> str:
    return next(
        (name for name in likely_answers(free) if any(not is_blank(row.get(name)) for row in rows)), ""
    )


def _layout_of_text(
    rows: Sequence[Row], names: Sequence[str], options: QuestionOptions, columns: Columns
) -> Layout:
    mapping = _plain_names(names, columns)
    source = option_source(rows, names, options, columns)
    if source is None:
        return _without_options(rows, options, mapping)
    stem = (
        None if options.input_columns or "question" in {*names, *mapping.values()} else question_column(names)
    )
    if stem is not None:
        mapping[stem] = "question"
    answers = _answers(rows, names, source, options, columns, mapping)
    if source.guessed and answers.fit == 0 and answers.seen:
        return Layout(mapping=mapping, notes=tuple(_plainly(mapping)))  # reported among the unused columns
    mapping |= source.mapping
    given = "" if answers.column is None else mapping.get(answers.column, answers.column)
    shape = _shape(source, given, columns.answer, answers.base)
    notes = [*_plainly(mapping, source.mapping), *source.notes]
    if source.column is None and _have_labels(rows, source):
        shape = _without_labels(shape)
        notes.append('labels such as "A)" are removed from the options, which get their own')
    if source.right is None:
        notes += _answer_notes(answers, given, columns.answer)
    used = {*mapping, *source.names, *_agreeing(rows, names, source, answers)}
    return Layout(
        mapping=mapping, shape=shape, notes=tuple(notes), used=frozenset(used), several=answers.several
    )


class _Answers(Struct, frozen=True):
    """Where the right options are, and how they are written."""

    column: str | None = None
    """The column, by its name in the data; None: there is none."""
    base: int | None = None
    """The number of the first option; None: numbers do not count options."""
    given: bool = False
    """Whether the user gave that number."""
    seen: int = 0
    """Rows with an answer."""
    fit: int = 0
    """How many of these name an option of their row."""
    by_label: bool = False
    """Whether answers are labels of options other than their letters."""
    verbatim: bool = False
    """Whether answers are numbers that could be indexes but are read as texts of options."""
    several: bool = False
    """Whether an answer means several options."""

    def letters(self, row: Row, listed: RowOptions) -> object:
        """The options that the answer of a row names; None if it has no answer."""
        value = None if self.column is None else row.get(self.column)
        return listed.letters_of(listed.answer(value, self.base))


def _answers(
    rows: Sequence[Row],
    names: Sequence[str],
    source: OptionSource,
    options: QuestionOptions,
    columns: Columns,
    mapping: Mapping[str, str],
) -> _Answers:
    """The answers in the named column, else in the first column that looks like answers and fits the options."""
    if source.right is not None:
        return _Answers(column=source.right, seen=len(rows), fit=len(rows))
    renamed = next((name for name, usual in mapping.items() if usual == columns.answer), None)
    if columns.answer in names or renamed is not None or options.output_column is not None:
        return _read_as(rows, renamed or columns.answer, source, options.answer_index)
    found = [_read_as(rows, name, source, options.answer_index) for name in answer_columns(names)]
    fitting = [one for one in found if one.seen and one.fit == one.seen]
    return fitting[0] if fitting else _Answers(seen=sum(one.seen for one in found))


def _read_as(rows: Sequence[Row], name: str, source: OptionSource, given: int | None) -> _Answers:
    seen = texts = labels = odd = 0
    several = 0
    lowest, at_end, indexed = None, False, True
    for row in rows:
        value, listed = row.get(name), source.read(row)
        if listed is None or value is None or (isinstance(value, str) and not value.strip()):
            continue
        seen += 1
        meant = listed.letters_of(value if given is None else listed.answer(value, given))
        several += isinstance(meant, list)
        if meant is not None:
            texts += 1
            labels += listed.by_label(value)
        number = whole_number(value)
        if number is None:
            indexed = False
            continue
        lowest = number if lowest is None else min(lowest, number)
        at_end = at_end or number == len(listed.texts)
        odd += not 0 <= number <= len(listed.texts)
    if not seen:
        return _Answers(column=name)
    if given is not None:
        return _Answers(
            column=name, base=given, given=True, seen=seen, fit=seen, several=_several(several, seen)
        )
    counts = indexed and lowest is not None and not odd and (lowest == 0) != at_end
    if counts and texts < seen:
        return _Answers(column=name, base=0 if lowest == 0 else 1, seen=seen, fit=seen)
    verbatim = indexed and texts == seen and not labels and not odd
    return _Answers(
        column=name,
        seen=seen,
        fit=texts,
        by_label=labels > 0,
        verbatim=verbatim,
        several=_several(several, seen),
    )


def _several(several: int, seen: int) -> bool:
    return several > 0 and several >= SEVERAL_SHARE * seen


def _agreeing(
    rows: Sequence[Row], names: Sequence[str], source: OptionSource, answers: _Answers
) -> Iterator[str]:
    """The column with the answers, and others with the same content in every row."""
    if answers.column is None:
        return
    yield answers.column
    for name in answer_columns(names):
        other = _read_as(rows, name, source, None)
        pairs = [
            (answers.letters(row, one), other.letters(row, one)) for row in rows if (one := source.read(row))
        ]
        if other.fit and all(one == another for one, another in pairs):
            yield name


def _answer_notes(answers: _Answers, given: str, usual: str) -> Iterator[str]:
    """How answers are read, unless they are letters and texts in the usual column."""
    if answers.column is None or not answers.seen:
        return
    if answers.base is not None:
        how = "as --answer-index says" if answers.given else "as the rows show"
        yield f'"{answers.column}" counts the options from {answers.base}, {how}'
    elif answers.by_label:
        yield f'"{answers.column}" is the label of an option'
    elif answers.verbatim:
        yield (
            f'"{answers.column}" contains numbers that match the texts of options and is read as text; if they are '
            "positions, name the first one: --answer-index 0 or --answer-index 1"
        )
    elif given != usual:
        yield Information(f'the right option is read from "{answers.column}"')


def _shape(source: OptionSource, given: str, usual: str, base: int | None) -> Callable[[Row], Row] | None:
    """The conversion to the common layout; None if rows already have it."""
    from benchwright.scorers import options_of

    listed = source.read if source.column is not None or source.right is not None else None
    if listed is None and base is None and given in ("", usual):
        return None
    column = source.column

    def shape(row: Row) -> Row:
        found = listed(row) if listed is not None else None
        shaped = dict(row)
        if found is not None:
            if column == "options":  # in a template, this name means the lettered list
                del shaped[column]
            shaped.update(zip((*LETTERS, BEYOND), found.texts, strict=False))
        if not given or given not in row:
            return shaped
        if found is None:
            found = RowOptions(tuple(options_of(shaped).values()))
        shaped[usual] = found.right or found.answer(row[given], base)
        return shaped

    return shape


def _have_labels(rows: Sequence[Row], source: OptionSource) -> bool:
    """Whether the options of all rows repeat their letters, as in `A) Paris`."""
    found = [one.texts for row in rows if (one := source.read(row)) is not None]
    return bool(found) and all(unlabelled(texts) is not None for texts in found)


def _without_labels(shape: Callable[[Row], Row] | None) -> Callable[[Row], Row]:
    from benchwright.scorers import options_of

    def stripped(row: Row) -> Row:
        shaped = dict(row) if shape is None else shape(row)
        texts = unlabelled(tuple(options_of(shaped).values()))
        return {**shaped, **dict(zip(LETTERS, texts, strict=False))} if texts else shaped

    return stripped


def _without_options(rows: Sequence[Row], options: QuestionOptions, mapping: dict[str, str]) -> Layout:
    if options.answer_index is not None and rows:
        raise UsageError(
            f"answer_index says that answers are positions of options, but no row has two options; the rows have: {', '.join(rows[0])}"
        )
    return Layout(mapping=mapping, notes=tuple(_plainly(mapping)), used=frozenset(mapping))


def _plain_names(names: Sequence[str], columns: Columns) -> dict[str, str]:
    """Columns that differ from the usual names, or from the user's, only in case, width, white space and language."""
    found = {}
    for name in ("max_tokens", *columns.question, columns.answer):
        if name in names:
            continue
        other = same_column(name, names) or translated_column(name, names)
        if other is not None and other not in found:
            found[other] = name
    return found


def _plainly(mapping: Mapping[str, str], options: Mapping[str, str] | None = None) -> list[str]:
    """Sentences about columns with other names; differences in white space and case are not reported."""
    others = {
        name: usual
        for name, usual in mapping.items()
        if name not in (options or {}) and name.strip().casefold() != usual.casefold()
    }
    return [Information(f'"{usual}" is read from "{name}"') for name, usual in others.items()]


def _sample(reader: DatasetReader) -> list[Row]:
    try:
        return reader.head(SAMPLE_ROWS)
    except DatasetError:  # the check of all rows reports it, with the rows before it
        return []
