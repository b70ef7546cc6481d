"""Everything that can be found out about a benchmark without spending a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchwright.benchmarks._absent import target_error
from benchwright.benchmarks._definition import definition_doubts
from benchwright.benchmarks._examples import FewShot, example_template
from benchwright.benchmarks._fewshot import fewshot_problem, resolve_fewshot, strict_problem
from benchwright.benchmarks._fields import target_of
from benchwright.benchmarks._findings import about_gold, about_rows, about_target
from benchwright.benchmarks._gold import GoldCheck, check_gold
from benchwright.benchmarks._judges import judge_count, judge_problems
from benchwright.benchmarks._media import media_notes, media_problem
from benchwright.benchmarks._prompts import PromptBuilder, build_prompts
from benchwright.benchmarks._questions.columns import LETTERS
from benchwright.benchmarks._questions.validate import tallied
from benchwright.benchmarks._requests import open_conversation
from benchwright.benchmarks._scan import RowScan, ScannedRow, scan_rows
from benchwright.benchmarks._spec import BenchmarkSpec, EndpointType, Strategy, strategy_of
from benchwright.core import BadRow, BenchwrightError, JsonObject
from benchwright.datasets import hub_commits, open_dataset

CHARS_PER_TOKEN = 4
"""The usual rule of thumb for English; other languages and code differ by a factor of two and more."""

SAMPLES = 2
"""How many rendered rows a report shows."""


@dataclass(frozen=True, slots=True)
class SamplePrompt:
    """One row as the model would get it."""

    line: int
    """Where the row stands."""
    messages: tuple[JsonObject, ...]
    """System and user message."""
    choices: tuple[str, ...]
    """Candidates, where they are ranked."""
    target: str
    """The expected answer as text."""
    media: tuple[str, ...] = ()
    """Images, video and audio that stand before the text, as the row names them: `image pics/cat.png`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check found."""

    name: str
    """Display name of the benchmark."""
    key: str
    """Its normalised name."""
    dataset: str
    """The dataset as the user wrote it."""
    strategy: Strategy | None = None
    """How rows would be handled; None when that could not be decided."""
    errors: tuple[str, ...] = ()
    """What makes a run impossible or senseless."""
    warnings: tuple[str, ...] = ()
    """What the user should know."""
    rows: int = 0
    """Rows that can be asked."""
    bad_rows: tuple[BadRow, ...] = ()
    """Rows that cannot, up to a limit."""
    bad_total: int = 0
    """How many cannot."""
    requests: int = 0
    """Requests of one repeat to the model under test (for `next_turn` conversations: at least)."""
    judge_requests: int = 0
    """About how many more go to judges: one for each sample and judge."""
    prompt_tokens_estimate: int = 0
    """Prompt tokens of one repeat, estimated at four characters a token."""
    template_fields: tuple[str, ...] = ()
    """Fields that the prompt and system prompt read."""
    dataset_fields: tuple[str, ...] = ()
    """Fields that rows have, after mapping."""
    unused_fields: tuple[str, ...] = ()
    """Fields of rows that the definition names nowhere; scorers may still read them."""
    fewshot: FewShot | None = None
    """The examples, their source, and whether they overlap with evaluated rows."""
    gold: GoldCheck | None = None
    """Whether gold answers score as right."""
    samples: tuple[SamplePrompt, ...] = ()
    """The first rows, rendered."""
    data_type: str = ""
    """What a file of questions holds, mcq or qa; empty for a benchmark in Python."""
    options: Mapping[int, int] = field(default_factory=dict)
    """Rows of multiple choice by their number of options."""

    @property
    def ok(self) -> bool:
        """Whether a run may start: no errors and no bad rows."""
        return not self.errors and self.bad_total == 0

    @property
    def gold_fails(self) -> bool:
        """Whether every gold answer that was tried came out wrong, or made the scorer raise.

        A run could start, but a model that is always right would get 0.
        """
        gold = self.gold
        return gold is not None and gold.right == 0 and gold.checked + gold.failed > 0


@hub_commits()
def check_benchmark(
    spec: BenchmarkSpec,
    *,
    limit: int | None = None,
    num_fewshot: int | None = None,
    seed: int = 42,
    max_listed: int = 20,
    fewshot_strict: bool = False,
    model_type: EndpointType | None = None,
) -> CheckReport:
    """Render every row, try the gold answers, look for leaks. Raises nothing that belongs into the report.

    Args:
        spec: The benchmark.
        limit: How many rows the run would evaluate; None for all.
        num_fewshot: The run's own number of examples.
        seed: Seed of the choice of examples.
        max_listed: How many bad rows are listed; all are counted.
        fewshot_strict: Whether examples from evaluated rows are an error rather than a warning.
        model_type: The model's type, where the run decides it.
    """
    report = CheckReport(name=spec.name, key=spec.key, dataset=_dataset_name(spec), data_type=spec.family)
    warnings: list[str] = []
    strategy: Strategy | None = None
    try:
        strategy = strategy_of(spec, model_type)
        warnings += definition_doubts(spec)
        reader = open_dataset(
            spec.dataset,
            base_dir=spec.base_dir,
            field_mapping=spec.field_mapping,
            limit=limit,
            filters=spec.filters,
            sampling=spec.sampling,
            shape=spec.shape,
        )
        fewshot = None
        if strategy != "score_only":
            fewshot = resolve_fewshot(
                spec, num_fewshot=num_fewshot, seed=seed, limit=limit, strict=fewshot_strict
            )
        prompts = build_prompts(spec, fewshot)
        counting, tally = tallied(spec)
        # Copies that a plan asks for are no news.
        watch = reader.origins() is None
        scan = scan_rows(counting, reader, prompts, max_listed, strategy=strategy, watch_repetition=watch)
    except BenchwrightError as error:
        return replace(
            report, strategy=strategy, errors=(*judge_problems(spec), str(error)), warnings=tuple(warnings)
        )
    gold = check_gold(spec, scan.first, strategy, source=reader.name)
    if fewshot is not None:
        warnings += fewshot.warnings
    problem = strict_problem(fewshot, scan) if fewshot_strict else None
    if problem is None and (doubt := fewshot_problem(fewshot, scan)):
        warnings.append(doubt)
    warnings += reader.notes()
    warnings += media_notes(spec)
    warnings += about_target(spec, scan)
    warnings += about_rows(spec, scan, strategy, reader.name)
    warnings += about_gold(gold)
    judged = scan.rows * max(judge_count(spec), int(gold.judged))
    warnings += _about_judges(judged, sure=gold.judged)
    fields = _template_fields(prompts)
    return replace(
        report,
        strategy=strategy,
        errors=tuple(
            dict.fromkeys([*_errors(spec, scan), *filter(None, [problem, media_problem(spec, model_type)])])
        ),
        warnings=tuple(dict.fromkeys(warnings)),
        rows=scan.rows,
        bad_rows=tuple(_bad_rows(scan)),
        bad_total=scan.bad_total,
        requests=scan.requests,
        judge_requests=judged,
        prompt_tokens_estimate=estimate_tokens(scan.prompt_chars),
        template_fields=fields,
        dataset_fields=scan.columns,
        unused_fields=tuple(c for c in scan.columns if c not in _named_fields(spec, prompts)),
        fewshot=fewshot,
        gold=gold,
        samples=tuple(_sample(spec, row) for row in scan.first[:SAMPLES]),
        options={} if tally is None else {n: tally.options[n] for n in sorted(tally.options) if n},
    )


def estimate_tokens(chars: int) -> int:
    """Tokens in so many characters, by rule of thumb: an estimate, and to be shown as one."""
    return -(-chars // CHARS_PER_TOKEN)


def _dataset_name(spec: BenchmarkSpec) -> str:
    try:
        return open_dataset(spec.dataset, base_dir=spec.base_dir).name
    except BenchwrightError:
        return str(spec.dataset)


def _errors(spec: BenchmarkSpec, scan: RowScan) -> Iterator[str]:
    yield from judge_problems(spec)
    if not scan.rows and not scan.bad_total:
        yield "the dataset has no rows"
        return
    yield from scan.absent
    if problem := target_error(spec, scan):
        yield problem


def _bad_rows(scan: RowScan) -> Iterator[BadRow]:
    """The listed rows; what holds for all of them stands among the errors already."""
    said = "; ".join(scan.absent)
    for bad in scan.bad_rows:
        yield replace(bad, reason=f'field "{bad.field}" is missing') if bad.reason == said else bad


def _about_judges(requests: int, *, sure: bool) -> Iterator[str]:
    if requests:
        number = f"{'about' if sure else 'up to'} {requests:,}"
        yield f"judges are asked too: {number} further requests per repeat, one for each sample and judge"


def _template_fields(prompts: PromptBuilder) -> tuple[str, ...]:
    system = prompts.system_template.fields if prompts.system_template is not None else frozenset[str]()
    return tuple(sorted(prompts.template.fields | system))


def _named_fields(spec: BenchmarkSpec, prompts: PromptBuilder) -> set[str]:
    examples = example_template(spec, prompts.template)
    named = {*_template_fields(prompts), spec.target_field, "id", *spec.sources}
    named |= {(spec.field_mapping or {}).get(wanted.field, wanted.field) for wanted in spec.filters}
    named |= examples.fields if examples is not None else frozenset()
    if spec.choices_field is not None:
        named |= {spec.choices_field, spec.choices_field.split(".")[0]}
    if spec.family and spec.family != "nocode":
        named |= {*LETTERS, *((spec.max_tokens_field,) if spec.max_tokens_field else ())}
    if spec.media is not None and spec.media.seen:
        named |= {"type", "path", "media"}
    paths = (spec.target_field, spec.response_field, spec.turns_field)
    return named | {name for path in paths if path is not None for name in (path, path.split(".")[0])}


def _sample(spec: BenchmarkSpec, scanned: ScannedRow) -> SamplePrompt:
    messages: Sequence[JsonObject] = open_conversation(scanned.prompt)
    if spec.history is not None:
        messages = [*messages[:-1], *spec.history(scanned.row), messages[-1]]
    target = str(target_of(spec, scanned.row))
    media = () if spec.media is None else spec.media.names(scanned.row)
    return SamplePrompt(scanned.line, tuple(messages), scanned.choices, target, media)
