"""`judge_score` and `judge_panel` for scorers that are called outside a run: they then send the requests themselves."""

from __future__ import annotations

from functools import wraps
from typing import Any

from msgspec.structs import replace

from benchwright.engine import ask_judge
from benchwright.scorers import (
    ScorerInput,
    Scores,
    judge_panel as _judge_panel,
    judge_score as _judge_score,
)


@wraps(_judge_score)
def judge_score(sample: ScorerInput, *arguments: Any, **keywords: Any) -> Scores:
    """Grade a response with a judge. Within a run, the run sends the request and records it."""
    return _judge_score(_with_sender(sample), *arguments, **keywords)


@wraps(_judge_panel)
def judge_panel(sample: ScorerInput, *arguments: Any, **keywords: Any) -> Scores:
    """Grade a response with several judges, in the same way."""
    return _judge_panel(_with_sender(sample), *arguments, **keywords)


def _with_sender(sample: ScorerInput) -> ScorerInput:
    return replace(sample, ask=ask_judge) if sample.ask is None else sample
