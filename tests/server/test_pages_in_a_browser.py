"""The pages in Chromium: who is let in, what is shown, and that it is what REST says."""

from __future__ import annotations

import http.client
import json
import math
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import benchwright
import warm
from benchwright import ScriptedEndpoint, runs as run_acts
from benchwright.core import printable
from benchwright.perf import LoadSettings, RequestRecord, Requests, summarise
from benchwright.results._figures import duration, number
from benchwright.server import ServerAddress, serving
from benchwright.store import StepRequest, Workspace, open_store
from stored_workflows import add_metric, begin_step, complete_step, created_workflow, finish_workflow
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.\x00 \"'&amp;"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of every kind, ended in several ways, with names of any length."""
    place = tmp_path_factory.mktemp("shown")
    (place / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n2+2,4\n")
    (place / "geography_of_europe.csv").write_text("question,answer\n" + "1+1,2\n1+2,3\n" * 16)
    failing = iter([*[TimeoutError("late")] * 8, *["2"] * 24])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2"))
        benchwright.run("geography_of_europe.csv", endpoint=ScriptedEndpoint(lambda request: next(failing)), max_retries=0)  # fmt: skip
    with open_store(Workspace(place)) as store:
        lease = created_workflow(
            store, "w" * 90, input_json=b'{"model": "an-owner/a-model-with-a-long-name"}'
        )
        step = begin_step(store, lease, StepRequest("s", "0" * 64, b"1"))
        complete_step(store, lease, step.step_id, 1, b"{}")
        add_metric(store, lease, "score", 0.25, step_id=step.step_id)
        finish_workflow(store, lease, "completed", output=b"{}")
        finish_workflow(store, created_workflow(store, HOSTILE), "failed", error=HOSTILE)
        load = store.create_run(kind="load", name="l", target="l", model="m", folder=None, settings={}, manifest={})  # fmt: skip
        sent = [RequestRecord(number=n, sent=float(n), ended=n + 1.0) for n in range(75)]
        store.finish_run(load.id, "completed", summary=summarise(Requests.of(sent), LoadSettings()).to_json())
        store.create_run(name="begun", target="b", model="m", folder=None, settings={}, manifest={})
    return place


def is_expected(said: ConsoleMessage, expect: str) -> bool:
    """Whether a test expects what a page logs. The server of a test ends before its tabs do, and so do their live updates."""
    cut = said.text.startswith("Failed to load resource") and said.location["url"].endswith("/api/live")
    return cut or re.search(expect, said.text) is not None


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens tabs of one window, and fails if one of them logs anything that the test does not expect."""
    contexts: list[BrowserContext] = []
    logged: list[str] = []

    def opened(url: str, *, expect: str = "^$", **settings: Any) -> Page:
        if settings or not contexts:
            contexts.append(chromium.new_context(**settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda said: is_expected(said, expect) or logged.append(said.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("dialog", lambda dialog: logged.append(dialog.message))
        page.goto(url)
        page.wait_for_selector("main[aria-busy=false]")
        return page

    yield opened
    cookies = [cookie for context in contexts for cookie in context.cookies()]
    for context in contexts:
        context.close()
    assert (logged, cookies) == ([], [])


def listed(address: ServerAddress) -> list[dict[str, Any]]:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("GET", "/api/runs", headers={"Authorization": f"Bearer {address.token}"})
        runs: list[dict[str, Any]] = json.loads(connection.getresponse().read())["runs"]
        return runs
    finally:
        connection.close()


def text(page: Page) -> str:
    return page.inner_text("main")


def test_the_printed_address_opens_the_runs_once(folder: Path, tab: Callable[..., Page]) -> None:
    command = [sys.executable, "-m", "benchwright", "serve", "--workspace", str(folder)]
    server = warm.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert server.stdout is not None
        url = next(line.split()[1] for line in iter(server.stdout.readline, "") if line.startswith("open: "))
        page = tab(url)
        assert page.locator("tr[data-run]").count() == 6
        assert page.url == url.partition("?")[0] + "#/runs"
        assert page.title() == "Runs – benchwright"
        page.reload()
        page.wait_for_selector("tr[data-run]")
        assert (
            tab(url.partition("?")[0]).locator("tr[data-run]").count() == 6
        )  # it got the token of the other tab
        again = tab(url, expect="401", color_scheme="dark")  # another window, which has no such tab
        assert "this code was used before" in text(again)
        assert "benchwright serve --new-code" in text(again)
        again.get_by_label("Code or token").fill("wrong")
        again.keyboard.press("Enter")
        again.wait_for_selector("text=did not give out this code")
        told = warm.run([*command, "--new-code", "--json"], capture_output=True, text=True, cwd=folder)
        again.get_by_label("Code or token").fill(json.loads(told.stdout)["open_url"].partition("=")[2])
        again.keyboard.press("Enter")
        again.wait_for_selector("tr[data-run]")
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=PATIENCE_S)


def test_every_figure_is_what_rest_says(folder: Path, tab: Callable[..., Page]) -> None:
    forms: dict[str, Callable[[Any], str]] = {
        "duration_s": duration, "headline.value": number, "headline.ci_low": number, "headline.ci_high": number,
        "comparable": lambda value: "not comparable", "progress.done": "{:,}".format, "progress.total": "{:,}".format, "progress.seconds_left": lambda value: f"{duration(value)} left", "kind": lambda value: {"load": "load test"}.get(value, value),
    }  # fmt: skip
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        page = tab(address.open_url)
        runs = listed(address)
        shown = page.eval_on_selector_all(
            "[data-json]",
            "all => all.map(e => [Number(e.closest('tr').dataset.run), e.dataset.json, e.textContent])",
        )
    by_id = {run["id"]: run for run in runs}
    assert [run["id"] for run in runs] == list(dict.fromkeys(number_ for number_, _, _ in shown))
    for run, path, said in shown:
        value: Any = by_id[run]
        for part in path.split("."):
            value = value[part]
        assert said == forms.get(path, lambda value: printable(str(value)))(value), (run, path)
    assert {"id", "name", "kind", "model", "model_name", "headline.value", "headline.text", "headline.ci_low", "headline.n",
            "status", "comparable", "failed", "evaluated", "duration_s"} <= {path for _, path, _ in shown}  # fmt: skip


def test_numbers_and_names_are_written_as_the_commands_write_them(
    folder: Path, tab: Callable[..., Page]
) -> None:
    some = random.Random(7)
    numbers = [k / 32 for k in range(70)] + [some.uniform(-10, 10) ** 5 for _ in range(300)] + [0.00005, 0.00015, 999_999.99995, 1234567.03125]  # fmt: skip
    spans = (
        [abs(value) for value in numbers] + [k + 0.5 for k in range(130)] + [3599.5, 3600.0, 59.95, 0.9995]
    )
    every = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x10000), *range(0xE0000, 0xE0100))]
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        page = tab(address.url)
        told = page.evaluate(
            """async ([numbers, spans, text]) => {
                const { score, duration } = await import("/pages/figures.js");
                const { printable } = await import("/pages/dom.js");
                return [numbers.map(score), spans.map(duration), printable(text)];
            }""",
            [numbers, spans, "|".join(every) + "\r\n"],
        )
    assert all(map(math.isfinite, numbers))
    assert told[0] == [number(value) for value in numbers]
    assert told[1] == [duration(value) for value in spans]
    assert told[2] == printable("|".join(every) + "\r\n")


