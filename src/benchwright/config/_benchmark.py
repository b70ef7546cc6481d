"""`[benchmarks.NAME]`: a target under a short name, with its defaults: a file, a built-in evaluation (`type = "builtin"`),
a program (`type = "custom_code"`), or an evaluation that the table describes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.config._model import ModelConfig, read_model_value
from benchwright.config._nocode import NoCodeBenchmark, read_nocode, read_source
from benchwright.config._run_settings import RUN_SETTINGS, settings_of
from benchwright.config._setting import Setting
from benchwright.config._values import is_file, read_table, read_values, text_or_file
from benchwright.core import ConfigError, JsonObject, JsonValue, expand_home, suggest

_BUILTIN = (
    Setting("type", "text", "builtin"),
    Setting("description", "text", "one line for listings"),
    Setting("benchmark", "text", "which one, where the table has another name"),
    Setting("metric", "text", "how texts are compared"),
    Setting("dataset", "table", ""),
    Setting("model", "table", ""),
)
_BUILTIN_ALIASES = {"samples": "limit", "num_samples": "limit", "max_workers": "parallelism"}
CODE_SETTINGS = (
    Setting("type", "text", "custom_code"),
    Setting("description", "text", "one line for listings"),
    Setting("command", "texts", "program and arguments"),
    Setting("input", "table", "what the program gets"),
)
"""The keys of a program's table."""
BenchmarkType: TypeAlias = Literal["file", "builtin", "custom_code", "custom_nocode"]
"""What a table names: a file or module, a built-in evaluation, a program, or an evaluation that it describes."""

_TYPES: tuple[BenchmarkType, ...] = get_args(BenchmarkType)

_ENDPOINT_HINT = 'describe the endpoint in a [models.NAME] table and write model = "NAME" here'
_PLACE_HINT = "give this on the command line: written here, every run would use the same folder"
_INPUT_HINT = "--input is for the command line; a program's own input goes in a table of type custom_code"
_HINT_OF = {"model": _ENDPOINT_HINT, "files": _PLACE_HINT, "data": _INPUT_HINT}
_RUN = settings_of("run")
_HINTS = {s.name: _HINT_OF[s.group] for s in RUN_SETTINGS if s not in settings_of("run", "benchmark")}
_BENCHMARK = (
    Setting("type", "text", "what the table names"),
    Setting("file", "text", "file.py, file.py:name, package.module, package.module:name, or a data file"),
    Setting("description", "text", "one line for listings"),
    *settings_of("benchmark"),
)


class BuiltinBenchmark(Struct, frozen=True):
    """A built-in evaluation with changes."""

    benchmark: str
    """Its name."""
    dataset: str | None = None
    """Path or URI of other data with the same columns."""
    metric: str | None = None
    """How texts are compared; None: as the evaluation declares."""

    @classmethod
    def read(
        cls, folder: Path, name: str, where: str, values: Mapping[str, object], hints: Mapping[str, str]
    ) -> tuple[BuiltinBenchmark, JsonObject]:
        """The evaluation of a table, and the run settings in it. Its name is checked when it runs."""
        written = {key.replace("-", "_"): value for key, value in values.items()}
        for foreign, ours in _BUILTIN_ALIASES.items():
            if foreign in written:
                if ours in written:
                    raise ConfigError(f"{where} sets {ours} twice, once as {foreign}; keep one of them")
                written[ours] = written.pop(foreign)
        dataset = written.pop("dataset", None)
        written.pop("model", None)  # models are read elsewhere
        run = [
            s for s in RUN_SETTINGS if s.name not in (*hints, "dataset", "model") and s.group != "questions"
        ]
        checked = read_values(where, written, (*_BUILTIN, *run), hints=hints)
        metric = checked.pop("metric", None)
        chosen = checked.pop("benchmark", None)
        found = cls(
            benchmark=str(chosen or name),
            dataset=None if dataset is None else read_source(f"{where} dataset", dataset, folder),
            metric=None if metric is None else str(metric),
        )
        return found, checked


def _read_code(file: Path, name: str, values: Mapping[str, object]) -> BenchmarkConfig:
    where = f"{file}: [benchmarks.{name}]"
    command = values.get("command")
    if isinstance(command, str):
        raise ConfigError(
            f"{where} command: {command!r} is a text; expected program and arguments as a list, without a shell: "
            f'command = ["python", "my_eval.py"]'
        )
    hints = {"model": "a program gets its model from input, as in input = { model = … }"}
    checked = read_values(where, values, CODE_SETTINGS, hints=hints)
    found = checked.get("command")
    if not isinstance(found, list) or not found:
        raise ConfigError(
            f'{where} has no command. Add program and arguments: command = ["python", "my_eval.py"]'
        )
    given = checked.get("input")
    return BenchmarkConfig(
        name=name,
        file="",
        description=_text(checked.get("description", "")),
        type="custom_code",
        command=tuple(str(part) for part in found),
        input=given if isinstance(given, dict) else {},
        folder=file.parent,
    )


