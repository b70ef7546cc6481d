"""Which targets are files of questions, and what a benchmark made of one is called."""

from __future__ import annotations

import re
from pathlib import PurePath

from benchwright.core import data_format, split_data_name
from benchwright.datasets import has_installed_format

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_question_file(target: str) -> bool:
    """Whether a target is data rather than code: a known data suffix, packed or not, that of an installed
    format, or a URI.

    >>> is_question_file("test_mcq.csv"), is_question_file("qa.jsonl.gz"), is_question_file("bench.py:name")
    (True, True, False)
    """
    return (
        _SCHEME.match(target) is not None or data_format(target) is not None or has_installed_format(target)
    )


def has_fixed_columns(path: str) -> bool:
    """Whether the first row of a file tells the columns of all."""
    format = data_format(path)
    return format is not None and format.fixed_columns


def question_name(target: str) -> str:
    """The name of a file without its folder and its known suffixes; of a hub URI, the dataset's.

    >>> question_name("data/x.y.jsonl.gz"), question_name("hf://org/name?split=test")
    ('x.y', 'name')
    """
    place = _SCHEME.sub("", target)
    if place != target:
        place = re.split(r"[?#]", place, maxsplit=1)[0].rstrip("/").split("@", 1)[0]
    name = PurePath(place).name
    return split_data_name(name)[0] or name or target
