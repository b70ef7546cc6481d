"""Every page passes the rules of axe-core, wide and light as well as narrow and dark, and nothing of it is cut on paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from test_kind_pages import VERDICT, ask, check_document
from test_pages_in_a_browser import tab

from benchwright import runs as run_acts
from benchwright.core import RunKind
from benchwright.server import serving
from benchwright.store import Workspace
from every_kind import Recorded, page_addresses, record, visit

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["tab"]

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


REACHABLE = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter((each) =>
  each.checkVisibility({ visibilityProperty: true }) && !each.disabled && each.tabIndex >= 0).length"""
FOCUSED = """() => {
  const each = document.activeElement, box = each.getBoundingClientRect();
  each.dataset.reached = "yes";
  return [each === document.body, box.width > 0 && getComputedStyle(each).outlineStyle !== "none", `${each.tagName} ${each.textContent.slice(0, 40)}`];
}"""
BY_KEYBOARD = ("Suite", "Workflow", "Sample", "Labels", "Blind grading")
"""Pages on which the keyboard is followed from the first to the last place; on others, by their own tests."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("accessible"))


@pytest.fixture(scope="module")
def served(recorded: Recorded) -> Iterator[tuple[Callable[[], str], dict[str, list[str]]]]:
    """The address of a server with a new code, and every page of what was recorded: derived from the table of pages, so that a new one is among them."""
    with serving(Workspace(recorded.folder), acts=run_acts) as (address, state):
        verdict = json.loads(json.dumps(VERDICT.to_json()))
        for run in (*recorded.runs[RunKind.BENCHMARK], recorded.judged):
            ask(address, "POST", "/handed", {"page": f"/gates/{run}", "document": verdict})
        ask(
            address,
            "POST",
            "/handed",
            {"page": "/data?target=questions.csv", "document": check_document("questions.csv")},
        )
        one, two = recorded.runs[RunKind.BENCHMARK]
        for kind, value in (("note", "a note"), ("gold", "7"), ("ambiguous", None)):
            ask(
                address,
                "POST",
                f"/runs/{one}/samples/0/0/labels",
                {"kind": kind, **({"value": value} if value else {})},
            )
        found = page_addresses(recorded)
        found["Comparison"].append(f"/compare?runs={one},{two},{recorded.judged}&by=topic&force=true")
        found["Samples"].append(f"/runs/{two}/samples?changed_from={one}&show=prompt&show=scores.accuracy")
        yield lambda: f"{address.url}/?code={state.keys.new_code()}", found


def assert_by_keyboard(page: Page, path: str) -> None:
    """Tab reaches everything that can be used, each with a mark around it."""
    page.evaluate(
        "document.activeElement?.blur(); document.querySelectorAll('main details').forEach((each) => (each.open = true))"
    )
    wanted = page.evaluate(REACHABLE)
    for _ in range(wanted + 8):
        page.keyboard.press("Tab")
        outside, marked, words = page.evaluate(FOCUSED)
        assert marked or outside, f"{path}: {words} has no mark when it is focused"
    missed = page.evaluate(
        REACHABLE.replace(
            ".length",
            ".filter((each) => each.dataset.reached === undefined).map((each) => each.outerHTML.slice(0, 80))",
        )
    )
    assert missed == [], f"{path}: not reached by Tab"


@pytest.mark.parametrize(("width", "colors"), [(1600, "light"), (420, "dark")])
def test_axe_finds_nothing_on_any_page_and_paper_cuts_nothing(
    served: tuple[Callable[[], str], dict[str, list[str]]], tab: Callable[..., Page], width: int, colors: Any
) -> None:
    opened, pages = served
    page = tab(opened(), viewport={"width": width, "height": 900}, color_scheme=colors)
    page.evaluate(f"{axe()};0")
    for title, paths in pages.items():
        for path in paths:
            visit(page, path)
            assert "could not be" not in page.inner_text("main h1"), path
            page.keyboard.press("l")  # opens a form on the page of a sample
            assert page.evaluate(FOUND) == [], path
            for wide in (420, 1000, 1600):
                page.set_viewport_size({"width": wide, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
                    f"{path} scrolls sideways at {wide}"
                )
            if colors == "light":
                if title in BY_KEYBOARD and path == paths[-1]:
                    assert_by_keyboard(page, path)
                page.emulate_media(media="print")
                page.set_viewport_size({"width": PAPER, "height": 700})
                assert page.evaluate(CUT) == [], f"{path} on paper"
                page.emulate_media(media="screen")
            page.set_viewport_size({"width": width, "height": 900})
