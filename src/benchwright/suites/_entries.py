"""Entries of a suite: keys checked strictly, files located, models by name or described on the spot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from benchwright.config import ModelConfig, Setting, read_model_entry
from benchwright.core import ConfigError, JsonObject, NotFoundError, suggest


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


class Place(Struct, frozen=True):
    """A file that a suite names."""

    path: str
    """Absolute; a URI as it was written."""
    note: str | None = None
    """Said when it was not found where one looks first."""


def locate(written: str, suite: Path, cwd: Path, where: str) -> Place:
    """Find a file. NotFoundError, with what was tried and near names, if it is nowhere."""
    if "://" in written:
        return Place(written)
    path = Path(written).expanduser()
    if path.is_absolute():
        if path.exists():
            return Place(str(path))
        raise NotFoundError(f"{where}: there is no file {written}{_near(path)}")
    beside, here = suite.parent / path, cwd / path
    if beside.exists():
        return Place(str(beside.resolve()))
    if here.exists():
        return Place(
            str(here.resolve()),
            f"{where}: {written} is not beside {suite.name}; the one in the current folder is taken",
        )
    tried = f"neither beside {suite.name} nor in the current folder"
    if suite.parent.resolve() == cwd.resolve():
        tried = f"not beside {suite.name}"
    raise NotFoundError(f"{where}: {written} was not found, {tried}.{_near(beside)}")


def _near(path: Path) -> str:
    names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    return suggest(path.name, names)


class SuiteModel(Struct, frozen=True):
    """One model of a suite."""

    where: str
    """File and entry, for messages."""
    name: str
    """What it is called in tables; without a description, the name that is looked up."""
    config: ModelConfig | None = None
    """Its description; None: a model of benchwright.toml, a built-in profile, or `demo`."""


def read_suite_model(path: Path, number: int, value: object) -> SuiteModel:
    """One entry, checked."""
    where = f"{path}: models, entry {number}"
    if isinstance(value, str) and value.strip():
        return SuiteModel(where, value.strip())
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{where} is {value!r}; expected the name of a model, or a table such as "
            '{name = "local", base_url = "http://localhost:8000/v1", model = "my-model"}'
        )
    values = {str(key): entry for key, entry in value.items()}
    if set(values) == {"name"}:  # a table that only names
        return read_suite_model(path, number, values["name"])
    model = read_model_entry(where, values, path.parent)
    return SuiteModel(where, model.name, model)
