"""Tokens and cost of a run, for rules about its usage."""

from __future__ import annotations

from benchwright.core import RunSummary
from benchwright.results._gates.policy import Rule


def used(rule: Rule, summary: RunSummary) -> float | str:
    """The figure, or the reason why there is none."""
    if rule.figure in ("cost", "cost_per_right_answer"):
        return _cost(rule, summary)
    if summary.prompt_tokens is None or summary.completion_tokens is None:
        counted = summary.partly_counted
        return (
            "the server counted no tokens"
            if counted is None
            else f"the server counted tokens in {counted['samples']:,} of {counted['of']:,} replies only"
        )
    prompt, completion = summary.prompt_tokens, summary.completion_tokens
    return float(
        {"prompt_tokens": prompt, "completion_tokens": completion}.get(rule.figure, prompt + completion)
    )


def _cost(rule: Rule, summary: RunSummary) -> float | str:
    """The total cost of model and judges, or the reason why it is unknown."""
    model = summary.cost or {}
    if model.get("amount") is None:
        return "the run has no cost: no price of its model is known, or the server counts no tokens"
    parts = [model, *(model.get("judges") or {}).values()]
    if summary.judges.keys() - (model.get("judges") or {}).keys() or any(
        part.get("amount") is None for part in parts
    ):
        return "the run has no cost as a whole: no price of a judge is known"
    if any(part.get("coverage", 1.0) < 1 for part in parts):
        return "the run has no cost as a whole: some replies have no count of tokens"
    currencies = {str(part.get("currency")) for part in parts}
    if len(currencies) > 1 or (rule.currency and rule.currency not in currencies):
        needed = f", and the rule is in {rule.currency}" if rule.currency else ""
        return f"the prices are in {' and '.join(sorted(currencies))}{needed}"
    total = float(sum(part["amount"] for part in parts))
    if rule.figure == "cost":
        return total
    right = model.get("right_answers")
    return total / right if right else "the run has no right answers, or no metric that counts them"
