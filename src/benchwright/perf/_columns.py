"""Builds Arrow arrays from Python values by their buffers, because `pyarrow.array` and `pyarrow.scalar` import pandas if it
is installed, which takes seconds."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Any

_CODES = {"double": "d", "int64": "q", "int32": "i"}


def column(values: Sequence[Any], kind: Any) -> Any:
    """An array of numbers, texts, or lists of numbers without nulls; None is null."""
    import pyarrow as pa

    if pa.types.is_list(kind):
        offsets = _offsets([0 if value is None else len(value) for value in values])
        inner = column(list(chain.from_iterable(value for value in values if value)), kind.value_type)
        return pa.Array.from_buffers(kind, len(values), [_validity(values), offsets], children=[inner])
    if pa.types.is_string(kind):
        texts = [b"" if value is None else value.encode() for value in values]
        buffers = [_validity(values), _offsets([len(text) for text in texts]), pa.py_buffer(b"".join(texts))]
        return pa.Array.from_buffers(kind, len(values), buffers)
    filled = array(_CODES[str(kind)], [0 if value is None else value for value in values])
    return pa.Array.from_buffers(kind, len(values), [_validity(values), pa.py_buffer(filled)])


def row_numbers(count: int) -> Any:
    """0 to `count` − 1."""
    import pyarrow as pa

    return column(range(count), pa.int64())


def ones(count: int) -> Any:
    """An array of `count` times 1.0."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.float64(), count, [None, pa.py_buffer(array("d", [1.0]) * count)])


def constant(value: Any, kind: Any = None) -> Any:
    """An Arrow scalar; its type follows from the value if none is given."""
    import pyarrow as pa

    if type(value) is bool:
        return column([int(value)], pa.int32())[0].cast(pa.bool_())
    if kind is None:
        kind = {int: pa.int64, float: pa.float64, str: pa.string}[type(value)]()
    return column([value], kind)[0]


class _Compute:
    """The functions of `pyarrow.compute`, loaded when the first is called. Python values are converted here, because pyarrow
    would use pandas for it."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        import pyarrow.compute

        function = getattr(pyarrow.compute, name)

        def call(*arguments: Any, **options: Any) -> Any:
            return function(
                *(constant(each) if type(each) in _PLAIN else each for each in arguments), **options
            )

        setattr(self, name, call)
        return call


_PLAIN = frozenset((bool, int, float, str))
compute: Any = _Compute()
"""Replaces `pyarrow.compute` in this package and in reports on load tests."""


def _offsets(lengths: Sequence[int]) -> Any:
    import pyarrow as pa

    return pa.py_buffer(array("i", accumulate(lengths, initial=0)))


def _validity(values: Sequence[Any]) -> Any:
    """A bit for each value that is not null; None if none is null."""
    import pyarrow as pa

    there = bytes(value is not None for value in values)
    if b"\0" not in there:
        return None
    flags = pa.Array.from_buffers(pa.uint8(), len(values), [None, pa.py_buffer(there)])
    return flags.cast(pa.bool_()).buffers()[1]
