"""Everything that can be found out before the first request: data, examples, prompts, and every bad row."""

from __future__ import annotations

import hashlib
import math
import platform
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchwright.benchmarks import (
    BenchmarkSpec,
    EndpointType,
    FewShot,
    PlainText,
    PromptBuilder,
    RowScan,
    build_prompts,
    cut_conversations,
    definition_doubts,
    fewshot_problem,
    imported_modules,
    judge_configs,
    judge_key_names,
    judge_problems,
    media_notes,
    media_problem,
    missing_answers,
    reread_targets,
    resolve_fewshot,
    scan_rows,
    strategy_of,
    strict_problem,
    target_error,
    target_problem,
)
from benchwright.config import HARMLESS, header_variables, resolve_headers
from benchwright.core import (
    VERSION,
    BadRow,
    BenchmarkError,
    ConfigError,
    DatasetError,
    JsonObject,
    UsageError,
    content_hash,
    doubtful_secrets,
    environment_secret,
)
from benchwright.datasets import Batch, DatasetReader, Filter, hub_commits, open_dataset
from benchwright.demo import DemoSettings
from benchwright.endpoints import EndpointSettings
from benchwright.engine._findings import DEMO_NOTE
from benchwright.engine._settings import RunSettings
from benchwright.engine._side_calls import judge_settings
from benchwright.scorers import ScorerInput, Scores

BATCH_ROWS = 256
"""Rows read at a time: enough to make the reading cheap, few enough to stay flat in memory."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that is ready to start."""

    spec: BenchmarkSpec
    """The benchmark."""
    settings: RunSettings
    """The run's settings."""
    reader: DatasetReader
    """The evaluated rows."""
    prompts: PromptBuilder
    """Rows to prompts."""
    fewshot: FewShot | None
    """The examples, if any."""
    scan: RowScan
    """What the pass over all rows found."""
    unreadable_reasons: tuple[str, ...]
    """Rows that could not be read at all, when the run goes on without them."""
    manifest: JsonObject
    """Hashes, fingerprints, versions, seed."""
    notes: tuple[str, ...]
    """What must stand beside the numbers."""

    @property
    def rows(self) -> int:
        """Rows that get an outcome: those that can be asked, those that lack a field, the unreadable."""
        return self.scan.readable + len(self.unreadable_reasons)

    @property
    def workers(self) -> int:
        """Samples to work on at once. One that ranks choices sends several requests, so fewer fill the endpoint;
        a quarter more than needed, because the requests of a sample do not end together."""
        parallelism = self.settings.parallelism
        if self.model_type != "completions_logprob" or self.scan.requests <= self.scan.rows:
            return parallelism
        return min(parallelism, math.ceil(1.25 * parallelism * self.scan.rows / self.scan.requests))

    @property
    def asks_a_model(self) -> bool:
        """False where the responses stand in the data."""
        return self.spec.response_field is None

    @property
    def model_type(self) -> EndpointType:
        """How the model is asked."""
        return model_type_of(self.spec, self.settings)

    def batches(self) -> Iterator[Batch]:
        """The rows; unreadable ones are left out here because they were counted already."""
        return self.reader.batches(BATCH_ROWS, on_bad=_ignore if self.unreadable_reasons else None)


def prepare(spec: BenchmarkSpec, settings: RunSettings) -> Prepared:
    """Read, check and compile. Raises DatasetError with every bad row, up to a limit; nothing was spent."""
    # Rows, examples and checks read the same commit of a hub dataset, and a resumed run reads it again.
    with hub_commits() as commits:
        prepared = _prepare(spec, settings)
    return replace(prepared, manifest={**prepared.manifest, "hub": dict(commits)}) if commits else prepared


def _prepare(spec: BenchmarkSpec, settings: RunSettings) -> Prepared:
    spec = as_asked(spec, settings)
    strategy = strategy_of(spec, model_type_of(spec, settings))
    if wrong := _judge_problems(spec):
        raise ConfigError("\n".join(wrong) + "\nNothing was sent.")
    _check_secrets(spec, settings)
    reader = open_dataset(
        spec.dataset,
        base_dir=spec.base_dir,
        field_mapping=spec.field_mapping,
        limit=settings.limit,
        filters=spec.filters,
        sampling=spec.sampling,
        shape=spec.shape,
    )
    # Ready-made responses are scored as they are: examples would only cost a pass over the data.
    shots = 0 if strategy == "score_only" else settings.num_fewshot
    fewshot = resolve_fewshot(
        spec, num_fewshot=shots, seed=settings.fewshot_seed, limit=settings.limit,
        strict=settings.fewshot_strict,
    )  # fmt: skip
    prompts = build_prompts(spec, fewshot)
    unreadable: list[BadRow] = []
    scan = scan_rows(
        spec,
        reader,
        prompts,
        strategy=strategy,
        on_unreadable=unreadable.append,
        watch_repetition=False,
        number_copies=True,
    )
    if scan.bad_total and not settings.skip_bad_rows:
        raise DatasetError.of_rows(scan.bad_rows, scan.bad_total)
    if problem := target_error(spec, scan):
        raise DatasetError(f"{problem}\nNothing was sent.")
    if settings.fewshot_strict and (problem := strict_problem(fewshot, scan)):
        raise BenchmarkError(f"benchmark {spec.name!r}: {problem}\nNothing was sent.")
    if scan.rows == 0:
        raise DatasetError(f"{reader.name}: no usable rows; nothing to evaluate")
    if not scan.bad_total:  # every row was found good: no need to look again when it is asked
        spec = replace(spec, check_row=None)
    if unfit := media_problem(spec, model_type_of(spec, settings)):
        raise UsageError(f"{unfit}. Nothing was sent.")
    if spec.media is not None and not spec.media.seen:
        spec = replace(spec, media=None)  # no row has any: requests need no thread to read files
    return Prepared(
        spec=spec,
        settings=settings,
        reader=reader,
        prompts=prompts,
        fewshot=fewshot,
        scan=scan,
        unreadable_reasons=tuple(str(bad) for bad in unreadable),
        manifest=_manifest(spec, settings, reader, fewshot, scan),
        notes=_all_notes(spec, settings, reader, fewshot, scan),
    )


