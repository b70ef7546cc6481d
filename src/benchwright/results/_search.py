"""Searches all runs of a store for a text: their names, models and tags, and what was sent, replied, expected and judged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from benchwright.core import JsonObject, UsageError, exact_json
from benchwright.results._kinds import RUN_KINDS, view_of
from benchwright.store import RunRecord, Store

MOST_LOOKED = 20_000
"""Records that one page looks at. A page answers soon, and tells how far it came."""
_MOST_RUNS = 50
"""Runs named on a page."""
_AROUND = 90
"""Characters on either side of what was found."""
_CURSOR = re.compile(r"(\d{1,15}):([a-z]*(?:/[0-9a-z]{1,12}){0,4})")


class NamedRun(Struct, frozen=True):
    """A run whose name, target, model or tags contain the text."""

    run_id: int
    """Its number."""
    kind: str
    name: str
    model: str
    status: str


class FoundSample(Struct, frozen=True):
    """A sample with the text."""

    run_id: int
    name: str
    """The name of the run."""
    model: str
    """The model of the run."""
    sample_id: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    field: str
    """Where it is: prompt, reply, reasoning, target or judge."""
    before: str
    """What precedes it."""
    match: str
    """The text as it is there."""
    after: str
    """What follows it."""


class SearchPage(Struct, frozen=True):
    """Part of a search, the newest run first."""

    q: str
    """The text."""
    runs: list[NamedRun]
    """Runs with the text in their names, models or tags; on the first page only, and at most 50."""
    samples: list[FoundSample]
    """Samples with the text."""
    looked: int
    """Records of samples that this page looked at."""
    runs_looked: int
    """Benchmark runs whose samples were looked at so far, over all pages, the last one perhaps in part."""
    runs_there: int
    """Benchmark runs in all."""
    next: str | None
    """The `after` of the next page; None: everything was looked at."""

    def to_json(self) -> JsonObject:
        """All fields."""
        from benchwright.core import as_json

        found: JsonObject = as_json(self)
        return found

    @classmethod
    def of(
        cls, store: Store, q: str, *, after: str | None = None, limit: int = 50, most: int = MOST_LOOKED
    ) -> SearchPage:
        """Look for a text in any case. `after` is `next` of the page before. Raises UsageError for a text of nothing but spaces, and
        for an `after` that is no such place."""
        if not q.strip():
            raise UsageError("there is no text to search for")
        place = _CURSOR.fullmatch(after) if after is not None else None
        if after is not None and place is None:
            raise UsageError(
                f"{after[:40]!r} is not where a page of a search ended. Give `next` of the page before"
            )
        runs = store.runs()
        searched = [run for run in runs if run.kind in RUN_KINDS and RUN_KINDS[run.kind].samples is not None]
        first, key = (int(place[1]), place[2]) if place is not None else (None, "")
        passed = 0 if first is None else sum(run.id > first for run in searched)
        found: list[FoundSample] = []
        looked = 0
        for number, run in enumerate(searched[passed:], passed + 1):
            hits, seen, last = store.find_text(
                run.id, q, after=key if run.id == first else "", limit=limit - len(found), most=most - looked
            )
            found += (_sample(run, hit, q) for hit in hits)
            looked += seen
            nothing_left = last is None and number == len(searched)
            if not nothing_left and (last is not None or len(found) == limit or looked >= most):
                following = f"{run.id}:{last}" if last is not None else f"{searched[number].id}:"
                named = list(_named(runs, q)) if after is None else []
                return cls(q, named, found, looked, number, len(searched), following)
        named = list(_named(runs, q)) if after is None else []
        return cls(q, named, found, looked, len(searched), len(searched), None)


def _named(runs: list[RunRecord], q: str) -> Iterator[NamedRun]:
    wanted, left = q.casefold(), _MOST_RUNS
    for run in runs:
        view = view_of(run)
        tags = "" if run.tags is None else exact_json(run.tags).decode()
        texts = (view.name, view.suite or "", view.target, view.model_title, tags)
        if left and any(wanted in each.casefold() for each in texts):
            left -= 1
            yield NamedRun(run.id, run.kind, view.name, view.model_title, view.status)


def _sample(run: RunRecord, hit: tuple[str, str, str], q: str) -> FoundSample:
    key, field, content = hit
    _, row, repeat, *_ = key.split("/")
    span = re.search(re.escape(q), content, re.IGNORECASE)
    start, end = (
        span.span() if span else (0, 0)
    )  # a letter that becomes two, such as ß, has no place of its own
    before = content[max(0, start - _AROUND) : start]
    after = content[end : end + _AROUND]
    return FoundSample(
        run.id,
        run.name,
        view_of(run).model_title,
        int(row),
        int(repeat),
        field,
        ("…" if start > _AROUND else "") + before,
        content[start:end],
        after + ("…" if len(content) > end + _AROUND else ""),
    )
