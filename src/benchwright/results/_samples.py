"""Views of samples: one by one, listed, and streamed."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import orjson
from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import (
    JsonObject,
    JsonValue,
    ModelReply,
    NotFoundError,
    RecordColumns,
    RunKind,
    RunSummary,
    SampleRecord,
    UsageError,
    late_pattern,
)
from benchwright.results._sample_columns import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    DecodedSteps,
    SampleView,
    columns_of,
    in_blocks,
    sample_columns,
)
from benchwright.results._tool_calls import CallsView, calls_view
from benchwright.store import (
    Page,
    RecordedStep,
    RunRecord,
    SampleFilter,
    SampleOrder,
    SampleSteps,
    Store,
    place_of,
)

if TYPE_CHECKING:
    from benchwright.results._clusters import SampleTexts


class SampleDetails(Struct, frozen=True):
    """A sample with what judges replied about it."""

    sample: SampleView
    judges: Mapping[int, ModelReply] = {}
    """What judges replied, by the 0-based number of the question."""
    calls: CallsView | None = None
    """The functions that it called, next to the expected ones; None if it is not about calls."""
    name: str | None = None
    """The name that a workflow gave its row."""

    @property
    def title(self) -> str:
        """As `show` takes it: the name of a workflow's row, else row and repeat."""
        return self.name or f"{self.sample.sample_id}/{self.sample.repeat}"

    @property
    def reason(self) -> str | None:
        """What judges wrote about it, without the lines of their grades; None if no judge graded it."""
        return judges_reason(self.judges.values()) if self.sample.grade is not None else None

    def to_json(self) -> JsonObject:
        """The sample, `judges` (`{number, status, text, error}`), `calls` if it is about calls, and the `name` of a workflow's row."""
        judges: list[JsonValue] = [
            {
                "number": number,
                "status": reply.status,
                "text": reply.text,
                "error": None if reply.failure is None else reply.failure.message,
            }
            for number, reply in self.judges.items()
        ]
        calls: JsonObject = {} if self.calls is None else {"calls": self.calls.to_json()}
        named: JsonObject = {} if self.name is None else {"name": self.name}
        return {**self.sample.to_json(), "reason": self.reason, "judges": judges, **calls, **named}


_GRADE_LINE = late_pattern(r"^\W*GRADE\W*:.*$", re.IGNORECASE | re.MULTILINE)


def judges_reason(replies: Iterable[ModelReply]) -> str | None:
    """What judges wrote, without the lines of their grades; None if that is nothing."""
    said = (_GRADE_LINE.sub("", reply.text or "").strip() for reply in replies)
    return "\n".join(filter(None, said)) or None


class SampleList(Struct, frozen=True):
    """Samples of a run: those that a filter passes, or the repeats of a row in full."""

    run_id: int
    samples: tuple[SampleDetails, ...]
    """In row order."""
    next: int | None = None
    """Where the list continues: the `after` of the next page; None if these are all."""
    empty: str = "no samples"
    """The text if there are none."""
    note: str = ""
    """What the list does not show: samples that are neither right nor wrong."""
    shown: tuple[str, ...] = ()
    """Metrics whose values a table shows, because the list is filtered or sorted by them."""
    reasons: bool = False
    """Whether a table shows why each failed, in place of its prompt and reply."""
    in_full: bool = False
    """Whether a table shows everything about each."""

    def named(self, numbers: Mapping[str, int]) -> SampleList:
        """The same with the names of a workflow's rows, given their numbers."""
        names = {number: name for name, number in numbers.items()}
        return replace(
            self, samples=tuple(replace(each, name=names.get(each.sample.sample_id)) for each in self.samples)
        )

    def to_json(self) -> JsonObject:
        """`{run_id, samples, next, note}`; the note is null, or tells of samples that are neither right nor wrong."""
        return {
            "run_id": self.run_id,
            "samples": [sample.to_json() for sample in self.samples],
            "next": self.next,
            "note": self.note or (self.empty if not self.samples and not self.in_full else None),
        }


_MOST_KEPT_ROWS = 2_000
"""Maximum number of samples of a run whose samples are kept."""
_MOST_KEPT_BYTES = 4_000_000
"""Maximum size of their recorded text."""


