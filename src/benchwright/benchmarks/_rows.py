"""The rows of a run, opened: data, examples and prompts, a scan of every row, and each row's requests.

`check`, `run` and everything else that sends a benchmark's requests start here, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._examples import FewShot
from benchwright.benchmarks._fewshot import fewshot_problem, resolve_fewshot, strict_problem
from benchwright.benchmarks._missing_fields import target_error, target_problem
from benchwright.benchmarks._prompts import Prompt, PromptBuilder, build_prompts, next_user_turn
from benchwright.benchmarks._requests import Generation
from benchwright.benchmarks._scan import RowScan, ScannedRow, scan_rows
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies import strategy_of
from benchwright.benchmarks._strategies.base import Strategy
from benchwright.benchmarks._template import PlainText
from benchwright.benchmarks._warnings import (
    cut_conversations,
    definition_warnings,
    missing_answers,
    repeated_ids,
    repeated_questions,
    unfilled_columns,
)
from benchwright.core import (
    STRATEGIES,
    BadRow,
    BenchmarkError,
    BenchwrightError,
    DatasetError,
    JsonObject,
    ModelRequest,
    ModelType,
    Row,
    StrategyFacts,
    UsageError,
    suggest,
)
from benchwright.datasets import Chunk, DatasetReader, Filter, hub_commits

if TYPE_CHECKING:
    from benchwright.scorers import ScorerInput, Scores

BATCH_ROWS = 256
"""Rows read at a time: enough to make reading cheap, few enough to bound the memory."""

INFERENCE_ONLY = "inference only; score it with: benchwright rescore RUN"
"""Why an inference-only run has no scores."""


class RowSettings(Struct, frozen=True, kw_only=True):
    """The settings of a run that determine which rows there are and what they send."""

    generation: Generation = field(default_factory=lambda: Generation("model"))
    """Contents of every request body."""
    model_type: ModelType | None = None
    """How requests are sent to the model; None: as the benchmark declares."""
    dataset: str | None = None
    """Dataset that replaces the benchmark's dataset."""
    filters: tuple[tuple[str, str], ...] = ()
    """Pairs of column and value: only rows that match all of them are used, in addition to the benchmark's filters."""
    limit: int | None = None
    """Number of rows to evaluate, starting with the first."""
    repeats: int = 1
    """How often each row is sent."""
    num_fewshot: int | None = None
    """Examples per prompt; None: as the benchmark declares."""
    fewshot_seed: int = 42
    """Seed of the choice of examples."""
    fewshot_strict: bool = False
    """Refuse examples drawn from evaluated rows."""
    system: str | None = None
    """System message of the model, for benchmarks without a system message."""
    skip_bad_rows: bool = False
    """Whether a run may start without the rows that cannot be used."""
    infer_only: bool = False
    """Whether nothing is scored."""
    native_calling: bool | None = None
    """Whether functions are sent as tools; None: as the benchmark declares."""
    lenient_calls: bool = False
    """Whether calls in texts are also read by the lenient rules."""
    extra: Mapping[str, Any] | None = None
    """This run's values for the benchmark's `extra`."""
    judge: JsonObject | None = None
    """Settings of judges that override the benchmark's."""

    def applied_to(self, spec: BenchmarkSpec) -> BenchmarkSpec:
        """The benchmark with the dataset, filters and system message of the run, and without a scorer that it must not
        call."""
        filters = (*spec.filters, *(Filter(name, value) for name, value in self.filters))
        if self.skip_bad_rows and spec.without_totals is not None:
            filters = (*filters, spec.without_totals)
        dataset = spec.dataset if self.dataset is None else self.dataset
        spec = replace(spec, dataset=dataset, filters=filters)
        if self.system is not None and spec.system is None and spec.system_prompt is None:
            spec = replace(spec, system=PlainText(self.system))
        if self.native_calling is not None:
            if not spec.calls_tools:
                flag = "native-calling" if self.native_calling else "no-native-calling"
                raise UsageError(
                    f"--{flag}: {spec.name} offers no functions to the model; tools_field= in @benchmark does"
                )
            spec = replace(spec, native_calling=self.native_calling)
        if self.lenient_calls:
            if not spec.calls_tools or spec.native_calling:
                raise UsageError(
                    f"--lenient-calls: {spec.name} does not read calls from texts; --no-native-calling in an evaluation with "
                    "functions does"
                )
            spec = replace(spec, lenient_calls=True)
        if self.extra:
            spec = replace(spec, config=_with_extra(spec, self.extra))
        if self.judge is not None:
            from benchwright.scorers import JudgeConfig

            spec = replace(spec, config=JudgeConfig.over(spec.config, self.judge))
        if self.infer_only:
            # Without the configuration, which names judges: one that gets no request needs no key.
            why = spec.unscored or INFERENCE_ONLY
            spec = replace(
                spec,
                scorer=_no_scores,
                passes_config=False,
                config={},
                remarks=None,
                unscored=why,
                likely_answer="",
            )
        return spec


