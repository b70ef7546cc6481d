"""A benchmark on the package's own data."""

from __future__ import annotations

from benchwright import ScorerInput, benchmark, scorer
from refund_desk.scoring import brevity


@benchmark(name="refunds", dataset="tickets://open", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return brevity(sample)
