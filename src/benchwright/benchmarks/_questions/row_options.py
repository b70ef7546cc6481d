"""The options of a row, read in one place: from one cell (a list, a dict or the JSON text of one), or from their own columns.

`option_source` finds where a file keeps them. The layout puts them into the columns A, B, C, … of each row, and everything after
it reads them there, with `options_reader`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from benchwright.benchmarks._fields import is_blank
from benchwright.benchmarks._questions.columns import (
    LETTERS,
    Columns,
    distractors,
    lettered_columns,
    list_columns,
    numbered_columns,
    same_column,
)
from benchwright.benchmarks._questions.options import QuestionOptions
from benchwright.core import Information, Row, TooDeepError, UsageError, listed as joined, load_json, suggest

_LONGEST_TEXT = 100_000
_TEXT_KEYS = ("text", "value", "content", "option", "choice", "texts", "choices", "options")
_LABEL_KEYS = ("label", "key", "id", "letter", "labels", "keys")


class RowOptions(Struct, frozen=True):
    """The options of one row, in order."""

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()
    """Their labels in the data; empty: they have only positions."""
    right: str | None = None
    """The letter of the right option, if the options themselves mark it."""

    @property
    def options(self) -> dict[str, str]:
        """By letter; options after the 26th have none."""
        return dict(zip(LETTERS, self.texts, strict=False))

    def letters_of(self, value: object) -> str | list[str] | None:
        """The letter, or letters, that a value means by a label, a letter or a text; None if it means none."""
        from benchwright.scorers import gold_letters

        letter = self._labelled(value)
        if letter is not None:
            return letter
        if isinstance(value, list | tuple) and self.labels:
            several = [self._labelled(one) for one in value]
            if several and None not in several:
                return [letter for letter in several if letter is not None]
        found = gold_letters(value, self.options)
        if found is None:
            return None
        return found if len(found) > 1 else found[0]

    def by_label(self, value: object) -> bool:
        """Whether the value is the label of an option, and not its letter."""
        letter = self._labelled(value)
        return letter is not None and str(value).strip().upper() != letter

    def answer(self, value: object, base: int | None) -> Any:
        """The answer of a row with lettered options; a value that names no option is left unchanged.

        >>> RowOptions(("x", "y", "z")).answer(2, 1), RowOptions(("x", "y"), ("1", "2")).answer("2", None)
        ('B', 'B')
        """
        if base is None:
            letter = self._labelled(value)
            if letter is not None or not self.labels:
                return value if letter is None else letter
            found = self.letters_of(value)
            return value if found is None else found
        if isinstance(value, list | tuple):
            return [self.answer(one, base) for one in value]
        number = whole_number(value)
        if number is None:
            return value
        if 0 <= number - base < min(len(self.texts), len(LETTERS)):
            return LETTERS[number - base]
        return f"index {number}"  # never the text of an option that happens to be this number

    def _labelled(self, value: object) -> str | None:
        if not self.labels or isinstance(value, list | tuple | dict | bool) or value is None:
            return None
        number = whole_number(value)
        sought = str(value if number is None else number).strip().casefold()
        places = [at for at, label in enumerate(self.labels) if label.casefold() == sought]
        return LETTERS[places[0]] if len(places) == 1 and places[0] < len(LETTERS) else None


def listed_options(value: Any) -> RowOptions | None:
    """The options in a cell, or None if it contains none.

    Understood are a list of texts, a list of dicts with text and label, a dict of two lists (`text`, `label`), a dict
    from label to text, the JSON text of each, and a text with an option per line, or with labels such as `A)`. Trailing
    blank ones do not count.

    >>> listed_options("A) Paris B) Rome").texts, listed_options("Paris\\nRome\\n").texts
    (('Paris', 'Rome'), ('Paris', 'Rome'))
    >>> listed_options({"text": ["x", "y"], "label": ["A", "B"]})
    RowOptions(texts=('x', 'y'), labels=('A', 'B'), right=None)
    """
    if isinstance(value, str):
        value = _parsed(value) or _in_lines(value)
    if isinstance(value, Mapping):
        return _of_dict(value)
    if not isinstance(value, list | tuple):
        return None
    if value and all(isinstance(one, Mapping) for one in value):
        return _of_dicts(value)
    return _listed(value)


_LONGEST_OPTION = 300
"""Characters of an option in a column that is only suggested: longer lines are a text, not a list."""


def hides_options(rows: Sequence[Row], name: str, answer: str) -> bool:
    """Whether a column of any name seems to contain the options: almost every row with an answer has a list there, and the
    answer is the letter of one of its items."""
    pairs = [(row[answer], row.get(name)) for row in rows if not is_blank(row.get(answer))]
    if not pairs or not all(isinstance(given, str) and _is_mark(given) for given, _ in pairs):
        return False
    fit = 0
    for given, cell in pairs:
        found = listed_options(cell)
        if found is not None and len(found.texts) <= len(LETTERS):
            short = max(map(len, found.texts)) <= _LONGEST_OPTION
            fit += short and LETTERS.index(_bare(given)) < len(found.texts)
    return fit >= 0.9 * len(pairs)


def _is_mark(given: str) -> bool:
    bare = _bare(given)
    return len(bare) == 1 and bare in LETTERS


def _bare(given: str) -> str:
    return given.strip(" ().:").upper()


def whole_number(value: object) -> int | None:
    """The whole number that a cell holds, `2`, `"2"` or `2.0`; None for anything else, bools included."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if not isinstance(value, str):
        return None
    text = value.strip().removesuffix(".0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _of_dict(value: Mapping[str, Any]) -> RowOptions | None:
    texts = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), list | tuple)), None)
    if texts is not None:
        labels = next((value[key] for key in _LABEL_KEYS if isinstance(value.get(key), list | tuple)), None)
        return _listed(texts, labels)
    if not all(_is_label(key) for key in value):
        return None
    keys = sorted(value, key=lambda key: (len(str(key).strip()), str(key).strip().casefold()))
    filled = [key for key in keys if value[key] is not None]  # columnar files give every row all keys
    return _listed([value[key] for key in filled], filled)


