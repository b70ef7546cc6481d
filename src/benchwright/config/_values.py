"""Converts and checks values of settings from files and Python. Tables of files are read strictly: every key is known, every
value has its type, and no value is a secret."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from msgspec import Struct

from benchwright.config._servers import check_headers
from benchwright.config._setting import Setting
from benchwright.core import (
    LEFT_OUT,
    ConfigError,
    JsonValue,
    UsageError,
    expand_home,
    is_secret_name,
    late_pattern,
    suggest,
)


def read_table(
    file: Path,
    table: str,
    values: Mapping[str, object],
    settings: Iterable[Setting],
    *,
    hints: Mapping[str, str],
) -> dict[str, JsonValue]:
    """Read and check a table of a file, like `read_values`."""
    return read_values(f"{file}: [{table}]", values, settings, hints=hints)


def read_values(
    where: str,
    values: Mapping[str, object],
    settings: Iterable[Setting],
    *,
    hints: Mapping[str, str],
    near: Iterable[str] = (),
    written: Mapping[str, str] = MappingProxyType({}),
    lenient: bool = False,
) -> dict[str, JsonValue]:
    """Check values and return them under their canonical names; `-` and `_` are the same in keys.

    `hints` says where misplaced keys belong; `near` has further names to suggest; `written` has the names that the user wrote
    instead of some keys; `lenient` accepts values that `in_kind` understands.
    """
    known: dict[str, Setting] = {}
    for setting in settings:
        for name in (setting.name, *setting.aliases):
            known[name] = setting
    checked: dict[str, JsonValue] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        declared = known.get(name)
        if declared is None:
            raise _unknown(where, key, known, hints, near)
        if declared.name in checked:
            raise ConfigError(f"{where} sets {declared.name} twice, once as {key}; keep one of them")
        try:
            checked[declared.name] = declared.check(in_kind(declared, value) if lenient else value)
        except ValueError as error:
            raise ConfigError(f"{where} {written.get(key, key)}: {error}") from None
    return checked


_SPELLED = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def in_kind(setting: Setting, value: Any) -> Any:
    """Convert a value to the type of the setting, as the older package does: 2.0 and "2" to 2, 1 and "true" to true. YAML reads
    1e-3 as a text."""
    if setting.kind in ("int", "number") and isinstance(value, str):
        return setting.parse(value)
    if setting.kind == "int" and isinstance(value, float) and value.is_integer():
        return int(value)
    return as_switch(value) if setting.kind == "bool" else value


def as_switch(value: Any) -> Any:
    """Convert a text or a number to true or false."""
    return _SPELLED.get(str(value).lower(), value) if isinstance(value, str | int) else value


def sub_table(file: Path, table: str, value: object) -> dict[str, object]:
    """The value as a table. Raises an error that shows how a table is written if it is not one."""
    if isinstance(value, dict):
        return value
    found = "a list of tables ([[…]])" if isinstance(value, list) else repr(value)
    raise ConfigError(f"{file}: {table} is {found}; expected a table, written as [{table}]")


def _unknown(
    table: str, key: str, known: Mapping[str, Setting], hints: Mapping[str, str], near: Iterable[str]
) -> ConfigError:
    where = f"{table} {key}" if table.endswith("]") else f"{table}: {key}"
    name = key.replace("-", "_")
    if name in hints:
        return ConfigError(f"{where}: {hints[name]}")
    if is_secret_name(name):  # the value is not repeated, because messages end up in logs
        return ConfigError(
            f"{where}: keys are not kept in files. Put it in an environment variable and name that: "
            'api_key_name = "MY_KEY"'
        )
    names = sorted({setting.name for setting in known.values()})
    return ConfigError(
        f"{where} is not known.{suggest(name, known) or suggest(name, near)} Known: {', '.join(names)}"
    )


def from_python(setting: Setting, value: Any) -> Any:
    """A keyword's value in the form of `RunOptions`, converted from the different forms that people write."""
    if value is None:
        return None
    if setting.name == "headers":
        return _headers(value)
    if setting.name == "filters" and isinstance(value, Mapping):
        return tuple(f"{name}={wanted}" for name, wanted in value.items())
    if setting.kind == "steps":
        from benchwright.config._pipeline_reader import pipeline_settings  # not for `--help`

        return pipeline_settings(value, setting.name)
    if setting.kind == "texts":
        return _names(value) if setting.commas else (value,) if isinstance(value, str) else tuple(value)
    if setting.kind == "ints":
        given = setting.parse(value) if isinstance(value, str) else value
        return tuple(given) if isinstance(given, list | tuple) else (given,)
    if setting.name in ("workspace", "output_dir", "work_dir"):
        return Path(value)
    if setting.name == "store":
        return str(value)
    if setting.name == "compat" and isinstance(value, bool):
        return "aisbench" if value else None
    if setting.name == "test_range" and isinstance(value, int | float):
        return str(value)
    return value


