"""The pages of load tests, workflows, gates and data: their figures are those of the JSON, texts stay texts, and they fit."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from test_pages_in_a_browser import HOSTILE, folder, tab, text

from benchwright import runs as run_acts
from benchwright.core import Note, printable
from benchwright.results._gates.verdict import RuleRow, Verdict, Word
from benchwright.server import ServerAddress, serving
from benchwright.server._guard import Refusal
from benchwright.server._handed import MOST_BYTES, MOST_DOCUMENTS, Handed
from benchwright.server._people import Access
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["folder", "tab"]


def ask(address: ServerAddress, method: str, path: str, body: Any = None) -> Any:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, f"/api{path}", sent, {"Authorization": f"Bearer {address.token}"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200, told
        return told
    finally:
        connection.close()


def at(document: Any, path: str) -> Any:
    """The value at a place that a page names."""
    value = document
    for part in path.replace("\\.", "\0").split("."):
        value = value[int(part) if isinstance(value, list) else part.replace("\0", ".")]
    return value


def holds(page: Page, document: Any) -> set[str]:
    """Every text on the page whose place has a text or a whole number is that text or number. Returns the places."""
    places = set()
    shown = page.eval_on_selector_all(
        "main [data-json]", "all => all.map(e => [e.dataset.json, e.textContent])"
    )
    for path, said in shown:
        value = at(document, path)
        places.add(path)
        if isinstance(value, str):
            assert said == printable(value), path
        elif isinstance(value, int):
            assert said.replace(",", "").startswith(str(value)), path
    return places


VERDICT = Verdict(
    verdict=Word.NO_GO, run="run 2", run_id=2, name=HOSTILE, baseline="main", policy="policy.toml", alpha=0.05, power=0.8, tests=2,
    rows=(
        RuleRow(rule="correct", kind="threshold", where="policy.toml:1", needed="lower end ≥ 0.7", verdict=Word.GO, reason="met", observed=0.9, interval=(0.8, 0.95), level=0.95, n=120, p_holm=0.25),
        RuleRow(rule="correct, category = law", kind="threshold", where="policy.toml:5", needed="value ≥ 0.5", verdict=Word.NO_GO, reason=HOSTILE, observed=0.25, n=8),
        RuleRow(rule="f1", kind="regression", where="policy.toml:9", needed="loss ≤ 0.02", verdict=Word.INCONCLUSIVE, reason="too few rows", n=40, n_needed=1234, detectable=0.125),
    ),
    notes=(Note.of(HOSTILE),),
)  # fmt: skip


def check_document(target: str) -> dict[str, Any]:
    sample = {
        "line": 2,
        "messages": [{"role": "user", "content": HOSTILE}],
        "target": HOSTILE,
        "choices": ["a", "b"],
        "media": [],
    }
    found = {
        "ok": False, "verdict": "cannot be run", "key": "q", "dataset": target, "rows": 1200, "requests": 1200, "prompt_tokens_estimate": 34567,
        "findings": [["error", HOSTILE, "red"], ["warning", "old", "yellow"], ["type", "qa", ""], ["per repeat", "1,200 rows", ""]],
        "samples": [sample],
    }  # fmt: skip
    return {
        "target": target,
        "checks": [found],
        "command": f"benchwright check {target} --sheet all --web",
        "exit_code": 2,
    }


def test_a_gate_shows_what_breaks_first_with_what_was_needed_and_seen(
    folder: Path, tab: Callable[..., Page]
) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        document = json.loads(json.dumps(VERDICT.to_json()))
        ask(address, "POST", "/handed", {"page": "/gates/2", "document": document})
        page = tab(f"{address.open_url}#/gates/2")
        assert holds(page, document) >= {"verdict", "rows.1.needed", "rows.1.observed", "rows.2.n_needed"}
        headings = page.eval_on_selector_all(".rule h3", "all => all.map(e => e.textContent)")
        assert [heading.split()[-1] for heading in headings] == ["NO-GO", "INCONCLUSIVE", "GO"]
        way = page.get_by_role("link", name="Show the wrong samples with category = law")
        assert way.get_attribute("href") == "#/runs/2/samples?column=category&value=law&verdict=wrong"
        assert "--policy policy.toml --baseline main --web" in text(page)
        fits(page)


@pytest.mark.parametrize("target", ["q.csv", "my data (1)/é&b.csv", HOSTILE.replace("\x00", "")])
def test_the_data_page_shows_what_check_handed_over_and_nothing_else(
    folder: Path, tab: Callable[..., Page], target: str
) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        address_of = f"/data?target={quote(target, safe='')}"
        ask(address, "POST", "/handed", {"page": address_of, "document": check_document(target)})
        page = tab(f"{address.open_url}#{address_of}", expect="404")
        assert holds(page, check_document(target)) >= {
            "checks.0.rows",
            "checks.0.samples.0.messages.0.content",
        }
        assert page.locator(".verdicts .bad").count() == 1
        fits(page)
        page.goto(f"{address.url}/#/data?target=/etc/passwd")
        page.wait_for_selector("text=no command has opened the page")
        assert "--web" in text(page)


def test_every_workflow_and_load_test_has_a_page(folder: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        page = tab(address.open_url)
        for run in ask(address, "GET", "/runs")["runs"]:
            if run["kind"] == "benchmark":
                continue
            where = {"load": "load", "workflow": "workflows"}[run["kind"]]
            path = f"/runs/{run['id']}/{'load' if run['kind'] == 'load' else 'details'}"
            page.click(f"tr[data-run='{run['id']}'] td.name a")
            page.wait_for_selector("main[aria-busy=false] .trail")
            assert page.url.endswith(f"#/{where}/{run['id']}")
            places = holds(page, ask(address, "GET", path))
            assert ("run.status" if where == "workflows" else "run.name") in places
            if run["status"] == "failed":
                assert printable(HOSTILE) in text(page)
            fits(page)
            page.go_back()
            page.wait_for_selector("tr[data-run]")


def test_a_run_leads_to_its_suite(folder: Path, tab: Callable[..., Page]) -> None:
    names = {"suite": f"a+b {HOSTILE}", "dataset_name": "a", "model_name": "m"}
    with open_store(Workspace(folder)) as store:
        run = store.create_run(name="a", target="a", model="m", folder=None, settings=names, manifest={})
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        page = tab(f"{address.open_url}#/runs/{run.id}")
        page.get_by_role("link", name="Suite a+b").click()
        page.wait_for_selector(".suite")
        assert at(ask(address, "GET", f"/suites?name={quote(names['suite'])}"), "suite") == names["suite"]
        assert page.inner_text("h1") == f"Suite {printable(names['suite'])}"


def test_a_run_is_deleted_from_its_page_only_after_a_question_and_never_by_a_reader(
    tmp_path: Path, tab: Callable[..., Page]
) -> None:
    with open_store(Workspace(tmp_path)) as store:
        for _ in range(2):
            run = store.create_run(kind="workflow", name="w", target="w")
            store.finish_run(run.id, "completed", summary=None)
    with serving(Workspace(tmp_path), acts=run_acts) as (address, state):
        code = state.keys.new_code(Access.READ)
        reader = tab(f"{address.url}/?code={code}#/workflows/1", color_scheme="dark")
        page = tab(f"{address.open_url}#/workflows/1", color_scheme="light")
        page.get_by_role("button", name="Delete run").click()
        page.get_by_role("button", name="Leave it as it is").click()
        page.get_by_role("button", name="Delete run").click()
        assert "Delete run 1 with its record and its files?" in text(page)
        assert reader.get_by_role("button", name="Delete run").count() == 0
        reader.close()
        page.get_by_role("button", name="Delete run").click()
        page.wait_for_selector("tr[data-run='2']")
        assert page.locator("tr[data-run='1']").count() == 0


def fits(page: Page) -> None:
    """Nothing is outside the page at the width of a telephone, but what scrolls by itself."""
    before = page.viewport_size
    page.set_viewport_size({"width": 420, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert before is not None
    page.set_viewport_size(before)


def test_documents_have_limits() -> None:
    handed = Handed()
    for n in range(MOST_DOCUMENTS + 1):
        handed.keep(f"/gates/{n}", {"n": n})
    assert (handed.get("/gates/0"), handed.get("/gates/1")) == (None, b'{"n":1}')
    half = {"text": "x" * (MOST_BYTES // 2)}
    handed.keep("/data?target=a", half)
    handed.keep("/data?target=b", half)
    assert handed.get("/data?target=a") is None
    with pytest.raises(Refusal, match="larger than"):
        handed.keep("/data?target=c", {"text": "x" * MOST_BYTES})
