"""The pairs that are wanted, and what a work folder knows of them already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchwright.benchmarks import QuestionOptions
from benchwright.core import JsonObject, NotFoundError, UsageError, suggest
from benchwright.engine import RunSettings
from benchwright.reports import WorkRuns
from benchwright.sdk._models import UNNAMED
from benchwright.sdk._run import Plan
from benchwright.sdk._suite.pairs import Pair
from benchwright.store import RunRecord, Store

_ASKED = (
    "target",
    "benchmark",
    "dataset",
    "filters",
    "limit",
    "repeats",
    "num_fewshot",
    "fewshot_seed",
    "model_type",
)
"""Settings that decide what a model is asked, beside the model and its generation."""
_GENERATION = ("temperature", "top_p", "max_tokens", "stop", "seed", "extra_body")
_SCORED = ("questions", "pass_k", "failure_threshold", "skip_bad_rows")
"""Settings that decide what is made of the replies."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One model on one dataset: a run to be started, to go on with, or to be scored again."""

    model: str
    """The model's name in tables and folders."""
    dataset: str
    """The dataset's name in tables and folders."""
    plan: Plan | None = None
    """What is asked for now; None: whatever the work folder's run asked."""
    run_id: int | None = None
    """The run that a work folder has of it."""

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.dataset} on {self.model}"


def wanted_pairs(pairs: Sequence[Pair]) -> list[Wanted]:
    """Pairs that are all new."""
    return [Wanted(pair.model, pair.dataset, pair.plan) for pair in pairs]


def with_known(pairs: Sequence[Pair] | None, known: WorkRuns, models: Sequence[str]) -> list[Wanted]:
    """Pairs with the runs that a work folder has of them; without pairs, all that it has (of these models)."""
    runs = {(task.model, task.dataset): task.run_id for task in known.tasks}
    if pairs is not None:
        return [
            Wanted(pair.model, pair.dataset, pair.plan, runs.get((pair.model, pair.dataset)))
            for pair in pairs
        ]
    there = list(dict.fromkeys(task.model for task in known.tasks))
    for name in models:
        if name not in there:
            raise NotFoundError(
                f"the work folder has no run of {name!r}.{suggest(name, there)} It has: {', '.join(there)}"
            )
    return [
        Wanted(task.model, task.dataset, None, task.run_id)
        for task in known.tasks
        if not models or task.model in models
    ]


def asked_run(store: Store, run_id: int) -> RunRecord:
    """The run that asked the model: a run that was scored again leads back to it."""
    run = store.run(run_id)
    while (source := run.settings.get("rescored_from")) is not None:
        run = store.run(int(str(source)))
    return run


def refuse_other(wanted: Wanted, run: RunRecord, *, scoring: bool) -> None:
    """A run can only be gone on with as it was asked; and, unless it is scored again, as it was scored."""
    if wanted.plan is None:
        return
    before, now = RunSettings.from_json(run.settings), wanted.plan.settings
    names = (*_ASKED, *_SCORED) if scoring else tuple(n for n in _ASKED if n != "limit")
    changes = [
        _change(name, getattr(before, name), getattr(now, name)) for name in names if name != "questions"
    ]
    if scoring:
        changes += _question_changes(before.questions, now.questions)
    if before.endpoint.fingerprint() != now.endpoint.fingerprint():
        changes.append(_change("model", before.endpoint.fingerprint(), now.endpoint.fingerprint()))
    changes += [_change(n, getattr(before.generation, n), getattr(now.generation, n)) for n in _GENERATION]
    said = [change for change in changes if change]
    if said:
        again = "" if not scoring else ", or score its replies by other rules with --mode eval --reuse"
        raise UsageError(
            f"--reuse: run {run.id} ({wanted.label}) is another experiment: {'; '.join(said)}. "
            f"Leave --reuse off for a new run{again}"
        )


def named_by(source: RunRecord, plan: Plan) -> Plan:
    """The plan with the model that `source` asked, where only the server could have named it."""
    settings = plan.settings
    if settings.endpoint.model_id != UNNAMED:
        return plan
    name = RunSettings.from_json(source.settings).endpoint.model_id
    endpoint = replace(settings.endpoint, model_id=name)
    generation = replace(settings.generation, model=name)
    return replace(plan, settings=replace(settings, endpoint=endpoint, generation=generation))


def rescored(plan: Plan, source: RunRecord, label: str) -> Plan:
    """The plan of a run that scores what `source` asked, by the rules of `plan`."""
    settings = replace(plan.settings, rescored_from=source.id, infer_only=False, num_warmups=0)
    return replace(plan, settings=settings, label=label)


def _question_changes(before: JsonObject | None, now: JsonObject | None) -> list[str]:
    """What differs in how a file of questions is asked and scored; settings that came with a newer version have
    their defaults in older records."""
    old = QuestionOptions.from_json(before or {}).to_json()
    new = QuestionOptions.from_json(now or {}).to_json()
    return [_change(name, old.get(name), new.get(name)) for name in new if name != "name"]


def _change(name: str, before: Any, now: Any) -> str:
    if before == now or (not before and not now):
        return ""
    return f"{name} was {_shown(before)}, is {_shown(now)} now"


def _shown(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
