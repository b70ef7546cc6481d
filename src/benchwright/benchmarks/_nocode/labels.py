"""Which label a reply gives."""

from __future__ import annotations

from collections.abc import Sequence

LAST_TOKENS = 8
"""How many of a reply's last words are looked at."""


def label_of(reply: str, labels: Sequence[str]) -> str | None:
    """The label that a reply gives: the whole reply, else the last of its last eight words that is one.

    Case makes no difference, nor does what stands around a word without being letter or digit. None: unparsed.

    >>> label_of("The answer is (b).", ["A", "B"]), label_of("neither", ["A", "B"])
    ('B', None)
    """
    said = reply.strip()
    known = {label.strip().casefold(): label for label in reversed(labels)}
    whole = known.get(said.casefold())
    if whole is not None:
        return whole
    bare = {stripped(label): label for label in reversed(labels)}
    for token in reversed(said.split()[-LAST_TOKENS:]):
        word = stripped(token)
        found = known.get(word) or (bare.get(word) if word else None)
        if found is not None:
            return found
    return None


def leading_label(reply: str, labels: Sequence[str], tokens: int) -> str | None:
    """The first of a reply's first words that is a label.

    >>> leading_label("Well, yes: it does.", ["yes", "no"], 5)
    'yes'
    """
    known = {stripped(label): label for label in reversed(labels)}
    return next((known[word] for token in reply.split()[:tokens] if (word := stripped(token)) in known), None)


def stripped(token: str) -> str:
    """A word without case and without what stands around it.

    >>> stripped("**(B)**,")
    'b'
    """
    start, end = 0, len(token)
    while start < end and not token[start].isalnum():
        start += 1
    while end > start and not token[end - 1].isalnum():
        end -= 1
    return token[start:end].casefold()
