"""Pages of samples out of a million: how long a filtered page takes, and what keeping the index costs."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.figures import Figure, series, shown
from benchmarks.rounds import Bench
from benchwright.core import StepValues, step_key
from benchwright.results import StoreSamples
from benchwright.store import SampleFilter, Store, open_store

SAMPLES = 1_000_000
_PAGE = 100
_FILTERS = {
    "judged wrong (one in ten)": SampleFilter(verdict="wrong"),
    "failed (one in ten thousand)": SampleFilter(scored=False),
    "refused (none)": SampleFilter("refused"),
    "f1 below 0.001 (one in a thousand)": SampleFilter(metric="f1", below=0.001),
    "f1 below 0.6 (most)": SampleFilter(metric="f1", below=0.6),
    "f1 within 0.5 and 0.501, judged wrong": SampleFilter(
        verdict="wrong", metric="f1", above=0.5, below=0.501
    ),
    "all": SampleFilter(),
}


def sample_pages(bench: Bench) -> list[Figure]:
    """Milliseconds for a page at the start, in the middle and at the end; the slowest counts."""
    count = SAMPLES // 20 if bench.quick else SAMPLES
    with tempfile.TemporaryDirectory(dir=bench.work) as folder:
        with open_store(f"sqlite:///{Path(folder) / 'samples.db'}") as store:
            began = time.perf_counter()
            run_id = asyncio.run(_fill(store, count))
            written = time.perf_counter() - began
            began = time.perf_counter()
            store.index_samples()
            indexed = time.perf_counter() - began
        found = []
        for name, where in _FILTERS.items():
            slowest = []
            for _ in range(bench.rounds(5)):
                with open_store(f"sqlite:///{Path(folder) / 'samples.db'}") as store:
                    slowest.append(
                        max(_page_ms(store, run_id, where, count, part) for part in (0.0, 0.5, 0.999))
                    )
            times = series(slowest)
            note = f"{count:,} samples, pages of {_PAGE} at three places, the slowest; {times.spread} ms"
            found.append(
                Figure(
                    f"page of samples: {name}",
                    f"{shown(times.middle)} ms",
                    "",
                    times.middle,
                    "ms",
                    20,
                    at_least=False,
                    note=note,
                )
            )
    per_row, index_row = 1e6 * written / count, 1e6 * indexed / count
    note = f"once after a run; recording takes {shown(per_row)} µs a sample"
    found.append(Figure("indexing a sample", f"{shown(index_row)} µs", "", index_row, "µs", note=note))
    return found


async def _fill(store: Store, count: int) -> int:
    run = store.create_run(name="b", target="b", model="m", folder=None, settings={}, manifest={})
    writer = store.step_writer(run.id)
    for start in range(0, count, 10_000):
        await writer.append([_sample(index) for index in range(start, min(start + 10_000, count))])
    await writer.close()
    return run.id


def _sample(index: int) -> StepValues:
    digest, row, asked = (
        index.to_bytes(16, "big"),
        b'{"question":"%d"}' % index,
        b'{"prompt":"%0200d"}' % index,
    )
    if index % 10_000 == 77:
        output = b'{"o":"request_failed","t":"4","e":"status 500"}'
    else:
        f1 = index * 7919 % 100_003 / 100_003
        output = b'{"o":"scored","t":"4","s":{"correct":%s,"f1":%f}}' % (
            b"false" if index % 10 == 3 else b"true",
            f1,
        )
    return (
        step_key("score", index, 0),
        digest,
        row,
        output,
        True,
        1.0,
        2.0,
        digest,
        asked,
        b'{"s":"answered","t":"%0100d"}' % index,
    )


def _page_ms(store: Store, run_id: int, where: SampleFilter, count: int, part: float) -> float:
    began = time.perf_counter()
    StoreSamples(store, run_id).page(where, after=int(count * part) * 10_000, limit=_PAGE)
    return 1e3 * (time.perf_counter() - began)
