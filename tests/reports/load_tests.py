"""Load tests as reports see them, made by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

sys.path.append(str(Path(__file__).parents[1] / "perf"))

from made_records import closed_loop, failed, poisson, queue, streamed

from benchwright.perf import LoadSettings, RequestOutcome, RequestRecord, Requests, summarise
from benchwright.perf._values import ClientHealth, DurationSpread, StageRecord
from benchwright.results import LoadView
from benchwright.store import RunRecord

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
HEALTH = ClientHealth(
    DurationSpread(900, 0.0002, 0.001, 0.004), DurationSpread(900, 0.0001, 0.0004, 0.002), (0.31,), 0.012
)


def sweep() -> tuple[list[RequestRecord], LoadSettings, list[StageRecord]]:
    """Three levels, with limits, failures and prompts that repeat."""
    random, records, stages, clock = Random(8), [], [], 0.0
    for stage, level in enumerate((1, 4, 16)):
        end = clock
        for number, sent, _ in closed_loop(150, level, lambda _: random.uniform(0.3, 0.5)):
            place, at = stage * 150 + number, clock + sent
            record = streamed(
                place, at, ttft=random.lognormvariate(-3, 0.3), gaps=[0.01 + level / 2000] * 20, stage=stage,
                prompt_hash=f"{number:016x}", requested_tokens=64,
            )  # fmt: skip
            if level == 16 and number % 10 == 0:
                record = failed(place, at, RequestOutcome.HTTP_5XX, stage=stage, error=f"503 {HOSTILE}")
            records.append(record)
            assert record.ended is not None
            end = max(end, record.ended)
        stages.append(StageRecord(stage, float(level), clock, end, 150, health=HEALTH))
        clock = end + 1
    return records, LoadSettings(levels=(1.0, 4.0, 16.0), requests=150, slo=(("ttft", 0.06),)), stages


def open_loop(count: int = 1_000) -> tuple[list[RequestRecord], LoadSettings, list[StageRecord]]:
    """Poisson arrivals at a server with slots, as planned and as sent."""
    arrivals = poisson(20, count)
    records = [
        streamed(
            number,
            begun,
            planned=arrivals[number],
            ttft=0.05,
            gaps=[0.01] * 15,
            delayed_s=begun - arrivals[number],
        )
        for number, (begun, _) in enumerate(queue(arrivals, 8, lambda _: 0.36))
    ]
    settings = LoadSettings(profile="poisson", levels=(20.0,), requests=count, max_concurrency=8)
    return records, settings, [StageRecord(0, 20.0, health=HEALTH)]


def conversations() -> tuple[list[RequestRecord], LoadSettings, list[StageRecord]]:
    """Forty conversations of three turns on two servers, of which the second is slower."""
    records = [
        streamed(
            3 * talk + turn, 0.2 * talk + turn, ttft=0.05 * (1 + talk % 2), gaps=[0.01] * 15, conversation=talk,
            turn=turn, url=talk % 2, input_tokens=50 * (turn + 1), cached_tokens=50 * turn,
        )
        for talk in range(40)
        for turn in range(3)
    ]  # fmt: skip
    urls = ("http://one.example:8000/v1", "http://two.example:8000/v1")
    return records, LoadSettings(levels=(8.0,), requests=120, urls=urls), [StageRecord(0, 8.0, health=HEALTH)]


def view_of(
    made: tuple[list[RequestRecord], LoadSettings, list[StageRecord]], folder: Path, name: str = "my_qa"
) -> tuple[LoadView, Requests]:
    records, settings, stages = made
    requests = Requests.of(records)
    summary = summarise(requests, settings, stages)
    run = RunRecord(
        id=3, kind="load", name=name, target="qa.jsonl", model="org/my-model", status="completed", folder=folder,
        settings={"load": settings.to_json(), "model": {"url": "http://localhost:8000/v1", "api_key": "sk-12345"}},
        manifest={}, summary=summary.to_json(), error=None, created_at=0.0, finished_at=60.0,
    )  # fmt: skip
    return LoadView.of(run, summary), requests
