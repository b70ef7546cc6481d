"""One streaming pass over all rows: would each of them make a request? Reads data, sends nothing.

The same pass serves `check` and, before the first request of a run, the engine. It costs a few microseconds a
row beyond reading the data, and memory only for what it lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from benchwright.benchmarks._absent import absent_fields
from benchwright.benchmarks._fields import at_path, missing_choices, resolve_choices, response_of, target_of
from benchwright.benchmarks._filters import check_filters
from benchwright.benchmarks._missing import MissingFieldError, is_blank
from benchwright.benchmarks._prompts import Prompt, PromptBuilder
from benchwright.benchmarks._spec import BenchmarkSpec, Media, Strategy, strategy_of
from benchwright.benchmarks._turns import user_turns
from benchwright.core import BadRow, Row
from benchwright.datasets import DatasetReader

KEPT_ROWS = 50
"""How many of the first usable rows a scan keeps for whoever looks closer."""

LISTED_ALIKE = 3
"""How many rows are listed when all of them lack the same field: the first says why, the others only where."""

WATCHED_ROWS = 500_000
"""Repetition is looked for among this many rows: their hashes take some 40 MB, and memory stays bounded."""


@dataclass(frozen=True, slots=True)
class ScannedRow:
    """One row that can be asked."""

    index: int
    """Position among the good rows of the dataset."""
    line: int
    """Where it stands in its file."""
    row: Row
    """The row itself."""
    prompt: Prompt
    """What it asks."""
    choices: tuple[str, ...] = ()
    """Its candidates, where candidates are ranked."""


@dataclass(frozen=True, slots=True)
class RowScan:
    """What a pass over all rows found."""

    rows: int
    """Rows that can be asked."""
    readable: int
    """Rows that could be parsed, those that lack a field included."""
    bad_rows: tuple[BadRow, ...]
    """Rows that cannot, up to a limit. Where no row has a field, the first says so for all of them."""
    bad_total: int
    """How many cannot, those beyond the limit included."""
    requests: int
    """Requests that one repeat of all rows makes (for `next_turn` conversations: at least)."""
    prompt_chars: int
    """Characters sent by those requests."""
    columns: tuple[str, ...]
    """Every field that occurs, in order of first appearance."""
    missing_fields: Mapping[str, int]
    """Fields at fault, and in how many rows."""
    absent: tuple[str, ...]
    """Fields that are needed and that no row has: a text for each, with the cure."""
    null_fields: Mapping[str, int]
    """Fields the prompt shows that are null (they read as "None"), and in how many rows."""
    missing_targets: int
    """Rows whose target column is absent, null or empty."""
    repeated_prompts: int
    """Rows that ask exactly what an earlier row asked."""
    repeated_ids: int
    """Rows whose `id` an earlier row has."""
    own_examples: int
    """Rows that are few-shot examples too; each is asked without itself."""
    fewest_examples: int
    """Few-shot examples that the row with the fewest is shown."""
    examples_shown: int
    """Few-shot examples that all rows are shown together."""
    first: tuple[ScannedRow, ...]
    """The first rows that can be asked."""
    cut_conversations: int = 0
    """Rows with more user turns than `max_turns`: the rest is not asked."""
    longest_conversation: int = 0
    """Most user turns of such a row."""
    reread_targets: int = 0
    """Rows whose target is a candidate's text and, as an index or a letter, another candidate."""
    reread_first: ScannedRow | None = None
    """The first of them."""
    copies: Mapping[int, int] = field(default_factory=dict)
    """By index, of rows whose prompt an earlier row has: how many earlier rows have it."""

    def copy_of(self, index: int) -> int:
        """Which copy of its prompt a row is; 0 for the first. A number that no other row with this prompt has."""
        return self.copies.get(index, 0) if index < WATCHED_ROWS else index


class _Asked(NamedTuple):
    prompt: Prompt
    requests: int
    chars: int
    identity: Hashable
    choices: tuple[str, ...] = ()
    cut_from: int = 0
    reread: bool = False