def _of_dicts(value: Sequence[Mapping[str, Any]]) -> RowOptions | None:
    text = next((key for key in _TEXT_KEYS if all(key in one for one in value)), None)
    if text is None:
        return None
    label = next((key for key in _LABEL_KEYS if all(key in one for one in value)), None)
    return _listed([one[text] for one in value], None if label is None else [one[label] for one in value])


def _listed(texts: Sequence[Any], labels: Sequence[Any] | None = None) -> RowOptions | None:
    shown = ["" if text is None else text for text in texts]
    if any(isinstance(text, list | tuple | Mapping) for text in shown):
        return None
    while shown and not str(shown[-1]).strip():
        shown.pop()
    if len(shown) < 2:
        return None
    bare = unlabelled(tuple(map(str, shown)))
    if bare is not None:
        shown = list(bare)
    named = (
        () if labels is None or len(labels) < len(shown) else tuple(str(label).strip() for label in labels)
    )
    return RowOptions(tuple(map(str, shown)), named[: len(shown)])


_LABEL = re.compile(r"\(?(?P<mark>[A-Za-z]|\d{1,2})[).:\]]\s*(?=\S)")
_INNER_LABEL = re.compile(r"(?:^|(?<=[\s,;|/]))\(?(?P<mark>[A-Za-z]|\d{1,2})[).:]\s+(?=\S)")


