"""`type = "builtin"`: an evaluation that comes along, with other data, limit or model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from benchwright.config._evaluations.sources import read_source
from benchwright.config._run_settings import RUN_SETTINGS
from benchwright.config._setting import Setting
from benchwright.config._values import read_values
from benchwright.core import ConfigError, JsonObject

_OWN = (
    Setting("type", "text", "builtin"),
    Setting("description", "text", "one line for listings"),
    Setting("benchmark", "text", "which one, where the table has another name"),
    Setting("metric", "text", "how texts are compared"),
    Setting("dataset", "table", ""),
    Setting("model", "table", ""),
)
_ALIASES = {"samples": "limit", "num_samples": "limit", "max_workers": "parallelism"}


class BuiltinBenchmark(Struct, frozen=True):
    """Which built-in evaluation, and what differs."""

    benchmark: str
    """Its name."""
    dataset: str | None = None
    """Path or URI of other data with the same columns."""
    metric: str | None = None
    """How texts are compared; None: the evaluation's own way."""


def read_builtin(
    folder: Path, name: str, where: str, values: Mapping[str, object], hints: Mapping[str, str]
) -> tuple[BuiltinBenchmark, JsonObject]:
    """The evaluation of a table, and the run settings in it. Which names there are is known where it is run."""
    written = {key.replace("-", "_"): value for key, value in values.items()}
    for foreign, ours in _ALIASES.items():
        if foreign in written:
            if ours in written:
                raise ConfigError(f"{where} sets {ours} twice, once as {foreign}; keep one of them")
            written[ours] = written.pop(foreign)
    dataset = written.pop("dataset", None)
    written.pop("model", None)  # read by whoever reads models
    run = [s for s in RUN_SETTINGS if s.name not in (*hints, "dataset", "model") and s.group != "questions"]
    checked = read_values(where, written, (*_OWN, *run), hints=hints)
    metric = checked.pop("metric", None)
    chosen = checked.pop("benchmark", None)
    found = BuiltinBenchmark(
        benchmark=str(chosen or name),
        dataset=None if dataset is None else read_source(f"{where} dataset", dataset, folder),
        metric=None if metric is None else str(metric),
    )
    return found, checked
