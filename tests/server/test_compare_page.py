"""The page of a comparison in Chromium: every figure is that of `compare --json`, and hostile texts are text."""

from __future__ import annotations

import csv
import http.client
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint, runs as run_acts
from benchwright.cli import main
from benchwright.core import p_text, printable
from benchwright.server import ServerAddress, serving
from benchwright.store import Workspace
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.\x07 \"'&amp;"
ROWS = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of one benchmark whose questions, answers, topics and replies contain markup."""
    place = tmp_path_factory.mktemp("compared")
    with (place / "q.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [[f"{n}? {HOSTILE}", f"{n} {HOSTILE}", f"{HOSTILE} {n % 2}"] for n in range(ROWS)]
        csv.writer(file).writerows([["question", "answer", "topic"], *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for misses in (20, 4, 5):
            replies = iter([f"{'no ' if n < misses else ''}{n} {HOSTILE}" for n in range(ROWS)])
            endpoint = ScriptedEndpoint(lambda request, replies=replies: next(replies))
            benchwright.run("q.csv", endpoint=endpoint, parallelism=1)
    return place


def asked(address: ServerAddress, path: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("GET", f"/api{path}", headers={"Authorization": f"Bearer {address.token}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def value_at(document: Any, path: str) -> Any:
    for part in path.replace("\\.", "\0").split("."):
        document = document[int(part)] if isinstance(document, list) else document[part.replace("\0", ".")]
    return document


def forms(value: Any) -> set[str]:
    """Every way in which a page may write a value."""
    if value is None:
        return {"–", "not set"}
    if isinstance(value, str):
        text = " ".join(printable(value).split())
        return {text, text[:1].upper() + text[1:]}
    signed = f"{'−' if value < 0 else '+'}{abs(value):,.4f}"
    return {f"{value:,.4f}", signed, f"{value:,.0f}", p_text(value), json.dumps(value)}


LAYERS = {
    "reply": "other reply",
    "score": "scored differently",
    "extraction": "read differently",
    "prompt": "other prompt",
}


@pytest.mark.parametrize("query", ["runs=1,2,3&by=topic", "runs=1,2"])
def test_every_figure_is_that_of_the_command(
    folder: Path, chromium: Browser, query: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = query.partition("&")[0].removeprefix("runs=").split(",")
    by = ["--by", "topic"] if "by=" in query else []
    main(["compare", *runs, *by, "--json", "--limit", "100", "--workspace", str(folder)])
    printed = json.loads(capsys.readouterr().out)
    del printed["exit_code"]
    logged: list[str] = []
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        status, document = asked(address, f"/compare?{query}")
        assert (status, document) == (200, printed)
        page = chromium.new_page(viewport={"width": 420, "height": 900})
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda said: logged.append(said.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("dialog", lambda dialog: logged.append(dialog.message))
        page.goto(address.open_url)
        page.wait_for_selector("main[aria-busy=false]")
        page.goto(f"{address.url}/#/compare?{query}")
        page.wait_for_selector(".compare")
        found = page.eval_on_selector_all(
            "[data-json]", "all => all.map(each => [each.dataset.json, each.textContent])"
        )
        assert len(found) > 40
        for path, text in found:
            value = value_at(document, path)
            expected = {LAYERS[value]} if path.endswith(".why") else forms(value)
            assert " ".join(text.split()) in expected, path
        assert page.locator("main img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        flips = page.locator(".flip").count()
        assert flips == sum(
            len(each["output_differences"]) for each in document.get("comparisons", [document])
        )
        page.locator('button[data-value="won"]').first.click()
        assert page.locator(".flip.wrong").count() < flips
        page.close()
    assert logged == []


def test_what_was_read_from_a_reply_stands_beside_each_flip(tmp_path: Path, chromium: Browser) -> None:
    rows = "".join(f"What is {n}+0?,{n},9,8,7,A\n" for n in range(4))
    (tmp_path / "mcq.csv").write_text("question,A,B,C,D,answer\n" + rows, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for reply in ("The answer is A", "The answer is C"):
            benchwright.run("mcq.csv", endpoint=ScriptedEndpoint(lambda request, reply=reply: reply))
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(f"{address.open_url}#/compare?runs=1,2")
        page.wait_for_selector(".flip")
        first = page.locator(".flip").first.inner_text()
        assert "other reply" in first
        assert "extracted A" in first
        assert "extracted C" in first
        page.get_by_role("link", name="List all 4 changed samples").click()
        page.wait_for_selector("text=All 4 samples")
        assert page.evaluate("location.hash") == "#/runs/2/samples?changed_from=1"
        page.close()


def test_load_tests_are_drawn_over_each_other(
    tmp_path: Path, chromium: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for _ in range(2):
            assert main(["perf", "q.csv", "--concurrency", "1,2", "--requests", "20", "--quiet"]) in (0, 3)
        capsys.readouterr()
        main(["compare", "1", "2", "--json"])
    curves = json.loads(capsys.readouterr().out)["curves"]
    names = [each["name"] for each in curves["distributions"]]
    assert names[-1] == "e2e"
    for each in curves["distributions"]:
        for side in ("run_a", "run_b"):
            assert each[side] == sorted(each[side])
            assert len(each[side]) == len(curves["percents"])
    assert [[level["level"] for level in side] for side in curves["sweep"].values()] == [[1, 2], [1, 2]]
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        page = chromium.new_page(viewport={"width": 420, "height": 900})
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(f"{address.open_url}#/compare?runs=1,2")
        page.wait_for_selector(".compare")
        assert page.get_by_text("End-to-end latency at 2 in flight").count() > 0
        assert page.get_by_text("End-to-end latency against throughput").count() > 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("link", name="run 2").first.click()
        page.wait_for_url("**/#/load/2")  # the page of its kind
        page.close()


def test_questions_that_cannot_be_answered_are_refused(folder: Path) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        assert asked(address, "/compare")[0] == 422
        assert asked(address, "/compare?runs=1")[0] == 422
        assert asked(address, "/compare?runs=1,x")[0] == 422
        assert asked(address, "/compare?runs=1,99")[0] == 404
        status, told = asked(address, "/compare?runs=1,2&by=nothing")
        assert status == 404
        assert "Columns: answer, question, topic" in told["error"]["message"]


def test_a_comparison_is_one_file_of_every_format(
    folder: Path, chromium: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    command = ["compare", "1", "2", "3", "--workspace", str(folder), "--limit", "100", "-o"]
    for ending in ("html", "md", "tex", "csv", "xlsx"):
        assert main([*command, str(tmp_path / f"c.{ending}")]) == 0
    assert main([*command, str(tmp_path / "c.pdf")]) == 2
    assert ".html, .md, .tex, .csv, .xlsx" in capsys.readouterr().err
    main(["compare", "1", "2", "3", "--workspace", str(folder), "--limit", "100", "--json"])
    document = json.loads(capsys.readouterr().out)
    with (tmp_path / "c.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expected = [metric for each in document["comparisons"] for metric in each["metrics"]]
    assert [row["metric"] for row in rows] == [*(metric["name"] for metric in expected), document["metric"]]
    for row, metric in zip(rows, expected, strict=False):
        assert float(row["difference"]) == metric["paired"]["difference"]
        assert row["value_a"] == str(metric["run_a"][0])
    assert float(rows[-1]["difference"]) == document["pairs"][-1]["paired"]["difference"]
    book = openpyxl.load_workbook(tmp_path / "c.xlsx")
    assert book.sheetnames == ["summary", "changed samples"]
    assert [sheet.freeze_panes for sheet in book] == ["A2", "A2"]
    changes = [change for each in document["comparisons"] for change in each["output_differences"]]
    cells = [row[9] for row in book["changed samples"].iter_rows(min_row=2, values_only=True)]
    assert cells == [change["reply_b"].replace("\x07", "") for change in changes]
    table = (tmp_path / "c.tex").read_text(encoding="utf-8")
    assert table.count(" & ") == 6 * (len(rows) + 1)
    assert "<img" not in (tmp_path / "c.md").read_text(encoding="utf-8").replace("\\<img", "")
    assert "\n* \n" not in (tmp_path / "c.md").read_text(encoding="utf-8")
    logged: list[str] = []
    page = chromium.new_page(viewport={"width": 420, "height": 900})
    page.on("console", lambda said: logged.append(said.text))
    page.on("pageerror", lambda error: logged.append(str(error)))
    page.goto((tmp_path / "c.html").as_uri())
    page.wait_for_selector(".flip")
    assert page.locator(".flip").count() == len(changes)
    assert page.locator("main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()
    assert logged == []


FEW_MUCH = """
from benchwright import benchmark, scorer

