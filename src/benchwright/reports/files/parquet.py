"""`samples.parquet`: one row per sample and repeat, written in row groups so that memory stays flat.

Arrow arrays are built from buffers. pyarrow's conversion checks every value separately and, if pandas is installed,
imports it first, which takes a quarter of a second. Here lists without nulls are joined in one call; other values are
left to pyarrow.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, BinaryIO

from benchwright.core import FAST_PATHS
from benchwright.results import COLUMNS, RunSamples, dump_each

if TYPE_CHECKING:
    from benchwright.reports.files.small_parquet import Kind

GROUP_ROWS = 2_000
"""Rows per row group, which is also the number of rows kept as Python objects at a time."""
GROUP_BYTES = 16_000_000
"""Approximate bytes of text per row group; rows with long prompts make smaller groups."""
_FORMATS = {"int64": "q", "double": "d"}
"""Arrow's number types → the format codes of `struct`, which packs them in half the time that `array` takes."""


def write_samples(
    file: BinaryIO,
    samples: RunSamples,
    metrics: Sequence[str],
    *,
    choices: bool = False,
    seen: Callable[[Mapping[str, Sequence[Any]]], None] | None = None,
) -> int:
    """Write the file and return the number of rows. `seen` gets the columns of all samples, some at a time.

    Columns are the fields of `SampleView`; `scores` and `metadata` are JSON texts, and each metric also has a column
    `score.<name>`. Choice columns are written for runs that rank: if `choices` is set, or one of the first samples has
    choices.
    """
    from benchwright.reports.files.small_parquet import MOST_ROWS

    groups = _groups(samples, metrics, seen)
    group = next(groups, None)
    ranked = choices or (group is not None and any(given is not None for given in group["choices"]))
    if FAST_PATHS and group is not None and not ranked and len(group["outcome"]) <= MOST_ROWS:
        few, group = group, None
        further = next(groups, None)
        if further is None and (content := _few(few, metrics)) is not None:
            file.write(content)
            return len(few["outcome"])
        group, groups = few, chain([further] if further else [], groups)
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(pa, metrics, ranked)
    written = 0
    with pq.ParquetWriter(file, schema, **_settings(schema)) as writer:
        while group is not None:
            arrays = [array(pa, group[field.name], field.type) for field in schema]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            written += len(arrays[0])
            group = next(groups, None)
    return written


_KINDS: dict[str, Kind] = {"text": "text", "json": "text", "integer": "integer", "number": "number"}
"""The types that files of a few rows have."""
_ARROW: dict[str, Callable[[Any], Any]] = {
    "text": lambda pa: pa.string(),
    "json": lambda pa: pa.string(),
    "integer": lambda pa: pa.int64(),
    "number": lambda pa: pa.float64(),
    "texts": lambda pa: pa.list_(pa.string()),
    "numbers": lambda pa: pa.list_(pa.float64()),
    "truths": lambda pa: pa.list_(pa.bool_()),
}
"""The types of columns in Arrow, from the module `pyarrow`, which is loaded only when a file is written."""


def _few(group: dict[str, list[Any]], metrics: Sequence[str]) -> bytes | None:
    """The file of a few rows; None if it is large, or if a value has another type than its column, which pyarrow may be able
    to convert."""
    from benchwright.reports.files.small_parquet import MOST_BYTES, small_parquet

    kinds: dict[str, Kind] = {}
    for name, column in COLUMNS.items():
        if not column.ranked:
            kinds[name] = _KINDS[column.type]
        if name == "scores":
            kinds |= {f"score.{metric}": "number" for metric in metrics}
    try:
        content = small_parquet({name: group[name] for name in kinds}, kinds)
    except (TypeError, ValueError, struct.error):
        return None
    return content if len(content) <= MOST_BYTES else None


def _groups(
    samples: RunSamples, metrics: Sequence[str], seen: Callable[[Mapping[str, Sequence[Any]]], None] | None
) -> Iterator[dict[str, list[Any]]]:
    """The columns of each row group, one group after the other."""
    group: dict[str, list[Any]] = {}
    rows = held = 0
    for columns, size in samples.blocks(GROUP_ROWS, GROUP_BYTES):
        if seen is not None:
            seen(columns)
        for name, values in _with_scores(columns, metrics).items():
            group.setdefault(name, []).extend(values)
        rows, held = rows + len(columns["sample_id"]), held + size
        if rows >= GROUP_ROWS or held >= GROUP_BYTES:
            yield group
            group, rows, held = {}, 0, 0
    if group:
        yield group


