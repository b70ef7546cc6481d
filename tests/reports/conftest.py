"""A real workspace, filled by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from recorded_runs import MANIFEST, SETTINGS, SUMMARY, every_kind_of_sample

from benchwright.core import JsonObject, RunSummary, StepValues
from benchwright.store import RunRecord, Store, Workspace, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(Workspace(tmp_path / "work"))
    yield opened
    opened.close()


@pytest.fixture
def record(store: Store, tmp_path: Path) -> Callable[..., RunRecord]:
    """Make a finished run with the given steps."""

    def make(
        steps: Sequence[StepValues] | None = None,
        *,
        settings: JsonObject | None = None,
        summary: RunSummary | None = SUMMARY,
        folder: Path | None = None,
        groups: int = 1,
    ) -> RunRecord:
        run = store.create_run(
            name="my_qa",
            target="bench.py:my_qa",
            model="my-model",
            folder=folder or tmp_path / "out",
            settings=settings or SETTINGS,
            manifest=MANIFEST,
        )
        rows = every_kind_of_sample() if steps is None else list(steps)

        async def write() -> None:
            writer = store.step_writer(run.id)
            size = -(-len(rows) // groups) or 1
            for start in range(0, len(rows), size):
                await writer.append(rows[start : start + size])
            await writer.close()

        asyncio.run(write())
        if summary is not None:
            store.finish_run(run.id, "completed", summary=summary.to_json())
        return store.run(run.id)

    return make
