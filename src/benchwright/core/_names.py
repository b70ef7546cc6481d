"""Names that users type: normalisation and suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NOT_ALLOWED = re.compile(r"[^a-z0-9]+")


def normalise_name(name: str) -> str:
    """Lower-case; everything but a-z0-9 becomes `_`; runs collapse; ends stripped; cut to 50.

    >>> normalise_name("My QA Benchmark!")
    'my_qa_benchmark'
    """
    return _NOT_ALLOWED.sub("_", name.lower()).strip("_")[:50]


def suggest(name: str, known: Iterable[str]) -> str:
    """` Did you mean …?` for the nearest known name, or an empty text when none is near."""
    from difflib import get_close_matches  # only on the way to an error

    near = get_close_matches(name, list(known), n=3, cutoff=0.6)
    if not near:
        return ""
    return " Did you mean " + " or ".join(repr(n) for n in near) + "?"
