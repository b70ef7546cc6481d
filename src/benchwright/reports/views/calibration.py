"""Compares a judge with human labels: how far they agree, and which score humans would have given everything it judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum

from msgspec import Struct

from benchwright.core import JsonObject
from benchwright.stats import (
    FEWEST,
    Agreement,
    Corrected,
    PairedResult,
    Weights,
    agreement,
    compare_pairs,
    prediction_powered,
    rogan_gladen,
)


class JudgedRow(Struct, frozen=True):
    """One row that a judge graded."""

    grade: str
    """The judge's grade."""
    score: float
    """The score of the grade."""
    label: str | None = None
    """The grade that a human gave, if one did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The result of comparing a judge with labels."""

    labelled: int
    """Rows with a label and a grade."""
    judged: int
    """Rows with a grade."""
    scores: dict[str, float]
    """Grade → score."""
    agreement: Agreement
    """Confusion (rows: humans, columns: the judge), κ and its interval."""
    bias: PairedResult
    """The judge's scores (b) against the humans' (a) on labelled rows. A positive difference means that the judge is too
    kind."""
    sensitivity: float | None
    """For scores of 0 and 1: share of the rows right by humans that the judge calls right."""
    specificity: float | None
    """Share of the rows wrong by humans that the judge calls wrong."""
    judge_score: float
    """The uncorrected mean of the judge's scores over all judged rows."""
    corrected: tuple[Corrected, ...]
    """Estimates of the mean score by humans, the better method first: prediction-powered if the labelled rows are part of
    the judged ones, else by sensitivity and specificity."""
    notes: tuple[str, ...]
    """Notes for the reader."""
    comparable: bool = True
    """False if so many samples have no grade that the others may not represent all."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return 0 if self.comparable else 3

    def to_json(self) -> JsonObject:
        """As `judge-calibrate --json` prints it."""
        found = self.agreement
        return {
            "labelled": self.labelled,
            "judged": self.judged,
            "scores": dict(self.scores),
            "kappa": {
                "value": found.kappa, "ci_low": found.ci_low, "ci_high": found.ci_high, "weights": found.weights,
                "too_few": found.too_few,
            },
            "accuracy": found.agreed,
            "confusion": {
                "categories": list(found.categories), "counts": [list(row) for row in found.confusion],
                "rows": "human", "columns": "judge",
            },
            "bias": {
                "human_mean": self.bias.mean_a, "judge_mean": self.bias.mean_b, "difference": self.bias.difference,
                "ci_low": self.bias.ci_low, "ci_high": self.bias.ci_high, "p_value": self.bias.p_value,
            },
            "sensitivity": self.sensitivity,
            "specificity": self.specificity,
            "judge_score": self.judge_score,
            "corrected": [asdict(each) for each in self.corrected],
            "comparable": self.comparable,
            "notes": list(self.notes),
        }  # fmt: skip


def calibration(
    rows: Sequence[JudgedRow],
    scores: Mapping[str, float],
    *,
    weights: Weights | None = None,
    notes: Sequence[str] = (),
    comparable: bool = True,
) -> Calibration:
    """Compare grades with the labels of some of the rows. `scores` has every grade. Raises ValueError without any label."""
    labelled = [(row, row.label) for row in rows if row.label is not None]
    pairs = [(scores[label], row.score) for row, label in labelled]
    found = agreement([(label, row.grade) for row, label in labelled], scores, weights)
    used = [*scores.values(), *(row.score for row in rows)]
    ends = min(used), max(used)
    bias = compare_pairs([human for human, _ in pairs], [judge for _, judge in pairs])
    ones = [judge for human, judge in pairs if human == 1]
    zeros = [judge for human, judge in pairs if human == 0]
    binary = set(used) <= {0.0, 1.0}
    powered = prediction_powered(
        [(judge, human) for human, judge in pairs], [row.score for row in rows if row.label is None], ends
    )
    by_rates = None
    if binary:
        judged = round(fsum(row.score for row in rows)), len(rows)
        by_rates = rogan_gladen(
            judged, (round(fsum(ones)), len(ones)), (len(zeros) - round(fsum(zeros)), len(zeros))
        )
    return Calibration(
        labelled=len(labelled),
        judged=len(rows),
        scores=dict(scores),
        agreement=found,
        bias=bias,
        sensitivity=fsum(ones) / len(ones) if binary and ones else None,
        specificity=1 - fsum(zeros) / len(zeros) if binary and zeros else None,
        judge_score=fsum(row.score for row in rows) / len(rows),
        corrected=tuple(each for each in (powered, by_rates) if each is not None),
        notes=(*notes, *_notes(found, binary, ones, zeros)),
        comparable=comparable,
    )


def _notes(found: Agreement, binary: bool, ones: Sequence[float], zeros: Sequence[float]) -> list[str]:
    notes = []
    if found.too_few:
        notes.append(f"With fewer than {FEWEST} labels, the 95 % intervals are unreliable.")
    if found.ci_low is None:
        notes.append(
            "one of the two gave a single grade throughout, so κ says nothing. Label rows of every grade"
        )
    if binary and not (ones and zeros):
        missing = "right" if not ones else "wrong"
        notes.append(f"no row is labelled as {missing}: sensitivity and specificity are not both known")
    elif binary and fsum(ones) / len(ones) <= fsum(zeros) / len(zeros):
        notes.append("the judge does not tell right from wrong better than chance")
    return notes
