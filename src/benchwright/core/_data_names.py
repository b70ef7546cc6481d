"""How data is named: the endings of data files and the schemes of hub datasets, declared once for all rooms.

Here and not in `datasets`, because the configuration must tell data files from names without that room.
`datasets/_formats.py` gives each format its parser; a test holds the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class DataFormat:
    """A format of data files."""

    name: str
    """Its name, as fetchers and `format=` write it."""
    endings: tuple[str, ...]
    """Endings of file names, lower case, without the dot."""
    fixed_columns: bool = False
    """Whether all rows have the same columns, so that the first row tells them all."""


DATA_FORMATS = (
    DataFormat("csv", ("csv",), fixed_columns=True),
    DataFormat("tsv", ("tsv",), fixed_columns=True),
    DataFormat("jsonl", ("jsonl", "ndjson")),
    DataFormat("json", ("json",)),
    DataFormat("parquet", ("parquet",), fixed_columns=True),
    DataFormat("xlsx", ("xlsx", "xlsm", "xls", "ods"), fixed_columns=True),
)
"""All formats that are read."""

PACKED_ENDINGS = ("gz", "zst")
"""Endings of compressed files; the ending before them tells the format."""

_BY_ENDING = {ending: format for format in DATA_FORMATS for ending in format.endings}
_HUB_SCHEMES = ("hf://", "huggingface://")


def data_endings() -> tuple[str, ...]:
    """All endings of data files, with the dot.

    >>> ".csv" in data_endings(), ".py" in data_endings()
    (True, False)
    """
    return tuple(f".{ending}" for ending in _BY_ENDING)


def split_data_name(name: str) -> tuple[str, str]:
    """A file name without its data endings, and the ending that tells the format in lower case, or an empty text.

    What stands behind a question mark says how a file is read and is no part of its name.

    >>> split_data_name("x.y.JSONL.gz"), split_data_name("notes.txt"), split_data_name("b.xlsx?sheet=May.2")
    (('x.y', 'jsonl'), ('notes.txt', ''), ('b', 'xlsx'))
    """
    path = PurePath(name.partition("?")[0])
    bare = path.name
    if path.suffix[1:].lower() in PACKED_ENDINGS:
        bare = bare[: -len(path.suffix)]
    ending = PurePath(bare).suffix
    if ending[1:].lower() in _BY_ENDING:
        return bare[: -len(ending)], ending[1:].lower()
    return (bare if bare != path.name else name), ""


def data_format(path: str) -> DataFormat | None:
    """The format that a file's name tells, `.gz` and `.zst` set aside; None where it tells none.

    >>> data_format("data/a.CSV.gz").name, data_format("bench.py")
    ('csv', None)
    """
    return _BY_ENDING.get(split_data_name(path)[1])


def is_data_file(path: str) -> bool:
    """Whether a name is that of a data file: a known ending, or a compressed file whatever it holds."""
    return data_format(path) is not None or PurePath(path).suffix[1:].lower() in PACKED_ENDINGS


def is_hub_uri(uri: object) -> bool:
    """Whether a value names a dataset of the Hugging Face hub. Schemes are the same in capitals.

    >>> is_hub_uri("HF://org/name"), is_hub_uri("huggingface://org/name"), is_hub_uri("data.csv")
    (True, True, False)
    """
    return isinstance(uri, str) and uri.lower().startswith(_HUB_SCHEMES)
