"""The definition of a benchmark: the checked arguments of `@benchmark`; and the benchmarks that each module has defined."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from msgspec import Struct, field

from benchwright.benchmarks._families import FAMILIES, Family, FamilyName
from benchwright.benchmarks._fields import column_reader, is_blank
from benchwright.benchmarks._template import Template
from benchwright.core import (
    Artifacts,
    BenchmarkError,
    ConfigError,
    JsonObject,
    MetricSummary,
    ModelReply,
    ModelType,
    Row,
    SampleRecord,
)
from benchwright.datasets import DatasetRef, Filter, open_dataset

if TYPE_CHECKING:
    from benchwright.benchmarks._tool_tasks import ToolTasks
    from benchwright.datasets import DatasetReader, Sampling
    from benchwright.scorers import JudgeConfig, ScorerInput


ScorerFunction: TypeAlias = Callable[..., Any]
"""The decorated function: takes `(sample)` or `(sample, config)` and returns a dict of scores; may be `async`."""

NextTurn: TypeAlias = Callable[..., "str | None"]
"""Takes `(conversation)` or `(conversation, row)` and returns the next user turn, or None if the conversation is over."""

RowCheck: TypeAlias = Callable[[Row], None]
"""Raises MissingFieldError, with the reason, for a row that cannot be used."""


MediaPart: TypeAlias = tuple[JsonObject, JsonObject]
"""One content part of a message that is not a text: as it is sent, and as it is recorded, with the file replaced by its hash. Both are the
same object if there is no file."""


class Media(Protocol):
    """Images, audio and video of rows."""

    @property
    def seen(self) -> bool:
        """Whether any checked row has media."""
        ...

    @property
    def cut(self) -> Sequence[str]:
        """Files that the row check found to end too early."""
        ...

    @property
    def linked(self) -> Sequence[str]:
        """Links that the row check found to lead out of the dataset's folder, with their targets."""
        ...

    def names(self, row: Row) -> tuple[str, ...]:
        """The names of the row's media, for readers who do not open files."""
        ...

    def __call__(self, row: Row) -> tuple[MediaPart, ...]:
        """The content parts before the text. Raises MissingFieldError for a file that does not exist."""
        ...


class Derived(Protocol):
    """Figures over all samples together, collected one sample at a time."""

    def add(self, scores: Mapping[str, Any]) -> None:
        """Add one sample's scores."""
        ...

    def add_failure(self, group: str | None) -> None:
        """Add one sample without scores, with the part of the evaluation that its row belongs to; only of evaluations that have parts
        (`partial_metrics`)."""
        return

    def figures(self) -> dict[str, float]:
        """The figures over all that was added, by name."""
        ...

    def remarks(self) -> Sequence[str]:
        """Notes about it for readers of the numbers."""
        ...


RecordedSample: TypeAlias = tuple[Row | None, int, SampleRecord, ModelReply | None]
"""A sample: its row, None for one that could not be read; the 0-based repeat; how it ended, and its scores; and the reply to its last call, if
it made one."""

FilesWriter: TypeAlias = Callable[[Artifacts, str, Iterable[RecordedSample]], None]
"""Writes additional files of an evaluation. Takes the files of the run, the model's name for a path, and the samples."""

History: TypeAlias = Callable[[Row], Sequence[JsonObject]]
"""Returns the messages of a row between the system message and the prompt. Raises MissingFieldError."""

Remarks: TypeAlias = Callable[[Mapping[str, MetricSummary]], Sequence[str]]
"""Turns the metrics of a run into notes for their readers."""


