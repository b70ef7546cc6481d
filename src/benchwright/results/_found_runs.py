"""A run from any place, with its samples or requests."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from benchwright.perf import RequestRecord
from benchwright.results._clusters import SampleReader
from benchwright.results._run_folders import FolderSamples
from benchwright.results._samples import StoreSamples
from benchwright.store import RunRecord, Store


class FoundRun(Struct, frozen=True, kw_only=True):
    """A run of the workspace, of a folder with its files, or of a portable baseline. `compare` and `gate` read all alike."""

    run: RunRecord
    """Its settings, manifest and figures; from files, in their form."""
    title: str
    """Its name in messages."""
    samples: SampleReader
    """Its samples; none for a load test or a workflow without rows."""
    store: Store | None = None
    """The workspace that recorded it; None: it is from elsewhere."""
    sent: tuple[RequestRecord, ...] = ()
    """The requests of a load test from elsewhere."""
    filed: bool = False
    """Whether its settings have the form of run files."""
    portable: bool = False
    """Whether it is a portable baseline: hashes of their content identify its rows, and whoever made it accepted its replies."""

    def requests(self) -> Iterator[RequestRecord]:
        """The requests of a load test."""
        if self.store is None:
            return iter(self.sent)
        from benchwright.perf import recorded_requests  # it knows how requests are made

        return recorded_requests(self.store, self.run.id)

    @classmethod
    def of(cls, run: RunRecord, store: Store | None) -> FoundRun:
        """A run of the workspace; one without a number there is that of its folder."""
        if store is None or run.id <= 0:
            return cls(run=run, title=FoundRun.title_of(run), samples=FolderSamples(run.folder), filed=True)
        return cls(run=run, title=FoundRun.title_of(run), samples=StoreSamples.of(store, run), store=store)

    @staticmethod
    def title_of(run: RunRecord) -> str:
        """The name of a run in messages: its number, or its folder if it is not in this workspace."""
        return f"run {run.id}" if run.id > 0 else f"{run.folder.parent.name}/{run.folder.name}"
