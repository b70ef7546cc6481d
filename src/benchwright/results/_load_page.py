"""The page of a load test: its JSON, the definitions of its figures, the numbers of its charts, and sentences about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.core import JsonObject, JsonValue, percent, rfc3339
from benchwright.perf import LATENCIES, METRICS, Requests, StageSummary
from benchwright.results._figures import cost_lines, money
from benchwright.results._load import LoadView, limit_text, none_within_limits
from benchwright.results._load_charts import load_charts
from benchwright.results._load_verdicts import server_rows
from benchwright.results._settings import endpoint_origin, load_origin
from benchwright.store import RunRecord, Store

_SETTINGS = {"urls": "servers", "drain_s": "time to drain", "usual_tokens": "longest reply"}
"""Settings whose names do not tell what they are."""


def load_page(view: LoadView, requests: Requests) -> JsonObject:
    """Everything that the page of a load test shows."""
    summary, run = view.summary, view.run
    return {
        **view.to_json(),
        "metrics": {name: _definition(name) for name in METRICS},
        "charts": load_charts(requests, summary),
        "words": {
            "about": f"Run {run.id}, {run.status}, started {rfc3339(run.created_at)[:16].replace('T', ' ')} UTC.",
            "verdicts": [[state, sentence] for state, sentence in view.verdicts],
            "latencies": list(LATENCIES),
            "best": _best(view),
            "probes": [*view.probes] or None,
            "cost": _cost(summary.cost),
            "stages": [_stage(stage) for stage in summary.stages],
            "settings": [[name, text, origin] for name, text, origin in _settings(view)],
        },
    }


def load_document(store: Store, run: RunRecord) -> JsonObject:
    """The page of a recorded load test, also of one that has not ended."""
    from benchwright.results._load import load_requests

    return load_page(LoadView.recorded(store, run), load_requests(store, run.id))


def _definition(name: str) -> JsonObject:
    metric = METRICS[name]
    facts = metric.to_json()
    del facts["better"]  # the page says it in words
    return {**facts, "unit_title": metric.unit_title, "per_request": metric.values is not None}


def _best(view: LoadView) -> JsonObject | None:
    """The stage whose figures come first. None is marked as the best if a search has no answer, or no level is within the limits."""
    summary, stage = view.summary, LoadView.best_stage(view.summary)
    if stage is None:
        return None
    title, of = view.best_words
    marked = not none_within_limits(summary) if summary.search is None else summary.search.level is not None
    place = summary.stages.index(stage)
    return {"place": place, "marked": marked, "title": title, "of": of}


def _stage(stage: StageSummary) -> JsonObject:
    groups: list[JsonValue] = [
        {"what": what, "columns": [[heading, [*cells]] for heading, cells in columns]}
        for what, columns in LoadView.group_tables(stage)
    ]
    return {"server": [[title, text] for title, text in server_rows(stage)], "groups": groups}


def _cost(cost: Mapping[str, Any] | None) -> list[JsonValue]:
    """The cost of the test and of 1,000 such requests; empty if no price is known."""
    if cost is None:
        return []
    about = "The tokens of all whole replies, warm-ups included, at the price of the day of the price file"
    if cost["amount"] is None or cost["per_1000_requests"] is None:
        (line,) = cost_lines(cost)
        return [{"title": "cost", "value": "–", "unit": "", "detail": line, "about": about}]
    value, _, unit = money(cost["per_1000_requests"], cost["currency"]).partition(" ")
    whole = f"{money(cost['amount'], cost['currency'])} for this test; prices of {cost['as_of']}"
    part = "" if cost["coverage"] >= 1 else f", {percent(cost['coverage'])} of the replies"
    return [
        {
            "title": "cost of 1,000 requests",
            "value": value,
            "unit": unit,
            "detail": whole + part,
            "about": about,
        }
    ]


def _settings(view: LoadView) -> list[tuple[str, str, str | None]]:
    """Descriptions of the settings, without those that are off, and where each comes from."""
    recorded: JsonObject = {"origins": view.origins}
    model = endpoint_origin(recorded, "model_id")
    rows: list[tuple[str, str, str | None]] = [
        ("target", view.run.target, None),
        ("model", view.run.model_title, model),
    ]
    url = view.endpoint.get("url")
    if url and not view.settings.urls:
        rows.append(("address", str(url), endpoint_origin(recorded, "url")))
    for name, value in view.settings.to_json().items():
        if value in (None, (), [], {}, 0, False) and name not in ("seed", "warmup"):
            continue
        title, unit = (name.removesuffix("_s"), " s") if name.endswith("_s") else (name, "")
        words = _SETTINGS.get(name, title.replace("_", " "))
        rows.append((words, f"{_setting(name, value)}{unit}", load_origin(recorded, name)))
    return rows


def _setting(name: str, value: Any) -> str:
    if name == "search":
        known = ((key, each) for key, each in value.items() if each is not None and key != "sized")
        return ", ".join(f"{key.replace('_', ' ')} {each:g}" for key, each in known)
    if name == "slo":
        return ", ".join(f"{limit} ≤ {limit_text(seconds)}" for limit, seconds in value)
    if isinstance(value, list | tuple):
        return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in value)
    if isinstance(value, bool):
        return "yes"
    return f"{value:g}" if isinstance(value, float) else str(value)
