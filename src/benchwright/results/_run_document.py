"""The JSON of a run for its page: what `show --json` prints, and the page in words."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from benchwright.core import JsonObject, JsonValue, RunSummary, load_exact_json, open_artifacts
from benchwright.results._kinds import kind_of
from benchwright.results._run_page import Group, run_page
from benchwright.results._runs import RunDetails, View
from benchwright.results._settings import table_of
from benchwright.store import RunRecord, Store


def run_document(store: Store, run: RunRecord) -> JsonObject:
    """A run of any kind as `show --json` prints it. A run with samples also has `page`: what its page shows, in words; None while
    there is no result; its `distributions` are None, because a page shows them later."""
    kind = kind_of(run)
    details = kind.details(store, run)
    if kind.samples is None:
        return details.to_json()
    result = details.result if isinstance(details, RunDetails) else kind.samples(store, run)[0].result
    page = None if result is None else _page(store, run, details, result)
    if isinstance(details, RunDetails):
        details = replace(details, read_distributions=None)
    return {**details.to_json(), "page": page}


def _page(store: Store, run: RunRecord, details: View, result: RunSummary) -> JsonObject:
    counts = group_counts(store, run)
    first = store.page_samples(run.id, limit=1).items
    columns = _columns(first[0].score_input if first else None)
    if not isinstance(details, RunDetails):  # the page of a workflow has its own words, about its steps too
        return {"counts": counts, "columns": columns}
    page = run_page(details, result, counts, first[0].call_input if first else None)
    page["columns"] = columns
    page["files"] = list[JsonValue](open_artifacts(run.folder).names())
    return page


def group_counts(store: Store, run: RunRecord) -> JsonObject:
    """The number of samples in each group, as the end of the run kept it, or counted now."""
    kept = store.overview(run)
    if kept is not None:
        return table_of(kept["counts"])
    counts: Counter[Group] = Counter()
    for facet, samples in store.sample_counts(run.id).items():
        counts[_group(facet.scored, facet.verdict)] += samples
    return {str(group): number for group, number in counts.items()}


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
