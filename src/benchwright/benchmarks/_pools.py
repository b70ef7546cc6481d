"""Where few-shot examples come from. Knows which rows are evaluated, and keeps away from them if it can.

In this order, the first that has rows:

1. `fewshot_dataset`: its first max(4n, 16) rows;
2. `fewshot_split`, for `hf://` datasets: the same of that split, all other options of the URI kept;
3. the last 4n rows outside the evaluated ones, when a limit leaves at least n of them;
4. the last 4n rows of the dataset: the few outside the evaluated ones first, and all of them; the others are
   evaluated too, which is said aloud, or refused when `strict`.

The benchmark's `filters` hold for its dataset and for another split of it, not for a `fewshot_dataset`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct

from benchwright.benchmarks._examples import FewShotSource
from benchwright.benchmarks._fields import check_filters
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError, BenchwrightError, Row, is_hub_uri
from benchwright.datasets import DatasetReader, DatasetRef, Filter, open_dataset, parse_hf_uri

_SEEN_ROWS = 16
_OWN_SOURCE = "give the examples a source of their own with fewshot_dataset="


class Pool(Struct, frozen=True):
    """Rows that examples may be taken from."""

    rows: list[Row]
    """The rows, in the order of their source."""
    source: FewShotSource
    """Where they come from."""
    overlapping: bool
    """Whether they are, or may be, evaluated too."""
    warnings: tuple[str, ...]
    """What the user should know about the source."""
    failed_sources: tuple[str, ...]
    """Named sources that could not be used."""
    first: int = 0
    """So many rows at the start are taken before all others."""
    evaluated: Iterable[Row] = ()
    """Some of the evaluated rows, read when they are looked at, and once."""

    @property
    def place(self) -> str:
        """The source in words, such as `the few-shot split`."""
        own = self.source.startswith("fewshot_")
        return f"the {self.source.replace('fewshot_', 'few-shot ')}" if own else "the dataset"


def find_pool(spec: BenchmarkSpec, count: int, *, limit: int | None, strict: bool) -> Pool:
    """The rows to take `count` examples from. BenchmarkError when `strict` and only a leaking pool is left."""
    warnings: list[str] = []
    failed: list[str] = []
    if spec.sampling is not None:
        limit = None  # it counts requests of the plan, so that no row of the data is known to be left over
    primary = open_dataset(
        spec.dataset,
        base_dir=spec.base_dir,
        field_mapping=spec.field_mapping,
        filters=spec.filters,
        shape=spec.shape,
    )
    named: list[tuple[FewShotSource, Callable[[], DatasetRef]]] = []
    if spec.fewshot_dataset is not None:
        dataset = spec.fewshot_dataset
        named.append(("fewshot_dataset", lambda: dataset))
    if spec.fewshot_split is not None:
        if isinstance(spec.dataset, str) and is_hub_uri(spec.dataset):
            uri, split = spec.dataset, spec.fewshot_split
            named.append(("fewshot_split", lambda: _other_split(uri, split)))
        else:
            warnings.append("fewshot_split is ignored: only hf:// datasets have splits")
    for source, ref in named:
        try:
            filters = spec.filters if source == "fewshot_split" else ()
            rows, overlapping = _from_source(spec, ref(), count, primary, filters)
        except BenchwrightError as error:
            rows, overlapping = [], False
            warnings.append(f"{source} cannot be used: {error}")
        else:
            if not rows:
                warnings.append(f"{source} has no rows")
        if rows:
            if overlapping:
                warnings.insert(0, _overlap(spec, f"{source} reads the very rows that are evaluated", strict))
            return Pool(rows, source, overlapping, tuple(warnings), tuple(failed), 0, _some_rows(primary))
        if strict:
            raise BenchmarkError(
                f"benchmark {spec.name!r}: {warnings[-1]}; fix it, or run with --num-fewshot 0"
            )
        failed.append(source)
    return _from_primary(spec, primary, count, limit, strict, warnings, failed)


def _some_rows(primary: DatasetReader) -> Iterator[Row]:
    for _, row in primary.head(_SEEN_ROWS, on_bad=_ignore):
        yield row


def _from_source(
    spec: BenchmarkSpec, ref: DatasetRef, count: int, primary: DatasetReader, filters: Sequence[Filter]
) -> tuple[list[Row], bool]:
    reader = open_dataset(
        ref,
        base_dir=spec.base_dir,
        field_mapping=spec.field_mapping,
        limit=max(4 * count, 16),
        filters=filters,
        shape=spec.shape,
    )
    rows = [row for batch in reader.batches(on_bad=_ignore) for row in batch.rows]
    return rows, _same_content(reader, primary) or ref is spec.dataset or _reads_same_files(ref, spec.dataset)


def _same_content(reader: DatasetReader, primary: DatasetReader) -> bool:
    """Whether two files are one, or copies of each other, or two hub URIs lead to the same rows."""
    one, other = reader.path, primary.path
    if one is None or other is None:
        hub = reader.provenance is not None and primary.provenance is not None
        return hub and reader.fingerprint() == primary.fingerprint()
    same_size = one.stat().st_size == other.stat().st_size
    return one.samefile(other) or (same_size and reader.fingerprint() == primary.fingerprint())


def _other_split(uri: str, split: str) -> str:
    """The same data on the hub, another split: filters, files, configuration and the rest stay."""
    return str(replace(parse_hf_uri(uri), split=split))


def _reads_same_files(ref: DatasetRef, dataset: DatasetRef) -> bool:
    """Whether two hub URIs name the same files: the split is then only a label for the same rows."""
    if not (is_hub_uri(ref) and is_hub_uri(dataset)):
        return False
    one, other = parse_hf_uri(str(ref)), parse_hf_uri(str(dataset))
    same_split = one.split == other.split and one.filters == other.filters
    same_data = replace(one, split=None, filters=()) == replace(other, split=None, filters=())
    return same_data and (same_split or one.data_files is not None)


def _from_primary(
    spec: BenchmarkSpec,
    primary: DatasetReader,
    count: int,
    limit: int | None,
    strict: bool,
    warnings: list[str],
    failed: list[str],
) -> Pool:
    tail = primary.tail(4 * count, on_bad=_ignore)
    outside = [row for index, row in tail if limit is not None and index >= limit]
    if len(outside) >= count:
        return Pool(outside, "outside_rows", False, tuple(warnings), tuple(failed))
    if not tail:
        check_filters(spec)
    inside = [row for _, row in tail[: len(tail) - len(outside)]]
    loud = _overlap(spec, "few-shot examples are taken from rows that are evaluated too", strict)
    return Pool(
        [*outside, *inside],
        "overlapping_rows",
        True,
        (loud, *warnings),
        tuple(failed),
        first=len(outside),
    )


def _overlap(spec: BenchmarkSpec, found: str, strict: bool) -> str:
    if strict:
        raise BenchmarkError(
            f"benchmark {spec.name!r}: {found}; {_OWN_SOURCE}, or set a limit that leaves rows over"
        )
    return (
        f"{found}: no row sees itself, but each example gives away another row's answer. "
        f"Instead, {_OWN_SOURCE}, or set a limit that leaves rows over"
    )


def _ignore(bad: object) -> None:
    """Bad rows are the scan's to report; a pool does without them."""
