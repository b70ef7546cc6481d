"""What is secret, and how it is kept out of everything that is stored or shown.

Two sources of knowledge: names (`is_secret_name`), and values. Every value that is read from the environment by
name is remembered here for the life of the process. The places where text leaves the process (the database, files,
the terminal, the REST interface, messages of errors) replace it by `[redacted]`, in whatever spelling it stands.
What a scorer sees is never changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache

from benchwright.core._redactor import REDACTED, SHORTEST_SECRET, Redactor
from benchwright.core._secret_names import is_secret_name

_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest)\s+(?=\S)", re.IGNORECASE)
_PLAIN_WORDS = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*|[0-9]{1,15}")
_RANDOM = re.compile(r"(?=.*[A-Za-z])(?=.*(?:[0-9]|[a-z][A-Z]))(?![/~.])(?!.*://)\S+")
"""What a key looks like, and a path, an address or a word does not."""
_SECRET_END = re.compile("(?:key|token|pass|pwd|pw|auth)$", re.IGNORECASE)
"""How variables end that hold a secret, such as `MYKEY`. Values that look like no secret are none all the same."""

_known: dict[str, str] = {}
"""Secret values of this process, with the variable each came from."""


def environment_secret(variable: str) -> str:
    """The value of an environment variable, remembered as a secret; empty where there is none."""
    value = os.environ.get(variable, "")
    remember_secret(value, variable)
    return value


def remember_secret(value: str, source: str) -> None:
    """From now on this value is not stored or shown. `source` names where it came from."""
    value = value.strip()
    scheme = _SCHEME.match(value)  # "Bearer abc": the word Bearer is no secret
    if scheme is not None:
        value = value[scheme.end() :]
    if value:
        _known.setdefault(value, source)


def forget_secrets() -> None:
    """Forget every value, for tests."""
    _known.clear()


_current: tuple[list[object], Redactor] | None = None
"""What was known when the redactor was made, and the redactor."""


def known_secrets() -> Redactor:
    """Removes what this process has read from the environment so far, and what is in the environment under a name
    that says so: a user's own code may have read it there."""
    global _current
    # Every group of records comes here, and looking through the environment each time would take long. Comparing its
    # values, as CPython keeps them, is quick.
    kept = getattr(os.environ, "_data", None)
    now: list[object] = [*_known, *(os.environ.items() if kept is None else kept.values())]
    if _current is None or now != _current[0]:
        redactor = _redactor_of((*_known, *_named_secrets()))
        _current = now, redactor
        return redactor
    return _current[1]


def redact(text: str) -> str:
    """A message without any secret that this process knows."""
    return known_secrets().clean(text)


@lru_cache(maxsize=8)
def _redactor_of(secrets: tuple[str, ...]) -> Redactor:
    return Redactor(secrets)


def _named_secrets() -> list[str]:
    """Values in the environment that are secrets by the name of their variable and by their looks."""
    return [
        value
        for name, value in os.environ.items()
        if (is_secret_name(name) or _SECRET_END.search(name))
        and len(value) >= 12
        and _RANDOM.fullmatch(value)
    ]


def doubtful_secrets(variables: Iterable[str]) -> list[str]:
    """What users should know of values that are too short or too common to be recognised for certain."""
    notes = []
    named = set(variables)
    for value, source in _known.items():
        if source not in named:
            continue
        if len(value) < SHORTEST_SECRET:
            notes.append(
                f"the value of {source} has {len(value)} characters: values shorter than {SHORTEST_SECRET} are "
                "not removed from replies and records, only from messages"
            )
        elif _PLAIN_WORDS.fullmatch(value):
            notes.append(
                f"the value of {source} is a plain word or number, which honest replies may hold too: wherever it "
                f"occurs, it is stored and shown as {REDACTED}. Scores are not affected; use a random value"
            )
    return notes