def scan_rows(
    spec: BenchmarkSpec,
    reader: DatasetReader,
    prompts: PromptBuilder,
    max_listed: int = 20,
    *,
    strategy: Strategy | None = None,
    on_unreadable: Callable[[BadRow], None] | None = None,
    watch_repetition: bool = True,
    number_copies: bool = False,
) -> RowScan:
    """Render every row and count what is wrong.

    Args:
        spec: The benchmark.
        reader: Its dataset, limited as the run limits it.
        prompts: Its compiled prompts, examples included.
        max_listed: How many bad rows are listed; all are counted.
        strategy: How rows are handled, where the run decides it; None for the benchmark's own.
        on_unreadable: Told of each row that the reader could not parse, listed or not.
        watch_repetition: Count repeated prompts and ids, which takes memory for every row.
        number_copies: Number the rows that have the same prompt, which takes memory for every row.

    Rows that cannot be parsed and rows that lack a field are both listed with file, line and cure. Data that
    cannot be read to its end raises DatasetError, filters that leave no row BenchmarkError.
    """
    strategy = strategy or strategy_of(spec)
    ask = _asker(spec, prompts, strategy, media=spec.media if watch_repetition else None)
    shown_fields = _shown_fields(prompts)
    target_field, name = spec.target_field, reader.name
    check_row, questions = spec.check_row, bool(spec.family)
    bad: list[BadRow] = []
    lacking: list[BadRow] = []
    unreadable = index = rows = requests = chars = no_target = again = same_id = own = cut = longest = 0
    examples, fewest = 0, None
    columns: dict[str, None] = {}
    missing: Counter[str] = Counter()
    nulls: Counter[str] = Counter()
    seen: set[int] = set()
    ids: set[Hashable] = set()
    first: list[ScannedRow] = []
    reread, reread_first = 0, None
    copies = _Copies()
    # Without requests, what tells rows apart is the response in the row.
    by_prompt = strategy != "score_only"

    def unreadable_row(row: BadRow) -> None:
        nonlocal unreadable
        unreadable += 1
        if on_unreadable is not None:
            on_unreadable(row)
        if len(bad) < max_listed:
            bad.append(row)

    for batch in reader.batches(on_bad=unreadable_row):
        for row, line in zip(batch.rows, batch.lines, strict=True):
            index += 1
            if not row.keys() <= columns.keys():
                columns.update(dict.fromkeys(row))
            try:
                if check_row is not None:
                    check_row(row)
                asked = ask(row)
            except MissingFieldError as error:
                missing[error.field] += 1
                if len(lacking) < max_listed:
                    lacking.append(BadRow(name, line, error.message, error.field))
                continue
            rows += 1
            requests += asked.requests
            chars += asked.chars
            own += prompts.left_out_itself(asked.prompt)
            shown = asked.prompt.examples
            examples += shown
            if fewest is None or shown < fewest:
                fewest = shown
            if asked.cut_from:
                cut += 1
                longest = max(longest, asked.cut_from)
            if asked.reread:
                reread += 1
                reread_first = reread_first or ScannedRow(index - 1, line, row, asked.prompt, asked.choices)
            target = at_path(row, target_field)
            if target in (None, "") or (questions and is_blank(target)):
                no_target += 1
            for column in shown_fields:
                if row.get(column) is None:
                    nulls[column] += 1
            if watch_repetition and index <= WATCHED_ROWS:
                again += _seen_before(hash(asked.identity), seen)
                same_id += _seen_before(row.get("id"), ids)
            if number_copies and index <= WATCHED_ROWS:
                copies.add(index - 1, hash(asked.prompt.text if by_prompt else asked.identity))
            if len(first) < KEPT_ROWS:
                first.append(ScannedRow(index - 1, line, row, asked.prompt, asked.choices))
    if not index:
        check_filters(spec)
    absent = tuple(absent_fields(spec, prompts, strategy, tuple(columns), missing)) if index else ()
    return RowScan(
        rows=rows,
        readable=index,
        bad_rows=_listed(bad, lacking, max_listed, absent if not rows else ()),
        bad_total=unreadable + missing.total(),
        requests=requests,
        prompt_chars=chars,
        columns=tuple(columns),
        missing_fields=dict(missing),
        absent=absent,
        null_fields=dict(nulls),
        missing_targets=no_target,
        repeated_prompts=again,
        repeated_ids=same_id,
        own_examples=own,
        fewest_examples=fewest or 0,
        examples_shown=examples,
        first=tuple(first),
        cut_conversations=cut,
        longest_conversation=longest,
        reread_targets=reread,
        reread_first=reread_first,
        copies=copies.numbers,
    )


