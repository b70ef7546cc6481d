"""`--format aisbench`: writes our figures of a load test to files with the names and forms of AISBench.

`performances/MODEL/DATA.csv` has the figures per request, `DATA.json` those of the whole test, `DATA_details.jsonl` each
request and `DATA_failed.jsonl` the failed requests. Numbers are texts with units, as readers of these files expect. The
definitions are ours: the first token is the first with content, and latency ends with the last content.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import orjson

from benchwright.core import Artifacts, known_secrets
from benchwright.perf import METRICS, Distribution, Requests, StageSummary, compute as pc
from benchwright.results import LoadView

_PER_REQUEST = {
    "E2EL": "e2e",
    "TTFT": "ttft",
    "TPOT": "tpot",
    "ITL": "itl",
    "InputTokens": "input_tokens",
    "OutputTokens": "output_tokens",
    "OutputTokenThroughput": "output_speed",
    "PrefillTokenThroughput": "prefill_speed",
}
_UNITS = {"ms": " ms", "tokens/s": " token/s"}
_HEADINGS = ("Performance Parameters", "Stage", "Average", "Min", "Max", "Median", "P75", "P90", "P99", "N")


def write(view: LoadView, requests: Requests, files: Artifacts) -> list[str]:
    """Write the files of each stage and return their names."""
    place = f"performances/{_safe(view.run.model or 'model')}"
    written = []
    for stage in view.summary.stages:
        level = "" if len(view.summary.stages) == 1 else f"_{_safe(stage.label)}"
        name = f"{place}/{_safe(view.run.name)}{level}"
        own = requests.stage(stage.stage)
        document = whole_test(view, stage, own.completed)
        for ending, content in ((".csv", parameter_table(stage).encode()), (".json", _json(document))):
            files.write(f"{name}{ending}", content)
            written.append(f"{name}{ending}")
        written += _write_lines(own, files, name)
    return written


def parameter_table(stage: StageSummary) -> str:
    """The figures over requests, as CSV."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_HEADINGS)
    for title, name in _PER_REQUEST.items():
        found = stage.metrics.get(METRICS[name].key)
        if found is not None:
            unit = _UNITS.get(METRICS[name].unit, "")
            writer.writerow([title, "total", *(f"{value:g}{unit}" for value in _statistics(found)), found.n])
    return stream.getvalue()


def _statistics(found: Distribution) -> list[float]:
    percentiles = (found.percentiles[key] for key in ("p50", "p75", "p90", "p99"))
    return [round(value, 4) for value in (found.mean, found.min, found.max, *percentiles)]


def whole_test(view: LoadView, stage: StageSummary, completed: Requests) -> dict[str, dict[str, str]]:
    """The figures of the whole stage, without unknown ones."""
    seconds = stage.figure("duration")
    limit = view.settings.max_concurrency if view.settings.open_loop else stage.level
    values = {
        "Benchmark Duration": None if seconds is None else f"{seconds * 1000:.4f} ms",
        "Total Requests": f"{stage.counts.sent}",
        "Failed Requests": f"{stage.counts.failed}",
        "Success Requests": f"{stage.counts.completed}",
        "Concurrency": _with_unit(stage, "mean_concurrency", ""),
        "Max Concurrency": None if limit is None else f"{limit:g}",
        "Request Throughput": _with_unit(stage, "request_throughput", " req/s"),
        "Total Input Tokens": _total(completed, "input_tokens"),
        "Total Generated Tokens": _total(completed, "output_tokens"),
        "Input Token Throughput": _with_unit(stage, "input_throughput", " token/s"),
        "Output Token Throughput": _with_unit(stage, "output_throughput", " token/s"),
        "Total Token Throughput": _with_unit(stage, "total_throughput", " token/s"),
    }
    return {title: {"total": value} for title, value in values.items() if value is not None}


def _total(completed: Requests, name: str) -> str | None:
    """A sum over all completed requests; None if one of them has no count."""
    counts = completed[name]
    return None if counts.null_count or not len(counts) else f"{pc.sum(counts).as_py()}"


def _with_unit(stage: StageSummary, name: str, unit: str) -> str | None:
    value = stage.figure(name)
    return None if value is None else f"{round(value, 4):g}{unit}" if value < 1e5 else f"{value:.4f}{unit}"


def _write_lines(requests: Requests, files: Artifacts, name: str) -> tuple[str, str]:
    """Write one line per request, and the failed requests to a second file."""
    details, failures = f"{name}_details.jsonl", f"{name}_failed.jsonl"
    with files.create(details) as all_, files.create(failures) as bad:
        for batch in requests.table.to_batches(max_chunksize=2_000):
            for row in batch.to_pylist():
                line = _json(_detail(row))
                all_.write(line)
                if row["outcome"] != "ok":
                    bad.write(line)
    return details, failures


def _detail(row: dict[str, Any]) -> dict[str, Any]:
    sent = row["sent_s"]
    return {
        "id": row["number"],
        "row": row["row"],
        "success": row["outcome"] == "ok",
        "error_info": row["error"] or ("" if row["outcome"] == "ok" else row["outcome"]),
        "input_tokens": row["input_tokens"],
        "output_tokens": row["output_tokens"],
        "uuid": f"{row['conversation'] if row['conversation'] is not None else row['number']}",
        "turn_id": row["turn"],
        "time_points": [] if sent is None else [sent, *(sent + at for at in row["arrivals_s"])],
    }


def _json(document: Any) -> bytes:
    return orjson.dumps(known_secrets().clean_value(document)) + b"\n"


def _safe(name: str) -> str:
    """A name for a file.

    >>> _safe("org/model 7b")
    'org_model_7b'
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("_.") or "load"
