"""Turns the rules of a policy into claims about a benchmark run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct

from benchwright.core import RunSummary, is_share, lower_is_better, suggest
from benchwright.results._gates.decide import Claim, impossible
from benchwright.results._gates.evidence import Evidence, SliceKey
from benchwright.results._gates.policy import FAILED, Rule, RuleKind
from benchwright.results._gates.usage import used
from benchwright.results._slices import MOST_SLICES
from benchwright.stats import LimitTest, Spread


class BenchmarkRun(Struct, frozen=True):
    """The evidence for rules about a benchmark run."""

    summary: RunSummary
    evidence: Evidence
    no_pairs: str = ""
    """Why the run cannot be compared with a baseline."""
    declared_lower: Collection[str] = ()
    """Metrics for which lower is better, as run and baseline declare."""


def claims_about(rule: Rule, run: BenchmarkRun) -> Iterator[Claim]:
    """All claims of one rule: about one figure, or about each slice and each metric that matches a pattern."""
    yield from _CLAIMS[rule.kind](rule, run)


_Claims: TypeAlias = Callable[[Rule, BenchmarkRun], Iterator[Claim]]
_CLAIMS: dict[RuleKind, _Claims] = {}
"""The claims of each kind of rule, registered by the decorator below."""


def _of_rules(kind: RuleKind) -> Callable[[_Claims], _Claims]:
    def keep(claims: _Claims) -> _Claims:
        _CLAIMS[kind] = claims
        return claims

    return keep


@_of_rules("load")
def _load(rule: Rule, run: BenchmarkRun) -> Iterator[Claim]:
    yield impossible(
        rule, rule.figure, "the run is a benchmark: rules of load tests need a run of benchwright perf"
    )


_MOST_NAMED = 20
"""The most columns that a message lists."""


def _named(name: str, key: SliceKey | None) -> str:
    return name if key is None else f"{name}, {' = '.join(key)}"


def _metrics(rule: Rule, known: Collection[str]) -> list[str]:
    if rule.metric in known:
        return [rule.metric]
    return sorted(name for name in known if fnmatchcase(name, rule.metric))


def _absent(rule: Rule, known: Collection[str]) -> Claim:
    there = ", ".join(sorted(known)) or "none"
    return impossible(
        rule,
        rule.metric,
        f"the run has no metric {rule.metric!r}.{suggest(rule.metric, known)} It has: {there}",
    )


def _groups(rule: Rule, evidence: Evidence) -> Iterator[SliceKey | None]:
    if rule.slices is None:
        yield None
        return
    for key in evidence.keys(rule.slices):
        if evidence.size(key) >= rule.min_rows:
            yield key


def _unsliced(rule: Rule, evidence: Evidence, subject: str) -> Claim | None:
    """Why a rule cannot be judged by slices."""
    column = rule.slices
    if column is None:
        return None
    if column in evidence.missing:
        names = list(evidence.present)
        there = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
        return impossible(
            rule,
            subject,
            f"no row has a column {column!r} to slice by.{suggest(column, names)} Columns: {there or 'none'}",
        )
    if column in evidence.crowded:
        return impossible(
            rule,
            subject,
            f"the column {column!r} has more than {MOST_SLICES} values; slice by one that has fewer",
        )
    if not any(evidence.size(key) >= rule.min_rows for key in evidence.keys(column)):
        return impossible(rule, subject, f"no value of {column!r} has {rule.min_rows} rows (min_rows)")
    return None


@_of_rules("threshold")
def _thresholds(rule: Rule, run: BenchmarkRun) -> Iterator[Claim]:
    known = {*run.evidence.whole.metrics, *run.summary.derived}
    # A metric may be missing because all its samples failed. A pattern must not pass over it.
    names = _metrics(rule, {*known, *run.evidence.before})
    if not names:
        yield _absent(rule, known)
    for name in names:
        if name not in known:
            yield impossible(rule, name, f"the run has no metric {name!r}, but the baseline has it")
            continue
        if name in run.summary.derived and name not in run.evidence.whole.metrics:
            yield from _derived(rule, name, run.summary)
            continue
        if (problem := _unsliced(rule, run.evidence, name)) is not None:
            yield problem
            continue
        failed = run.evidence.whole.failed if rule.failures_as_wrong else {}
        if failed and (doubt := _uncountable(rule, run, name, failed)):
            yield impossible(rule, name, doubt)
            continue
        partial = run.evidence.whole.is_partial(name)
        for key in _groups(rule, run.evidence):
            values = run.evidence.values(name, key, failures_as_wrong=rule.failures_as_wrong, partial=partial)
            for limit, side in rule.limits:
                subject = _named(name, key)
                if not values:
                    yield impossible(rule, subject, f"no sample here has a value of {name}")
                    continue
                found = LimitTest.of_mean(values, limit, side, level=rule.level, share=is_share(name))
                remark = _percent_remark(name, limit, values)
                yield Claim(rule=rule, subject=subject, found=found, limit=limit, side=side, remark=remark)


def _percent_remark(name: str, limit: float, values: Sequence[Sequence[float]]) -> str:
    """A hint for a limit in percent of a metric between 0 and 1; else empty."""
    if (
        not 1 < limit <= 100
        or not is_share(name)
        or not all(0 <= value <= 1 for row in values for value in row)
    ):
        return ""
    return f"the values of {name} are between 0 and 1: for {limit:g} percent, write {limit / 100:g}"


def _uncountable(rule: Rule, run: BenchmarkRun, name: str, failed: Collection[str | None]) -> str:
    """Why failed samples cannot count as 0 in a metric; empty if they can. `failed` are the groups of those that have no
    value on any side."""
    if _less_is_better(rule, run, name):
        return (
            f"failures_as_wrong counts failed samples as 0, the best value of {name}, where less is better; limit the failures "
            "with a rule of kind failures instead"
        )
    if run.evidence.whole.is_partial(name) and None in failed:
        return (
            f"only some samples have a value of {name}, and the failed samples do not tell whether they would have had one; "
            "leave failures_as_wrong out"
        )
    return ""


def _less_is_better(rule: Rule, run: BenchmarkRun, name: str) -> bool:
    if rule.lower_is_better is not None:
        return rule.lower_is_better
    return lower_is_better(name, {*run.declared_lower, *run.summary.lower_is_better})


def _derived(rule: Rule, name: str, summary: RunSummary) -> Iterator[Claim]:
    """Claims about figures of all samples together, which have no interval."""
    if rule.slices is not None:
        yield impossible(rule, name, f"{name} is a figure of all samples together and has no slices")
        return
    if rule.bound != "value":
        problem = f'{name} is a figure of all samples together and has no interval; use bound = "value"'
        yield impossible(rule, name, problem)
        return
    for limit, side in rule.limits:
        value = summary.derived[name]
        found = LimitTest(value, None, None, None, "", Spread(summary.evaluated, 0.0))
        remark = _percent_remark(name, limit, [[value]])
        yield Claim(rule=rule, subject=name, found=found, limit=limit, side=side, remark=remark)


@_of_rules("regression")
def _regressions(rule: Rule, run: BenchmarkRun) -> Iterator[Claim]:
    pairs = run.evidence.pairs
    if rule.stage is not None:
        yield impossible(
            rule, rule.metric, "the run is a benchmark, which has no levels: stage is for load tests"
        )
        return
    if run.no_pairs or pairs is None:
        problem = (
            run.no_pairs
            or "there is no baseline to compare with; name one with --baseline (a first one: benchwright export RUN --baseline FILE)"
        )
        yield impossible(rule, rule.metric, problem)
        return
    if not pairs.counts()[0]:
        yield impossible(rule, rule.metric, "no row is in both the run and the baseline")
        return
    known = {*run.evidence.whole.metrics, *run.evidence.before}
    names = _metrics(rule, known)
    if not names and rule.metric in run.summary.derived:
        problem = (
            f"{rule.metric} is a figure of all samples together, and a regression compares sample by sample"
        )
        yield impossible(rule, rule.metric, problem)
    elif not names:
        yield _absent(rule, known)
    for name in names:
        if (problem_claim := _unsliced(rule, run.evidence, name)) is not None:
            yield problem_claim
            continue
        for key in _groups(rule, run.evidence):
            yield _regression(rule, run, name, key)


def _regression(rule: Rule, run: BenchmarkRun, name: str, key: SliceKey | None) -> Claim:
    wrong, evidence, subject = rule.failures_as_wrong, run.evidence, _named(name, key)
    if wrong and evidence.failed_pairs:
        within = None if key is None else evidence.slices[key]
        lost = [group for cluster, group in evidence.lost if within is None or cluster in within]
        if doubt := _uncountable(rule, run, name, lost):
            return impossible(rule, subject, doubt)
    partial = evidence.whole.is_partial(name)
    before, after = evidence.paired_values(name, key, failures_as_wrong=wrong, partial=partial)
    if not before:
        lacking = [
            f"{side} has no metric {name!r}"
            for side, known in (
                ("the run", run.evidence.whole.metrics),
                ("the baseline", run.evidence.before),
            )
            if name not in known
        ]
        problem = "".join(lacking) or f"no pair of samples has a value of {name} on both sides"
        return impossible(rule, subject, problem)
    down = _less_is_better(rule, run, name)
    margin = rule.margin
    if rule.margin_percent is not None:
        margin = abs(sum(before) / len(before)) * rule.margin_percent / 100
    found = LimitTest.of_gain(
        before, after, -margin, level=rule.level, lower_is_better=down, share=is_share(name)
    )
    title = f"{subject} against the baseline"
    remark = ""
    if margin >= 1 and all(0 <= value <= 1 for value in (*before, *after)):
        remark = f"a margin of {margin:g} allows any loss of values from 0 to 1: for {margin:g} points, write {margin / 100:g}"
    return Claim(
        rule=rule, subject=title, found=found, limit=-margin, allowed=margin, noun="pairs", remark=remark
    )


@_of_rules("failures")
def _failures(rule: Rule, run: BenchmarkRun) -> Iterator[Claim]:
    name = f"share of {' or '.join(rule.outcome)}" if rule.outcome else FAILED
    if (problem := _unsliced(rule, run.evidence, name)) is not None:
        yield problem
        return
    for key in _groups(rule, run.evidence):
        subject = _named(name, key)
        shares = run.evidence.share_of(rule.outcome, key)
        if not shares:
            yield impossible(rule, subject, "the run has no samples")
            continue
        limit = rule.max if rule.max is not None else 0.0
        found = LimitTest.of_mean(shares, limit, -1, level=rule.level)
        yield Claim(rule=rule, subject=subject, found=found, limit=limit, side=-1)


@_of_rules("usage")
def _usage(rule: Rule, run: BenchmarkRun) -> Iterator[Claim]:
    found = used(rule, run.summary)
    if isinstance(found, str):
        yield impossible(rule, rule.figure, found)
        return
    subject = rule.figure
    if rule.per == "sample":
        found, subject = found / max(1, run.summary.evaluated), f"{rule.figure} per sample"
    for limit, side in rule.limits:
        test = LimitTest(found, None, None, None, "", Spread(run.summary.evaluated, 0.0))
        yield Claim(rule=rule, subject=subject, found=test, limit=limit, side=side)
