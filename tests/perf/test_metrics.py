"""Each figure is what its definition says, absent where it has no meaning, and explained."""

from __future__ import annotations

import pytest
from made_records import failed, streamed

from benchwright.core import UsageError
from benchwright.perf import (
    METRICS,
    LoadSettings,
    Metric,
    RequestOutcome,
    RequestRecord,
    Requests,
    StageSummary,
    summarise,
)
from benchwright.perf._metrics import LIMITS


def stage(*records: RequestRecord, settings: LoadSettings | None = None) -> StageSummary:
    return summarise(Requests.of(records), settings or LoadSettings()).stages[0]


def unstreamed(number: int, sent: float, seconds: float, **fields: object) -> RequestRecord:
    return RequestRecord(
        number=number, sent=sent, first_byte=sent + seconds, last_content=sent + seconds, ended=sent + seconds, **fields
    )  # type: ignore[arg-type]  # fmt: skip


def test_a_role_event_is_not_a_token() -> None:
    found = stage(streamed(0, 1.0, ttft=0.05, first_event=1.0, first_byte=1.0))
    assert found.metrics["ttft_ms"].mean == 50.0
    assert found.metrics["first_event_ms"].mean == 0.0


def test_reasoning_ends_ttft_and_not_the_wait_for_the_answer() -> None:
    found = stage(streamed(0, 0.0, ttft=0.1, first_answer=0.4))
    assert (found.metrics["ttft_ms"].mean, found.metrics["ttft_answer_ms"].mean) == (100.0, 400.0)


def test_what_follows_the_content_is_not_latency() -> None:
    found = stage(streamed(0, 0.0, ttft=0.1, gaps=[0.1], close=2.0))
    assert found.metrics["e2e_ms"].mean == 200.0
    assert found.metrics["stream_close_ms"].mean == 2000.0
    assert found.figures["duration_s"] == 2.2


def test_bundled_tokens_change_itl_and_not_time_per_token() -> None:
    one = stage(streamed(0, 0.0, gaps=[0.01] * 32))
    four = stage(streamed(0, 0.0, gaps=[0.04] * 8, output_tokens=33, requested_tokens=33))
    assert (one.metrics["itl_ms"].mean, four.metrics["itl_ms"].mean) == (10.0, 40.0)
    assert one.metrics["tpot_ms"] == four.metrics["tpot_ms"] == four.metrics["itl_per_token_ms"]
    assert one.metrics["tpot_ms"].mean == 10.0
    assert "bundled_tokens" in [note.kind for note in four.notes]


def test_pooled_gaps_weigh_every_gap_and_those_of_a_request_every_request() -> None:
    found = stage(streamed(0, 0.0, gaps=[0.1]), streamed(1, 0.0, gaps=[0.01] * 9))
    assert found.metrics["itl_ms"].n == 10
    assert found.metrics["itl_ms"].mean == pytest.approx(19.0)
    assert found.metrics["itl_mean_ms"].n == 2
    assert found.metrics["itl_mean_ms"].mean == pytest.approx(55.0)
    assert found.metrics["itl_max_ms"].max == pytest.approx(100.0)


def test_a_reply_of_one_token_has_no_time_per_token() -> None:
    found = stage(streamed(0, 0.0, gaps=[]), streamed(1, 0.0, gaps=[0.02, 0.02]))
    assert found.metrics["tpot_ms"].n == 1
    assert found.metrics["tpot_ms"].min == pytest.approx(20.0)


def test_without_usage_token_figures_are_absent_and_not_zero() -> None:
    found = stage(
        streamed(0, 0.0, output_tokens=None, input_tokens=None, token_source=None, requested_tokens=None)
    )
    shown = found.to_json()
    for key in (
        "output_tokens",
        "tpot_ms",
        "output_throughput_tokens_per_s",
        "peak_output_throughput_tokens_per_s",
    ):
        assert shown[key] is None
        assert "token counts" in found.absent[key]
    assert found.metrics["ttft_ms"].n == found.metrics["itl_mean_ms"].n == 1


def test_a_total_over_some_requests_is_no_total() -> None:
    found = stage(streamed(0, 0.0), streamed(1, 0.1, output_tokens=None, token_source=None))
    assert "output_throughput_tokens_per_s" not in found.figures
    assert "tokens_unknown" in [note.kind for note in found.notes]


def test_replies_that_are_not_streamed_have_no_first_token() -> None:
    found = stage(unstreamed(0, 0.0, 0.5, output_tokens=10), unstreamed(1, 0.5, 0.7, output_tokens=10))
    assert found.metrics["e2e_ms"].mean == 600.0
    assert "needs streamed" in found.absent["ttft_ms"]
    assert found.figures["output_throughput_tokens_per_s"] == round(20 / 1.2, 3)


def test_failures_lengthen_the_run_and_are_no_throughput() -> None:
    slow = failed(1, 0.0, RequestOutcome.TIMEOUT, after=10.0, error="no reply for 10 s")
    found = stage(streamed(0, 0.0), slow, failed(2, 1.0, RequestOutcome.TIMEOUT, error="another"))
    assert found.figures["duration_s"] == 10.0
    assert found.figures["request_throughput_per_s"] == 0.1
    assert found.figures["error_share"] == round(2 / 3, 6)
    assert [(each.outcome, each.count, each.first) for each in found.errors] == [
        ("timeout", 2, "no reply for 10 s")
    ]


