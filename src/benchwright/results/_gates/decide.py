"""Turns claims into verdicts: corrects all tests of a gate together, then judges every claim as GO, NO-GO or
INCONCLUSIVE."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from msgspec import Struct

from benchwright.core import p_text, percent
from benchwright.results._gates.policy import Bound, Policy, Rule
from benchwright.results._gates.verdict import RuleRow, Word
from benchwright.stats import FEWEST, LimitTest, holm, same_score


class Claim(Struct, frozen=True, kw_only=True):
    """What one rule, or one of its slices, requires of one figure."""

    rule: Rule
    subject: str
    """The figure in words: `correct, category = law`."""
    found: LimitTest | None = None
    """The test of the figure against its limit; None: the run has no such figure, and `problem` says why."""
    limit: float = 0.0
    side: int = 1
    """1: the limit is a minimum; -1: a maximum."""
    allowed: float = 0.0
    """For a regression: the allowed loss."""
    problem: str = ""
    noun: str = "rows"
    """What is counted."""
    fewest: int = FEWEST
    """The fewest that an interval needs."""
    remark: str = ""
    """A mistake that the limit suggests."""
    ranked: bool = False
    """Whether it is a percentile, whose interval and whose test are found in different ways."""
    few: str = ""
    """Why there are too few for the figure itself, such as 20 requests for a 99th percentile. Then only a test can decide,
    and only that the limit is missed."""

    @property
    def bound(self) -> Bound:
        """The value that must meet the limit."""
        return self.rule.bound

    @property
    def shows(self) -> bool:
        """Whether the interval must show that the limit is met, and not only that it may be."""
        return self.bound == ("lower" if self.side > 0 else "upper")

    @property
    def tested(self) -> bool:
        """Whether it is one of the tests that are corrected together."""
        by_test = self.bound != "value" or bool(self.few)
        return by_test and self.found is not None and self.found.p_missed is not None

    @property
    def needed(self) -> str:
        """The requirement, in words."""
        ends = {"lower": "lower end ", "upper": "upper end ", "value": ""}
        if self.rule.kind == "regression":
            end = {"lower": "lower end of the gain", "upper": "upper end of the gain", "value": "gain"}[
                self.bound
            ]
            return f"{end} ≥ {figure(self.limit or 0.0)}"
        return f"{ends[self.bound]}{'≥' if self.side > 0 else '≤'} {figure(self.limit)}"


def impossible(rule: Rule, subject: str, problem: str) -> Claim:
    """A claim that cannot be judged, and why."""
    limit, side = (rule.limits or [(-rule.margin, 1)])[0]
    if rule.kind == "regression":  # the same name, whether it can be judged or not
        subject = f"{subject} against the baseline"
    return Claim(rule=rule, subject=subject, problem=problem, limit=limit, side=side)


def figure(value: float) -> str:
    """A number in few digits.

    >>> figure(0.123456), figure(1234567.0), figure(12.0), figure(-0.02)
    ('0.1235', '1,234,567', '12', '-0.02')
    """
    if isinf(value):
        return str(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) >= 0.001 or not value else f"{value:.3g}"


def decide(claims: Sequence[Claim], policy: Policy) -> tuple[list[RuleRow], int]:
    """A row for each claim, in order, and the number of tests for which p-values are corrected."""
    tested = [claim for claim in claims if claim.tested]
    raw = [claim.found.p_missed or 0.0 for claim in tested if claim.found is not None]
    corrected = dict(zip(map(id, tested), holm(raw), strict=True))
    count = len(tested)
    return [_row(claim, corrected.get(id(claim)), policy, count) for claim in claims], count


def _row(claim: Claim, p_holm: float | None, policy: Policy, tests: int) -> RuleRow:
    found = claim.found
    if found is None:
        return RuleRow(
            rule=claim.subject, kind=claim.rule.kind, where=claim.rule.where, needed=claim.needed,
            verdict=Word.INCONCLUSIVE, reason=claim.problem, evaluated=False,
        )  # fmt: skip
    alpha = policy.alpha / max(1, tests)
    detectable = None
    if claim.tested:
        detectable = found.spread.smallest_effect(alpha=alpha, power=policy.power, allowed=claim.allowed)
    word, reason, wanted = _judged(claim, found, p_holm, policy, detectable)
    n_needed = None
    if claim.remark:
        reason += f"; {'but ' if word is Word.GO else ''}{claim.remark}"
    if claim.few:
        n_needed = claim.fewest if word is Word.INCONCLUSIVE else None
    elif word is Word.INCONCLUSIVE and claim.tested:
        n_needed = _rows(claim, found, policy, alpha, wanted)
        reason = f"{reason}{_outlook(claim, found, policy, n_needed, wanted)}"
        if n_needed is not None and n_needed <= found.spread.n:  # as many did not decide
            n_needed = None
    return RuleRow(
        rule=claim.subject,
        kind=claim.rule.kind,
        where=claim.rule.where,
        needed=claim.needed,
        verdict=word,
        reason=reason,
        observed=found.value,
        interval=None if found.low is None or found.high is None else (found.low, found.high),
        level=None if found.low is None else claim.rule.level,
        n=found.spread.n,
        test=found.test if claim.tested else None,
        p=found.p_missed if claim.tested else None,
        p_holm=p_holm,
        detectable=detectable,
        n_needed=n_needed,
    )


def _judged(
    claim: Claim, found: LimitTest, p_holm: float | None, policy: Policy, detectable: float | None
) -> tuple[Word, str, float | None]:
    """The verdict, the reason and, if it is open, the effect that more rows would have to show; None: the observed one."""
    limit, side = claim.limit, claim.side
    met = _meets(found.value, limit, side)
    if claim.few:
        if p_holm is not None and p_holm < policy.alpha:
            return Word.NO_GO, "missed beyond chance: too many requests are beyond the limit", None
        return Word.INCONCLUSIVE, claim.few, None
    if claim.bound == "value":
        return (Word.GO, "met", None) if met else (Word.NO_GO, "missed", None)
    if p_holm is None or (claim.shows and found.low is None and not found.too_few):
        few = found.spread.n < claim.fewest
        why = f"it needs {claim.fewest:,} {claim.noun}" if few else "too few, or all alike"
        return (
            Word.INCONCLUSIVE,
            f'{found.spread.n:,} {claim.noun} give no interval: {why}; use bound = "value" to compare the value',
            None,
        )
    if p_holm < policy.alpha and found.reliable:
        return Word.NO_GO, f"missed beyond chance{_doubt(found, side, 'a miss')}", None
    if found.too_few:
        return Word.INCONCLUSIVE, f"{found.spread.n:,} {claim.noun}: too few for a reliable interval", None
    beyond = found.high if side > 0 else found.low
    whole = beyond is not None and not _meets(beyond, limit, side)
    if whole and (
        claim.shows or claim.ranked
    ):  # where interval and test contradict each other, neither decides
        reason = f"the interval misses the limit, but by its test that may be chance ({p_text(p_holm, named=True)})"
        return Word.INCONCLUSIVE, reason, None
    if claim.shows:
        end = found.low if side > 0 else found.high
        if end is not None and _meets(end, limit, side):
            return (
                Word.GO,
                f"met, and shown by the interval{_doubt(found, -side, 'a limit that is met')}",
                None,
            )
        return Word.INCONCLUSIVE, "the interval includes the limit", None
    detect = claim.rule.detect
    if detect is not None and (detectable is None or detectable > detect):
        least = "no loss" if detectable is None else f"only losses of {figure(detectable)} or more"
        return (
            Word.INCONCLUSIVE,
            f"not shown to be worse, but {least} would be found with {percent(policy.power)} power, not {figure(detect)}",
            detect,
        )
    return Word.GO, "no evidence of a miss", None


def _meets(value: float, limit: float, side: int) -> bool:
    """Whether a value meets a limit, but for the rounding of floating-point numbers."""
    return side * (value - limit) >= 0 or same_score(value, limit)


def _doubt(found: LimitTest, side: int, what: str) -> str:
    """A warning that a one-sided tail makes a verdict less certain than `alpha` and `level` state."""
    if not found.doubtful(side):
        return ""
    return f"; but some values are far from the others, so {what} is found by chance more often than stated: look at those values"


def _rows(claim: Claim, found: LimitTest, policy: Policy, alpha: float, wanted: float | None) -> int | None:
    """Rows that would decide with the stated power, if the true values equal the observed ones."""
    if wanted is not None:
        return found.spread.rows_needed(wanted, alpha=alpha, power=policy.power, allowed=claim.allowed)
    distance = claim.side * (found.value - claim.limit)
    shows = distance > 0  # by the end of the interval
    level = (1 - claim.rule.level) / 2 if shows else alpha
    seen = found.seen or found.spread
    needed = seen.rows_needed(abs(distance), alpha=level, power=policy.power, shows=shows)
    return needed if needed is None else max(needed, FEWEST)


def _outlook(claim: Claim, found: LimitTest, policy: Policy, needed: int | None, wanted: float | None) -> str:
    if needed is None:
        cure = "set a margin, or move the limit" if claim.rule.kind == "regression" else "move the limit"
        return f"; no number of {claim.noun} would decide a value so close to the limit: {cure}"
    if needed <= found.spread.n:
        return ""
    assumed = "" if wanted is not None else " if the true value is the observed one"
    return f"; about {needed:,} {claim.noun} would decide with {percent(policy.power)} power{assumed}"
