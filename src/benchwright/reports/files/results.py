"""`results.yml`: the numbers of a run and what they were measured with.

Two runs that measured the same into the same folder give equal bytes, however often one of them was
interrupted: no times, run numbers, speeds or cache counts stand here. Numbers keep their full precision.
"""

from __future__ import annotations

from typing import Any

from benchwright.core import JsonObject, MetricSummary, RunSummary, known_secrets
from benchwright.reports.views.settings import command_of, endpoint_of, output_dir_of, params_of, without_none
from benchwright.store import RunRecord

ALL_REPLIES = "pass@1"
"""The group of means over all replies. With `--pass-k 1` the figure of that name is the same, row by row."""


def results_document(run: RunRecord, summary: RunSummary) -> JsonObject:
    """The content of `results.yml`.

    `results.tasks.<name>` holds `metrics.pass@1.scores.<metric>` with `value` and `stats`, with repeats also
    `metrics.avg@n`, `pass@k`, `cons@k`, `maj@n` and `agree@n`, then `outcomes` (all eight), `reasons`, `samples`, `comparable`, `partial` and `notes`. Unset values are left out.
    """
    task: JsonObject = {
        "metrics": {
            group: {"scores": {name: _score(metric) for name, metric in metrics.items()}}
            for group, metrics in {**summary.over_repeats, ALL_REPLIES: summary.metrics}.items()
        },
        "dataset": _dataset(run),
        "outcomes": dict(summary.outcomes),
        "reasons": dict(summary.reasons) or None,
        "samples": {
            "rows": summary.rows,
            "repeats": summary.repeats,
            "evaluated": summary.evaluated,
            "failed": summary.failed,
            "prompt_tokens": summary.prompt_tokens,
            "completion_tokens": summary.completion_tokens,
            "partly_counted": None if summary.partly_counted is None else dict(summary.partly_counted),
            "cut": summary.cut or None,
        },
        "comparable": summary.comparable,
        "partial": summary.partial,
        "notes": list(summary.notes),
        "derived": dict(summary.derived) or None,
        "headline": summary.headline,
        "lower_is_better": list(summary.lower_is_better) or None,
    }
    return {
        "command": command_of(run),
        "config": {
            "output_dir": output_dir_of(run),
            "params": params_of(run),
            "type": run.settings.get("eval_type", f"byob_{run.name}.{run.name}"),
        },
        "git_hash": None,
        "results": {"groups": {}, "tasks": {run.name: without_none(task)}},
        "target": {"api_endpoint": endpoint_of(run)},
    }


def _dataset(run: RunRecord) -> JsonObject:
    """Which data, by content, and how many examples stood in front of each prompt."""
    data, shots = run.manifest.get("dataset"), run.manifest.get("fewshot")
    known: JsonObject = dict(data) if isinstance(data, dict) else {}
    count = shots.get("count") if isinstance(shots, dict) else 0
    told: JsonObject = {
        "name": known.get("name"),
        "fingerprint": known.get("fingerprint"),
        "num_fewshot": count,
    }
    if isinstance(shots, dict) and "shown_min" in shots:  # records of older versions lack it
        told["fewshot_shown"] = {"min": shots["shown_min"], "mean": shots.get("shown_mean")}
    return told


def dump_yaml(document: JsonObject) -> bytes:
    """As YAML with sorted keys, one line per value, without secrets."""
    import yaml

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the quick one, not in every build
    kept = known_secrets().clean_value(document)  # notes and names may quote a server
    text: str = yaml.dump(
        kept, Dumper=dumper, sort_keys=True, allow_unicode=True, default_flow_style=False, width=2**20
    )
    return text.encode()


def _score(metric: MetricSummary) -> JsonObject:
    return {
        "value": metric.value,
        "stats": {
            "count": metric.count,
            "mean": metric.value,
            "stddev": metric.stddev,
            "stderr": metric.stderr,
            "sample_stderr": metric.sample_stderr,
            "ci95_low": metric.ci_low,
            "ci95_high": metric.ci_high,
            "interval": metric.interval,
            **({"too_few": True} if metric.too_few else {}),
            "min": metric.min,
            "max": metric.max,
            "mean_failures_as_wrong": metric.with_failures,
            "count_failures_as_wrong": metric.with_failures_count,
        },
    }
