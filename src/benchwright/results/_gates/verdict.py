"""The verdict of a gate: one for each rule, with the observed values, and one for the run."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from benchwright.core import JsonObject, Note, as_json
from benchwright.results._figures import notes_json
from benchwright.results._notebooks import ShownInNotebooks


class Word(StrEnum):
    """The three verdicts."""

    GO = "GO"
    NO_GO = "NO-GO"
    INCONCLUSIVE = "INCONCLUSIVE"


EXIT_CODES = {Word.GO: 0, Word.NO_GO: 1, Word.INCONCLUSIVE: 3}


class RuleRow(Struct, frozen=True, kw_only=True):
    """The verdict on one rule, or on one of its slices."""

    rule: str
    """The rule in words: `correct, category = law`."""
    kind: str
    """Its kind: threshold, regression, failures, usage, load; or `run`, for requirements of every run."""
    where: str
    """File, line and table of the policy."""
    needed: str
    """The requirement: `lower end ≥ 0.7`."""
    verdict: Word
    reason: str
    """The reason, in words."""
    evaluated: bool = True
    """Whether the run has the figure of the rule."""
    observed: float | None = None
    interval: tuple[float, float] | None = None
    """Interval at the level of the rule; None if unknown."""
    level: float | None = None
    n: int | None = None
    """Rows, pairs or requests."""
    test: str | None = None
    """The test in words; None: the value itself was compared."""
    p: float | None = None
    """One-sided p of the null hypothesis that the limit is met."""
    p_holm: float | None = None
    """This p, corrected for all tests of the gate."""
    detectable: float | None = None
    """The smallest loss, or distance beyond the limit, that this test finds with the stated power."""
    n_needed: int | None = None
    """Rows needed to decide with the stated power, if it is undecided; None: decided, or no number is enough."""


class Verdict(ShownInNotebooks, Struct, frozen=True, kw_only=True):
    """The verdict on a run."""

    verdict: Word
    run: str
    """The name of the run in messages."""
    run_id: int
    name: str
    """Name of its benchmark."""
    baseline: str | None
    """The baseline; None if there is none."""
    policy: str
    """File of the policy."""
    alpha: float
    """The largest probability of a NO-GO although all limits are met, over all tests together."""
    power: float
    tests: int
    """Tests for which p-values are corrected."""
    rows: tuple[RuleRow, ...]
    sentence: str = ""
    """The result of a benchmark run in one sentence."""
    notes: tuple[Note, ...] = ()
    """Notes for the reader, the gravest first."""
    ended_at: str | None = None
    """When the run ended (UTC, RFC 3339): a folder may contain an older run than its reader thinks. None: it has not."""

    @property
    def exit_code(self) -> int:
        """0 for GO, 1 for NO-GO, 3 for INCONCLUSIVE."""
        return EXIT_CODES[self.verdict]

    def __repr__(self) -> str:
        return f"<Verdict {self.verdict}: {self.run} ({self.name}), {len(self.rows)} rules>"

    def to_json(self) -> JsonObject:
        """All fields, and `exit_code`."""
        found: JsonObject = {**as_json(self), "notes": notes_json(self.notes), "exit_code": self.exit_code}
        return found


def overall(rows: Iterable[RuleRow]) -> Word:
    """NO-GO if any rule is NO-GO; GO only if all are."""
    words = {row.verdict for row in rows}
    if Word.NO_GO in words:
        return Word.NO_GO
    return Word.GO if words == {Word.GO} else Word.INCONCLUSIVE
