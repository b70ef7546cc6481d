"""`benchwright perf --dry-run`: what a load test would send, printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchwright.cli._output import Output

if TYPE_CHECKING:
    from benchwright.config import LoadOptions, RunOptions
    from benchwright.runs import LoadCheck

_SHOWN_CHARS = 2000
"""Characters shown of a body; JSON has all of it."""


def show_plan(target: Any, options: RunOptions, how: LoadOptions, output: Output) -> int:
    """Print what would be sent; JSON: `{"checks": […], "exit_code": 0}`."""
    from benchwright.runs import check_perf

    checks = check_perf(target, options, how)
    if output.as_json:
        output.json({"checks": [check.to_json() for check in checks], "exit_code": 0})
        return 0
    for check in checks:
        where = ", ".join(check.urls) or "in this process"
        output.line(f"{check.name} on {check.model} ({where}): nothing was sent")
        for label, text in _lines(check):
            output.line(f"  {label:<7} {text}")
    return 0


def _lines(check: LoadCheck) -> Iterator[tuple[str, str]]:
    from benchwright.cli._check import cost_range
    from benchwright.core import encode_json, shown
    from benchwright.results import limits_words, plural

    load = check.load
    yield "load", f"profile {load.profile}: {_levels(check)}"
    if load.slo:
        yield "limits", limits_words(load)
    yield (
        "data",
        plural(check.rows, "row")
        + ("" if check.requests is None or check.requests <= check.rows else ", sent again from the first"),
    )
    of = "1,000 requests" if check.requests is None else f"{check.requests:,} {check.unit}"
    yield "tokens", f"about {check.prompt_tokens_estimate:,} of prompts in {of} (estimated)"
    if check.cost is not None:
        yield "cost", f"{of}: {cost_range(check.cost)} (prices of {check.cost['as_of']})"
    for note in check.notes:
        yield "note", note
    for request in check.first:
        body = shown(encode_json(request.body).decode())
        yield request.route, body if len(body) <= _SHOWN_CHARS else f"{body[:_SHOWN_CHARS]}…"


def _levels(check: LoadCheck) -> str:
    load = check.load
    unit = "requests per second" if load.open_loop else "in flight"
    levels = ", ".join(f"{level:g}" for level in load.levels)
    if load.profile == "trace":
        text = f"at the times of the rows, {levels} times as fast"
    elif load.profile == "throughput":
        text = "as many as the server takes"
    elif load.search is not None:
        text = f"a search from {load.search.lowest:g} to {load.search.highest:g} {unit}"
    elif load.ramp_start is not None:
        text = f"from {load.ramp_start:g} to {load.ramp_end:g} {unit}"
    else:
        text = f"{levels} {unit}"
    ends = [] if load.requests is None else [f"{load.requests:,} {check.unit}"]
    ends += [] if load.seconds is None else [f"{load.seconds:g} s"]
    each = " each" if len(load.levels) > 1 or load.search is not None else ""
    text += f", {' or '.join(ends)}{each}"
    for count, what in ((load.warmup, "warm-up"), (load.cooldown, "cool-down")):
        text += f", {count:,} for {what}" if count else ""
    return text
