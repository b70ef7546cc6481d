"""`gate` and `bless`: judge a run by a policy, and name the baselines that it is compared with."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Never, TypeAlias

from msgspec.structs import replace

from benchwright.config import keywords_in_errors
from benchwright.core import (
    BenchwrightError,
    JsonObject,
    NotFoundError,
    RunKind,
    RunSummary,
    UsageError,
    expand_home,
    kind_title,
    suggest,
)
from benchwright.results import (
    Baselines,
    Blessed,
    FoundRun,
    History,
    Policy,
    RunResult,
    Verdict,
    kind_of,
    portable_baseline,
    write_baseline,
)
from benchwright.runs._compare import find_run, harmless_settings, is_run, named
from benchwright.runs._resolve import check_run
from benchwright.runs._session import Session
from benchwright.store import RunRecord, Store, Workspace

if TYPE_CHECKING:
    from benchwright.runs._load_work import LoadResult

AnyRun: TypeAlias = "int | str | os.PathLike[str] | RunResult | LoadResult"


@keywords_in_errors
def gate(
    run: AnyRun,
    *,
    policy: str | os.PathLike[str] | Mapping[str, object] | Policy,
    baseline: AnyRun | None = None,
    accept_cached: bool = False,
    workspace: str | os.PathLike[str] | None = None,
    **unknown: Never,
) -> Verdict:
    """Judge a run by a policy: a file, or its tables. `baseline` is a name, a run, or a portable baseline; without it, the
    name of the run's benchmark counts if it is blessed. A run with replies that are older than itself is INCONCLUSIVE,
    unless `accept_cached`.

    Raises NotFoundError for a run, a policy or a baseline that does not exist, and ConfigError for a policy that cannot be
    used.
    """
    _refuse_unknown(gate, unknown)
    rules = _policy(policy)
    with Session(workspace) as session:
        store, place = session.recorded(), session.workspace
        found = _run(store, run, place, -1)
        judge = kind_of(found.run).judge
        if judge is None:
            raise UsageError(
                f"run {found.run.id} is {kind_title(found.run.kind)}, which has no gate. Gates judge benchmarks and load tests"
            )
        other = _baseline(store, found.run, baseline, place, rules)
        verdict = judge(rules, found, other, harmless_settings(), accept_cached)
        if store is not None and found.run.id > 0:
            _record(store, verdict)
        return verdict


def _record(store: Store, verdict: Verdict) -> None:
    """Record the verdict with its run, for the run's history, unless the same one is there already. A store that cannot be written keeps
    none."""
    told: JsonObject = {
        "verdict": str(verdict.verdict), "policy": verdict.policy, "baseline": verdict.baseline,
    }  # fmt: skip
    given = History.verdicts(store, verdict.run_id)
    if any(each.items() >= told.items() for each in given):
        return
    with suppress(BenchwrightError):
        store.relabel_run(verdict.run_id, verdict=told)


@keywords_in_errors
def bless(
    run: AnyRun,
    *,
    name: str | None = None,
    force: bool = False,
    accept_cached: bool = False,
    workspace: str | os.PathLike[str] | None = None,
    **unknown: Never,
) -> Blessed:
    """Give a run, or a portable baseline, a name for gates. The default is the name of its benchmark.

    UsageError for a run that is not complete or comparable and for a name that a run of another kind has, unless forced, and for one with replies that are older than
    itself, unless `accept_cached`.
    """
    _refuse_unknown(bless, unknown)
    with Session(workspace) as session:
        store, place = session.recorded(new=True), session.workspace
        found = _portable(store, run, place)
        _refuse_unfit(found, "Bless", force=force, accept_cached=accept_cached)
        chosen = found.run.name if name is None else name
        if not force:
            _refuse_other_kind(place, chosen, found)
        return Baselines(place).give(chosen, found)


def export_baseline(
    run: AnyRun,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    accept_cached: bool = False,
    workspace: str | os.PathLike[str] | None = None,
) -> tuple[Path, int, str]:
    """Write a run as a portable baseline. Returns the file, its number of samples or requests, and its checksum.

    UsageError as of `bless`.
    """
    if not os.fspath(path):
        raise UsageError("the baseline has no name; name the file or the folder to write: --baseline PATH")
    with Session(workspace) as session:
        store, place = session.recorded(), session.workspace
        _run(store, run, place, -2)  # only a run can be exported, not a name
        found = _portable(store, run, place)
        _refuse_unfit(found, "Export", force=force, accept_cached=accept_cached)
        return write_baseline(expand_home(path), found)


def _refuse_unfit(found: FoundRun, verb: str, *, force: bool, accept_cached: bool) -> None:
    """Raise UsageError for a run that gates should not compare with."""
    summary = found.run.summary or {}
    if found.run.kind == RunKind.BENCHMARK and summary and not accept_cached:
        from benchwright.results import old_replies

        if why := old_replies(RunSummary.from_json(summary)):
            raise UsageError(
                f"{found.title} cannot be a baseline: {why}. {verb} a run made with --no-cache, or this one with --accept-cached"
            )
    comparable = summary.get("comparable") is True
    if force:
        return
    if found.run.status != "completed" or not comparable:
        raise UsageError(
            f"{found.title} cannot be a baseline: it is {found.run.status}, and {'comparable' if comparable else 'not comparable'}. "
            f"{verb} a run that is complete and comparable, or this one with --force"
        )


def _refuse_other_kind(place: Workspace, name: str, found: FoundRun) -> None:
    """Raise UsageError if the name belongs to a baseline of another kind, with which gates compare until now."""
    earlier = None
    with suppress(BenchwrightError):  # one that cannot be read is no loss
        earlier = Baselines(place).named(name)
    if earlier is not None and earlier.run.kind != found.run.kind:
        other = f"{name}-{'load' if found.run.kind == RunKind.LOAD else found.run.kind}"
        raise UsageError(
            f"the baseline {earlier.title} is {kind_title(earlier.run.kind)}, and {found.title} is {kind_title(found.run.kind)}. "
            f"Give it another name: --as {other}, or replace the baseline with --force"
        )


def _refuse_unknown(function: Callable[..., object], unknown: Mapping[str, object]) -> None:
    for name in unknown:
        known = [
            each for each, kind in signature(function).parameters.items() if kind.kind is kind.KEYWORD_ONLY
        ]
        raise UsageError(f"{function.__name__}() has no option {name!r}.{suggest(name, known)}")


def _policy(policy: str | os.PathLike[str] | Mapping[str, object] | Policy) -> Policy:
    if isinstance(policy, Policy):
        found = policy
    elif isinstance(policy, Mapping):
        found = Policy.of(policy, "policy")
    elif isinstance(policy, str | os.PathLike):
        found = Policy.read(expand_home(policy))
    else:
        raise UsageError(
            f"gate(): policy is {policy!r}; expected the path of a TOML file, or a dict with its tables"
        )
    if any(rule.kind == "load" for rule in found.rules):
        found.check_figures()
    return found


def _run(store: Store | None, run: AnyRun, place: Workspace, number: int) -> FoundRun:
    meant = named(run)
    check_run("gate", meant)
    return FoundRun.of(find_run(store, meant, number, place), store)


def _baseline(
    store: Store | None, run: RunRecord, given: AnyRun | None, place: Workspace, policy: Policy
) -> FoundRun | None:
    if given is None:
        return Baselines(place).named(run.name) if policy.needs_baseline else None
    found = _found(store, given, place)
    if found.run.id == run.id and run.id > 0:
        raise UsageError(f"run {run.id} is compared with itself; name another baseline")
    return _filed(found) if found.run.id > 0 and run.id <= 0 else found


def _found(store: Store | None, given: AnyRun, place: Workspace) -> FoundRun:
    """A baseline by its name, as a portable file or folder, or as a run."""
    if isinstance(given, str | os.PathLike):
        written = os.fspath(given)
        if (known := Baselines(place).named(written)) is not None:
            return known
        # Empty is not the current folder.
        if written and not is_run(store, written) and (found := portable_baseline(expand_home(written))):
            return found
    try:
        found = _run(store, given, place, -2)
    except NotFoundError:
        if str(given).isdecimal():  # only runs have numbers, and the error says which there are
            raise
        raise Baselines(place).unknown(str(given)) from None
    if kind_of(found.run).judge is None:
        raise UsageError(f"run {found.run.id} is {kind_title(found.run.kind)}, which cannot be a baseline")
    return found


def _portable(store: Store | None, run: AnyRun, place: Workspace) -> FoundRun:
    found = _found(store, run, place)
    return found if found.filed else _filed(found)


def _filed(baseline: FoundRun) -> FoundRun:
    """The baseline with its settings in the form of run files, which contain no secrets and mean the same everywhere."""
    if kind_of(baseline.run).filed is None:
        return baseline
    run = kind_of(baseline.run).as_filed(baseline.run)
    unneeded = {
        "target",
        *harmless_settings(),
    }  # without places on this machine and settings that change no result
    settings = {name: value for name, value in run.settings.items() if name not in unneeded}
    return replace(baseline, run=replace(run, settings=settings), filed=True)
