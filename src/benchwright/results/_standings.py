"""Several runs by one metric: every pair is tested on the rows that both have, and the best are those that no test tells apart from
the one with the best mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import JsonObject, as_json, is_share
from benchwright.results._clusters import PairedColumns, PairedMeans, ScoreColumns
from benchwright.results._metric_comparison import direction_of
from benchwright.stats import PairedResult, holm


class RunPair(Struct, frozen=True):
    """Two of the runs, by the headline metric."""

    run_a: int
    """The number of the first."""
    run_b: int
    """The number of the second."""
    paired: PairedResult | None
    """The rows that both have; None if there are none, or if the runs must not be compared."""
    p_adjusted: float | None = None
    """The p-value, corrected by Holm's method for all pairs of runs; None if nothing was tested."""
    why: str = ""
    """Why they must not be compared, if they must not."""

    @property
    def significant(self) -> bool:
        """Whether the corrected test tells them apart at the 5 % level."""
        return self.p_adjusted is not None and self.p_adjusted < 0.05

    @property
    def small(self) -> bool:
        """Whether the pairs are too few to rely on the interval."""
        return self.paired is None or self.paired.too_few

    def to_json(self) -> JsonObject:
        """All fields, and the verdict."""
        found: JsonObject = {**as_json(self), "significant": self.significant}
        return found


class Standings(Struct, frozen=True):
    """Runs by one metric."""

    names: dict[int, str]
    """What sentences call each run, by its number."""
    metric: str | None
    pairs: tuple[RunPair, ...]
    """Every pair of them."""
    lower_is_better: bool = False
    """Whether a smaller value is the better one."""

    @property
    def best(self) -> int | None:
        """The run with the best mean; None if no two can be compared."""
        means: dict[int, list[float]] = {}
        for pair in self.pairs:
            if pair.paired is not None:
                means.setdefault(pair.run_a, []).append(-pair.paired.difference)
                means.setdefault(pair.run_b, []).append(pair.paired.difference)
        sign = -1 if self.lower_is_better else 1
        # The mean of its differences from all others, each on the rows that both have; the first of equals.
        return max(
            (run for run in self.names if run in means),
            key=lambda run: sign * sum(means[run]) / len(means[run]),
            default=None,
        )

    @property
    def leading(self) -> tuple[int, ...]:
        """The best run, and those that no test tells apart from it; none if no two can be compared."""
        best = self.best
        if best is None:
            return ()
        return tuple(
            run
            for run in self.names
            if run == best
            or ((pair := self.pair(run, best)) is not None and self._better(pair) in (None, -1))
        )

    def pair(self, a: int, b: int) -> RunPair | None:
        """The pair of two runs, as b against a; None if they cannot be compared."""
        for each in self.pairs:
            if each.paired is not None and {each.run_a, each.run_b} == {a, b}:
                return each if each.run_a == a else _turned(each)
        return None

    @property
    def sentence(self) -> str:
        """Which run is the best, and which cannot be told apart from it; empty if no two can be compared."""
        best = self.best
        if best is None:
            return ""
        first, title = next(iter(self.names)), self.names[best]
        others = {run: name for run, name in self.names.items() if run != best}
        pairs = {run: self.pair(run, best) for run in others}
        # The first run comes first where the best one is better than it; all others follow in their order.
        ahead = [run for run in others if run == first and self._better(pairs[run]) == 1]
        parts = [f"{title} is better than {others[run]} by {_by(pairs[run])}" for run in ahead]
        apart = []
        for run, name in others.items():
            better = self._better(pairs[run])
            if better is None or run in ahead:
                continue
            by = _by(pairs[run])
            if better == 1:
                apart.append(f"{name} is worse than {title} by {by}")
            elif better == -1:
                apart.append(f"{name} is better than {title} by {by} on the rows that both have")
            else:
                apart.append(f"{name} differs from {title}, but not in one direction")
        alike = [name for run, name in others.items() if (pair := pairs[run]) and not pair.significant]
        unpaired = [run for run, pair in pairs.items() if pair is None]
        if not parts and not apart and not unpaired:
            return f"no run can be told apart from the others by {self.metric}"
        if not parts:
            parts.append(f"{title} has the best {self.metric}")
        parts += apart
        if alike:
            parts.append(f"{_listed(alike)} cannot be told apart from {title}")
        reasons: dict[str, list[str]] = {}
        for run in unpaired:
            reasons.setdefault(self._why(run, best), []).append(others[run])
        parts += [
            f"{_listed(names)} cannot be compared with {title}: {why}" for why, names in reasons.items()
        ]
        return "; ".join(parts)

    def to_json(self) -> JsonObject:
        """`{metric, lower_is_better, best, leading, sentence, pairs}`."""
        return {
            "metric": self.metric,
            "lower_is_better": self.lower_is_better,
            "best": self.best,
            "leading": list(self.leading),
            "sentence": self.sentence,
            "pairs": [pair.to_json() for pair in self.pairs],
        }

    def _why(self, a: int, b: int) -> str:
        found = (pair.why for pair in self.pairs if {pair.run_a, pair.run_b} == {a, b})
        return next(found, "") or "no row is in both"

    def _better(self, pair: RunPair | None) -> int | None:
        """Whether the second run of a pair is better (1) or worse (-1), or the test and the means disagree (0). None: the test does
        not tell the runs apart."""
        if pair is None or pair.paired is None or not pair.significant:
            return None
        direction = direction_of(pair.paired.mean_a, pair.paired.mean_b, pair.paired, 0.0)
        if direction not in ("up", "down"):
            return 0
        return 1 if (direction == "up") != self.lower_is_better else -1


