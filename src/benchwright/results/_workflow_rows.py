"""The rows of a workflow: what `ctx.sample` recorded, with the steps of each, and the means of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchwright.core import SAMPLE_STEP, JsonObject, JsonValue, is_share, load_exact_json
from benchwright.stats import ScoreAccumulator

if TYPE_CHECKING:
    from benchwright.results._workflows import StepView


def workflow_rows(steps: Sequence[StepView]) -> list[JsonValue]:
    """Each row of a workflow: `{id, status, error, row, response, target, scores, steps}`, failed ones first."""
    found: list[JsonObject] = []
    for view in steps:
        if not view.step.key.startswith(SAMPLE_STEP):
            continue
        known: Any = {} if view.step.input is None else load_exact_json(view.step.input)
        found.append(
            {
                "id": view.step.key.removeprefix(SAMPLE_STEP),
                "status": view.step.status,
                "error": view.step.error,
                **{name: known.get(name) for name in ("row", "response", "target", "scores")},
                "steps": known.get("steps") or [],
            }
        )
    found.sort(key=lambda row: row["status"] == "completed")
    return list(found)


def row_scores(rows: Sequence[JsonValue]) -> JsonObject:
    """The mean of each score over the rows: `{name: {value, ci_low, ci_high, n, too_few, failures_as_wrong}}`."""
    values: dict[str, list[float]] = {}
    failed = scored = 0
    for row in rows:
        known: Any = row
        if known["status"] != "completed":
            failed += 1
            continue
        scored += bool(known["scores"])
        for name, value in (known["scores"] or {}).items():
            values.setdefault(name, []).append(float(value))
    found: JsonObject = {}
    for name, each in values.items():
        counted = ScoreAccumulator(share=is_share(name))
        for place, value in enumerate(each):
            counted.add(value, place)
        summary = counted.summary()
        found[name] = {
            "value": summary.mean,
            "ci_low": summary.ci_low,
            "ci_high": summary.ci_high,
            "n": summary.count,
            "too_few": summary.too_few,
            # As in benchmarks: a failed row counts in what every other row has, and in nothing that only some have.
            "failures_as_wrong": sum(each) / (len(each) + failed) if failed and len(each) == scored else None,
        }
    return found
