"""The cost of a load test, and of 1,000 such requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.config import Price

if TYPE_CHECKING:
    from benchwright.perf import Requests


def load_cost(requests: Requests, price: Price | None) -> dict[str, Any] | None:
    """The cost by the tokens of all complete replies, including warm-ups; None if no price is known. `coverage` is the share
    of replies whose tokens the server counted; the figures cover only these."""
    if price is None:
        return None
    import pyarrow.compute as pc

    whole = requests.completed
    by_server = pc.fill_null(pc.equal(whole["token_source"], "usage"), False)
    counted = whole.where(pc.and_(by_server, pc.is_valid(whole["input_tokens"])))
    prompt, completion, cached = (
        pc.sum(counted[name]).as_py() or 0 for name in ("input_tokens", "output_tokens", "cached_tokens")
    )
    amount = price.cost(prompt, completion, cached) if len(counted) else None
    each = None if amount is None else 1000 * amount / len(counted)
    coverage = len(counted) / len(whole) if len(whole) else 0.0
    return {**price.figures(amount, amount, coverage), "per_1000_requests": each}