OUTSIDE = """() => {
    const room = document.querySelector("main").getBoundingClientRect();
    return [...document.querySelectorAll("main *:not(thead, thead *)")].filter((element) => {
        const box = element.getBoundingClientRect();
        const cut = element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1;
        return box.width > 0 && (cut || box.left < room.left + 12 || box.right > room.right - 12);
    }).map((element) => element.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_width(folder: Path, tab: Callable[..., Page], scheme: str) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        page = tab(address.open_url, color_scheme=scheme)
        for width in (320, 420, 980, 981, 1000, 1250, 1251, 1600, 3840):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(OUTSIDE) == [], width
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        paper, ink = page.evaluate(
            "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        lighter = sum(map(int, re.findall(r"\d+", paper))) > sum(map(int, re.findall(r"\d+", ink)))
        assert lighter is (scheme == "light")


def test_an_empty_workspace_says_how_to_begin(tmp_path: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        page = tab(address.open_url)
        assert "No runs yet" in text(page)
        page.goto(f"{address.url}/#/nowhere")
        page.wait_for_selector("text=There is no such page")
        page.get_by_role("link", name="Show all runs").click()
        page.wait_for_selector("text=No runs yet")


def test_a_failure_is_said_and_can_be_tried_again(folder: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        page = tab(address.open_url, expect="ERR_FAILED|503")
        page.route("**/api/runs*", lambda route: route.abort())
        page.reload()
        page.wait_for_selector("text=The server does not answer.")
        page.unroute("**/api/runs*")
        page.route("**/api/runs*", lambda route: route.fulfill(status=503, json={"error": {"code": "store", "message": HOSTILE, "hint": "free disk space", "retryable": True}}))  # fmt: skip
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("text=free disk space")
        page.unroute("**/api/runs*")
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("tr[data-run]")


def test_while_it_loads_it_says_so(folder: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        page = tab(address.open_url)
        held: list[Any] = []
        page.route("**/api/runs*", lambda route: held.append(route))
        with page.expect_request("**/api/runs*"):
            page.reload()
        page.wait_for_selector("main[aria-busy=true] >> text=Loading runs…")
        held[0].continue_()
        page.wait_for_selector("main[aria-busy=false] tr[data-run]")


def test_a_tab_of_an_earlier_start_is_told_so(folder: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, state):
        page = tab(address.open_url, expect="401")
        state.keys._tokens = ()
        page.reload()
        page.wait_for_selector("text=The server was started again")
        assert page.evaluate("sessionStorage.length") == 0


def test_the_keyboard_reaches_everything(tmp_path: Path, tab: Callable[..., Page]) -> None:
    with open_store(Workspace(tmp_path)) as store:
        for n in range(103):
            created_workflow(store, f"w{n}")
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        page = tab(address.open_url)
        assert page.locator("tr[data-run]").count() == 100
        assert "100 of 103 runs, newest first; there are more" in text(page)
        reached = []
        while "Show older runs" not in reached:
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.name || document.activeElement.textContent"))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        links = [link for n in range(102, 2, -1) for link in ("", f"w{n}")]
        assert reached == ["benchwright", "Runs", "Search", "Labels", "q", "kind", "status", "name", "sort", "group", *links, "Show older runs"]  # fmt: skip
        page.keyboard.press("Enter")
        page.wait_for_selector("text=103 runs, newest first")
        assert page.evaluate("document.activeElement.dataset.run") == "3"
        assert not page.get_by_role("button", name="Show older runs").is_visible()
