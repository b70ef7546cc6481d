"""Scans all rows in one streaming pass and plans their requests. Sends nothing.

It takes a few microseconds per row in addition to reading the data, and memory only for what it lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._fields import check_filters, column_reader, is_blank
from benchwright.benchmarks._prompts import Prompt, PromptBuilder
from benchwright.benchmarks._requests import Generation
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies import strategy_of
from benchwright.benchmarks._strategies.base import RowPlan, Strategy
from benchwright.core import STRATEGIES, BadRow, MissingFieldError, Row
from benchwright.datasets import DatasetReader

CHARS_PER_TOKEN = 4
"""The usual rule of thumb for English; other languages and code differ by a factor of two and more."""
KEPT_ROWS = 50
"""How many of the first usable rows a scan keeps for later checks."""

LISTED_ALIKE = 3
"""How many rows are listed if all of them lack the same field: the first with the reason, the others only with the line."""

WATCHED_ROWS = 500_000
"""Rows among which repetition is searched for. Their hashes take about 40 MB, so that memory stays bounded."""


class ScannedRow(Struct, frozen=True):
    """One row that can be used."""

    index: int
    """Position among the good rows of the dataset."""
    line: int
    """Its line in its file."""
    row: Row
    """The row itself."""
    prompt: Prompt
    choices: tuple[str, ...] = ()
    """Its candidates, if candidates are ranked."""


class RowScan(Struct, frozen=True):
    """The findings of a pass over all rows."""

    rows: int
    """Rows that can be used."""
    readable: int
    """Rows that could be parsed, including those that lack a field."""
    bad_rows: tuple[BadRow, ...]
    """Rows that cannot be used, up to a limit. If no row has a field, the first one says so for all of them."""
    bad_total: int
    """Number of rows that cannot be used, including those beyond the limit."""
    requests: int
    """Requests that one repeat of all rows makes (for `next_turn` conversations: at least)."""
    prompt_chars: int
    """Characters sent by those requests."""
    replies_resent: int
    """How often those requests contain an earlier reply of their conversation."""
    columns: tuple[str, ...]
    """Every field that occurs, in order of first appearance."""
    missing_fields: Mapping[str, int]
    """Missing fields, and in how many rows."""
    absent: tuple[str, ...]
    """One message, with the cure, for each needed field that no row has."""
    null_fields: Mapping[str, int]
    """Fields in the prompt that are null, and in how many rows."""
    missing_targets: int
    """Rows whose target column is absent, null or empty."""
    repeated_prompts: int
    """Rows with exactly the prompt of an earlier row."""
    repeated_ids: int
    """Rows whose `id` an earlier row has."""
    own_examples: int
    """Rows that are few-shot examples too; each is shown all examples but itself."""
    fewest_examples: int
    """Smallest number of few-shot examples that a row is shown."""
    examples_shown: int
    """Total number of few-shot examples that rows are shown."""
    first: tuple[ScannedRow, ...]
    """The first rows that can be used."""
    cut_conversations: int = 0
    """Rows with more user turns than `max_turns`; the other turns are not sent."""
    longest_conversation: int = 0
    """Most user turns of such a row."""
    reread_targets: int = 0
    """Rows whose target is the text of one candidate and the index or letter of another."""
    reread_first: ScannedRow | None = None
    copies: Mapping[int, int] = field(default_factory=dict)
    """For rows with the prompt of an earlier row, by index: how many earlier rows have it."""

    def copy_of(self, index: int) -> int:
        """The number of a row among rows with the same prompt; 0 for the first."""
        return self.copies.get(index, 0) if index < WATCHED_ROWS else index


def scan_rows(
    spec: BenchmarkSpec,
    reader: DatasetReader,
    prompts: PromptBuilder,
    max_listed: int = 20,
    *,
    strategy: Strategy | None = None,
    on_unreadable: Callable[[BadRow], None] | None = None,
    watch_repetition: bool = True,
    watch_ids: bool = True,
) -> RowScan:
    """Render every row and count problems.

    Args:
        spec: The benchmark.
        reader: Its dataset, limited as the run limits it.
        prompts: Its compiled prompts, examples included.
        max_listed: How many bad rows are listed; all are counted.
        strategy: How rows are handled, if the run decides it; None: the strategy of the benchmark.
        on_unreadable: Gets each row that the reader could not parse, listed or not.
        watch_repetition: Count repeated prompts, which takes memory for every row.
        watch_ids: Count repeated ids.

    Rows that cannot be parsed and rows that lack a field are both listed with file, line and cure. Data that
    cannot be read to its end raises DatasetError, filters that leave no row BenchmarkError.
    """
    if strategy is None:
        strategy = strategy_of(spec)(spec, prompts, Generation(""), spec.endpoint_type)
    bad = _BadRows(reader.name, max_listed, on_unreadable)
    found = _UsableRows(spec, prompts, strategy, watch_repetition, watch_ids)
    columns: dict[str, None] = {}
    known, check_row, plan, add = columns.keys(), spec.check_row, strategy.plan, found.add
    index = 0
    for batch in reader.batches(on_bad=bad.unreadable):
        for row, line in zip(batch.rows, batch.lines, strict=True):
            if not row.keys() <= known:
                columns.update(dict.fromkeys(row))
            try:
                if check_row is not None:
                    check_row(row)
                planned = plan(row)
            except MissingFieldError as error:
                bad.lacking(error, line)
            else:
                add(index, line, row, planned)
            index += 1
    if not index:
        check_filters(spec)
    names = tuple(columns)
    absent = tuple(strategy.missing_fields(names, bad.missing)) if index else ()
    return RowScan(
        rows=found.rows,
        readable=index,
        bad_rows=bad.listed(absent if not found.rows else ()),
        bad_total=bad.total,
        requests=found.requests,
        prompt_chars=found.chars,
        replies_resent=0 if STRATEGIES[strategy.name].needs_echo else found.replies_resent,
        columns=names,
        missing_fields=dict(bad.missing),
        absent=absent,
        null_fields=dict(found.nulls),
        missing_targets=found.without_target,
        repeated_prompts=found.repeated_prompts,
        repeated_ids=found.repeated_ids,
        own_examples=found.own_examples,
        fewest_examples=found.fewest_examples or 0,
        examples_shown=found.examples_shown,
        first=tuple(found.first),
        cut_conversations=found.cut,
        longest_conversation=found.longest,
        reread_targets=found.reread,
        reread_first=found.reread_first,
        copies=found.copies,
    )


class _BadRows:
    """Rows that cannot be used: all are counted, the first are listed."""

    def __init__(self, name: str, limit: int, on_unreadable: Callable[[BadRow], None] | None) -> None:
        self._name = name
        self._limit = limit
        self._on_unreadable = on_unreadable
        self._unreadable: list[BadRow] = []
        self._lacking: list[BadRow] = []
        self._unread = 0
        self.missing: Counter[str] = Counter()
        """Rows by the field that they lack."""

    def unreadable(self, row: BadRow) -> None:
        self._unread += 1
        if self._on_unreadable is not None:
            self._on_unreadable(row)
        if len(self._unreadable) < self._limit:
            self._unreadable.append(row)

    def lacking(self, error: MissingFieldError, line: int) -> None:
        self.missing[error.field] += 1
        if len(self._lacking) < self._limit:
            self._lacking.append(BadRow(self._name, line, error.message, error.field))

    @property
    def total(self) -> int:
        return self._unread + self.missing.total()

    def listed(self, absent: tuple[str, ...]) -> tuple[BadRow, ...]:
        """The rows in the order of the file, unless one reason applies to all that were read."""
        limit, lacking = self._limit, self._lacking
        if not absent or not lacking:
            return tuple(sorted([*self._unreadable, *lacking], key=lambda bad: bad.line)[:limit])
        first, *others = lacking[: min(limit, LISTED_ALIKE)]
        alike = [replace(bad, reason=f'field "{bad.field}" is missing as well') for bad in others]
        reasons = [replace(first, reason="; ".join(absent)), *alike]
        return tuple([*reasons, *self._unreadable][:limit])


class _UsableRows:
    """Counts over the rows that can be used."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        prompts: PromptBuilder,
        strategy: Strategy,
        watch_repetition: bool,
        watch_ids: bool,
    ) -> None:
        self._prompts = prompts
        self._shows_examples = prompts.shows_examples
        self._shown_fields = _shown_fields(prompts)
        self._target = column_reader(spec.target_field)
        self._questions = spec.traits.may_lack_answers and not spec.calls_tools  # no calls are an answer too
        self._identity = strategy.identity
        self._watch = watch_repetition
        self._watch_ids = watch_ids
        # Without requests, rows are distinguished by their response.
        self._by_prompt = STRATEGIES[strategy.name].sends
        self._prompts_seen: set[int] = set()
        self._again: dict[int, int] = {}
        self._seen: set[int] = set()
        self._ids: set[Hashable] = set()
        self.rows = self.requests = self.chars = self.replies_resent = self.without_target = 0
        self.repeated_prompts = self.repeated_ids = 0
        self.own_examples = self.examples_shown = 0
        self.fewest_examples: int | None = None
        self.cut = self.longest = self.reread = 0
        self.nulls: Counter[str] = Counter()
        self.first: list[ScannedRow] = []
        self.reread_first: ScannedRow | None = None
        self.copies: dict[int, int] = {}

    def add(self, index: int, line: int, row: Row, plan: RowPlan) -> None:
        """Count a row."""
        prompt = plan.prompt
        self.rows += 1
        self.requests += plan.requests
        self.chars += plan.chars
        if plan.requests > 1:
            self.replies_resent += plan.requests * (plan.requests - 1) // 2
        if self._shows_examples:
            self._count_examples(prompt)
        if plan.cut_from:
            self.cut += 1
            self.longest = max(self.longest, plan.cut_from)
        if plan.reread:
            self.reread += 1
            self.reread_first = self.reread_first or ScannedRow(index, line, row, prompt, plan.choices)
        target = self._target(row)
        if target is None or target == "" or (self._questions and is_blank(target)):
            self.without_target += 1
        for column in self._shown_fields:
            if row.get(column) is None:
                self.nulls[column] += 1
        if index < WATCHED_ROWS:
            # Rows with equal prompts are numbered. Prompts are compared, not whole requests: rows with the same prompt
            # and otherwise different requests get different numbers too, which does no harm, and equal requests never
            # share a number.
            mark = hash(prompt.text if self._by_prompt else self._identity(row, plan))
            seen = self._prompts_seen
            before = len(seen)
            seen.add(mark)
            if len(seen) == before:
                self.copies[index] = self._again[mark] = self._again.get(mark, 0) + 1
            if self._watch:
                self.repeated_prompts += _seen_before(hash(self._identity(row, plan)), self._seen)
            if self._watch_ids and (given := row.get("id")) is not None:
                mark = hash(given) if given.__class__ is str else given  # the texts need not stay in memory
                self.repeated_ids += _seen_before(mark, self._ids)
        if len(self.first) < KEPT_ROWS:
            self.first.append(ScannedRow(index, line, row, prompt, plan.choices))

    def _count_examples(self, prompt: Prompt) -> None:
        self.own_examples += self._prompts.left_out_itself(prompt)
        shown = prompt.examples
        self.examples_shown += shown
        if self.fewest_examples is None or shown < self.fewest_examples:
            self.fewest_examples = shown


def _seen_before(value: object, seen: set[Hashable] | set[int]) -> bool:
    try:
        before = len(seen)
        seen.add(value)  # type: ignore[arg-type]  # what is not hashable raises the TypeError
        return len(seen) == before
    except TypeError:
        return False


def _shown_fields(prompts: PromptBuilder) -> tuple[str, ...]:
    """Fields that a template prints unchanged. Jinja2 may test for null, so only `{field}` counts."""
    templates = [prompts.template, prompts.system_template]
    return tuple({name for t in templates if t is not None and t.engine == "format" for name in t.fields})


def estimate_tokens(chars: int) -> int:
    """A rough estimate of the tokens in this many characters; show it as an estimate."""
    return -(-chars // CHARS_PER_TOKEN)
