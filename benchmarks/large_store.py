"""A store of 1,000,000 samples and 2,000 runs, made quickly, for `benchmarks.pages`.

`python -m benchmarks.large_store FOLDER [SAMPLES [RUNS]]` makes one to look at. Run 1 has all samples, runs 2 and 3 a tenth each, of
the same rows; the other runs have a summary and no samples.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from random import Random

from benchmarks.large_runs import summary_of_sums
from benchwright.core import StepValues, encode_json, step_key
from benchwright.results import run_distributions
from benchwright.stats import Aggregator
from benchwright.store import Store, find_workspace, open_store

SAMPLES = 1_000_000
RUNS = 2_000
_TOPICS = ("art", "law", "maths", "medicine", "tax", "history", "physics", "music")
_MANIFEST = {"dataset": {"fingerprint": "sha256:0"}, "benchmark": {"hash": "0", "own_hash": "0"}}


def make(place: Path, samples: int = SAMPLES, runs: int = RUNS) -> None:
    """Fill the workspace of a folder."""
    workspace = find_workspace(place, place)
    workspace.create()
    with open_store(workspace) as store:
        for count in (samples, samples // 10, samples // 10):
            asyncio.run(_record(store, count))
        store.index_samples()  # as a run of many samples does at its end
        for number in (1, 2, 3):
            run_distributions(store, store.run(number))  # keeps them: the same
        dice = Random(0)
        for _ in range(runs - 3):
            _record_brief(store, dice)


async def _record(store: Store, count: int) -> None:
    run = store.create_run(
        name="questions", target="questions.csv", model="a-model", settings={}, manifest=_MANIFEST
    )
    dice, sums = Random(run.id), Aggregator()
    writer = store.step_writer(run.id)
    for start in range(0, count, 10_000):
        steps = []
        for index in range(start, min(start + 10_000, count)):
            correct, f1 = dice.random() < 0.75, round(dice.random(), 4)
            steps.append(_sample(index, correct, f1, dice.random()))
            sums.add(index, {"correct": correct, "f1": f1})
        await writer.append(steps)
    await writer.close()
    store.finish_run(run.id, "completed", summary=summary_of_sums(sums, count, 1, count).to_json())


def _sample(index: int, correct: bool, f1: float, latency_s: float) -> StepValues:
    topic = _TOPICS[index * 7919 % 8]
    row = encode_json(
        {"question": f"{topic}, number {index}: what is {index} + 1?", "answer": str(index + 1), "topic": topic, "level": index % 1000}
    )  # fmt: skip
    asked = b'{"model":"a-model","messages":[{"role":"user","content":"%s, number %d: what is %d + 1?"}],"temperature":0}'
    score = b'{"o":"scored","t":"%d","s":{"correct":%s,"f1":%g}}'
    reply = b'{"s":"answered","t":"I think that it is %d, because it follows %d.","l":%.4f,"u":[31,%d]}'
    digest = index.to_bytes(32, "big")
    return (
        step_key("score", index, 0), digest, row, score % (index + 1, b"true" if correct else b"false", f1), True, 1.0, 2.0,
        digest, asked % (topic.encode(), index, index), reply % (index + 1, index, latency_s, index % 90),
    )  # fmt: skip


def _record_brief(store: Store, dice: Random) -> None:
    name = f"questions_{dice.randrange(40)}"
    run = store.create_run(
        name=name,
        target=f"{name}.csv",
        model=f"model-{dice.randrange(12)}",
        settings={},
        manifest=_MANIFEST,
        tags={"team": f"team {dice.randrange(5)}"},
    )
    sums = Aggregator()
    for index in range(30):
        sums.add(index, {"correct": dice.random() < 0.7, "f1": dice.random()})
    store.finish_run(run.id, "completed", summary=summary_of_sums(sums, 30, 1, 30).to_json())


if __name__ == "__main__":
    make(Path(sys.argv[1]), *map(int, sys.argv[2:]))
