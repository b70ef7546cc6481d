"""What the comparison of two load tests claims: no more than was tested, and no percentile that the tests do not show."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_records import failed, streamed
from msgspec.structs import replace
from rich.console import Console

from benchwright import compare, perf
from benchwright.cli import main
from benchwright.core import Note
from benchwright.demo import DemoSettings, demo_server
from benchwright.perf import (
    Difference,
    LoadSettings,
    RequestOutcome,
    Requests,
    ScoreDifference,
    StageComparison,
    summarise,
)
from benchwright.perf._values import ClientHealth, StageRecord
from benchwright.reports import drawn
from benchwright.results import LoadComparison
from benchwright.results._load_comparison import _doubts
from benchwright.store import RunRecord


def compared(folder: Path, *loads: tuple[int, int]) -> LoadComparison:
    (folder / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n", encoding="utf-8")
    first, second = (perf("qa.csv", concurrency=level, requests=count) for level, count in loads)
    found = compare(first, second)
    assert isinstance(found, LoadComparison)
    return found


def printed(comparison: LoadComparison) -> str:
    console = Console(width=400, color_system=None)
    with console.capture() as shown:
        console.print(drawn(comparison))
    return shown.get()


def test_few_requests_at_other_loads_are_not_called_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = compared(tmp_path, (1, 12), (3, 12))
    assert found.tested == ("error_share",)
    assert {"request_throughput", "e2e"} <= set(found.untested)
    text = printed(found)
    claim = "the loads differ; no significant difference in error_share; too few requests to test the others"
    assert text.splitlines()[1] == f"Run 2 vs. run 1: {claim}"
    assert "not tested, too few requests: request_throughput" in text
    untested = found.to_json()["untested"]
    assert isinstance(untested, list)
    assert "e2e" in untested
    statistics = {each.statistic for level in found.levels for each in level.differences}
    assert statistics == {"value", "mean", "p50"}, "tests of 12 requests show no 99th percentile"
    assert "p99" not in text


def test_percentiles_are_compared_where_both_tests_show_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = compared(tmp_path, (4, 101), (4, 101))
    assert "p99" in {each.statistic for level in found.levels for each in level.differences}
    assert "the loads differ" not in printed(found)


def figure(name: str, a: float, b: float, p_value: float = 0.001, statistic: str = "p50") -> Difference:
    half = abs(b - a) / 4
    return Difference(name, statistic, a, b, b - a, (b - a - half, b - a + half), True, p_value)


SLOWER = figure("ttft", 100.0, 120.0)
SCORE = ScoreDifference("correct", 0.9, 0.7, -0.2, (-0.3, -0.1), 0.01, 40)


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ([[SLOWER]], "ttft p50 is significantly worse (up 20.0 ms, 95 % interval 15.0 to 25.0 ms)"),
        (
            [[figure("request_throughput", 8.0, 12.0, statistic="value")]],
            "request_throughput is significantly better (up 4.00 per s, 95 % interval 3.00 to 5.00 per s)",
        ),
        (
            [[SLOWER, figure("ttft", 300.0, 500.0, statistic="p99"), figure("e2e", 900.0, 700.0)]],
            "ttft p50 is significantly worse (up 20.0 ms, 95 % interval 15.0 to 25.0 ms); "
            "e2e p50 is significantly better (down 200.0 ms, 95 % interval 150.0 to 250.0 ms)",
        ),
        (
            [[SLOWER], [figure("e2e", 1.0, 3.0)]],
            "ttft p50 at level 0 is significantly worse (up 20.0 ms, 95 % interval 15.0 to 25.0 ms), and so is e2e",
        ),
        ([[SCORE]], "score correct is significantly worse (down 0.2000, 95 % interval 0.1000 to 0.3000)"),
        ([[figure("ttft", 100.0, 120.0, 0.4)]], "no significant difference"),
        ([[]], "too few requests to test any figure"),
    ],
)
def test_the_first_sentence_names_what_changed_by_how_much(
    levels: list[list[Difference | ScoreDifference]],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    beyond = [(f"level {at}", each) for at, level in enumerate(levels) for each in level if each.significant]
    found = replace(
        compared(tmp_path, (1, 4), (1, 4)),
        levels=tuple(
            StageComparison(
                f"level {at}",
                9,
                tuple(each for each in level if isinstance(each, Difference)),
                tuple(each for each in level if isinstance(each, ScoreDifference)),
            )
            for at, level in enumerate(levels)
        ),
        beyond=tuple(beyond),
        differs=bool(beyond),
        regressed=any(each.worse for _, each in beyond),
    )
    assert found.sentence == sentence
    assert printed(found).splitlines()[1] == f"Run 2 vs. run 1: {sentence}"
    assert repr(found) == f"<LoadComparison run 2 vs. run 1: {sentence}>"


def test_tests_that_are_not_comparable_get_no_verdict_but_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    why = "run 2 is not comparable (the client was the limit at 8 in flight)"
    found = replace(
        compared(tmp_path, (1, 4), (1, 4)),
        levels=(StageComparison("8 in flight", 9, (SLOWER,), (SCORE,)),),
        beyond=(("8 in flight", SLOWER),),
        differs=True,
        regressed=True,
        notes=(Note.problem(why),),
        doubts=(why,),
    )
    text = printed(found)
    assert text.splitlines()[1] == f"Run 2 vs. run 1: cannot tell whether they differ: {why}"
    assert "worse" not in text
    assert text.count(why) == 1


@pytest.mark.parametrize(
    ("failures", "limited", "why"),
    [
        (0, (1,), "the client was the limit at 4 in flight"),
        (9, (), "9 of 60 requests failed"),
        (9, (0, 1), "9 of 60 requests failed and the client was the limit at 1 in flight, 4 in flight"),
    ],
)
def test_the_known_cause_is_named(failures: int, limited: tuple[int, ...], why: str) -> None:
    records = [
        (failed(number, number / 10, RequestOutcome.HTTP_5XX, stage=number // 30) if number < failures
         else streamed(number, number / 10, stage=number // 30))
        for number in range(60)
    ]  # fmt: skip
    settings = LoadSettings(levels=(1.0, 4.0), requests=30)
    bad = ClientHealth(verdict="limit", reasons=("late",))
    stages = [
        StageRecord(stage, level, health=bad if stage in limited else ClientHealth())
        for stage, level in enumerate(settings.levels)
    ]
    summary = summarise(Requests.of(records), settings, stages)
    assert not summary.comparable
    run = RunRecord(
        id=4, kind="load", name="qa", target="qa.csv", model="m", status="completed", folder=Path(),
        settings={"load": settings.to_json()}, manifest={}, summary=summary.to_json(), error=None, created_at=0.0,
        finished_at=1.0,
    )  # fmt: skip
    whole = replace(summary, comparable=True)
    assert [*_doubts(run, run, whole, summary)] == [f"run 4 is not comparable ({why})"]


def test_differences_of_shares_are_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    share = Difference("error_share", "value", 0.1, 0.067, -0.033, (-0.05, -0.01), False, 0.001)
    rate = Difference("request_throughput", "value", 10.0, 9.37, -0.63, None, False, None)
    found = replace(
        compared(tmp_path, (1, 4), (1, 4)), levels=(StageComparison("1 in flight", 9, (share, rate), ()),)
    )
    text = printed(found)
    assert "-3.3 points" in text
    assert "-5.0 … -1.0 points" in text
    assert "-3.3 %" not in text
    assert "-6.3 %" in text


def test_rows_drawn_with_replacement_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{n}+1=,{n + 1}\n" for n in range(5))
    (tmp_path / "qa.csv").write_text("question,answer\n" + rows, encoding="utf-8")
    meta = tmp_path / "qa.csv.meta.json"
    meta.write_text('{"request_count": 30, "sampling_mode": "random_with_replacement"}', encoding="utf-8")
    drawn = perf("qa.csv", concurrency=2)
    meta.unlink()
    plain = perf("qa.csv", concurrency=2)
    (said,) = [note.text for note in compare(drawn, plain).notes if "replacement" in note.text]
    assert said.startswith("run 1 drew its rows with replacement: 30 requests sent ")
    again = perf("qa.csv", concurrency=2)
    assert not [note for note in compare(plain, again).notes if "replacement" in note.text]


def test_a_test_that_is_not_comparable_fails_no_gate_on_regressions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3 with the reason: the figures of a test whose requests failed do not say that the server got worse."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n", encoding="utf-8")
    with (
        demo_server(DemoSettings(ttft_ms=1)) as quick,
        demo_server(DemoSettings(ttft_ms=60, error_rate=0.5, faults={"server_error": 1.0})) as slow,
    ):
        for server in (quick, slow):
            perf("qa.csv", concurrency=2, requests=60, model_url=server.url, model_id="demo")
    for mode in ("regression", "diff"):
        assert main(["compare", "1", "2", "--fail-on", mode]) == 3
        assert "run 2 is not comparable" in " ".join(capsys.readouterr().out.split())
