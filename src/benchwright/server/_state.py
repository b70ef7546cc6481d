"""What a server holds while it runs: the workspace, the leases of its runs, and the datasets it has resolved."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict

from benchwright.core import Row, is_hub_uri
from benchwright.datasets import HubDataset, HubInfo, with_parameters
from benchwright.server._clients import Clients
from benchwright.server._refusals import Refusal
from benchwright.store import Lease, Owner, Store

MOST_DATASETS = 64
"""Resolved datasets that are kept; the one not asked for longest goes first."""


class OpenDataset:
    """One resolved dataset. Its rows are read by one thread at a time: readers of one file gain nothing from more."""

    def __init__(self, dataset: HubDataset, info: HubInfo) -> None:
        self.info = info
        """What was resolved."""
        self._dataset = dataset
        self._reading = asyncio.Lock()

    async def rows(self, offset: int, limit: int) -> list[Row]:
        """Rows by number."""
        async with self._reading:
            return await asyncio.to_thread(self._dataset.batch, offset, limit)

    @property
    def new_notes(self) -> list[str]:
        """What a reader must know and `info` does not tell yet, such as damage in the cache that was mended."""
        return [note for note in self._dataset.notes if note not in self.info.notes]


class ServerState:
    """Everything that handlers share."""

    def __init__(self, store: Store) -> None:
        self.store = store
        """The workspace."""
        self.workspace_id = hashlib.sha256(str(store.workspace.root).encode()).hexdigest()[:16]
        """Tells servers of different workspaces apart."""
        self.clients = Clients()
        """Who executes the runs."""
        self._leases: dict[int, Lease] = {}
        self._datasets: OrderedDict[str, OpenDataset] = OrderedDict()
        self._opening: dict[str, asyncio.Lock] = {}
        self._pinned: dict[str, str] = {}

    def hold(self, lease: Lease) -> None:
        """Write to this run on behalf of clients."""
        self._leases[lease.run_id] = lease

    def lease(self, run_id: int) -> Lease:
        """The right to write to a run: held, or claimed now if its last owner is gone.

        A workflow whose server died goes on with the next one by itself.
        """
        known = self._leases.get(run_id)
        if known is None:
            known = self._leases[run_id] = self.store.claim_workflow(run_id)
        self.clients.heard_of(run_id)
        return known

    def resume(self, run_id: int, process: Owner) -> None:
        """Let a process go on with a run: steps that a dead one left open are handed out again.

        `RunOwnedError` while another process executes it, `RunClosedError` when it is complete.
        """
        if self.clients.gone(run_id, process) and (known := self._leases.pop(run_id, None)):
            self.store.release_workflow(known)
        self.lease(run_id)
        self.clients.remember(run_id, process)

    def lease_of_step(self, step_id: int) -> Lease:
        """The right to write to the run of a step."""
        return self.lease(self.store.workflow_step(step_id).run_id)

    def drop(self, run_id: int) -> None:
        """The run has ended."""
        self._leases.pop(run_id, None)
        self.clients.forget(run_id)

    async def dataset(
        self, source: str, config: str | None, split: str | None, revision: str | None
    ) -> OpenDataset:
        """A hub dataset, resolved once: the same question gets the same commit for as long as this server runs.

        A dataset that made way for others is opened again at the commit it had, so a client's scan never mixes two.
        """
        uri = dataset_uri(source, config, split, revision)
        async with self._opening.setdefault(uri, asyncio.Lock()):
            known = self._datasets.get(uri)
            if known is None:
                known = await asyncio.to_thread(_open, self._pinned.get(uri, uri))
                self._datasets[uri] = known
                self._pinned[uri] = known.info.uri
            self._datasets.move_to_end(uri)
        while len(self._datasets) > MOST_DATASETS:
            forgotten, _ = self._datasets.popitem(last=False)
            self._opening.pop(forgotten, None)
        return known

    def close(self) -> None:
        """Let go of the runs, so that they can be resumed, and close the workspace."""
        for lease in self._leases.values():
            self.store.release_workflow(lease)
        self._leases.clear()
        self.store.close()


def dataset_uri(source: str, config: str | None, split: str | None, revision: str | None) -> str:
    """The URI with what was given beside it. Only hub datasets: a server must not read out files."""
    if not is_hub_uri(source):
        raise Refusal(
            422,
            "unsupported_source",
            f"dataset source {source[:200]!r} is not supported",
            "write hf://owner/name",
        )
    return with_parameters(source, config=config, split=split, revision=revision)


def _open(uri: str) -> OpenDataset:
    dataset = HubDataset(uri)
    return OpenDataset(dataset, dataset.init())