@benchmark(name="lengths", dataset="q.jsonl", prompt="{question}", lower_is_better=["error_rate", "steps"])
@scorer
def lengths(sample):
    steps = float(sample.response)
    return {"steps": steps, "gain": steps}
"""


def test_colours_follow_the_direction_of_each_metric(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same values under two names: more is worse for one and better for the other, and neither is coloured where mean and test disagree."""
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"question": f"{n}?", "answer": "x"}) for n in range(ROWS)]
    (tmp_path / "q.jsonl").write_text("\n".join(rows))
    (tmp_path / "lengths.py").write_text(FEW_MUCH)
    worse = [str(10 + n + 1) for n in range(ROWS)]
    mixed = [str(10 + n - 0.5 if n else 500) for n in range(ROWS)]
    for values in ([str(10 + n) for n in range(ROWS)], worse, mixed):
        replies = iter(values)
        endpoint = ScriptedEndpoint(lambda request, replies=replies: next(replies))
        benchwright.run("lengths.py", endpoint=endpoint, parallelism=1)
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(address.open_url)
        page.wait_for_selector("main[aria-busy=false]")
        for query, expected in (
            ("1,2", {"steps": "worse", "gain": "better"}),
            ("1,3", {"steps": "", "gain": ""}),
        ):
            document = asked(address, f"/compare?runs={query}")[1]
            metrics = {each["name"]: each for each in document["metrics"]}
            assert metrics["steps"]["significant"], query
            page.goto(f"{address.url}/#/compare?runs={query}")
            for place, each in enumerate(document["metrics"]):
                path = f"[data-json='metrics.{place}.paired.difference']"
                page.wait_for_selector(path)
                shown = page.eval_on_selector(path, "each => each.parentElement.className")
                assert shown == expected[each["name"]], (query, each["name"], each["direction"])
        page.close()
