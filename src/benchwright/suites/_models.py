"""An entry of a suite's `models`: the name of a model, or its description on the spot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.config import ModelConfig, read_model_entry
from benchwright.core import ConfigError


@dataclass(frozen=True, slots=True)
class SuiteModel:
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
