"""The parameters of each length law, as a meta file writes them under `output_config.params`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from benchwright.core import suggest
from benchwright.datasets._lengths import (
    ColumnLengths,
    FixedLength,
    LengthOrder,
    LengthShares,
    LogNormalLengths,
    NormalLengths,
    OutputLengths,
    UniformLengths,
    ZipfLengths,
)
from benchwright.datasets._meta_values import LARGEST, Found, Problems, as_number, as_whole

_PARAMS = "output_config.params."
_ORDERS = ("shuffled", "blocked")
_MOST_RANKS = 2**20


def read_lengths(
    method: str, params: Mapping[str, Found], problems: Problems, *, compat: bool
) -> OutputLengths | None:
    """The law that the parameters describe; None when something is wrong with them; `problems` then says what."""
    before = len(problems.found)
    lengths = _read(method, params, problems, compat)
    return lengths if len(problems.found) == before else None


def _read(method: str, params: Mapping[str, Found], problems: Problems, compat: bool) -> OutputLengths | None:
    if method == "percentage":
        return _shares(params, problems, compat)
    if method == "column":
        return _column(params, problems)
    if method == "fixed":
        value = problems.whole(params, _PARAMS, "value", least=1, example="100", needed="fixed is one length")
        return None if value is None else FixedLength(value)
    if method == "uniform":
        low, high = _bounds(params, problems, needed="uniform needs min_value and max_value")
        return None if low is None or high is None else UniformLengths(low, high)
    if method == "zipf":
        return _zipf(params, problems)
    return _bell("normal" if method == "normal" else "lognormal", params, problems)


def _bounds(
    params: Mapping[str, Found], problems: Problems, *, needed: str = ""
) -> tuple[int | None, int | None]:
    low = problems.whole(params, _PARAMS, "min_value", least=1, example="100", needed=needed)
    high = problems.whole(params, _PARAMS, "max_value", least=1, example="200", needed=needed)
    if low is not None and high is not None and low > high:
        problems.add(f"{_PARAMS}min_value", f"is {low}, above max_value, which is {high}; exchange them")
    return low, high


def _bell(
    method: Literal["normal", "lognormal"], params: Mapping[str, Found], problems: Problems
) -> OutputLengths | None:
    needed = f"{method} needs mean and stddev, in tokens"
    mean = problems.number(params, _PARAMS, "mean", needed=needed)
    stddev = problems.number(params, _PARAMS, "stddev", needed=needed)
    low, high = _bounds(params, problems)
    if mean is None or stddev is None:
        return None
    first = 1 if low is None else low
    if mean < first or (high is not None and mean > high):
        ends = f"from {first} up" if high is None else f"between {first} and {high}"
        problems.add(f"{_PARAMS}mean", f"is {mean:g}, outside the planned lengths, {ends}")
    law = NormalLengths if method == "normal" else LogNormalLengths
    return law(mean, stddev, first, high)


def _zipf(params: Mapping[str, Found], problems: Problems) -> OutputLengths | None:
    needed = "zipf needs alpha, min_value and max_value"
    alpha = problems.number(params, _PARAMS, "alpha", needed=f"{needed}; alpha is usually between 1 and 3")
    low, high = _bounds(params, problems, needed=needed)
    if low is not None and high is not None and high - low >= _MOST_RANKS:
        problems.add(
            f"{_PARAMS}max_value", f"is {high}; zipf takes at most {_MOST_RANKS:,} lengths above min_value"
        )
    if alpha is not None and alpha > 100:
        problems.add(f"{_PARAMS}alpha", f"is {alpha:g}; expected a number up to 100")
    return None if alpha is None or low is None or high is None else ZipfLengths(alpha, low, high)


def _column(params: Mapping[str, Found], problems: Problems) -> OutputLengths | None:
    value = params.get("column")
    if "column" not in params:
        problems.add(f"{_PARAMS}column", "is missing; name the column with the lengths")
    elif not isinstance(value, str) or not value:
        problems.add(f"{_PARAMS}column", f"is {problems.kind(value)}; expected the name of a column")
    else:
        return ColumnLengths(value)
    return None


def _shares(params: Mapping[str, Found], problems: Problems, compat: bool) -> OutputLengths | None:
    key = f"{_PARAMS}percentage_distribute"
    order = _order(params, problems, compat)
    pairs = params.get("percentage_distribute")
    example = "expected a list of [length, share] pairs such as [[100, 0.5], [200, 0.5]]"
    if "percentage_distribute" not in params:
        problems.add(key, f"is missing; {example}")
        return None
    if not isinstance(pairs, list) or not pairs:
        problems.add(key, f"is {'an empty list' if pairs == [] else problems.kind(pairs)}; {example}")
        return None
    found: list[tuple[int, Decimal]] = []
    for number, pair in enumerate(pairs):
        read = _pair(pair, f"{key}[{number}]", problems)
        if read is not None:
            found.append(read)
    if len(found) < len(pairs):
        return None  # a sum over some of them would only mislead
    total = sum((share for _, share in found), Decimal(0))
    if total != 1:
        problems.add(key, f"has shares that add up to {total.normalize():f}; they must add up to exactly 1")
    return LengthShares(tuple((length, Fraction(share)) for length, share in found), order)


def _pair(pair: Found, key: str, problems: Problems) -> tuple[int, Decimal] | None:
    if not isinstance(pair, list) or len(pair) != 2:
        what = f"a list of {len(pair)}" if isinstance(pair, list) else problems.kind(pair)
        problems.add(key, f"is {what}; expected [length, share]")
        return None
    length, share = as_whole(pair[0]), as_number(pair[1])
    if length is None:
        problems.add(key, f"has the length {problems.kind(pair[0])}; expected a whole number above 0")
    elif not 0 < length <= LARGEST:
        problems.add(key, f"has the length {length}; expected a whole number above 0")
        length = None
    if share is None:
        problems.add(key, f"has the share {problems.kind(pair[1])}; expected a number above 0 and up to 1")
    elif not 0 < share <= 1:
        problems.add(key, f"has the share {share}; expected a number above 0 and up to 1 (50 % is 0.5)")
        share = None
    return None if length is None or share is None else (length, share)


def _order(params: Mapping[str, Found], problems: Problems, compat: bool) -> LengthOrder:
    order = params.get("order", "blocked" if compat else "shuffled")
    if order == "blocked":
        return "blocked"
    if order != "shuffled":
        near = suggest(order, _ORDERS) if isinstance(order, str) else ""
        problems.add(f"{_PARAMS}order", f"is {problems.kind(order)}; expected shuffled or blocked.{near}")
    return "shuffled"