def _listed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_value(setting: Setting, value: Any) -> None:
    """Raise UsageError for a value of another type or outside the range. Choices are checked where they are used, because more
    is known there."""
    if setting.can_be_left_out and value == LEFT_OUT:
        return
    if expected := setting.wrong_type(value):
        raise UsageError(f"{setting.name} is {value!r} ({type(value).__name__}); expected {expected}")
    if setting.kind in ("int", "ints", "number"):
        try:
            setting.check(value)
        except ValueError:
            raise UsageError(
                f"{setting.flags[0]} is {_listed(value)}; expected {setting.limits or setting.expected}"
            ) from None
    if setting.name == "filters":
        for written in value:
            _check_filter(written)


_EXPRESSION = late_pattern(
    r"\s*(?P<field>[^=<>!~:]*?[^=<>!~:\s])(?P<sign>\s*(?:==+|!=|[<>]=?|=~|~=?|:)\s*|\s+(?:=|is|eq|in)\s+)"
    r"(?P<quote>['\"]?)(?P<value>.*?)(?P=quote)\s*"
)
"""A condition as other programs write it."""


def _check_filter(written: str) -> None:
    found = _EXPRESSION.fullmatch(written)
    if found is not None and (found["sign"].strip() not in (":", "is", "eq", "in") or "=" not in written):
        if found["sign"].strip() in ("==", "===", "=", ":", "is", "eq"):
            cure = shlex.quote(f"{found['field']}={found['value']}")
            raise UsageError(f"--filter {written!r}: expected FIELD=VALUE. Write --filter {cure}")
        raise UsageError(
            f"--filter {written!r}: filters only compare for equality, as in --filter {shlex.quote(found['field'] + '=VALUE')}. "
            "For other conditions, use a file with only these rows"
        )
    if "=" not in written:
        raise UsageError(f"--filter {written!r} has no '='; expected FIELD=VALUE, as in --filter lang=hi")


def _headers(value: Mapping[str, str] | str | Sequence[str]) -> dict[str, str]:
    """Headers by name, from a table or from texts `NAME=VALUE`."""
    if isinstance(value, Mapping):
        return check_headers("headers", value)
    headers: dict[str, str] = {}
    for written in [value] if isinstance(value, str) else value:
        name, mark, text = written.partition("=")
        if not mark or not name.strip():
            # The message does not quote the value, which may contain a key.
            raise UsageError("--header: expected NAME=VALUE, as in --header X-Team=search")
        headers[name.strip()] = text.strip()
    return check_headers("--header", headers)


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    """A list of names; several may be in one text, between commas."""
    texts = [value] if isinstance(value, str) else list(value)
    if len(texts) == 1 and isinstance(texts[0], str):
        texts = [text.strip() for text in texts[0].split(",")]
    return tuple(texts)


def text_or_file(folder: Path, value: str) -> str:
    """The absolute path of the file that a value names, relative to `folder`; the value itself if there is no such file."""
    named = "\n" not in value and is_file(folder, value)
    return str(folder.absolute() / expand_home(value)) if named else value


def is_file(folder: Path, value: str) -> bool:
    """Whether a value, which may be a text, names a file relative to `folder`."""
    try:
        return (folder / expand_home(value)).is_file()
    except (OSError, ValueError):  # a whole prompt is not a valid file name
        return False


class GivenOptions(Struct, frozen=True):
    """What a user has chosen of some settings; None: not given."""

    settings: ClassVar[Mapping[str, Setting]]
    """The setting of each field, by name."""

    def __post_init__(self) -> None:
        """Check the types of values, because Python does not check annotations."""
        for name, value in self.given().items():
            check_value(self.settings[name], value)

    def given(self) -> dict[str, Any]:
        """The options that are given, by name."""
        values = {name: getattr(self, name) for name in self.settings}
        return {name: value for name, value in values.items() if value is not None}
