"""The steady window of a stage: the span in which the load was as requested, and whether the server was steady in it.

It begins one mean latency after the requested number of requests is in flight, and ends with the last send. Its figures
count tokens that arrived and requests that ended in it; latencies are those of requests sent in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import fsum, sqrt
from typing import Any, Literal, TypeAlias

from msgspec import Struct, convert, structs

from benchwright.core import JsonObject, LoadProfile, as_json, ready
from benchwright.perf._columns import compute as pc, ones
from benchwright.perf._distributions import Distribution, describe, mean_of, numbers
from benchwright.perf._flight import InFlight, TokenArrivals, sums_per_slice
from benchwright.perf._metrics import METRICS, Metric
from benchwright.perf._requests import Requests
from benchwright.perf._stalls import Stall, stall_words
from benchwright.perf._values import LoadSettings

SteadyVerdict: TypeAlias = Literal["steady", "not_steady", "unclear", "absent"]

ALLOWED = 0.1
"""The allowed difference between a third of the window and the whole, and the allowed drift of latency, as shares."""
BEYOND_CHANCE = 3.0
"""Standard errors that a deviation must exceed to count."""
_PER_THIRD = 7
_BLOCKS = 20
_FEWEST = 60
"""The fewest requests in the window for a verdict."""


class SteadyWindow(Struct, frozen=True, kw_only=True):
    """The window, its figures, and whether the server was steady."""

    verdict: SteadyVerdict
    reasons: tuple[str, ...] = ()
    """Why it is absent, unclear or not steady."""
    start_s: float | None = None
    """Start, on the clock of the records."""
    end_s: float | None = None
    sent: int = 0
    """Requests sent in it."""
    completed: int = 0
    """Requests completed in it."""
    request_throughput_per_s: float | None = None
    output_throughput_tokens_per_s: float | None = None
    mean_concurrency: float | None = None
    thirds: tuple[float, ...] = ()
    """Throughput of each third, divided by that of the whole window."""
    drift_share: float | None = None
    """Change of the mean latency from the first quarter of the window to the last, as a share of the first: of ttft, or of e2e if
    replies are not streamed."""
    latencies: dict[str, Distribution] = {}
    """Distributions by key: ttft_ms, tpot_ms, e2e_ms."""

    def to_json(self) -> JsonObject:
        """The fields, with each latency as in the stage."""
        found: JsonObject = as_json(self)
        found["latencies"] = {key: each.to_json() for key, each in self.latencies.items()}
        return found

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SteadyWindow:
        """Read the form of `to_json`."""
        latencies = {key: Distribution.from_json(each) for key, each in stored["latencies"].items()}
        return structs.replace(convert({**stored, "latencies": {}}, ready(cls)), latencies=latencies)


def steady_window(
    sent: Requests,
    measurable: Requests,
    flight: InFlight,
    tokens: TokenArrivals | None,
    settings: LoadSettings,
    level: float | None,
    stalls: Sequence[Stall] = (),
) -> SteadyWindow:
    """The window of a stage, from its measured requests that were sent; `measurable` are those with latencies."""
    found = _span(sent, measurable, flight, settings, level)
    if isinstance(found, str):
        return SteadyWindow(verdict="absent", reasons=(found,))
    start, end = found
    ends = sent.completed["ended"]
    inside = ends.filter(pc.and_(pc.greater_equal(ends, start), pc.less(ends, end)))
    begun = sent.where(pc.greater_equal(sent["sent"], start))
    own = measurable.where(pc.greater_equal(measurable["sent"], start)).in_order("sent")
    length = end - start
    amounts = _slices(tokens, inside, start, length)
    thirds = _thirds(amounts)
    metric = METRICS["ttft" if pc.is_valid(measurable["first_token"]).true_count else "e2e"]
    drift = _drift(own, metric)
    verdict, reasons = _verdict(len(inside), amounts, thirds, metric, drift)
    if held := [stall for stall in stalls if stall.end > start and stall.start < end]:
        others = reasons if verdict == "not_steady" else ()  # of the same cause, if there are any
        verdict, reasons = "not_steady", (stall_words(held, pc.min(sent["sent"]).as_py()), *others[:1])
    produced = None if tokens is None else tokens.within(start, end) / length
    return SteadyWindow(
        verdict=verdict,
        reasons=reasons,
        start_s=round(start, 6),
        end_s=round(end, 6),
        sent=len(begun),
        completed=len(inside),
        request_throughput_per_s=round(len(inside) / length, 4),
        output_throughput_tokens_per_s=None if produced is None else round(produced, 3),
        mean_concurrency=round(flight.mean(start, end), 3),
        thirds=tuple(round(share, 4) for share in thirds),
        drift_share=None if drift is None else round(drift[1] / drift[0] - 1, 4),
        latencies={METRICS[name].key: each for name in ("ttft", "tpot", "e2e") if (each := _latency(own, METRICS[name]))},
    )  # fmt: skip


def _span(
    sent: Requests, measurable: Requests, flight: InFlight, settings: LoadSettings, level: float | None
) -> tuple[float, float] | str:
    """Start and end, or the reason why there is no window."""
    if not LoadProfile(settings.profile).steady:
        return f"the load of profile {settings.profile} is never in a steady state"
    if not len(measurable):
        return "no request completed"
    first, last = (pc.min(sent["sent"]).as_py(), pc.max(sent["sent"]).as_py())
    if settings.open_loop or level is None or settings.turn_mode is not None:  # idle users do not count
        target = max(1, round(flight.mean(first, last)))
        what = f"the mean of {target} in flight"
    else:
        target = round(level)
        what = f"the requested {target} in flight"
    reached = flight.first_at(target)
    if reached is None:
        return f"{what} was never reached: the peak was {flight.peak}"
    start = reached + mean_of(measurable.seconds("sent", "last_content"))
    if start >= last:
        return f"too short: it would start one mean latency after {what} was reached, and by then the last request had been sent. Send more requests"
    return start, last


def _slices(tokens: TokenArrivals | None, ends: Any, start: float, length: float) -> list[float]:
    """The output in each of 21 slices: tokens, or requests if tokens are unknown."""

    if tokens is not None:
        return tokens.per_slice(start, length, 3 * _PER_THIRD)
    each = ones(len(ends))
    return sums_per_slice(ends, each, start, length, 3 * _PER_THIRD)


def _thirds(amounts: Sequence[float]) -> list[float]:
    whole = fsum(amounts)
    if not whole:
        return []
    return [3 * fsum(amounts[at : at + _PER_THIRD]) / whole for at in range(0, 3 * _PER_THIRD, _PER_THIRD)]


def _chance(amounts: Sequence[float]) -> float:
    """Standard error of a third compared with the whole, as a share, from the spread within thirds."""
    mean = fsum(amounts) / len(amounts)
    squares = []
    for at in range(0, len(amounts), _PER_THIRD):
        third = amounts[at : at + _PER_THIRD]
        own = fsum(third) / len(third)
        squares += [(amount - own) ** 2 for amount in third]
    spread = sqrt(fsum(squares) / (len(amounts) - 3))
    return spread * sqrt(1 / _PER_THIRD - 1 / len(amounts)) / mean


_Drift: TypeAlias = tuple[float, float, bool]
"""The mean latency of the first quarter of the window and of the last, in seconds, and whether they differ by more than chance."""


def _drift(own: Requests, metric: Metric) -> _Drift | None:
    """The change over the window, in 20 blocks of equal numbers of requests, and by the slope of a line through their means."""
    assert metric.values is not None
    values = metric.values(own)
    known = pc.is_valid(values)
    latencies, times = numbers(values.filter(known)), numbers(own["sent"].filter(known))
    if len(latencies) < _BLOCKS:
        return None
    edges = [len(latencies) * block // _BLOCKS for block in range(_BLOCKS + 1)]
    spans = list(pairwise(edges))
    y = [fsum(latencies[a:b]) / (b - a) for a, b in spans]
    x = [fsum(times[a:b]) / (b - a) for a, b in spans]
    mean_x, mean_y = fsum(x) / _BLOCKS, fsum(y) / _BLOCKS
    spread = fsum((each - mean_x) ** 2 for each in x)
    quarter = _BLOCKS // 4
    first, last = fsum(y[:quarter]) / quarter, fsum(y[-quarter:]) / quarter
    if not spread or first <= 0:
        return None
    slope = fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread
    rest = fsum((b - mean_y - slope * (a - mean_x)) ** 2 for a, b in zip(x, y, strict=True))
    error = sqrt(rest / (_BLOCKS - 2) / spread)
    return first, last, abs(slope) > BEYOND_CHANCE * error


def _verdict(
    completed: int,
    amounts: Sequence[float],
    thirds: Sequence[float],
    metric: Metric,
    drift: _Drift | None,
) -> tuple[SteadyVerdict, tuple[str, ...]]:
    if completed < _FEWEST:
        return "unclear", (
            f"{completed} request{'' if completed == 1 else 's'} completed in the steady window, {_FEWEST} are needed",
        )
    if not thirds or drift is None:
        what = "output" if not thirds else metric.name
        return "unclear", (
            f"{completed} requests completed in the window, but too few of them were also sent in it to tell how {what} changed",
        )
    reasons, doubts = [], []
    furthest = max(thirds, key=lambda share: abs(share - 1))
    if abs(furthest - 1) > ALLOWED:
        shares = f"throughput of the window's thirds is {', '.join(f'{100 * share:.0f} %' for share in thirds)} of the mean"
        if abs(furthest - 1) > BEYOND_CHANCE * _chance(amounts):
            reasons.append(shares)
        else:
            doubts.append(f"{shares}, which may be chance with so few requests")
    first, last, certain = drift
    if certain and abs(last / first - 1) > ALLOWED:
        reasons.append(
            f"{metric.name} {'rose' if last > first else 'fell'} from {first * metric.scale:,.3g} to "
            f"{last * metric.scale:,.3g} {metric.unit} from the first quarter of the window to the last"
        )
    if reasons:
        return "not_steady", (*reasons, *doubts)
    return ("unclear", tuple(doubts)) if doubts else ("steady", ())


def _latency(own: Requests, metric: Metric) -> Distribution | None:
    assert metric.values is not None
    values = metric.values(own).drop_null()
    if not len(values):
        return None
    return describe(values, numbers(values.take(pc.sort_indices(values))), metric.scale, metric.digits)
