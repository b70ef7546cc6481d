"""Keeps a row from seeing itself, question and answer, among its few-shot examples.

Two prompts that differ only in white space, case, Unicode composition, quotes, sentence marks or the order of their
options ask the same. If the main prompt cannot be rendered from an example's row (other column names, another template),
the words of the row under test decide: many words must occur in the example, and a few words must be whole values of its
row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from unicodedata import normalize

from benchwright.benchmarks._examples import Example, texts_in
from benchwright.benchmarks._template import Template
from benchwright.core import BenchwrightError, Row

DISTINCTIVE_CHARS = 12
"""If all fields together have fewer characters, an example may contain them by chance."""

TRIVIAL_CHARS = 2
"""A question this short, or a mere number, may occur in another row, unless the answer is the same."""

_HEAD_CHARS = 24
"""Letters and digits at the start of a field that are searched for in examples before the whole field is."""

_HEAD_SLICE = 240
"""Characters at the start of a field from which they are taken."""

_NO_WORD = re.compile(r"[\W_]+")
_WORDS = re.compile(r"[^\W_]+")
_FOLDS_LONGER = re.compile("[ßİŉǰΐΰև\u1e96-\u1e9e\u1f50-\u1f56\u1f80-\u1fff\ufb00-\ufb17]")
"""Letters such as ß that fold to more than one letter."""
_NO_WORD_ASCII = bytes(code for code in range(128) if not chr(code).isalnum())
_MARKS = re.compile(
    r"""(?<!\d)[.,:;!](?!\d) | (?<=\d)[.,:;](?!\d) | (?<!\d)[.,:;](?=\d) | [?"'`¿¡…‘’‚‛“”„‟«»‹›。，、；：？！「」『』]""",
    re.VERBOSE,
)
"""Quotes and sentence marks, but not those in a number or a formula: 3.5, 1,000, 2:1, 5!."""

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_LABEL = re.compile(r"^[\s*_\-•]*(?:\(?[A-Za-z0-9]{1,2}[).:]|\[[A-Za-z0-9]{1,2}\])\s+")
"""The label before an option at the start of a line."""


class SelfExampleGuard:
    """Finds out which of a run's examples are the row under test. Built once; may be shared between threads."""

    __slots__ = (
        "_fields",
        "_lengths",
        "_prompts",
        "_target",
        "_texts",
        "_unprompted",
        "_value_heads",
        "_values",
    )

    def __init__(
        self,
        template: Template,
        examples: Sequence[Example],
        spares: Sequence[Example],
        target: Callable[[Row], object],
    ) -> None:
        self._target = target
        self._fields = tuple(template.fields)
        every = [*examples, *spares]
        # Normalised once: examples with a prompt by the rendered prompt, the others by their text.
        self._prompts = {
            e.prompt: (normalised(e.prompt), _lines(e.prompt)) for e in every if e.prompt is not None
        }
        self._texts = {e.text: normalised(e.text) for e in every if e.prompt is None}
        self._unprompted = "".join([_condensed(e.text) for e in examples if e.prompt is None])
        self._values: dict[str, Counter[str]] = {text: Counter() for text in self._texts}
        for example in every:
            if example.prompt is None:  # examples with the same text share their values
                self._values[example.text] |= Counter(map(normalised, example.values))
        self._value_heads = frozenset(
            _head(value) for e in examples if e.prompt is None for value in (e.text, *e.values)
        )
        self._lengths = frozenset(_letters(e.prompt) for e in examples if e.prompt is not None)

    def among_examples(self, prompt: str, row: Row) -> bool:
        """Whether an example may be this row. This is the hot path: False is certain, True needs a closer check."""
        # Copies of a question have the same number of letters and digits in any layout; most other rows do not.
        if self._lengths and _letters(prompt) in self._lengths:
            return True
        return bool(self._unprompted) and (
            self._may_hold_words(prompt, row) or self._may_be_value(prompt, row)
        )

    def test_for(self, prompt: str, row: Row) -> Callable[[Example], bool]:
        """The test whether an example is this row."""
        prompts, texts = self._prompts, self._texts
        own, lines = normalised(prompt), _lines(prompt)
        shown: Sequence[str] | None = None
        answer = ""

        def is_row(example: Example) -> bool:
            nonlocal shown, answer
            # Words are not searched for if the prompt is known: "q10" contains "q1", which is another question.
            if example.prompt is not None:
                theirs, their_lines = prompts[example.prompt]
                return theirs == own or (len(lines) > 1 and their_lines == lines)
            if shown is None:
                shown, answer = self._shown(prompt, row), normalised(self._answer(row))
            text = texts[example.text]
            if _is_distinctive(shown) and _holds(text, shown):
                return True
            return _has_same_question(self._values[example.text], text, own, shown, answer)

        return is_row

    def _may_hold_words(self, prompt: str, row: Row) -> bool:
        unprompted = self._unprompted
        for field in self._fields:
            value = row.get(field)
            if not isinstance(value, str) or _head(value) in unprompted:
                continue
            if value.strip() in prompt:
                return False
        shown = self._shown(prompt, row)
        return _is_distinctive(shown) and _holds(unprompted, map(_condensed, shown))

    def _may_be_value(self, prompt: str, row: Row) -> bool:
        heads = self._value_heads
        answer = self._answer(row)
        texts = [text for field in self._fields if field in row for text in texts_in(row[field])]
        return any(_head(text) in heads or _head(f"{text} {answer}") in heads for text in (prompt, *texts))

    def _answer(self, row: Row) -> str:
        """The expected answer; empty if it cannot be read, which is reported elsewhere."""
        try:
            return str(self._target(row))
        except (BenchwrightError, LookupError, TypeError, ValueError):
            return ""

    def _shown(self, prompt: str, row: Row) -> Sequence[str]:
        """The texts of a row that its prompt shows; numbers only if it shows no text."""
        values = [row[field] for field in self._fields if field in row]
        found = [value for value in values if isinstance(value, str)]
        if not found:  # a list of turns, or a dict that contains the question
            found = list(texts_in(values, numbers=False)) or list(texts_in(values))
        # Values that the template only tests, or shows in another form, are not in the example either.
        return [normalised(text) for text in found if text.strip() and text.strip() in prompt]