def _with_scores(columns: dict[str, Sequence[Any]], metrics: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The columns with scores as JSON texts, and a column for each metric."""
    scores = columns["scores"]
    numbers = {f"score.{metric}": _metric_numbers(scores, metric) for metric in metrics}
    return {**columns, **numbers, "scores": dump_each(scores)}


def _schema(pa: Any, metrics: Sequence[str], choices: bool) -> Any:
    fields = []
    for name, column in COLUMNS.items():
        if column.ranked and not choices:
            continue
        fields.append(pa.field(name, _ARROW[column.type](pa)))
        if name == "scores":
            fields += [pa.field(f"score.{metric}", pa.float64()) for metric in metrics]
    return pa.schema(fields)


def _settings(schema: Any) -> dict[str, Any]:
    return {
        "compression": "zstd",
        "use_dictionary": [name for name, column in COLUMNS.items() if column.repetitive],
        "write_statistics": [name for name in schema.names if name not in COLUMNS or not COLUMNS[name].long],
    }


def _metric_numbers(scores: Sequence[dict[str, Any] | None], metric: str) -> list[float | None]:
    values = [None if given is None else given.get(metric) for given in scores]
    if {bool, int, float}.issuperset(map(type, values)):
        return values
    return [float(value) if isinstance(value, int | float) else None for value in values]


def array(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    """An Arrow array of texts (as str, or as bytes in UTF-8), numbers, truth values, or lists of these; None is null."""
    if not values or (values[0] is None and values.count(None) == len(values)):
        return pa.nulls(len(values), kind)
    try:
        if pa.types.is_string(kind):
            return _texts(pa, values, kind)
        if pa.types.is_list(kind):
            return _lists(pa, values, kind)
        if pa.types.is_boolean(kind):
            return _truths(pa, values, kind)
        return _numbers(pa, values, kind)
    except (TypeError, struct.error):
        return pa.array(values, kind)  # converts values if possible, and reports those it cannot


def _texts(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    valid, nulls = None, 0
    try:
        texts, data = _joined(values)
    except TypeError:
        valid, nulls = _valid(pa, values)
        blank = type(next(value for value in values if value is not None))()
        texts, data = _joined([blank if value is None else value for value in values])
    return pa.Array.from_buffers(kind, len(texts), [valid, _offsets(pa, texts), pa.py_buffer(data)], nulls)


def _joined(values: Sequence[Any]) -> tuple[Sequence[Any], bytes]:
    """The values with the lengths that they have in the data, and the data. Raises TypeError if one is not a text, or if
    texts and bytes are mixed."""
    if isinstance(values[0], bytes):
        data = b"".join(values)
        if not data.isascii():
            data.decode()  # raises here, not when the file is read
        return values, data
    text = "".join(values)
    data = text.encode()
    return (values if len(data) == len(text) else [value.encode() for value in values]), data


def _numbers(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    code, valid, nulls = _FORMATS[str(kind)], None, 0
    try:
        data = _packed(pa, code, values)
    except struct.error:
        valid, nulls = _valid(pa, values)
        data = _packed(pa, code, [0 if value is None else value for value in values])
    return pa.Array.from_buffers(kind, len(values), [valid, data], nulls)


def _truths(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    valid, nulls = _valid(pa, values)
    return pa.Array.from_buffers(kind, len(values), [valid, _bitmap(pa, values)], nulls)


def _lists(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    valid, nulls = _valid(pa, values)
    lists = [value or () for value in values]
    items = array(pa, list(chain.from_iterable(lists)), kind.value_type)
    return pa.Array.from_buffers(kind, len(lists), [valid, _offsets(pa, lists)], nulls, children=[items])


def _offsets(pa: Any, values: Sequence[Any]) -> Any:
    """Where each value begins, and where the last one ends."""
    return _packed(pa, "i", list(accumulate(map(len, values), initial=0)))


def _packed(pa: Any, code: str, numbers: Sequence[float]) -> Any:
    return pa.py_buffer(struct.pack(f"={len(numbers)}{code}", *numbers))


def _valid(pa: Any, values: Sequence[Any]) -> tuple[Any, int]:
    """The bitmap of values that are not null (None if none is null), and the number of nulls."""
    there = [value is not None for value in values]
    nulls = there.count(False)
    return (_bitmap(pa, there), nulls) if nulls else (None, 0)


def _bitmap(pa: Any, values: Sequence[Any]) -> Any:
    """One bit per value, the first one lowest, made from the digits of a binary number in reverse order."""
    digits = "".join(["1" if value else "0" for value in reversed(values)])
    return pa.py_buffer(int(digits, 2).to_bytes((len(values) + 7) // 8, "little"))
