"""What people see of a load test: the page and the terminal."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from load_tests import HEALTH, HOSTILE, open_loop, sweep, view_of
from made_records import closed_loop, failed, streamed
from msgspec.structs import replace
from rich.console import Console

from benchwright.perf import LoadSearch, LoadSettings, RequestOutcome, RequestRecord
from benchwright.perf._values import StageRecord
from benchwright.reports import load_table
from benchwright.reports.html.charts import Axis, axis_for
from benchwright.reports.html.load import level_table, load_page, metric_rows, tiles
from benchwright.results import LoadView, load_view
from benchwright.results._load_verdicts import verdicts
from browser import document_of


def text_of(view: LoadView, width: int = 150) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(load_table(view))
    return out.getvalue()


class Tags(HTMLParser):
    """Every tag and attribute, and whether all were closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "line", "path", "circle", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("made", [sweep(), open_loop()], ids=["sweep", "open"])
def test_a_page_loads_nothing_and_is_well_formed(made, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    page = load_page(*view_of(made, tmp_path))
    tags = Tags(page)
    assert tags.open == []
    assert not [tag for tag, attributes in tags.found if {"src", "href", "srcset"} & set(attributes)]
    assert "@import" not in page
    assert "url(" not in page
    assert not re.search(r"\b(nan|inf)\b", "".join(re.findall(r'(?: d| x| y)="[^"]*"', page)))
    assert "prefers-color-scheme: dark" in page


def test_no_text_of_a_server_becomes_markup(tmp_path: Path) -> None:
    page = load_page(*view_of(sweep(), tmp_path, name=HOSTILE))
    tags = [tag for tag, _ in Tags(page).found]
    assert "img" not in tags
    assert tags.count("script") == 1
    assert "&lt;img src=x" in page


@pytest.mark.parametrize(("requests", "shown"), [(99, False), (100, True)])
def test_a_page_shows_the_99th_percentile_only_of_enough_requests(
    requests: int, shown: bool, tmp_path: Path
) -> None:
    view, _ = view_of(open_loop(requests), tmp_path)
    (stage,) = view.summary.stages
    assert stage.metrics["e2e_ms"].n == requests
    headings, (cells,) = level_table(view.summary)
    assert ("e2e p99" in dict(headings)) is shown
    assert all(tile.detail.startswith("median; p99") is shown for tile in tiles(stage) if tile.unit == "ms")
    rows = {row["metric"].name: row for row in metric_rows(stage)}
    assert (rows["e2e"]["cells"]["p99"] != "–") is shown
    assert bool(rows["e2e"]["p99_interval"]) <= shown
    assert cells


def test_a_sweep_has_its_curves_and_a_single_level_has_none(tmp_path: Path) -> None:
    many = load_page(*view_of(sweep(), tmp_path))
    one = load_page(*view_of(open_loop(), tmp_path))
    assert "against throughput" in many
    assert "against throughput" not in one
    assert "from the plan" in one
    for page in (many, one):
        for heading in (
            "Latency distributions",
            "Over time",
            "Timeline",
            "Requests in flight",
            "client health",
        ):
            assert heading in page


def test_a_scored_sweep_shows_its_headline_score_by_level(tmp_path: Path) -> None:
    records, settings, stages = sweep()
    right = {0: 1.0, 1: 1.0, 2: 0.25}
    scored = [replace(each, scores={"exact": right[each.stage], "f1": 0.5}) for each in records]
    view, requests = view_of((scored, replace(settings, score=True), stages), tmp_path)
    page = load_page(view, requests)
    assert "Score by level: exact" in page
    assert "Score by level: f1" not in page
    heading, levels = level_table(view.summary)
    place = [name for name, _ in heading].index("exact")
    assert [row[place] for row in levels] == ["1.0000", "1.0000", "0.2500"]
    view, requests = view_of(sweep(), tmp_path)
    assert "Score by level" not in load_page(view, requests)


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
    page = load_page(*view_of((records, LoadSettings(levels=(64.0,)), [StageRecord(0, 64.0)]), tmp_path))
    assert len(page) < 600_000
    assert "240 of 20,000 requests" in page
    assert "Around the slowest request" in page


def test_a_test_without_replies_has_a_page_that_says_so(tmp_path: Path) -> None:
    records = [failed(n, n / 10, RequestOutcome.CONNECT, error="connection refused") for n in range(5)]
    view, requests = view_of((records, LoadSettings(), [StageRecord(0, 1.0)]), tmp_path)
    page = load_page(view, requests)
    assert "5 of 5 requests failed" in page
    assert "connection refused" in page
    assert Tags(page).open == []
    shown = text_of(view)
    assert "✗ 5 of 5 requests failed (100.0 %)" in shown
    assert "connect × 5: connection refused" in shown
    assert "no request completed" in shown


def test_a_server_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    lost = [
        RequestRecord(number=n, planned=n / 10, ended=n / 10, outcome=RequestOutcome.CONNECT, error="refused")
        for n in range(5)
    ]
    view, requests = view_of((lost, LoadSettings(profile="constant"), [StageRecord(0, 1.0)]), tmp_path)
    assert "✗ 5 of 5 requests failed (100.0 %)" in text_of(view)
    page = load_page(view, requests)
    assert "5 of 5 requests failed" in page
    assert Tags(page).open == []


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
        r"[\d.]+/s, ttft p99 [\d.]+ ms, at (1|4|16) in flight, of 3 levels, (none|all|\d) steady",
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


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis(0, 100), [0, 20, 40, 60, 80, 100]),
        (Axis(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (Axis(3, 8), [3, 4, 5, 6, 7, 8]),
        (Axis(1, 1000, log=True), [1, 10, 100, 1000]),
        (Axis(20, 60, log=True), [20, 50]),
    ],
)
def test_ticks_are_round_and_within_the_axis(axis: Axis, ticks: list[float]) -> None:
    assert axis.ticks() == pytest.approx(ticks)