class BenchmarkSpec(Struct, frozen=True, kw_only=True):
    """One benchmark, complete and checked. Paths are as the user wrote them; `base_dir` resolves them."""

    name: str
    """Display name."""
    key: str
    """Normalised name: what users type, and what files and metrics are called."""
    dataset: DatasetRef
    """Path, URI, or a callable or iterable that yields rows."""
    prompt: str
    """Template text, or the name of a template file. May be empty if no prompt is needed."""
    scorer: ScorerFunction
    """The decorated function."""
    target_field: str = "target"
    """Column with the expected answer; a row without it has the target `""`."""
    endpoint_type: ModelType = "chat"
    """The type of the model, unless the run names another."""
    requirements: tuple[str, ...] = ()
    """Packages the scorer needs, as pip requirement strings. Checked, never installed."""
    requirements_file: Path | None = None
    """The file that they were read from, if there is one."""
    field_mapping: dict[str, str] | None = None
    """Columns to rename, source to target; every other parameter means the names after mapping."""
    shape: Callable[[Row], Row] | None = None
    """Further conversion of each row of the data, after `field_mapping`."""
    sources: tuple[str, ...] = ()
    """Columns of the data that `shape` reads."""
    config: dict[str, Any] = field(default_factory=dict)
    """`extra` and further keywords, which scorers see as `sample.config`."""
    response_field: str | None = None
    """Column with ready-made responses. If it is set, no model is called."""
    system_prompt: str | None = None
    """Template text or file for the system message."""
    choices: tuple[str, ...] | None = None
    """Fixed candidate continuations."""
    choices_field: str | None = None
    """Column, or dotted path, with the candidates of each row; overrides `choices`."""
    candidates: Callable[[Row], Sequence[str]] | None = None
    """Returns the candidates of a row if they are not a column of the data; overrides both."""
    num_fewshot: int = 0
    """Examples before each prompt, unless the run gives another number."""
    fewshot_dataset: DatasetRef | None = None
    """Where examples come from."""
    fewshot_prefix: str = ""
    """Text before the first example."""
    fewshot_split: str | None = None
    """Split of the primary `hf://` dataset to take examples from."""
    fewshot_template: str | None = None
    """Template text or file for one example; None: the prompt, a space, and the target."""
    fewshot_separator: str = "\n\n"
    """Between examples and before the test prompt."""
    turns_field: str | None = None
    """Column with the user turns that follow the prompt (all of them, if the prompt is empty)."""
    next_turn: NextTurn | None = None
    """Function that gives the next user turn."""
    tools_field: str | None = None
    """Column, or dotted path, with the functions that a row offers to the model."""
    expected_calls_field: str | None = None
    """Column, or dotted path, with the calls that a row expects; the target of such a benchmark."""
    native_calling: bool = True
    """Whether functions are sent as `tools`; otherwise a system message describes them, and calls are read from the text."""
    lenient_calls: bool = False
    """Whether calls in texts are also read by more tolerant rules, for a second score."""
    tool_tasks: ToolTasks | None = None
    """Returns the task of a row for a model that calls functions, if columns alone do not define it; overrides
    `tools_field`."""
    limited: Callable[[int | None], DatasetRef] | None = None
    """Returns the data under a limit, if the limit does not simply take the first rows; None: it does."""
    max_turns: int = 10
    """The most user turns of one conversation, including the first."""
    filters: tuple[Filter, ...] = ()
    """The rows of `dataset` that count, by the names in the data, before `field_mapping`."""
    without_totals: Filter | None = None
    """Leaves out rows that are none, such as the totals below a table; used if bad rows may be skipped."""
    base_dir: Path = field(default_factory=Path.cwd)
    """Folder of the benchmark file; relative paths start here."""
    source: Path | None = None
    """The benchmark file, if there is one."""
    line: int | None = None
    """Line of the decorator in `source`."""
    passes_config: bool = False
    """Whether the scorer takes `(sample, config)`."""
    template: Template | None = None
    """A prompt that is not a text with placeholders; replaces `prompt`."""
    check_row: RowCheck | None = None
    """A further check of rows; called once per row, before the first request."""
    max_tokens_field: str | None = None
    """Column with the longest reply of each row; empty, null and 0 leave it to the run."""
    media: Media | None = None
    """Images, audio and video of its rows."""
    sampling: Sampling | None = None
    """Which rows are sent, how often and in which order, and how long replies may become; None: all rows in order."""
    partial_metrics: tuple[str, ...] = ()
    """Scores that only rows of a group have, under the name of the group. With failures as wrong, only those of the group
    count."""
    headline: str | None = None
    """The metric that represents a run in one figure."""
    lower_is_better: tuple[str, ...] = ()
    """Metrics for which lower is better, if their names do not show it."""
    needs_answer: bool = False
    """Whether rows without an answer get no score. Metrics then leave such a row out even if its request failed."""
    constants: Mapping[str, Callable[[Row], float]] = field(default_factory=dict)
    """Scores that depend on the row alone and not on the reply, and what they are for a row whose request failed. They are
    shown without interval or test."""
    remarks: Remarks | None = None
    """Notes on the numbers of a run."""
    unscored: str = ""
    """Why runs are not meant to give scores; empty if they are."""
    likely_answer: str = ""
    """The column of a file without answers that looks like them; a run that would leave it out does not start."""
    example: Template | None = None
    """One solved few-shot example; replaces `fewshot_template`."""
    family: FamilyName = ""
    """`mcq` or `qa` for a bare file of questions, `nocode` for a table of the configuration, `bfcl` for function calling;
    empty for a benchmark in Python."""
    data_type: str = ""
    """The type of its questions: `mcq`, `mcq_multi` or `qa`; empty for a benchmark in Python."""
    doubts: tuple[str, ...] = ()
    """Doubts found while it was made: warnings of a check, notes of a run."""
    system: Template | None = None
    """A compiled system prompt; replaces `system_prompt`."""
    history: History | None = None
    """Messages before the prompt: earlier turns, written or rendered."""
    gold: Callable[[Row], Any] | None = None
    """Returns the expected answer of a row if it is not a column of the data; `""` if a row has none."""
    derive: Callable[[], Derived] | None = None
    """Figures beyond means, computed from the recorded scores of all samples."""
    write_files: FilesWriter | None = None
    """Writes the files that runs of it have in addition to those of every run."""
    rules: str = ""
    """Everything that decides prompts and scores and is in no file; part of the benchmark's hash."""

    def __repr__(self) -> str:
        data = f"{self.dataset!r}" if isinstance(self.dataset, str | Path) else type(self.dataset).__name__
        return f"<BenchmarkSpec {self.name!r}: dataset {data}, {self.where}>"  # a dataset may be a list of all rows

    @property
    def eval_type(self) -> str:
        """The evaluation type that `run_eval` and result files use."""
        return self.traits.eval_type.format(key=self.key)

    @property
    def traits(self) -> Family:
        """What follows from its family."""
        return FAMILIES[self.family]

    def score(self, sample: ScorerInput) -> Any:
        """The result of the scorer, for `scores_of`; of an `async` one, an awaitable of it. Its exceptions pass through."""
        return self.scorer(sample, sample.config) if self.passes_config else self.scorer(sample)

    def target_reader(self) -> Callable[[Row], Any]:
        """The function that reads the expected answers of rows; `""` for a row without the target column."""
        return column_reader(self.target_field, "") if self.gold is None else self.gold

    def lacks_answer(self, target: object) -> bool:
        """Whether a row with this target has no answer, so that metrics leave it out."""
        return self.needs_answer and is_blank(target)

    def judges(self) -> list[JudgeConfig]:
        """The judges whose settings can be used."""
        return [judge for judge in self._named_judges() if not isinstance(judge, ConfigError)]

    def judge_problems(self) -> list[str]:
        """Problems with the judges' settings, one text for each judge. The environment is not read."""
        return [str(judge) for judge in self._named_judges() if isinstance(judge, ConfigError)]

    def judge_keys(self) -> list[str]:
        """Environment variables that must contain the judges' keys, each once."""
        return list(dict.fromkeys(judge.api_key for judge in self.judges() if judge.api_key is not None))

    def _named_judges(self) -> Iterator[JudgeConfig | ConfigError]:
        from benchwright.scorers import JudgeConfig

        for key, value in self.config.items():
            if value is None or not isinstance(key, str) or not key.startswith("judge"):
                continue
            if not JudgeConfig.is_key(key) and not isinstance(value, Mapping | JudgeConfig):
                continue
            try:
                yield JudgeConfig.of(value, key)
            except ConfigError as error:
                yield error

    def open(self, limit: int | None = None, *, sampled: bool = True) -> DatasetReader:
        """Open its rows; `sampled` applies its sampling plan, if it has one. Raises DatasetError for data that cannot be found."""
        return open_dataset(
            self.dataset,
            base_dir=self.base_dir,
            field_mapping=self.field_mapping,
            limit=limit,
            filters=self.filters,
            sampling=self.sampling if sampled else None,
            shape=self.shape,
        )

    @property
    def calls_tools(self) -> bool:
        """Whether rows offer functions to the model."""
        return self.tools_field is not None or self.tool_tasks is not None

    @property
    def converses(self) -> bool:
        """Whether a row is a conversation of several turns."""
        return self.turns_field is not None or self.next_turn is not None

    @property
    def extra(self) -> dict[str, Any]:
        """`config` under the name of the decorator's parameter."""
        return self.config

    @property
    def where(self) -> str:
        """`file:line` of the definition, for messages; only the name if it was typed in a shell."""
        if self.source is None:
            return f"benchmark {self.name!r}"
        return f"{self.source.name}:{self.line}" if self.line else self.source.name

    @staticmethod
    def without_file(key: str) -> BenchmarkSpec | None:
        """The last definition of this process under a normalised name outside any file, as in a notebook cell."""
        found = [specs[key] for (_, source), specs in _BY_MODULE.items() if source is None and key in specs]
        return found[-1] if found else None