def normalised(text: str) -> str:
    """Remove everything that does not change the question: composition, white space, case, quotes, sentence marks.

    >>> normalised("  What IS\\n\\t“it” ? "), normalised("It costs 1,000.50.")
    ('what is it', 'it costs 1,000.50')
    >>> normalised("5! - 3") == normalised("5 - 3")
    False
    """
    if not text.isascii():
        text = normalize("NFC", text).translate(_DASHES)
    return " ".join(_MARKS.sub(" ", text).split()).casefold()


def _lines(text: str) -> tuple[str, ...]:
    """The sorted lines of a prompt, options without their letters: the same for options in another order."""
    return tuple(sorted(filter(None, (normalised(_LABEL.sub("", line)) for line in text.splitlines()))))


def _condensed(text: str) -> str:
    """Letters and digits only, of one case."""
    return _NO_WORD.sub("", normalize("NFC", text)).casefold()


def _letters(text: str) -> int:
    """How many letters and digits a text has."""
    if text.isascii():
        return len(text.encode().translate(None, _NO_WORD_ASCII))
    if _FOLDS_LONGER.search(text):
        return len(_condensed(text))
    return len("".join(_WORDS.findall(normalize("NFC", text))))


def _head(text: str) -> str:
    return _condensed(text[:_HEAD_SLICE])[:_HEAD_CHARS]


def _is_distinctive(shown: Sequence[str]) -> bool:
    return sum(map(len, shown)) >= DISTINCTIVE_CHARS


def _holds(text: str, parts: Iterable[str]) -> bool:
    return all(words in text for words in parts)


def _has_same_question(
    values: Counter[str], text: str, prompt: str, shown: Sequence[str], answer: str
) -> bool:
    """Whether an example, by the values of its row, asks exactly this question, alone or in one text with its answer."""
    for question in ([prompt], shown):
        if not question:
            continue
        if answer and len(question) == 1:
            solved = f"{question[0]} {answer}"
            if solved == text or solved in values:
                return True
        if not _is_trivial(question):
            if all(one in values for one in question):
                return True
        # Values are counted: a single value "1" is not both a question "1" and its answer "1".
        elif answer and Counter([*question, answer]) <= values:
            return True
    return False


def _is_trivial(question: Sequence[str]) -> bool:
    return sum(map(len, question)) <= TRIVIAL_CHARS or all(
        text.replace(".", "").replace(",", "").lstrip("-+").isdecimal() for text in question
    )