class AskableRows(Struct, frozen=True, kw_only=True):
    """Rows that are ready to be sent: read once, counted, with compiled prompts.

    Iterating gives them in order: the number of the row, the repeat, both from 0, and the row after field mapping."""

    spec: BenchmarkSpec
    """The benchmark with the run's settings applied."""
    settings: RowSettings
    """The settings that determine the rows."""
    strategy: Strategy
    """Turns a row into requests."""
    reader: DatasetReader
    """The evaluated rows."""
    prompts: PromptBuilder
    """Turns a row into a prompt."""
    fewshot: FewShot | None
    """The examples, if any."""
    scan: RowScan
    """The findings of the pass over all rows."""
    unreadable: tuple[BadRow, ...]
    """Rows that could not be parsed."""
    commits: dict[str, str]
    """Commits of the hub datasets that were read."""

    def __repr__(self) -> str:
        return f"<AskableRows of {self.spec.name!r}: {self.scan.rows}>"

    @property
    def facts(self) -> StrategyFacts:
        """The declared facts about the strategy."""
        return STRATEGIES[self.strategy.name]

    @property
    def model_type(self) -> ModelType:
        return self.settings.model_type or self.spec.endpoint_type

    def __iter__(self) -> Iterator[tuple[int, int, Row]]:
        for row_number, row in enumerate(row for batch in self.batches() for row in batch.rows):
            for repeat in range(self.settings.repeats):
                yield row_number, repeat, row

    def batches(self) -> Iterator[Chunk]:
        """The rows in order, in batches; unreadable rows, which were counted before, are left out."""
        return self.reader.batches(BATCH_ROWS, on_bad=_ignore if self.unreadable else None)

    def scanned(self) -> Iterator[ScannedRow]:
        """Every row with its line, and without its prompt."""
        index = 0
        for batch in self.batches():
            for line, row in zip(batch.lines, batch.rows, strict=True):
                yield ScannedRow(index, line, row, Prompt(""))
                index += 1

    def requests(self, row: Row, repeat: int = 0) -> Sequence[ModelRequest]:
        """The requests of one row before any reply is known: several if choices are ranked, none if the response is in the
        row. Media are read and encoded. Raises MissingFieldError for a row that cannot be used.

        Rows that rank choices may need another `max_tokens`, which the server's echo decides: see `but`.
        """
        return self.strategy.requests(row, repeat)

    @property
    def name(self) -> str:
        """Name of the data."""
        return self.reader.name

    def next_user_turn(self, row: Row, conversation: Sequence[JsonObject], turn: int) -> str | None:
        """The user's next words in a conversation; None if it is over."""
        return next_user_turn(self.spec, row, conversation, turn)

    def but(self, *, generation: Generation | None = None, echo_tokens: int = 0) -> AskableRows:
        """The same rows with other settings of request bodies, or for a server that must generate `echo_tokens`
        before it echoes a prompt."""
        settings = self.settings if generation is None else replace(self.settings, generation=generation)
        strategy = _strategy(self.spec, settings, self.prompts, echo_tokens)
        return replace(self, settings=settings, strategy=strategy)

    def problems(self) -> Iterator[BenchwrightError]:
        """Problems that make a run pointless even if every row can be used."""
        if problem := target_error(self.spec, self.scan):
            yield DatasetError(problem)
        if self.settings.fewshot_strict and (problem := strict_problem(self.fewshot, self.scan)):
            yield BenchmarkError(problem)
        if self.spec.media is not None:
            from benchwright.benchmarks._media import media_problem  # for rows with media only

            if problem := media_problem(self.spec, self.settings.model_type):
                yield UsageError(problem)

    def refuse_problems(self) -> None:
        """Raise an error if a run cannot start: because of bad rows that may not be skipped, no rows, or other
        problems."""
        if self.scan.bad_total and not self.settings.skip_bad_rows:
            raise DatasetError.of_rows(self.scan.bad_rows, self.scan.bad_total)
        for problem in self.problems():
            where = f"benchmark {self.spec.name!r}: " if isinstance(problem, BenchmarkError) else ""
            raise type(problem)(f"{where}{problem}\nNothing was sent.")
        if self.scan.rows == 0:
            notes = "".join(f"; {note}" for note in self.reader.notes())
            raise DatasetError(f"{self.reader.name}: no usable rows; nothing to evaluate{notes}")

    def notes(self) -> list[str]:
        """Notes about the rows for readers of the numbers."""
        spec, scan = self.spec, self.scan
        notes = [*self.reader.notes(), *definition_warnings(spec)]
        notes += () if self.fewshot is None else self.fewshot.warnings
        found = (
            target_problem(spec, scan),
            missing_answers(spec, scan),
            self._repeated_questions(),
            repeated_ids(scan),
            cut_conversations(spec, scan),
            unfilled_columns(spec, scan),
            None if scan.reread_first is None else _reread(spec, scan),
            fewshot_problem(self.fewshot, scan),
        )
        left_out = (condition.note() for condition in spec.filters)
        notes += filter(None, (*left_out, *found))
        if spec.media is not None:
            from benchwright.benchmarks._media import media_notes  # for rows with media only

            notes += media_notes(spec)
        return notes

    def _repeated_questions(self) -> str | None:
        """A note that rows of a file of questions ask the same. Copies are counted anyway where the prompt is all that is
        sent; copies that a sampling plan requests are not reported."""
        spec, prompts_alone = self.spec, self.strategy.name == "generate" and self.spec.media is None
        if not spec.traits.questions or not prompts_alone or self.reader.origins() is not None:
            return None
        return repeated_questions(len(self.scan.copies))

    @classmethod
    def of(cls, spec: BenchmarkSpec, settings: RowSettings, *, watch_repetition: bool = False) -> AskableRows:
        """Open the data, choose examples, compile prompts, and check every row. Sends nothing.

        Args:
            spec: The benchmark as it is defined.
            settings: The settings of the run.
            watch_repetition: Count repeated prompts too.

        The caller decides about bad rows, with `refuse_problems` or `scan`. DatasetError for data that cannot be read
        to its end, BenchmarkError for a template or filters that cannot be used, UsageError for a model's type that does
        not fit the benchmark.
        """
        # Rows, examples and checks read the same commit of a hub dataset, and a resumed run reads it again.
        with hub_commits() as commits:
            spec = settings.applied_to(spec)
            kind = strategy_of(spec, settings.model_type)
            limit = settings.limit
            if spec.limited is not None and settings.dataset is None:
                spec, limit = replace(spec, dataset=spec.limited(limit)), None
            reader = spec.open(limit)
            fewshot = None
            if STRATEGIES[kind.name].sends:
                fewshot = resolve_fewshot(
                    spec,
                    num_fewshot=settings.num_fewshot,
                    seed=settings.fewshot_seed,
                    limit=settings.limit,
                    strict=settings.fewshot_strict,
                )
            prompts = build_prompts(spec, fewshot)
            unreadable: list[BadRow] = []
            scan = scan_rows(
                spec,
                reader,
                prompts,
                strategy=_strategy(spec, settings, prompts),
                on_unreadable=unreadable.append,
                # Copies that a sampling plan requests are not reported.
                watch_repetition=watch_repetition and reader.origins() is None,
                watch_ids=reader.origins() is None,  # else a plan sends rows more than once
            )
        if not scan.bad_total:  # every row is good: no need to check it again when it is sent
            spec = replace(spec, check_row=None)
        if spec.media is not None and not spec.media.seen:
            spec = replace(spec, media=None)  # no row has any: requests need no thread to read files
        return cls(
            spec=spec,
            settings=settings,
            strategy=_strategy(spec, settings, prompts),
            reader=reader,
            prompts=prompts,
            fewshot=fewshot,
            scan=scan,
            unreadable=tuple(unreadable),
            commits=dict(commits),
        )


