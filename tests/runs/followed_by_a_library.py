"""Runs that a real library follows, and what its own readers find afterwards: `python followed_by_a_library.py wandb`."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.cli import main
from benchwright.demo import DemoSettings, demo_server
from benchwright.reports.trackers import tracking

BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="NAME", dataset=[{"q": f"How much is {n} + 1?", "target": str(n + 1)} for n in range(4)], prompt="{q}")
@scorer
def NAME(sample):
    return {"correct": sample.target in sample.response}
"""


def follow(name: str) -> list[int]:
    """Exit codes of a run that stops half-way, of a suite, of a load test, and of the resume of the first.

    Weights & Biases names folders by the second: the suite keeps the two starts of the first run apart.
    """
    for bench in ("one", "two"):
        Path(f"{bench}.py").write_text(BENCH.replace("NAME", bench))
    tracking._EVERY_S = 0.0
    with demo_server(DemoSettings(skill=1.0), api_key=os.environ["SERVICE_KEY"]) as server:
        Path("suite.toml").write_text(
            f'models = [{{name = "local", base_url = "{server.url}", model = "demo"}}]\n'
            'datasets = [{benchmark = "one.py"}, {benchmark = "two.py"}]\n'
        )
        how = ["--quiet", "--no-cache", "--tracker", name]
        how += ["--header", "X-Key=${HIDDEN_KEY}", "--api-key-name", "SERVICE_KEY"]
        stops = ["--model-url", server.url, "--model-id", "demo", "--max-requests", "2", "--parallelism", "1"]
        again = ["resume", "1", "--quiet", "--parallelism", "2"]
        stopped = _command("run", "one.py", *stops, *how)
        load = [
            "perf",
            "two.py",
            "--model-url",
            server.url,
            "--model-id",
            "demo",
            "--concurrency",
            "1,2",
            "--requests",
            "30",
        ]
        load += ["--slo", "e2e=60s", "--warmup", "0", *(word for word in how if word != "--no-cache")]
        return [stopped, _command("run", "suite.toml", *how), _command(*load), _command(*again)]


def _command(*words: str) -> int:
    sys.argv = ["benchwright", *words]  # libraries record it
    return main(list(words))


def read_wandb() -> dict[str, Any]:
    """All runs below this folder, one entry for each start."""
    from wandb.proto.wandb_internal_pb2 import Record

    def values(items: Any) -> dict[str, Any]:
        return {each.key or "/".join(each.nested_key): json.loads(each.value_json) for each in items}

    runs = []
    for path in sorted(Path().glob(".benchwright/runs/*/wandb/offline-run-*/*.wandb")):
        run: dict[str, Any] = {"folder": str(path.parent), "summary": {}, "history": []}
        for record in map(Record.FromString, _records(path.read_bytes())):
            if record.HasField("run"):
                run |= {"id": record.run.run_id, "name": record.run.display_name}
                run["config"] = values(record.run.config.update)
            elif record.HasField("history"):
                run["history"].append(values(record.history.item))
            elif record.HasField("summary"):
                run["summary"] |= values(record.summary.update)
            elif record.HasField("exit"):
                run["exit_code"] = record.exit.exit_code
        runs.append(run)
    return {"runs": runs}


def _records(data: bytes) -> Iterator[bytes]:
    """A log in blocks of 32 KiB: each piece has a checksum, a length, and whether it is all, or the first or last of several."""
    at, whole, block, header = 7, b"", 32768, struct.Struct("<IHB")
    while at + header.size <= len(data):
        if block - at % block < header.size:
            at += block - at % block
            continue
        _, length, kind = header.unpack_from(data, at)
        at += header.size
        whole += data[at : at + length]
        at += length
        if kind in (1, 4):
            yield whole
            whole = b""


def two_at_once() -> list[str]:
    """Names of two runs in Weights & Biases of which one begins and ends within the other."""
    first, second = (tracking.Tracking.find("wandb")() for _ in range(2))
    told: list[Any] = []
    for name in ("first", "second"):
        folder = Path(name).absolute()
        folder.mkdir()
        about = {
            "folder": str(folder),
            "created_at": 0,
            "name": name,
            "id": 1,
            "target": name,
            "model": "demo",
        }
        told.append({"run": {**about, "status": "completed"}})
    first.started(told[0])
    second.started(told[1])
    second.finished(told[1])
    first.finished(told[0])
    return [
        name for name in ("first", "second") if len([*Path(name).glob("wandb/offline-run-*/*.wandb")]) == 1
    ]


def read_mlflow() -> dict[str, Any]:
    """All runs in the store."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient()
    experiment = client.get_experiment_by_name("benchwright")
    assert experiment is not None
    runs = []
    for run in client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"]):
        number = run.info.run_id
        curve = client.get_metric_history(number, "progress/done")
        runs.append(
            {
                "name": run.info.run_name,
                "status": run.info.status,
                "metrics": run.data.metrics,
                "params": run.data.params,
                "tags": run.data.tags,
                "done": sorted((point.step, point.value) for point in curve),
                "artifacts": [each.path for each in client.list_artifacts(number)],
            }
        )
    return {"runs": runs}


if __name__ == "__main__":
    library = sys.argv[1]
    codes = follow(library)
    found = {**read_wandb(), "at_once": two_at_once()} if library == "wandb" else read_mlflow()
    Path("followed.json").write_text(json.dumps({"exit_codes": codes, **found}))
