"""Reading one entry of a suite strictly: every key known, every value of its type, the place in every message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchwright.config import Setting
from benchwright.core import ConfigError, JsonObject, suggest


def known_settings(settings: Iterable[Setting]) -> dict[str, Setting]:
    """Settings under all their names."""
    return {name: setting for setting in settings for name in (setting.name, *setting.aliases)}


def take_settings(
    where: str, values: Mapping[str, object], settings: Mapping[str, Setting], further: Iterable[str]
) -> tuple[JsonObject, dict[str, object]]:
    """Values of settings, checked and under their canonical names; and those under the `further` names, as they
    are. ConfigError for a key that is neither."""
    further = tuple(further)
    checked: JsonObject = {}
    rest: dict[str, object] = {}
    for key, value in values.items():
        name = str(key).replace("-", "_")
        setting = settings.get(name)
        if name in further:
            rest[name] = value
        elif setting is None:
            known = sorted({*further, *(setting.name for setting in settings.values())})
            near = suggest(name, [*further, *settings])
            raise ConfigError(f"{where}: {key} is not known.{near} Known: {', '.join(known)}")
        elif setting.name in checked:
            raise ConfigError(f"{where} sets {setting.name} twice, once as {key}; keep one of them")
        else:
            try:
                checked[setting.name] = setting.check(list(value) if isinstance(value, tuple) else value)
            except ValueError as error:
                raise ConfigError(f"{where}: {key}: {error}") from None
    return checked, rest


def list_of(where: str, value: object, example: str) -> list[object]:
    """The value as a list, or an error that shows one."""
    if isinstance(value, list | tuple):
        return list(value)
    found = "a table" if isinstance(value, Mapping) else repr(value)
    raise ConfigError(f"{where} is {found}; expected a list, as in {example}")