def _strategy(
    spec: BenchmarkSpec, settings: RowSettings, prompts: PromptBuilder, echo_tokens: int = 0
) -> Strategy:
    generation = settings.generation
    if spec.sampling is not None:  # the user's value for this run overrides the file next to the data
        generation = generation.but(extra_body={**spec.sampling.extra_body, **generation.extra_body})
    model_type = settings.model_type or spec.endpoint_type
    kind = strategy_of(spec, settings.model_type)
    return kind(spec, prompts, generation, model_type, echo_tokens=echo_tokens)


def _with_extra(spec: BenchmarkSpec, extra: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration for scorers with the run's values: tables are merged, key by key."""
    for name in extra:
        if name not in spec.config:
            declared = ", ".join(spec.config) or "none"
            raise UsageError(
                f"--extra: {spec.name} declares no {name!r}.{suggest(name, spec.config)} Its extra settings: {declared}"
            )
    from benchwright.scorers import JudgeConfig

    judges = {name: table for name, table in extra.items() if JudgeConfig.is_key(name)}
    merged = merge_tables(spec.config, {name: value for name, value in extra.items() if name not in judges})
    return JudgeConfig.over(merged, judges) if judges else merged


def merge_tables(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables merged; for equal keys, the second table's value counts.

    >>> merge_tables({"judge": {"url": "u", "top_p": 1}, "n": 1}, {"judge": {"top_p": 0.5}})
    {'judge': {'url': 'u', 'top_p': 0.5}, 'n': 1}
    """
    tables = {
        name: merge_tables(below[name], value)
        for name, value in above.items()
        if isinstance(value, Mapping) and isinstance(below.get(name), Mapping)
    }
    return {**below, **above, **tables}


def _no_scores(sample: ScorerInput) -> Scores:
    return {}


def _reread(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    from benchwright.benchmarks._strategies.rank import reread_targets  # for ranked choices only

    return reread_targets(spec, scan)


def _ignore(bad: BadRow) -> None:
    pass
