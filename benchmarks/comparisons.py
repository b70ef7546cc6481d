"""All comparisons by the name that `--only` takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import data
from benchmarks.figures import Figure, series, shown
from benchmarks.function_calling import function_calling
from benchmarks.large_runs import large_runs
from benchmarks.latency import latency
from benchmarks.memory import memory
from benchmarks.per_row import per_row
from benchmarks.pipeline import pipeline
from benchmarks.processes import stub
from benchmarks.questions import questions
from benchmarks.rounds import IN_FLIGHT, Bench, Side
from benchmarks.sample_pages import sample_pages
from benchmarks.speed import speed
from benchmarks.start import start
from benchmarks.streams import streams
from benchmarks.workflow_batches import workflow_batches
from benchmarks.workflow_steps import workflow_steps

CHOICE_ROWS = 500


def help_text(bench: Bench) -> list[Figure]:
    """CPU time of `benchwright --help`."""
    times = series([bench.ours.help().cpu_s for _ in range(2 if bench.quick else 9)])
    note = f"{len(times.values)} rounds, {times.spread} s"
    name = "CPU time of --help"
    return [Figure(name, f"{times.middle:.3f} s", "", times.middle, "s", 0.2, at_least=False, note=note)]


def choices(bench: Bench) -> list[Figure]:
    """Log-likelihood of four choices per row, against lm_eval."""
    rows = data.write_rows(bench.work / "choices.jsonl", data.choice_rows(CHOICE_ROWS))
    tokenizer = data.write_tokenizer(bench.work / "tokenizer", data.choice_rows(CHOICE_ROWS))
    ours, theirs = Side(), Side()
    with stub(0) as at:
        run = partial(bench.ours.choices, rows, at, in_flight=IN_FLIGHT, count=4 * CHOICE_ROWS)
        for _ in range(bench.rounds(5)):
            ours.take(at, IN_FLIGHT, run)
            if bench.lm_eval:
                other = partial(bench.lm_eval.choices, rows, at, tokenizer, in_flight=IN_FLIGHT)
                theirs.take(at, IN_FLIGHT, other)
    mine = ours.rate
    note = f"{CHOICE_ROWS} rows × 4 choices, {len(ours.usages)} rounds; ours {mine.spread}; {ours.stub_share}"
    name = "log-likelihood requests/s, 64 in flight, 0 ms"
    if not bench.lm_eval:
        return [Figure(name, f"{shown(mine.middle)}/s", "", mine.middle, "/s", note=note)]
    rate = theirs.rate
    beside = f"lm_eval {shown(rate.middle)}/s"
    note += f"; lm_eval {rate.spread}"
    return [Figure(name, f"{shown(mine.middle)}/s", beside, mine.middle / rate.middle, "×", 2, note=note)]


COMPARISONS: dict[str, Callable[[Bench], list[Figure]]] = {
    "help": help_text,
    "start": start,
    "speed": speed,
    "streams": streams,
    "latency": latency,
    "per-row": per_row,
    "pipeline": pipeline,
    "choices": choices,
    "memory": memory,
    "questions": questions,
    "workflow-steps": workflow_steps,
    "sample-pages": sample_pages,
    "large-runs": large_runs,
    "workflow-batches": workflow_batches,
    "function-calling": function_calling,
}
