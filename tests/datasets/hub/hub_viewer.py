"""The dataset viewer's part of the loopback hub."""

from __future__ import annotations

from typing import Any

from hub_content import Repo

Answer = tuple[int, Any, dict[str, str]]
_PARAMETERS = {"rows": ("config", "split"), "first-rows": ("config", "split")}
_KNOWN = ("is-valid", "splits", "size", "info", "parquet", "first-rows", "rows")


def viewer_answer(repos: dict[str, Repo], token: str | None, route: str, query: dict[str, str]) -> Answer:
    """Status, body and headers for one request."""
    what = route.strip("/")
    if what not in _KNOWN:
        return 404, {"error": "no such route"}, {}
    missing = [name for name in ("dataset", *_PARAMETERS.get(what, ())) if not query.get(name)]
    if missing:
        return _error(422, "MissingRequiredParameter", f"Parameter {missing[0]!r} is required")
    repo = repos.get(query["dataset"])
    if repo is None or (token not in repo.readers and (repo.private or repo.gated)):
        if token is None:
            return _error(
                401, "ExternalUnauthenticatedError", "The dataset does not exist, or is not accessible"
            )
        return _error(404, "ExternalAuthenticatedError", "The dataset does not exist, or is not accessible")
    headers = {"X-Revision": repo.shown_revision or repo.refs.get("main", "")}
    if not repo.shown:
        return _error(
            500, "ResponseNotReady", "The server is busier than usual and the response is not ready yet."
        )
    if what == "is-valid":
        body: Any = {"preview": True, "viewer": True, "search": False, "filter": False, "statistics": False}
    elif what in ("rows", "first-rows"):
        return _rows(repo, query, headers, first=what == "first-rows")
    else:
        body = _listing(repo, what, query.get("config"))
    return 200, body, headers


def _listing(repo: Repo, what: str, only: str | None) -> Any:
    ends: dict[str, Any] = {"pending": [], "failed": []}
    pairs = [
        (c, s, rows) for c, splits in repo.shown.items() for s, rows in splits.items() if only in (None, c)
    ]
    if what == "splits":
        return {"splits": [{"dataset": repo.id, "config": c, "split": s} for c, s, _ in pairs], **ends}
    if what == "size":
        sizes = [
            {"dataset": repo.id, "config": c, "split": s, "num_rows": len(rows), "num_columns": 1}
            for c, s, rows in pairs
        ]
        return {"size": {"splits": sizes}, **ends, "partial": repo.partial}
    if what == "parquet":
        files = [
            {"dataset": repo.id, "config": c, "split": s, "url": "", "filename": "0000.parquet", "size": 0}
            for c, s, _ in pairs
        ]
        return {"parquet_files": files, **ends, "partial": repo.partial}
    return {"dataset_info": {c: {} for c, _, _ in pairs}, **ends, "partial": repo.partial}


def _rows(repo: Repo, query: dict[str, str], headers: dict[str, str], *, first: bool) -> Answer:
    rows = repo.shown.get(query["config"], {}).get(query["split"])
    if rows is None:
        return _error(404, "ResponseNotFound", "Not found.")
    offset, length = int(query.get("offset") or 0), int(query.get("length") or 100)
    if length > 100 or offset < 0:
        return _error(422, "InvalidParameter", "Parameter 'length' must not be greater than 100")
    names = list(dict.fromkeys(name for row in rows for name in row))
    features = [
        {
            "feature_idx": i,
            "name": name,
            "type": repo.feature_types.get(name, {"dtype": "string", "_type": "Value"}),
        }
        for i, name in enumerate(names)
    ]
    found = [
        {"row_idx": offset + i, "row": row, "truncated_cells": list(repo.truncated)}
        for i, row in enumerate(rows[offset : offset + length])
    ]
    body: dict[str, Any] = {"features": features, "rows": found}
    if not first:
        body |= {"num_rows_total": len(rows), "num_rows_per_page": 100, "partial": repo.partial}
    return 200, body, headers


def _error(status: int, code: str, message: str) -> Answer:
    return status, {"error": message}, {"X-Error-Code": code, "X-Error-Message": message}
