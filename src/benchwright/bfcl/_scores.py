"""Computes scores by category, the official averages, and which of these are incomplete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from msgspec import Struct

from benchwright.bfcl._categories import CATEGORIES, GROUPS
from benchwright.core import UNANSWERED, is_unanswered


class Average(Struct, frozen=True):
    """An official average. A part is a category or another average."""

    name: str
    parts: tuple[str, ...]
    by_rows: bool = False
    """Whether parts are weighted by their number of rows."""
    weights: tuple[float, ...] = ()
    """The weight of each part; empty: equal weights."""


_LIVE_AST = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_V3: tuple[Average, ...] = (
    Average("non_live_simple_ast", ("simple", "java", "javascript")),
    Average("non_live_simple_exec", ("exec_simple", "rest")),
    Average("non_live_ast", ("non_live_simple_ast", "multiple", "parallel", "parallel_multiple")),
    Average("non_live_exec", ("non_live_simple_exec", "exec_multiple", "exec_parallel", "exec_parallel_multiple")),
    Average(
        "non_live_overall",
        (
            "non_live_simple_ast", "multiple", "parallel", "parallel_multiple",
            "non_live_simple_exec", "exec_multiple", "exec_parallel", "exec_parallel_multiple",
            "irrelevance",
        ),
    ),
    Average("live_ast", _LIVE_AST, True),
    Average("live_overall", GROUPS["live"], True),
    Average("multi_turn_overall", GROUPS["multi_turn"]),
    Average("total_relevance", ("live_relevance",)),
    Average("total_irrelevance", ("irrelevance", "live_irrelevance")),
    Average("overall", ("live_overall", "non_live_overall", "multi_turn_overall")),
)  # fmt: skip
_V4: tuple[Average, ...] = (
    Average("non_live_simple_ast", ("simple", "java", "javascript")),
    Average("non_live_overall", ("non_live_simple_ast", "multiple", "parallel", "parallel_multiple")),
    Average("live_overall", _LIVE_AST, True),
    Average("irrelevance_overall", ("irrelevance", "live_irrelevance")),
    Average("multi_turn_overall", GROUPS["multi_turn"]),
    Average(
        "overall",
        ("non_live_overall", "live_overall", "irrelevance_overall", "multi_turn_overall", "agentic"),
        weights=(10, 10, 10, 30, 40),
    ),
)
AVERAGES: Mapping[str, tuple[Average, ...]] = {"v3": _V3, "v4": _V4}
"""Averages by the version of the data, in an order in which each depends only on earlier ones."""


_MOST_NAMES = 3


class Scoreboard:
    """A `Derived`: computes figures by category and averages from the scores of samples."""

    def __init__(self, version: str = "v3") -> None:
        self.averages_of = AVERAGES[version]
        self._right: Counter[str] = Counter()
        self._rows: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    def add(self, scores: Mapping[str, Any]) -> None:
        """Add one sample's scores."""
        name = str(scores.get("category"))
        self._rows[name] += 1
        self._right[name] += bool(scores.get("correct"))
        if error := scores.get("error_type"):
            self._errors[str(error)] += 1

    def add_failure(self, group: str | None) -> None:
        """Add a sample without scores to its category. One whose answer is not known is not an error of the model."""
        if group is None:
            return
        if is_unanswered(group):
            self._skipped[group.removeprefix(UNANSWERED).strip()] += 1
        else:
            self._failed[group] += 1

    @property
    def failed(self) -> Mapping[str, int]:
        """Samples without scores, by category."""
        return self._failed

    @property
    def skipped(self) -> Mapping[str, int]:
        """Samples that were skipped because their expected calls could not be executed, by category."""
        return self._skipped

    @property
    def tallies(self) -> Mapping[str, tuple[int, int]]:
        """How many samples are right so far, and how many were scored, by category."""
        return {name: (self._right[name], rows) for name, rows in self._rows.items()}

    def _accuracies(self) -> dict[str, float]:
        return {name: right / rows if rows else 0.0 for name, (right, rows) in self.tallies.items()}

    def figures(self) -> dict[str, float]:
        """Accuracy of every category that was run, averages over these, both also with failures as wrong if there are any, and
        rows by error."""
        found = self._of_categories()
        found |= {name: value for name, value, _ in self.averages()}
        if self._failed:
            strict = self._failures_as_wrong()
            counted = strict._of_categories()
            counted |= {name: value for name, value, _ in strict.averages()}
            found |= {f"{name}.failures_as_wrong": value for name, value in counted.items()}
        for kind, count in self._errors.most_common():
            found[f"errors.{kind}"] = float(count)
        return found

    def averages(self) -> Iterator[tuple[str, float, tuple[str, ...]]]:
        """Each average over the parts that were run, with the categories that it lacks."""
        values, rows = self._accuracies(), self._rows
        lacking: dict[str, tuple[str, ...]] = dict.fromkeys(values, ())
        for average in self.averages_of:
            there = [part for part in average.parts if part in values]
            missing = [
                lacking.get(part) or self._leaves(part) for part in average.parts if lacking.get(part) != ()
            ]
            gaps = tuple(dict.fromkeys(name for names in missing for name in names))
            if not there:
                continue
            weight = dict(zip(average.parts, average.weights, strict=False))
            weights = [rows[part] if average.by_rows else weight.get(part, 1) for part in there]
            value = fmean((values[part] for part in there), weights)
            values[average.name] = value
            lacking[average.name] = gaps
            yield average.name, value, gaps

    def remarks(self) -> Sequence[str]:
        """Samples without a score, incomplete averages, and the faults of wrong samples."""
        notes = []
        if self._failed:
            lost = ", ".join(f"{name} {self._failed[name]:,}" for name in CATEGORIES if self._failed[name])
            notes.append(f"samples without a score, neither right nor wrong: {lost}")
        for name in CATEGORIES:
            if skipped := self._skipped[name]:
                rows = skipped + self._failed[name] + self._rows[name]
                notes.append(
                    f"{name}: {skipped:,} of {rows:,} samples skipped, because their expected calls could not be executed"
                )
        incomplete = [f"{name} ({_without(gaps)})" for name, _, gaps in self.averages() if gaps]
        if incomplete:
            notes.append(
                "averages over what was run, not comparable with published ones: " + "; ".join(incomplete)
            )
        if errors := self._errors:
            listed = ", ".join(f"{count:,} × {kind}" for kind, count in errors.most_common())
            notes.append(f"wrong samples by their first fault: {listed}")
        return notes

    def _failures_as_wrong(self) -> Scoreboard:
        """The scoreboard with samples without a score counted as wrong."""
        board = Scoreboard()
        board.averages_of = self.averages_of
        board._right, board._rows = self._right, self._rows + self._failed
        return board

    def _leaves(self, part: str) -> tuple[str, ...]:
        """The categories under a part."""
        for average in self.averages_of:
            if average.name == part:
                return tuple(leaf for inner in average.parts for leaf in self._leaves(inner))
        return (part,)

    def _of_categories(self) -> dict[str, float]:
        """The accuracy of each category that was run, in their order."""
        values = self._accuracies()
        return {name: values[name] for name in CATEGORIES if name in values}


def _without(gaps: Sequence[str]) -> str:
    return f"without {', '.join(gaps) if len(gaps) <= _MOST_NAMES else f'{len(gaps)} categories'}"
