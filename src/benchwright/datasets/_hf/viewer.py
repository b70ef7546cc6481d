"""The dataset viewer's REST interface: which splits it knows, and rows a hundred at a time.

It knows only the default branch, at the commit that each answer names. So it is the last resort, and an answer for
another commit than the pinned one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from benchwright.core import DatasetError, JsonObject, load_exact_json
from benchwright.datasets._hf.errors import HubRefusedError, HubUnreachableError, RepoRef, complaint
from benchwright.datasets._hf.hub import Hub
from benchwright.datasets._hf.parts import RowWriter
from benchwright.datasets._hf.row_cache import Entry, Part
from benchwright.datasets._hf.splits import split_identity

ROWS_PER_CALL = 100
"""The most that the viewer returns."""
ROWS_PER_PART = 2000
"""Rows kept as one file."""

_NOT_VALUES = {"Image", "Audio", "Video", "Pdf", "Nifti"}


class Viewer(Struct, frozen=True):
    """The viewer, for one commit of one dataset."""

    hub: Hub
    """The hub it belongs to."""
    ref: RepoRef
    """What the user named."""
    commit: str
    """The pinned commit; answers for another are refused."""

    def get(self, endpoint: str, **parameters: str | int) -> dict[str, Any]:
        """One answer. Raises DatasetError if the request is refused, or the answer is about another commit."""
        query = urlencode({"dataset": self.ref.repo, **parameters})
        try:
            body, headers = self.hub.client.whole(f"{self.hub.settings.viewer}/{endpoint}?{query}")
        except HubRefusedError as failure:
            if failure.code == "ResponseNotReady":
                raise self.error("has not processed the dataset yet; try again in some minutes") from None
            if failure.code in ("ResponseNotFound", "InvalidParameter", "MissingRequiredParameter"):
                raise self.error(f"refuses: {failure.message or failure.code}") from None
            raise complaint(failure, self.ref, self.hub.settings) from None
        except HubUnreachableError as failure:
            raise self.error(f"cannot be reached ({failure})") from None
        about = headers.get("x-revision")
        if about != self.commit:
            seen = f"commit {about}" if about else "a commit it does not name"
            raise self.error(f"shows {seen}, not the pinned {self.commit}, so its rows may be others")
        try:
            found = load_exact_json(body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self.error("gave no JSON object")
        return found

    def splits(self) -> dict[str, list[str]]:
        """Splits of each configuration, both in the viewer's order."""
        configs: dict[str, list[str]] = {}
        for entry in self.get("splits").get("splits") or []:
            if isinstance(entry, dict):
                configs.setdefault(str(entry.get("config")), []).append(str(entry.get("split")))
        if not configs:
            raise self.error("knows no splits of it")
        return configs

    def rows(self, config: str, split: str) -> int:
        """The number of rows of a split. Raises DatasetError if the viewer has only a part of them."""
        page = self.page(config, split, 0, 1)
        total = page.get("num_rows_total")
        if not isinstance(total, int):
            raise self.error("does not give the number of rows")
        return total

    def page(self, config: str, split: str, offset: int, length: int) -> dict[str, Any]:
        """Some rows, every cell complete."""
        found = self.get("rows", config=config, split=split, offset=offset, length=length)
        if found.get("partial"):
            raise self.error(f"contains only the first part of split {split!r}")
        for feature in found.get("features") or []:
            kind = _unreadable(feature.get("type") if isinstance(feature, dict) else None)
            if kind:
                raise self.error(
                    f"shows column {feature.get('name')!r} ({kind}) as short-lived links, not as data"
                )
        for entry in found.get("rows") or []:
            if entry.get("truncated_cells"):
                cells = ", ".join(map(str, entry["truncated_cells"]))
                raise self.error(f"cuts off cells of row {entry.get('row_idx')}: {cells}")
        return found

    def error(self, what: str) -> DatasetError:
        """An error about the viewer."""
        return DatasetError(f"{self.ref.uri}: the dataset viewer ({self.hub.settings.viewer}) {what}")


class ViewerPart(Part, frozen=True):
    """Consecutive rows of a split, fetched from the viewer."""

    viewer: Viewer
    config: str
    """The configuration."""
    split: str
    start: int
    """First row."""
    stop: int
    """The row before which it ends."""

    def identity(self) -> JsonObject:
        """Dataset, commit, split and rows."""
        return {
            "kind": "viewer",
            **split_identity(self.viewer.ref.repo, self.viewer.commit, self.config, self.split),
            "rows": [self.start, self.stop],
        }

    def about(self) -> JsonObject:
        """The identity and the range of rows, for people."""
        return {**self.identity(), "files": [f"rows {self.start} to {self.stop} of {self.split}"]}

    def fill(self, rows: Path, partial: Path) -> Entry:
        """Fetch the rows page by page."""
        out = RowWriter(rows)
        try:
            for offset in range(self.start, self.stop, ROWS_PER_CALL):
                length = min(ROWS_PER_CALL, self.stop - offset)
                page = self.viewer.page(self.config, self.split, offset, length)
                entries = page.get("rows") or []
                numbers = [entry.get("row_idx") for entry in entries]
                if numbers != list(range(offset, offset + length)):
                    raise self.viewer.error(
                        f"gave {len(entries)} rows at {offset} where {length} were requested"
                    )
                out.add([_row(entry) for entry in entries])
            out.close()
        except BaseException:
            out.abandon()
            raise
        return Entry(rows, out.rows, "exact" if out.exact else "json")


def viewer_parts(viewer: Viewer, config: str, split: str, rows: int) -> tuple[ViewerPart, ...]:
    return tuple(
        ViewerPart(viewer, config, split, start, min(start + ROWS_PER_PART, rows))
        for start in range(0, rows, ROWS_PER_PART)
    )


def _row(entry: Mapping[str, Any]) -> dict[str, Any]:
    row = entry.get("row")
    return row if isinstance(row, dict) else {}


def _unreadable(kind: Any) -> str | None:
    """The name of a feature whose cells are links, at any depth."""
    if isinstance(kind, dict):
        if kind.get("_type") in _NOT_VALUES:
            return str(kind["_type"])
        return next((found for inner in kind.values() if (found := _unreadable(inner))), None)
    if isinstance(kind, list):
        return next((found for inner in kind if (found := _unreadable(inner))), None)
    return None
