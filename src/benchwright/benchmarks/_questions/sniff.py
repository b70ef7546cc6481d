"""Detects the type of questions in a file from its rows, never from the first one alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from msgspec import Struct

from benchwright.benchmarks._questions.columns import (
    LETTERS,
    Columns,
    answer_columns,
    distractors,
    is_working,
    lettered_columns,
    list_columns,
    media_columns,
    numbered_columns,
)
from benchwright.benchmarks._questions.layout import Layout
from benchwright.benchmarks._questions.options import DataType
from benchwright.core import DatasetError, Row, UsageError, listed, suggest
from benchwright.datasets import DatasetReader


class Sniffed(Struct, frozen=True):
    """The findings about the rows."""

    data_type: DataType
    """mcq if any row has two or more options; the layout decides whether it is mcq_multi."""
    gold: bool
    """Whether any row has a right answer."""
    columns: tuple[str, ...]
    """Columns seen; all of them if the type is qa."""


def sniff(reader: DatasetReader, columns: Columns, *, fixed: bool) -> Sniffed:
    """Read the rows in one streaming pass that ends as soon as nothing can change any more.

    `fixed` says that every row has the same columns. Rows that cannot be read are left to the check of all rows.
    """
    from benchwright.scorers import options_of

    seen: dict[str, None] = {}
    mcq = gold = False
    for row in _rows(reader):
        if not row.keys() <= seen.keys():
            seen.update(dict.fromkeys(row))
        mcq = mcq or len(options_of(row)) > 1
        gold = gold or columns.has_answer(row)
        type_known = mcq or (fixed and not {"A", "B"} <= seen.keys())
        gold_known = gold or (fixed and columns.answer not in seen)
        options_known = fixed or seen.keys() >= set(columns.letters)
        if type_known and gold_known and options_known:
            break
    return Sniffed("mcq" if mcq else "qa", gold, tuple(seen))


def checked_type(
    found: Sniffed, declared: DataType | None, columns: Columns, name: str, *, several: bool = False
) -> DataType:
    """The type that the user names, else that of the rows. Raises UsageError if the rows contradict the user."""
    original = {letter: name for name, letter in columns.mapping.items()}
    there = [original.get(column, column) for column in found.columns]
    has = f"the rows have: {listed(there)}"
    named = [original.get(letter, letter) for letter in columns.letters]
    if absent := [one for one in named if one not in there] if there else []:
        raise UsageError(
            f"options names {', '.join(absent)}, and no row of {name} has "
            f"{'this column' if len(absent) == 1 else 'these columns'}.{suggest(absent[0], there)} The rows have: "
            f"{listed(there)}"
        )
    if named and found.data_type == "qa" and there:
        raise UsageError(
            f"options names {', '.join(named)}, but no row of {name} has the first two of them; {has}"
        )
    if declared is None and found.data_type == "mcq" and several:
        return "mcq_multi"
    if declared is None or declared.startswith(found.data_type) or not found.columns:
        return declared or found.data_type
    if declared != "qa":
        raise UsageError(
            f"data_type is {declared}, but no row of {name} has two options (columns A, B, …), which makes it qa; {has}. "
            f"Leave data_type out, or name the columns of the options: --options{_lower(found) or ' X,Y,Z'}"
        )
    raise UsageError(
        f"data_type is qa, but rows of {name} have options ({', '.join(_letters(found))}), which makes it mcq; "
        f"{has}. Leave data_type out, or rename columns that are not options"
    )


def doubts(found: Sniffed, columns: Columns, layout: Layout, *, media: bool) -> Iterator[str]:
    """Warnings about columns that look useful and are not used."""
    yield from _unused(
        found.columns, layout, columns, options=found.data_type == "mcq", gold=found.gold, media=media
    )
    if found.data_type == "mcq" or columns.mapping:
        return
    letters = _letters(found)
    if "A" in letters:
        lacking = next(letter for letter in LETTERS if letter not in letters)
        what = "columns" if len(letters) > 1 else "column"
        yield (
            f"{what} {', '.join(letters)} {'look' if len(letters) > 1 else 'looks'} like options, but no row has "
            f"both A and B{'' if lacking > 'B' else f' (there is no {lacking})'}: rows are sent without options (qa)"
        )


def _unused(
    names: Sequence[str], layout: Layout, columns: Columns, *, options: bool, gold: bool, media: bool
) -> Iterator[str]:
    """Warnings about columns that look like options, an answer or an image and are not read. `names` are the names after the
    mapping."""
    taken = {*columns.question, columns.answer, *layout.used, *columns.mapping}
    free = [name for name in names if name not in taken]
    if not options:
        whole = list_columns(free)
        apart = list(numbered_columns(free)) or [
            name for name in lettered_columns(free) if name not in LETTERS
        ]
        if not whole and not apart:
            apart = list(distractors(free))
        hidden = [name for name in layout.likely_options if name not in (*whole, *apart)]
        for name in hidden:
            yield (
                f'column "{name}" contains lists, and the answers are letters: it looks like options and is not used, so rows are '
                f"sent without options (qa). Where it has the options: --options {quote(name)}; where not: --data-type qa"
            )
        if not hidden and (whole or apart):
            yield (
                f"{_columns(whole or apart)} like options and {'is' if len(whole or apart) == 1 else 'are'} not used: "
                "rows are sent without options (qa). "
                + (
                    'Write lists of options there: one option per line, or as ["first", "second"]; or give each option a column: A, B, C, …'
                    if whole
                    else f"Name the columns that have them: --options {quote(','.join(apart))}"
                )
            )
    for name in answer_columns(free):
        if gold and not is_working(name):  # without any answer, the run does not start
            yield (
                f'column "{name}" looks like an answer and is not used: the expected answer is read from "{columns.answer}". Where it '
                f"is the other one: --output-column {quote(name)}"
            )
    if not media:
        for name in media_columns(free):
            yield (
                f'column "{name}" looks like an image, a video or a sound and is not sent: its cells are not paths, data: URLs '
                "or http:// addresses"
            )


def _columns(names: Sequence[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"column {quoted} looks" if len(names) == 1 else f"columns {quoted} look"


def _rows(reader: DatasetReader) -> Iterator[Row]:
    try:
        yield from reader.good_rows()
    except DatasetError:  # the check of all rows reports it
        return


def _letters(found: Sniffed) -> list[str]:
    return [letter for letter in LETTERS if letter in found.columns]


def _lower(found: Sniffed) -> str:
    """` a,b,c` if the rows have such columns, starting with a; else an empty text."""
    names = []
    for letter in LETTERS.lower():
        if letter not in found.columns:
            break
        names.append(letter)
    return f" {','.join(names)}" if len(names) > 1 else ""
