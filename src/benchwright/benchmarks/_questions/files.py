"""Which targets are files of questions, and what a benchmark made of one is called."""

from __future__ import annotations

import re
from pathlib import PurePath

_DATA = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
_PACKED = (".gz", ".zst")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
FIXED_COLUMNS = (".csv", ".tsv", ".parquet")
"""Formats in which every row has the same columns, so that the first row tells them all."""


def is_question_file(target: str) -> bool:
    """Whether a target is data rather than code: a known data suffix, packed or not, or a URI.

    >>> is_question_file("test_mcq.csv"), is_question_file("qa.jsonl.gz"), is_question_file("bench.py:name")
    (True, True, False)
    """
    return _SCHEME.match(target) is not None or _suffix(target) in _DATA


def has_fixed_columns(path: str) -> bool:
    """Whether the first row of a file tells the columns of all."""
    return _suffix(path) in FIXED_COLUMNS


def question_name(target: str) -> str:
    """The name of a file without its folder and its known suffixes; of a hub URI, the dataset's.

    >>> question_name("data/x.y.jsonl.gz"), question_name("hf://org/name?split=test")
    ('x.y', 'name')
    """
    place = _SCHEME.sub("", target)
    if place != target:
        place = re.split(r"[?#]", place, maxsplit=1)[0].rstrip("/").split("@", 1)[0]
    path = PurePath(place)
    name = path.name
    for endings in (_PACKED, _DATA):
        suffix = PurePath(name).suffix
        if suffix.lower() in endings:
            name = name[: -len(suffix)]
    return name or path.name or target


def _suffix(target: str) -> str:
    path = PurePath(target)
    if path.suffix.lower() in _PACKED:
        path = path.with_suffix("")
    return path.suffix.lower()
