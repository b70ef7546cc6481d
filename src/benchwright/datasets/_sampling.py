"""Plans which rows are requested, how often and in which order, and how long the replies may be.

The readers of `_sampled` follow these plans. The same plan and the same number of rows always give the same requests.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias, get_args

from msgspec import Struct, structs
from msgspec.structs import replace

from benchwright.core import JsonObject, UsageError
from benchwright.datasets._lengths import (
    LENGTH_METHODS,
    LengthShares,
    OutputLengths,
    share_counts,
)

SamplingMode: TypeAlias = Literal["default", "shuffle", "random", "random_with_replacement"]
"""How rows are chosen: in order, permuted, or drawn without or with replacement."""

SAMPLING_MODES: tuple[SamplingMode, ...] = get_args(SamplingMode)
"""All modes, in the order in which messages list them."""

DEFAULT_SEED = 42
"""The seed of every draw unless the file gives another one, so that runs are repeatable by default."""


_SLICE = re.compile(r"\[?\s*(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(\d+)?\s*)?\]?")


class RowRange(Struct, frozen=True):
    """A selection of rows, which keep their order."""

    written: str
    """The text as the user wrote it."""
    span: slice | None = None
    """A slice of the rows."""
    count: int | None = None
    """How many rows to draw at random; all rows if there are no more."""
    share: float | None = None
    """The share of rows to draw at random, rounded down, but at least one row."""

    @classmethod
    def parse(cls, written: str) -> RowRange:
        """Parse `[10:20]`, `100` or `0.1`. Raises UsageError for anything else.

        >>> RowRange.parse("[10:20]").places(15)
        range(10, 15)
        """
        text = written.strip()
        slice_ = _SLICE.fullmatch(text)
        if slice_ is not None and text.startswith("[") == text.endswith("]"):
            start, stop, step = (None if part is None else int(part) for part in slice_.groups())
            if step != 0:
                return cls(written, span=slice(start, stop, step))
        elif text.isdecimal() and int(text) > 0:
            return cls(written, count=int(text))
        else:
            try:
                share = float(text)
            except ValueError:
                share = 0.0
            if 0 < share < 1:
                return cls(written, share=share)
        raise UsageError(
            f"test_range is {written!r}; expected a slice such as [10:20], a number of rows such as 100, or a share "
            "such as 0.1 (both drawn at random, always the same rows)"
        )

    def places(self, rows: int) -> Sequence[int]:
        """The numbers of the chosen rows, in order, in data of `rows` rows."""
        if self.span is not None:
            return range(rows)[self.span]
        count = self.count if self.count is not None else max(1, int((self.share or 0) * rows))
        if count >= rows:
            return range(rows)
        return sorted(Random(DEFAULT_SEED).sample(range(rows), count))

    @property
    def reach(self) -> int | None:
        """The most rows to read; None if that depends on the number of rows."""
        span = self.span
        if span is None or (span.start or 0) < 0 or span.stop is None or span.stop < 0:
            return None
        return int(span.stop)


class Sampling(Struct, frozen=True, kw_only=True):
    """The content of a meta file."""

    request_count: int | None = None
    """How many requests; None: as many as there are rows."""
    sampling_mode: SamplingMode = "default"
    """How rows are chosen."""
    lengths: OutputLengths | None = None
    """How long replies may become; None: as the rows and the run say."""
    min_tokens: int | None = None
    """The fewest tokens of a reply, for servers that support it."""
    ignore_eos: bool = False
    """Whether the server generates up to the longest length, even if the model ends earlier."""
    seed: int = DEFAULT_SEED
    """The seed of every draw."""
    compat: bool = False
    """Sample and round as AISBench does."""
    source: str = "the sampling"
    """The meta file as the user knows it, for messages."""
    rows: RowRange | None = None
    """The rows to draw from; None: all."""

    @classmethod
    def read(cls, path: Path, *, name: str | None = None, compat: bool = False) -> Sampling:
        """Read a meta file. Raises DatasetError with every problem in it; `name`: how messages call it."""
        from benchwright.datasets._meta import read_meta  # only for data with such a file

        return read_meta(path, name=name, compat=compat)

    @property
    def extra_body(self) -> JsonObject:
        """Fields that every request body gets besides `max_tokens`."""
        body: JsonObject = {}
        if self.min_tokens is not None:
            body["min_tokens"] = self.min_tokens
        if self.ignore_eos:
            body["ignore_eos"] = True
        return body

    @property
    def only_selects(self) -> bool:
        """Whether it is a range of rows and nothing else."""
        return self.rows is not None and replace(self, rows=None, source=_NO_PLAN.source) == _NO_PLAN

    @property
    def in_order(self) -> bool:
        """Whether rows come in the order of the data, so that they can be streamed."""
        return self.sampling_mode == "default"

    def to_json(self) -> JsonObject:
        """Everything that decides the requests, for the record and the fingerprint."""
        decides = [name for name in self.__struct_fields__ if name not in ("source", "rows")]
        found: JsonObject = {
            "output_config" if name == "lengths" else name: getattr(self, name) for name in decides
        }
        if self.lengths is not None:
            found["output_config"] = _lengths_json(self.lengths)
        return found if self.rows is None else {**found, "test_range": self.rows.written}


_NO_PLAN = Sampling()


def sample_indexes(sampling: Sampling, rows: int) -> Sequence[int]:
    """The row number of each request, in order, for data of `rows` rows. Empty data gives no requests.

    For c requests and n rows, c > n repeats the data from its start as often as needed:

    * `default`: the first c;
    * `shuffle`, `random`: c of the n rows, each at most once, in random order; with c > n the repeated data is
      permuted, so that each row comes ⌊c/n⌋ or ⌈c/n⌉ times, the surplus going to the first rows;
    * `random_with_replacement`: c independent draws.

    With `compat`, `shuffle` permutes the first c rows and never reaches the others. Takes memory for c numbers at
    most, and for none with `default`.

    >>> list(sample_indexes(Sampling(request_count=7), 3))
    [0, 1, 2, 0, 1, 2, 0]
    """
    count = rows if sampling.request_count is None else sampling.request_count
    if not rows:
        return ()
    random = Random(f"{sampling.seed}/rows")
    mode = sampling.sampling_mode
    if mode == "default":
        return range(count) if count <= rows else _Cycle(rows, count)
    if mode == "random_with_replacement":
        return array("q", (random.randrange(rows) for _ in range(count)))
    if count >= rows or (mode == "shuffle" and sampling.compat):
        chosen = array("q", (number % rows for number in range(count)))
        random.shuffle(chosen)
        return chosen
    return array("q", random.sample(range(rows), count))


def output_lengths(sampling: Sampling, count: int) -> list[int] | None:
    """The planned length of each of `count` requests, in order; None if there is no plan, or the rows decide.

    Percentages are rounded by largest remainder and mixed, unless `compat` or `order` differ.
    """
    if sampling.lengths is None:
        return None
    random = Random(f"{sampling.seed}/lengths")
    return sampling.lengths.draw(count, random, compat=sampling.compat)


def sampling_notes(
    sampling: Sampling, rows: int, planned: int, made: int, *, first: bool = False
) -> list[str]:
    """Notes for the results of a run that follows a plan.

    Args:
        sampling: The plan.
        rows: Rows it draws from.
        planned: Requests it makes.
        made: How many of them are within the limit of the run.
        first: Whether it draws from the first rows of the data only.
    """
    drawn = f"the first {rows:,} rows" if first and planned <= rows else f"{rows:,} rows"
    parts = [f"{sampling.source}: {planned:,} requests from {drawn}"]
    parts.append(f"mode {sampling.sampling_mode}")
    if sampling.sampling_mode != "default" or sampling.lengths is not None:
        parts.append(f"seed {sampling.seed}")
    if sampling.compat:
        parts.append("sampled and rounded as AISBench does")
    if made < planned:
        parts.append(f"cut to {made:,} by the limit")
    notes = [", ".join(parts)]
    if repeats_rows(sampling, rows):
        notes[0] += "; rows repeat, and intervals count the copies of a row as one cluster"
    if sampling.rows is not None:
        taken = f"test_range {sampling.rows.written} selects {rows:,} {'row' if rows == 1 else 'rows'}"
        notes = [taken] if sampling == Sampling(rows=sampling.rows) else [taken, *notes]
    if isinstance(sampling.lengths, LengthShares) and planned:
        notes.append(_shares_note(sampling, sampling.lengths, planned))
    return notes


def repeats_rows(sampling: Sampling, rows: int) -> bool:
    """Whether a row may be requested more than once."""
    count = rows if sampling.request_count is None else sampling.request_count
    return count > rows or sampling.sampling_mode == "random_with_replacement"


def _shares_note(sampling: Sampling, lengths: LengthShares, planned: int) -> str:
    counts = share_counts(lengths, planned, compat=sampling.compat)
    shown = [
        f"{length} tokens in {times:,} (requested {float(100 * share):.4g} %, planned {100 * times / planned:.4g} %)"
        for (length, share), times in islice(zip(lengths.shares, counts, strict=True), 10)
    ]
    more = ", …" if len(lengths.shares) > len(shown) else ""
    return f"{sampling.source}: longest replies, {lengths.order}: {', '.join(shown)}{more}"


def _lengths_json(lengths: OutputLengths) -> JsonObject:
    method = next(name for name, law in LENGTH_METHODS.items() if type(lengths) is law)
    if isinstance(lengths, LengthShares):
        shares = [[length, str(share)] for length, share in lengths.shares]
        return {"method": method, "percentage_distribute": shares, "order": lengths.order}  # type: ignore[dict-item]  # lists of JSON values are JSON; list is invariant
    return {"method": method, **structs.asdict(lengths)}


class _Cycle(Sequence[int]):
    """`count` numbers that repeat 0 to rows - 1, without keeping them in memory."""

    def __init__(self, rows: int, count: int) -> None:
        self._rows = rows
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int | slice) -> int | Sequence[int]:  # type: ignore[override]  # one body for both
        places = range(self._count)[at]
        return places % self._rows if isinstance(places, int) else [place % self._rows for place in places]
