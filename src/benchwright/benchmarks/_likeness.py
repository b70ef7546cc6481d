"""When an example is the row under test: the one place that decides what a row must not see.

Two prompts that differ only in white space, case or Unicode composition ask the same. An example whose row
cannot fill the main prompt (other column names, its own template) is told by the words of the row under test: they
stand in the example if they are many, and are whole values of its row if they are few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from unicodedata import normalize

from benchwright.benchmarks._examples import Example, texts_in
from benchwright.benchmarks._template import Template
from benchwright.core import BenchwrightError, Row

TELLING_CHARS = 12
"""Fewer characters than this, in all fields together, may stand in an example by chance."""

TRIVIAL_CHARS = 2
"""A question of no more characters, or a mere number, is another row's too unless the answer is the same."""

_HEAD_WORDS = 4
"""How many words behind what all examples share are looked at before a whole prompt is normalised."""

_VALUE_WORDS = 12
"""The same for a field that is looked for in the texts of examples."""


class Likeness:
    """Tells which of a run's examples are the row under test. Built once; may be shared between threads."""

    __slots__ = ("_fields", "_head_words", "_heads", "_prompts", "_target", "_texts", "_unprompted", "_value_heads",
                 "_values")  # fmt: skip

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
        # Normalised once: prompts by the prompt as rendered, texts of those that have no prompt by the text.
        self._prompts = {e.prompt: normalised(e.prompt) for e in every if e.prompt is not None}
        self._texts = {e.text: normalised(e.text) for e in every if e.prompt is None}
        self._unprompted = " ".join([self._texts[e.text] for e in examples if e.prompt is None])
        self._values: dict[str, Counter[str]] = {text: Counter() for text in self._texts}
        for example in every:
            if example.prompt is None:  # examples that read the same are told by the values of either
                self._values[example.text] |= Counter(map(normalised, example.values))
        self._value_heads = frozenset(
            _head(value, _VALUE_WORDS) for e in examples if e.prompt is None for value in (e.text, *e.values)
        )
        at_each_place = zip(*(prompt.split() for prompt in self._prompts.values()), strict=False)
        shared = sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, at_each_place))
        self._head_words = shared + _HEAD_WORDS
        self._heads = frozenset(self._head(e.prompt) for e in examples if e.prompt is not None)

    def among_examples(self, prompt: str, row: Row) -> bool:
        """Whether an example may be this row. The hot path: False for certain, True for a closer look."""
        # Most prompts part from all examples within a few words, however long they are.
        if self._heads and self._head(prompt) in self._heads:
            return True
        return bool(self._unprompted) and (self._may_be_told(prompt, row) or self._may_be_value(prompt, row))

    def test_for(self, prompt: str, row: Row) -> Callable[[Example], bool]:
        """The test whether an example is this row."""
        prompts, texts = self._prompts, self._texts
        own = normalised(prompt)
        shown: Sequence[str] | None = None
        answer = ""

        def is_row(example: Example) -> bool:
            nonlocal shown, answer
            # No looking for words where the prompt is known: "q1" stands in "q10" and is another question.
            if example.prompt is not None:
                return prompts[example.prompt] == own
            if shown is None:
                shown, answer = self._shown(prompt, row), normalised(self._answer(row))
            text = texts[example.text]
            if _is_telling(shown) and _holds(text, shown):
                return True
            return _asks(self._values[example.text], text, own, shown, answer)

        return is_row

    def _may_be_told(self, prompt: str, row: Row) -> bool:
        unprompted = self._unprompted
        for field in self._fields:
            value = row.get(field)
            if not isinstance(value, str) or _head(value, _VALUE_WORDS) in unprompted:
                continue
            if value.strip() in prompt:
                return False
        shown = self._shown(prompt, row)
        return _is_telling(shown) and _holds(unprompted, shown)

    def _may_be_value(self, prompt: str, row: Row) -> bool:
        heads = self._value_heads
        answer = self._answer(row)
        texts = [text for field in self._fields if field in row for text in texts_in(row[field])]
        return any(
            _head(text, _VALUE_WORDS) in heads or _head(f"{text} {answer}", _VALUE_WORDS) in heads
            for text in (prompt, *texts)
        )

    def _answer(self, row: Row) -> str:
        """The expected answer; empty where the row's cannot be read, which is for others to tell."""
        try:
            return str(self._target(row))
        except (BenchwrightError, LookupError, TypeError, ValueError):
            return ""

    def _head(self, prompt: str) -> str:
        return _head(prompt, self._head_words)

    def _shown(self, prompt: str, row: Row) -> Sequence[str]:
        """The texts of a row that its prompt shows; numbers only where it shows no text."""
        values = [row[field] for field in self._fields if field in row]
        found = [value for value in values if isinstance(value, str)]
        if not found:  # a list of turns, a dict with the question in it
            found = list(texts_in(values, numbers=False)) or list(texts_in(values))
        # What the template only tests, or shows in another form, is not to be found in the example either.
        return [normalised(text) for text in found if text.strip() and text.strip() in prompt]


def normalised(text: str) -> str:
    """A text without what does not change the question: composition, white space, case.

    >>> normalised("  What IS\\n\\tit? ")
    'what is it?'
    """
    return normalize("NFC", " ".join(text.split())).casefold()


def _head(text: str, count: int) -> str:
    # Split with a bound, the rest of a long text is copied and not looked at.
    return normalize("NFC", " ".join(text.split(None, count)[:count])).casefold()


def _is_telling(shown: Sequence[str]) -> bool:
    return sum(map(len, shown)) >= TELLING_CHARS


def _holds(text: str, telling: Iterable[str]) -> bool:
    return all(words in text for words in telling)


def _asks(values: Counter[str], text: str, prompt: str, shown: Sequence[str], answer: str) -> bool:
    """Whether an example, by the values of its row, asks exactly this: whole, or solved in one text."""
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
        # Counted: the one value "1" is not both a question "1" and its answer "1".
        elif answer and Counter([*question, answer]) <= values:
            return True
    return False


def _is_trivial(question: Sequence[str]) -> bool:
    return sum(map(len, question)) <= TRIVIAL_CHARS or all(
        text.replace(".", "").replace(",", "").lstrip("-+").isdecimal() for text in question
    )
