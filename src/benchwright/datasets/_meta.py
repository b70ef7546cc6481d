"""Reads `.meta.json`: every key checked, every error found at once, each with the file and the key it is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import cast

from benchwright.core import DatasetError, suggest
from benchwright.datasets._lengths import LENGTH_METHODS, LENGTH_PARAMS, OutputLengths, shortest
from benchwright.datasets._meta_lengths import read_lengths
from benchwright.datasets._meta_values import Found, Known, Problems
from benchwright.datasets._sampling import (
    DEFAULT_SEED,
    SAMPLING_MODES,
    Sampling,
    SamplingMode,
)

_TOP = ("request_count", "sampling_mode", "output_config", "seed")
_OUTPUT = ("method", "params", "min_tokens", "ignore_eos")
_HOMES = {
    **dict.fromkeys(_TOP, ""),
    **dict.fromkeys(_OUTPUT, "output_config."),
    **{name: "output_config.params." for names in LENGTH_PARAMS.values() for name in names},
}
"""Where each key belongs, for those who put it on another level."""


def read_meta(path: Path, *, name: str | None = None, compat: bool = False) -> Sampling:
    """Reads a meta file.

    Args:
        path: The meta file.
        name: How messages call it; None: its path.
        compat: Whether to sample and round as AISBench does.

    Raises:
        DatasetError: the file cannot be read, or something in it is wrong; lists everything that is.
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
                problems.add(key, "stands there more than once; keep one")
        return table

    try:
        # Decimal keeps the digits as they are written: shares must add up to 1 by these, not by binary fractions.
        return cast("Found", json.loads(text, parse_float=Decimal, object_pairs_hook=pairs))
    except json.JSONDecodeError as error:
        raise DatasetError(
            f"{shown}:{error.lineno}: not valid JSON: {error.msg}, column {error.colno}"
        ) from None
    except RecursionError:
        raise DatasetError(f"{shown}: not a meta file: nested too deeply") from None


def _sampling(value: Found, problems: Problems, shown: str, compat: bool) -> Sampling:
    if not isinstance(value, Mapping):
        problems.add("", f'holds {problems.kind(value)}; expected an object such as {{"request_count": 10}}')
        return Sampling()
    known = Known(problems, _HOMES)
    known.check(value, "", _TOP)
    count = problems.whole(value, "", "request_count", least=1, example="10")
    seed = problems.whole(value, "", "seed", least=0, example="42")
    mode = _mode(value, problems)
    lengths, min_tokens, ignore_eos = _output(value.get("output_config"), value, problems, known, compat)
    if min_tokens is not None and lengths is not None:
        least = shortest(lengths)
        if least is not None and least < min_tokens:
            problems.add(
                "output_config.min_tokens",
                f"is {min_tokens}, more than the shortest longest reply, {least}; no server can keep both",
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
        if needed or "params" in output:
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
    return read_lengths(method, params, problems, compat=compat)