class RunSamples:
    """The samples of a run in row order. Writers of files get this instead of the store.

    Every pass reads them again. With `keep`, the columns and replies of a short run are read once for all passes, because
    reading and decoding them takes longer than writing any one file.
    """

    def __init__(self, store: Store, run: RunRecord, *, keep: bool = False) -> None:
        self._store = store
        self._run = run
        self._keeps = keep
        self._kept: list[tuple[DecodedSteps, int]] | None = None

    def __iter__(self) -> Iterator[SampleView]:
        return StoreSamples.views(self._store, self._run.id)

    def predictions(self) -> Iterator[tuple[SampleView, JsonObject | None]]:
        """One by one, each with its error: `kind`, `message` and `http_status` of the failure."""
        for samples, _ in in_blocks(self._store.samples(self._run.id)):
            for view, steps in zip(StoreSamples.views_of(samples), samples, strict=True):
                yield view, None if view.error is None else _error(view, steps)

    def reason(self, view: SampleView) -> str | None:
        """What judges wrote about one of them."""
        found = StoreSamples.judge_replies(self._store, self._run.id, view.sample_id)
        return judges_reason(found.get(view.repeat, {}).values())

    def columns(self, names: Collection[str]) -> Iterator[dict[str, Sequence[Any]]]:
        """Some fields of `SampleView` by name, block by block."""
        for steps, _ in self._decoded():
            yield columns_of(steps, names)

    def calls(self, rows: int) -> Iterator[list[RecordedStep]]:
        """The calls of the first `rows` rows to the model, not to judges, block by block, in the order of rows, repeats and
        calls."""
        for first in range(0, rows, BLOCK_ROWS):
            found = self._store.calls(self._run.id, first, min(first + BLOCK_ROWS, rows) - 1)
            yield [found[key] for key in sorted(found)]

    def first_request(self) -> bytes | None:
        """The body of the request of the first sample, as an example; None if none was sent."""
        kept = self._kept_steps()
        if kept is not None:
            return kept[0][0].bodies[0] if kept else None
        first = next(self._store.samples(self._run.id), None)
        return None if first is None else first.call_input

    def replies(self, rows: int) -> Iterator[RecordColumns]:
        """The replies to the same calls, block by block."""
        kept = self._kept_steps()
        if kept is not None:
            outputs = [[output for output in steps.outputs if output is not None] for steps, _ in kept]
            # As many calls as samples with a call: no sample has several calls, and no call lacks a score.
            if self._store.count_steps(self._run.id, "call") == sum(map(len, outputs)):
                for (steps, _), given in zip(kept, outputs, strict=True):
                    if given:
                        whole = len(given) == len(steps.outputs)
                        yield steps.replies if whole else ModelReply.columns(given)
                return
        for calls in self.calls(rows):
            if calls:
                yield ModelReply.columns([call.output for call in calls])

    def keep_overview(self, found: JsonObject) -> None:
        """Keep what was found in all samples with the run."""
        self._store.keep_overview(self._run, found)

    def _decoded(self) -> Iterator[tuple[DecodedSteps, int]]:
        kept = self._kept_steps()
        if kept is not None:
            return iter(kept)
        found = in_blocks(self._store.samples(self._run.id))
        return ((DecodedSteps(samples), size) for samples, size in found)

    def _kept_steps(self) -> list[tuple[DecodedSteps, int]] | None:
        """The steps of a short run with their sizes, read on first use; None if they are not kept."""
        if not self._keeps or self._kept is not None:
            return self._kept
        self._keeps = self._store.count_steps(self._run.id, "score") <= _MOST_KEPT_ROWS
        held, kept = 0, []
        for samples, size in in_blocks(self._store.samples(self._run.id)) if self._keeps else ():
            held += size
            if held > _MOST_KEPT_BYTES:
                self._keeps = False
                return None
            kept.append((DecodedSteps(samples), size))
        self._kept = kept if self._keeps else None
        return self._kept

    def blocks(self, most_rows: int, most_bytes: int) -> Iterator[tuple[dict[str, Sequence[Any]], int]]:
        """The samples in blocks, each of which exceeds the limits by at most its last sample: the fields of `SampleView` by name, each with
        a value per sample, and the bytes of recorded text."""
        if most_rows >= BLOCK_ROWS and most_bytes >= BLOCK_BYTES:
            for steps, size in self._decoded():
                yield columns_of(steps), size
            return
        for samples, size in in_blocks(self._store.samples(self._run.id), most_rows, most_bytes):
            yield sample_columns(samples), size

    @property
    def identity(self) -> str:
        """A text that distinguishes the samples of this run from those of every other run in every workspace."""
        return f"benchwright:{self._store.workspace.root}#{self._run.id}"


class SamplePages(Protocol):
    """The samples of one run by page, wherever they are."""

    def page(self, where: SampleFilter, *, after: int | None = None, limit: int = 100) -> Page[SampleView]:
        """Samples that pass a filter, in sample order, at most `limit`; `after` is `next` of the page before. A page that looks
        for a text searches a limited number of samples: it may be shorter though `next` says where the search continues."""
        ...


