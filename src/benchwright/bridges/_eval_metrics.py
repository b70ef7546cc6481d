"""The metrics file of `run_eval`: tokens and times of the replies, duration of the run, length of the reasoning."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

import orjson
from msgspec import Struct

from benchwright.core import Artifacts, JsonObject, JsonValue, RecordColumns, rfc3339
from benchwright.results import RunDetails

_OK = "200"
"""The status of every reply that could be read."""
RUN_TIMES = "run_times"
"""Folder with a file for each start of the run."""


class Start(Struct, frozen=True):
    """One start of a run: the first, or a resumption."""

    number: int
    """0 for the first."""
    began: float
    """Wall clock."""
    ended: float
    """Wall clock."""
    peak_bytes: int
    """Peak memory of this process."""
    peak_tree_bytes: int
    """Peak memory of this process plus that of the largest process that it started: an upper bound."""

    def to_json(self) -> JsonObject:
        """The content of `runtime_<n>.json`."""
        return {
            "run_id": str(self.number),
            "start_time": rfc3339(self.began),
            "end_time": rfc3339(self.ended),
            "runtime_seconds": self.ended - self.began,
            "peak_memory_bytes": self.peak_bytes,
            "peak_tree_memory_bytes": self.peak_tree_bytes,
        }


def last_start(details: RunDetails, number: int) -> Start | None:
    """The start that has just ended; None if a resumption found nothing to do."""
    began, ended = starts_of(details), details.run.finished_at
    if ended is None or ended < began[-1]:
        return None
    own, largest_child = peak_memory()
    return Start(number, began[-1], ended, own, own + largest_child)


def starts_of(details: RunDetails) -> list[float]:
    """When the run was started and resumed, by the wall clock."""
    resumed = [event.created_at for event in details.events if event.kind == "run.resumed"]
    return [details.run.created_at, *resumed]


def peak_memory() -> tuple[int, int]:
    """Peak memory in bytes of this process, and of the largest process that it started and that has ended."""
    import resource
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    own, child = (
        resource.getrusage(who).ru_maxrss * unit for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own, child


class Figure:
    """Sum, mean and maximum of numbers that come in blocks."""

    def __init__(self) -> None:
        self.total = 0.0
        self._count = 0
        self._most: float | None = None

    def add(self, values: Sequence[float]) -> None:
        """Add numbers."""
        if values:
            self._count += len(values)
            self.total += sum(values)
            most = max(values)
            self._most = most if self._most is None else max(self._most, most)

    def named(self, name: str) -> JsonObject:
        """`avg_<name>` and `max_<name>`; null if there was no number."""
        return {f"avg_{name}": self.total / self._count if self._count else None, f"max_{name}": self._most}


class ReplyCounts:
    """Counts over all replies of a run, in constant memory. Replies are added in blocks of columns, because adding them one
    by one would take three times as long."""

    def __init__(self, starts: Sequence[float]) -> None:
        self._starts = starts
        self._tokens = {name: Figure() for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
        self._latency = Figure()
        self._words = {name: Figure() for name in _WORDS}
        self._counts: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._windows: dict[int, tuple[float, float]] = {}

    def add(self, replies: RecordColumns) -> None:
        """Add recorded replies, including failed ones."""
        counts = self._counts
        counts["count"] += len(replies)
        counts["retries"] += sum(attempts - 1 for attempts in replies.given("attempts")) - sum(
            replies.given("lost")
        )
        latencies = replies.column("latency_s", 0.0)
        self._place(replies.column("started_at", 0.0), latencies)
        for _, _, status in replies.given("failure"):
            if status is None:
                counts["without_status"] += 1
            else:
                self._statuses[str(status)] += 1
        answered = [failure is None for failure in replies.column("failure")]
        counts["successful_count"] += sum(answered)
        self._statuses.update({_OK: sum(answered)} if any(answered) else {})
        self._latency.add([1000 * latency for latency in compress(latencies, answered)])
        self._reasons.update(replies.given("finish_reason"))
        counts["tool_calls_count"] += sum(map(len, replies.given("tool_calls")))
        used = [(usage[0], usage[1]) for usage in replies.given("usage") if usage[2] == "server"]
        self._tokens["prompt_tokens"].add([prompt for prompt, _ in used])
        self._tokens["completion_tokens"].add([completion for _, completion in used])
        self._tokens["total_tokens"].add([prompt + completion for prompt, completion in used])
        self._think(replies, answered)

    def _place(self, started: Sequence[float], latencies: Sequence[float]) -> None:
        """Widen the times of the starts that sent the requests. A reply from before the run came from an earlier run."""
        for began, latency in zip(started, latencies, strict=True):
            number = bisect_right(self._starts, began) - 1
            if number < 0:
                self._counts["cached_count"] += 1
                continue
            first, last = self._windows.get(number, (began, began))
            self._windows[number] = (min(first, began), max(last, began + latency))

    def _think(self, replies: RecordColumns, answered: Sequence[bool]) -> None:
        texts = list(compress(replies.column("text", ""), answered))
        thoughts = list(compress(replies.column("reasoning", ""), answered))
        states = compress(replies.column("status"), answered)
        thinking = [bool(thought) for thought in thoughts]
        self._counts["responses_with_reasoning"] += sum(thinking)
        # A pipeline may keep unfinished reasoning as the answer.
        kept = [
            thinks and text == f"<think>{thought}"
            for thinks, text, thought in zip(thinking, texts, thoughts, strict=True)
        ]
        self._counts["unfinished"] += sum(kept) + sum(
            thinks and state == "truncated" and not text
            for thinks, state, text in zip(thinking, states, texts, strict=True)
        )
        thought, said = ([len(text.split()) for text in each] for each in (thoughts, texts))
        both = [
            second if same else first + second
            for first, second, same in zip(thought, said, kept, strict=True)
        ]
        for name, words in zip(_WORDS, (thought, said, both), strict=True):
            self._words[name].add(words)

    @property
    def inference_s(self) -> float:
        """Seconds from the first request to the last reply, added up over all starts."""
        return sum(last - first for first, last in self._windows.values())

    @property
    def waited_s(self) -> float:
        """Seconds from each start to its first request, added up."""
        return sum(first - self._starts[number] for number, (first, _) in self._windows.items())

    def response_stats(self) -> JsonObject:
        """Tokens, latency, statuses and times."""
        counts = self._counts
        found: JsonObject = {"description": "Statistics of all replies of the run"}
        for name, figure in (*self._tokens.items(), ("latency_ms", self._latency)):
            found |= figure.named(name)
        names = ("count", "successful_count", "cached_count", "retries", "without_status", "tool_calls_count")
        last = max((last for _, last in self._windows.values()), default=None)
        return found | {
            **{name: counts[name] for name in names},
            "function_calls_count": 0,  # the older form of tool calls, which is never sent
            "finish_reason": dict(self._reasons),
            "stop_reason": {},
            "status_codes": dict(sorted(self._statuses.items())),
            "inference_time": self.inference_s,
            "run_id": len(self._starts) - 1,
            "last_request_time": last,  # a number, as readers expect here
            "inference_run_times": {str(n): self._run_times(n) for n in sorted(self._windows)},
        }

    def _run_times(self, number: int) -> JsonObject:
        began, (first, last) = self._starts[number], self._windows[number]
        return {
            "run_start": rfc3339(began),
            "first_request_time": rfc3339(first),
            "last_request_time": rfc3339(last),
            "inference_time": last - first,
            "time_to_first_request_seconds": first - began,
        }

    def reasoning(self) -> JsonObject:
        """How many replies show their reasoning, and how long it is in words."""
        counts = self._counts
        thinking, unfinished = counts["responses_with_reasoning"], counts["unfinished"]
        found: JsonObject = {
            "description": "Statistics of the reasoning in all replies of the run",
            "total_responses": counts["successful_count"],
            "responses_with_reasoning": thinking,
            "reasoning_started_count": thinking,
            "reasoning_finished_count": thinking - unfinished,
            "reasoning_unfinished_count": unfinished,
            "reasoning_finished_ratio": (thinking - unfinished) / thinking if thinking else 0.0,
        }
        for name in _WORDS:
            found |= {**self._words[name].named(name), f"total_{name}": int(self._words[name].total)}
        return found


_WORDS = ("reasoning_words", "updated_content_words", "original_content_words")
"""Word counts of the reasoning, of the answer without it, and of both."""


def metrics_document(blocks: Iterable[RecordColumns], details: RunDetails, files: Artifacts) -> JsonObject:
    """The content of `eval_factory_metrics.json`, from blocks of recorded replies. The files of the starts must exist."""
    counts = ReplyCounts(starts_of(details))
    for replies in blocks:
        counts.add(replies)
    return {
        "response_stats": counts.response_stats(),
        "evaluation": _evaluation(counts, files),
        "reasoning": counts.reasoning(),
    }


def run_times(files: Artifacts) -> list[str]:
    """The names of the files with the times of the starts."""
    return [name for name in files.names(RUN_TIMES) if name.startswith(f"{RUN_TIMES}/runtime_")]


def _evaluation(counts: ReplyCounts, files: Artifacts) -> JsonObject:
    """The figures of all starts. Start-up, inference and scoring add up to the run's time; scoring is the time after the
    last reply, because most scoring happens while other replies are awaited."""
    starts: list[dict[str, Any]] = [orjson.loads(files.read(name)) for name in run_times(files)]
    if not starts:
        return {"total_runs": 0}
    runtime = sum(start["runtime_seconds"] for start in starts)
    most: dict[str, JsonValue] = {
        name: max(start[name] for start in starts) for name in ("peak_memory_bytes", "peak_tree_memory_bytes")
    }
    return {
        "runtime_seconds": runtime,
        "start_time": min(start["start_time"] for start in starts),
        "end_time": max(start["end_time"] for start in starts),
        **most,
        "total_runs": len(starts),
        "startup_time_seconds": counts.waited_s,
        "inference_time_seconds": counts.inference_s,
        "scoring_time_seconds": max(0.0, runtime - counts.waited_s - counts.inference_s),
    }
