"""A bare file of questions as a benchmark: its type, its prompts, and how answers are read.

This module knows only which targets are data, because loading a Python benchmark needs nothing else from here.
"""

from __future__ import annotations

from typing import Literal

from benchwright.config import SUITE_SUFFIXES
from benchwright.core import data_format, late_pattern
from benchwright.datasets import has_installed_format

SCHEME = late_pattern(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""How a URI begins."""


def written_as(target: str) -> Literal["questions", "suite", ""]:
    """What a target is by the way it is written: data (a URI, or a file with a known data suffix, compressed or not, or the
    suffix of an installed format), or a document that can only be a suite, because no data format has its ending.

    >>> [written_as(target) for target in ("test_mcq.csv", "qa.jsonl.gz", "suite.toml", "bench.py:name", "suite.py")]
    ['questions', 'questions', 'suite', '', '']
    """
    if SCHEME.match(target) is not None or data_format(target) is not None or has_installed_format(target):
        return "questions"
    suffixes = tuple(suffix for suffix in SUITE_SUFFIXES if suffix != ".py")  # most such files are benchmarks
    return "suite" if target.lower().endswith(suffixes) else ""
