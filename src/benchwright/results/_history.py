"""One benchmark over time: the headline of each run of a name, and what changed since the run before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

from benchwright.core import rfc3339
from benchwright.results._found_runs import FoundRun
from benchwright.results._gates.names import Baselines
from benchwright.results._kinds import RUN_KINDS, view_of
from benchwright.store import RunRecord, Store, whole

_LOOKED = 20
"""Runs read at a time in search of an earlier one with a result."""


class HistoryRun(Struct, frozen=True, kw_only=True):
    """One run in the history of its name."""

    run_id: int
    """Its number."""
    kind: str
    model: str
    status: str
    created_at: str
    """Its start: UTC, RFC 3339."""
    comparable: bool | None
    """Whether its figures may be compared with others; None while there are none."""
    headline: dict[str, Any] | None
    """Its headline, as in a list of runs; a load test has only `text`."""
    before: int | None
    """The run before it, of the same kind and with a result; None: there is none, or this one has no result."""
    breaks: list[str]
    """Why it cannot be compared with the run before it, in the words of `compare`."""
    changes: list[dict[str, Any]]
    """The model and the settings that differ from the run before it: `path`, `run_a` (before), `run_b`."""
    baselines: list[str]
    """The names of baselines that it is."""
    gates: list[dict[str, Any]]
    """The verdicts that gates gave to it, the last of each policy and baseline: `verdict`, `policy`, `baseline`, `created_at`."""


class History(Struct, frozen=True):
    """The runs of one name, oldest first."""

    name: str
    metric: str | None
    """The headline of the newest run that has one as a number. Other runs may have another."""
    runs: list[HistoryRun]
    """The runs of this page."""
    breaks: int
    """How many of them cannot be compared with the run before."""
    next: int | None
    """The `after` of the page with older runs; None: there are none."""

    @classmethod
    def of(
        cls,
        store: Store,
        name: str,
        harmless: Collection[str] = (),
        *,
        after: int | None = None,
        limit: int = 100,
    ) -> History:
        """The newest runs of a name; with `after`, those before that run. `harmless` names settings that change no result."""
        found = store.runs(name=name, after=after, limit=limit + 1)
        shown = [whole(store, run) for run in reversed(found[:limit])]
        blessed = _blessed(store, name)
        last: dict[str, RunRecord | None] = {}
        runs = []
        for run in shown:
            if run.kind not in last:
                last[run.kind] = _with_result(store, run)
            before = last[run.kind] if _has_result(run) else None
            gates = cls.verdicts(store, run.id) if run.kind in RUN_KINDS and RUN_KINDS[run.kind].judge else []
            runs.append(_of(run, before, harmless, blessed.get(FoundRun.title_of(run), []), gates))
            if _has_result(run):
                last[run.kind] = run
        metrics = [
            run.headline["name"] for run in runs if run.headline is not None and "name" in run.headline
        ]
        return cls(
            name,
            metrics[-1] if metrics else None,
            runs,
            sum(bool(run.breaks) for run in runs),
            shown[0].id if len(found) > limit else None,
        )

    @staticmethod
    def verdicts(store: Store, run_id: int) -> list[dict[str, Any]]:
        """The verdicts that gates gave to a run, the last of each policy and baseline."""
        found: dict[tuple[Any, Any], dict[str, Any]] = {}
        for event in store.events(run_id):
            if event.kind == "run.judged" and isinstance(event.data, dict):
                told = {name: event.data.get(name) for name in ("verdict", "policy", "baseline")}
                found[told["policy"], told["baseline"]] = {**told, "created_at": rfc3339(event.created_at)}
        return list(found.values())


def _of(
    run: RunRecord,
    before: RunRecord | None,
    harmless: Collection[str],
    baselines: list[str],
    gates: list[dict[str, Any]],
) -> HistoryRun:
    view = view_of(run)
    headline: Any = view.to_json()["headline"]
    return HistoryRun(
        run_id=run.id,
        kind=run.kind,
        model=view.model_title,
        status=view.status,
        created_at=rfc3339(view.created_at),
        comparable=view.comparable,
        headline=headline,
        before=None if before is None else before.id,
        breaks=[] if before is None else list(RUN_KINDS[run.kind].breaks(before, run)),
        changes=[] if before is None else list(_changes(before, run, harmless)),
        baselines=baselines,
        gates=gates,
    )


def _changes(a: RunRecord, b: RunRecord, harmless: Collection[str]) -> Iterator[dict[str, Any]]:
    models = view_of(a).model_title, view_of(b).model_title
    if models[0] != models[1]:
        yield {"path": "$.model", "run_a": models[0], "run_b": models[1]}
    differences = RUN_KINDS[b.kind].changes
    if differences is not None:
        found: Any = differences(a, b, harmless)["differences"]
        yield from found


def _has_result(run: RunRecord) -> bool:
    """Whether a run can be compared; one of a kind that only a newer version knows cannot."""
    return run.kind in RUN_KINDS and RUN_KINDS[run.kind].has_result(run)


def _with_result(store: Store, run: RunRecord) -> RunRecord | None:
    """The newest run of the same name and kind with a result, of those before a run."""
    after = run.id
    while found := store.runs(name=run.name, kind=run.kind, after=after, limit=_LOOKED):
        for each in found:
            if _has_result(each):
                return whole(store, each)
        after = found[-1].id
    return None


def _blessed(store: Store, name: str) -> dict[str, list[str]]:
    """The names of baselines by the titles of their runs."""
    found: dict[str, list[str]] = {}
    for label, moves in Baselines(store.workspace).histories().items():
        if moves[-1].benchmark == name:
            found.setdefault(moves[-1].source, []).append(label)
    return found
