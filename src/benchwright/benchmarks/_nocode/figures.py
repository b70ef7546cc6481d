"""Computes figures over all samples: F1 by label, the confusion of labels, and the spread of a similarity."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, pvariance
from typing import Any

from benchwright.benchmarks._spec import Derived
from benchwright.core import Information


class LabelFigures(Derived):
    """Figures of multiple choice: `f1_label_<i>`, `macro_f1`, `weighted_f1` and the confusion matrix, by label number."""

    def __init__(self, labels: Sequence[str], metrics: Sequence[tuple[str, str]]) -> None:
        self._labels = list(labels)
        self._metrics = dict(metrics)
        self._pairs: Counter[tuple[str, str | None]] = Counter()

    def add(self, scores: Mapping[str, Any]) -> None:
        """Add one sample's labels."""
        golden = scores.get("golden")
        if golden is not None:
            self._pairs[golden, scores.get("parsed_response")] += 1

    def figures(self) -> dict[str, float]:
        """The figures of the requested metrics."""
        found: dict[str, float] = {}
        if "f1" in self._metrics:
            values = [self._f1(label) for label in self._labels]
            found |= {f"f1_label_{number}": value for number, value in enumerate(values)}
            found["macro_f1"] = fmean(values)
            support = [self._support(label) for label in self._labels]
            total = sum(support)
            weighted = sum(value * count for value, count in zip(values, support, strict=True))
            found["weighted_f1"] = weighted / total if total else 0.0
        if "confusion" in self._metrics:
            for number, golden in enumerate(self._labels):
                for other, predicted in enumerate(self._labels):
                    found[f"confusion_matrix_{number}_{other}"] = float(self._pairs[golden, predicted])
                found[f"confusion_matrix_{number}_unparsed"] = float(self._pairs[golden, None])
        return found

    def remarks(self) -> list[str]:
        """Metrics that every view shows: those with `show = "all"`."""
        found: list[str] = []
        values = self.figures()
        if self._metrics.get("f1") == "all":
            each = ", ".join(
                f"{label} {values[f'f1_label_{number}']:.3f}" for number, label in enumerate(self._labels)
            )
            found.append(
                Information(
                    f"F1: macro {values['macro_f1']:.3f}, weighted {values['weighted_f1']:.3f} ({each})"
                )
            )
        if self._metrics.get("confusion") == "all":
            found += [
                Information(f"confusion, right answer {golden}: {self._row(golden)}")
                for golden in self._labels
            ]
        return found

    def _row(self, golden: str) -> str:
        counts = [f"{label} {self._pairs[golden, label]}" for label in self._labels]
        return ", ".join([*counts, f"unparsed {self._pairs[golden, None]}"])

    def _support(self, label: str) -> int:
        return sum(count for (golden, _), count in self._pairs.items() if golden == label)

    def _f1(self, label: str) -> float:
        hits = self._pairs[label, label]
        predicted = sum(count for (_, found), count in self._pairs.items() if found == label)
        total = predicted + self._support(label)
        return 2 * hits / total if total else 0.0


class Similarities(Derived):
    """Mean, spread and percentiles of `similarity`."""

    def __init__(self) -> None:
        self._values = array("d")

    def add(self, scores: Mapping[str, Any]) -> None:
        """Add one sample's similarity."""
        value = scores.get("similarity")
        if isinstance(value, int | float):
            self._values.append(value)

    def figures(self) -> dict[str, float]:
        """Population statistics, not sample statistics; percentiles are interpolated."""
        if not self._values:
            return {}
        ordered = sorted(self._values)
        variance = pvariance(ordered)
        return {
            "mean_similarity": fmean(ordered),
            "stdev_similarity": variance**0.5,
            "variance_similarity": variance,
            "median_similarity": _percentile(ordered, 50),
            "min_similarity": ordered[0],
            "max_similarity": ordered[-1],
            "p95_similarity": _percentile(ordered, 95),
            "p99_similarity": _percentile(ordered, 99),
        }

    def remarks(self) -> list[str]:
        """None, because the numbers say everything."""
        return []


class RightAnswers(Derived):
    """Counts right answers and samples."""

    def __init__(self) -> None:
        self._right = self._total = 0

    def add(self, scores: Mapping[str, Any]) -> None:
        """Count one sample."""
        if "accuracy" in scores:
            self._total += 1
            self._right += bool(scores["accuracy"])

    def figures(self) -> dict[str, float]:
        """`correct_count` and `total_count`."""
        return {"correct_count": float(self._right), "total_count": float(self._total)}

    def remarks(self) -> list[str]:
        """None, because the numbers say everything."""
        return []


def _percentile(ordered: Sequence[float], share: float) -> float:
    at = (len(ordered) - 1) * share / 100
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
