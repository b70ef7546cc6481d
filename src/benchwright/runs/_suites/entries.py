"""Entries of a suite: a model by name or as a table, and a file of questions or a benchmark with its settings.

Unknown keys are errors, and paths are resolved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from benchwright.config import ModelConfig, Setting, settings_of
from benchwright.core import (
    ConfigError,
    JsonObject,
    NotFoundError,
    bridge,
    expand_home,
    is_data_file,
    suggest,
)

QUESTION_KEYS = ("bot_prompt", "human_prompt", "judge", "template")
"""Keys for a file of questions besides the settings of a run: prompts as AISBench writes them
(`template` as a dict of rounds) and a judge as a table. They are checked when the file is read."""

_FILES = ("meta_path", "fewshot_dataset", "dataset")
_NAMES = ("name", "abbr")
_OTHER_FILES = (".py", ".bz2", ".xz")
"""File endings, besides those of data files, that show that a target is a file and not a benchmark or module."""
_UPSTREAM = ("type", "reader_cfg", "infer_cfg", "eval_cfg")


def known_settings(settings: Iterable[Setting]) -> dict[str, Setting]:
    """Map each name and alias to its setting."""
    return {name: setting for setting in settings for name in (setting.name, *setting.aliases)}


_SETTINGS = known_settings(settings_of("dataset"))


def take_settings(
    where: str, values: Mapping[str, object], settings: Mapping[str, Setting], further: Iterable[str]
) -> tuple[JsonObject, dict[str, object]]:
    """Return the values of settings, checked and under their canonical names, and the values under the `further` names
    unchanged. Raises ConfigError for any other key."""
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
    """Return the value as a list. Raises ConfigError with an example if it is not one."""
    if isinstance(value, list | tuple):
        return list(value)
    found = "a table" if isinstance(value, Mapping) else repr(value)
    raise ConfigError(f"{where} is {found}; expected a list, as in {example}")


def locate(written: str, suite: Path, cwd: Path, where: str) -> tuple[str, tuple[str, ...]]:
    """Find a file: its absolute path, or its URI as it was written, and a note for the user if it was found only in the second
    place that was searched. Raises NotFoundError, with the places searched and similar names, if there is none."""
    if "://" in written:
        return written, ()
    path = expand_home(written)
    if path.is_absolute():
        if path.exists():
            return str(path), ()
        raise NotFoundError(f"{where}: there is no file {written}{_near(path)}")
    near, here = suite.parent / path, cwd / path
    if near.exists():
        return str(near.resolve()), ()
    if here.exists():
        note = f"{where}: {written} is not next to {suite.name}; the run uses the one in the current folder"
        return str(here.resolve()), (note,)
    tried = f"neither next to {suite.name} nor in the current folder"
    if suite.parent.resolve() == cwd.resolve():
        tried = f"next to {suite.name}"
    raise NotFoundError(f"{where}: {written} was not found {tried}.{_near(near)}")


def _near(path: Path) -> str:
    names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    return suggest(path.name, names)


def _where(path: Path, kind: str, number: int, value: object) -> str:
    """Return the entry's label in messages: its number, and its name if it has one."""
    names = [value.get(key) for key in _NAMES] if isinstance(value, Mapping) else []
    name = next((f" ({name})" for name in names if isinstance(name, str) and name), "")
    return f"{path}: {kind}, entry {number}{name}"


class SuiteModel(Struct, frozen=True):
    where: str
    """File and entry, for messages."""
    name: str
    """The name in tables; without a description, also the name that is looked up."""
    config: ModelConfig | None = None
    """Its description; None for a model of benchwright.toml, a built-in profile, or `demo`."""


def read_suite_model(path: Path, number: int, value: object) -> SuiteModel:
    """Read and check one model entry."""
    where = _where(path, "models", number, value)
    if isinstance(value, str) and value.strip():
        return SuiteModel(where, value.strip())
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{where} is {value!r}; expected the name of a model, or a table such as "
            '{name = "local", base_url = "http://localhost:8000/v1", model = "my-model"}'
        )
    values = {str(key): entry for key, entry in value.items()}
    if set(values) == {"name"}:  # the table only names a model
        return read_suite_model(path, number, values["name"])
    model = ModelConfig.from_entry(where, values, path.parent)
    return SuiteModel(where, model.name, model)


