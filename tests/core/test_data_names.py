"""The one list of data formats: every parser has its format and every format its parser."""

from __future__ import annotations

from benchwright.core import DATA_FORMATS, data_endings
from benchwright.datasets._formats import PARSERS


def test_every_format_has_a_parser_and_no_ending_two_formats() -> None:
    assert sorted(format.name for format in DATA_FORMATS) == sorted(PARSERS)
    assert len(set(data_endings())) == len(data_endings()) == sum(len(f.endings) for f in DATA_FORMATS)
