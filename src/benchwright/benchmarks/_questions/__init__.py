"""A bare file of questions as a benchmark: which type it is, how it asks, how its answers are read.

This front only knows which targets are data. Loading a benchmark in Python needs that, and nothing else from here.
"""

from __future__ import annotations

import re

from benchwright.core import data_format
from benchwright.datasets import has_installed_format

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""How an address begins."""


def is_question_file(target: str) -> bool:
    """Whether a target is data rather than code: a known data suffix, packed or not, that of an installed
    format, or a URI.

    >>> is_question_file("test_mcq.csv"), is_question_file("qa.jsonl.gz"), is_question_file("bench.py:name")
    (True, True, False)
    """
    return SCHEME.match(target) is not None or data_format(target) is not None or has_installed_format(target)
