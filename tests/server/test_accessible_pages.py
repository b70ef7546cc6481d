"""Every page passes the rules of axe-core, wide and light as well as narrow and dark, and nothing of it is cut on paper."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_kind_pages import VERDICT, ask, check_document
from test_pages_in_a_browser import folder, tab

import benchwright
from benchwright import ScriptedEndpoint, runs as run_acts
from benchwright.server import serving
from benchwright.store import Workspace

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["folder", "tab"]

FOUND = """axe.run(document, {resultTypes: ["violations"]}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`)))"""

CUT = """[...document.querySelectorAll("main, main *")].flatMap((each) => {
  const style = getComputedStyle(each), box = each.getBoundingClientRect();
  if (box.width === 0 || each.closest("svg, .hidden, .range-cell") || each.closest("[hidden]")) return [];
  const clipped = ["x", "y"].some((axis) => style[`overflow-${axis}`] !== "visible" &&
    (axis === "x" ? each.scrollWidth > each.clientWidth + 1 : each.scrollHeight > each.clientHeight + 1));
  const outside = box.right > document.documentElement.clientWidth + 1;
  return clipped || outside ? [`${each.tagName}.${each.className} ${clipped ? "is cut" : "is beyond the edge"}: ${each.textContent.slice(0, 60)}`] : [];
})"""
PAPER = 1047
"""Width of the style's paper, in pixels: A4 across, without its margins."""


@cache
def axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compared(folder: Path) -> list[int]:
    """Three runs on the same rows, one of them judged, and two load tests, in the workspace of the other pages."""
    with (folder / "topics.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [[f"{n}+1", str(n + 1), f"topic {n % 2}"] for n in range(30)]
        csv.writer(file).writerows([["question", "answer", "topic"], *rows])
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for misses in (3, 9, 20):
            replies = iter([str(n + 1) if n >= misses else "no" for n in range(30)])
            endpoint = ScriptedEndpoint(lambda request, replies=replies: next(replies))
            found.append(benchwright.run("topics.csv", endpoint=endpoint, parallelism=1).run_id)
        benchwright.gate(
            found[1], policy={"threshold": [{"metric": "normalised_exact", "min": 0.95, "bound": "lower"}]}
        )
        loads = [
            benchwright.perf("topics.csv", model="demo", concurrency="1,2", requests=20) for _ in range(2)
        ]
        found += [load.run_id for load in loads]
    return found


@pytest.mark.parametrize(("width", "colors"), [(1200, "light"), (420, "dark")])
def test_axe_finds_nothing_on_any_page_and_paper_cuts_nothing(
    folder: Path, compared: list[int], tab: Callable[..., Page], width: int, colors: Any
) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        verdict = json.loads(json.dumps(VERDICT.to_json()))
        ask(address, "POST", "/handed", {"page": "/gates/2", "document": verdict})
        checked = check_document("q.csv")
        ask(address, "POST", "/handed", {"page": "/data?target=q.csv", "document": checked})
        one, two, three, *loads = compared
        pages = [
            "/runs", f"/runs/{one}", f"/runs/{one}/samples", f"/runs/{one}/samples/0/0", f"/runs/{one}/slices?by=topic", "/search?q=1",
            f"/compare?runs={one},{two}", f"/compare?runs={one},{two},{three}&by=topic", "/gates/2", "/data?target=q.csv",
            f"/runs/{one}/samples?labelled=any", "/labels", "/blind",
            f"/runs/{two}/samples?changed_from={one}&show=prompt&show=scores.normalised_exact", "/history/topics", f"/compare?runs={loads[0]},{loads[1]}",
        ]  # fmt: skip
        of = {"load": "load", "workflow": "workflows", "benchmark": "runs"}
        pages += [f"/{of[run['kind']]}/{run['id']}" for run in ask(address, "GET", "/runs")["runs"]]
        ask(address, "POST", f"/runs/{one}/samples/0/0/labels", {"kind": "note", "value": "a note"})
        page = tab(address.open_url, viewport={"width": width, "height": 900}, color_scheme=colors)
        page.evaluate(f"{axe()};0")
        for path in dict.fromkeys(pages):
            page.goto(f"{address.url}/#{path}")
            page.wait_for_selector("main[aria-busy=false] h1")
            page.keyboard.press("l")  # opens a form on the page of a sample
            assert page.evaluate(FOUND) == [], path
            if colors == "light":
                page.emulate_media(media="print")
                page.set_viewport_size({"width": PAPER, "height": 700})
                assert page.evaluate(CUT) == [], f"{path} on paper"
                page.emulate_media(media="screen")
                page.set_viewport_size({"width": width, "height": 900})
