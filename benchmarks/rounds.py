"""Rounds of a comparison: what every comparison is given, and what each side of it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import data
from benchmarks.figures import Series, series
from benchmarks.inspect_side import Inspect
from benchmarks.lm_eval_side import LmEval
from benchmarks.ours import Ours
from benchmarks.processes import BenchError, StubAddress, StubStats, Usage

ROWS = 2_000
"""Rows of the question file that rates are measured on."""
IN_FLIGHT = 64
"""Requests under way at once, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything a comparison needs."""

    ours: Ours
    """Our side."""
    before: Ours | None
    """An earlier version of ours, measured in the same rounds; None: not given."""
    lm_eval: LmEval | None
    """None: left out on request."""
    inspect: Inspect | None
    """None: left out on request."""
    work: Path
    """Where files may be written."""
    quick: bool
    """One round, smaller counts: to see that all works, not to judge."""

    def rounds(self, full: int) -> int:
        """How often to repeat."""
        return 1 if self.quick else full

    def qa_file(self, count: int) -> Path:
        """A question file of `count` rows, written once."""
        path = self.work / f"qa-{count}.jsonl"
        return path if path.exists() else data.write_rows(path, data.qa_rows(count))


@dataclass(slots=True)
class Side:
    """What one side did, round by round."""

    usages: list[Usage] = field(default_factory=list)
    """What its processes used."""
    stats: list[StubStats] = field(default_factory=list)
    """What the stub saw of them."""

    def take(self, at: StubAddress, in_flight: int, run: Callable[[], Usage]) -> None:
        """One round."""
        at.reset()
        self.usages.append(run())
        self.stats.append(at.stats(in_flight))

    @property
    def rate(self) -> Series:
        """Steady requests per second, as the stub saw them."""
        rates = [seen.steady_per_s for seen in self.stats if seen.steady_per_s is not None]
        if not rates:
            raise BenchError("too few requests for a steady rate")
        return series(rates)

    @property
    def wall(self) -> Series:
        """Seconds from start to written results."""
        return series([used.wall_s for used in self.usages])

    @property
    def peak(self) -> Series:
        """Largest resident set, MB."""
        return series([used.peak_mb for used in self.usages])

    @property
    def stub_share(self) -> str:
        """How busy the stub was; near 100 % it was the limit, not the tool."""
        share = max(seen.cpu_s / seen.span_s if seen.span_s else 0.0 for seen in self.stats)
        return f"stub {100 * share:.0f} % busy"
