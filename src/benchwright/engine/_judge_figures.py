"""The effort of a run's judges: requests, failures and tokens, separate from those of the model under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from benchwright.store import Store

_BATCH = 1000


_FIGURES = (
    "requests",
    "failed",
    "asked_again",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "uncounted",
)


def judge_figures(store: Store, run_id: int, rows: int) -> dict[str, dict[str, int]]:
    """The effort of each judge, by model."""
    found: dict[str, dict[str, int]] = {}
    if not store.count_steps(run_id, "judge"):
        return {}
    for first in range(0, rows, _BATCH):
        for call in store.calls(run_id, first, first + _BATCH - 1, "judge").values():
            body = {} if call.input is None else orjson.loads(call.input)
            took = found.setdefault(str(body.get("model", "")), dict.fromkeys(_FIGURES, 0))
            _add(took, body, orjson.loads(call.output))
    return found


def _add(took: dict[str, int], body: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
    took["requests"] += 1
    took["failed"] += reply["s"] != "answered"
    # A first question is one message; a repeated one also contains the unreadable reply.
    took["asked_again"] += len(body.get("messages") or ()) > 1
    usage = reply.get("u")
    if usage is not None:
        took["prompt_tokens"] += usage[0]
        took["completion_tokens"] += usage[1]
        took["cached_tokens"] += usage[3] if len(usage) > 3 else 0
    elif "x" not in reply:
        took["uncounted"] += 1