class StoreSamples:
    """The samples of a run in the store."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store, self._run_id = store, run_id

    @staticmethod
    def of(store: Store, run: RunRecord) -> StoreSamples:
        """The samples of a run in the order in which they are paired with those of another."""
        return (_NamedRows if run.kind == RunKind.WORKFLOW else StoreSamples)(store, run.id)

    def scored(self) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row and record of every sample, in their order."""
        return self._store.scored(self._run_id)

    def row_texts(self) -> Iterator[tuple[int, bytes | None]]:
        """Number and JSON of the row of every sample, in their order."""
        return self._store.row_texts(self._run_id)

    def rows_scored(self) -> Iterator[tuple[bytes, bytes | None, bytes]]:
        """Hash of the row, JSON of the row and record of every sample, in their order."""
        return self._store.rows_scored(self._run_id)

    def page(
        self,
        where: SampleFilter,
        *,
        after: int | None = None,
        limit: int = 100,
        order: SampleOrder | None = None,
        patience_s: float | None = None,
    ) -> Page[SampleView]:
        """Samples that pass a filter, in an order, at most `limit`; `after` is `next` of the page before. Its time hardly grows with
        the run, once the figure of its order is indexed: after `patience_s`, `indexed` tells how far that is. Raises UsageError for an `after` at which no sample is, such as a bare row number: the page would begin
        somewhere else."""
        if after is not None:
            before = self._store.page_samples(self._run_id, after=after - 1 if after else None, limit=1).items
            if not before or place_of(*before[0][:2]) != after:
                raise UsageError(
                    f"no page of run {self._run_id} ended at {after}. To continue a list, give `next` of the page before"
                )
        found = self._store.page_samples(
            self._run_id, where, after=after, limit=limit, order=order, patience_s=patience_s
        )
        return Page(
            list(StoreSamples.views_of(found.items)) if found.items else [],
            found.next,
            found.looked,
            found.indexed,
        )

    def with_judges(self, views: Iterable[SampleView]) -> Iterator[SampleDetails]:
        """Samples with what judges wrote about them."""
        for view in views:
            said = {} if view.grade is None else self.judge_replies(self._store, self._run_id, view.sample_id)
            yield SampleDetails(view, said.get(view.repeat, {}))

    def verdict_note(self) -> str:
        """What a reader of right and wrong samples must know: how many are neither, and how to see them. Empty if there are none."""
        from benchwright.results._kinds import kind_of  # which knows this

        run = self._store.run(self._run_id)
        samples = kind_of(run).samples
        summary = None if samples is None else samples(self._store, run)[0].result
        return verdict_note(self._store, self._run_id, summary)

    def changed_from(self, other: int) -> Sequence[int]:
        """The places of the samples whose outcome or scores differ from those of another run, paired as `compare` pairs them, for a
        filter. Rows that only one of the runs has are not among them."""
        from benchwright.results._pairing import changed_places  # not for runs

        readers = []
        for run in map(self._store.run, (other, self._run_id)):
            if run.kind == RunKind.LOAD or not self._store.count_steps(run.id, "score"):
                raise UsageError(f"run {run.id} ({run.name}) has no samples: there is nothing to compare")
            readers.append(StoreSamples.of(self._store, run))
        known = self._store.differing(self._run_id, other)
        return array("q", sorted(changed_places(readers[0], readers[1], known)))

    def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
        """Prompts and replies of some samples, by row and repeat."""
        from benchwright.results._clusters import SampleTexts  # not for runs

        rows = sorted({row for row, _ in keys})
        views = (view for row in rows for view in StoreSamples.views(self._store, self._run_id, row))
        return {
            (view.sample_id, view.repeat): SampleTexts(view.prompt, view.response, view.metadata)
            for view in views
            if (view.sample_id, view.repeat) in keys
        }

    @staticmethod
    def views(store: Store, run_id: int, index: int | None = None) -> Iterator[SampleView]:
        """All samples of a run in row order, streamed; or the repeats of one row."""
        for samples, _ in in_blocks(store.samples(run_id, index)):
            yield from StoreSamples.views_of(samples)

    @staticmethod
    def judge_replies(store: Store, run_id: int, index: int) -> dict[int, dict[int, ModelReply]]:
        """What judges replied about one row, by repeat and by the number of the question."""
        found: dict[int, dict[int, ModelReply]] = {}
        for key, step in sorted(store.recorded(run_id, "judge", index, index).items()):
            _, _, repeat, number = key.split("/")
            found.setdefault(int(repeat), {})[int(number)] = ModelReply.from_json(orjson.loads(step.output))
        return found

    @staticmethod
    def views_of(samples: Sequence[SampleSteps]) -> Iterator[SampleView]:
        return map(SampleView._make, zip(*sample_columns(samples).values(), strict=True))


