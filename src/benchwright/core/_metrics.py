"""What the name of a metric says about it, where nobody declared more: whether less is better, whether it is a time."""

from __future__ import annotations

import re
from collections.abc import Collection

_TIMES = ("latency", "duration", "ttft", "seconds", "_ms", "elapsed")
_LOWER_IS_BETTER = re.compile(
    r"(?:^|[^a-z])(?:wer|cer|ter|mae|mse|rmse|mape|loss|losses|nll|perplexity|ppl|brier|ece|errors?|mistakes?|distance"
    r"|hallucinat\w*|toxicity|cost)(?:[^a-z]|$)"
)


def is_time(name: str) -> bool:
    """Whether a metric measures time, by its name: such numbers differ from run to run.

    >>> is_time("latency_ms"), is_time("accuracy")
    (True, False)
    """
    return any(word in name.lower() for word in _TIMES)


def lower_is_better(name: str, declared: Collection[str] = ()) -> bool:
    """Whether a smaller value of this metric is a better one: declared so, or named like an error, a loss or a time.

    >>> lower_is_better("wer"), lower_is_better("error_rate"), lower_is_better("answer"), lower_is_better("x", ["x"])
    (True, True, False, True)
    """
    return name in declared or is_time(name) or _LOWER_IS_BETTER.search(name.lower()) is not None


def is_share(name: str) -> bool:
    """Whether values between 0 and 1 can be taken for shares, which never exceed 1. Times, losses and distances are none.

    >>> is_share("accuracy"), is_share("error_rate"), is_share("latency_s"), is_share("wer")
    (True, True, False, False)
    """
    return not is_time(name) and ("rate" in name.lower() or not lower_is_better(name))
