"""Rows of a workflow on the pages: the samples of a run and each sample, slices, and ways between them; texts stay texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_accessible_pages import CUT, FOUND, PAPER, axe
from test_kind_pages import ask, fits, holds
from test_pages_in_a_browser import HOSTILE, tab, text

from benchwright import WorkflowContext, runs as run_acts, workflow
from benchwright.core import printable
from benchwright.server import serving
from benchwright.store import Workspace

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["tab"]

TOPICS = ("law", "art", HOSTILE)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a workflow of twelve rows: two fail, one is not scored, some have only some scores."""
    folder = tmp_path_factory.mktemp("rows")

    async def one(ctx: WorkflowContext, n: int) -> None:
        try:
            async with ctx.sample(f"row-{n}", {"topic": TOPICS[n % 3], "n": n}) as sample:
                asked = [{"role": "user", "content": f"Question {n} {HOSTILE}"}]
                call = {"id": "c", "name": "look_up", "arguments": {"n": n}}
                await ctx.step(
                    step_key=f"model/{n}",
                    input_value=asked,
                    execute=lambda: {"content": "", "tool_calls": [call]},
                )
                found = await ctx.step(
                    step_key=f"tool/{n}",
                    input_value={"name": "look_up", "arguments": {"n": n}},
                    execute=lambda: HOSTILE,
                )
                if n in (2, 5):
                    raise ValueError(HOSTILE)
                if n != 7:
                    sample.score(
                        correct=n % 4 != 0, response=found, target=n, **({"steps": n} if n % 2 else {})
                    )
        except ValueError:
            pass

    async def handler(ctx: WorkflowContext) -> None:
        for n in range(12):
            await one(ctx, n)

    asyncio.run(workflow("an agent", handler).run(workspace=folder))
    return folder


def test_rows_are_listed_filtered_sliced_and_shown(evaluated: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(evaluated), acts=run_acts) as (address, _):
        document = ask(address, "GET", "/runs/1/details")
        page = tab(f"{address.open_url}#/workflows/1")
        places = holds(page, document)
        assert {"rows.0.id", "scores.correct.n", "scores.correct.value"} <= places
        assert "12 rows; 2 failed and come first." in text(page)
        fits(page)
        page.get_by_role("link", name="3 wrong").click()
        page.wait_for_selector("tr[data-sample]")
        assert page.eval_on_selector_all("tr[data-sample]", "all => all.map(e => e.dataset.sample)") == [
            "0/0",
            "4/0",
            "8/0",
        ]
        assert "row-4" in text(page)
        page.click("tr[data-sample='4/0'] a")
        page.wait_for_selector("h1:has-text('Sample 4/0')")
        sample = ask(address, "GET", "/runs/1/samples/4/0")
        assert [message["role"] for message in sample["messages"]] == ["user", "assistant", "tool"]
        shown = text(page)
        assert "Conversation" in shown
        assert 'look_up({"n":4})' in shown
        assert printable(f"Question 4 {HOSTILE}") in shown
        page.get_by_role("button", name="Next (j)").click()
        page.wait_for_selector("h1:has-text('Sample 8/0')")
        page.get_by_role("link", name="an agent").click()
        page.wait_for_selector("h1:has-text('Workflow an agent')")
        page.get_by_role("link", name="topic", exact=True).click()
        page.wait_for_selector("table.slices")
        holds(page, ask(address, "GET", "/runs/1/slices?by=topic"))
        page.get_by_role("link", name="law").click()
        page.wait_for_selector("tr[data-sample]")
        assert page.locator("tr[data-sample]").count() == 4
        page.goto(f"{address.url}/#/search?q=Question 11")
        page.get_by_role("link", name="11/0").first.click()
        page.wait_for_selector("h1:has-text('Sample 11/0')")


@pytest.mark.parametrize(("width", "colors"), [(1200, "light"), (420, "dark")])
def test_axe_finds_nothing_on_pages_of_rows(
    evaluated: Path, tab: Callable[..., Page], width: int, colors: str
) -> None:
    with serving(Workspace(evaluated), acts=run_acts) as (address, _):
        page = tab(address.open_url, viewport={"width": width, "height": 900}, color_scheme=colors)
        page.evaluate(f"{axe()};0")
        for path in (
            "/workflows/1",
            "/runs/1/samples",
            "/runs/1/samples/2/0",
            "/runs/1/samples/4/0",
            "/runs/1/slices?by=topic",
        ):
            page.goto(f"{address.url}/#{path}")
            page.wait_for_selector("main[aria-busy=false] h1")
            page.keyboard.press("l")
            assert page.evaluate(FOUND) == [], path
            if colors == "light":
                page.emulate_media(media="print")
                page.set_viewport_size({"width": PAPER, "height": 700})
                assert page.evaluate(CUT) == [], f"{path} on paper"
                page.emulate_media(media="screen")
                page.set_viewport_size({"width": width, "height": 900})


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, of which the second ends its rows in the opposite order, so that each has another number there."""
    folder = tmp_path_factory.mktemp("two")
    for turn in (1, -1):

        async def handler(ctx: WorkflowContext, turn: int = turn) -> None:
            for n in range(6)[::turn]:
                async with ctx.sample(f"row-{n}", {"n": n}) as sample:
                    asked = [{"role": "user", "content": f"Question {n}"}]
                    await ctx.step(
                        step_key=f"ask/{n}", input_value=asked, execute=lambda: {"content": f"said {turn}"}
                    )
                    sample.score(correct=turn > 0 or n > 1, steps=3 - turn, response=f"answer {turn}")

        asyncio.run(workflow("an agent", handler).run(workspace=folder))
    return folder


def test_two_runs_are_compared_by_rows_and_every_link_leads_to_the_same_row(
    two_runs: Path, tab: Callable[..., Page]
) -> None:
    with serving(Workspace(two_runs), acts=run_acts) as (address, _):
        page = tab(f"{address.open_url}#/compare?runs=1,2")
        assert page.locator("article.flip").count() == 2
        assert "steps" not in page.locator("table.differences").inner_text()
        page.get_by_text("What both runs used").click()
        used = ask(address, "GET", "/compare?runs=1,2")["effort"]
        assert (used[0]["name"], used[0]["run_a"], used[0]["run_b"]) == ("steps", 2.0, 4.0)
        assert page.locator("[data-json='effort.0.run_b']").inner_text() == "4"
        links = page.eval_on_selector_all(
            "article.flip h3 a", "all => all.map(a => [a.textContent, a.getAttribute('href')])"
        )
        assert len(links) == 4
        links += [[f"run 2, row row-{n}", f"#/runs/2/samples/{5 - n}/0"] for n in (2, 5)]
        for words, target in links:
            name = words.rpartition(" ")[2]
            page.goto(f"{address.url}/{target}")
            page.wait_for_selector(f"h1:has-text('Row {name}')")
            page.locator("table.beside a").click()
            other = 3 - int(words.split()[1].strip(","))
            page.wait_for_selector(f"h1:has-text('Row {name}')")
            page.wait_for_url(f"**/#/runs/{other}/samples/**")
        page.goto(f"{address.url}/#/runs/2/samples?changed_from=1&sort=metric:steps")
        page.wait_for_selector("tr[data-sample]")
        assert page.eval_on_selector_all("tr[data-sample]", "all => all.map(e => e.dataset.sample)") == [
            "4/0",
            "5/0",
        ]
