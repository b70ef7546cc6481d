"""Exactly what people's labels would change of a run: its labelled samples are scored again, and nothing is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from msgspec.structs import replace

from benchwright.core import BenchwrightError, RunSummary, UsageError, clause
from benchwright.datasets import hub_commits
from benchwright.engine import Prepared
from benchwright.results import LabelList, kind_of
from benchwright.runs._resume import LOADING, changes_since, refuse_adopted, rescore_plan
from benchwright.store import RunRecord, Store

_SCORED: dict[Hashable, RunSummary] = {}
"""The figures of runs that were scored with labels, by all on which they depend: the run and the labels that count. The scorer is loaded and
called once for them, and not at each visit of a page."""
_MOST_KEPT = 64


def run_labels(store: Store, run: RunRecord) -> LabelList:
    """The labels on the rows of a run, and what they would change: exactly, if its scorer can be loaded and asks no judge; else between
    which values, and why."""
    samples = kind_of(run).samples
    found = LabelList.of(store, run, None if samples is None else samples(store, run)[0].result)
    effect = found.effect
    if effect is None or not effect.moves or not effect.rescored:
        return found
    labels = LabelList.applicable(store, run.id)
    question = (store.workspace.root, run.id, run.finished_at, run.starts, labels)
    try:
        summary = _SCORED.get(question)
        if summary is None:
            with LOADING:
                summary = _SCORED.get(question) or _scored_with_labels(store, run, labels)
            _SCORED[question] = summary
            for old in [*_SCORED][:-_MOST_KEPT]:  # another thread may add one meanwhile
                _SCORED.pop(old, None)
        effect = effect.exactly(summary)
    except BenchwrightError as error:
        effect = replace(effect, unknown=clause(error))
    except Exception as error:  # the user's code is loaded and called, as by `rescore`
        effect = replace(effect, unknown=f"{type(error).__name__}: {clause(error)}")
    return replace(found, effect=effect)


def _scored_with_labels(
    store: Store, run: RunRecord, labels: tuple[tuple[str | None, ...], ...]
) -> RunSummary:
    refuse_adopted(run, "scored again")
    plan = rescore_plan(run, labels=labels)
    if plan.spec.judges():
        raise UsageError("its scorer asks a judge")
    if plan.settings.changing_steps:
        raise UsageError("its pipeline changes requests or replies")
    with hub_commits(plan.commits):
        prepared = Prepared.of(plan.spec, plan.settings)
    if prepared.spec.judges():
        raise UsageError("its scorer asks a judge")
    if changed := changes_since(run, prepared):
        raise UsageError(f"{changed} changed since the run")
    return asyncio.run(prepared.with_labels(store, run))
