"""Limits of `--slo`: how they are written, and which requests keep them."""

from __future__ import annotations

import pytest
from made_records import failed, streamed

from benchwright.core import UsageError
from benchwright.perf import LoadSettings, RequestOutcome, RequestRecord, Requests, parse_slo, summarise


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("ttft=200ms,itl=30ms,e2e=2s", {"ttft": 0.2, "itl": 0.03, "e2e": 2.0}),
        ("ttft:200 tpot:50 e2e:2000", {"ttft": 0.2, "tpot": 0.05, "e2e": 2.0}),
        ("TTFT = 0.5s, itl-p99=1.5ms; itl_max=.25s", {"ttft": 0.5, "itl_p99": 0.0015, "itl_max": 0.25}),
        ("e2el=1s", {"e2e": 1.0}),
    ],
)
def test_limits_are_read_as_people_write_them(text: str, limits: dict[str, float]) -> None:
    assert dict(parse_slo(text)) == limits


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs limits"),
        ("ttft", "NAME=NUMBER"),
        ("ttft=fast", "NAME=NUMBER"),
        ("tfft=3", "ttft"),
        ("ttft=3days", "ms or s"),
        ("ttft=1,ttft=2", "twice"),
        ("ttft=0", "above 0"),
        ("duration=3", "takes"),
    ],
)
def test_what_is_no_limit_is_refused_with_the_cure(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_slo(text)


def judged(slo: str, *records: RequestRecord) -> dict[str, object]:
    return summarise(Requests.of(records), LoadSettings(slo=parse_slo(slo))).stages[0].to_json()


def test_goodput_counts_requests_that_keep_every_limit_and_failures_miss() -> None:
    found = judged(
        "ttft=100ms,itl=30ms",
        streamed(0, 0.0),
        streamed(1, 0.0, ttft=0.2),
        streamed(2, 0.0, gaps=[0.05] * 10),
        failed(3, 0.0, RequestOutcome.HTTP_429, after=4.0),
    )
    assert found["good_share"] == 0.25
    assert found["goodput_per_s"] == 0.25
    slo = found["slo"]
    assert isinstance(slo, dict)
    assert slo["met"] == 1
    assert {name: limit["met"] for name, limit in slo["limits"].items()} == {"ttft": 2, "itl": 2}


def test_mean_maximum_and_percentile_of_gaps_are_limits_of_their_own() -> None:
    one_pause = streamed(0, 0.0, gaps=[0.01] * 199 + [0.5])
    assert judged("itl=20ms", one_pause)["good_share"] == 1.0
    assert judged("itl_p99=20ms", one_pause)["good_share"] == 1.0
    assert judged("itl_max=20ms", one_pause)["good_share"] == 0.0


def test_a_reply_of_one_token_keeps_limits_of_gaps() -> None:
    assert judged("itl=1ms,tpot=1ms", streamed(0, 0.0, gaps=[]))["good_share"] == 1.0


def test_a_limit_that_cannot_be_judged_gives_no_goodput() -> None:
    reply = RequestRecord(number=0, sent=0.0, last_content=1.0, ended=1.0)
    for slo in ("ttft=1s", "itl=1s"):
        found = judged(slo, reply)
        assert found["goodput_per_s"] is None
        absent = found["absent"]
        assert isinstance(absent, dict)
        assert "needs streamed" in absent["goodput_per_s"]
    assert judged("e2e=2s", reply)["good_share"] == 1.0


def test_goodput_has_an_interval_of_its_own() -> None:
    """Every fourth request is late, so that goodput varies from slice to slice and the throughput hardly."""
    late = [number % 4 == 0 and number < 100 for number in range(200)]
    records = [streamed(number, 0.1 * number, ttft=0.2 if late[number] else 0.02) for number in range(200)]
    found = judged("ttft=100ms", *records)
    intervals = found["intervals_ci95"]
    assert isinstance(intervals, dict)
    low, high = intervals["goodput_per_s"]
    assert low < found["goodput_per_s"] < high < found["request_throughput_per_s"]  # type: ignore[operator]
    assert "goodput_per_s" not in judged("itl=1ms", *records[:5])["intervals_ci95"], "too few requests"  # type: ignore[operator]
