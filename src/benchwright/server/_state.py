"""The state of a server: its workspace, the leases of its runs, the processes that execute them, open datasets."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from benchwright.core import JsonObject, Row, RunOwnedError, is_hub_uri
from benchwright.datasets import HubDataset, HubInfo, with_parameters
from benchwright.results import ComparisonOptions, LabelList
from benchwright.server._catalogue import Catalogue, Live
from benchwright.server._guard import Refusal
from benchwright.server._handed import Handed
from benchwright.server._keys import Keys
from benchwright.store import Lease, Owner, RunRecord, Store, Trial, WorkflowWriter, Workspace, open_store
from benchwright.workflows import claimed_workflow

T = TypeVar("T")

MOST_DATASETS = 64
"""Most resolved datasets kept; the least recently used one is closed first."""


class Clients:
    """The process that executes each run, where it has named itself."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._by_run: dict[int, tuple[Owner, float]] = {}
        """The process, as it named itself, and the monotonic time of its last request."""

    def remember(self, run_id: int, process: Owner) -> None:
        """Note the process that executes the run."""
        self._by_run[run_id] = process, self._now()

    def heard_of(self, run_id: int) -> None:
        """Note that the process of the run is alive."""
        if run_id in self._by_run:
            self._by_run[run_id] = self._by_run[run_id][0], self._now()

    def forget(self, run_id: int) -> None:
        """Forget a run that has ended."""
        self._by_run.pop(run_id, None)

    def gone(self, run_id: int, successor: Owner) -> bool:
        """Whether another process executed the run and has died. Raises `RunOwnedError` while it is alive."""
        process, seen = self._by_run.get(run_id, (successor, 0.0))
        if process == successor:
            return False
        if self._alive(process, seen):
            raise RunOwnedError(
                f"run {run_id} is being executed by process {process.pid} on {process.host}. "
                f"Wait for it, or stop it (kill -INT {process.pid})."
            )
        return True

    def _alive(self, process: Owner, seen: float) -> bool:
        if process.host == socket.gethostname():
            return process.alive(None)
        return self._now() - seen < Owner.dead_after_s  # perhaps in another container


class OpenDataset:
    """A resolved dataset, read by one thread at a time."""

    def __init__(self, dataset: HubDataset, info: HubInfo) -> None:
        self.info = info
        """The result of resolving it."""
        self._dataset = dataset
        self._reading = asyncio.Lock()

    async def rows(self, offset: int, limit: int) -> list[Row]:
        """Rows by number."""
        async with self._reading:
            return await asyncio.to_thread(self._dataset.batch, offset, limit)

    @property
    def new_notes(self) -> list[str]:
        """Notes that `info` does not have yet, such as one on a repaired cache."""
        return [note for note in self._dataset.notes if note not in self.info.notes]


class Use:
    """Whether anybody uses the server."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last = now()
        self._streams = 0

    @property
    def idle_s(self) -> float:
        """Seconds since the last request; 0 while a page reads live updates."""
        return 0.0 if self._streams else self._now() - self._last

    def asked(self) -> None:
        """Note a request that was admitted."""
        self._last = self._now()

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """A page reads live updates while the block runs."""
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1
            self.asked()


_MOST_KEPT = 64
"""Answers about runs that have ended, which are kept."""


class KeptAnswers:
    """Answers about runs that have ended, by question. A run that was scored or finished again has another time in its question."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, question: tuple[Any, ...]) -> Any:
        """The answer; None if it is not known."""
        with self._changing:
            if question in self._kept:
                self._kept.move_to_end(question)
            return self._kept.get(question)

    def keep(self, question: tuple[Any, ...], answer: Any) -> None:
        """Keep an answer, in place of the one that was asked for longest ago."""
        with self._changing:
            self._kept[question] = answer
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)


