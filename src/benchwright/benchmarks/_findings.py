"""What the rows and the gold answers give to think about: the warnings of a check."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.benchmarks._gold import GoldCheck
from benchwright.benchmarks._missing_fields import target_error, target_problem
from benchwright.benchmarks._scan import RowScan
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies.base import Strategy


def missing_answers(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """That rows of a question file have no answer, where others have one: they are asked and not scored."""
    if not spec.family or spec.unscored or not scan.missing_targets:
        return None
    rows = _rows(scan.missing_targets, "has", "have")
    return f"{rows} no answer (of {scan.rows}): asked, and not scored"


def cut_conversations(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """That conversations end before their last turn, with the cure."""
    if not scan.cut_conversations:
        return None
    rows = _rows(scan.cut_conversations, "has", "have")
    return (
        f"{rows} more user turns than max_turns={spec.max_turns} (of {scan.rows}): the rest is not asked. Ask all of "
        f"them with max_turns={scan.longest_conversation} in @benchmark"
    )


def about_target(spec: BenchmarkSpec, scan: RowScan) -> Iterator[str]:
    """What is doubtful about the expected answers."""
    if spec.family:
        if problem := missing_answers(spec, scan):
            yield problem
        return
    if (absent := target_problem(spec, scan)) and not target_error(spec, scan):
        yield absent
    elif scan.missing_targets and spec.target_field in scan.columns:
        yield f'{_rows(scan.missing_targets)} without a target in "{spec.target_field}"; it is taken as empty'


def about_rows(spec: BenchmarkSpec, scan: RowScan, strategy: Strategy, source: str) -> Iterator[str]:
    """What is doubtful about the rows that can be asked."""
    for field, count in sorted(scan.null_fields.items()):
        yield f'field "{field}" is null in {_rows(count)} and reads as "None" in the prompt'
    if scan.repeated_prompts:
        again = _rows(scan.repeated_prompts, "repeats", "repeat")
        yield f"{again} what an earlier row asks, word for word"
    if scan.repeated_ids:
        yield f"{_rows(scan.repeated_ids, 'repeats', 'repeat')} the id of an earlier row"
    yield from strategy.doubts(scan, source)
    if cut := cut_conversations(spec, scan):
        yield cut


def about_gold(gold: GoldCheck) -> Iterator[str]:
    """What the scorer made of right answers, where it should have been something else."""
    wrong = gold.checked - gold.right
    if wrong:
        yield (
            f"{wrong} of {gold.checked} gold answers do not score as right ({gold.key}): "
            + "; ".join(gold.wrong)
            + (" …" if wrong > len(gold.wrong) else "")
        )
    if gold.failed:
        yield f"the scorer fails on the gold answers of {_rows(gold.failed)}: {'; '.join(gold.failures)}"


def _rows(count: int, one: str = "", many: str = "") -> str:
    """So many rows, with the verb that goes with the number."""
    return f"1 row {one}".strip() if count == 1 else f"{count} rows {many}".strip()