def prepared_like(other: Prepared, settings: RunSettings) -> Prepared | None:
    """The same benchmark, prepared for another model without another pass over its rows. None where the settings
    ask for other rows, prompts or checks; then it must be prepared anew."""
    spec = other.spec
    same = rows_and_prompts(other.settings) == rows_and_prompts(settings)
    if not same or model_type_of(spec, settings) != other.model_type:
        return None
    _check_secrets(spec, settings)
    manifest = _manifest(spec, settings, other.reader, other.fewshot, other.scan)
    if "hub" in other.manifest:
        manifest["hub"] = other.manifest["hub"]
    notes = _all_notes(spec, settings, other.reader, other.fewshot, other.scan)
    return replace(other, settings=settings, manifest=manifest, notes=notes)


def rows_and_prompts(settings: RunSettings) -> dict[str, Any]:
    """The settings that decide, for one loaded benchmark, which rows there are and how they are asked and checked.
    With these equal, and the type of the model, rows need to be read only once."""
    return settings.deciding(*HARMLESS, "replies", "source", "summary")


def _check_secrets(spec: BenchmarkSpec, settings: RunSettings) -> None:
    sends = spec.response_field is None and settings.rescored_from is None
    if sends and isinstance(settings.endpoint, EndpointSettings):
        settings.endpoint.check_secrets()
        resolve_headers(settings.endpoint.headers)


def _variables(spec: BenchmarkSpec, settings: RunSettings) -> list[str]:
    """The environment variables whose values the run's requests hold."""
    names = list(judge_key_names(spec))
    if isinstance(settings.endpoint, EndpointSettings):
        names += header_variables(settings.endpoint.headers)
        names += [settings.endpoint.api_key_name] if settings.endpoint.api_key_name else []
    return names


def _all_notes(
    spec: BenchmarkSpec, settings: RunSettings, reader: DatasetReader, fewshot: FewShot | None, scan: RowScan
) -> tuple[str, ...]:
    problems = (
        target_problem(spec, scan),
        missing_answers(spec, scan),
        cut_conversations(spec, scan),
        reread_targets(spec, scan),
        fewshot_problem(fewshot, scan),
        *media_notes(spec),
    )
    return (*reader.notes(), *_notes(spec, settings, fewshot, problems))


def as_asked(spec: BenchmarkSpec, settings: RunSettings) -> BenchmarkSpec:
    """The benchmark with the run's own dataset and filters, and without its scorer where none is wanted."""
    filters = (*spec.filters, *(Filter(field, value) for field, value in settings.filters))
    dataset = spec.dataset if settings.dataset is None else settings.dataset
    spec = replace(spec, dataset=dataset, filters=filters)
    if settings.system is not None and spec.system is None and spec.system_prompt is None:
        spec = replace(spec, system=PlainText(settings.system))
    if settings.infer_only:
        # Without the configuration, where judges are: one that is never asked needs no key.
        why = spec.unscored or INFERENCE_ONLY
        spec = replace(spec, scorer=_no_scores, passes_config=False, config={}, remarks=None, unscored=why)
    return spec


def _without_model_system(spec: BenchmarkSpec) -> BenchmarkSpec:
    """The benchmark as its author wrote it: the system message of a model belongs to that model."""
    return replace(spec, system=None) if isinstance(spec.system, PlainText) else spec


INFERENCE_ONLY = "inference only; score it with: benchwright rescore RUN"
"""Why a run that was asked to score nothing has no scores."""


def _no_scores(sample: ScorerInput) -> Scores:
    return {}


def start_problems(spec: BenchmarkSpec, settings: RunSettings) -> list[str]:
    """What else than its rows keeps a run from starting: judges that cannot work, keys and other variables that
    are not set. For a check; `spec` is as the run asks it."""
    problems = _judge_problems(spec)
    try:
        _check_secrets(spec, settings)
    except ConfigError as error:
        problems.append(str(error))
    return problems