SPEC_ATTRIBUTE = "_benchmark"
"""The attribute of the decorated function that has the definition."""

_BY_MODULE: dict[tuple[str, Path | None], dict[str, BenchmarkSpec]] = {}
"""Definitions by name and file of the module, because two folders may have modules of the same name."""


def register(spec: BenchmarkSpec, module: str) -> None:
    """Record a definition under its module.

    Two definitions of one file must not share a normalised name, because their results would overwrite each other. If there is
    no file (a notebook cell that runs again), the newer definition replaces the older.
    """
    specs = _BY_MODULE.setdefault((module, spec.source), {})
    other = specs.get(spec.key)
    if other is not None and spec.source is not None:
        raise BenchmarkError(
            f"benchmark {spec.name!r} has the same normalised name ({spec.key}) as {other.name!r}"
            f"{f' in line {other.line}' if other.line else ''}; rename one of them"
        )
    specs[spec.key] = spec


def forget(module: str, file: Path) -> None:
    """Drop the definitions of a module before its code runs again."""
    _BY_MODULE.pop((module, file), None)


def defined_in(module: ModuleType) -> list[BenchmarkSpec]:
    """The definitions of a module and its submodules, in order."""
    inside = f"{module.__name__}."
    found: list[BenchmarkSpec] = []
    for (name, source), specs in _BY_MODULE.items():
        if name == module.__name__:
            owner: ModuleType | None = module
        else:
            owner = sys.modules.get(name) if name.startswith(inside) else None
        if owner is not None and file_of(owner) == source:
            found += specs.values()
    return found


def file_of(module: ModuleType) -> Path | None:
    """The file a module was made from."""
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) else None


def attach(function: Callable[..., Any], spec: BenchmarkSpec) -> None:
    """Attach the definition to the function, if it can have attributes."""
    try:
        setattr(function, SPEC_ATTRIBUTE, spec)
    except (AttributeError, TypeError):
        return


def attached_to(thing: object) -> BenchmarkSpec | None:
    """The definition on a decorated function, or None for anything else."""
    spec = getattr(thing, SPEC_ATTRIBUTE, None)
    return spec if isinstance(spec, BenchmarkSpec) else None
