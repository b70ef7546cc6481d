"""Exactly what people's labels would change of a run: its labelled samples are scored again, and nothing is recorded."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from benchwright.core import BenchwrightError, RunSummary, UsageError, clause
from benchwright.datasets import hub_commits
from benchwright.engine import Prepared
from benchwright.results import LabelList, RunDetails, kind_of
from benchwright.runs._resume import LOADING, changes_since, refuse_adopted, rescore_plan
from benchwright.store import RunRecord, Store


def run_labels(store: Store, run: RunRecord) -> LabelList:
    """The labels on the rows of a run, and what they would change: exactly, if its scorer can be loaded and asks no judge; else between
    which values, and why."""
    details = kind_of(run).details(store, run)
    if not isinstance(details, RunDetails):  # its scores come from a program
        return replace(LabelList.of(store, run, None), effect=None)
    found = LabelList.of(store, run, details.result)
    effect = found.effect
    if effect is None or not effect.moves:
        return found
    try:
        with LOADING:
            summary = _scored_with_labels(store, run)
        effect = effect.exactly(summary)
    except BenchwrightError as error:
        effect = replace(effect, unknown=clause(error))
    except Exception as error:  # the user's code is loaded and called, as by `rescore`
        effect = replace(effect, unknown=f"{type(error).__name__}: {clause(error)}")
    return replace(found, effect=effect)


def _scored_with_labels(store: Store, run: RunRecord) -> RunSummary:
    refuse_adopted(run, "scored again")
    plan = rescore_plan(run, labels=LabelList.applicable(store, run.id))
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
