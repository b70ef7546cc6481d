"""Prepares run configurations: finds the evaluation, checks the settings for it, and keeps the origin of every value."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs
from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec
from benchwright.config import (
    BAKED_IN,
    BY_NAME,
    EXTRA,
    EXTRA_NAMES,
    KEY_OF,
    MODULE,
    RUN_CONFIG_KEYS,
    ConfigFile,
    ConfigValue,
    RunConfig,
    RunOptions,
    Setting,
    exported,
    find_config,
    leaves,
    recorded_variables,
)
from benchwright.core import FUNCTION_CALLING, ConfigError, UsageError, canonical_json, suggest
from benchwright.engine import Watcher
from benchwright.runs._eval_types import check_type, endpoint_types, evaluation_target
from benchwright.runs._jobs import Ended
from benchwright.runs._origins import COMMAND
from benchwright.runs._resolve import Benchmarks, Questions, resolve
from benchwright.runs._session import Session
from benchwright.runs._targets import Target
from benchwright.runs._tasks import count_rows, run_tasks


class ConfiguredRun(Struct, frozen=True):
    """A run configuration together with its evaluation."""

    config: RunConfig
    target: str
    """The target of `benchwright run`."""
    found: tuple[Target, ...]
    options: RunOptions
    defaults: tuple[ConfigValue, ...]
    """The defaults of the task, which the benchmark and benchwright.toml declare."""

    @classmethod
    def of(cls, config: RunConfig, *, dry: bool = False) -> ConfiguredRun:
        """Find the evaluation of a configuration, and check that the settings fit it, with its environment variables set. Sends
        nothing. Writes only a report of problems with a dataset, and with `dry` not even that.

        Raises ConfigError for values that do not fit the benchmark, NotFoundError for one that does not exist.
        """
        with exported(config.variables):
            if dry:
                from benchwright.bfcl import without_files

                with without_files():
                    found = _configured(config)
            else:
                found = _configured(config)
        places = {
            RUN_CONFIG_KEYS[path]: value.source if value.layer == "run config" else COMMAND
            for value in config.explained()
            for path in (value.path[:n] for n in range(1, len(value.path) + 1))
            if RUN_CONFIG_KEYS.get(path)
        }
        targets = tuple(structs.replace(each, origins=places) for each in found.found)
        found = structs.replace(found, found=targets)
        if not config.variables:
            return found
        recorded = recorded_variables(config.variables, config.options, config.adapter_config)
        targets = tuple(structs.replace(each, variables=recorded) for each in found.found)
        return structs.replace(found, found=targets)

    @property
    def name(self) -> str:
        """Its name in tables."""
        return self.config.label or self.config.target

    @property
    def command(self) -> str:
        """The command that does the same. Every value is quoted as one word."""
        words = ["benchwright", "run", self.target]
        for name, value in self.options.given().items():
            words += _words(BY_NAME[name], value)
        return shlex.join(words)

    def explained(self) -> list[ConfigValue]:
        """Every value with its origin."""
        return self.config.explained(self.defaults)

    def as_document(self) -> dict[str, Any]:
        """The complete configuration, with the command."""
        document = self.config.as_document(self.defaults)
        spec = self.found[0].spec
        document["config"].setdefault(
            "type", self.config.target
        )  # a task of several is named outside of its config
        document["config"]["supported_endpoint_types"] = list(endpoint_types(spec))
        framework = spec.eval_type.partition(".")[0]
        return {"command": self.command, "framework_name": framework, "pkg_name": framework, **document}

    @staticmethod
    def run_all(
        runs: Sequence[ConfiguredRun],
        *,
        at_once: int = 1,
        watcher: Watcher | None = None,
        finished: Callable[[Ended], None] | None = None,
    ) -> list[Ended]:
        """Run all configurations, up to `at_once` at a time. A failed one does not stop the others.

        A process has one environment, so configurations with different variables never run at the same time.
        """
        with Session(runs[0].options.workspace, runs[0].options.store) as session:
            return run_tasks(session, runs, at_once=at_once, watcher=watcher, finished=finished)


def _configured(config: RunConfig) -> ConfiguredRun:
    cwd = Path.cwd()
    file = find_config(cwd)
    target = evaluation_target(config.target, file, cwd)
    keywords = dict(config.options)
    if config.adapter_config is not None:
        from benchwright.config import pipeline_settings  # most runs have none

        keywords["pipeline"] = pipeline_settings(config.adapter_config, ".".join(KEY_OF["pipeline"]))
    if config.metadata:
        keywords["metadata"] = config.metadata
    found, keywords, moved = _resolved(target, keywords, config, cwd)
    share = config.share
    if share is not None and len(found) == 1 and found[0].spec.limited is not None:  # of each category
        keywords, share = {**keywords, "limit_share": share}, None
        found = _targets(target, keywords, cwd)
    extra = {**config.extra, **moved}
    for each in found:
        _check_extra(each.spec, extra)
        _check_repeated(each.spec, config.repeated)
        check_type(each.spec, keywords.get("model_type"))
    if extra:
        keywords["extra"] = extra
    options = RunOptions.from_keywords(keywords, "run_eval")
    if share is not None:
        options = replace(options, limit=_limit(share, found, options, file))
    return ConfiguredRun(config, target, found, options, tuple(_task(found[0], file)))


def _resolved(
    target: str, keywords: dict[str, Any], config: RunConfig, cwd: Path
) -> tuple[tuple[Target, ...], dict[str, Any], dict[str, Any]]:
    """The targets, the options, and the settings among them that the benchmark declares."""
    keys = {value.path[:4] for value in config.explained() if value.layer != "flags"}
    below_extra = {BELOW_EXTRA[key]: key[-1] for key in keys if key in BELOW_EXTRA}
    try:
        found = _targets(target, keywords, cwd)
    except UsageError as error:
        error.args = (_in_keys(str(error), config), *error.args[1:])
        plain = {name: value for name, value in keywords.items() if name not in below_extra}
        if plain == keywords or not _declared(_targets(target, plain, cwd), below_extra):
            raise
        found = _targets(target, plain, cwd)
    own = _declared(found, below_extra)
    moved = {below_extra[name]: keywords[name] for name in own}
    return found, {name: value for name, value in keywords.items() if name not in own}, moved


def _in_keys(message: str, config: RunConfig) -> str:
    """Replace flags in a message by the keys of values that a file or an override sets."""
    for value in config.explained():
        name = RUN_CONFIG_KEYS.get(value.path)
        if name and value.layer != "flags":
            message = re.sub(rf"--{name.replace('_', '-')}(?![\w-])", value.key, message)
    return message


BELOW_EXTRA: Mapping[tuple[str, ...], str] = {
    path: name for path, name in RUN_CONFIG_KEYS.items() if name not in ("", "judge") and path[:-1] == EXTRA
}
"""Options that are written directly below `extra`, by their keys: a benchmark may have settings of the same names. The
option `judge` is the setting of that name."""


def _declared(found: Sequence[Target], below_extra: Mapping[str, str]) -> list[str]:
    return [name for name, key in below_extra.items() if any(key in each.spec.config for each in found)]


def _targets(target: str, keywords: Mapping[str, Any], cwd: Path) -> tuple[Target, ...]:
    found = resolve(target, RunOptions.from_keywords(keywords, "run_eval"), cwd=cwd)
    if isinstance(found, Benchmarks | Questions):
        return found.targets
    raise ConfigError(
        f"config.type is {target!r}, which is a suite or a program; start it with: benchwright run {target}"
    )


def _check_extra(spec: BenchmarkSpec, extra: Mapping[str, Any]) -> None:
    known = [*spec.config, "dataset", "custom_dataset", *EXTRA_NAMES]
    for name in extra:
        if name not in spec.config:
            declared = ", ".join(spec.config) or "none"
            elsewhere = [".".join(path) for path in RUN_CONFIG_KEYS if path[-1] == name]
            near = f" Did you mean {elsewhere[0]!r}?" if elsewhere else suggest(name, known)
            raise ConfigError(
                f"config.params.extra.{name} is not known.{near} {spec.name} declares: "
                f"{declared}. Settings of runs belong there too: {', '.join(EXTRA_NAMES[:3])}, …"
            )


def _check_repeated(spec: BenchmarkSpec, written: Mapping[str, Any]) -> None:
    """Check that values which a file repeats from the benchmark are the same."""
    for name, value in written.items():
        own = getattr(spec, name)
        if (list(own) if isinstance(own, tuple) else own) != value:
            raise ConfigError(
                f"config.params.extra has another {name} than the benchmark, which a run cannot change; change it in "
                f"{spec.where}, or leave it out"
            )


def _limit(share: float, found: Sequence[Target], options: RunOptions, file: ConfigFile | None) -> int:
    """The number of rows that a share is, rounded up."""
    if len(found) > 1:
        raise ConfigError(
            f"config.params.limit_samples is {share}: a share is of one dataset, and {found[0].written} has several; give a "
            "number of rows"
        )
    return max(1, math.ceil(share * count_rows(found[0], options, file)))


def _task(target: Target, file: ConfigFile | None) -> list[ConfigValue]:
    """What the benchmark and benchwright.toml declare."""
    spec, kind = target.spec, target.definition["kind"]
    described = kind in (FUNCTION_CALLING, "nocode", "builtin")
    declared: dict[tuple[str, ...], Any] = dict(leaves(spec.config, EXTRA))
    if not described:
        declared |= _repeated(spec)
    if isinstance(spec.dataset, str | Path):
        place = str(spec.dataset)
        declared[KEY_OF["dataset"]] = place if "://" in place else str(spec.base_dir / place)
    if spec.num_fewshot:
        declared[KEY_OF["num_fewshot"]] = spec.num_fewshot
    declared |= {KEY_OF["task"]: spec.key, KEY_OF["model_type"]: spec.endpoint_type}
    if kind == FUNCTION_CALLING:
        from benchwright.bfcl import evaluation_of

        evaluation = evaluation_of(str(target.definition["target"]))
        if evaluation is not None:
            declared[KEY_OF["task"]] = evaluation.task
            declared[KEY_OF["native_calling"]] = evaluation.native_calling
        declared.pop(KEY_OF["dataset"], None)
    configured: dict[tuple[str, ...], Any] = {}
    for name, value in target.defaults.items():
        if name == "extra_body":  # adds up, field by field; of all other tables the last one holds
            configured |= dict(leaves(value, KEY_OF[name]))
        elif name in KEY_OF:
            configured[KEY_OF[name]] = value
    where = "benchwright.toml" if file is None else file.path.name
    return [
        ConfigValue(path, value, "task", where if path in configured else spec.where)
        for path, value in {**declared, **configured}.items()
    ]


def _repeated(spec: BenchmarkSpec) -> dict[tuple[str, ...], Any]:
    """The values that a complete configuration repeats from a benchmark, so that it alone can start the benchmark."""
    found: dict[tuple[str, ...], Any] = {} if spec.source is None else {MODULE: str(spec.source)}
    for path, name in BAKED_IN.items():
        value = (
            getattr(spec, name) if name else any(re.fullmatch(r"judge(_\d+)?", key) for key in spec.config)
        )
        if value and isinstance(value, str | Path | tuple | bool | dict):
            plain = (
                list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
            )
            found |= dict(leaves(plain, path)) if isinstance(plain, dict) else {path: plain}
    return {**found, (*EXTRA, "requirements"): list(spec.requirements)}


def _words(setting: Setting, value: Any) -> list[str]:
    """The words of an option on the command line."""
    flag = setting.flags[0]
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag.removeprefix('--')}"]
    if setting.name == "headers":
        return [word for name, text in value.items() for word in ("--header", f"{name}={text}")]
    if setting.name == "pipeline":  # checked, so it is a `PipelineSettings`
        value = value.to_json()
    if isinstance(value, Mapping):
        return [flag, canonical_json(value).decode()]
    if isinstance(value, tuple | list):
        return [f"{flag}={each}" for each in value]
    text = str(value)
    return [f"{flag}={text}"] if text.startswith("-") else [flag, text]