class SuiteDataset(Struct, frozen=True):
    where: str
    """File and entry, for messages."""
    target: str | Callable[..., Any]
    """The target of the evaluation: a path, a URI, a name, `bench.py:name`, or a decorated function."""
    folder: Path
    """The suite's folder, from which relative paths are resolved."""
    name: str | None = None
    """The name in tables; None for the name of the benchmark or the file."""
    questions: Mapping[str, object] | None = None
    """The given values of `QUESTION_KEYS`; None if the entry names a benchmark, which takes none of them."""
    run: JsonObject = field(default_factory=dict)
    """Run settings of this dataset, under their canonical names."""
    notes: tuple[str, ...] = ()
    """Notes for the user before the run."""

    def is_called(self, name: str) -> bool:
        """Whether `name` is this entry's name, its target as written, or its file's name."""
        written = getattr(self.target, "__name__", None) or str(self.target)
        stem = Path(written).name
        return name in (self.name, written, stem, stem.partition(".")[0], written.rpartition(":")[2])


def read_suite_dataset(path: Path, number: int, value: object, cwd: Path) -> SuiteDataset:
    """Read and check one dataset entry. Files are searched for next to the suite, then in `cwd`."""
    where = _where(path, "datasets", number, value)
    if callable(value):
        return SuiteDataset(where, _decorated(where, value), path.parent.resolve())
    if isinstance(value, str) and value.strip():
        target, notes = _target(value.strip(), path, cwd, where)
        return SuiteDataset(where, target, path.parent.resolve(), notes=notes)
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{where} is {value!r}; expected a name, a path, or a table such as "
            '{path = "questions.csv", data_type = "mcq"}'
        )
    return _read_table(path, where, {str(key): entry for key, entry in value.items()}, cwd)


def _read_table(path: Path, where: str, values: dict[str, object], cwd: Path) -> SuiteDataset:
    if "path" in values and "benchmark" in values:
        raise ConfigError(f"{where} has both path (a file of questions) and benchmark (a name); keep one")
    if "path" not in values and "benchmark" not in values:
        raise _nothing_named(where, values)
    of_questions = "path" in values and not str(values["path"]).partition(":")[0].endswith(".py")
    further = ("path", "benchmark", *_NAMES, *(QUESTION_KEYS if of_questions else ()))
    if isinstance(values.get("template"), str):  # a text or a file, so an ordinary setting
        further = tuple(key for key in further if key != "template")
    run, rest = take_settings(where, bridge("aisbench entries").dataset_entry(values), _SETTINGS, further)
    name = _name(where, rest)
    notes: tuple[str, ...] = ()
    written_target = rest.pop("path", None) or rest.pop("benchmark", None)
    target: str | Callable[..., Any]
    if callable(written_target):
        target = _decorated(where, written_target)
    elif isinstance(written_target, str) and written_target.strip():
        target, notes = _target(written_target.strip(), path, cwd, where, must_exist=of_questions)
    else:
        raise ConfigError(
            f"{where}: {written_target!r} names nothing; expected a path or the name of a benchmark"
        )
    for key in _FILES:
        if key in run:
            run[key], found_notes = locate(str(run[key]), path, cwd, where)
            notes += found_notes
    questions = rest if of_questions else None
    return SuiteDataset(where, target, path.parent.resolve(), name, questions, run, notes)


def _target(
    written: str, path: Path, cwd: Path, where: str, *, must_exist: bool = False
) -> tuple[str, tuple[str, ...]]:
    """Make a path absolute if the file exists; keep the name of a benchmark or module as it was written."""
    file, colon, name = written.partition(":")
    if "://" in written:
        return written, ()
    looks_like_a_file = "/" in file or is_data_file(file) or Path(file).suffix.lower() in _OTHER_FILES
    there = (path.parent / expand_home(file)).is_file() or (cwd / file).is_file()
    if not (must_exist or looks_like_a_file or there):
        return written, ()
    place, notes = locate(file, path, cwd, where)
    return place + colon + name, notes


def _name(where: str, rest: dict[str, object]) -> str | None:
    given = [rest.pop(key) for key in _NAMES if rest.get(key) is not None]
    for key in _NAMES:
        rest.pop(key, None)
    if len(given) > 1:
        raise ConfigError(f"{where}: name and abbr are the same thing; keep one of them")
    if not given:
        return None
    if not isinstance(given[0], str) or not given[0].strip():
        raise ConfigError(f"{where}: name is {given[0]!r}; expected a text")
    return given[0].strip()


def _decorated(where: str, value: Callable[..., Any]) -> Callable[..., Any]:
    if getattr(value, "_benchmark", None) is None:
        raise ConfigError(f"{where}: {value!r} is not decorated with @benchmark")
    return value


def _nothing_named(where: str, values: Mapping[str, object]) -> ConfigError:
    if any(key in values for key in _UPSTREAM):
        return ConfigError(
            f"{where} is a dataset configuration of AISBench, whose classes are not part of benchwright. Name the "
            'data itself: {"path": "questions.jsonl", "data_type": "qa"}'
        )
    slip = next((near for key in values if (near := suggest(key, ("path", "benchmark")))), "")
    return ConfigError(
        f'{where} names nothing to evaluate.{slip} Add path = "questions.csv", or benchmark = "bench.py:name"'
    )
