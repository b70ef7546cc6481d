"""When an example is the row under test: the one place that decides what a row must not see.

Two prompts that differ only in white space, case or Unicode composition ask the same. An example whose row
cannot fill the main prompt (other column names, its own template) is told by the words of the row under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from unicodedata import normalize

from benchwright.benchmarks._examples import Example
from benchwright.benchmarks._template import Template
from benchwright.core import Row

TELLING_CHARS = 12
"""Fewer characters than this, in all fields together, may stand in an example by chance."""

_HEAD_WORDS = 4
"""How many words behind what all examples share are looked at before a whole prompt is normalised."""

_VALUE_WORDS = 12
"""The same for a field that is looked for in the texts of examples."""


class Likeness:
    """Tells which of a run's examples are the row under test. Built once; may be shared between threads."""

    __slots__ = ("_fields", "_head_words", "_heads", "_prompts", "_texts", "_unprompted")

    def __init__(self, template: Template, examples: Sequence[Example], spares: Sequence[Example]) -> None:
        self._fields = tuple(template.fields)
        every = [*examples, *spares]
        # Normalised once: prompts by the prompt as rendered, texts of those that have no prompt by the text.
        self._prompts = {e.prompt: normalised(e.prompt) for e in every if e.prompt is not None}
        self._texts = {e.text: normalised(e.text) for e in every if e.prompt is None}
        self._unprompted = " ".join([self._texts[e.text] for e in examples if e.prompt is None])
        at_each_place = zip(*(prompt.split() for prompt in self._prompts.values()), strict=False)
        shared = sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, at_each_place))
        self._head_words = shared + _HEAD_WORDS
        self._heads = frozenset(self._head(e.prompt) for e in examples if e.prompt is not None)

    def among_examples(self, prompt: str, row: Row) -> bool:
        """Whether an example may be this row. The hot path: False for certain, True for a closer look."""
        # Most prompts part from all examples within a few words, however long they are.
        if self._heads and self._head(prompt) in self._heads:
            return True
        return bool(self._unprompted) and self._may_be_told(prompt, row)

    def test_for(self, prompt: str, row: Row) -> Callable[[Example], bool]:
        """The test whether an example is this row."""
        prompts, texts = self._prompts, self._texts
        own = normalised(prompt)
        telling: Sequence[str] | None = None

        def is_row(example: Example) -> bool:
            nonlocal telling
            # No looking for words where the prompt is known: "q1" stands in "q10" and is another question.
            if example.prompt is not None:
                return prompts[example.prompt] == own
            if telling is None:
                telling = self._telling(prompt, row)
            return _holds(texts[example.text], telling)

        return is_row

    def _may_be_told(self, prompt: str, row: Row) -> bool:
        unprompted = self._unprompted
        for field in self._fields:
            value = row.get(field)
            if not isinstance(value, str) or _head(value, _VALUE_WORDS) in unprompted:
                continue
            if value.strip() in prompt:
                return False
        return _holds(unprompted, self._telling(prompt, row))

    def _head(self, prompt: str) -> str:
        return _head(prompt, self._head_words)

    def _telling(self, prompt: str, row: Row) -> Sequence[str]:
        """The texts of a row that its prompt shows; none where they are too short to tell."""
        values = [row[field] for field in self._fields if field in row]
        found = [value for value in values if isinstance(value, str)]
        if not found:  # a list of turns, a dict with the question in it
            found = [text for value in values for text in _texts_in(value)]
        # What the template only tests, or shows in another form, is not to be found in the example either.
        shown = [normalised(text) for text in found if text.strip() and text.strip() in prompt]
        return shown if sum(map(len, shown)) >= TELLING_CHARS else ()


def normalised(text: str) -> str:
    """A text without what does not change the question: composition, white space, case.

    >>> normalised("  What IS\\n\\tit? ")
    'what is it?'
    """
    return normalize("NFC", " ".join(text.split())).casefold()


def _head(text: str, count: int) -> str:
    # Split with a bound, the rest of a long text is copied and not looked at.
    return normalize("NFC", " ".join(text.split(None, count)[:count])).casefold()


def _holds(text: str, telling: Sequence[str]) -> bool:
    return bool(telling) and all(words in text for words in telling)


def _texts_in(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_in(inner)
