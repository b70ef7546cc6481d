"""Prepares a run before its first request: reads the data, chooses examples, compiles prompts and finds every bad row."""

from __future__ import annotations

import math
from collections.abc import Coroutine, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import AskableRows, BenchmarkSpec, RowSettings, strategy_of
from benchwright.config import header_variables
from benchwright.core import (
    DEMO_NOTE,
    ConfigError,
    JsonObject,
    ModelType,
    RunSummary,
    doubtful_secrets,
    encode_json,
    environment_secret,
)
from benchwright.engine._cost import RunPrices, run_prices
from benchwright.engine._findings import demo_judge_note
from benchwright.engine._manifest import manifest_of
from benchwright.engine._settings import RunSettings
from benchwright.engine._side_calls import judge_settings
from benchwright.store import RunRecord, Store


class Prepared(Struct, frozen=True):
    """A run that is ready to start."""

    settings: RunSettings
    """The run's settings."""
    rows: AskableRows
    """Its rows and their requests."""
    manifest: JsonObject
    """Hashes, fingerprints, versions, seed."""
    notes: tuple[str, ...]
    """Notes on the numbers."""
    prices: RunPrices
    """The prices of its tokens."""

    @property
    def spec(self) -> BenchmarkSpec:
        """The benchmark with the run's settings applied."""
        return self.rows.spec

    @property
    def row_count(self) -> int:
        """Rows that get an outcome: usable rows, rows that lack a field, and unreadable rows."""
        return self.rows.scan.readable + len(self.rows.unreadable)

    @property
    def workers(self) -> int:
        """Samples to work on at once. A sample that ranks choices sends several requests, so fewer samples are enough; a
        quarter is added, because the requests of a sample do not end together."""
        parallelism, scan = self.settings.parallelism, self.rows.scan
        if not self.rows.facts.needs_echo or scan.requests <= scan.rows:
            return parallelism
        return min(parallelism, math.ceil(1.25 * parallelism * scan.rows / scan.requests))

    @property
    def asks_a_model(self) -> bool:
        """False if the responses are in the data."""
        return self.rows.facts.sends

    def with_labels(self, store: Store, run: RunRecord) -> Coroutine[Any, Any, RunSummary]:
        """See `summary_with_labels`."""
        from benchwright.engine._labelled import summary_with_labels  # which scores, as few need

        return summary_with_labels(self, store, run)

    def like(self, settings: RunSettings) -> Prepared | None:
        """Prepare the same benchmark for another model without reading its rows again. Returns None if the settings request
        other rows, prompts or checks, so that it must be prepared again."""
        rows = self.rows
        same = self.settings.rows_and_prompts() == settings.rows_and_prompts()
        if not same or model_type_of(rows.spec, settings) != rows.model_type:
            return None
        _check_secrets(rows.spec, settings)
        return _prepared(rows.but(generation=settings.generation), settings)

    @classmethod
    def of(cls, spec: BenchmarkSpec, settings: RunSettings) -> Prepared:
        """Read, check and compile. Raises DatasetError with every bad row, up to a limit; nothing was spent."""
        of_rows = Prepared.row_settings(spec, settings)
        requested = of_rows.applied_to(spec)
        strategy_of(
            requested, of_rows.model_type
        )  # first refuse a benchmark and a model type that do not fit
        if wrong := _judge_problems(requested):
            raise ConfigError("\n".join(wrong) + "\nNothing was sent.")
        _check_secrets(requested, settings)
        run_prices(requested, settings)  # report a missing price before reading the rows
        rows = AskableRows.of(spec, of_rows)
        rows.refuse_problems()
        return _prepared(rows, settings)

    @staticmethod
    def row_settings(spec: BenchmarkSpec, settings: RunSettings) -> RowSettings:
        """A run's settings with the type of model that is decided for the benchmark."""
        return replace(settings, model_type=model_type_of(spec, settings))

    @staticmethod
    def problems(spec: BenchmarkSpec, settings: RunSettings) -> list[str]:
        """Problems, other than bad rows, that keep a run from starting: judges that cannot work, keys and other variables that
        are not set. Used by `check`; `spec` is as loaded."""
        spec = Prepared.row_settings(spec, settings).applied_to(spec)
        problems = _judge_problems(spec)
        try:
            _check_secrets(spec, settings)
            run_prices(spec, settings)
        except ConfigError as error:
            problems.append(str(error))
        return problems


def _prepared(rows: AskableRows, settings: RunSettings) -> Prepared:
    notes = (*rows.notes(), *_model_notes(rows.spec, settings))
    prices = run_prices(rows.spec, settings)
    manifest = manifest_of(rows, settings)
    if known := prices.to_json():
        manifest["prices"] = known
    return Prepared(settings, rows, manifest, notes, prices)


def model_type_of(spec: BenchmarkSpec, settings: RunSettings) -> ModelType:
    """The model type that the run requests, else the one that the benchmark declares; ranking wins if either requests it.
    Raises ConfigError if the server's wire format does not support it."""
    wanted = settings.model_type or spec.endpoint_type
    if "completions_logprob" in (settings.model_type, spec.endpoint_type):
        wanted = "completions_logprob"
    endpoint = settings.endpoint
    if spec.response_field is None:
        return endpoint.type_for(
            wanted, conversation=spec.converses, tools=spec.calls_tools and spec.native_calling
        )
    return wanted


def _check_secrets(spec: BenchmarkSpec, settings: RunSettings) -> None:
    for name in _variables(spec, settings):
        environment_secret(name)  # a row may quote it, both in a run that sends and in one that scores again
    sends = spec.response_field is None and settings.rescored_from is None
    if sends:
        settings.endpoint.check_secrets()
    if sends and settings.steps is not None:
        from benchwright.endpoints import Pipeline

        ranks = model_type_of(spec, settings) == "completions_logprob"
        Pipeline(settings.steps, settings.endpoint, ranks_choices=ranks)  # refuses what could not be opened


def _judge_problems(spec: BenchmarkSpec) -> list[str]:
    """Find judges that cannot work before money is spent on replies that could not be graded."""
    problems = spec.judge_problems()
    for judge in spec.judges():
        try:
            judge_settings(judge, parallelism=1)
        except ConfigError as error:
            problems.append(f"the judge's settings cannot be used: {error}")
    unset = [name for name in spec.judge_keys() if not environment_secret(name)]
    return [*problems, *(f"the judge's key variable {name} is not set (export {name}=…)" for name in unset)]


def _model_notes(spec: BenchmarkSpec, settings: RunSettings) -> Iterator[str]:
    """Notes on the model that are known before the first request."""
    yield from settings.model_notes
    yield from doubtful_secrets(_variables(spec, settings))
    if settings.endpoint.invented and spec.response_field is None:
        yield DEMO_NOTE
    yield from (demo_judge_note(judge.model_id) for judge in spec.judges() if judge.is_demo)
    ranks = "completions_logprob"
    if spec.endpoint_type == ranks and settings.model_type not in (None, ranks):
        yield f"the benchmark ranks choices by log-probability; model type {settings.model_type} changes nothing"


def _variables(spec: BenchmarkSpec, settings: RunSettings) -> list[str]:
    """The environment variables whose values the run's requests contain."""
    names = [*spec.judge_keys(), *settings.endpoint.variables()]
    if settings.steps is not None:
        names += header_variables({"steps": encode_json(settings.steps.to_json()).decode()})
    return names