def test_an_open_loop_lasts_from_its_plan_and_a_closed_one_from_its_first_send() -> None:
    planned = stage(
        streamed(0, 1.5, planned=1.0, ttft=0.5, gaps=[]), settings=LoadSettings(profile="constant")
    )
    assert planned.figures["duration_s"] == pytest.approx(1.001)
    assert planned.metrics["ttft_planned_ms"].mean == 1000.0
    assert planned.metrics["send_delay_ms"].mean == 500.0
    closed = stage(streamed(0, 1.5, ttft=0.5, gaps=[]))
    assert closed.figures["duration_s"] == pytest.approx(0.501)
    assert "closed loop" in closed.absent["e2e_planned_ms"]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"first_token": -0.1, "first_byte": -0.1, "first_event": -0.1}, "before_sending"),
        ({"first_token": 9.0, "first_answer": 9.0, "last_content": 9.0}, "after_the_end"),
        ({"first_answer": 0.01}, "out_of_order"),
        ({"arrivals": (0.05, 0.2, 0.1)}, "out_of_order"),
        ({"last_content": None}, "unknown_times"),
        ({"ended": float("nan")}, "unknown_times"),
        ({"input_tokens": -1}, "impossible_tokens"),
        ({"cached_tokens": 101}, "impossible_tokens"),
    ],
)
def test_values_that_cannot_be_are_counted_and_never_averaged(fields: dict[str, object], fault: str) -> None:
    found = stage(streamed(0, 0.0, **fields), *(streamed(number, number / 10) for number in range(1, 5)))
    assert found.faults == {fault: 1}
    assert (found.counts.completed, found.counts.measurable) == (5, 4)
    assert found.metrics["ttft_ms"].n == found.metrics["e2e_ms"].n == 4
    assert found.metrics["ttft_ms"].min == found.metrics["ttft_ms"].max == 50.0
    assert "impossible_values" in [note.kind for note in found.notes]


def test_retried_requests_are_counted_and_have_no_latency() -> None:
    found = stage(streamed(0, 0.0), streamed(1, 0.0, ttft=5.0, attempts=2))
    assert found.metrics["ttft_ms"].max == 50.0
    assert found.counts.retried == 1
    assert found.figures["request_throughput_per_s"] > 0


def test_a_stage_without_a_reply_has_reasons_and_no_figures() -> None:
    lost = stage(
        *(failed(number, number / 10, RequestOutcome.CONNECT, error="refused") for number in range(3))
    )
    assert lost.metrics == {}
    assert lost.figures["error_share"] == 1.0
    assert lost.figures["request_throughput_per_s"] == 0.0
    unsent = stage(RequestRecord(number=0, planned=0.0, outcome=RequestOutcome.NOT_SENT))
    assert unsent.counts.not_sent == 1
    assert "error_share" not in unsent.figures
    assert unsent.steady.verdict == "absent"


def test_a_connection_that_failed_counts_as_sent_and_failed() -> None:
    lost = [
        RequestRecord(number=n, planned=n / 10, ended=n / 10, outcome=RequestOutcome.CONNECT)
        for n in range(1, 4)
    ]
    found = stage(
        streamed(0, 0.0, planned=0.0), *lost, settings=LoadSettings(profile="constant", levels=(10.0,))
    )
    assert (found.counts.sent, found.counts.failed, found.counts.not_sent) == (4, 3, 0)
    assert found.figures["error_share"] == 0.75
    assert found.figures["repeated_prompt_share"] == 0.0


def test_peak_throughput_counts_tokens_where_they_arrived() -> None:
    found = stage(
        streamed(0, 0.0, ttft=0.5, gaps=[1.0, 1.0], event_tokens=(1, 7, 1), output_tokens=9, close=0.5)
    )
    assert found.figures["peak_output_throughput_tokens_per_s"] == 7.0


def test_peak_throughput_is_not_below_the_mean() -> None:
    across = stage(
        streamed(0, 0.0, ttft=0.8, gaps=[0.1, 0.2, 0.3, 0.9], close=0.05)
    )  # four tokens around 1.0 s
    assert across.figures["peak_output_throughput_tokens_per_s"] == 4.0
    apart = stage(streamed(0, 0.0, ttft=0.0, gaps=[1.5], close=0.0))
    assert (
        apart.figures["peak_output_throughput_tokens_per_s"]
        == apart.figures["output_throughput_tokens_per_s"]
        == round(2 / 1.5, 3)
    )


@pytest.mark.parametrize("name", ["ttft", "TTFT", "ttft_ms", "request-throughput", "itl_p99"])
def test_definitions_are_there_on_request(name: str) -> None:
    assert Metric.named(name).explanation.startswith(name.lower().replace("-", "_").removesuffix("_ms"))


def test_an_unknown_figure_has_similar_names() -> None:
    with pytest.raises(UsageError, match="ttft"):
        Metric.named("tttf")
    with pytest.raises(UsageError, match=r"Figures: .*ttft.*request_throughput"):
        Metric.named("nonsense")


def test_every_figure_says_why_it_may_be_absent() -> None:
    without = [name for name, metric in METRICS.items() if not metric.needs and name != "duration"]
    assert without == []
    assert {"ttft", "itl", "itl_p99", "itl_max", "tpot", "e2e"} <= set(LIMITS)
