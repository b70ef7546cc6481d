"""The endings of data files and the URI schemes of hub datasets, declared once for the whole package.

They are declared here because the configuration must tell data files from names without importing `datasets`. To add a
format, add one row here, a reader in `datasets/_readers` and one row in the manual.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import ClassVar

from msgspec import Struct


class DataFormat(Struct, frozen=True):
    """A format of data files."""

    packed: ClassVar[tuple[str, ...]] = ("gz", "zst")
    """Endings of compressed files; the ending before them names the format."""

    name: str
    """Its name, as used by fetchers and by `format=`."""
    endings: tuple[str, ...]
    """Endings of file names, lower case, without the dot."""
    reader: str
    """Its reader, as `file.function` of `datasets/_readers`."""
    fixed_columns: bool = False
    """Whether all rows have the same columns, so that the first row shows them all."""
    like: str | None = None
    """The format whose files may make up a split of a hub dataset together with files of this one."""
    hub: bool = True
    """Whether it is read from repositories of the hub."""
    certain: bool = True
    """Whether the ending alone shows that a file contains rows. If it does not, a hub repository is read in this format
    only when it contains no other data files."""
    options: tuple[str, ...] = ("encoding",)
    """The options of a path that it takes, as in `data.csv?encoding=cp1252`."""


DATA_FORMATS = (
    DataFormat("parquet", ("parquet",), "parquet.read_parquet", fixed_columns=True, options=()),
    DataFormat("arrow", ("arrow", "feather"), "arrow.read_arrow", fixed_columns=True, options=()),
    DataFormat("jsonl", ("jsonl", "ndjson"), "json_lines.read_json_lines"),
    DataFormat("json", ("json",), "json_array.read_json", like="jsonl"),
    DataFormat("csv", ("csv",), "delimited.read_csv", fixed_columns=True),
    DataFormat("tsv", ("tsv",), "delimited.read_tsv", fixed_columns=True, like="csv"),
    DataFormat(
        "xlsx",
        ("xlsx", "xlsm", "xls", "ods"),
        "workbook.read_workbook",
        fixed_columns=True,
        hub=False,
        options=("sheet", "header_row"),
    ),
    DataFormat("txt", ("txt",), "text.read_lines", certain=False),
)
"""All formats that can be read. If a hub dataset has equally many files in several formats, the first one listed is used."""


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
    """Split a file name into the name without its data endings and the ending that names the format, in lower case.

    The ending is empty if the name has none. Text after a question mark says how to read the file and is not part of
    its name.

    >>> split_data_name("x.y.JSONL.gz"), split_data_name("notes.txt"), split_data_name("b.xlsx?sheet=May.2")
    (('x.y', 'jsonl'), ('notes.txt', ''), ('b', 'xlsx'))
    """
    path, bare, ending = _split_name(name)
    if ending in _CERTAIN:
        return bare[: -len(ending) - 1], ending
    return (bare if bare != path.name else name), ""


def data_format(path: str, *, hub: bool = False) -> DataFormat | None:
    """Return the format that a file's name shows, ignoring `.gz` and `.zst`, or None if it shows none. With `hub`, the format in
    which a file of a hub repository is read.

    >>> data_format("data/a.CSV.gz").name, data_format("bench.py"), data_format("notes.txt")
    ('csv', None, None)
    >>> data_format("data/a.JSONL.gz", hub=True).name, data_format("book.xlsx", hub=True), data_format("lines.txt", hub=True).name
    ('jsonl', None, 'txt')
    """
    found = _BY_ENDING.get(_split_name(path)[2])
    return found if found is not None and (found.hub if hub else found.certain) else None


def _split_name(name: str) -> tuple[PurePath, str, str]:
    """Return the path, its name without `.gz` and `.zst`, and the ending of that name in lower case."""
    path = PurePath(name.partition("?")[0])
    packed = path.suffix[1:].lower() in DataFormat.packed
    bare = path.name[: -len(path.suffix)] if packed else path.name
    return path, bare, PurePath(bare).suffix[1:].lower()


def is_data_file(path: str) -> bool:
    """Whether a name is that of a data file: it has a known ending, or is a compressed file of any content."""
    return data_format(path) is not None or PurePath(path).suffix[1:].lower() in DataFormat.packed


def is_hub_uri(uri: object) -> bool:
    """Whether a value names a dataset of the Hugging Face hub. The case of the scheme does not matter.

    >>> is_hub_uri("HF://org/name"), is_hub_uri("huggingface://org/name"), is_hub_uri("data.csv")
    (True, True, False)
    """
    return isinstance(uri, str) and uri.lower().startswith(_HUB_SCHEMES)
