"""Variables that a launcher's file sets for its tasks: `host:NAME` takes the value of another variable, `lit:VALUE` gives one.

The process has them while the runs last. Runs record where a value comes from, never a value of the host or of a variable that is
named like a secret.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchwright.core import ConfigError, is_secret_name, late_pattern, remember_secret

_AT_START = late_pattern("PYTHON|LD_|DYLD_")
"""Variables that a process reads once, at its start."""
_NAME = late_pattern(r"[^=\0]+")
"""Names that a process can have."""
_IN_HEADER = late_pattern(r"\$\{(\w+)\}")
"""A variable in the value of a header."""
_KEPT_OUT = "secret"
"""Stands in records for a literal value that is not recorded."""


def read_variables(source: str, tables: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """The variables of tables with their places, each `host:NAME` or `lit:VALUE`. The last table has precedence; variables that
    the process has anyway are left out."""
    found = {name: value for place, table in tables for name, value in _read(source, place, table).items()}
    return {name: value for name, value in found.items() if value != _unchanged(name)}


def _read(source: str, place: str, table: Mapping[str, Any]) -> dict[str, str]:
    """The variables of one table. ConfigError for a value that cannot be known here; it is not repeated, because it may be a
    key."""
    found: dict[str, str] = {}
    for name, value in table.items():
        kind, mark, text = str(value).partition(":")
        if not _NAME.fullmatch(name) or "\0" in text:
            wrong = (
                "has a value with the character NUL"
                if _NAME.fullmatch(name)
                else "is not the name of a variable"
            )
            raise ConfigError(
                f"{source}: {place}env_vars: {name!r} {wrong}; no process can have such a variable"
            )
        if value in (None, name, f"${name}") or (kind == "runtime" and text == name):
            found[name] = _unchanged(name)
            continue
        if not mark or kind not in ("host", "runtime", "lit"):
            raise ConfigError(
                f"{source}: {place}env_vars.{name} is neither host:NAME, the name of a variable here, nor lit:VALUE; write one of "
                "them, or the variable's own name"
            )
        if _AT_START.match(name) and os.environ.get(name) != (
            text if kind == "lit" else os.environ.get(text)
        ):
            raise ConfigError(
                f"{source}: {place}env_vars.{name} takes effect only when a process starts; export it before you start"
            )
        if kind == "lit":
            found[name] = f"lit:{text}"
        elif text not in os.environ:
            raise ConfigError(
                f"{source}: {place}env_vars.{name} is {value}, and {text} is not set; export it before you start"
            )
        else:
            found[name] = f"host:{text}"
    return found


def _unchanged(name: str) -> str:
    """The value of a variable that stays as it is in the process."""
    return f"host:{name}"


@contextmanager
def exported(variables: Mapping[str, str]) -> Iterator[None]:
    """Set the variables, and put back what was there before."""
    before = {name: os.environ.get(name) for name in variables}
    try:
        for name, value in variables.items():
            kind, _, text = value.partition(":")
            if value != _KEPT_OUT:
                os.environ[name] = os.environ[text] if kind == "host" else text
                source = text if kind == "host" else name
                remember_secret(os.environ[name], source, named=(name, source))
        yield
    finally:
        for name, old in before.items():
            os.environ.pop(name, None)
            if old is not None:
                os.environ[name] = old


def recorded_variables(
    variables: Mapping[str, str], options: Mapping[str, Any], pipeline: object = None
) -> dict[str, str]:
    """The variables as records hold them. What `options` of the run, its judges or its pipeline take a key from is a secret,
    whatever its name."""
    keys = set(_keys_named(options))
    keys |= set(_IN_HEADER.findall(str([options.get("headers"), options.get("judge"), pipeline])))
    return {
        name: _KEPT_OUT if value.startswith("lit:") and (name in keys or is_secret_name(name)) else value
        for name, value in variables.items()
    }


def _keys_named(value: object, name: str = "") -> Iterator[str]:
    """The variables that settings, however deep, name as the place of a key."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _keys_named(entry, str(key))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _keys_named(entry, name)
    elif isinstance(value, str) and name.endswith(("api_key", "api_key_name")):
        yield value


def unset_variables(recorded: Mapping[str, Any]) -> list[str]:
    """How to set the variables of a recorded run that the process lacks, one command each."""
    cures = []
    for name, value in recorded.items():
        kind, _, text = str(value).partition(":")
        wanted = os.environ.get(text) if kind == "host" else text
        if value == _KEPT_OUT:
            cures += [] if name in os.environ else [f"export {name} with its value"]
        elif wanted is None or os.environ.get(name) != wanted:
            cures.append(f"export {assigned(name, str(value))}")
    return cures


def assigned(name: str, value: str) -> str:
    """The variable as a shell sets it; empty for one whose value is not recorded.

    >>> assigned("LEVEL", "lit:a b"), assigned("KEY", "host:OTHER")
    ("'LEVEL=a b'", 'KEY="$OTHER"')
    """
    kind, _, text = value.partition(":")
    if value == _KEPT_OUT:
        return ""
    return f'{name}="${text}"' if kind == "host" else shlex.quote(f"{name}={text}")
