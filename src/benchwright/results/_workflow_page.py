"""The page of a workflow run in one file: what `show --json` prints, as much of it as a page holds."""

from __future__ import annotations

from collections import Counter

from benchwright.core import STREAM_FILES, JsonObject, JsonValue, exact_json
from benchwright.results._workflows import WorkflowDetails

MOST_STEPS = 300
"""The most steps on a page, as on the served one. Those that did not succeed go first."""
_MOST_POINTS = 2_000
"""The most points of each metric. The first ones are drawn."""
_MOST_EVENTS = 1_000
_MOST_BYTES = 1_500_000
"""About the most bytes of steps on a page, so that a browser opens it at once."""
_LONGEST_PRINTED = 100_000
"""Characters of what a program printed; the end is kept."""


def workflow_page(view: WorkflowDetails) -> JsonObject:
    """The JSON of the run with fewer steps, points and events if it has many. `shown` tells how many there are, which steps these are, and
    the means over all points."""
    document = view.to_json()
    places, steps = _chosen(view)
    rows = _list(document["rows"])
    own = [step for step in view.steps if not view.is_row(step)]
    points, left = [], Counter[str]()
    for point, value in zip(view.points, _list(document["metrics"]), strict=True):
        left[point.name] += 1
        if left[point.name] <= _MOST_POINTS:
            points.append(value)
    events = _list(document["events"])
    printed = {stream: _end(str(document[stream])) for stream in STREAM_FILES}
    return {
        **document,
        **printed,
        "samples": steps,
        "rows": _fitting(rows),
        "metrics": points,
        "events": events[:_MOST_EVENTS],
        "shown": {
            "places": places,
            "steps": len(own),
            "troubled": sum(step.not_well for step in own),
            "events": len(events),
            "rows": len(rows),
            "failed_rows": len(rows) if view.details.result is None else view.details.result.failed,
            "points": {
                name: {"count": totals.count, "mean": totals.mean, "last": totals.last}
                for name, totals in view.totals.items()
            },
        },
    }


def _chosen(view: WorkflowDetails) -> tuple[list[JsonValue], list[JsonValue]]:
    """The places of the chosen steps among all, and the steps."""
    found: list[tuple[int, JsonObject]] = []
    left = _MOST_BYTES
    for place in sorted(range(len(view.steps)), key=lambda place: not view.steps[place].not_well):
        if len(found) == MOST_STEPS or left <= 0:
            break
        if view.is_row(view.steps[place]):
            continue  # the rows have it
        step = view.steps[place].to_json()
        left -= len(exact_json(step))
        found.append((place, step))
    found.sort(key=lambda each: each[0])
    return [place for place, _ in found], [step for _, step in found]


def _fitting(rows: list[JsonValue]) -> list[JsonValue]:
    """The first rows, as many as a page holds."""
    left, found = _MOST_BYTES, []
    for row in rows[:MOST_STEPS]:
        found.append(row)
        left -= len(exact_json(row))
        if left <= 0:
            break
    return found


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _end(text: str) -> str:
    if len(text) <= _LONGEST_PRINTED:
        return text
    return f"(the last {_LONGEST_PRINTED:,} of {len(text):,} characters)\n{text[-_LONGEST_PRINTED:]}"
