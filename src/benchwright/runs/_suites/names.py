"""Look up models and datasets named on a command line: in a folder of configurations, in benchwright.toml, or built in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from benchwright.benchmarks import BENCHMARK_PLUGINS, custom_media_file, import_file, written_as
from benchwright.config import SUITE_SUFFIXES, ConfigFile, Profile, read_document
from benchwright.core import NotFoundError, UsageError, expand_home, refuse_foreign
from benchwright.runs._suites.entries import SuiteDataset, SuiteModel
from benchwright.runs._suites.suite import Suite, gathered_datasets, suite_of

Kind: TypeAlias = Literal["models", "datasets"]
"""Whether a name is looked up among the models or the datasets."""

DEFAULT_CONFIG_DIR = "configs"
"""Folder of configurations that is used if it exists and no other is given."""


def command_suite(
    *,
    targets: Sequence[str | Callable[..., Any]] = (),
    files: Sequence[str] = (),
    datasets: Sequence[str] = (),
    models: Sequence[str] = (),
    config_dir: str | None = None,
    cwd: Path,
) -> Suite:
    """Build the suite that a command line describes by targets, files of questions, and names of datasets and models."""
    folder = config_folder(config_dir, cwd)
    entries = [SuiteDataset("TARGET", target, cwd) for target in targets]
    entries += [
        SuiteDataset("--custom-dataset-path", _absolute(file, cwd), cwd, questions={}) for file in files
    ]
    for name in datasets:
        entries += _datasets(name, folder, cwd)
    found = [model for name in models for model in _models(name, folder, cwd)]
    return Suite(path=cwd / "command line", models=tuple(found), datasets=tuple(entries), chosen=bool(models))


def chosen_models(suite: Suite, names: Sequence[str], *, config_dir: str | None = None, cwd: Path) -> Suite:
    """Return the suite with only the named models. A name is looked up among the suite's models first, then elsewhere.
    The suite's combinations apply to its own models; any other model is paired with all datasets."""
    folder = config_folder(config_dir, cwd)
    own = {model.name: number for number, model in enumerate(suite.models)}
    models: list[SuiteModel] = []
    pairs: list[tuple[int, int]] = []
    for name in names:
        for model in [suite.models[own[name]]] if name in own else _models(name, folder, cwd):
            pairs += [
                (len(models), place)
                for place in range(len(suite.datasets))
                if name not in own or suite.pairs is None or (own[name], place) in suite.pairs
            ]
            models.append(model)
    return replace(suite, models=tuple(models), pairs=tuple(pairs), chosen=True)


def config_folder(config_dir: str | None, cwd: Path) -> Path | None:
    """Return the folder of configurations, or None if there is none."""
    folder = cwd / expand_home(config_dir or DEFAULT_CONFIG_DIR)
    if folder.is_dir():
        return folder
    if config_dir is not None:
        raise NotFoundError(f"--config-dir: there is no folder {config_dir}")
    return None


def origins(
    kind: Kind, names: Sequence[str], *, config_dir: str | None, config: ConfigFile | None, cwd: Path
) -> list[tuple[str, str]]:
    """Each name with the file, configuration, package or built-in that defines it, for `--search`; empty if it is unknown."""
    folder = config_folder(config_dir, cwd)
    return [(name, _origin(kind, name, folder, config, cwd)) for name in names]


def _origin(kind: Kind, name: str, folder: Path | None, config: ConfigFile | None, cwd: Path) -> str:
    file = _file(kind, name, folder)
    if file is not None:
        return str(file)
    if config is not None and name in (config.models if kind == "models" else config.benchmarks):
        return f"{config.path}: [{'models' if kind == 'models' else 'benchmarks'}.{name}]"
    if kind == "models":
        if Profile.find(name) is not None:
            return "built-in profile"
        return "embedded demo model" if name == "demo" else ""
    place = name.partition(":")[0]
    if written_as(name) == "questions" or place.endswith(".py"):
        path = cwd / expand_home(place)
        return str(path) if path.is_file() else name if "://" in name else ""
    entry = BENCHMARK_PLUGINS.entry(name)
    return "" if entry is None else f"package {entry.package}"


def _models(name: str, folder: Path | None, cwd: Path) -> list[SuiteModel]:
    file = _file("models", name, folder)
    if file is None:
        return [SuiteModel("--models", name)]
    names = _names(file)
    entries = names.get("models")
    if entries is None and "datasets" not in names:  # the file is the table of one model
        entries = [{"name": file.stem, **names}]
    return list(suite_of(file, {"models": entries}, cwd=cwd).models)


def _datasets(name: str, folder: Path | None, cwd: Path) -> list[SuiteDataset]:
    file = _file("datasets", name, folder)
    if file is None:
        name = custom_media_file(name, cwd) or name
        target = _absolute(name, cwd) if written_as(name) == "questions" else name
        return [SuiteDataset("--datasets", target, cwd)]
    names = _names(file)
    entries = names.get("datasets")
    ending = name.rpartition("/")[2] if "/" in name and file.stem != name.rpartition("/")[2] else "_datasets"
    if entries is None or ending != "_datasets":
        entries = gathered_datasets(names, ending) or entries
    if entries is None and {"path", "benchmark"} & set(names):  # the file is the table of one dataset
        entries = [{"name": file.stem, **names}]
    if not entries:
        raise UsageError(f"--datasets {name}: {file} has no list of datasets whose name ends in {ending}")
    return list(suite_of(file, {"datasets": entries}, cwd=cwd).datasets)


def _file(kind: Kind, name: str, folder: Path | None) -> Path | None:
    """Find the file of a name: `NAME.toml` in or below `models/`, or in the folder itself."""
    if folder is None or name.startswith(("/", ".")) or "://" in name:
        return None
    for stem in dict.fromkeys((name, name.partition("/")[0])):
        places = [folder / kind, folder]
        found = [
            path
            for suffix in SUITE_SUFFIXES
            for place in places
            for path in (place / f"{stem}{suffix}", *sorted((folder / kind).rglob(f"{stem}{suffix}")))
            if path.is_file()
        ]
        found = list(dict.fromkeys(found))
        if len(found) > 1:
            raise UsageError(f"{name} is found twice: {found[0]} and {found[1]}; keep one of them")
        if found:
            if folder.name == DEFAULT_CONFIG_DIR:  # nobody named the folder
                refuse_foreign(found[0], "configuration", folder.parent)
            return found[0]
    return None


def _names(file: Path) -> Mapping[str, object]:
    if file.suffix == ".py":
        return {key: value for key, value in vars(import_file(file)).items() if not key.startswith("_")}
    return read_document(file)


def _absolute(target: str, cwd: Path) -> str:
    path = cwd / expand_home(target)
    return str(path) if "://" not in target and path.exists() else target
