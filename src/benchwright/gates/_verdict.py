"""What a gate says: a verdict for each rule, with what was observed, and one for the run."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, to_builtins

from benchwright.core import JsonObject


class Word(StrEnum):
    """The three verdicts."""

    GO = "GO"
    NO_GO = "NO-GO"
    INCONCLUSIVE = "INCONCLUSIVE"


EXIT_CODES = {Word.GO: 0, Word.NO_GO: 1, Word.INCONCLUSIVE: 3}


class RuleRow(Struct, frozen=True, kw_only=True):
    """One rule, or one of its slices, held against the run."""

    rule: str
    """The rule in words: `correct, category = law`."""
    kind: str
    """Its kind: threshold, regression, failures, usage, load; or `run`, for what every run must be."""
    where: str
    """File, line and table of the policy."""
    needed: str
    """What it asks for: `lower end ≥ 0.7`."""
    verdict: Word
    reason: str
    """Why, in words."""
    evaluated: bool = True
    """Whether the run has what the rule is about."""
    observed: float | None = None
    interval: tuple[float, float] | None = None
    """At the level of the rule; None: none is known."""
    level: float | None = None
    n: int | None = None
    """Rows, pairs or requests."""
    test: str | None = None
    """The test in words; None: the value itself was compared."""
    p: float | None = None
    """One-sided p of the null hypothesis that the limit is met."""
    p_holm: float | None = None
    """The same, corrected for all tests of the gate."""
    detectable: float | None = None
    """The smallest loss, or distance beyond the limit, that this test finds with the stated power."""
    n_needed: int | None = None
    """Rows with which the power suffices to decide, where it is not decided; None: decided, or no number would do."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What a gate says about a run."""

    verdict: Word
    run: str
    """The run, as messages call it."""
    run_id: int
    name: str
    """Name of its benchmark."""
    baseline: str | None
    """What it was compared with; None: nothing."""
    policy: str
    """File of the policy."""
    alpha: float
    """Most chance of a NO-GO although all limits are met, over all tests together."""
    power: float
    tests: int
    """Tests for which p-values are corrected."""
    rows: tuple[RuleRow, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know."""

    @property
    def exit_code(self) -> int:
        """0 for GO, 1 for NO-GO, 3 for INCONCLUSIVE."""
        return EXIT_CODES[self.verdict]

    def to_json(self) -> JsonObject:
        """All fields, and `exit_code`."""
        found: JsonObject = {**to_builtins(self), "exit_code": self.exit_code}
        return found


def overall(rows: Iterable[RuleRow]) -> Word:
    """NO-GO if a rule says so; GO only if all do."""
    words = {row.verdict for row in rows}
    if Word.NO_GO in words:
        return Word.NO_GO
    return Word.GO if words == {Word.GO} else Word.INCONCLUSIVE
