"""The rows of a workflow: what `ctx.sample` recorded, with the steps of each, and the means of their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.core import (
    SAMPLE_STEP,
    JsonObject,
    JsonValue,
    NoteGrade,
    Outcome,
    RunSummary,
    SampleRecord,
    load_exact_json,
    lower_is_better,
    percent,
)
from benchwright.stats import Aggregator
from benchwright.store import RunRecord, Store, verdict_of

if TYPE_CHECKING:
    from benchwright.results._workflows import StepView


_MOST_FAILED = 0.05
"""The share of failed rows above which figures are not compared, as of benchmarks if nothing else is set."""


def workflow_rows(steps: Sequence[StepView], numbers: Mapping[str, int]) -> list[JsonValue]:
    """Each row of a workflow: `{id, sample_id, status, error, row, response, target, scores, messages, steps}`, failed ones first, then wrong ones. `numbers` has the
    number of its sample by its name."""
    found: list[JsonObject] = []
    for view in steps:
        name = view.step.key.removeprefix(SAMPLE_STEP)
        if name == view.step.key or name not in numbers:
            continue
        known: Any = load_exact_json(view.step.input or b"{}")
        found.append(
            {
                "id": name,
                "sample_id": numbers[name],
                "status": view.step.status,
                "error": view.step.error,
                **{field: known.get(field) for field in ("row", "response", "target", "scores")},
                "messages": known.get("messages") or [],
                "steps": known.get("steps") or [],
            }
        )
    found.sort(key=_order)
    return list(found)


def _order(row: Mapping[str, Any]) -> int:
    if row["status"] != "completed":
        return 0
    return 1 if verdict_of(row["scores"]) == "wrong" else 2


def rows_summary(
    store: Store, run: RunRecord, left_out: Collection[int] = ()
) -> tuple[RunSummary | None, dict[str, int]]:
    """The figures of the rows of a workflow, as of the samples of a benchmark, and the number of each row by its name; None if it has no rows.
    Rows with some numbers can be left out.

    Copies of a row are one cluster of the intervals, as repeats are.
    """
    records = []
    numbers: dict[str, int] = {}
    for number, _, digest, text in store.scored(run.id):
        if number in left_out:
            continue
        fields = SampleRecord.score_fields(text)
        records.append((digest, fields))
        numbers[str(fields.get("name"))] = number
    if not records:
        return None, {}
    clusters: dict[bytes, int] = {}
    for digest, _ in records:
        clusters.setdefault(digest, len(clusters))
    sums = Aggregator()
    for digest, fields in sorted(records, key=lambda record: clusters[record[0]]):  # copies follow each other
        if fields.get("scores") is None:
            sums.add_failure(clusters[digest])
        else:
            sums.add(clusters[digest], fields["scores"])
    outcomes = Counter(str(fields["outcome"]) for _, fields in records)
    wrong = sums.summaries_with_failures_as_wrong() if sums.failed else {}
    metrics = {
        # Counting a failure as 0 would give an error rate its best value.
        name: each.counting_failures(None if lower_is_better(name) else wrong.get(name))
        for name, each in sums.summaries().items()
    }
    usage: list[Any] = [fields.get("usage") for _, fields in records]
    counted = all(each is not None and None not in each for each in usage)
    tokens = [sum(each[place] for each in usage) if counted else None for place in (0, 1)]
    partial = run.status != "completed"
    share = sums.failed / len(records)
    problems = [
        *(
            [f"{percent(share, 1)} of the rows failed: not comparable with other runs"]
            if share > _MOST_FAILED
            else ()
        ),
        *([f"partial: the run is {run.status}"] if partial else ()),
    ]
    summary = RunSummary(
        rows=len(clusters),
        repeats=1,
        evaluated=len(records),
        outcomes={outcome.value: outcomes[outcome.value] for outcome in Outcome},
        metrics=metrics,
        failed=sums.failed,
        comparable=not problems,
        partial=partial,
        notes=problems,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        note_grades=dict.fromkeys(problems, NoteGrade.PROBLEM.value),
        unscored="" if metrics or sums.failed else "no row was given a score",
        lower_is_better=[name for name in metrics if lower_is_better(name)],
    )
    return summary, numbers


def row_scores(summary: RunSummary | None) -> JsonObject:
    """The mean of each score over the rows: `{name: {value, ci_low, ci_high, n, too_few, failures_as_wrong}}`."""
    return {
        name: {
            "value": each.value,
            "ci_low": each.ci_low,
            "ci_high": each.ci_high,
            "n": each.count,
            "too_few": each.too_few,
            "failures_as_wrong": each.with_failures,
        }
        for name, each in ({} if summary is None else summary.metrics).items()
    }
