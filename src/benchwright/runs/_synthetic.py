"""The target of a load test with synthetic prompts: a benchmark without a file."""

from __future__ import annotations

from typing import Any

from benchwright.benchmarks import BenchmarkSpec
from benchwright.config import LoadOptions
from benchwright.core import UsageError
from benchwright.perf import USUAL_PROMPTS, open_text_maker, parse_synthetic, synthetic_rows
from benchwright.runs._targets import Target

SYNTHETIC = "synthetic"
"""Name of the data."""
_USUAL_REQUESTS = 200
"""The default number of requests if neither a number nor a duration is given."""


def synthetic_target(load: LoadOptions) -> Target:
    """The benchmark that `--synthetic` describes. Raises UsageError for prompts that cannot be made."""
    assert load.synthetic is not None
    if load.profile == "trace":
        raise UsageError(
            "--synthetic makes prompts without timestamps; --profile trace sends those of a file"
        )
    seed = load.schedule_seed or 0
    maker = open_text_maker(load.tokenizer, seed)
    made = synthetic_rows(parse_synthetic(load.synthetic), maker, seed, _sent(load))
    facts = {**made.facts, "description": load.synthetic, "exact": maker.exact}
    spec = BenchmarkSpec(
        name=SYNTHETIC,
        key=SYNTHETIC,
        dataset=made.rows,
        prompt="{prompt}",
        scorer=_unscored,
        max_tokens_field="max_tokens",
        unscored="synthetic prompts have no right answers",
        config={SYNTHETIC: facts},
    )
    return Target(spec, SYNTHETIC, SYNTHETIC)


def _sent(load: LoadOptions) -> int:
    """The most prompts that a test needs, so that none is sent twice."""
    if load.requests is None or load.find_max_load:
        return USUAL_PROMPTS if load.seconds or load.find_max_load else _USUAL_REQUESTS
    levels = max(1, len(load.rate or load.concurrency or ()))
    return (load.warmup or 0) + levels * (load.requests + (load.cooldown or 0))


def _unscored(sample: Any) -> dict[str, Any]:
    raise AssertionError("synthetic prompts have no right answers")