class BenchmarkConfig(Struct, frozen=True):
    """A benchmark as the configuration file names it."""

    name: str
    """The name users type."""
    file: str
    """The target to load: an absolute path, with `:name` if given, or a module. Empty for types other than `file`."""
    description: str = ""
    """One line for listings."""
    model: str | None = None
    """Model to use unless the command line names another."""
    run: JsonObject = field(default_factory=dict)
    """Defaults of run settings for this benchmark, under their canonical names."""
    type: BenchmarkType = "file"
    """What the table names."""
    command: tuple[str, ...] = ()
    """Program and arguments of `custom_code`, as written; no shell is involved. Empty for other types."""
    input: JsonObject = field(default_factory=dict)
    """The input of the program, before `--input` replaces parts of it."""
    folder: Path = field(default_factory=Path)
    """Where the program is started: the folder of the configuration file."""
    nocode: NoCodeBenchmark | None = None
    """The evaluation that `custom_nocode` describes; its template files are read when it is used."""
    builtin: BuiltinBenchmark | None = None
    """The evaluation of `builtin`."""
    own_model: ModelConfig | None = None
    """A model that the table describes, under the name in `model`."""


def read_benchmark(
    file: Path, name: str, values: Mapping[str, object], *, foreign: bool = False
) -> BenchmarkConfig:
    """Read and check one `[benchmarks.NAME]` table. In a file of another tool, a table without type is a built-in one."""
    kind = _type(f"{file}: [benchmarks.{name}]", values, foreign)
    if kind == "file":
        return _read_file(file, name, values)
    if kind == "custom_code":
        return _read_code(file, name, values)
    where = f"{file}: [benchmarks.{name}]"
    nocode = builtin = None
    if kind == "custom_nocode":
        nocode, checked = read_nocode(file, name, where, values, _HINTS)
    else:
        builtin, checked = BuiltinBenchmark.read(file.parent, name, where, values, _HINTS)
    checked.pop("type", None)
    model, own = None, None
    if "model" in values:
        given = read_model_value(f"{where} model", values["model"], file.parent)
        # Two tables may describe one model in two ways, so the benchmark's name is part of the model's.
        model = given if isinstance(given, str) else f"{given.name} ({name})"
        own = replace(given, name=model) if isinstance(given, ModelConfig) else None
    return BenchmarkConfig(
        name=name,
        file="",
        description=_text(checked.pop("description", "")),
        model=model,
        run=checked,
        type=kind,
        nocode=nocode,
        builtin=builtin,
        own_model=own,
    )


def _type(where: str, values: Mapping[str, object], foreign: bool) -> BenchmarkType:
    written = values.get("type", "builtin" if foreign and "file" not in values else "file")
    for known in _TYPES:
        if written == known:
            return known
    raise ConfigError(
        f"{where} type: {written!r} is not known.{suggest(str(written), _TYPES)} Known: {', '.join(_TYPES)}"
    )


def _read_file(file: Path, name: str, values: Mapping[str, object]) -> BenchmarkConfig:
    table = f"benchmarks.{name}"
    checked = read_table(file, table, values, _BENCHMARK, hints=_HINTS)
    checked.pop("type", None)
    target = checked.pop("file", None)
    if target is None:
        raise ConfigError(f'{file}: [{table}] has no file. Add, for example: file = "my_bench.py"')
    _resolve_paths(file, checked)
    model = checked.pop("model", None)
    return BenchmarkConfig(
        name=name,
        file=_target(file, str(target)),
        description=_text(checked.pop("description", "")),
        model=None if model is None else str(model),
        run=checked,
    )


def read_run_defaults(file: Path, values: Mapping[str, object]) -> JsonObject:
    """Read and check the `[run]` table."""
    hints = {**_HINTS, "dataset": "set this in a [benchmarks.NAME] table or on the command line"}
    checked = read_table(file, "run", values, _RUN, hints=hints)
    _resolve_paths(file, checked)
    return checked


_PATHS = ("dataset", "fewshot_dataset", "meta_path")
_TEXTS_OR_FILES = ("template", "system")


def _resolve_paths(file: Path, checked: JsonObject) -> None:
    """Make paths absolute; they are relative to the file. A value that may be a text is a path if such a file exists."""
    for name in _PATHS:
        value = checked.get(name)
        if isinstance(value, str):
            checked[name] = _from_here(file, value)
    for name in _TEXTS_OR_FILES:
        value = checked.get(name)
        if isinstance(value, str):
            checked[name] = text_or_file(file.parent, value)


def _target(file: Path, target: str) -> str:
    if "://" in target:
        return target
    path, colon, name = target.partition(":")
    if path.endswith(".py") or "/" in path or is_file(file.parent, path):
        return _from_here(file, path) + colon + name
    return target


def _from_here(file: Path, path: str) -> str:
    """Make a path absolute, relative to the folder of the file and not to the current one. URIs stay."""
    if "://" in path:
        return path
    return str(file.parent / expand_home(path))


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
