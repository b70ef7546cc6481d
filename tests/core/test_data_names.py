"""The one list of data formats: every format has its reader and its place in the manual."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.core import DATA_FORMATS, DataFormat, data_endings
from benchwright.datasets._formats import reader_of

MANUAL = Path(__file__).parents[2] / "docs" / "data.md"


def test_no_ending_belongs_to_two_formats() -> None:
    endings = [ending for format in DATA_FORMATS for ending in format.endings]
    assert len(set(endings)) == len(endings)
    assert len({format.name for format in DATA_FORMATS}) == len(DATA_FORMATS)


@pytest.mark.parametrize("format", DATA_FORMATS, ids=lambda format: format.name)
def test_every_format_has_a_reader_of_its_own(format: DataFormat) -> None:
    assert callable(reader_of(format.name))
    assert [other.name for other in DATA_FORMATS if other.reader == format.reader] == [format.name]
    assert format.like in (None, *(other.name for other in DATA_FORMATS))


def test_the_manual_lists_every_ending() -> None:
    table = MANUAL.read_text(encoding="utf-8").partition("## ")[2]
    assert [ending for ending in data_endings() if f"`{ending}`" not in table] == []
