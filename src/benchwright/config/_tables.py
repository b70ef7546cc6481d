"""Reading one table of the configuration strictly: every key known, every value of its type, no secret inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from benchwright.config._setting import Setting
from benchwright.core import ConfigError, JsonValue, is_secret_name, suggest


def read_table(
    file: Path,
    table: str,
    values: Mapping[str, object],
    settings: Iterable[Setting],
    *,
    hints: Mapping[str, str],
) -> dict[str, JsonValue]:
    """Checked values of a table in a file, as `read_values` gives them."""
    return read_values(f"{file}: [{table}]", values, settings, hints=hints)


def read_values(
    where: str,
    values: Mapping[str, object],
    settings: Iterable[Setting],
    *,
    hints: Mapping[str, str],
    near: Iterable[str] = (),
) -> dict[str, JsonValue]:
    """Checked values under their canonical names; `-` and `_` are the same in keys.

    `hints` tells, for keys that belong elsewhere, where that is; `near` holds further names to suggest.
    """
    known: dict[str, Setting] = {}
    for setting in settings:
        for name in (setting.name, *setting.aliases):
            known[name] = setting
    checked: dict[str, JsonValue] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        wanted = known.get(name)
        if wanted is None:
            raise _unknown(where, key, known, hints, near)
        if wanted.name in checked:
            raise ConfigError(f"{where} sets {wanted.name} twice, once as {key}; keep one of them")
        try:
            checked[wanted.name] = wanted.check(value)
        except ValueError as error:
            raise ConfigError(f"{where} {key}: {error}") from None
    return checked


def sub_table(file: Path, table: str, value: object) -> dict[str, object]:
    """The value as a table, or an error that shows how a table is written."""
    if isinstance(value, dict):
        return value
    found = "a list of tables ([[…]])" if isinstance(value, list) else repr(value)
    raise ConfigError(f"{file}: {table} is {found}; expected a table, written as [{table}]")


def _unknown(
    table: str, key: str, known: Mapping[str, Setting], hints: Mapping[str, str], near: Iterable[str]
) -> ConfigError:
    where = f"{table} {key}"
    name = key.replace("-", "_")
    if name in hints:
        return ConfigError(f"{where}: {hints[name]}")
    if is_secret_name(name):  # the value is not repeated: messages end up in logs
        return ConfigError(
            f"{where}: keys are not kept in files. Put it in an environment variable and name that: "
            'api_key_name = "MY_KEY"'
        )
    names = sorted({setting.name for setting in known.values()})
    return ConfigError(
        f"{where} is not known.{suggest(name, known) or suggest(name, near)} Known: {', '.join(names)}"
    )
