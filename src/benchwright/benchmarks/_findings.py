"""What the rows and the gold answers give to think about: the warnings of a check."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.benchmarks._absent import target_error, target_problem
from benchwright.benchmarks._fields import target_of
from benchwright.benchmarks._gold import GoldCheck, ranked_row
from benchwright.benchmarks._scan import RowScan
from benchwright.benchmarks._scoring import call_scorer
from benchwright.benchmarks._spec import BenchmarkSpec, Strategy

_OPENS = "([{<\"'`/\\-=_*$#@«“‘„"
_FIRST_UNSPACED = "\u2e80"
"""From here on stand the scripts of East Asia, which put no spaces between words."""


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


def reread_targets(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """That the scorer takes targets for another candidate than the one whose text they are, with the cure.

    Whether it does is tried on the first such row: a scorer of the user's own may read either way.
    """
    from benchwright.scorers import ScorerInput, reread_target

    row = scan.reread_first
    if row is None:
        return None
    target = target_of(spec, row.row)
    meant, read = reread_target(target, row.choices) or (0, 0)

    def scored(best: int) -> object:
        metadata = ranked_row(row, best)
        sample = ScorerInput(row.choices[best], target, metadata, config=spec.config)
        scores = call_scorer(spec, sample)
        return scores.get("acc") if isinstance(scores, dict) else None

    try:
        if scored(meant) or not scored(read):
            return None
    except Exception:  # reported by the check of gold answers
        return None
    rows = _rows(scan.reread_targets, "has a target that is", "have targets that are")
    return (
        f"{rows} the text of one candidate and the index or letter of another: {target!r} in line {row.line} is read as "
        f"{row.choices[read].strip()!r}. To read targets as texts first, score with multiple_choice_acc_verbatim"
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
    if strategy == "choices":
        yield from _about_choices(scan, source)
        if reread := reread_targets(spec, scan):
            yield reread
    if cut := cut_conversations(spec, scan):
        yield cut
    if strategy == "multi_turn" and spec.prompt and spec.turns_field:
        first = next(iter(scan.first), None)
        turns = first.row.get(spec.turns_field) if first is not None else None
        if first is not None and turns and turns[0] == first.prompt.text:
            yield (
                f'"{spec.turns_field}" begins with the prompt itself, which is then asked twice; leave the prompt '
                f'empty (prompt="") when the column holds every turn'
            )


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


def _about_choices(scan: RowScan, source: str) -> Iterator[str]:
    """Candidates are appended as they stand: without a space between, another word is ranked than was meant."""
    for scanned in scan.first:
        text = scanned.prompt.flat
        glued = next((choice for choice in scanned.choices if _runs_together(text, choice)), None)
        if glued is not None:
            yield (
                f"choices are appended as they stand, and {source}:{scanned.line} ends in "
                f'"…{text[-12:]}{glued[:20]}"; begin each choice with a space: " {glued[:20]}"'
            )
            return


def _runs_together(text: str, choice: str) -> bool:
    if not text or not choice or text[-1].isspace() or text[-1] in _OPENS:
        return False
    return choice[0].isalnum() and max(text[-1], choice[0]) < _FIRST_UNSPACED


def _rows(count: int, one: str = "", many: str = "") -> str:
    """So many rows, with the verb that goes with the number."""
    return f"1 row {one}".strip() if count == 1 else f"{count} rows {many}".strip()