class RunActs(Protocol):
    """What commands do with runs, for pages that do the same: `benchwright.runs`, which this room does not import."""

    def compare_runs(
        self, runs: Sequence[int], options: ComparisonOptions, *, by: str | None, store: Store
    ) -> Any:
        """Compare runs."""

    def harmless_settings(self) -> set[str]:
        """Settings that change no result."""

    def cancel_run(self, store: Store, run: RunRecord) -> Any:
        """End a live run."""

    def remove_run(self, store: Store, run: RunRecord) -> Any:
        """Delete a run."""

    def resume_apart(self, store: Store, run: RunRecord) -> int:
        """Resume a run in a process of its own; returns the process."""

    def tag_run(self, store: Store, run: RunRecord, tags: Mapping[str, str | None]) -> dict[str, str]:
        """Give a run labels."""

    def rename_run(self, store: Store, run: RunRecord, name: str) -> str:
        """Give a run another name."""

    def bless(self, run: str, *, name: str | None, force: bool, accept_cached: bool, workspace: Path) -> Any:
        """Make a run the baseline of a name."""

    def blind_samples(self, store: Store, runs: Sequence[int], seed: int, limit: int) -> JsonObject:
        """Samples to grade without the judge's verdict."""

    def judge_agreement(self, store: Store, runs: Sequence[int]) -> JsonObject:
        """How far the judge agrees with people."""

    def run_labels(self, store: Store, run: RunRecord) -> LabelList:
        """The labels of a run, and exactly what they would change."""

    def ask_again(self, store: Store, run: RunRecord, sample: tuple[int, int], body: str, who: str) -> Trial:
        """Send the request of a sample again, changed, and score the reply."""


_MOST_AT_ONCE = 2
"""Threads that read whole runs. More would only take turns."""