@pytest.mark.parametrize("values", [[], [0.0], [5.0, 5.0], [0.0, 0.0], [1e-9, 1e9]])
def test_any_values_have_an_axis(values: list[float]) -> None:
    for log in (False, True):
        axis = axis_for(values, "", log=log)
        assert axis.high > axis.low
        assert axis.ticks()
        assert all(0 <= axis.place(value) <= 1 for value in values)


_PROBE = """<body><iframe id="page" style="width:{width}px;height:900px;border:0" srcdoc="{page}"></iframe><pre id="found"></pre><script>
page.onload = () => {{
  const inner = page.contentDocument, svg = inner.querySelector(".plot svg"), box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", {{clientX: box.left + box.width / 2, clientY: box.top + box.height / 2}}));
  const tip = svg.parentNode.querySelector(".tip");
  found.textContent = [inner.documentElement.scrollWidth, tip.hidden, tip.textContent.length > 10].join(" ");
}};
</script></body>"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1200])
def test_a_browser_shows_values_on_hover_and_needs_no_sideways_scrolling(width: int, tmp_path: Path) -> None:
    from html import escape

    page = load_page(*view_of(sweep(), tmp_path))
    (tmp_path / "probe.html").write_text(_PROBE.format(width=width, page=escape(page)), encoding="utf-8")
    shown = document_of(tmp_path / "probe.html", tmp_path)
    found = re.search(r'<pre id="found">(\d+) (\w+) (\w+)</pre>', shown)
    assert found is not None, shown[-500:]
    assert int(found[1]) <= width
    assert (found[2], found[3]) == ("false", "true")


def test_limits_are_lines_on_the_plots_and_errors_come_first(tmp_path: Path) -> None:
    text = load_page(*view_of(sweep(), tmp_path))
    assert text.count('<line class="limit"') == 3  # against throughput, the distribution, and over time
    assert "limit 60 ms" in text
    assert text.index("<h2>Errors</h2>") < text.index("<h2>Levels</h2>")
    assert "Total throughput against that of one user" in text
    records, settings, stages = open_loop(200)
    assert '<line class="limit"' not in load_page(*view_of((records, settings, stages), tmp_path))
    assert "<h2>Errors</h2>" not in load_page(*view_of((records, settings, stages), tmp_path))


@pytest.mark.parametrize(("limit", "chosen"), [(9.0, True), (0.001, False)])
def test_a_probe_is_marked_as_the_best_only_if_the_search_has_an_answer(
    tmp_path: Path, limit: float, chosen: bool
) -> None:
    records, settings, stages = sweep()
    probed = replace(settings, slo=(("e2e", limit),), slo_share=0.8, search=LoadSearch(share=0.8, highest=16))
    view, requests = view_of((records, probed, stages), tmp_path)
    assert ('class="chosen"' in load_page(view, requests)) == chosen


def test_a_search_without_time_shows_the_nearest_probe_below_its_answer(tmp_path: Path) -> None:
    records, settings, stages = sweep()
    probed = replace(settings, slo=(("e2e", 9.0),), slo_share=0.95, search=LoadSearch(share=0.95, highest=99))
    view, requests = view_of((records, probed, stages), tmp_path)
    search = view.summary.search
    assert search is not None
    assert (search.status, search.passed) == ("bounded", (0, 0))
    assert search.level is not None
    assert 4 < search.level < 16
    page = load_page(view, requests)
    assert "no probe had exactly this load" in page
    assert "Figures of the nearest probe below: 4 in flight, after 3 probes" in page
