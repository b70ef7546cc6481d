"""How data is named: the endings of data files and the schemes of hub datasets, declared once for all rooms.

Here and not in `datasets`, because the configuration must distinguish data files from names without that room. A new format
is one row here, its reader in `datasets/_readers`, and one row in the manual.
"""

from __future__ import annotations

from pathlib import PurePath

from msgspec import Struct


class DataFormat(Struct, frozen=True):
    """A format of data files."""

    name: str
    """Its name, as fetchers and `format=` write it."""
    endings: tuple[str, ...]
    """Endings of file names, lower case, without the dot."""
    reader: str
    """Its reader, as `file.function` of `datasets/_readers`."""
    fixed_columns: bool = False
    """Whether all rows have the same columns, so that the first row shows them all."""
    like: str | None = None
    """The format whose files may make up a split of a hub dataset together with files of this one."""
    hub: bool = True
    """Whether it is read in repositories of the hub."""
    certain: bool = True
    """Whether the ending says that a file holds rows. Where it does not, only repositories of the hub that hold nothing
    else are read in this format."""


DATA_FORMATS = (
    DataFormat("parquet", ("parquet",), "parquet.read_parquet", fixed_columns=True),
    DataFormat("arrow", ("arrow", "feather"), "arrow.read_arrow", fixed_columns=True),
    DataFormat("jsonl", ("jsonl", "ndjson"), "json_lines.read_json_lines"),
    DataFormat("json", ("json",), "json_array.read_json", like="jsonl"),
    DataFormat("csv", ("csv",), "delimited.read_csv", fixed_columns=True),
    DataFormat("tsv", ("tsv",), "delimited.read_tsv", fixed_columns=True, like="csv"),
    DataFormat(
        "xlsx", ("xlsx", "xlsm", "xls", "ods"), "workbook.read_workbook", fixed_columns=True, hub=False
    ),
    DataFormat("txt", ("txt",), "text.read_lines", certain=False),
)
"""All formats that are read. Where a hub dataset has equally many files in several, the first of these is taken."""

PACKED_ENDINGS = ("gz", "zst")
"""Endings of compressed files; the ending before them names the format."""

_BY_ENDING = {ending: format for format in DATA_FORMATS for ending in format.endings}
_CERTAIN = {ending: format for ending, format in _BY_ENDING.items() if format.certain}
_HUB_SCHEMES = ("hf://", "huggingface://")


def data_endings() -> tuple[str, ...]:
    """All endings of data files, with the dot.

    >>> ".csv" in data_endings(), ".py" in data_endings()
    (True, False)
    """
    return tuple(f".{ending}" for ending in _CERTAIN)


def split_data_name(name: str) -> tuple[str, str]:
    """A file name without its data endings, and the ending that names the format in lower case, or an empty text.

    What follows a question mark says how to read a file and is not part of its name.

    >>> split_data_name("x.y.JSONL.gz"), split_data_name("notes.txt"), split_data_name("b.xlsx?sheet=May.2")
    (('x.y', 'jsonl'), ('notes.txt', ''), ('b', 'xlsx'))
    """
    path, bare, ending = _split_name(name)
    if ending in _CERTAIN:
        return bare[: -len(ending) - 1], ending
    return (bare if bare != path.name else name), ""


def data_format(path: str) -> DataFormat | None:
    """The format by a file's name, without `.gz` and `.zst`; None for a name that has none.

    >>> data_format("data/a.CSV.gz").name, data_format("bench.py"), data_format("notes.txt")
    ('csv', None, None)
    """
    return _CERTAIN.get(_split_name(path)[2])


def hub_format(path: str) -> DataFormat | None:
    """The format in which a file of a hub repository is read; None if it is not read.

    >>> hub_format("data/a.JSONL.gz").name, hub_format("book.xlsx"), hub_format("lines.txt").name
    ('jsonl', None, 'txt')
    """
    found = _BY_ENDING.get(_split_name(path)[2])
    return found if found is not None and found.hub else None


def _split_name(name: str) -> tuple[PurePath, str, str]:
    """The path, its name without `.gz` and `.zst`, and the ending of that, in lower case."""
    path = PurePath(name.partition("?")[0])
    packed = path.suffix[1:].lower() in PACKED_ENDINGS
    bare = path.name[: -len(path.suffix)] if packed else path.name
    return path, bare, PurePath(bare).suffix[1:].lower()


def is_data_file(path: str) -> bool:
    """Whether a name is that of a data file: a known ending, or a compressed file whatever it holds."""
    return data_format(path) is not None or PurePath(path).suffix[1:].lower() in PACKED_ENDINGS


def is_hub_uri(uri: object) -> bool:
    """Whether a value names a dataset of the Hugging Face hub. Schemes are the same in capitals.

    >>> is_hub_uri("HF://org/name"), is_hub_uri("huggingface://org/name"), is_hub_uri("data.csv")
    (True, True, False)
    """
    return isinstance(uri, str) and uri.lower().startswith(_HUB_SCHEMES)
