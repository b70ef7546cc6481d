"""Compares a judge with human labels: how far they agree, and which score humans would have given everything it judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import ceil, fsum
from typing import Literal

from msgspec import Struct

from benchwright.core import JsonObject, Note, as_json
from benchwright.results._figures import gravest_first, notes_json, number, plural
from benchwright.stats import FEWEST, Agreement, Corrected, PairedResult, Weights, wilson_interval

_SUBSTANTIAL = 0.6
"""κ from which agreement is commonly called substantial (Landis and Koch 1977)."""
_ENOUGH = 50
"""Labels that the manual advises at least."""
_MOST_ADVISED = 2_000
"""Beyond this many labels, no number of them is advised."""


class JudgedSample(Struct, frozen=True):
    """One sample that a judge graded."""

    item: Hashable
    """Copies and repeats of a row are the same item."""
    grade: str
    """The judge's grade."""
    score: float
    """The score of the grade."""
    label: str | None = None
    """The grade that a human gave, if one did."""
    place: tuple[int, int] | None = None
    """Its row and repeat in a run."""
    row: JsonObject | None = None
    """The line of a file that it comes from."""


class Disagreement(Struct, frozen=True, kw_only=True):
    """A sample that a judge and a human grade differently, with the names of the columns of `samples.parquet`."""

    sample_id: int | None
    """Its row in the run."""
    repeat: int | None
    """Its repeat there."""
    prompt: str | None
    """What the model was asked."""
    response: str | None
    """What it replied."""
    target: str | None
    """The expected answer."""
    label: str
    """The grade that the human gave."""
    grade: str
    """The judge's grade."""
    reason: str | None
    """What the judge wrote."""


class Calibration(Struct, frozen=True, kw_only=True):
    """The result of comparing a judge with labels."""

    labelled: int
    """Samples with a label and a grade."""
    labelled_rows: int
    """The different rows that they are of: copies and repeats of a row count once in every figure."""
    judged: int
    """Samples with a grade."""
    judged_rows: int
    """The different rows that they are of."""
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
    notes: tuple[Note, ...]
    """Notes for the reader, the gravest first."""
    comparable: bool = True
    """False if so many samples have no grade that the others may not represent all."""
    disagreements: tuple[Disagreement, ...] | None = None
    """Samples that the judge grades differently; None: not asked for."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return 0 if self.comparable else 3

    @property
    def agreed_interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of labelled rows on which judge and humans agree."""
        found = self.agreement
        return wilson_interval(min(found.items, found.agreed * found.items), found.items)

    @property
    def verdict(self) -> Literal["good", "unclear", "poor"]:
        """Whether the judge agrees well enough to decide by: `good` if even the lower end of κ's interval is substantial agreement,
        `poor` if even the upper end is not, or the judge is worse than that on enough labels; else `unclear`."""
        found = self.agreement
        if found.too_few or found.ci_low is None or found.ci_high is None or not self.comparable:
            return "unclear"
        return (
            "good" if found.ci_low >= _SUBSTANTIAL else "poor" if found.ci_high < _SUBSTANTIAL else "unclear"
        )

    @property
    def sentence(self) -> str:
        """How far the judge agrees with people, what that allows, and what is missing."""
        found = self.agreement
        low, high = self.agreed_interval
        equal, total = sum(row[at] for at, row in enumerate(found.confusion)), found.pairs
        counted = f"{equal:,} of {plural(total, 'labelled reply')}"
        share = f"{found.agreed:.2f}{'' if found.items == total else ' by rows'}, 95 % interval {low:.2f} to {high:.2f}"
        kappa = ""
        if found.kappa is not None and found.ci_low is not None:
            kappa = f", κ {found.kappa:.2f} ({found.ci_low:.2f} to {found.ci_high:.2f})"
        return f"The judge agrees with people in {counted} ({share}){kappa}: {self._allows()}."

    def _allows(self) -> str:
        """What the agreement is good for, and what is missing."""
        found = self.agreement
        if not self.comparable:
            return "too many samples have no grade to tell how good the judge is"
        if found.too_few:
            more = (
                f"Label at least {_ENOUGH - found.items} more rows, drawn at random"
                if self.judged_rows >= _ENOUGH
                else f"Have it judge at least {_ENOUGH} rows, and label those"
            )
            return f"too few labels to trust the judge or to reject it. {more}"
        if found.ci_low is None or found.kappa is None or found.ci_high is None:
            return "people or the judge gave one grade throughout, which tells nothing about the judge. Label replies of every grade"
        way = (
            f"; for the level, take the corrected score {number(self.corrected[0].value)}"
            if self.corrected
            else ""
        )
        match self.verdict:
            case "good":
                return f"good enough to compare models by{way if self._biased else ''}{self._leaning}"
            case "poor":
                return f"not good enough to decide by{self._leaning}. Make its question or its grades clearer, or use a stronger judge{way}"
        if found.ci_low <= 0:
            return f"not shown to be better than chance{self._leaning}. Look at the disagreements, and label more rows"
        if found.kappa <= _SUBSTANTIAL:
            return f"doubtful{self._leaning}. Look at the disagreements, and label more rows{way}"
        needed = found.items * ((found.kappa - found.ci_low) / (found.kappa - _SUBSTANTIAL)) ** 2
        most = 10 * ceil(needed / 10)
        more = f"about {most:,} labelled rows would tell" if most <= _MOST_ADVISED else "label more rows"
        return f"probably good enough to compare models by, but not shown{self._leaning}; {more}{way}"

    @property
    def _biased(self) -> bool:
        low, high = self.bias.ci_low, self.bias.ci_high
        return low is not None and high is not None and not low <= 0 <= high

    @property
    def _leaning(self) -> str:
        """Whether it is too kind or too strict, if that is shown."""
        by = self.bias.difference
        return f", though too {'kind' if by > 0 else 'strict'} by {abs(by):.2f}" if self._biased else ""

    @classmethod
    def of(
        cls,
        samples: Sequence[JudgedSample],
        scores: Mapping[str, float],
        *,
        weights: Weights | None = None,
        notes: Sequence[str] = (),
        comparable: bool = True,
    ) -> Calibration:
        """Compare grades with the labels of some of the samples. `scores` has every grade. Raises ValueError without any label."""
        labelled = [(each, each.label) for each in samples if each.label is not None]
        items = [each.item for each, _ in labelled]
        one = _one_name([(label, each.grade) for each, label in labelled], scores)
        found = Agreement.of(
            [(one[label], one[each.grade]) for each, label in labelled],
            {name: scores[word] for word, name in one.items()},
            weights,
            items,
        )
        used = [*scores.values(), *(each.score for each in samples)]
        ends = min(used), max(used)
        humans = _means((each.item, scores[label]) for each, label in labelled)
        judge = _means((each.item, each.score) for each, _ in labelled)
        bias = PairedResult.of(list(humans.values()), list(judge.values()))
        all_judged = _means((each.item, each.score) for each in samples)
        binary = set(used) <= {0.0, 1.0}
        powered = Corrected.by_error(
            [(judge[item], human) for item, human in humans.items()],
            [score for item, score in all_judged.items() if item not in humans],
            ends,
        )
        sizes = Counter(items)
        parts = [(scores[label], each.score, 1 / sizes[each.item]) for each, label in labelled]
        right, wrong = ([(judge, part) for human, judge, part in parts if human == asked] for asked in (1, 0))
        ones, hits = fsum(part for _, part in right), fsum(judge * part for judge, part in right)
        zeros, passes = fsum(part for _, part in wrong), fsum((1 - judge) * part for judge, part in wrong)
        judged = fsum(all_judged.values()), float(len(all_judged))
        by_rates = Corrected.by_rates(judged, (hits, ones), (passes, zeros)) if binary else None
        sensitivity = hits / ones if binary and ones else None
        specificity = passes / zeros if binary and zeros else None
        return cls(
            labelled=len(labelled),
            labelled_rows=len(humans),
            judged=len(samples),
            judged_rows=len(all_judged),
            scores=dict(scores),
            agreement=found,
            bias=bias,
            sensitivity=sensitivity,
            specificity=specificity,
            judge_score=judged[0] / judged[1],
            corrected=tuple(each for each in (powered, by_rates) if each is not None),
            notes=tuple(
                gravest_first((*map(Note.of, notes), *_notes(found, binary, sensitivity, specificity)))
            ),
            comparable=comparable,
        )

    def to_json(self) -> JsonObject:
        """As `judge-calibrate --json` prints it."""
        found = self.agreement
        low, high = self.agreed_interval
        return {
            "sentence": self.sentence,
            "verdict": self.verdict,
            "labelled": self.labelled,
            "labelled_rows": self.labelled_rows,
            "judged": self.judged,
            "judged_rows": self.judged_rows,
            "scores": dict(self.scores),
            "kappa": {
                "value": found.kappa, "ci_low": found.ci_low, "ci_high": found.ci_high, "weights": found.weights,
                "too_few": found.too_few,
            },
            "accuracy": found.agreed,
            "accuracy_ci_low": low,
            "accuracy_ci_high": high,
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
            "corrected": as_json(self.corrected),
            "comparable": self.comparable,
            "notes": notes_json(self.notes),
            **({} if self.disagreements is None else {"disagreements": as_json(self.disagreements)}),
        }  # fmt: skip


