"""What five steps of a request pipeline add to the CPU time of a row."""

from __future__ import annotations

import json

from benchmarks.figures import Figure, series, shown
from benchmarks.processes import stub
from benchmarks.rounds import IN_FLIGHT, Bench

FIVE_STEPS = {
    "interceptors": [
        {"name": "system_message", "config": {"system_message": "Answer with one word."}},
        {
            "name": "payload_modifier",
            "config": {
                "params_to_remove": ["top_p"],
                "params_to_add": {"top_k": 1},
                "params_to_rename": {"max_tokens": "max_completion_tokens"},
                "headers_to_add": {"X-Team": "search"},
            },
        },
        {"name": "request_logging"},
        {"name": "log_failed_requests"},
        {"name": "reasoning", "config": {"start_reasoning_token": "[T]", "end_reasoning_token": "[/T]"}},
    ]
}


def pipeline(bench: Bench) -> list[Figure]:
    """CPU per row with five steps over that with none."""
    few, many = (2_000, 10_000) if bench.quick else (10_000, 50_000)
    short, long = bench.qa_file(few), bench.qa_file(many)
    costs: dict[str, list[float]] = {"none": [], "five": []}
    with stub(0) as at:
        for _ in range(bench.rounds(5)):
            for name, steps in (("none", ""), ("five", json.dumps(FIVE_STEPS))):
                small = bench.ours.qa(short, at, in_flight=IN_FLIGHT, count=few, pipeline=steps)
                large = bench.ours.qa(long, at, in_flight=IN_FLIGHT, count=many, pipeline=steps)
                costs[name].append(1e6 * (large.cpu_s - small.cpu_s) / (many - few))
    five, none = series(costs["five"]), series(costs["none"])
    note = f"from {few:,} to {many:,} rows, {len(five.values)} rounds; five {five.spread} µs, none {none.spread} µs"
    name = "CPU per row with a pipeline of five steps over none"
    mine, other = f"{shown(five.middle)} µs", f"none {shown(none.middle)} µs"
    return [Figure(name, mine, other, five.middle / none.middle, "×", 1.3, at_least=False, note=note)]
