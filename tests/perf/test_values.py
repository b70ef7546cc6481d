"""What a load test records comes back as it was, and records of older versions can still be read."""

from __future__ import annotations

import math
from typing import get_args

import msgspec
from hypothesis import given, strategies as st

from benchwright.core import FailureKind
from benchwright.perf import LoadSettings, RequestOutcome, RequestRecord
from benchwright.perf._values import (
    ClientHealth,
    DurationSpread,
    StageRecord,
    decode_record,
    decode_stage,
    encode_record,
    encode_stage,
)

TIMES = st.none() | st.floats(min_value=0, max_value=1e6, allow_nan=False)


@given(
    number=st.integers(0, 10**9),
    sent=TIMES,
    planned=TIMES,
    arrivals=st.lists(st.floats(0, 1e4)).map(tuple),
    outcome=st.sampled_from(list(RequestOutcome)),
    error=st.none() | st.text(),
)
def test_a_record_comes_back_to_the_last_bit(
    number: int, sent: float | None, planned: float | None, arrivals: tuple[float, ...], outcome: RequestOutcome, error: str | None
) -> None:  # fmt: skip
    record = RequestRecord(
        number=number,
        sent=sent,
        planned=planned,
        arrivals=arrivals,
        outcome=outcome,
        error=error,
        phase="cooldown",
    )
    assert decode_record(encode_record(record)) == record


def test_a_record_of_an_older_version_lacks_the_last_fields() -> None:
    record = RequestRecord(number=3, stage=1, row=7, sent=1.5, ended=2.0, attempts=1)
    places = msgspec.msgpack.decode(encode_record(record))
    for kept in range(16, len(places)):
        assert decode_record(msgspec.msgpack.encode(places[:kept])) == record


def test_a_record_of_a_newer_version_has_more_fields() -> None:
    record = RequestRecord(number=3, sent=1.5)
    assert (
        decode_record(msgspec.msgpack.encode([*msgspec.msgpack.decode(encode_record(record)), "new"]))
        == record
    )


def test_a_stage_comes_back_with_its_health() -> None:
    health = ClientHealth(
        lag=DurationSpread(9, 0.001, 0.01, 0.02), cpu_shares=(0.9, 0.2), verdict="limit", reasons=("busy",)
    )
    stage = StageRecord(
        stage=2, level=math.pi, started=1.0, ended=9.5, delayed=3, stopped_by="seconds", health=health
    )
    assert decode_stage(encode_stage(stage)) == stage
    assert health.to_json()["event_loop_lag_p99_ms"] == 10.0


def test_settings_come_back_from_json() -> None:
    settings = LoadSettings(
        profile="gamma", levels=(2.5, 10.0), burstiness=0.5, slo=(("ttft", 0.2),), requests=10
    )
    stored = msgspec.json.decode(msgspec.json.encode(settings.to_json()))
    assert LoadSettings.from_json({**stored, "key_of_a_newer_version": 1}) == settings


def test_the_schedule_decides_in_an_open_loop_alone() -> None:
    assert LoadSettings(profile="poisson").open_loop
    assert not LoadSettings(profile="throughput").open_loop


def test_every_failure_is_of_one_class_of_errors() -> None:
    classes = [kind for outcome in RequestOutcome for kind in outcome.failures]
    assert sorted(classes) == sorted(get_args(FailureKind))