def _one_name(pairs: Sequence[tuple[str, str]], scores: Mapping[str, float]) -> dict[str, str]:
    """Each word of labels and grades with the name of its grade. Words with the same score are one grade, whoever uses them:
    a label "right" agrees with a grade "C" that is worth as much."""
    words = dict.fromkeys([grade for _, grade in pairs] + [label for label, _ in pairs])
    alike: dict[float, list[str]] = {}
    for word in words:
        alike.setdefault(scores[word], []).append(word)
    return {word: " = ".join(sorted(alike[scores[word]])) for word in words}


def _means(values: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    """The mean of each item."""
    found: dict[Hashable, list[float]] = {}
    for item, value in values:
        found.setdefault(item, []).append(value)
    return {item: fsum(each) / len(each) for item, each in found.items()}


def _notes(
    found: Agreement, binary: bool, sensitivity: float | None, specificity: float | None
) -> Iterator[Note]:
    if not found.agreed:
        yield Note.problem(
            "no label agrees with its grade. Make sure that both mean the same by their words, and that the labels are of these samples"
        )
    if found.too_few:
        counted = "labels" if found.items == found.pairs else "labelled rows"
        yield Note.of(f"With fewer than {FEWEST} {counted}, the 95 % intervals are unreliable.")
    if found.ci_low is None:
        yield Note.of(
            "one of the two gave a single grade throughout, so κ is not informative. Label rows of every grade"
        )
    if binary and (sensitivity is None or specificity is None):
        missing = "right" if sensitivity is None else "wrong"
        yield Note.of(f"no row is labelled as {missing}: sensitivity and specificity are not both known")
    elif sensitivity is not None and specificity is not None and sensitivity <= 1 - specificity:
        yield Note.problem("the judge does not tell right from wrong better than chance")
