"""The figures of a load test, once more: plain Python from the rows of `requests.parquet`, sharing no code with the product."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import Counter
from typing import Any

Row = dict[str, Any]


def was_sent(row: Row) -> bool:
    return row["outcome"] != "not_sent" and (row["sent_s"] is not None or row["outcome"] != "cancelled")


def measurable(row: Row) -> bool:
    times = [row[name] for name in ("sent_s", "last_content_s", "ended_s")]
    return row["outcome"] == "ok" and row["attempts"] == 1 and None not in times and not impossible(row)


def impossible(row: Row) -> bool:
    """Half of a microsecond either way is rounding."""
    order = ["first_byte_s", "first_event_s", "first_token_s", "first_answer_s", "last_content_s"]
    sent, ended = row["sent_s"], row["ended_s"]
    if any(row[name] is not None and not sent - 1e-6 <= row[name] <= ended + 1e-6 for name in order):
        return True
    arrivals = row["arrivals_s"]
    return any(b < a for a, b in itertools.pairwise(arrivals))


def minus(row: Row, end: str, start: str) -> float | None:
    return None if row[end] is None or row[start] is None else row[end] - row[start]


def over(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None or b <= 0 else a / b


def one_less(count: int | None) -> int | None:
    return None if count is None else count - 1


def gaps(row: Row) -> list[float]:
    arrivals = row["arrivals_s"]
    return [b - a for a, b in itertools.pairwise(arrivals)]


def values_of(row: Row) -> dict[str, list[float | None]]:
    """What one request adds to each distribution, in the unit of the key."""
    decode = minus(row, "last_content_s", "first_token_s")
    ttft, e2e = minus(row, "first_token_s", "sent_s"), minus(row, "last_content_s", "sent_s")
    tokens, own = row["output_tokens"], gaps(row)
    per_token = over(decode, one_less(tokens))
    seconds: dict[str, list[float | None]] = {
        "ttft_ms": [ttft],
        "ttft_planned_ms": [minus(row, "first_token_s", "planned_s")],
        "ttft_answer_ms": [minus(row, "first_answer_s", "sent_s")],
        "first_event_ms": [minus(row, "first_event_s", "sent_s")],
        "first_byte_ms": [minus(row, "first_byte_s", "sent_s")],
        "itl_ms": list(own),
        "itl_mean_ms": [over(decode, len(row["arrivals_s"]) - 1)],
        "itl_max_ms": [max(own) if own else None],
        "tpot_ms": [per_token],
        "itl_per_token_ms": [per_token],
        "e2e_ms": [e2e],
        "e2e_planned_ms": [minus(row, "last_content_s", "planned_s")],
        "stream_close_ms": [minus(row, "ended_s", "last_content_s")],
        "send_delay_ms": [minus(row, "sent_s", "planned_s")],
    }
    found = {key: [None if x is None else x * 1000 for x in each] for key, each in seconds.items()}
    return found | {
        "input_tokens": [row["input_tokens"]],
        "output_tokens": [tokens],
        "cached_tokens": [row["cached_tokens"]],
        "reasoning_tokens": [row["reasoning_tokens"]],
        "tokens_per_event": [over(tokens, len(row["arrivals_s"]))],
        "output_speed_tokens_per_s": [over(tokens, e2e)],
        "decode_speed_tokens_per_s": [over(one_less(tokens), decode)],
        "prefill_speed_tokens_per_s": [over(row["input_tokens"], ttft)],
    }


def described(values: list[float]) -> Row:
    """n, mean, std, min, percentiles and max, to three decimals."""
    values = sorted(values)
    mean = sum(values) / len(values)
    found: Row = {"n": len(values), "mean": mean, "min": values[0], "max": values[-1]}
    found["std"] = (
        math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1)) if len(values) > 1 else None
    )
    for percent in (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9):
        place = percent / 100 * (len(values) - 1)
        low, high = values[math.floor(place)], values[math.ceil(place)]
        found[f"p{percent}"] = low + (high - low) * (place - math.floor(place))
    return {name: x if x is None or name == "n" else round(x, 3) for name, x in found.items()}


def stage_of(rows: list[Row]) -> Row:
    """Everything of one stage but intervals, limits and the steady window."""
    rows = [row for row in rows if row["phase"] == "measured"]
    sent = [row for row in rows if was_sent(row)]
    done = [row for row in sent if row["outcome"] == "ok"]
    pooled: dict[str, list[float]] = {}
    for row in filter(measurable, done):
        for key, each in values_of(row).items():
            pooled.setdefault(key, []).extend(x for x in each if x is not None)
    found: Row = {key: described(each) if each else None for key, each in pooled.items()}
    plans = [row["planned_s"] for row in rows if row["planned_s"] is not None]
    start = min(plans) if plans else min(row["sent_s"] for row in sent if row["sent_s"] is not None)
    duration = max(row["ended_s"] for row in sent) - start
    found["duration_s"] = round(duration, 6)
    first = plans.count(min(plans)) if plans else 1
    found["offered_per_s"] = round((len(plans) - first) / (max(plans) - min(plans)), 4) if plans else None
    sends = [row["sent_s"] for row in sent if row["sent_s"] is not None]
    found["attempted_per_s"] = round((len(sends) - first) / (max(sends) - min(sends)), 4)
    found["request_throughput_per_s"] = round(len(done) / duration, 4)
    for name in ("input", "output"):
        found[f"{name}_throughput_tokens_per_s"] = round(
            sum(row[f"{name}_tokens"] for row in done) / duration, 3
        )
    total = sum(row["input_tokens"] + row["output_tokens"] for row in done)
    found["total_throughput_tokens_per_s"] = round(total / duration, 3)
    found["mean_concurrency"] = round(
        sum(row["ended_s"] - row["sent_s"] for row in sent if row["sent_s"] is not None) / duration, 3
    )
    found["peak_concurrency"] = peak(
        [(row["sent_s"], row["ended_s"]) for row in sent if row["sent_s"] is not None]
    )
    found["error_share"] = round((len(sent) - len(done)) / len(sent), 6)
    tokens = sorted(
        (row["sent_s"] + arrival, row["output_tokens"] / len(row["arrivals_s"]))
        for row in done
        if not impossible(row)
        for arrival in row["arrivals_s"]
    )
    times = [time for time, _ in tokens]
    sums = [0.0, *itertools.accumulate(count for _, count in tokens)]
    fullest = max(sums[place + 1] - sums[bisect_right(times, time - 1)] for place, time in enumerate(times))
    mean = sum(row["output_tokens"] for row in done) / duration
    found["peak_output_throughput_tokens_per_s"] = round(max(fullest, mean), 3)
    return found


def group_of(rows: list[Row]) -> Row:
    """What a turn or a server has of its own: counts, outcomes, headline times, tokens."""
    rows = [row for row in rows if row["phase"] == "measured"]
    sent = [row for row in rows if was_sent(row)]
    done = [row for row in sent if row["outcome"] == "ok"]
    found: Row = {
        "sent": len(sent),
        "completed": len(done),
        "failed": len(sent) - len(done),
        "not_sent": len(rows) - len(sent),
        "outcomes": dict(Counter(row["outcome"] for row in rows)),
    }
    for key in ("ttft_ms", "itl_ms", "tpot_ms", "e2e_ms"):
        values = [x for row in filter(measurable, done) for x in values_of(row)[key] if x is not None]
        if values:
            found[key] = {**described(values), "mean_ci95": None, "p99_ci95": None}
    inputs = [row["input_tokens"] for row in done if row["input_tokens"] is not None]
    found["input_tokens"] = round(sum(inputs) / len(inputs), 3) if inputs else None
    both = [(row["input_tokens"], row["cached_tokens"]) for row in done]
    both = [(whole, cached) for whole, cached in both if whole is not None and cached is not None]
    whole = sum(each for each, _ in both)
    found["cached_share"] = round(sum(each for _, each in both) / whole, 6) if whole else None
    return found


def turns_of(rows: list[Row]) -> list[Row]:
    """The first ten turns apart, the later ones together."""
    measured = [row for row in rows if row["phase"] == "measured" and row["conversation"] is not None]
    found = []
    for turn in sorted({min(row["turn"], 10) for row in measured}):
        label = "turn 11 and later" if turn == 10 else f"turn {turn + 1}"
        own = [row for row in measured if min(row["turn"], 10) == turn]
        found.append({"label": label, **group_of(own)})
    return found


def urls_of(rows: list[Row], urls: tuple[str, ...]) -> list[Row]:
    """Each of several servers, busy or not."""
    if len(urls) == 1:
        return []
    return [
        {"label": url, **group_of([row for row in rows if row["url"] == place])}
        for place, url in enumerate(urls)
    ]


def peak(spans: list[tuple[float, float]]) -> int:
    changes = sorted(
        [(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans], key=lambda c: (c[0], c[1])
    )
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most
