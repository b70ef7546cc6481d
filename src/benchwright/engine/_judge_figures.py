"""What the judges of a run took: requests, failures and tokens, apart from those of the model under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from benchwright.scorers import GRADE_OF, SCORE_OF
from benchwright.store import Store

_BATCH = 1000
_NONE = {
    "requests": 0, "failed": 0, "asked_again": 0, "prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0,
    "uncounted": 0,
}  # fmt: skip


def judge_figures(store: Store, run_id: int, rows: int) -> dict[str, dict[str, int]]:
    """By the judge's model: `requests`, `failed`, `asked_again`, `prompt_tokens`, `completion_tokens`, `cached_tokens`,
    `uncounted`."""
    found: dict[str, dict[str, int]] = {}
    if not store.count_steps(run_id, "judge"):
        return found
    for first in range(0, rows, _BATCH):
        for call in store.calls(run_id, first, first + _BATCH - 1, "judge").values():
            body = {} if call.input is None else orjson.loads(call.input)
            figures = found.setdefault(str(body.get("model", "")), dict(_NONE))
            _add(figures, body, orjson.loads(call.output))
    return found


def _add(figures: dict[str, int], body: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
    figures["requests"] += 1
    figures["failed"] += reply["s"] != "answered"
    # A question is one message; one that is repeated has the unreadable reply in it.
    figures["asked_again"] += len(body.get("messages") or ()) > 1
    usage = reply.get("u")
    if usage is not None:
        figures["prompt_tokens"] += usage[0]
        figures["completion_tokens"] += usage[1]
        figures["cached_tokens"] += usage[3] if len(usage) > 3 else 0
    elif "x" not in reply:
        figures["uncounted"] += 1


def verdicts_in(scores: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    """Grade and score of each judge of several, by its key; empty where there were not several."""
    return {
        (key := name.removeprefix(GRADE_OF)): (str(grade), float(scores[SCORE_OF + key]))
        for name, grade in scores.items()
        if name.startswith(GRADE_OF) and SCORE_OF + name.removeprefix(GRADE_OF) in scores
    }
