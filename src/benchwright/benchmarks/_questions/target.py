"""Which targets are data. Apart from what reads them: benchmarks in Python are told by it, and need none of that."""

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
