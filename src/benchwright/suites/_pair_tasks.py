"""The pairs of a call, and the runs that a work folder has of them already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace as replace_struct

from benchwright.benchmarks import QuestionOptions
from benchwright.config import HARMLESS
from benchwright.core import NotFoundError, UsageError, canonical_json, suggest
from benchwright.engine import RunSettings
from benchwright.reports import WorkRuns
from benchwright.runs import UNNAMED, Plan
from benchwright.store import RunRecord, Store
from benchwright.suites._pairs import Pair


class PairTask(Struct, frozen=True):
    """One model on one dataset: a run to start, to resume, or to score again."""

    model: str
    """The model's name in tables and folders."""
    dataset: str
    """The dataset's name in tables and folders."""
    plan: Plan | None = None
    """Its plan; None: that of the work folder's run."""
    run_id: int | None = None
    """The run that a work folder has of it."""

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.dataset} on {self.model}"


def new_tasks(pairs: Sequence[Pair]) -> list[PairTask]:
    """Pairs that are all new."""
    return [PairTask(pair.model, pair.dataset, pair.plan) for pair in pairs]


def with_known(pairs: Sequence[Pair] | None, known: WorkRuns, models: Sequence[str]) -> list[PairTask]:
    """Pairs with the runs that a work folder has of them; without pairs, all that it has (of these models)."""
    runs = {(task.model, task.dataset): task.run_id for task in known.tasks}
    if pairs is not None:
        return [
            PairTask(pair.model, pair.dataset, pair.plan, runs.get((pair.model, pair.dataset)))
            for pair in pairs
        ]
    there = list(dict.fromkeys(task.model for task in known.tasks))
    for name in models:
        if name not in there:
            raise NotFoundError(
                f"the work folder has no run of {name!r}.{suggest(name, there)} It has: {', '.join(there)}"
            )
    return [
        PairTask(task.model, task.dataset, None, task.run_id)
        for task in known.tasks
        if not models or task.model in models
    ]


def asked_run(store: Store, run_id: int) -> RunRecord:
    """The run that asked the model: a run that was scored again leads back to it."""
    run = store.run(run_id)
    while (source := run.settings.get("rescored_from")) is not None:
        run = store.run(int(str(source)))
    return run


def refuse_other(pair: PairTask, run: RunRecord, *, scoring: bool) -> None:
    """UsageError unless the run made the same requests and, unless it is scored again, scored by the same rules."""
    if pair.plan is None:
        return
    changes = _changes(RunSettings.from_json(run.settings), pair.plan.settings, scoring=scoring)
    if changes:
        again = "" if not scoring else ", or score its replies by other rules with --mode eval --reuse"
        raise UsageError(
            f"--reuse: run {run.id} ({pair.label}) is another experiment: {'; '.join(changes)}. "
            f"Leave --reuse off for a new run{again}"
        )


def named_by(source: RunRecord, plan: Plan) -> Plan:
    """The plan with the model that `source` asked, where only the server could have named it."""
    settings = plan.settings
    if settings.endpoint.model_id != UNNAMED:
        return plan
    name = RunSettings.from_json(source.settings).endpoint.model_id
    endpoint = replace(settings.endpoint, model_id=name)
    generation = settings.generation.but(model=name)
    return replace_struct(plan, settings=replace(settings, endpoint=endpoint, generation=generation))


def rescored(plan: Plan, source: RunRecord, label: str) -> Plan:
    """The plan of a run that scores what `source` asked, by the rules of `plan`."""
    settings = replace(plan.settings, rescored_from=source.id, infer_only=False, num_warmups=0)
    return replace_struct(plan, settings=settings, label=label)


def _changes(before: RunSettings, now: RunSettings, *, scoring: bool) -> list[str]:
    """Every setting that differs, unless it is known not to matter. Replies that are scored again are found by their
    requests, so that rows and the rules of a file of questions may differ then."""
    old, new = _by_name(before, scoring), _by_name(now, scoring)
    if scoring and (before.questions is not None or not Path(now.target).is_absolute()):
        # Where relative names of files and modules are looked up.
        old["", "folder"], new["", "folder"] = before.cwd, now.cwd
    return [
        f"{place[1]} was {_shown(old.get(place))}, is {_shown(new.get(place))} now"
        for place in dict.fromkeys([*old, *new])
        if old.get(place) != new.get(place)
    ]


def _by_name(settings: RunSettings, scoring: bool) -> dict[tuple[str, str], Any]:
    """Settings that are set, as plain JSON values by group and name. The endpoint is its fingerprint: all spellings
    of one address are equal, and how long to wait for it changes no reply. What a newer version added has its default
    in older records."""
    if scoring:
        values = settings.deciding(*HARMLESS, "scores")
    else:
        values = settings.deciding(*HARMLESS, "scores", "rows", "questions", "summary", "source")
    groups = {
        "generation": {**values.pop("generation").to_json(), "model": values.pop("endpoint").fingerprint()}
    }
    if "questions" in values:
        groups["questions"] = QuestionOptions.from_json(values.pop("questions") or {}).to_json()
        del groups["questions"]["name"]
    plain: dict[str, dict[str, Any]] = orjson.loads(canonical_json({**groups, "": values}))
    return {
        (group, name): value
        for group, named in plain.items()
        for name, value in named.items()
        if value not in (None, "", [], {})
    }


def _shown(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
