"""`judge_score` for scorers that are called outside a run: it then sends the request to the judge itself."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

from benchwright.core import ModelReply
from benchwright.endpoints import AdaptedEndpoint, open_endpoint
from benchwright.engine import judge_request, judge_settings, judge_text
from benchwright.runs import in_event_loop
from benchwright.scorers import JudgeCall, ScorerInput, Scores
from benchwright.scorers import judge_score as _judge_score


@wraps(_judge_score)
def judge_score(sample: ScorerInput, *arguments: Any, **keywords: Any) -> Scores:
    """Grade a response with a judge. Within a run, the run sends the request and records it."""
    if sample.ask is None:
        sample = replace(sample, ask=_ask_once)
    return _judge_score(sample, *arguments, **keywords)


def _ask_once(call: JudgeCall) -> str:
    reply: ModelReply = in_event_loop(_ask(call))
    return judge_text(reply)


async def _ask(call: JudgeCall) -> ModelReply:
    endpoint = open_endpoint(judge_settings(call.config, parallelism=1), judge=True)
    try:
        return await AdaptedEndpoint(endpoint).send(judge_request(call))
    finally:
        await endpoint.aclose()
