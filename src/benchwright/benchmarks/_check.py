"""Checks a benchmark without sending a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._examples import FewShot, example_template
from benchwright.benchmarks._fewshot import fewshot_problem, strict_problem
from benchwright.benchmarks._fields import target_of
from benchwright.benchmarks._gold import GoldCheck, check_gold
from benchwright.benchmarks._media import media_notes
from benchwright.benchmarks._prompts import PromptBuilder
from benchwright.benchmarks._questions.columns import LETTERS
from benchwright.benchmarks._questions.rows import tallied
from benchwright.benchmarks._requests import open_conversation
from benchwright.benchmarks._rows import AskableRows, RowSettings
from benchwright.benchmarks._scan import RowScan, ScannedRow, estimate_tokens
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies import strategy_of
from benchwright.benchmarks._warnings import about_gold, about_rows, about_target, definition_warnings
from benchwright.core import (
    BadRow,
    BenchwrightError,
    DatasetError,
    Information,
    JsonObject,
    JsonValue,
    MissingFieldError,
    ModelRequest,
)
from benchwright.datasets import hub_commits, open_dataset

SAMPLES = 2
"""How many rendered rows a report shows."""


class SamplePrompt(Struct, frozen=True):
    """One row, rendered for the model."""

    line: int
    """Line of the row."""
    messages: tuple[JsonObject, ...]
    """The messages of the first request, without media."""
    choices: tuple[str, ...]
    """Candidates, if they are ranked."""
    target: str
    """The expected answer as text."""
    requests: tuple[ModelRequest, ...] = ()
    """The requests of the row before any reply is known."""
    media: tuple[str, ...] = ()
    """Images, video and audio before the text, as the row names them: `image pics/cat.png`."""

    @classmethod
    def first_of(cls, rows: AskableRows) -> tuple[SamplePrompt, ...]:
        """The first rows, rendered."""
        return tuple(_sample(rows, row) for row in rows.scan.first[:SAMPLES])


class CheckReport(Struct, frozen=True, kw_only=True):
    """The findings of a check."""

    name: str
    """Display name of the benchmark."""
    key: str
    """Its normalised name."""
    dataset: str
    """The dataset as the user wrote it."""
    strategy: str | None = None
    """Name of the strategy; None if it could not be decided."""
    errors: tuple[str, ...] = ()
    """Problems that make a run impossible or pointless."""
    warnings: tuple[str, ...] = ()
    """Warnings for the user; those that only inform, such as how the data were read, are `Information`."""
    rows: int = 0
    """Rows that can be sent."""
    bad_rows: tuple[BadRow, ...] = ()
    """Rows that cannot be sent, up to a limit."""
    bad_total: int = 0
    """Number of rows that cannot be sent."""
    requests: int = 0
    """Requests of one repeat to the model under test (for `next_turn` conversations: at least)."""
    judge_requests: int = 0
    """Approximate number of requests to judges: one for each sample and judge."""
    prompt_tokens_estimate: int = 0
    """Prompt tokens of one repeat, estimated at four characters a token."""
    replies_resent: int = 0
    """How often requests of one repeat contain an earlier reply of their conversation."""
    cost: Mapping[str, JsonValue] | None = None
    """Approximate cost of all repeats, if a price is known: `prompts` alone, and `at_most` with full-length replies;
    `currency`, `as_of`, `source`, a `doubt` about an old price, what it `assumes`, and the same for `judges`."""
    template_fields: tuple[str, ...] = ()
    """Fields that the prompt and system prompt read."""
    dataset_fields: tuple[str, ...] = ()
    """Fields that rows have, after mapping."""
    unused_fields: tuple[str, ...] = ()
    """Fields of rows that the definition does not name; scorers may still read them."""
    fewshot: FewShot | None = None
    """The examples, their source, and whether they overlap with evaluated rows."""
    gold: GoldCheck | None = None
    """Whether gold answers score as right."""
    samples: tuple[SamplePrompt, ...] = ()
    """The first rows, rendered."""
    data_type: str = ""
    """The type of a file of questions, mcq or qa; empty for a benchmark in Python."""
    options: Mapping[int, int] = field(default_factory=dict)
    """Rows of multiple choice by their number of options."""

    def __str__(self) -> str:
        """One line: whether a run may start, and its size."""
        found = "ok" if self.ok else f"errors {len(self.errors)}, bad rows {self.bad_total}"
        return f"{self.name}: {found} (rows {self.rows}, requests {self.requests}, warnings {len(self.warnings)})"

    def __repr__(self) -> str:
        return f"<CheckReport {self}>"  # `check` returns a list, and lists show this

    @property
    def ok(self) -> bool:
        """Whether a run may start: no errors and no bad rows."""
        return not self.errors and self.bad_total == 0

    @property
    def gold_fails(self) -> bool:
        """Whether every gold answer that was tried scored as wrong, or made the scorer raise.

        A run could start, but a model that is always right would get 0.
        """
        gold = self.gold
        return gold is not None and gold.right == 0 and gold.tried > 0

    @staticmethod
    @hub_commits()
    def with_rows(
        spec: BenchmarkSpec, settings: RowSettings | None
    ) -> tuple[CheckReport, AskableRows | None]:
        """Render every row, try the gold answers, and search for leaks. Problems go into the report and are not raised. Returns the
        rows too, unless they cannot be read.

        Args:
            spec: The benchmark.
            settings: The settings that decide the rows of the run; None: as the benchmark declares.
        """
        settings = settings or RowSettings()
        counting, tally = tallied(spec)
        strategy: str | None = None
        warnings: list[str] = []
        requested = settings.applied_to(spec)
        report = CheckReport(
            name=spec.name,
            key=spec.key,
            dataset=_dataset_name(requested),
            data_type=spec.data_type or spec.family,
        )
        try:
            strategy = strategy_of(requested, settings.model_type).name
            warnings += definition_warnings(requested)
            rows = AskableRows.of(counting, settings, watch_repetition=True)
        except BenchwrightError as error:
            errors = (*requested.judge_problems(), str(error))
            if isinstance(error, DatasetError) and tally is not None and not tally.options:
                report = replace(report, data_type="")  # without a row, it is a guess
            return replace(report, strategy=strategy, errors=errors, warnings=tuple(warnings)), None
        spec, scan = rows.spec, rows.scan
        # Rows of tasks are in memory and their scorers are fast, so all are tried; of other rows, only the first.
        tried = scan.first if spec.tool_tasks is None else rows.scanned()
        gold = check_gold(spec, tried, rows.strategy, source=rows.reader.name)
        judged = scan.rows * max(len(spec.judges()) + len(spec.judge_problems()), int(gold.judged))
        warnings += _warnings(rows, gold)
        warnings += () if tally is None else tally.doubts()
        warnings += _about_judges(judged, sure=gold.judged)
        report = replace(
            report,
            strategy=strategy,
            errors=tuple(dict.fromkeys(_errors(rows))),
            warnings=tuple(dict.fromkeys(warnings)),
            rows=scan.rows,
            bad_rows=tuple(_bad_rows(scan)),
            bad_total=scan.bad_total,
            requests=scan.requests,
            judge_requests=judged,
            prompt_tokens_estimate=estimate_tokens(scan.prompt_chars),
            replies_resent=scan.replies_resent,
            template_fields=_template_fields(rows.prompts),
            dataset_fields=scan.columns,
            unused_fields=tuple(c for c in scan.columns if c not in _named_fields(spec, rows.prompts)),
            fewshot=rows.fewshot,
            gold=gold,
            samples=SamplePrompt.first_of(rows),
            options={} if tally is None else {n: tally.options[n] for n in sorted(tally.options) if n},
        )
        return report, rows

    @classmethod
    def of(cls, spec: BenchmarkSpec, settings: RowSettings | None = None) -> CheckReport:
        """The report of `with_rows`."""
        return CheckReport.with_rows(spec, settings)[0]


def _dataset_name(spec: BenchmarkSpec) -> str:
    try:
        return open_dataset(spec.dataset, base_dir=spec.base_dir).name
    except BenchwrightError:
        return str(spec.dataset)


def _errors(rows: AskableRows) -> Iterator[str]:
    yield from rows.spec.judge_problems()
    if not rows.scan.rows and not rows.scan.bad_total:
        yield "the dataset has no rows"
        return
    yield from rows.scan.absent
    yield from map(str, rows.problems())


def _warnings(rows: AskableRows, gold: GoldCheck) -> Iterator[str]:
    spec, scan, fewshot = rows.spec, rows.scan, rows.fewshot
    if fewshot is not None:
        yield from fewshot.warnings
    refused = rows.settings.fewshot_strict and strict_problem(fewshot, scan)
    if not refused and (doubt := fewshot_problem(fewshot, scan)):
        yield doubt
    yield from rows.reader.notes()
    yield from rows.reader.doubts()
    yield from media_notes(spec)
    yield from about_target(spec, scan)
    yield from about_rows(spec, scan, rows.strategy, rows.reader.name)
    yield from about_gold(gold)


def _bad_rows(scan: RowScan) -> Iterator[BadRow]:
    """The listed rows; problems of all rows are already among the errors."""
    common = "; ".join(scan.absent)
    for bad in scan.bad_rows:
        yield replace(bad, reason=f'field "{bad.field}" is missing') if bad.reason == common else bad


def _about_judges(requests: int, *, sure: bool) -> Iterator[str]:
    if requests:
        number = f"{'about' if sure else 'up to'} {requests:,}"
        yield Information(
            f"judges are called too: {number} further requests per repeat, one for each sample and judge"
        )


def _template_fields(prompts: PromptBuilder) -> tuple[str, ...]:
    system = prompts.system_template.fields if prompts.system_template is not None else frozenset[str]()
    return tuple(sorted(prompts.template.fields | system))


def _named_fields(spec: BenchmarkSpec, prompts: PromptBuilder) -> set[str]:
    examples = example_template(spec, prompts.template)
    named = {*_template_fields(prompts), spec.target_field, "id", *spec.sources}
    named |= {(spec.field_mapping or {}).get(condition.field, condition.field) for condition in spec.filters}
    named |= examples.fields if examples is not None else frozenset()
    if spec.choices_field is not None:
        named |= {spec.choices_field, spec.choices_field.split(".")[0]}
    if spec.traits.questions:
        named |= {*LETTERS, *((spec.max_tokens_field,) if spec.max_tokens_field else ())}
    if spec.media is not None and spec.media.seen:
        named |= {"type", "path", "media"}
    paths = (spec.target_field, spec.response_field, spec.turns_field, spec.tools_field)
    return named | {name for path in paths if path is not None for name in (path, path.split(".")[0])}


def _sample(rows: AskableRows, scanned: ScannedRow) -> SamplePrompt:
    spec = rows.spec
    try:
        requests = tuple(rows.requests(scanned.row))
    except MissingFieldError:  # a file has disappeared since the scan
        requests = ()
    messages: Sequence[JsonObject] = open_conversation(scanned.prompt)
    if requests and requests[0].route == "chat":
        messages = [_without_media(message) for message in requests[0].body["messages"]]  # type: ignore[union-attr]
    target = str(target_of(spec, scanned.row))
    media = () if spec.media is None else spec.media.names(scanned.row)
    return SamplePrompt(scanned.line, tuple(messages), scanned.choices, target, requests, media)


def _without_media(message: Any) -> JsonObject:
    content = message["content"]
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    return {**message, "content": content}
