"""All runs of a workspace in brief, kept up to date by their marks: lists are filtered and sorted here, and live pages learn what changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from benchwright.core import RUN_STATUSES
from benchwright.results import rules_key
from benchwright.server._answers import event
from benchwright.server._bodies import HistoryPoint, LiveRuns, RunBody, RunPage, run_body
from benchwright.server._guard import Refusal
from benchwright.store import Store, listed_run, whole

if TYPE_CHECKING:
    from benchwright.server._handlers import RestCall
    from benchwright.server._state import ServerState

POLL_S = 0.25
"""Seconds between two looks at the records, while somebody watches."""
ALIVE_S = 15.0
"""Seconds after which a stream without news shows that it is alive."""
MOST_POINTS = 30
"""Most runs in the history beside a name."""
_COLD = 200
"""Runs read at a time while the catalogue fills, so that other reads need not wait for all of them."""


class Catalogue:
    """The runs of one workspace. It is used by one thread, that of the reads."""

    def __init__(self) -> None:
        self._marks: dict[int, tuple[object, ...]] = {}
        self._told: dict[int, tuple[object, ...]] = {}
        self._bodies: dict[int, RunBody] = {}
        self._rules: dict[int, int] = {}

    def refresh(self, store: Store) -> None:
        """Read what changed since the last look."""
        marks = store.run_marks()
        stale = [run_id for run_id, mark in marks.items() if self._marks.get(run_id) != mark]
        removed = [run_id for run_id in self._marks if run_id not in marks]
        for run_id in removed:
            self._bodies.pop(run_id, None)
            self._rules.pop(run_id, None)
        if len(stale) > _COLD:  # the first look: all at once
            wanted = set(stale)
            found = {run.id: run for run in store.runs() if run.id in wanted}
        else:
            found = {}
            for run_id in stale:
                with suppress(LookupError):
                    found[run_id] = store.runs(after=run_id + 1, limit=1)[0]
        for run_id, run in found.items():
            if run.id != run_id:  # deleted meanwhile
                marks.pop(run_id)
                continue
            record = whole(store, run)
            self._bodies[run_id], self._rules[run_id] = run_body(record, brief=True), rules_key(record)
        self._marks = marks

    def begin_telling(self) -> None:
        """Take all that is known for told: the pages that watch from now on read it themselves."""
        self._told = self._marks

    def news(self) -> LiveRuns | None:
        """What the pages that watch were not told yet, whoever made the catalogue look; None: nothing."""
        told, self._told = self._told, self._marks
        changed = [run_id for run_id, mark in self._marks.items() if told.get(run_id) != mark]
        removed = [run_id for run_id in told if run_id not in self._marks]
        if not changed and not removed:
            return None
        runs = [self._bodies[run_id] for run_id in sorted(changed) if run_id in self._bodies]
        return LiveRuns(runs, removed, self.last)

    @property
    def last(self) -> int:
        """The number of the newest run."""
        return max(self._bodies, default=0)

    def live(self) -> list[RunBody]:
        """Runs that are queued or running, oldest first."""
        return [self._bodies[run_id] for run_id in sorted(self._bodies) if is_live(self._bodies[run_id])]

    def page(self, query: Mapping[str, Any]) -> tuple[list[RunBody], int | None, int]:
        """A page of runs that pass the filter, the cursor of the next page, and how many pass in all."""
        found = [body for body in self._bodies.values() if _passes(body, query)]
        _sort(found, query["sort"] or "newest")
        start, after = 0, query["after"]
        if after is not None:
            places = {body.id: place for place, body in enumerate(found)}
            if after in places:
                start = places[after] + 1
            elif query["sort"] in (None, "newest"):
                start = next((place for place, body in enumerate(found) if body.id < after), len(found))
            else:
                raise Refusal(422, "invalid", f"after is {after}, and that run does not pass the filter", "begin again without it")  # fmt: skip
        shown = found[start : start + query["limit"]]
        more = start + len(shown) < len(found)
        return shown, shown[-1].id if more else None, len(found)

    def of_suite(self, name: str) -> list[int]:
        """The numbers of the runs of a suite, newest first."""
        return sorted((run_id for run_id, body in self._bodies.items() if body.suite == name), reverse=True)

    def histories(self, shown: list[RunBody]) -> dict[str, list[HistoryPoint]]:
        """The headlines of the last runs of each name that is shown: those with the metric of the newest one."""
        names = {body.name for body in shown if body.headline and "value" in body.headline}
        points: dict[str, list[tuple[int, float]]] = {}
        metrics: dict[str, str] = {}
        for run_id in sorted(self._bodies, reverse=True):
            body = self._bodies[run_id]
            if body.name not in names or not body.headline or "value" not in body.headline:
                continue
            if metrics.setdefault(body.name, body.headline["name"]) != body.headline["name"]:
                continue
            of_name = points.setdefault(body.name, [])
            if len(of_name) < MOST_POINTS:
                of_name.insert(0, (run_id, body.headline["value"]))
        return {name: list(self._joined(found)) for name, found in points.items()}

    def _joined(self, points: list[tuple[int, float]]) -> Iterator[HistoryPoint]:
        before = None
        for run_id, value in points:
            rules = self._rules[run_id]
            yield HistoryPoint(run_id, value, rules == before)
            before = rules

    def choices(self) -> dict[str, list[str]]:
        """The values by which runs can be filtered."""
        found: dict[str, set[str]] = defaultdict(set)
        for body in self._bodies.values():
            found["name"].add(body.name)
            found["model"].update(each for each in (body.model, body.model_name) if each)
            found["suite"].update([body.suite] if body.suite else [])
            found["tag"].update(f"{name}={value}" for name, value in (body.tags or {}).items())
            if body.data:
                found["data"].add(body.data["hash"])
        return {field: sorted(found[field]) for field in ("name", "model", "suite", "tag", "data")}


def is_live(body: RunBody) -> bool:
    """Whether a run is queued or running."""
    known = RUN_STATUSES.get(body.status)  # type: ignore[call-overload]
    return known is not None and bool(known.live)


def _passes(body: RunBody, query: Mapping[str, Any]) -> bool:
    for field in ("kind", "name", "status", "suite"):
        if query[field] is not None and getattr(body, field) != query[field]:
            return False
    if query["model"] is not None and query["model"] not in (body.model, body.model_name):
        return False
    if query["data"] is not None and not (body.data and body.data["hash"].removeprefix("sha256:").startswith(query["data"].removeprefix("sha256:"))):  # fmt: skip
        return False
    if query["tag"] is not None:
        name, equals, value = query["tag"].partition("=")
        tags = body.tags or {}
        if name not in tags or (equals and str(tags[name]) != value):
            return False
    return all(word in _words(body) for word in (query["q"] or "").lower().split())


def _words(body: RunBody) -> str:
    """The texts in which the search box looks."""
    tags = " ".join(f"{name}={value}" for name, value in (body.tags or {}).items())
    data = "" if body.data is None else f"{body.data['name']} {body.data['hash']}"
    headline = "" if body.headline is None else str(body.headline.get("name", ""))
    parts = (f"#{body.id}", body.name, body.model, body.model_name, body.suite, body.target, body.status, body.kind, headline, tags, data)  # fmt: skip
    return " ".join(filter(None, parts)).lower()


def _headline(body: RunBody) -> float | None:
    return None if body.headline is None else body.headline.get("value")


_SORTS: dict[str, tuple[Callable[[RunBody], Any], bool]] = {
    "newest": (lambda body: body.id, True),
    "oldest": (lambda body: body.id, False),
    "name": (lambda body: body.name.lower(), False),
    "model": (lambda body: (body.model_name or body.model or "").lower() or None, False),
    "headline": (_headline, True),
    "failures": (lambda body: body.failed, True),
    "cost": (lambda body: (body.cost or {}).get("amount"), True),
    "duration": (lambda body: body.duration_s, True),
}
SORTS = tuple(_SORTS)
"""Orders of lists. Runs that have no such value come last."""


def _sort(found: list[RunBody], order: str) -> None:
    """Sort runs; equal ones newest first."""
    value, down = _SORTS[order]
    found.sort(key=lambda body: body.id, reverse=True)
    if order == "newest":
        return
    missing = [body for body in found if value(body) is None]
    known = [body for body in found if value(body) is not None]
    known.sort(key=value, reverse=down)
    found[:] = known + missing


class Live:
    """Looks at the records for all open pages together, while there are any."""

    def __init__(self) -> None:
        self._readers: set[asyncio.Queue[bytes]] = set()
        self._looking: asyncio.Task[None] | None = None

    async def read(self, state: ServerState) -> AsyncIterator[bytes]:
        """Events for one page, until it goes away."""
        news: asyncio.Queue[bytes] = asyncio.Queue()
        with state.use.streaming():
            alone = not self._readers
            self._readers.add(news)  # before its first look, so that no change falls between the two
            try:
                yield event(await state.read(lambda store: _first(state.catalogue, store, alone)))
                if self._looking is None:
                    self._looking = asyncio.create_task(self._look(state))
                while True:
                    try:
                        told = await asyncio.wait_for(news.get(), ALIVE_S)
                    except TimeoutError:
                        told = b": still here\n\n"
                    if not told:
                        return
                    yield told
            finally:
                self._readers.discard(news)
                if not self._readers and self._looking is not None:
                    self._looking.cancel()
                    self._looking = None

    async def _look(self, state: ServerState) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            if state.ending():  # the server does not stop while a response is open
                for news in self._readers:
                    news.put_nowait(b"")
                return
            try:
                found = await state.read(lambda store: _news(state.catalogue, store))
            except Exception as error:  # each page is told, and tries again
                told = event(error)
            else:
                if found is None:
                    continue
                told = event(found)
            for news in self._readers:
                news.put_nowait(told)


def _first(catalogue: Catalogue, store: Store, alone: bool) -> LiveRuns:
    catalogue.refresh(store)
    if alone:
        catalogue.begin_telling()
    return LiveRuns(catalogue.live(), [], catalogue.last)


def _news(catalogue: Catalogue, store: Store) -> LiveRuns | None:
    catalogue.refresh(store)
    return catalogue.news()


async def list_runs(state: ServerState, call: RestCall) -> RunPage:
    """List runs, newest first unless sorted otherwise; `brief` leaves out summaries, inputs and outputs."""
    query = call.query

    def read(store: Store) -> RunPage:
        catalogue = state.catalogue
        catalogue.refresh(store)
        shown, after, total = catalogue.page(query)
        histories = catalogue.histories(shown)
        if query["brief"] != "true":
            shown = [run_body(listed_run(store, body.id)) for body in shown]
        return RunPage(shown, after, total, histories, catalogue.choices())

    return await state.read(read)


async def watch_runs(state: ServerState, call: RestCall) -> AsyncIterator[bytes]:
    """Watch runs: an event with those that are live, then one for each change, within a second of its record."""
    return state.live.read(state)
