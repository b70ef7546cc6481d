"""`judge_score` and `judge_panel` for scorers that are called outside a run: they then send the requests themselves."""

from __future__ import annotations

from functools import wraps
from typing import Any

from msgspec.structs import replace

from benchwright.core import ModelReply
from benchwright.endpoints import AdaptedEndpoint, open_endpoint
from benchwright.engine import in_event_loop, judge_request, judge_settings, judge_text
from benchwright.scorers import (
    JudgeCall,
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
    return replace(sample, ask=_ask_once) if sample.ask is None else sample


def _ask_once(call: JudgeCall) -> str:
    reply: ModelReply = in_event_loop(_ask(call))
    return judge_text(reply)


async def _ask(call: JudgeCall) -> ModelReply:
    endpoint = open_endpoint(judge_settings(call.config, parallelism=1), judge=True)
    try:
        return await AdaptedEndpoint(endpoint).send(judge_request(call))
    finally:
        await endpoint.aclose()