class _Copies:
    """Numbers rows of equal prompts. Prompts, and not whole requests: rows that share a prompt and differ in the rest
    of their requests get different numbers too, which costs nothing, while equal requests never share a number."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._again: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        """By index; first ones are left out."""

    def add(self, index: int, prompt: int) -> None:
        """One more row; `prompt` is a hash."""
        seen = self._seen
        before = len(seen)
        seen.add(prompt)
        if len(seen) == before:
            self.numbers[index] = self._again[prompt] = self._again.get(prompt, 0) + 1


def _listed(
    unreadable: list[BadRow], lacking: list[BadRow], limit: int, absent: tuple[str, ...]
) -> tuple[BadRow, ...]:
    """What is shown of the bad rows: in the order of the file, unless one reason holds for all that were read."""
    if not absent or not lacking:
        return tuple(sorted([*unreadable, *lacking], key=lambda bad: bad.line)[:limit])
    first, *others = lacking[: min(limit, LISTED_ALIKE)]
    alike = [replace(bad, reason=f'field "{bad.field}" is missing as well') for bad in others]
    told = [replace(first, reason="; ".join(absent)), *alike]
    return tuple([*told, *unreadable][:limit])


def _seen_before(value: object, seen: set[Hashable] | set[int]) -> bool:
    if value is None:
        return False
    try:
        before = len(seen)
        seen.add(value)  # type: ignore[arg-type]  # what is not hashable is told by the TypeError
        return len(seen) == before
    except TypeError:
        return False


def _shown_fields(prompts: PromptBuilder) -> tuple[str, ...]:
    """Fields that a template prints as they are; Jinja2 may test for null, so only `{field}` counts."""
    templates = [prompts.template, prompts.system_template]
    return tuple({name for t in templates if t is not None and t.engine == "format" for name in t.fields})


def _asker(
    spec: BenchmarkSpec, prompts: PromptBuilder, strategy: Strategy, *, media: Media | None
) -> Callable[[Row], _Asked]:
    build = prompts.build
    if strategy == "choices":
        return lambda row: _ask_choices(spec, build(row), row)
    if strategy == "score_only":
        return lambda row: _ask_nothing(spec, prompts, row)
    turns = spec.turns_field
    if turns is not None:
        return lambda row: _ask_turns(spec, build(row), user_turns(row, turns))

    def ask(row: Row) -> _Asked:
        prompt = build(row)
        text, system = prompt.text, prompt.system
        identity: Hashable = text if media is None else (text, media.names(row))
        return _Asked(prompt, 1, len(text) + (len(system) if system else 0), identity)

    return ask


def _ask_choices(spec: BenchmarkSpec, prompt: Prompt, row: Row) -> _Asked:
    from benchwright.scorers import reread_target

    choices = resolve_choices(spec, row)
    if choices is None:
        raise missing_choices(spec, row)
    chars = len(prompt.flat) * len(choices) + sum(map(len, choices))
    found = tuple(choices)
    reread = spec.candidates is None and reread_target(target_of(spec, row), found) is not None
    return _Asked(prompt, len(found), chars, (prompt.text, found), found, reread=reread)


def _ask_nothing(spec: BenchmarkSpec, prompts: PromptBuilder, row: Row) -> _Asked:
    response = response_of(spec, row)
    try:
        prompt = prompts.build(row)
    except MissingFieldError:  # nobody is asked: the prompt is only for the record
        prompt = Prompt("")
    return _Asked(prompt, 0, 0, (prompt.text, response))


def _ask_turns(spec: BenchmarkSpec, prompt: Prompt, turns: list[str]) -> _Asked:
    later = turns if spec.prompt else turns[1:]
    cut_from = 1 + len(later) if 1 + len(later) > spec.max_turns else 0
    later = later[: spec.max_turns - 1]
    # Each request sends all user turns before it again; the model's replies are not known yet.
    sent = length = len(prompt.text) + len(prompt.system or "")
    for turn in later:
        length += len(turn)
        sent += length
    return _Asked(prompt, 1 + len(later), sent, (prompt.text, *later), cut_from=cut_from)
