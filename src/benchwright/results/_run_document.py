"""The JSON of a run for its page: what `show --json` prints, and the page in words."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from benchwright.core import JsonObject, JsonValue, load_exact_json, open_artifacts
from benchwright.results._kinds import kind_of
from benchwright.results._run_page import Group, run_page
from benchwright.results._runs import RunDetails
from benchwright.store import RunRecord, Store


def run_document(store: Store, run: RunRecord) -> JsonObject:
    """A run of any kind as `show --json` prints it. A benchmark run also has `page`: what its page shows, in words; None while
    there is no result; its `distributions` are None, because a page shows them later."""
    details = kind_of(run).details(store, run)
    if not isinstance(details, RunDetails):
        return details.to_json()
    return {**replace(details, read_distributions=None).to_json(), "page": _page(store, run, details)}


def _page(store: Store, run: RunRecord, details: RunDetails) -> JsonObject | None:
    if details.result is None:
        return None
    counts: Counter[Group] = Counter()
    for facet, samples in store.sample_counts(run.id).items():
        counts[_group(facet.scored, facet.verdict)] += samples
    first = store.page_samples(run.id, limit=1).items
    page = run_page(details, details.result, counts, first[0].call_input if first else None)
    page["columns"] = _columns(first[0].score_input if first else None)
    page["files"] = list[JsonValue](open_artifacts(run.folder).names())
    return page


def _columns(row: bytes | None) -> list[JsonValue]:
    """The columns of the data, by its first row."""
    try:
        found = load_exact_json(row or b"{}")
    except ValueError:  # damaged
        return []
    return list(found) if isinstance(found, dict) else []


def _group(scored: bool, verdict: str) -> Group:
    if not scored:
        return "failed"
    return "right" if verdict == "right" else "wrong" if verdict == "wrong" else "scored"
