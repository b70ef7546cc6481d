"""A bare file of questions as a benchmark: its type, its prompts, and how answers are read.

This module knows only which targets are data, because loading a Python benchmark needs nothing else from here.
"""

from __future__ import annotations

import re

from benchwright.config import SUITE_SUFFIXES
from benchwright.core import data_format
from benchwright.datasets import has_installed_format

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""How a URI begins."""


def is_question_file(target: str) -> bool:
    """Whether a target is data rather than code: a URI, or a file with a known data suffix, compressed or not, or the
    suffix of an installed format.

    >>> is_question_file("test_mcq.csv"), is_question_file("qa.jsonl.gz"), is_question_file("bench.py:name")
    (True, True, False)
    """
    return SCHEME.match(target) is not None or data_format(target) is not None or has_installed_format(target)


def is_suite_document(target: str) -> bool:
    """Whether a target can only be a suite, by its ending: suites are written in it, and no data format has it.

    >>> is_suite_document("suite.toml"), is_suite_document("rows.json"), is_suite_document("suite.py")
    (True, False, False)
    """
    suffixes = tuple(suffix for suffix in SUITE_SUFFIXES if suffix != ".py")  # most such files are benchmarks
    return target.lower().endswith(suffixes) and not is_question_file(target)
