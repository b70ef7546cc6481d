"""The pages of a run, of its samples, of one sample and of its slices, in Chromium."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

import benchwright
from benchwright import ScriptedEndpoint, runs as run_acts
from benchwright.cli import main
from benchwright.core import ModelRequest, printable
from benchwright.reports import page_files
from benchwright.results import SearchPage
from benchwright.server import ServerAddress, serving
from benchwright.store import Workspace, open_store
from browser import driven
from page_figures import agrees, value_at
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.\x00 \"'&amp; </script>"
ROWS = [
    {
        "question": f"{n}+{n}",
        "answer": str(2 * n) if n % 3 else HOSTILE,
        "topic": "odd" if n % 2 else HOSTILE,
        "long": 1234567890123456789,
    }
    for n in range(1, 41)
]


def replied(request: ModelRequest) -> str:
    """Half of the replies are right; some are none."""
    asked = re.search(rb"(\d+)\+\d+", request.payload)
    number = int(asked[1]) if asked else 0
    if number % 7 == 0:
        raise TimeoutError("late")
    return str(2 * number) if number % 2 else f"I cannot say. {HOSTILE}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two runs on the same rows, and one that never began."""
    place = tmp_path_factory.mktemp("shown")
    (place / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied), max_retries=0)
        benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(lambda request: "2"), repeats=2)
    return place


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[ServerAddress]:
    with serving(Workspace(folder), acts=run_acts) as (found, _):
        yield found


@pytest.fixture(scope="module")
def opened(address: ServerAddress) -> Iterator[BrowserContext]:
    """One browser with a window that is let in: its first tab has the token for all others."""
    with driven() as browser:
        yield let_in(browser, address)


def let_in(browser: Browser, address: ServerAddress, **settings: Any) -> BrowserContext:
    context = browser.new_context(**settings)
    token = json.dumps(address.token)
    context.add_init_script(f"sessionStorage.setItem('benchwright.token', {token})")
    return context


