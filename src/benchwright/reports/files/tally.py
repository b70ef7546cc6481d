"""What is counted while the samples of a run stream by on their way to the predictions."""

from __future__ import annotations

from collections import Counter

from benchwright.core import WITHOUT_REPLY
from benchwright.reports.files.predictions import Predicted
from benchwright.reports.views.samples import SampleView

_FIRST = 10
"""Failures that a log quotes."""


class Tally:
    """Counters of one run, in memory that does not grow with it."""

    def __init__(self) -> None:
        self.samples = 0
        self.kinds: Counter[str] = Counter()
        """Failures by kind."""
        self.methods: Counter[str] = Counter()
        """Samples by the rule that read the answer; empty where scorers name none."""
        self.extracted = 0
        """Samples out of whose reply an answer was read."""
        self.unasked: list[str] = []
        """The first failures of asking, in the server's words."""
        self.unscored: list[str] = []
        """The first failures of scoring."""
        self.replies = 0
        self.latency_s = 0.0
        self.slowest_s = 0.0

    def add(self, predicted: Predicted) -> None:
        """One more sample."""
        view = predicted.view
        self.samples += 1
        if predicted.error is not None:
            self.kinds[str(predicted.error["kind"])] += 1
            quoted = self.unasked if view.outcome in WITHOUT_REPLY else self.unscored
            if len(quoted) < _FIRST:
                quoted.append(f"row {view.sample_id}/{view.repeat}: {view.error}")
        if view.latency_s is not None and view.outcome not in WITHOUT_REPLY:
            self.replies += 1
            self.latency_s += view.latency_s
            self.slowest_s = max(self.slowest_s, view.latency_s)
        scores = view.scores or {}
        method = scores.get("method")
        if isinstance(method, str):
            self.methods[method] += 1
        if extraction(view):
            self.extracted += 1


def extraction(view: SampleView) -> str | None:
    """The answer that was read out of a reply: what the scorer says, else the reply, unless nothing was read."""
    scores = view.scores or {}
    if "extracted" in scores:
        found = scores["extracted"]
        return str(found) if found not in (None, "") else None
    if scores.get("parsed") is False:
        return None
    return view.response or None
