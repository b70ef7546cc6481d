"""What a durable step costs: a workflow of trivial steps against the same loop with bare SQLite inserts."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, series, shown
from benchmarks.rounds import Bench

STEPS = 10_000
_TABLE = """
CREATE TABLE workflow_steps (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, key TEXT NOT NULL, generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL, input_hash TEXT NOT NULL, input BLOB, status TEXT NOT NULL, output BLOB, error TEXT,
    owner TEXT, started_at REAL NOT NULL, finished_at REAL, UNIQUE (run_id, key, generation)
)
"""


def workflow_steps(bench: Bench) -> list[Figure]:
    """Cost per step, both sides in turn."""
    steps = STEPS // 5 if bench.quick else STEPS
    ours, bare, replayed = [], [], []
    for _ in range(bench.rounds(5)):
        bare.append(bare_inserts(steps, bench.work))
        first, again = asyncio.run(our_steps(steps, bench.work))
        ours.append(first)
        replayed.append(again)
    mine, floor, replay = series(ours), series(bare), series(replayed)
    note = f"{steps:,} sequential steps, {len(ours)} rounds; ours {mine.spread} µs, bare {floor.spread} µs"
    other = f"bare SQLite inserts {shown(floor.middle)} µs"
    return [
        Figure(
            "cost of a durable step",
            f"{shown(mine.middle)} µs",
            other,
            mine.middle / floor.middle,
            "×",
            3,
            at_least=False,
            note=note,
        ),
        Figure(
            "cost of a replayed step",
            f"{shown(replay.middle)} µs",
            other,
            replay.middle / floor.middle,
            "×",
            note=f"{replay.spread} µs",
        ),
    ]


async def our_steps(steps: int, work: Path) -> tuple[float, float]:
    """Microseconds per step: executed, and replayed by a resume."""
    from benchwright import WorkflowContext, workflow

    taken: list[float] = []

    async def handler(limit: Any, ctx: WorkflowContext) -> int:
        began = time.perf_counter()
        for number in range(steps):

            async def execute(number: int = number) -> dict[str, int]:
                return {"value": number}

            await ctx.step(step_key=f"step-{number}", input_value={"number": number}, execute=execute)
        taken.append(1e6 * (time.perf_counter() - began) / steps)
        if len(taken) == 1:
            raise InterruptedError
        return steps

    with tempfile.TemporaryDirectory(dir=work) as folder:
        loop = workflow("trivial", handler)
        with suppress(InterruptedError):
            await loop.run(workspace=folder)
        await loop.run(workspace=folder, resume="last")
    return taken[0], taken[1]


def bare_inserts(steps: int, work: Path) -> float:
    """Microseconds per insert and commit of rows with the same columns and content."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        connection = sqlite3.connect(os.path.join(folder, "bare.db"), isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_TABLE)
        insert = "INSERT INTO workflow_steps VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
        digest, owner = "0123456789abcdef" * 4, "0123456789abcdef"
        began = time.perf_counter()
        for number in range(steps):
            now = time.time()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                insert,
                (number, 1, f"step-{number}", 1, 1, digest, b'{"number":%d}' % number, "completed",
                 b'{"value":%d}' % number, None, owner, now, now),
            )  # fmt: skip
            connection.execute("COMMIT")
        taken = time.perf_counter() - began
        connection.close()
    return 1e6 * taken / steps
