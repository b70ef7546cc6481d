"""The numbers of a workflow's rows go with the run."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchwright import WorkflowContext, workflow
from benchwright.store import Workspace, open_store
from benchwright.store._statements import OpenedStore


def test_a_removed_run_leaves_no_number_of_a_row(tmp_path: Path) -> None:
    async def handler(ctx: WorkflowContext) -> None:
        for name in ("a", "b"):
            async with ctx.sample(name) as sample:
                sample.score(correct=True)

    for _ in range(2):
        asyncio.run(workflow("w", handler).run(workspace=tmp_path))
    with open_store(Workspace(tmp_path)) as store:
        assert isinstance(store, OpenedStore)
        store.remove_run(1)
        left = store._connection.execute(
            "SELECT name, value FROM marks WHERE name LIKE 'rows/%' ORDER BY name"
        )
        assert left.fetchall() == [("rows/2/a", 0), ("rows/2/b", 1)]