def every_pair(
    columns: Mapping[int, ScoreColumns],
    metric: str,
    *,
    less: bool,
    tolerance: float = 0.0,
    why_not: Callable[[int, int], str] = lambda a, b: "",
) -> tuple[RunPair, ...]:
    """Every pair of runs, given by their scores, with p-values corrected by Holm's method for their number. `why_not` says why two of
    them must not be compared."""
    pairs = []
    for (a, left), (b, right) in combinations(columns.items(), 2):
        if why := why_not(a, b):
            pairs.append(RunPair(a, b, None, why=why))
            continue
        pairs.append(
            RunPair(a, b, paired_test(PairedColumns(left, right).means(metric), metric, tolerance, less))
        )
    differing = [each for each in pairs if each.paired is not None and each.paired.differing]
    p_values: dict[int, float] = dict(
        zip(map(id, differing), holm([each.paired.p_value for each in differing if each.paired]), strict=True)
    )
    return tuple(replace(each, p_adjusted=p_values.get(id(each))) for each in pairs)


def paired_test(means: PairedMeans, metric: str, tolerance: float, less: bool) -> PairedResult | None:
    """The paired test of two runs; None if they have no common rows."""
    if not means[0]:
        return None
    found = PairedResult.of(*means[1:], share=is_share(metric), tolerance=tolerance)
    return found.turned() if less else found


def _turned(pair: RunPair) -> RunPair:
    found: Any = pair.paired
    low, high = found.ci_low, found.ci_high
    turned = replace(
        found,
        mean_a=found.mean_b,
        mean_b=found.mean_a,
        difference=-found.difference,
        ci_low=None if high is None else -high,
        ci_high=None if low is None else -low,
        wins=found.losses,
        losses=found.wins,
        leaning=-found.leaning,
    )
    return RunPair(pair.run_b, pair.run_a, turned, pair.p_adjusted)


def _by(pair: RunPair | None) -> str:
    """`0.0400 (0.0100 to 0.0700)`: the size of a difference, with its interval."""
    found: Any = None if pair is None else pair.paired
    size = f"{abs(found.difference):.4f}"
    if found.ci_low is None or found.ci_high is None:
        return size
    low, high = (found.ci_low, found.ci_high) if found.difference > 0 else (-found.ci_high, -found.ci_low)
    return f"{size} ({low:.4f} to {high:.4f})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
