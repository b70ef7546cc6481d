"""What people see of a load test: the page and the terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from load_tests import HEALTH, HOSTILE, open_loop, sweep, view_of
from made_records import closed_loop, failed, streamed
from msgspec.structs import replace
from rich.console import Console

from benchwright.perf import (
    METRICS,
    Distribution,
    LoadSearch,
    LoadSettings,
    RequestOutcome,
    RequestRecord,
    Requests,
)
from benchwright.perf._values import StageRecord
from benchwright.reports import drawn
from benchwright.reports.files import load
from benchwright.results import LoadView, short
from benchwright.results._load import limit_text, load_view
from benchwright.results._load_page import load_page
from benchwright.results._load_verdicts import verdicts
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def text_of(view: LoadView, width: int = 150) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(drawn(view))
    return out.getvalue()


@pytest.fixture
def shown(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page of a load test, and fails if it logs anything or draws what is no number."""
    logged: list[str] = []
    opened: list[Page] = []

    def show(view: LoadView, requests: Requests, width: int = 1200) -> Page:
        page = chromium.new_page(viewport={"width": width, "height": 900})
        opened.append(page)
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda said: logged.append(said.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("dialog", lambda dialog: logged.append(dialog.message))
        page.on("request", lambda asked: asked.url.startswith("file:") or logged.append(asked.url))
        (tmp_path / "page.html").write_bytes(load.load_report(view, requests))
        page.goto((tmp_path / "page.html").as_uri())
        values = page.eval_on_selector_all(
            "svg *", "all => all.map(e => [...e.attributes].map(a => a.value).join(' ')).join(' ')"
        )
        assert not re.search(r"\b(NaN|Infinity|undefined|null)\b", values)
        return page

    yield show
    for page in opened:
        page.close()
    assert logged == []


def titles(page: Page) -> list[str]:
    return page.locator("figcaption").all_text_contents()


def cells(page: Page, label: str) -> list[dict[str, str]]:
    """The rows of a table, by its headings."""
    table = page.get_by_role("region", name=label, exact=True)
    heads = table.locator("th").all_text_contents()
    rows = [row.locator("td").all_text_contents() for row in table.locator("tbody tr").all()]
    return [dict(zip(heads, row, strict=True)) for row in rows]


@pytest.mark.slow
def test_no_text_of_a_server_becomes_markup(shown: Callable[..., Page], tmp_path: Path) -> None:
    view, requests = view_of(sweep(), tmp_path, name=HOSTILE)
    text = load.load_report(view, requests).decode()
    assert (text.count("<script"), text.count("<img"), "&lt;img src=x" in text) == (2, 0, True)
    page = shown(view, requests)
    assert page.locator("img").count() == 0
    assert HOSTILE in page.inner_text("h1")
    assert HOSTILE in page.get_by_role("region", name="Errors", exact=True).inner_text()


@pytest.mark.slow
@pytest.mark.parametrize(("requests", "enough"), [(99, False), (100, True)])
def test_a_page_shows_the_99th_percentile_only_of_enough_requests(
    shown: Callable[..., Page], requests: int, enough: bool, tmp_path: Path
) -> None:
    made = view_of(open_loop(requests), tmp_path)
    (stage,) = made[0].summary.stages
    assert stage.metrics["e2e_ms"].n == requests
    page = shown(*made)
    (level,) = cells(page, "Levels")
    assert ("e2e p99" in level) is enough
    details = [text for text in page.locator(".tile").all_text_contents() if "median" in text]
    assert details
    assert all(("p99" in text) is enough for text in details)
    (row,) = (row for row in cells(page, f"{stage.label}: per request") if row["per request"] == "e2e ms")
    assert (row["p99"] != "–") is enough
    assert bool(row.get("p99, 95 % interval")) <= enough


@pytest.mark.slow
def test_a_sweep_has_its_curves_and_a_single_level_has_none(
    shown: Callable[..., Page], tmp_path: Path
) -> None:
    many, one = shown(*view_of(sweep(), tmp_path)), shown(*view_of(open_loop(), tmp_path))
    against = [title for title in titles(many) if "against" in title]
    assert against == [
        "Time to first token against throughput",
        "Time per output token against throughput",
        "End-to-end latency against throughput",
        "Total throughput against that of one user",
    ]
    assert not any("against" in title for title in titles(one))
    assert "from the plan" in one.inner_text("main")
    for page in (many, one):
        headings = page.locator("h2").all_text_contents()
        assert {"Latency distributions", "Over time", "Requests", "All figures"} <= set(headings)
        assert "Requests in flight" in titles(page)
        health = page.locator("[aria-label$='client health']").count()
        assert health == page.locator("details").count()


_CUT = "all => all.filter((each) => each.scrollWidth > each.parentElement.clientWidth + 1).map((each) => each.innerText)"
"""The tables of a page that are wider than their place, so that they must be scrolled."""


@pytest.mark.slow
def test_a_scored_sweep_shows_its_headline_score_by_level(shown: Callable[..., Page], tmp_path: Path) -> None:
    records, settings, stages = sweep()
    right = {0: 1.0, 1: 1.0, 2: 0.25}
    scored = [replace(each, scores={"exact": right[each.stage], "f1": 0.5}) for each in records]
    page = shown(*view_of((scored, replace(settings, score=True), stages), tmp_path))
    assert [title for title in titles(page) if title.startswith("Score by level")] == [
        "Score by level: exact"
    ]
    assert [row["exact"] for row in cells(page, "Levels")] == ["1.0000", "1.0000", "0.2500"]
    page.set_viewport_size({"width": 1200, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.eval_on_selector_all("table", _CUT) == []
    assert not any(title.startswith("Score") for title in titles(shown(*view_of(sweep(), tmp_path))))


def test_failures_are_the_reason_only_where_they_are_too_many(tmp_path: Path) -> None:
    records, settings, stages = sweep()
    share = sum(each.outcome != "ok" for each in records) / len(records)
    for allowed, state in ((share + 0.01, "warn"), (share - 0.01, "bad")):
        limited = [
            replace(each, health=replace(HEALTH, verdict="limit", reasons=("slow",))) for each in stages
        ]
        view, _ = view_of((records, replace(settings, max_error_share=allowed), limited), tmp_path)
        assert not view.summary.comparable
        found = next(each for each in verdicts(view) if "requests failed" in each[1])
        assert (found[0], "not comparable" in found[1]) == (state, state == "bad")


def test_a_page_of_many_requests_stays_small(tmp_path: Path) -> None:
    records = [
        streamed(number, sent, ttft=0.02, gaps=[0.01])
        for number, sent, _ in closed_loop(20_000, 64, lambda number: 0.03 + (number % 7) / 1000)
    ]
    view, requests = view_of((records, LoadSettings(levels=(64.0,)), [StageRecord(0, 64.0)]), tmp_path)
    assert len(load.load_report(view, requests)) < 600_000
    line = load_page(view, requests)["charts"]["timeline"]  # type: ignore[index, call-overload]
    assert (len(line["lines"]), len(line["near"]), line["total"]) == (240, 120, 20_000)  # type: ignore[index, call-overload, arg-type]


@pytest.mark.slow
def test_a_test_without_replies_has_a_page_that_says_so(shown: Callable[..., Page], tmp_path: Path) -> None:
    records = [failed(n, n / 10, RequestOutcome.CONNECT, error="connection refused") for n in range(5)]
    view, requests = view_of((records, LoadSettings(), [StageRecord(0, 1.0)]), tmp_path)
    page = shown(view, requests).inner_text("main")
    assert "5 of 5 requests failed" in page
    assert "connection refused" in page
    text = text_of(view)
    assert "✗ 5 of 5 requests failed (100.0 %)" in text
    assert "connect × 5: connection refused" in text
    assert "no request completed" in text


@pytest.mark.slow
def test_a_server_that_is_not_there_is_said_to_be_so(shown: Callable[..., Page], tmp_path: Path) -> None:
    lost = [
        RequestRecord(number=n, planned=n / 10, ended=n / 10, outcome=RequestOutcome.CONNECT, error="refused")
        for n in range(5)
    ]
    view, requests = view_of((lost, LoadSettings(profile="constant"), [StageRecord(0, 1.0)]), tmp_path)
    assert "✗ 5 of 5 requests failed (100.0 %)" in text_of(view)
    assert "5 of 5 requests failed" in shown(view, requests).inner_text("main")


def test_the_terminal_shows_levels_errors_and_notes(tmp_path: Path) -> None:
    view, _ = view_of(sweep(), tmp_path)
    shown = text_of(view)
    for words in (
        "1 in flight",
        "16 in flight",
        "http_5xx × 15: 503",
        "within",
        "requested output tokens on average (33 %)",
    ):
        assert words in shown
    assert "repeat a prompt" in shown
    narrow = text_of(view, 80)
    assert all(line in narrow for line in ("16 in flight", "failed", "p99, ms"))
    assert "…" not in narrow.split("error")[0], "no cell of the table is cut"
    blocks = text_of(view, 50)
    for heading in ("level", "sent", "failed", "ttft p50, ms", "ttft p99, ms", "within limits", "steady"):
        assert len(re.findall(f"^{heading} ", blocks, re.MULTILINE)) == len(view.summary.stages), heading


def test_the_terminal_shows_one_level_with_intervals_and_both_latencies(tmp_path: Path) -> None:
    view, _ = view_of(open_loop(), tmp_path)
    shown = text_of(view)
    assert re.search(r"e2e, ms +200\.0", shown)
    assert "e2e_planned, ms" in shown
    assert "95 % interval" in shown
    assert "offered rate" in shown
    assert "ttft_answer" not in shown, "the same figures are not shown twice"


def test_a_list_shows_the_best_level(tmp_path: Path) -> None:
    from benchwright.store import RunRecord

    view, _ = view_of(sweep(), tmp_path)
    run = RunRecord(
        id=3, kind="load", name="my_qa", target="qa.jsonl", model="m", status="completed", folder=tmp_path, settings={},
        manifest={}, summary=view.summary.to_json(), error=None, created_at=0.0, finished_at=1.0,
    )  # fmt: skip
    listed = load_view(run)
    assert listed.counted == "450"
    assert re.fullmatch(
        r"[\d.]+/s, ttft p99 [\d.]+ ms, at (1|4|16) in flight, of 3 levels, none within the limits, (none|all|\d) steady",
        listed.headline,
    )
    shape = listed.to_json()
    assert shape["failed"] == 15
    metrics = shape["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["ttft_ms"] > 0


def test_verdicts_come_from_the_figures(tmp_path: Path) -> None:
    states = dict(reversed(pair) for pair in verdicts(view_of(sweep(), tmp_path)[0]))
    assert any(
        words.startswith("15 of 450 requests failed") and state == "warn" for words, state in states.items()
    )
    # Nothing was in flight for a while after failures: it did not keep up, whatever its event loop says.
    assert states["the client paused at 1 in flight although requests were due: see the note"] == "warn"
    assert not any(words.startswith("the client kept up") for words in states)
    assert any("met all limits" in words for words in states)


AXES = """([axes, values]) => {
    const { axisFor, place, ticks } = from_charts;
    const made = values.flatMap((each) => [false, true].map((log) => [axisFor(each, "", { log }), each]));
    return [axes.map((axis) => ticks(axis)), made.map(([axis, each]) => [axis.high > axis.low, ticks(axis).length > 0, each.map((value) => place(axis, value))])];
}"""


@pytest.mark.slow
def test_ticks_are_round_and_any_values_have_an_axis(shown: Callable[..., Page], tmp_path: Path) -> None:
    page = shown(*view_of(sweep(), tmp_path))
    expected: list[tuple[dict[str, Any], list[float]]] = [
        ({"low": 0, "high": 100}, [0, 20, 40, 60, 80, 100]),
        ({"low": 0, "high": 1}, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ({"low": 3, "high": 8}, [3, 4, 5, 6, 7, 8]),
        ({"low": 1, "high": 1000, "log": True}, [1, 10, 100, 1000]),
        ({"low": 20, "high": 60, "log": True}, [20, 50]),
    ]
    values = [[], [0.0], [5.0, 5.0], [0.0, 0.0], [1e-9, 1e9]]
    ticks, axes = page.evaluate(AXES, [[axis for axis, _ in expected], values])
    for found, (_, wanted) in zip(ticks, expected, strict=True):
        assert found == pytest.approx(wanted)
    for wide, marked, places in axes:
        assert wide
        assert marked
        assert all(0 <= each <= 1 for each in places)


NUMBERS = """([values, metrics, percents]) => {
    const { general, limit, short, shown } = from_figures;
    return [values.map((value) => metrics.map((metric) => short(value, metric))), values.map((value) => general(value, 6)),
      values.map((value) => limit(1000 * Math.abs(value))), percents.map(([n, key]) => shown({ n, [key]: 1 }, key) !== null)];
}"""


@pytest.mark.slow
def test_a_page_writes_numbers_as_the_terminal_does(shown: Callable[..., Page], tmp_path: Path) -> None:
    some = Random(3)
    values = (
        [k / 64 for k in range(200)]
        + [some.uniform(-9, 9) ** 7 for _ in range(300)]
        + [some.random() / 10**k for k in range(9)]
    )
    metrics = [METRICS[name] for name in ("ttft", "error_share", "peak_concurrency", "request_throughput")]
    percents = [(n, key) for n in (1, 99, 100, 999, 1000) for key in ("p50", "p99", "p99.9")]
    page = shown(*view_of(sweep(), tmp_path))
    short_, general, limits, enough = page.evaluate(
        NUMBERS, [values, [{"name": each.name, "unit": each.unit} for each in metrics], percents]
    )
    assert short_ == [[short(value, metric) for metric in metrics] for value in values]
    assert general == [f"{value:.6g}" for value in values]
    assert limits == [limit_text(1000 * abs(value) / 1000) for value in values]
    assert enough == [Distribution.enough(n, key) for n, key in percents]


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1200])
def test_a_page_shows_values_on_hover_and_needs_no_sideways_scrolling(
    shown: Callable[..., Page], width: int, tmp_path: Path
) -> None:
    page = shown(*view_of(sweep(), tmp_path), width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for plot in page.locator(".plot").all():
        plot.scroll_into_view_if_needed()
        plot.hover()
        assert len(plot.locator(".tip:visible").inner_text()) > 10


@pytest.mark.slow
def test_limits_are_lines_on_the_plots_and_errors_come_first(
    shown: Callable[..., Page], tmp_path: Path
) -> None:
    page = shown(*view_of(sweep(), tmp_path))
    assert page.locator("line.limit").count() == 3  # against throughput, the distribution, and over time
    assert "limit 60 ms" in page.locator("text.limit").all_text_contents()
    headings = page.locator("h2").all_text_contents()
    assert headings.index("Errors") < headings.index("Levels")
    assert "15 of 450 requests failed (3.3 %): 15 http_5xx" in page.inner_text("main")
    records, settings, stages = sweep()
    page = shown(*view_of((records, replace(settings, slo=(("ttft", 6.0),)), stages), tmp_path))
    assert page.locator("line.limit").count() == 0
    assert set(page.locator("text.limit").all_text_contents()) == {"limit 6 s ↑", "limit 6 s →"}
    plain = shown(*view_of(open_loop(200), tmp_path))
    assert plain.locator("line.limit").count() == 0
    assert "Errors" not in plain.locator("h2").all_text_contents()


@pytest.mark.parametrize(("limit", "chosen"), [(9.0, True), (0.001, False)])
def test_a_probe_is_marked_as_the_best_only_if_the_search_has_an_answer(
    tmp_path: Path, limit: float, chosen: bool
) -> None:
    records, settings, stages = sweep()
    probed = replace(settings, slo=(("e2e", limit),), slo_share=0.8, search=LoadSearch(share=0.8, highest=16))
    page = load_page(*view_of((records, probed, stages), tmp_path))
    assert page["words"]["best"]["marked"] is chosen  # type: ignore[index, call-overload]


@pytest.mark.slow
def test_a_search_without_time_answers_with_a_probe_that_passed(
    shown: Callable[..., Page], tmp_path: Path
) -> None:
    records, settings, stages = sweep()
    probed = replace(settings, slo=(("e2e", 2.0),), slo_share=0.95, search=LoadSearch(share=0.95, highest=99))
    view, requests = view_of((records, probed, stages), tmp_path)
    search = view.summary.search
    assert search is not None
    assert (search.status, search.level, search.passed) == ("bounded", 4.0, (1, 1))
    page = shown(view, requests).inner_text("main")
    assert "4 in flight" in page
    assert "after 3 probes" in page


@pytest.mark.parametrize("within", list(product((20, 19, 15), repeat=3)))
def test_the_best_level_meets_the_limits_if_any_level_does(within: tuple[int, ...], tmp_path: Path) -> None:
    """More in flight has more goodput here, whether or not enough requests are within the limits."""
    levels, records, stages = (1, 4, 8), [], []
    for stage, (level, good) in enumerate(zip(levels, within, strict=True)):
        start = 100.0 * stage
        for number, sent, _ in closed_loop(20, level, lambda _: 0.3):
            ttft = 0.05 if number < good else 0.2
            records.append(
                streamed(20 * stage + number, start + sent, ttft=ttft, gaps=[0.01] * 10, stage=stage)
            )
        stages.append(StageRecord(stage, float(level), start, start + 10, 20, health=HEALTH))
    settings = LoadSettings(levels=(1.0, 4.0, 8.0), requests=20, slo=(("ttft", 0.1),))
    view, requests = view_of((records, settings, stages), tmp_path)
    meeting = [f"{level} in flight" for level, good in zip(levels, within, strict=True) if good == 20]
    (state, told), *_ = [pair for pair in view.verdicts if "met all limits" in pair[1]]
    words: Any = load_page(view, requests)["words"]
    place, title = view.summary.stages[words["best"]["place"]].label, words["best"]["title"]
    assert told in " ".join(text_of(view, 400).split())
    if meeting:
        assert told == f"100.0 % of requests met all limits at the best level, {meeting[-1]}: ttft ≤ 100 ms"
        assert (state, place, title, words["best"]["marked"]) == ("ok", meeting[-1], "Best level", True)
    else:
        assert told.startswith("no level met all limits in 99 % of requests; the closest was ")
        assert f"with {5 * max(within)}.0 %" in told
        assert (state != "ok", title, words["best"]["marked"]) == (True, "Highest goodput", False)
        assert "none within the limits" in words["best"]["of"]
