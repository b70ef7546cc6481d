"""Shows a load test on the terminal: verdicts, levels, figures with intervals, and doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.core import LoadFile, open_artifacts, percent, printable
from benchwright.perf import (
    LATENCIES,
    METRICS,
    PER_REQUEST,
    Distribution,
    Metric,
    StageSummary,
)
from benchwright.reports.blocks import HEAVY, Block, Cell, Fitting, Grid, Lines, fitted, labelled, line
from benchwright.reports.terminal.result import note_rows, short_path
from benchwright.results import LoadView, cost_lines, plural, server_rows, short

_STYLES = {"ok": "green", "warn": "yellow", "bad": "red"}
_MARKS = {"ok": "✓", "warn": "!", "bad": "✗"}
_SHOWN = ("p50", "p90", "p95", "p99", "p99.9")


def load_blocks(view: LoadView) -> Iterator[Block]:
    """The title, the verdicts, the levels, the figures of one of them, and remarks."""
    run, summary = view.run, view.summary
    load = f"profile {summary.profile}"
    if summary.search is not None:
        load += f", {plural(len(summary.stages), 'probe')}"
    elif len(summary.stages) > 1:
        load += f", {len(summary.stages)} levels"
    name, model = (printable(run.name), "bold"), (printable(run.model or ""), "bold")
    yield line()
    yield Lines(((name, (" on ", ""), model, (f": {plural(summary.sent, 'request')}, {load}", "")),))
    for state, words in view.verdicts:
        told = printable(words), "" if state == "ok" else _STYLES[state]
        yield Lines((((f"{_MARKS[state]} ", _STYLES[state]), told),))
    if len(summary.stages) > 1:
        yield _levels(view)
    if len(summary.stages) == 1 or (summary.search is not None and summary.search.level is not None):
        stage = view.shown_stages[0]
        if len(summary.stages) > 1:
            title, of = view.best_words
            yield Lines((((f"{title}: ", ""), (stage.label, "bold"), (f", {of}", "")),))
        yield _rates(stage)
        yield _latencies(stage)
        for _, columns in LoadView.group_tables(stage):
            yield _groups(columns)
    yield _remarks(view)


def _groups(columns: Sequence[tuple[str, list[str]]]) -> Fitting:
    """Turns of conversations, or servers: one line each."""
    light = {"tpot": 1, "e2e\np50": 2, "ttft\np50": 3, "input": 4}
    return fitted(
        [
            (heading, [printable(cell) for cell in cells], next((n for start, n in light.items() if heading.startswith(start)), HEAVY))
            for heading, cells in columns
        ]
    )  # fmt: skip


def _levels(view: LoadView) -> Fitting:
    """A sweep or a search: one line per level or probe."""
    summary = view.summary
    scores = dict.fromkeys(printable(name) for stage in summary.stages for name in stage.scores)
    light = {f"{name}\nmean": 0 for name in [*scores][1:]} | {"itl": 1, "in fl": 2, "tpot": 3}
    columns = _level_columns(summary.stages)
    if view.probes:
        columns.insert(1, ("probe", view.probes))
    return fitted(
        [
            (heading, cells, next((weight for start, weight in light.items() if heading.startswith(start)), 4 if "p50" in heading else HEAVY))
            for heading, cells in columns
        ]
    )  # fmt: skip


def _level_columns(stages: Sequence[StageSummary]) -> list[tuple[str, list[str]]]:
    def figure(name: str) -> list[str]:
        return [short(stage.figure(name), METRICS[name]) for stage in stages]

    def percentiles(name: str, key: str) -> list[str]:
        found = [stage.metrics.get(METRICS[name].key) for stage in stages]
        return [_percentile(METRICS[name], each, key) for each in found]

    columns = [
        ("level", [stage.label for stage in stages]),
        ("sent", [f"{stage.counts.sent:,}" for stage in stages]),
        ("failed", [f"{stage.counts.failed:,}" for stage in stages]),
        ("requests\nper s", figure("request_throughput")),
        ("output\ntokens/s", figure("output_throughput")),
    ]
    for name in LATENCIES:
        if any(METRICS[name].key in stage.metrics for stage in stages):
            columns += [(f"{name}\n{key}, ms", percentiles(name, key)) for key in ("p50", "p99")]
    columns.append(("in flight\nmean", figure("mean_concurrency")))
    if any(stage.slo is not None for stage in stages):
        columns.append(("within\nlimits", figure("good_share")))
    if any(stage.server is not None and stage.server.spec_decode is not None for stage in stages):
        columns.append(("drafts\naccepted", [_acceptance(stage) for stage in stages]))
    names = dict.fromkeys(name for stage in stages for name in stage.scores)
    headline = next(iter(names), None)
    for score in names:
        scores = [stage.scores.get(score) for stage in stages]
        name = printable(score)
        columns.append((f"{name}\nmean", ["–" if each is None else f"{each.mean:.4f}" for each in scores]))
        if score == headline:
            ends = [None if each is None else each.mean_ci95 for each in scores]
            columns.append(
                ("\n95 %", ["–" if each is None else f"{each[0]:.2f} – {each[1]:.2f}" for each in ends])
            )
    columns.append(("steady", [stage.steady.verdict.replace("_", " ") for stage in stages]))
    return [(heading, cells) for heading, cells in columns if "p99" in heading or set(cells) != {"–"}]


def _acceptance(stage: StageSummary) -> str:
    spec = None if stage.server is None else stage.server.spec_decode
    return "–" if spec is None or spec.acceptance_rate is None else percent(spec.acceptance_rate, 1)


def _rates(stage: StageSummary) -> Grid:
    names = (
        "duration", "offered", "attempted", "request_throughput", "goodput", "input_throughput", "output_throughput",
        "peak_output_throughput", "mean_concurrency", "peak_concurrency",
    )  # fmt: skip
    rows: list[tuple[str, Cell]] = []
    for name in names:
        metric, value = METRICS[name], stage.figure(name)
        if value is not None:
            unit = metric.unit_title
            shown = f"{short(value, metric)}{' ' + unit if unit else ''}"
            if (ends := stage.intervals.get(metric.key)) is not None:
                shown += f"   95 % {short(ends[0], metric)} – {short(ends[1], metric)}"
            rows.append((metric.title, shown))
    rows += server_rows(stage)
    for name, found in stage.scores.items():
        span = found.mean_ci95
        interval = "" if span is None else f"   95 % {span[0]:.4f} – {span[1]:.4f}"
        with_failures = stage.scores_with_failures.get(name, found.mean)
        failures = "" if with_failures == found.mean else f"   failures as wrong {with_failures:.4f}"
        rows.append((f"score {printable(name)}", f"{found.mean:.4f}{interval}   n {found.n:,}{failures}"))
    return labelled(rows)


def _latencies(stage: StageSummary) -> Block:
    """The distributions: means with their intervals, percentiles, n."""
    seen: list[Distribution] = []
    rows = []
    for metric in PER_REQUEST:
        found = stage.metrics.get(metric.key)
        # Without reasoning, the first token and the first answer are the same: one line is enough.
        # Readers look for e2e, so it is shown even if replies of one token make it equal to another figure.
        if found is not None and (metric.name == "e2e" or found not in seen) and not _dull(metric, found):
            seen.append(found)
            rows.append(_cells(metric, found))
    if not rows:
        return line("\nno request completed\n")
    headings = ("", "mean", "95 % interval", *_SHOWN, "max", "n")
    weights = {"p95": 1, "p99.9": 2, "p90": 3, "max": 4, "95 % interval": 5}
    cells = list(zip(*rows, strict=True))
    return fitted(
        [(heading, each, weights.get(heading, HEAVY)) for heading, each in zip(headings, cells, strict=True)]
    )


def _dull(metric: Metric, found: Distribution) -> bool:
    """Whether a figure says nothing here: one token per event, no wait in the client, no reasoning."""
    constant = {"tokens_per_event": 1.0, "reasoning_tokens": 0.0, "cached_tokens": 0.0}
    return metric.name in constant and found.min == found.max == constant[metric.name]


def _percentile(metric: Metric, found: Distribution | None, key: str) -> str:
    return short(None if found is None else found.shown(key), metric)


def _cells(metric: Metric, found: Distribution) -> list[str]:
    unit = metric.unit_title
    ends = found.mean_ci95
    interval = "–" if ends is None else f"{short(ends[0], metric)} – {short(ends[1], metric)}"
    return [
        metric.name if metric.name.endswith(unit) else f"{metric.name}, {unit}",
        short(found.mean, metric),
        interval,
        *(_percentile(metric, found, key) for key in _SHOWN),
        short(found.max, metric),
        f"{found.n:,}",
    ]


def _files(view: LoadView) -> str:
    """The files of the test that were written; a killed test has none."""
    folder = view.run.folder
    files = open_artifacts(folder)
    written = [name for name in LoadFile if files.exists(name)]
    if written:
        return f"{short_path(folder)}/: {', '.join(written)}"
    return f"none were written; its requests: benchwright export {view.run.id} -o requests.csv"


def _remarks(view: LoadView) -> Grid:
    summary = view.summary
    rows: list[tuple[str, Cell]] = []
    for stage in summary.stages:
        where = "" if len(summary.stages) == 1 else f"{stage.label}: "
        rows += [("error", _error(where, each.outcome, each.count, each.first)) for each in stage.errors]
    rows += note_rows(view.notes)
    rows += [("cost", each) for each in cost_lines(summary.cost)]
    rows.append(("files", _files(view)))
    rows.append(
        (
            "run",
            f"{view.run.id} {view.run.status} (benchwright show {view.run.id}; a definition: benchwright perf --explain ttft)",
        )
    )
    return labelled(rows)


def _error(where: str, outcome: str, count: int, first: str) -> Cell:
    words = f": {printable(first)}" if first else ""
    return f"{where}{outcome} × {count:,}{words}", "red"
