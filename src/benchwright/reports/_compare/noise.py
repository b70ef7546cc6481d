"""Which metrics differ from run to run without saying anything."""

from __future__ import annotations


def is_time(name: str) -> bool:
    """Whether a metric measures time, by its name: such numbers differ from run to run.

    >>> is_time("latency_ms"), is_time("accuracy")
    (True, False)
    """
    return any(word in name.lower() for word in ("latency", "duration", "ttft", "seconds", "_ms", "elapsed"))
