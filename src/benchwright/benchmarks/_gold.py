"""Proof that gold answers score as right: the scorer is run on the target itself, without any model."""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.benchmarks._fields import target_of
from benchwright.benchmarks._judges import judge_count, judge_problems
from benchwright.benchmarks._scan import ScannedRow
from benchwright.benchmarks._scoring import InvalidScores, call_scorer, scores_of
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies.base import Strategy

if TYPE_CHECKING:
    from benchwright.scorers import Ask, JudgeCall, Scores

LISTED = 5
"""How many wrong or failing rows a gold check lists."""

JUDGED = "the scorer asks a judge"
"""Why a gold check leaves it at that: a judge costs requests."""

BUDGET_S = 10.0
"""A scorer that is slow (it may run code) is not waited for longer than this."""


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """What the scorer made of the gold answers."""

    checked: int = 0
    """Rows whose target was scored as if the model had answered it."""
    right: int = 0
    """How many of them came out right."""
    key: str | None = None
    """The score that says right or wrong; None when the scorer gives no such score."""
    wrong: tuple[str, ...] = ()
    """Rows that came out wrong, with what was tried; the first few."""
    failed: int = 0
    """Rows on which the scorer raised or returned no scores."""
    failures: tuple[str, ...] = ()
    """What it raised, each text once with its first row; the first few."""
    skipped: str | None = None
    """Why nothing, or no more, was checked."""
    judged: bool = False
    """Whether the scorer asks a judge."""


def check_gold(
    spec: BenchmarkSpec,
    rows: Sequence[ScannedRow],
    strategy: Strategy,
    *,
    source: str = "row",
    clock: Callable[[], float] = time.monotonic,
) -> GoldCheck:
    """Score the target of each row as the model's answer.

    A target is tried in the spellings a model would use (an index also as a letter, a list item by item); the
    row is right if one of them is. Where candidates are ranked, it is right if some candidate, being the most
    likely, wins. Scorers that ask a judge are skipped: a judge costs a request.
    """
    from benchwright.scorers import JudgeFailedError

    if spec.unscored:
        return GoldCheck(skipped=spec.unscored)
    if judge_problems(spec):  # told by themselves; the scorer would only repeat them row by row
        return GoldCheck(skipped=JUDGED, judged=True)
    asked = False

    def ask(call: JudgeCall) -> str:
        nonlocal asked
        asked = True
        raise JudgeFailedError("a check asks no judge")

    checked = right = failed = 0
    key: str | None = None
    wrong: list[str] = []
    failures: dict[str, str] = {}
    failing: Counter[str] = Counter()
    skipped: str | None = None
    deadline = clock() + BUDGET_S
    for scanned in rows:
        target = target_of(spec, scanned.row)
        if target is None or target == "":
            continue
        if clock() > deadline:
            skipped = f"stopped after {checked} rows: the scorer takes long"
            break
        try:
            found_key, is_right = _verdict(spec, scanned, target, strategy, ask)
        except Exception as error:
            if asked or isinstance(error, JudgeFailedError):
                return GoldCheck(skipped=JUDGED, judged=True)
            failed += 1
            text = f"{type(error).__name__}: {error}"
            failures.setdefault(text, f"{source}:{scanned.line}: {text}")
            failing[text] += 1
            continue
        if asked:  # and caught what came of it: the scores say nothing
            return GoldCheck(skipped=JUDGED, judged=True)
        if found_key is None:
            continue
        key = key or found_key
        checked += 1
        right += is_right
        if not is_right:
            wrong.append(f"{source}:{scanned.line}: target {_short(target)} gives {found_key} = false")
    if not checked and not failed and skipped is None:
        if judge_count(spec):
            return GoldCheck(skipped=JUDGED, judged=True)
        skipped = "no row has a target, or the scorer gives no right-or-wrong score"
    told = [
        first if failing[text] == 1 else f"{first} (and {failing[text] - 1} more)"
        for text, first in failures.items()
    ]
    more = [f"and {len(told) - LISTED} other texts"] if len(told) > LISTED else []
    return GoldCheck(checked, right, key, tuple(wrong[:LISTED]), failed, (*told[:LISTED], *more), skipped)


def _verdict(
    spec: BenchmarkSpec, scanned: ScannedRow, target: Any, strategy: Strategy, ask: Ask
) -> tuple[str | None, bool]:
    from benchwright.scorers import ScorerInput

    key = None
    for response, metadata, conversation in strategy.gold(scanned, target):
        sample = ScorerInput(response, target, metadata, config=spec.config, ask=ask)
        if conversation is not None:
            sample.conversation, sample.turn_index = conversation, 0
        scores = scores_of(_finished(call_scorer(spec, sample)))
        if isinstance(scores, InvalidScores):
            raise TypeError(scores.message)
        key = _deciding_key(scores, spec.headline)
        if key is None:
            return None, False
        if scores[key]:
            return key, True
    return key, False


def _deciding_key(scores: Scores, headline: str | None) -> str | None:
    for key in (headline, "correct", "acc"):
        if key is not None and isinstance(scores.get(key), bool | int | float):
            return key
    return next((key for key, value in scores.items() if isinstance(value, bool)), None)


def _finished(result: Any) -> Any:
    """The value of a scorer's result; an `async` scorer is run to its end in a thread with a loop of its own."""
    if not inspect.isawaitable(result):
        return result
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def value() -> Any:
        return await result

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(value())).result()


def _short(value: Any) -> str:
    text = repr(value)
    return f"{text[:60]}…" if len(text) > 60 else text