def unlabelled(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Options without the labels that they begin with; None unless each has the label of its place.

    >>> unlabelled(["A) Paris", "B) Rome"]), unlabelled(["1. x", "2. y"]), unlabelled(["A. Smith", "Rome"])
    (('Paris', 'Rome'), ('x', 'y'), None)
    """
    found = [_LABEL.match(text.strip()) for text in texts]
    if len(texts) < 2 or not all(found):
        return None
    marks = [match["mark"].upper() for match in found if match]
    if marks not in (list(LETTERS[: len(marks)]), [str(at) for at in range(1, len(marks) + 1)]):
        return None
    return tuple(text.strip()[match.end() :] for text, match in zip(texts, found, strict=True) if match)


def _in_lines(text: str) -> list[str] | None:
    """The options of a cell with one per line, or in one line with labels or separators."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        return lines
    places = list(_INNER_LABEL.finditer(text))
    marks = [place["mark"].upper() for place in places]
    in_order = (list(LETTERS[: len(marks)]), [str(at) for at in range(1, len(marks) + 1)])
    if len(marks) > 1 and marks in in_order and not text[: places[0].start()].strip():
        ends = [*(place.start() for place in places[1:]), len(text)]
        pairs = zip(places, ends, strict=True)
        return [text[place.end() : end].strip().rstrip(",;|/").rstrip() for place, end in pairs]
    for mark in ("|", ";", " / "):  # not a bare slash: m/s is one option
        if mark in text:
            return [part.strip() for part in text.split(mark)]
    return None


def _is_label(key: object) -> bool:
    text = str(key).strip()
    return (len(text) == 1 and text.isascii() and text.isalpha()) or (text.isdigit() and len(text) < 3)


def _parsed(text: str) -> Any:
    """A list or dict written as JSON, or as Python prints it (spreadsheets get that from pandas)."""
    bare = text.strip()
    if not bare or bare[0] + bare[-1] not in ("[]", "{}") or len(bare) > _LONGEST_TEXT:
        return None
    try:
        return load_json(bare)
    except TooDeepError:
        return None
    except ValueError:
        from ast import literal_eval

        try:
            return literal_eval(bare)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None


def options_reader(columns: Columns) -> Callable[[Row], Mapping[str, str]]:
    """How the options of a row are read by letter: its own consecutive, non-empty letters from A."""
    from benchwright.scorers import options_of

    only = columns.only
    if only is None:
        return options_of
    return lambda row: {letter: text for letter, text in options_of(row).items() if letter in only}


class OptionSource(Struct, frozen=True, kw_only=True):
    """Where a row has its options."""

    read: Callable[[Row], RowOptions | None]
    """The options of an unchanged row of the data, with their labels; None if it has none."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Columns that only need another name."""
    column: str | None = None
    """The column that contains all of them."""
    right: str | None = None
    """The column of the right one, if the wrong ones have others; they are put into an order that is drawn for each row."""
    names: tuple[str, ...] = ()
    """Columns of the data that contain options."""
    notes: tuple[str, ...] = ()
    """How they are read; nothing for columns A, B, C, …"""
    guessed: bool = False
    """Whether only matching answers confirm it."""


def option_source(
    rows: Sequence[Row], names: Sequence[str], options: QuestionOptions, columns: Columns
) -> OptionSource | None:
    """Where a file keeps options, by what the user names, else by the names of its columns; None if it has none."""
    from benchwright.scorers import options_of

    if columns.from_list is not None:
        named = columns.from_list
        name = named if named in names else same_column(named, names) or named
        if rows and name not in names:
            raise UsageError(
                f'options names the column "{name}", and no row has it.{suggest(name, names)} The rows have: {joined(names)}'
            )
        cells = [row[name] for row in rows if not is_blank(row.get(name))]
        if cells and not any(map(listed_options, cells)):
            raise UsageError(
                f'options names the column "{name}", and no cell of it is a list of options: {str(cells[0])[:60]!r}. Write '
                'lists, such as ["first", "second"], or give each option a column: A, B, C, …'
            )
        return _in_list(name)
    if columns.letters:
        given = {letter: letter for letter in columns.letters if letter not in columns.mapping.values()}
        return OptionSource(read=_in_columns({**given, **columns.mapping}), names=tuple(columns.mapping))
    lettered = lettered_columns(names)
    plain = {"A", "B"} <= set(names)
    if plain and any(len(options_of(row)) > 1 for row in rows):
        mapping = {name: letter for name, letter in lettered.items() if name != letter}
        return OptionSource(read=_in_columns(lettered), mapping=mapping, notes=_renamed(mapping))
    if options.data_type == "qa":
        return None
    for name in list_columns(names):
        if any(listed_options(row.get(name)) for row in rows):
            return _in_list(name)
    if lettered and not plain:
        return _renames(lettered)
    numbered = numbered_columns(names)
    if numbered:
        return _renames(numbered)
    drawn = distractors(names)
    return _drawn(drawn) if drawn else None


def _renames(found: Mapping[str, str]) -> OptionSource:
    return OptionSource(
        read=_in_columns(found), mapping=found, names=tuple(found), notes=_renamed(found), guessed=True
    )


def _in_list(name: str) -> OptionSource:
    notes = (Information(f'options are read from "{name}"'),)
    return OptionSource(
        read=lambda row: listed_options(row.get(name)), column=name, names=(name,), notes=notes
    )


def _drawn(names: tuple[str, ...]) -> OptionSource:
    right, *wrong = names
    notes = (
        f'options are "{right}" (the right one) and {", ".join(wrong)}, in an order drawn from each question: the same in '
        "every run",
    )
    return OptionSource(read=lambda row: _draw(row, right, wrong), right=right, names=names, notes=notes)


def _draw(row: Row, right: str, wrong: Sequence[str]) -> RowOptions | None:
    texts = [str(value) for name in wrong if (value := row.get(name)) not in (None, "")]
    text = row.get(right)
    if text in (None, "") or not texts:
        return None
    seed = sha256("\n".join([str(text), *texts, str(row.get("question", ""))]).encode()).digest()
    at = int.from_bytes(seed[:8]) % (len(texts) + 1)
    return RowOptions((*texts[:at], str(text), *texts[at:]), right=LETTERS[at] if at < len(LETTERS) else None)


def _in_columns(found: Mapping[str, str]) -> Callable[[Row], RowOptions | None]:
    from benchwright.scorers import options_of

    def read(row: Row) -> RowOptions | None:
        texts = tuple(options_of({letter: row.get(name) for name, letter in found.items()}).values())
        return RowOptions(texts) if len(texts) > 1 else None

    return read


def _renamed(mapping: Mapping[str, str]) -> tuple[str, ...]:
    if not mapping:
        return ()
    names = sorted(mapping, key=lambda name: mapping[name])
    return (Information(f"options are read from the columns {', '.join(names)}"),)
