"""Reads `.meta.json`. Checks every key and reports all errors at once, each with file and key.

Each length distribution has different parameters under `output_config.params`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal, cast

from benchwright.core import DatasetError, suggest
from benchwright.datasets._lengths import (
    LENGTH_METHODS,
    LENGTH_PARAMS,
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
from benchwright.datasets._meta_values import LARGEST, Found, Known, Problems, as_number, as_whole
from benchwright.datasets._sampling import (
    DEFAULT_SEED,
    SAMPLING_MODES,
    Sampling,
    SamplingMode,
)

_TOP = ("request_count", "sampling_mode", "output_config", "seed")
_OUTPUT = ("method", "params", "order", "min_tokens", "ignore_eos")
_HOMES = {
    **{name: "output_config.params." for names in LENGTH_PARAMS.values() for name in names},
    **dict.fromkeys(_TOP, ""),
    **dict.fromkeys(_OUTPUT, "output_config."),
}
"""Where each key belongs, for messages about keys on the wrong level."""

_AISBENCH = {
    "": ("request_count", "sampling_mode", "output_config"),
    "output_config.": ("method", "params"),
    "output_config.params.": ("min_value", "max_value", "percentage_distribute"),
    "sampling_mode": ("default", "shuffle", "random"),
    "output_config.method": ("uniform", "percentage"),
}
"""The keys of each level, and the values of keys with few values, that AISBench knows."""


def read_meta(path: Path, *, name: str | None = None, compat: bool = False) -> Sampling:
    """Read a meta file.

    Args:
        path: The meta file.
        name: How messages call it; None: its path.
        compat: Whether to sample and round as AISBench does, and to refuse what it refuses.

    Raises:
        DatasetError: the file cannot be read, or something in it is wrong; lists all errors.
    """
    shown = name or str(path)
    problems = Problems(shown)
    value = _parsed(path, shown, problems)
    if problems.found:
        raise problems.error()
    sampling = _sampling(value, problems, shown, compat)
    if problems.found:
        raise problems.error()
    return sampling


def _parsed(path: Path, shown: str, problems: Problems) -> Found:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DatasetError(f"{shown}: there is no such meta file") from None
    except OSError as error:
        raise DatasetError(f"{shown}: the meta file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{shown}: not valid UTF-8 at byte {error.start}; save the file as UTF-8"
        ) from None

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        table = dict(items)
        for key in table:
            if sum(1 for other, _ in items if other == key) > 1:
                problems.add(key, "appears more than once; keep one")
        return table

    try:
        # Decimal keeps the written digits: shares must add up to 1 in decimal, not in binary fractions.
        return cast("Found", json.loads(text, parse_float=Decimal, object_pairs_hook=pairs))
    except json.JSONDecodeError as error:
        raise DatasetError(
            f"{shown}:{error.lineno}: not valid JSON: {error.msg}, column {error.colno}"
        ) from None
    except RecursionError:
        raise DatasetError(f"{shown}: not a meta file: nested too deeply") from None


def _sampling(value: Found, problems: Problems, shown: str, compat: bool) -> Sampling:
    if not isinstance(value, Mapping):
        problems.add(
            "", f'contains {problems.kind(value)}; expected an object such as {{"request_count": 10}}'
        )
        return Sampling()
    known = Known(problems, _HOMES)
    known.check(value, "", _TOP)
    if compat:
        _refuse_unknown_to_aisbench(value, problems)
    count = problems.whole(value, "", "request_count", least=1, example="10")
    seed = problems.whole(value, "", "seed", least=0, example="42")
    mode = _mode(value, problems)
    lengths, min_tokens, ignore_eos = _output(value.get("output_config"), value, problems, known, compat)
    if min_tokens is not None and lengths is not None:
        least = lengths.shortest
        if least is not None and least < min_tokens:
            problems.add(
                "output_config.min_tokens",
                f"is {min_tokens}, more than the smallest limit on a reply's length, {least}; no server can keep both",
            )
    return Sampling(
        request_count=count,
        sampling_mode=mode,
        lengths=lengths,
        min_tokens=min_tokens,
        ignore_eos=ignore_eos,
        seed=DEFAULT_SEED if seed is None else seed,
        compat=compat,
        source=shown,
    )


def _refuse_unknown_to_aisbench(top: Mapping[str, Found], problems: Problems) -> None:
    """Add a problem for each key and value that only benchwright knows. Those that nobody knows are found without this."""
    alone = "is not known to AISBench; leave it out, or leave out --compat aisbench"
    output = top.get("output_config")
    params = output.get("params") if isinstance(output, Mapping) else None
    for where, table in (("", top), ("output_config.", output), ("output_config.params.", params)):
        for key, value in table.items() if isinstance(table, Mapping) else ():
            if key not in _AISBENCH[where] and _known_here(where, key):
                problems.add(where + key, alone)
            elif isinstance(value, str) and value in _only_here(where + key):
                problems.add(where + key, f"{value!r} {alone}")


_VALUES: Mapping[str, Iterable[str]] = {
    "sampling_mode": SAMPLING_MODES,
    "output_config.method": LENGTH_METHODS,
}


def _only_here(key: str) -> set[str]:
    """The values of a key that AISBench does not know."""
    return {*_VALUES.get(key, ())} - {*_AISBENCH.get(key, ())}


def _known_here(where: str, key: str) -> bool:
    if where == "output_config.params.":
        return any(key in names for names in LENGTH_PARAMS.values())
    return key in (_OUTPUT if where else _TOP)


def _mode(value: Mapping[str, Found], problems: Problems) -> SamplingMode:
    mode = value.get("sampling_mode", "default")
    if not isinstance(mode, str):
        problems.add(
            "sampling_mode", f"is {problems.kind(mode)}; expected one of {', '.join(SAMPLING_MODES)}"
        )
    elif mode not in SAMPLING_MODES:
        near = suggest(mode, SAMPLING_MODES)
        problems.add("sampling_mode", f"{mode!r} is not one of {', '.join(SAMPLING_MODES)}.{near}")
    else:
        return mode
    return "default"


def _output(
    output: Found, top: Mapping[str, Found], problems: Problems, known: Known, compat: bool
) -> tuple[OutputLengths | None, int | None, bool]:
    if "output_config" not in top:
        return None, None, False
    where = "output_config"
    if not isinstance(output, Mapping):
        problems.add(
            where,
            f'is {problems.kind(output)}; expected an object such as {{"method": "fixed", "params": {{"value": 100}}}}',
        )
        return None, None, False
    known.check(output, f"{where}.", _OUTPUT)
    min_tokens = problems.whole(output, f"{where}.", "min_tokens", least=0, example="16")
    ignore_eos = output.get("ignore_eos", False)
    if not isinstance(ignore_eos, bool):
        problems.add(f"{where}.ignore_eos", f"is {problems.kind(ignore_eos)}; expected true or false")
        ignore_eos = False
    alone = "min_tokens" in output or "ignore_eos" in output
    lengths = _lengths(output, problems, known, compat, needed=not alone)
    return lengths, min_tokens, ignore_eos


def _lengths(
    output: Mapping[str, Found], problems: Problems, known: Known, compat: bool, *, needed: bool
) -> OutputLengths | None:
    method = output.get("method")
    methods = ", ".join(LENGTH_METHODS)
    if "method" not in output:
        if needed or "params" in output or "order" in output:
            problems.add("output_config.method", f"is missing; expected one of {methods}")
        return None
    if not isinstance(method, str):
        problems.add("output_config.method", f"is {problems.kind(method)}; expected one of {methods}")
        return None
    if method not in LENGTH_METHODS:
        problems.add(
            "output_config.method", f"{method!r} is not one of {methods}.{suggest(method, LENGTH_METHODS)}"
        )
        return None
    params = output.get("params")
    names = ", ".join(LENGTH_PARAMS[method])
    if "params" not in output:
        problems.add("output_config.params", f"is missing; the method {method!r} takes {names}")
        return None
    if not isinstance(params, Mapping):
        problems.add("output_config.params", f"is {problems.kind(params)}; expected an object with {names}")
        return None
    known.check(params, "output_config.params.", LENGTH_PARAMS[method], of=f" of the method {method!r}")
    if "order" in output:
        if method != "percentage":
            problems.add("output_config.order", f"is for the method 'percentage', not {method!r}")
        elif params.get("order", output["order"]) != output["order"]:
            problems.add("output_config.order", "and output_config.params.order differ; keep one")
        params = {"order": output["order"], **params}
    return read_lengths(method, params, problems, compat=compat)


_PARAMS = "output_config.params."
_ORDERS = ("shuffled", "blocked")
_MOST_RANKS = 2**20


def read_lengths(
    method: str, params: Mapping[str, Found], problems: Problems, *, compat: bool
) -> OutputLengths | None:
    """The distribution that the parameters describe; None if they are wrong, and `problems` says how."""
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
        ends = f"{first} or more" if high is None else f"between {first} and {high}"
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
