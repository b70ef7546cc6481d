"""Judges a run by a policy. Pure: the verdict depends only on the run, its samples and the baseline."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from benchwright.config import LOAD_OPTIONS, RUN_SETTINGS
from benchwright.core import (
    ConfigError,
    Information,
    JsonObject,
    Note,
    RunKind,
    RunSummary,
    kind_title,
    reused_span,
    rfc3339,
    suggest,
)
from benchwright.perf import LoadSummary, Requests
from benchwright.results._benchmarks import benchmark_details, benchmark_view
from benchwright.results._comparing import differ_in_prompt_only, disagreements, setting_differences
from benchwright.results._figures import graded_notes, gravest_first, result_sentence
from benchwright.results._found_runs import FoundRun
from benchwright.results._gates.claims import BenchmarkRun, claims_about
from benchwright.results._gates.decide import Claim, decide
from benchwright.results._gates.evidence import Evidence, commonest_failure, gather
from benchwright.results._gates.policy import FAILED, Policy, Rule
from benchwright.results._gates.verdict import RuleRow, Verdict, Word, overall
from benchwright.results._load import settings_of
from benchwright.results._load_comparison import load_data, load_setting_differences
from benchwright.results._run_folders import as_filed
from benchwright.results._settings import sent_settings, table_of
from benchwright.store import RunRecord

MOSTLY = 0.5
"""Share of failed samples above which a run passes no policy."""
_NOTED = ("versions", "prices", "cache")
"""Parts of the settings whose differences are only noted, because they change no score."""


def judge_benchmark(
    policy: Policy,
    found: FoundRun,
    baseline: FoundRun | None,
    harmless: Collection[str] = (),
    *,
    accept_cached: bool = False,
) -> Verdict:
    """The verdict about a benchmark run. `harmless` names settings that change no result. Without `accept_cached`, a run
    with replies that are older than itself gets none."""
    run = found.run
    _check_may_differ(policy, run, baseline)
    if baseline is not None and baseline.filed and found.store is not None:
        run = as_filed(run, benchmark_details(run))
    if run.summary is None:
        return _without_result(policy, run, baseline)
    summary = RunSummary.from_json(run.summary)
    why, notes = _obstacles(policy, run, baseline, harmless, accept_cached=accept_cached)
    source = None if baseline is None or why else baseline.samples
    columns = {rule.slices for rule in policy.rules if rule.slices is not None}
    evidence = gather(found.samples, sorted(columns), source)
    declared = [] if baseline is None else (baseline.run.summary or {}).get("lower_is_better") or []
    known = BenchmarkRun(
        summary,
        evidence,
        why,
        [str(each) for each in declared] if isinstance(declared, list) else [],
    )
    claims = [claim for rule in policy.rules for claim in claims_about(rule, known)]
    failed, count = summary.failed, summary.evaluated
    cause = commonest_failure(found.samples) if failed else ""
    first = _run_row(
        policy,
        run,
        partial=summary.partial,
        comparable=summary.comparable,
        failed=failed,
        count=count,
        cached="" if accept_cached else old_replies(summary),
        cause=cause,
    )
    if cause and cause not in first.reason:
        notes.append(Information(f"most common failure: {cause}"))
    notes += [*_slice_notes(policy.rules, evidence), *_pair_notes(evidence)]
    graded = [*graded_notes(summary, run.error or ""), *map(Note.of, notes)]
    verdict = _verdict(policy, run, baseline, [first], claims, graded)
    return replace(verdict, sentence=result_sentence(benchmark_view(run).title, summary))


def judge_load(
    policy: Policy,
    found: FoundRun,
    baseline: FoundRun | None,
    harmless: Collection[str] = (),
) -> Verdict:
    """The verdict about a load test. `harmless` names settings that change no result."""
    from benchwright.results._gates.load_claims import LoadRun, load_claims

    run, requests = found.run, Requests.of(found.requests())
    _check_may_differ(policy, run, baseline)
    if run.summary is None:
        return _without_result(policy, run, baseline)
    summary = LoadSummary.from_json(run.summary)
    why, before, requests_before = "", None, None
    notes: list[str] = []
    if baseline is not None:
        why, notes = _load_obstacles(policy, run, baseline, harmless)
        if not why and baseline.run.summary is not None:
            before = LoadSummary.from_json(baseline.run.summary)
            requests_before = Requests.of(baseline.requests())
    known = LoadRun(summary, requests, before, requests_before, why)
    claims = [claim for rule in policy.rules for claim in load_claims(rule, known)]
    first = _run_row(
        policy, run, partial=summary.partial, comparable=summary.comparable, failed=summary.failed, count=summary.sent
    )  # fmt: skip
    graded = [Note("", note.text, note.grade) for note in summary.notes]
    return _verdict(policy, run, baseline, [first], claims, [*graded, *map(Note.of, notes)])


def old_replies(summary: RunSummary) -> str:
    """Why nothing can be concluded from the replies of a run; empty if none is older than the run."""
    older = summary.older_replies
    if not older:
        return ""
    replies = "1 reply is" if older == 1 else f"{older:,} replies are"
    return f"{replies} older than the run ({reused_span(summary.reused)}) and do not describe the server at that time"


_ITSELF = "the baseline was made of this run: nothing is worse than itself. Gate a later run, or name another baseline"


def is_same_run(run: RunRecord, other: RunRecord) -> bool:
    """Whether two records, from the workspace, a folder or a baseline, are of one run. Folders and baselines have no number
    that is valid elsewhere, but the time of the start; files of runs have it in milliseconds."""
    known = run.created_at > 0 and (run.name, run.model) == (other.name, other.model)
    return known and abs(run.created_at - other.created_at) < 0.001


def _verdict(
    policy: Policy, run: RunRecord, baseline: FoundRun | None, first: list[RuleRow], claims: Sequence[Claim], notes: Sequence[Note]
) -> Verdict:  # fmt: skip
    decided, tests = decide(claims, policy)
    rows = (*first, *decided)
    return Verdict(
        verdict=overall(rows),
        run=FoundRun.title_of(run),
        run_id=run.id,
        name=run.name,
        baseline=None if baseline is None else baseline.title,
        policy=policy.source,
        alpha=policy.alpha,
        power=policy.power,
        tests=tests,
        rows=rows,
        ended_at=None if run.finished_at is None else rfc3339(run.finished_at),
        notes=tuple(gravest_first(notes)),
    )


def _without_result(policy: Policy, run: RunRecord, baseline: FoundRun | None) -> Verdict:
    problem = f"the run has no result: it is {run.status}. Finish it first: benchwright resume {run.id}"
    claims = [
        Claim(rule=rule, subject=rule.metric or rule.figure or FAILED, problem=problem)
        for rule in policy.rules
    ]
    return _verdict(policy, run, baseline, [], claims, [])


def _run_row(
    policy: Policy,
    run: RunRecord,
    *,
    partial: bool,
    comparable: bool,
    failed: int,
    count: int,
    cached: str = "",
    cause: str = "",
) -> RuleRow:
    """The row for requirements of every run, independent of the policy: complete, not mostly failed, and with replies that
    are not older than the run."""
    share = failed / count if count else 1.0
    allowed = policy.max_failed
    too_many = share > (allowed if allowed is not None else 1.0)
    failures = f"{failed:,} of {count:,} failed"
    reason = ""
    if not count or share > MOSTLY:
        reason = f"{failures}: too many for a GO{f'. Most common failure: {cause}' if cause else ''}"
    elif run.lost:
        reason = f"the run is not complete: {run.error}"
    elif run.status != "completed" or partial:
        reason = f"the run is not complete ({run.status}{', partial' if partial else ''})"
    elif run.manifest.get("changes"):  # max_failed excuses failures only
        reason = (
            "the benchmark was changed between the starts of the run: its samples are not of one experiment"
        )
    elif cached:
        reason = f"{cached}. Run it again with --no-cache, or judge these replies with --accept-cached"
    elif too_many:
        reason = f"{failures}, more than max_failed"
    elif not comparable and (allowed is None or run.kind == RunKind.LOAD):
        reason = f"the run is not comparable ({failures}); its notes say why"
    return RuleRow(
        rule="the run can be judged",
        kind="run",
        where=policy.source,
        needed="complete, comparable" if allowed is None else f"complete, failed ≤ {allowed:g}",
        verdict=Word.INCONCLUSIVE if reason else Word.GO,
        reason=reason or failures,
        observed=share,
        n=count,
    )


def _obstacles(
    policy: Policy,
    run: RunRecord,
    baseline: FoundRun | None,
    harmless: Collection[str],
    *,
    accept_cached: bool,
) -> tuple[str, list[str]]:
    """Why a run cannot be compared with its baseline (empty if it can), and harmless differences."""
    if baseline is None:
        return "", []
    other = baseline.run
    if is_same_run(run, other):
        return _ITSELF, []
    if other.kind != RunKind.BENCHMARK:
        return f"the baseline is {kind_title(other.kind)}, the run a benchmark. {_OTHER_KIND}", []
    if other.summary is None:
        return f"the baseline {baseline.title} has no result", []
    known = RunSummary.from_json(other.summary)
    if not known.comparable or other.status != "completed":
        return (
            f"the baseline {baseline.title} is not comparable: too many of its samples failed, or it is not complete",
            [],
        )
    if known.failed > MOSTLY * known.evaluated:  # whatever it was allowed
        return f"{known.failed:,} of {known.evaluated:,} samples of the baseline {baseline.title} failed", []
    old = old_replies(known)
    if old and not accept_cached and not baseline.portable:
        return (
            f"in the baseline {baseline.title}, {old}. Name a run made with --no-cache, or accept these replies with "
            "--accept-cached",
            [],
        )
    allowed = "prompt" in policy.may_differ
    if reasons := list(disagreements(other, run, prompt_may_differ=allowed)):
        return f"run and baseline {' and '.join(reasons)}. {_cure(reasons)}", []
    why, notes = _settings(policy, run, other, setting_differences(other, run, harmless))
    if differ_in_prompt_only(other, run):
        notes.insert(0, Information("differs from the baseline: prompt"))
    # Whoever made it a portable baseline accepted them.
    return why, [*notes, *([f"in the baseline {baseline.title}, {old}"] if old else [])]


def _cure(reasons: Sequence[str]) -> str:
    if len(reasons) == 1 and reasons[0].startswith("prompted in"):
        return 'Allow it in [gate]: may_differ = ["prompt"]'
    return "Run the benchmark as it is now with the model of the baseline, and make that run the baseline"


def _load_obstacles(
    policy: Policy, run: RunRecord, baseline: FoundRun, harmless: Collection[str]
) -> tuple[str, list[str]]:
    other = baseline.run
    if is_same_run(run, other):
        return _ITSELF, []
    if other.kind != RunKind.LOAD:
        return f"the baseline is {kind_title(other.kind)}, the run a load test. {_OTHER_KIND}", []
    if other.summary is None:
        return f"the baseline {baseline.title} has no result", []
    found = LoadSummary.from_json(other.summary)
    if found.partial or not found.comparable:
        return f"the baseline {baseline.title} is not comparable", []
    if load_data(other) != load_data(run):
        return "run and baseline sent the rows of other data", []
    return _settings(policy, run, other, load_setting_differences(other, run, harmless))


_OTHER_KIND = "Name a baseline of the same kind with --baseline; benchwright bless --list shows the kinds"
_NEW_BASELINE = "Export a new baseline from a run of this model: benchwright export RUN --baseline FILE"


def _settings(policy: Policy, run: RunRecord, other: RunRecord, compared: Any) -> tuple[str, list[str]]:
    """Settings that must not differ but do, in one sentence; and those that may, as notes."""
    barred: list[tuple[str, str]] = []
    notes: list[str] = []
    for each in compared["differences"]:
        path = str(each["path"]).removeprefix("$.")
        values = (each["run_a"], each["run_b"])
        shown = (
            path
            if any(isinstance(value, dict) for value in values)
            else f"{path} {_value(values[0])} → {_value(values[1])}"
        )
        if any(path == name or path.startswith(f"{name}.") for name in (*policy.may_differ, *_NOTED)):
            notes.append(Information(f"differs from the baseline: {shown}"))
        else:
            barred.append((path, shown))
    if not barred:
        return "", notes
    if any(
        path == "model.kind" for path, _ in barred
    ):  # the other settings of a model have no counterpart then
        return (
            f"the baseline was made with another model ({other.model}), this run with {run.model}. {_NEW_BASELINE}",
            notes,
        )
    names = ", ".join(f'"{path}"' for path, _ in barred)
    shown = ", ".join(text for _, text in barred)
    return f"settings differ from the baseline: {shown}. Allow it in [gate]: may_differ = [{names}]", notes


def _check_may_differ(policy: Policy, run: RunRecord, baseline: FoundRun | None) -> None:
    """Raise ConfigError for names in `may_differ` that are no settings: they would allow nothing, in silence."""
    flags = [setting.name for setting in (*RUN_SETTINGS, *LOAD_OPTIONS)]
    known = {"prompt", *_NOTED, *flags}
    known |= {f"{table}.{name.removeprefix('demo_')}" for name in flags for table in ("model", "generation")}
    for record in (run, *([] if baseline is None else [baseline.run])):
        known |= set(_paths({**record.manifest, **sent_settings(record)}))
        kind = table_of(record.settings.get("definition"))
        known |= set(_paths({str(kind.get("kind")): kind.get("settings")} if kind else {}))
        if record.kind == RunKind.LOAD:
            known |= set(_paths(settings_of(record).to_json()))
    for name in policy.may_differ:
        if name not in known and not name.startswith("extra."):  # benchmarks declare their own
            raise ConfigError(
                f"{policy.source}: [gate] may_differ: {name!r} is no setting.{suggest(name, sorted(known))} Write the names that the "
                'verdict gives as its reason, such as "prompt" or "generation.temperature"'
            )


def _paths(table: JsonObject, before: str = "") -> Iterator[str]:
    for name, value in table.items():
        yield f"{before}{name}"
        if isinstance(value, dict):
            yield from _paths(value, f"{before}{name}.")


def _value(setting: object) -> str:
    return "unset" if setting is None else str(setting)


def _slice_notes(rules: Sequence[Rule], evidence: Evidence) -> Iterator[str]:
    for rule in rules:
        if rule.slices is None:
            continue
        small = [key[1] for key in evidence.keys(rule.slices) if evidence.size(key) < rule.min_rows]
        if small:
            yield f"{rule.slices}: left out for fewer than {rule.min_rows} rows: {', '.join(small)}"
        count = evidence.unlabelled[rule.slices]
        if count and rule.slices not in evidence.missing:
            yield f"{rule.slices}: {count:,} rows have no value there and are in no slice"


def _pair_notes(evidence: Evidence) -> Iterator[str]:
    if evidence.copies:
        rows = "1 row repeats" if evidence.copies == 1 else f"{evidence.copies:,} rows repeat"
        yield f"{rows} the content of an earlier row: copies of a row count as one row, by their mean"
    if evidence.pairs is not None:
        both, only_a, only_b = evidence.pairs.counts()
        if only_a or only_b:
            yield f"{both:,} samples are in both; {only_a:,} only in the baseline, {only_b:,} only in the run"