@pytest.fixture
def tab(opened: BrowserContext, address: ServerAddress) -> Iterator[Callable[[str], Page]]:
    """Opens an address in a tab, and fails if anything is logged."""
    logged: list[str] = []
    pages: list[Page] = []

    def open_tab(hash_: str, width: int = 1300) -> Page:
        page = opened.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": 900})
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda said: logged.append(said.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("dialog", lambda dialog: logged.append(dialog.message))
        page.goto(f"{address.url}/{hash_}")
        settled(page)
        return page

    yield open_tab
    for page in pages:
        page.close()
    assert logged == []


def settled(page: Page) -> None:
    page.wait_for_selector("main[aria-busy=false]")


def told(address: ServerAddress, path: str) -> Any:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("GET", f"/api{path}", headers={"Authorization": f"Bearer {address.token}"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def check_figures(page: Page, document: Any, least: int, within: str = "main") -> set[str]:
    """Every figure of a page is in the JSON, to its last digit. Returns their places."""
    shown = page.eval_on_selector_all(
        f"{within} [data-json]", "all => all.map(each => [each.dataset.json, each.textContent])"
    )
    assert len(shown) >= least
    for path, text in shown:
        value = value_at(document, path)
        assert agrees(text, printable(value) if isinstance(value, str) else value), (path, text, value)
    return {path for path, _ in shown}


def test_the_page_of_a_run_says_what_show_prints(
    folder: Path, address: ServerAddress, tab: Callable[..., Page], capsys: pytest.CaptureFixture[str]
) -> None:
    page = tab("#/runs")
    page.get_by_role("link", name="q", exact=True).last.click()
    page.wait_for_selector(".headline")
    settled(page)
    assert page.evaluate("location.hash") == "#/runs/1"
    document = {**told(address, "/runs/1/details"), "distributions": told(address, "/runs/1/distributions")}
    assert main(["show", "1", "--json", "--workspace", str(folder)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {name: value for name, value in document.items() if name != "page"} == printed
    page.wait_for_selector(".later[aria-busy=false]")
    places = check_figures(page, document, 12)
    assert {"sentence", "summary.outcomes.scored", "page.counts.wrong"} <= places
    assert any(path.startswith("distributions.figures.") and path.endswith(".p95") for path in places)
    assert "Repeats" not in page.locator("h2").all_inner_texts()
    assert page.inner_text("h1") == printed["sentence"]
    assert page.title().startswith("q, run 1")
    assert printed["command"] in page.inner_text("main")
    assert "samples.parquet" in page.inner_text("main")
    page.get_by_text("The first request, whole").click()
    assert "1+1" in page.inner_text("main")
    page.go_back()
    page.wait_for_selector("tr[data-run]")


def test_a_run_that_is_not_there_is_said(address: ServerAddress, opened: BrowserContext) -> None:
    page = opened.new_page()
    page.goto(f"{address.url}/#/runs/99")
    page.wait_for_selector("text=This page could not be loaded")
    assert "99" in page.inner_text("main")
    page.close()


def shown_samples(page: Page) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "tr[data-sample]", "all => all.map(each => each.dataset.sample)"
    )
    return found


def listed(address: ServerAddress, query: str) -> list[str]:
    page = told(address, f"/runs/1/samples?{query}")
    return [f"{sample['sample_id']}/{sample['repeat']}" for sample in page["samples"]]


def test_the_outcomes_of_a_run_lead_to_its_samples(address: ServerAddress, tab: Callable[..., Page]) -> None:
    page = tab("#/runs/1")
    page.locator("a.key", has_text="request_failed").click()
    page.wait_for_selector("tr[data-sample]")
    assert page.evaluate("location.hash") == "#/runs/1/samples?outcome=request_failed"
    assert shown_samples(page) == listed(address, "outcome=request_failed")
    assert page.input_value("#outcome") == "request_failed"
    page.select_option("#outcome", "")
    page.select_option("#verdict", "wrong")
    page.fill("#text", "I cannot say")
    page.select_option("#sort", "latency_s")
    page.select_option("#descending", "true")
    page.press("#text", "Enter")
    page.wait_for_function("location.hash.includes('latency_s')")
    settled(page)
    query = page.evaluate("location.hash").partition("?")[2]
    assert shown_samples(page) == listed(address, f"{query}&limit=50")
    assert len(shown_samples(page)) > 3
    assert page.evaluate("document.activeElement.id") == "text", "the focus stays where it was"
    assert "samples without latency are not listed" in page.inner_text("main")
    page.go_back()
    page.wait_for_selector("text=All 5 samples")
    assert page.input_value("#outcome") == "request_failed"


def test_samples_by_column_rule_and_metric(address: ServerAddress, tab: Callable[..., Page]) -> None:
    page = tab(f"#/runs/1/samples?column=topic&value={quote(HOSTILE)}")
    assert shown_samples(page) == [f"{n - 1}/0" for n in range(2, 41, 2)]
    assert "looked at all 40" in page.inner_text("main")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("topic (data)").check()
    assert "onerror" in page.inner_text("table.samples")
    assert page.locator("img").count() == 0
    page.select_option("#verdict", "wrong")
    page.click("#apply")
    page.wait_for_url("**verdict=wrong**")
    settled(page)
    assert "topic" in page.locator("table.samples thead th").all_inner_texts(), "a filter keeps the columns"
    page.locator("tr[data-sample] a").first.click()
    page.wait_for_selector("text=Samples")
    page.locator(".trail a", has_text="Samples").click()
    page.wait_for_selector("table.samples")
    page.click(".clear")
    page.wait_for_url("**/samples?show=**")
    settled(page)
    assert "topic" in page.locator("table.samples thead th").all_inner_texts(), (
        "so do the way back and no filter"
    )
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("topic (data)").uncheck()
    assert (
        "needs the column and its value" in told(address, "/runs/1/samples?column=topic")["error"]["message"]
    )
    empty = tab("#/runs/1/samples?rule=none_such")
    assert "No samples match" in empty.inner_text("main")


def test_samples_that_changed_from_another_run(address: ServerAddress, tab: Callable[..., Page]) -> None:
    compared = told(address, "/compare?runs=2,1&limit=1000&force=true")
    changed = sorted(change["step"] for change in compared["output_differences"])
    page = tab("#/runs/1/samples?show=prompt&show=scores.normalised_exact")
    page.get_by_text("More filters").click()
    page.fill("#changed_from", "2")
    page.click("#apply")
    page.wait_for_url(re.compile("changed_from=2"))
    settled(page)
    assert sorted(shown_samples(page)) == changed == sorted(listed(address, "changed_from=2"))
    assert f"All {len(changed)} samples" in page.inner_text("main")
    assert page.locator("table.samples thead th").all_inner_texts() == [
        "sample",
        "prompt",
        "normalised_exact",
    ], "kept"
    assert "benchwright show 1 --changed-from 2" in page.inner_text(".shown-by")
    wrong = [step for step in changed if step in listed(address, "verdict=wrong")]
    assert sorted(listed(address, "changed_from=2&verdict=wrong")) == wrong
    assert told(address, "/runs/1/samples?changed_from=2")["total"] == len(changed)
    assert told(address, "/runs/1/samples?changed_from=99")["error"]["code"] == "not_found"


def test_a_refused_filter_is_said(address: ServerAddress, opened: BrowserContext) -> None:
    page = opened.new_page()
    page.goto(f"{address.url}/#/runs/1/samples?sort=length")
    page.wait_for_selector("text=cannot be sorted by 'length'")
    page.close()


def test_everything_about_a_sample(address: ServerAddress, tab: Callable[..., Page]) -> None:
    page = tab("#/runs/1/samples/1/0?verdict=wrong")
    document = told(address, "/runs/1/samples/1/0")
    check_figures(page, document, 4)
    text = page.inner_text("main")
    assert "2+2" in text
    assert "<img src=x onerror=alert(1)>" in text
    assert page.locator("img").count() == 0
    assert [each["run_id"] for each in document["elsewhere"]] == [2]
    assert "run 2: q on" in text
    assert document["requests"][0]["to"] == "model"
    wrong = listed(address, "verdict=wrong")
    for key, expected in (("j", wrong[1]), ("k", wrong[0])):
        page.keyboard.press(key)
        page.wait_for_function("id => location.hash === `#/runs/1/samples/${id}?verdict=wrong`", arg=expected)
        settled(page)
    page.keyboard.press("k")
    page.wait_for_selector("text=This is the first.")
    page.get_by_text("Raw JSON").click()
    page.wait_for_selector("[aria-label='Raw JSON'] >> text=1234567890123456789")
    assert '"long": 1234567890123456789' in page.inner_text("[aria-label='Raw JSON']"), "no digit is lost"
    assert '"long": 1234567890123456789' in page.inner_text("[aria-label=Row]")
    again = tab("#/runs/2/samples/0/1")
    assert "0/0" in again.locator("[aria-label=Repeats]").inner_text()


@pytest.mark.parametrize(
    "hash_",
    ["#/runs/1", "#/runs/1/samples", "#/runs/1/samples/1/0", "#/runs/1/slices?by=topic", "#/search?q=say"],
)
def test_pages_fit_a_phone_and_the_keyboard_reaches_everything(hash_: str, tab: Callable[..., Page]) -> None:
    page = tab(hash_, 420)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    unreached = page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((each) => {
            const box = each.getBoundingClientRect(), style = getComputedStyle(each);
            const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY);
            return box.width && scrolls && each.scrollWidth > each.clientWidth + 1 && each.tabIndex < 0;
        }).map((each) => each.outerHTML.slice(0, 80))"""
    )
    assert unreached == []


def test_slices_of_a_run(address: ServerAddress, tab: Callable[..., Page]) -> None:
    page = tab("#/runs/1")
    page.locator("a.way", has_text="topic").click()
    page.wait_for_selector("table.slices")
    assert page.evaluate("location.hash") == "#/runs/1/slices?by=topic"
    document = told(address, "/runs/1/slices?by=topic")
    check_figures(page, document, 12)
    assert page.locator("img").count() == 0
    page.get_by_role("link", name="odd", exact=True).click()
    page.wait_for_selector("tr[data-sample]")
    assert shown_samples(page) == [f"{n - 1}/0" for n in range(1, 41, 2)]
    page.go_back()
    page.wait_for_selector("table.slices")
    assert page.title().startswith("q by topic, run 1")


def test_a_column_that_cannot_be_sliced_is_said(address: ServerAddress, opened: BrowserContext) -> None:
    page = opened.new_page()
    page.goto(f"{address.url}/#/runs/1/slices?by=nothing")
    page.wait_for_selector("text=no row of run 1 has a column 'nothing'")
    page.close()


def test_a_text_is_found_in_all_runs(address: ServerAddress, tab: Callable[..., Page]) -> None:
    page = tab("#/search")
    page.fill("#q", "i CANNOT say")
    page.press("#q", "Enter")
    page.wait_for_selector("text=Looked at everything")
    assert page.title().startswith("Search for i CANNOT say")
    found = told(address, "/search?q=i%20cannot%20SAY&limit=1000")
    assert {(each["run_id"], each["field"]) for each in found["samples"]} == {(1, "reply")}
    assert found["next"] is None
    expected = [f"1/{each['sample_id']}/{each['repeat']}" for each in found["samples"]]
    assert shown_hits(page)[:10] == expected[:10]
    assert page.locator("img").count() == 0
    assert page.locator("mark").first.text_content() == "I cannot say"
    page.locator(".hit a").first.click()
    page.wait_for_selector("text=Prompt")
    page.go_back()
    page.wait_for_selector(".hit")
    named = tab("#/search?q=scripted")
    assert named.locator("a", has_text="q on scripted").count() == 2


def shown_hits(page: Page) -> list[str]:
    found: list[str] = page.eval_on_selector_all(".hit", "all => all.map(each => each.dataset.sample)")
    return found


def test_a_search_goes_on_by_its_cursor_until_all_is_looked_at(address: ServerAddress, folder: Path) -> None:
    with open_store(Workspace(folder)) as store:
        records = sum(store.find_text(run, "\0")[1] for run in (1, 2))
        for limit, most in ((1, 5_000), (3, 7), (50, 1), (50, 5_000)):
            found, after, looked, pages = [], None, 0, 0
            while True:
                page = SearchPage.of(store, "2", after=after, limit=limit, most=most)
                assert len(page.samples) <= limit
                assert page.looked <= most
                found += [(each.run_id, each.sample_id, each.repeat, each.field) for each in page.samples]
                after, looked, pages = page.next, looked + page.looked, pages + 1
                if after is None:
                    break
            assert looked == records
            assert {run for run, *_ in found} == {1, 2}
            assert len({each[:3] for each in found if each[0] == 2}) == 80, "every reply of the second run"
            assert len(found) == len(set(found)), "each place once"
    assert "no text" in told(address, "/search?q=%20")["error"]["message"]
    assert "ended" in told(address, "/search?q=a&after=x")["error"]["message"]


def test_all_files_of_the_pages_are_small() -> None:
    assert sum(map(len, page_files().values())) < 270_000
