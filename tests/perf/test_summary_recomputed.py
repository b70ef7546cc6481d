"""`summary.json` follows from `requests.parquet`: other code, from the file alone, comes to the same digits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from made_records import closed_loop, failed, poisson, queue, read_request_file, streamed
from recomputed import stage_of, turns_of, urls_of

from benchwright.perf import (
    LoadSettings,
    RequestOutcome,
    RequestRecord,
    Requests,
    summarise,
    write_request_file,
)


@dataclass(frozen=True)
class Made:
    records: list[RequestRecord]
    settings: LoadSettings


def a_sweep() -> Made:
    """Two levels of a closed loop, streams of many lengths, warm-up, failures, a retry, and values that cannot be."""
    random, records, clock = Random(11), [], 0.0
    for stage, level in enumerate((4, 16)):
        for number, sent, _ in closed_loop(300, level, lambda _: random.uniform(0.3, 0.5)):
            at, place = clock + sent, stage * 300 + number
            phase = "warmup" if number < 10 else "measured"
            if number % 17 == 3:
                records.append(
                    failed(place, at, RequestOutcome.HTTP_5XX, stage=stage, phase=phase, error="overloaded")
                )
                continue
            if number % 29 == 4:
                lost = RequestOutcome.CONNECT if number % 2 else RequestOutcome.NOT_SENT
                records.append(
                    RequestRecord(number=place, ended=at + 0.1, stage=stage, phase=phase, outcome=lost)
                )
                continue
            gaps = [random.expovariate(100) for _ in range(random.choice((0, 1, 7, 30)))]
            fields: dict[str, object] = {"stage": stage, "phase": phase, "output_tokens": 2 * len(gaps) + 1}
            if number % 41 == 5:
                fields["attempts"] = 2
            if number % 53 == 7:
                fields["first_byte"] = at - 0.5
            records.append(streamed(place, at, ttft=random.lognormvariate(-3, 0.4), gaps=gaps, **fields))
        clock += 60
    return Made(records, LoadSettings(levels=(4, 16), requests=300))


def an_open_loop() -> Made:
    """Poisson arrivals at eight slots, the times of the plan on record, reasoning and cached tokens too."""
    random = Random(5)
    arrivals = poisson(20, 1_500)
    records = []
    for number, (begun, done) in enumerate(queue(arrivals, 8, lambda _: random.uniform(0.2, 0.4))):
        planned = arrivals[number]
        sent = planned + random.expovariate(2000)
        gaps = [(done - begun) / 20] * 15
        records.append(
            streamed(
                number, sent, ttft=begun - sent + 0.05, gaps=gaps, planned=planned, cached_tokens=number % 100,
                reasoning_tokens=3, first_answer=begun + 0.06, row=number % 40,
            )
        )  # fmt: skip
    return Made(records, LoadSettings(profile="poisson", levels=(20.0,), requests=1_500))


def conversations() -> Made:
    """Conversations of up to thirteen turns on three servers of which one is never asked; failures, a retry, a fault,
    a turn that was not sent, and cached tokens that grow from turn to turn where the server counts them."""
    random, records = Random(23), []
    for talk in range(60):
        at = talk * 0.3
        for turn in range(random.choice((2, 5, 13))):
            number = len(records)
            fields: dict[str, object] = {
                "conversation": talk, "turn": turn, "url": talk % 2, "phase": "warmup" if talk < 3 else "measured",
            }  # fmt: skip
            if number % 23 == 9:
                records.append(failed(number, at, RequestOutcome.HTTP_5XX, error="overloaded", **fields))
                continue
            if number % 37 == 11:
                lost = RequestOutcome.NOT_SENT
                records.append(RequestRecord(number=number, ended=at, outcome=lost, **fields))  # type: ignore[arg-type]
                continue
            gaps = [random.expovariate(100) for _ in range(random.choice((0, 1, 12)))]
            fields |= {
                "input_tokens": 80 + 31 * turn + talk,
                "cached_tokens": 27 * turn if talk % 3 else None,
            }
            if number % 41 == 5:
                fields["attempts"] = 2
            if number % 43 == 7:
                fields["first_byte"] = at - 0.5
            records.append(streamed(number, at, ttft=random.lognormvariate(-3, 0.4), gaps=gaps, **fields))
            at += 0.8
    urls = ("http://a/v1", "http://b/v1", "http://idle/v1")
    return Made(records, LoadSettings(levels=(8,), requests=len(records), urls=urls))


def test_other_code_finds_the_same_digits_by_turn_and_by_server(tmp_path: Path) -> None:
    made = conversations()
    requests = Requests.of(Random(3).sample(made.records, len(made.records)))
    with (tmp_path / "requests.parquet").open("wb") as file:
        write_request_file(requests, file)
    rows = pq.read_table(tmp_path / "requests.parquet").to_pylist()
    (stage,) = summarise(requests, made.settings).to_json()["stages"]  # type: ignore[union-attr, misc]
    assert isinstance(stage, dict)
    turns, urls = turns_of(rows), urls_of(rows, made.settings.urls)
    assert [group["label"] for group in turns][-2:] == ["turn 10", "turn 11 and later"]
    assert urls[2]["sent"] == 0
    assert stage["by_turn"] == turns
    assert stage["by_url"] == urls


@pytest.mark.parametrize("made", [a_sweep(), an_open_loop()], ids=["sweep", "open"])
def test_other_code_finds_the_same_digits_in_the_file(made: Made, tmp_path: Path) -> None:
    shuffled = Random(3).sample(made.records, len(made.records))
    requests = Requests.of(shuffled)
    with (tmp_path / "requests.parquet").open("wb") as file:
        write_request_file(requests, file)
    summary = summarise(requests, made.settings).to_json()
    rows = pq.read_table(tmp_path / "requests.parquet").to_pylist()
    stages = summary["stages"]
    assert isinstance(stages, list)
    for stage in stages:
        assert isinstance(stage, dict)
        own = [row for row in rows if row["stage"] == stage["stage"]]
        assert stage["by_turn"] == turns_of(own) == []
        assert stage["by_url"] == urls_of(own, ("http://a",)) == []
        expected = stage_of(own)
        assert len(expected) > 30
        for key, value in expected.items():
            given = stage[key]
            if isinstance(value, dict):
                assert isinstance(given, dict)
                assert {name: given[name] for name in value} == value, key
            else:
                assert given == value, key


@pytest.mark.parametrize("made", [a_sweep(), an_open_loop()], ids=["sweep", "open"])
def test_a_summary_of_the_file_is_the_summary_of_the_records(made: Made, tmp_path: Path) -> None:
    requests = Requests.of(made.records)
    with (tmp_path / "requests.parquet").open("wb") as file:
        write_request_file(requests, file)
    again = summarise(read_request_file(tmp_path / "requests.parquet"), made.settings)
    assert again == summarise(requests, made.settings)


def test_the_file_has_each_request_with_its_metrics(tmp_path: Path) -> None:
    made = a_sweep()
    with (tmp_path / "requests.parquet").open("wb") as file:
        write_request_file(Requests.of(made.records), file)
    rows = pq.read_table(tmp_path / "requests.parquet").to_pylist()
    assert [row["number"] for row in rows] == list(range(600))
    good = next(
        row for row in rows if row["outcome"] == "ok" and row["fault"] is None and row["output_tokens"] > 1
    )
    assert good["ttft_ms"] == (good["first_token_s"] - good["sent_s"]) * 1000
    assert good["tpot_ms"] == pytest.approx(
        (good["last_content_s"] - good["first_token_s"]) / (good["output_tokens"] - 1) * 1000
    )
    assert {row["fault"] for row in rows} == {None, "before_sending"}
    broken = next(row for row in rows if row["outcome"] == "http_5xx")
    assert broken["ttft_ms"] is None
    assert broken["error"] == "overloaded"
