"""Checks that gold answers score as right, by running the scorer on the target itself, without any model."""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.benchmarks._fields import target_of
from benchwright.benchmarks._scan import ScannedRow, estimate_tokens
from benchwright.benchmarks._scoring import scores_of
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._strategies.base import Strategy, size_of
from benchwright.core import BenchwrightError, encode_json

if TYPE_CHECKING:
    from benchwright.scorers import JudgeCall, Scores

LISTED = 5
"""How many wrong or failing rows a gold check lists."""

JUDGED = "the scorer asks a judge"
"""The reason why a gold check skips the scorer: a judge costs requests."""

ASKED_ROWS = 20
"""Rows from which the questions to judges are estimated."""

BUDGET_S = 10.0
"""The longest time for all gold answers; a scorer may be slow, for example because it runs code."""


class GoldCheck(Struct, frozen=True):
    """The result of scoring the gold answers."""

    checked: int = 0
    """Rows whose target was scored as if the model had answered it."""
    right: int = 0
    """How many of them scored as right."""
    key: str | None = None
    """The score that says right or wrong; None if the scorer gives no such score."""
    wrong: tuple[str, ...] = ()
    """The first rows that scored as wrong, with what was tried."""
    failed: int = 0
    """Rows on which the scorer raised or returned no scores."""
    failures: tuple[str, ...] = ()
    """The first errors that it raised, each once with its first row."""
    skipped: str | None = None
    """Why nothing, or nothing more, was checked."""
    judged: bool = False
    """Whether the scorer asks a judge."""
    looked_at: int = 0
    """Rows that were tried: the first ones of the data."""
    judges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The effort of each judge per sample, by model, if the reply is the gold answer: its requests, and the tokens of their prompts,
    estimated."""

    @property
    def tried(self) -> int:
        """Rows whose target was scored: rows with a verdict, and rows on which the scorer failed."""
        return self.checked + self.failed


def check_gold(
    spec: BenchmarkSpec,
    rows: Iterable[ScannedRow],
    strategy: Strategy,
    *,
    source: str = "row",
    clock: Callable[[], float] = time.monotonic,
) -> GoldCheck:
    """Score the target of each row as the model's answer.

    A target is tried in the spellings that a model would use (an index also as a letter, a list item by item); the row is
    right if one of them is. If candidates are ranked, the row is right if one candidate, as the most likely, scores as right.
    Scorers that ask a judge are skipped, because a judge costs a request.
    """
    if spec.unscored:
        return GoldCheck(skipped=spec.unscored)
    if spec.judge_problems():  # reported separately; the scorer would only repeat them row by row
        return _JUDGED
    trial = _Trial(spec, strategy, source)
    deadline = clock() + BUDGET_S
    skipped: str | None = None
    looked_at = judged = tried = 0
    for scanned in rows:
        looked_at += 1
        target = target_of(spec, scanned.row)
        if target is None or target == "":
            continue
        if clock() > deadline:
            skipped = f"stopped after {trial.checked} rows: the scorer is slow"
            break
        judged += trial.add(scanned, target)
        tried += 1
        if judged and tried >= ASKED_ROWS:
            break
    if judged:  # the scores mean nothing, but the questions are known
        return replace(_JUDGED, judges=trial.judges(tried))
    if not trial.checked and not trial.failed and skipped is None:
        if spec.judges():
            return _JUDGED
        skipped = (
            "no row can be sent"
            if not looked_at
            else "no row has a target"
            if not tried
            else "the scorer gives no right-or-wrong score"
        )
    return replace(trial.found(skipped), looked_at=looked_at)


_JUDGED = GoldCheck(skipped=JUDGED, judged=True)


class _Trial:
    """Scores right answers, one row at a time."""

    def __init__(self, spec: BenchmarkSpec, strategy: Strategy, source: str) -> None:
        self._spec = spec
        self._strategy = strategy
        self._source = source
        self._judge_called = False
        self._key: str | None = None
        self._wrong: list[str] = []
        self._first_rows: dict[str, str] = {}
        self._failing: Counter[str] = Counter()
        self._asked: dict[str, list[int]] = {}
        self.checked = self.right = self.failed = 0

    def judges(self, samples: int) -> dict[str, tuple[float, float]]:
        """The effort of judges per sample."""
        return {
            name: (len(sizes) / samples, estimate_tokens(sum(sizes)) / samples)
            for name, sizes in self._asked.items()
        }

    def add(self, scanned: ScannedRow, target: Any) -> bool:
        """Try one row. Returns True if the scorer calls a judge; its scores then mean nothing, and nothing is counted."""
        from benchwright.scorers import JudgeFailedError

        self._judge_called = False
        try:
            key, is_right = self._verdict(scanned, target)
        except Exception as error:
            if self._judge_called or isinstance(error, JudgeFailedError):
                return True
            self.failed += 1
            text = f"{type(error).__name__}: {error}"
            self._first_rows.setdefault(text, f"{self._source}:{scanned.line}: {text}")
            self._failing[text] += 1
            return False
        if self._judge_called:
            return True
        if key is not None:
            self._key = self._key or key
            self.checked += 1
            self.right += is_right
            if not is_right:
                place = f"{self._source}:{scanned.line}"
                self._wrong.append(f"{place}: target {_short(target)} gives {key} = false")
        return False

    def found(self, skipped: str | None) -> GoldCheck:
        """The result over all rows."""
        failures = [
            first if self._failing[text] == 1 else f"{first} (and {self._failing[text] - 1} more)"
            for text, first in self._first_rows.items()
        ]
        more = [f"and {len(failures) - LISTED} other texts"] if len(failures) > LISTED else []
        return GoldCheck(
            self.checked,
            self.right,
            self._key,
            tuple(self._wrong[:LISTED]),
            self.failed,
            (*failures[:LISTED], *more),
            skipped,
        )

    def _refuse(self, call: JudgeCall) -> str:
        from benchwright.scorers import JudgeFailedError

        self._judge_called = True
        asked = self._asked.setdefault(call.config.model_id, [])
        asked.append(size_of(encode_json(call.body.get("messages")).decode()))
        raise JudgeFailedError("a check asks no judge")

    def _verdict(self, scanned: ScannedRow, target: Any) -> tuple[str | None, bool]:
        from benchwright.scorers import ScorerInput

        spec, key = self._spec, None
        for answer in self._strategy.gold(scanned, target):
            sample = ScorerInput(
                answer.response, target, answer.metadata, config=spec.config, ask=self._refuse
            )
            if answer.conversation is not None:
                sample.conversation, sample.turn_index = answer.conversation, answer.turn_index
            result = _finished(spec.score(sample))
            if self._judge_called:  # and the scorer caught the error; one try shows a sample's questions
                return None, False
            try:
                scores = scores_of(result)
            except BenchwrightError as error:
                raise TypeError(str(error)) from None
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
    """The value of a scorer's result. An `async` scorer runs to its end in a thread with a separate event loop."""
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