class _Reads:
    """Threads that read the workspace, each with its own connection."""

    def __init__(self, workspace: Workspace, threads: int) -> None:
        self._workspace = workspace
        self._pool = ThreadPoolExecutor(threads, "benchwright-reads")
        self._own = threading.local()
        self._stores: list[Store] = []

    async def read(self, reading: Callable[[Store], T]) -> T:
        """Read in the next thread that has time."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: reading(self._store()))

    def _store(self) -> Store:
        store: Store | None = getattr(self._own, "store", None)
        if store is None:
            store = self._own.store = open_store(self._workspace)
            self._stores.append(store)
        return store

    def close(self) -> None:
        """Wait for reads that have begun, and close the connections."""
        self._pool.shutdown()
        for store in self._stores:
            store.close()


class ServerState:
    """What all handlers share."""

    def __init__(self, store: Store, keys: Keys, acts: RunActs | None = None) -> None:
        self.store = store
        """The workspace."""
        self.keys = keys
        """Tokens and codes."""
        self._acts = acts
        self.answers = KeptAnswers()
        """Answers that took long."""
        self.workspace_id = hashlib.sha256(str(store.workspace.root).encode()).hexdigest()[:16]
        """Distinguishes servers of different workspaces."""
        self.ending: Callable[[], bool] = lambda: False
        """Whether the server is about to stop."""
        self.use = Use()
        """When it was last used."""
        self.handed = Handed()
        """What commands handed over for pages."""
        self.catalogue = Catalogue()
        """All runs in brief; only reads use it."""
        self.live = Live()
        """What open pages are told."""
        self.clients = Clients()
        """The processes that execute the runs."""
        self._writer: WorkflowWriter | None = None
        self._lists, self._wholes = _Reads(store.workspace, 1), _Reads(store.workspace, _MOST_AT_ONCE)
        self._asked: dict[tuple[object, ...], asyncio.Future[Any]] = {}
        self._leases: dict[int, Lease] = {}
        self._datasets: OrderedDict[str, OpenDataset] = OrderedDict()
        self._opening: dict[str, asyncio.Lock] = {}
        self._pinned: dict[str, str] = {}

    @property
    def acts(self) -> RunActs:
        """What it may do with runs."""
        if self._acts is None:
            raise Refusal(
                503,
                "not_offered",
                "this server only serves records",
                "use the server that `benchwright serve` starts",
            )
        return self._acts

    async def read(self, reading: Callable[[Store], T]) -> T:
        """Read a page of a list: in a thread with its own connection, so that steps of workflows do not wait for it."""
        return await self._lists.read(reading)

    async def read_whole(self, reading: Callable[[Store], T]) -> T:
        """Read what may take seconds, because it looks at all samples of a run: in other threads, so that pages of lists do not wait
        for it."""
        return await self._wholes.read(reading)

    async def read_once(self, question: tuple[object, ...], reading: Callable[[Store], T]) -> T:
        """The same. Those who ask a question while it is being answered wait for that answer, so that a page that is opened again and again
        does not keep all threads busy."""
        asked = self._asked.get(question)
        if asked is None:
            asked = self._asked[question] = asyncio.ensure_future(self.read_whole(reading))

            def answered(done: asyncio.Future[Any]) -> None:
                self._asked.pop(question, None)
                if not done.cancelled():
                    done.exception()  # else asyncio reports it, if nobody waits any longer

            asked.add_done_callback(answered)
        found: T = await asyncio.shield(asked)
        return found

    async def act(self, acting: Callable[[Store], T]) -> T:
        """Change a run, which may take as long as its process takes to stop: in a thread and with a connection that no read waits for."""

        def act() -> T:
            with open_store(self.store.workspace) as store:
                return acting(store)

        return await asyncio.to_thread(act)

    @property
    def writer(self) -> WorkflowWriter:
        """Writes steps, metrics and events; opened in the event loop of the handlers. A program may record steps of the same run
        itself."""
        if self._writer is None:
            self._writer = self.store.workflow_writer(alone=False)
        return self._writer

    def hold(self, lease: Lease) -> None:
        """Write to this run for clients. It was created here, or is handed over by its lease."""
        self._leases[lease.run_id] = claimed_workflow(self.store, lease.run_id, token=lease.token)

    def lease(self, run_id: int) -> Lease:
        """The right to write to a run: the one held, or one claimed now if the last owner is dead.

        So a workflow whose server died continues with the next server.
        """
        known = self._leases.get(run_id)
        if known is None:
            known = self._leases[run_id] = claimed_workflow(self.store, run_id)
        self.clients.heard_of(run_id)
        return known

    def resume(self, run_id: int, process: Owner) -> None:
        """Let a process resume a run; steps that a dead process left open are executed again.

        `RunOwnedError` while another process executes it, `RunClosedError` when it is complete.
        """
        if self.clients.gone(run_id, process) and (known := self._leases.pop(run_id, None)):
            self.store.release_run(known.run_id)
        self.lease(run_id)
        self.clients.remember(run_id, process)

    def lease_of_step(self, step_id: int) -> Lease:
        """The right to write to the run of a step."""
        return self.lease(self.store.workflow_step(step_id).run_id)

    def drop(self, run_id: int) -> None:
        """Forget a run that has ended."""
        self._leases.pop(run_id, None)
        self.clients.forget(run_id)

    async def dataset(
        self, source: str, config: str | None, split: str | None, revision: str | None
    ) -> OpenDataset:
        """A hub dataset, resolved once: equal requests get the same commit as long as this server runs.

        A dataset that was closed is opened again at the same commit, so that a scan never mixes two.
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

    async def settle(self) -> None:
        """Write what still waits. Called at the end of the event loop of the handlers."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            await writer.close()

    def close(self) -> None:
        """Release the runs, so that they can be resumed, and close the workspace."""
        if self._writer is not None:  # its loop has ended without it
            asyncio.run(self.settle())
        for run_id in self._leases:
            self.store.release_run(run_id)
        self._leases.clear()
        for reads in (self._lists, self._wholes):
            reads.close()
        self.store.close()


def dataset_uri(source: str, config: str | None, split: str | None, revision: str | None) -> str:
    """The URI with its parameters. Refuses all but hub datasets: a server must not disclose files."""
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