class _NamedRows(StoreSamples):
    """The rows of a workflow in the order of their names: their numbers follow the order in which they ended, which differs from run to
    run, so that copies of a row would be paired by chance."""

    @cached_property
    def _names(self) -> dict[int, str]:
        """The names of the rows by their numbers, sorted by name."""
        found = [
            (str(SampleRecord.score_fields(text).get("name")), number)
            for number, _, _, text in super().scored()
        ]
        return {number: name for name, number in sorted(found)}

    def scored(self) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row and record of every sample, by the names of the rows."""
        found = {each[0]: each for each in super().scored()}
        return (found[number] for number in self._names if number in found)

    def row_texts(self) -> Iterator[tuple[int, bytes | None]]:
        """Number and JSON of the row of every sample, by the names of the rows."""
        found = dict(super().row_texts())
        return ((number, found[number]) for number in self._names if number in found)

    def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
        """Prompts, replies and names of some rows, by number and repeat."""
        return {key: each._replace(name=self._names.get(key[0])) for key, each in super().texts(keys).items()}


def listed_samples(
    samples: StoreSamples,
    run_id: int,
    where: SampleFilter,
    *,
    after: int | None = None,
    limit: int = 100,
    order: SampleOrder | None = None,
    empty: str = "no samples",
    reasons: bool = False,
) -> SampleList:
    """Samples of a run that pass a filter, as many as `limit` if there are; the texts are for tables."""
    found: list[SampleView] = []
    while True:  # a page searches a limited number of samples for a text
        page = samples.page(where, after=after, limit=limit - len(found), order=order)
        found += page.items
        after = page.next
        if after is None or len(found) == limit:
            break
    return SampleList(run_id, tuple(map(SampleDetails, found)), after, empty, reasons=reasons)


def verdict_note(store: Store, run_id: int, summary: RunSummary | None) -> str:
    """What a reader of right and wrong samples must know: how many are neither, and how to see them. Empty if there are none."""
    counts: Counter[str] = Counter()
    for facet, samples in store.sample_counts(run_id).items():
        counts[facet.verdict] += samples * facet.scored
    name = None if summary is None else summary.main_metric
    if not counts[""] or name is None:
        return ""
    way = f"Lowest first: benchwright show {run_id} --sort {name}"
    if counts["right"] or counts["wrong"]:
        are = "sample is" if counts[""] == 1 else "samples are"
        return f"{counts['']:,} {are} neither right nor wrong: {name} is between. {way}"
    cure = " Declare one with judge_score(…, pass_mark=…)." if name.startswith("judge") else ""
    return f"No sample is right or wrong: {name} is a scale without a pass mark.{cure} {way}"


def find_samples(store: Store, run_id: int, requested: str) -> SampleList:
    """The repeats of a row: `12`, or one of them: `12/0`. The text of `NotFoundError` says which samples exist."""
    row, _, repeat = requested.partition("/")
    if not row.isdigit() or not (repeat.isdigit() or "/" not in requested):
        raise NotFoundError(
            f"sample {requested!r} is not a row number. Rows count from 0; 12/1 is the second repeat of row 12"
        )
    found = list(StoreSamples.views(store, run_id, int(row)))
    if repeat:
        found = [view for view in found if view.repeat == int(repeat)]
    if not found:
        count = store.count_steps(run_id, "score")
        raise NotFoundError(
            f"run {run_id} has no sample {requested}; it has {count} samples, counted from 0. "
            f"See: benchwright show {run_id}"
        )
    judges = StoreSamples.judge_replies(store, run_id, int(row))
    calls = {
        steps.repeat: calls_view(SampleRecord.from_score(steps.score))
        for steps in store.samples(run_id, int(row))
    }
    details = [SampleDetails(view, judges.get(view.repeat, {}), calls.get(view.repeat)) for view in found]
    return SampleList(run_id, tuple(details), in_full=True)


def _error(view: SampleView, steps: SampleSteps) -> JsonObject:
    error: JsonObject = {"kind": view.outcome, "message": view.error}
    if view.outcome == "request_failed" and steps.call_output is not None:
        failure = orjson.loads(steps.call_output).get("x")
        if failure:
            error["kind"], error["http_status"] = failure[0], failure[2]
    return error