def _judge_problems(spec: BenchmarkSpec) -> list[str]:
    """A judge that cannot work is known before the model is paid for what nobody will grade."""
    problems = judge_problems(spec)
    for judge in judge_configs(spec):
        try:
            judge_settings(judge, parallelism=1)
        except ConfigError as error:
            problems.append(f"the judge's settings cannot be used: {error}")
    unset = [name for name in judge_key_names(spec) if not environment_secret(name)]
    return [*problems, *(f"the judge's key variable {name} is not set (export {name}=…)" for name in unset)]


def _notes(
    spec: BenchmarkSpec, settings: RunSettings, fewshot: FewShot | None, problems: tuple[str | None, ...]
) -> tuple[str, ...]:
    """What a reader of the numbers must know, from what is known before they are measured."""
    notes = [*definition_doubts(spec), *settings.model_notes, *doubtful_secrets(_variables(spec, settings))]
    if fewshot is not None:
        notes += fewshot.warnings
    notes += [problem for problem in problems if problem is not None]
    if isinstance(settings.endpoint, DemoSettings) and spec.response_field is None:
        notes.append(DEMO_NOTE)
    if spec.endpoint_type == "completions_logprob" and settings.model_type not in (
        None,
        "completions_logprob",
    ):
        notes.append(
            f"the benchmark ranks choices by log-probability; model type {settings.model_type} changes nothing"
        )
    return tuple(notes)


def model_type_of(spec: BenchmarkSpec, settings: RunSettings) -> EndpointType:
    """As the run says, else as the benchmark declares; ranking wins wherever either asks for it. ConfigError where
    the server's wire format cannot do that."""
    wanted = settings.model_type or spec.endpoint_type
    if "completions_logprob" in (settings.model_type, spec.endpoint_type):
        wanted = "completions_logprob"
    endpoint = settings.endpoint
    if spec.response_field is None and isinstance(endpoint, EndpointSettings):
        talks = spec.turns_field is not None or spec.next_turn is not None
        return endpoint.type_for(wanted, conversation=talks)
    return wanted


def _ignore(bad: BadRow) -> None:
    pass


def _manifest(
    spec: BenchmarkSpec, settings: RunSettings, reader: DatasetReader, fewshot: FewShot | None, scan: RowScan
) -> JsonObject:
    shots: JsonObject | None = None
    if fewshot is not None:
        shots = {
            "source": fewshot.source,
            "overlapping": fewshot.overlapping or scan.own_examples > 0,
            "count": len(fewshot.examples),
            "shown_min": scan.fewest_examples,
            "shown_mean": round(scan.examples_shown / scan.rows, 4) if scan.rows else 0.0,
            "hash": content_hash([example.text for example in fewshot.examples]),
        }
    dataset: JsonObject = {
        "name": reader.name,
        "fingerprint": reader.fingerprint(),
        "rows": scan.rows,
    }
    if spec.sampling is not None:
        dataset["sampling"] = spec.sampling.to_json()
    if reader.provenance is not None:
        dataset["source"] = reader.provenance
    return {
        "dataset": dataset,
        "benchmark": {
            "name": spec.name,
            "source": None if spec.source is None else spec.source.name,
            "hash": benchmark_hash(spec),
            "own_hash": benchmark_hash(_without_model_system(spec)),
            "prompt_hash": _prompt_hash(spec, fewshot),
            "modules": {} if spec.source is None else dict(imported_modules(spec.source)),
        },
        "strategy": strategy_of(spec, model_type_of(spec, settings)),
        "endpoint": {"fingerprint": settings.endpoint.fingerprint(), "type": model_type_of(spec, settings)},
        "fewshot": shots,
        "seed": settings.fewshot_seed,
        "versions": {"benchwright": VERSION, "python": platform.python_version()},
    }


def _prompt_hash(spec: BenchmarkSpec, fewshot: FewShot | None) -> str:
    """Stands for how rows are asked, whatever the data and the scorer: equal prompts, equal examples, equal hash."""
    prompts = build_prompts(spec, None)
    system = None if prompts.system_template is None else prompts.system_template.text
    shown = [] if fewshot is None else [example.text for example in fewshot.examples]
    around = [spec.fewshot_prefix, spec.fewshot_separator] if shown else []
    return content_hash([prompts.template.text, system, shown, around])


def benchmark_hash(spec: BenchmarkSpec) -> str:
    """Changes when the benchmark file, a template file it names, or another rule of prompts and scores changes."""
    digest = hashlib.sha256()
    if spec.source is not None and spec.source.is_file():
        digest.update(spec.source.read_bytes())
    prompts = build_prompts(spec, None)
    system = "" if prompts.system_template is None else prompts.system_template.text
    digest.update(f"\0{prompts.template.text}\0{system}".encode())
    if spec.rules:
        digest.update(f"\0{spec.rules}".encode())
    return f"sha256:{digest.hexdigest()}"
