"""Run configurations as NeMo Evaluator writes them: a YAML file with `config` and `target`, flags above it, overrides above these.

Every key has one row here. A key without a row is refused, and a null is as good as none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.config._files import read_document
from benchwright.core import ConfigError, suggest

_TYPE = "config.type"
RUN_CONFIG_KEYS: Mapping[str, str] = {
    _TYPE: "",
    "config.output_dir": "output_dir",
    "config.params.limit_samples": "limit",
    "config.params.max_new_tokens": "max_tokens",
    "config.params.max_retries": "max_retries",
    "config.params.parallelism": "parallelism",
    "config.params.request_timeout": "request_timeout",
    "config.params.timeout": "request_timeout",
    "config.params.temperature": "temperature",
    "config.params.top_p": "top_p",
    "config.params.task": "task",
    "config.params.extra.native_calling": "native_calling",
    "config.params.extra.custom_dataset.path": "tool_data",
    "config.params.extra.custom_dataset.format": "tool_data_format",
    "config.params.extra.custom_dataset.data_template_path": "tool_data_template",
    "config.params.extra.dataset.path": "dataset",
    "config.params.extra.dataset.num_fewshot": "num_fewshot",
    "target.api_endpoint.model_id": "model_id",
    "target.api_endpoint.url": "model_url",
    "target.api_endpoint.type": "model_type",
    "target.api_endpoint.api_key_name": "api_key_name",
    "target.api_endpoint.stream": "stream",
}
"""Keys of a run configuration, with the options of a run that they set; empty for the evaluation itself."""

_PLACES = {"eval_type": _TYPE, **{name: key for key, name in RUN_CONFIG_KEYS.items() if name}}
_PIECES = re.compile(r"""(?:"[^"]*"|'[^']*'|\[[^\]]*\]|\{[^}]*\}|[^,])+""")


class RunConfig(Struct, frozen=True):
    """A run configuration, merged."""

    target: str
    """What is evaluated: the task of `config.type`, without its framework."""
    options: dict[str, Any]
    """Options of the run by name."""
    values: dict[str, Any]
    """The values by their dotted keys."""

    def as_document(self) -> dict[str, Any]:
        """The configuration as a file would hold it."""
        document: dict[str, Any] = {}
        for key, value in sorted(self.values.items()):
            *tables, last = key.split(".")
            place = document
            for table in tables:
                place = place.setdefault(table, {})
            place[last] = value
        return document


def merged_run_config(file: Path | None, flags: Mapping[str, Any], overrides: str | None) -> RunConfig:
    """A file, flags above it, and overrides (`a.b=1,c.d=x`) above both. ConfigError names the key and near ones.

    `flags` has options of a run by name, and `eval_type`.
    """
    values: dict[str, Any] = {}
    if file is not None:
        values |= _checked(str(file), dict(_leaves(read_document(file))))
    values |= {_PLACES[name]: value for name, value in flags.items() if value is not None}
    if overrides:
        above = _overrides(overrides)
        checked = _checked("--overrides", above)
        values = {
            key: value for key, value in values.items() if key not in above
        } | checked  # a null takes a value back
    kind = values.get(_TYPE)
    if not isinstance(kind, str) or not kind:
        raise ConfigError(
            f"no evaluation is named; give --eval_type NAME, or {_TYPE} in the run configuration"
        )
    target = kind.rpartition(".")[2]
    options = {RUN_CONFIG_KEYS[key]: value for key, value in values.items() if key != _TYPE}
    if options.get("task") == target:  # as files of other benchmarks write it
        del options["task"]
    if isinstance(limit := options.get("limit"), float):
        raise ConfigError(
            f"limit_samples: {limit} is a share of the rows, which is not taken; give a number of rows"
        )
    return RunConfig(target, options, values)


def _leaves(table: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _checked(where: str, values: Mapping[str, Any]) -> dict[str, Any]:
    for key in values:
        if key not in RUN_CONFIG_KEYS:
            known = ", ".join(RUN_CONFIG_KEYS)
            raise ConfigError(f"{where}: {key} is not known.{suggest(key, RUN_CONFIG_KEYS)} Known: {known}")
    return {key: value for key, value in values.items() if value is not None}


def _overrides(text: str) -> dict[str, Any]:
    """`a.b.c=value` between commas. Quotes and brackets protect commas, and values are read as YAML."""
    import yaml

    found: dict[str, Any] = {}
    for piece in _PIECES.findall(text):
        key, equals, value = piece.strip().partition("=")
        if not equals:
            raise ConfigError(
                f"--overrides: {piece.strip()!r} has no value; expected config.params.limit_samples=10"
            )
        try:
            read = yaml.safe_load(value)
        except yaml.YAMLError:
            read = value
        found |= dict(_leaves({key.strip(): read}))
    return found
