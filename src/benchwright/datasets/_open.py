"""Opens datasets: `open_dataset` returns a reader, `load_dataset` a list."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from benchwright.core import BadRow, DatasetError, Row
from benchwright.datasets._fetchers import (
    SOURCE_PLUGINS,
    fetch,
    file_options,
    installed_source,
    no_fetcher,
    scheme_of,
)
from benchwright.datasets._formats import file_source
from benchwright.datasets._hf_uri import HfUri
from benchwright.datasets._reader import DatasetReader, RowShape
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Filter, HasRows, ProgramSource, program_source

if TYPE_CHECKING:
    from benchwright.datasets._sampling import Sampling

DatasetRef: TypeAlias = str | os.PathLike[str] | Callable[[], Iterable[Row]] | Iterable[Row] | HasRows
"""A reference to a dataset: a path, a URI, a function that returns rows, rows, or an object with `rows()`."""

LISTED_BAD_ROWS = 20
"""How many bad rows an error lists; all are counted."""


def open_dataset(
    ref: DatasetRef,
    *,
    base_dir: Path | None = None,
    field_mapping: Mapping[str, str] | None = None,
    limit: int | None = None,
    filters: Sequence[Filter] = (),
    sampling: Sampling | None = None,
    shape: RowShape | None = None,
) -> DatasetReader:
    """Open a dataset. The file is found now, and rows are read later. For a hub dataset, commit, configuration and split
    are looked up now, and files are fetched when their rows are needed.

    Args:
        ref: path, URI or Python source.
        base_dir: where relative paths start: the folder of the benchmark file; None: the current folder.
        field_mapping: `{"name in the data": "new name"}`; other fields keep their names.
        limit: at most this many rows, counted after the filters; None for all.
        filters: rows to keep, by the names in the data.
        sampling: which rows to take, how often, in which order and with which lengths; the limit applies to the
            result. None for the rows of the data in order.
        shape: a function that gives rows their final form, after the mapping.

    Raises:
        DatasetError: there is no such file, or no fetcher supports the URI.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise DatasetError(f"limit is {limit!r}; expected a whole number of rows, 0 or more")
    if sampling is not None:
        from benchwright.datasets._sampled import (  # five modules, for the few who sample
            RangedReader,
            SampledReader,
        )

        inner = open_dataset(
            ref, base_dir=base_dir, field_mapping=field_mapping, filters=filters, shape=shape
        )
        if sampling.rows is not None:
            inner = RangedReader(inner, sampling.rows)
        return SampledReader(inner, sampling, limit)
    mapping = _checked_mapping(field_mapping)
    if not isinstance(ref, str | os.PathLike):
        return _open_program(program_source(ref), mapping, limit, filters, shape)
    written = os.fspath(ref)
    options: dict[str, Any] = {}
    if scheme_of(written) in (None, "file"):
        written, options = file_options(written, base_dir)
    found = fetch(written, base_dir) or installed_source(written)
    if isinstance(found, HfUri):
        return _open_hub(written, mapping, limit, (*found.filters, *filters), shape)
    if isinstance(found, ProgramSource):
        return _open_program(found, mapping, limit, filters, shape)
    if found is None:
        raise no_fetcher(written, SOURCE_PLUGINS.names())
    file = StoredFile(found.path, written, **options)
    return DatasetReader(
        file_source(file, found.format),
        name=written,
        path=found.path,
        field_mapping=mapping,
        limit=limit,
        filters=filters,
        metadata=found.metadata,
        notes=file.notes,
        shape=shape,
    )


def load_dataset(
    uri: DatasetRef, limit: int | None = None, field_mapping: Mapping[str, str] | None = None
) -> list[Row]:
    """All rows of a dataset as a list.

    Args:
        uri: path, URI or Python source; relative paths start at the current folder.
        limit: at most this many rows; None or 0 for all.
        field_mapping: `{"name in the data": "new name"}`.

    Raises:
        DatasetError: the data cannot be found or read. Lists the bad rows with file and line.
    """
    reader = open_dataset(uri, field_mapping=field_mapping, limit=limit or None)
    listed: list[BadRow] = []
    total = 0

    def note(bad: BadRow) -> None:
        nonlocal total
        total += 1
        if total <= LISTED_BAD_ROWS:
            listed.append(bad)

    rows = [row for batch in reader.batches(on_bad=note) for row in batch.rows]
    if listed:
        raise DatasetError.of_rows(listed, total)
    return rows


def _open_program(
    source: ProgramSource,
    mapping: Mapping[str, str],
    limit: int | None,
    filters: Sequence[Filter],
    shape: RowShape | None,
) -> DatasetReader:
    return DatasetReader(
        source,
        name=source.name,
        path=None,
        field_mapping=mapping,
        limit=limit,
        filters=filters,
        metadata={},
        shape=shape,
    )


def _open_hub(
    written: str,
    mapping: Mapping[str, str],
    limit: int | None,
    filters: Sequence[Filter],
    shape: RowShape | None,
) -> DatasetReader:
    from benchwright.datasets._hf.resolve import resolve
    from benchwright.datasets._hf.source import HubSource

    source = HubSource(resolve(written))
    provenance = source.provenance()
    return DatasetReader(
        source,
        name=written,
        path=None,
        field_mapping=mapping,
        limit=limit,
        filters=filters,
        metadata={"source": "huggingface", **provenance},
        provenance=provenance,
        notes=source.notes,
        shape=shape,
    )


def _checked_mapping(mapping: Mapping[str, str] | None) -> Mapping[str, str]:
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping) or not all(
        isinstance(name, str) for pair in mapping.items() for name in pair
    ):
        raise DatasetError(
            f"field_mapping is {mapping!r}; expected names to names: {{'name in the data': 'new name'}}"
        )
    # Headers are read without surrounding white space, so a padded name in a mapping means the stripped one too.
    return {
        **{name.strip(): new for name, new in mapping.items() if name.strip() not in mapping},
        **mapping,
    }
