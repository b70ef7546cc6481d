"""The history of a name: breaks where runs cannot be compared, what else changed, baselines; and its page in Chromium."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest
from test_pages_in_a_browser import HOSTILE, folder, listed, tab, text

import benchwright.runs
from benchwright import ScriptedEndpoint
from benchwright.core import printable
from benchwright.perf import LoadSettings, RequestRecord, Requests, summarise
from benchwright.results import number
from benchwright.server import ServerAddress, serving
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["folder", "tab"]
ROWS = 40


def run(misses: int, **how: Any) -> None:
    replies = iter(["no" if n < misses else str(n) for n in range(ROWS)])
    endpoint = ScriptedEndpoint(lambda request: next(replies))
    benchwright.run("q.jsonl", endpoint=endpoint, parallelism=1, **how)


def write_rows(words: str) -> None:
    rows = [json.dumps({"question": f"{n}{words}", "answer": str(n)}) for n in range(ROWS)]
    Path("q.jsonl").write_text("\n".join(rows), encoding="utf-8")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark whose setting, data, prompt and scorer change in turn; the scorer changes back, and two runs have no result. The same again, under a hostile
    name and with hostile models."""
    place = tmp_path_factory.mktemp("history")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        write_rows("?")
        run(20)
        run(10)
        run(10, temperature=0.5)
        write_rows("? Really?")
        run(5, temperature=0.5)
        run(4, temperature=0.5, template="Say: {question}")
        run(4, temperature=0.5, template="Say: {question}", evaluator="exact_match")
        run(4, temperature=0.5, template="Say: {question}")
        benchwright.bless(2, name="main")
        for least in (
            0.2,
            0.9,
            0.2,
            0.75,
        ):  # the third verdict is there already, the fourth is of the same policy as the second
            policy = Path("strict.toml" if least > 0.5 else "<b>\u202eeasy.toml")
            policy.write_text(f'[[threshold]]\nmetric = "normalised_exact"\nmin = {least}\nbound = "lower"\n')
            benchwright.gate(2, policy=policy)
    with open_store(Workspace(place)) as store:
        store.finish_run(
            store.create_run(name="q", target="q", manifest={}).id, "failed", summary=None, error="x"
        )
        store.create_run(name="q", target="q", manifest={})
        for number_ in range(1, 8):
            known = store.run(number_)
            copy = store.create_run(
                name=HOSTILE,
                target="q",
                model=f"{HOSTILE} {number_ % 2}",
                settings=known.settings,
                manifest=known.manifest,
            )
            store.finish_run(
                copy.id, "completed", summary={**(known.summary or {}), "evaluated": 0}
            )  # it has no samples
    return place


def asked(address: ServerAddress, **query: Any) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("GET", f"/api/history?{urlencode(query)}", headers={"Authorization": f"Bearer {address.token}"})  # fmt: skip
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_a_history_breaks_where_compare_refuses(changed: Path) -> None:
    with serving(Workspace(changed), acts=benchwright.runs) as (address, _):
        status, found = asked(address, name="q")
        runs = found["runs"]
        assert (status, found["name"], found["next"], found["breaks"]) == (200, "q", None, 4)
        assert [each["run_id"] for each in runs] == [*range(1, 10)]
        assert [each["before"] for each in runs] == [None, 1, 2, 3, 4, 5, 6, None, None]
        assert [each["status"] for each in runs][-2:] == ["failed", "running"]
        assert [each["baselines"] for each in runs] == [[], ["main"], *[[]] * 7]
        assert [[change["path"] for change in each["changes"]] for each in runs[:4]] == [
            [],
            [],
            ["$.generation.temperature"],
            [],
        ]
        assert runs[3]["breaks"] == ["read other data"]
        assert runs[4]["breaks"][0].startswith("prompted in another way")
        assert runs[5]["breaks"][0].startswith("prompted or scored in another way")
        for each in runs[1:7]:
            if each["breaks"]:
                with pytest.raises(benchwright.UsageError) as refused:
                    benchwright.compare(each["before"], each["run_id"], workspace=changed)
                assert each["breaks"][0] in str(refused.value)
            else:
                benchwright.compare(each["before"], each["run_id"], workspace=changed)
        value = runs[1]["headline"]
        assert (value["name"], value["value"], value["n"]) == (found["metric"], 0.75, ROWS)


def test_a_history_has_the_verdicts_of_gates_each_once(changed: Path) -> None:
    with serving(Workspace(changed), acts=benchwright.runs) as (address, _):
        runs = asked(address, name="q")[1]["runs"]
    assert [len(each["gates"]) for each in runs] == [0, 2, *[0] * 7]
    easy, strict = runs[1]["gates"]
    assert (easy["verdict"], strict["verdict"], strict["policy"]) == ("GO", "INCONCLUSIVE", "strict.toml")
    assert {*strict} == {"verdict", "policy", "baseline", "created_at"}
    with open_store(Workspace(changed)) as store:
        judged = [event.message for event in store.events(2) if event.kind == "run.judged"]
    assert [message.partition(" by ")[0] for message in judged] == ["GO", "NO-GO", "INCONCLUSIVE"]


def test_a_store_that_cannot_be_written_keeps_no_verdict(
    changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = {"threshold": [{"metric": "normalised_exact", "min": 0.3, "bound": "lower"}]}
    monkeypatch.setattr("benchwright.store._drivers.sqlite_file.SqliteFile.writable", lambda self: False)
    assert benchwright.gate(2, policy=rule, workspace=changed).verdict == "GO"


def test_older_runs_are_on_the_next_page_and_compared_with_those_before_it(changed: Path) -> None:
    with serving(Workspace(changed), acts=benchwright.runs) as (address, _):
        whole = asked(address, name="q")[1]["runs"]
        pages, after = [], None
        while True:
            page = asked(address, name="q", limit=3, **({} if after is None else {"after": after}))[1]
            pages[:0] = page["runs"]
            after = page["next"]
            if after is None:
                break
        assert pages == whole
        assert asked(address)[0] == 422
        assert asked(address, name="q", limit="x")[0] == 422
        assert asked(address, name="nothing") == (
            200,
            {"name": "nothing", "metric": None, "runs": [], "breaks": 0, "next": None},
        )


def holds(page: Page, document: Any) -> set[str]:
    """Every figure on the page is that of the JSON. Returns their places."""
    shown = page.eval_on_selector_all(
        "main [data-json]", "all => all.map(e => [e.dataset.json, e.textContent])"
    )
    for path, said in shown:
        value = document
        for part in path.split("."):
            value = value[int(part) if isinstance(value, list) else part]
        assert said == (number(value) if isinstance(value, float) else printable(str(value))), path
    assert page.locator("main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return {path for path, _ in shown}


def test_every_name_of_every_kind_has_a_history(folder: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(folder), acts=benchwright.runs) as (address, _):
        page = tab(address.open_url, viewport={"width": 420, "height": 900})
        for name in sorted({each["name"] for each in listed(address)}):
            page.goto(f"{address.url}/#/history/{quote(name, safe='')}")
            page.wait_for_function(
                "name => document.querySelector('h1 [data-json=name]')?.textContent === name",
                arg=printable(name),
            )
            assert {"name", "runs.0.run_id"} <= holds(page, asked(address, name=name)[1])
        page.goto(f"{address.url}/#/history/50%")
        page.wait_for_selector("text=No run is called 50%")


@pytest.mark.parametrize("name", ["q", HOSTILE])
def test_the_page_draws_every_run_and_every_break(changed: Path, tab: Callable[..., Page], name: str) -> None:
    with serving(Workspace(changed), acts=benchwright.runs) as (address, _):
        document = asked(address, name=name)[1]
        page = tab(address.open_url, viewport={"width": 420, "height": 900}, color_scheme="dark")
        page.locator(f"tr[data-run='{document['runs'][0]['run_id']}'] a.history").click()
        page.wait_for_selector("table.history")
        places = holds(page, document)
        assert {"name", "runs.5.headline.value", "runs.3.breaks.0", "runs.0.headline.ci_low"} <= places
        assert ("runs.1.gates.0.policy" in places) == (name == "q")
        assert page.locator("tr.break").count() == document["breaks"]
        divided = [
            each["breaks"] or any(change["path"] == "$.model" for change in each["changes"])
            for each in document["runs"]
        ]
        assert page.locator(".plot .mark").count() == sum(map(bool, divided))
        assert page.locator(".plot path.curve[d*=L]").count() == (1 if name == "q" else 0)
        assert page.locator(".plot .dot").count() == page.locator(".plot .whisker").count() == 6
        assert "4 breaks divide them" in text(page)
        if name == "q":
            assert "runs.1.baselines.0" in places
            assert "Run 9 is running." in text(page)
            assert page.locator("tr[data-run='8']").inner_text().count("no result") == 1
        else:
            assert page.locator(".key").count() == 2
            assert {each.text_content() for each in page.locator(".plot .label").all()} == {"A", "B"}
        page.set_viewport_size({"width": 1300, "height": 900})
        holds(page, document)
        first, second = (each["run_id"] for each in document["runs"][:2])
        way = page.get_by_role("link", name=f"compare with run {first}", exact=True)
        assert way.get_attribute("href") == f"#/compare?runs={first},{second}"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a benchmark, then a load test of the same name."""
    place = tmp_path_factory.mktemp("loaded")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        write_rows("?")
        run(20)
        run(10)
    with open_store(Workspace(place)) as store:
        load = store.create_run(kind="load", name="q", target="q", model="m", folder=None, settings={}, manifest={})  # fmt: skip
        sent = [RequestRecord(number=n, sent=float(n), ended=n + 1.0) for n in range(75)]
        store.finish_run(load.id, "completed", summary=summarise(Requests.of(sent), LoadSettings()).to_json())
    return place


def test_the_sentence_is_about_the_benchmark_not_a_load_test_of_its_name(
    loaded: Path, tab: Callable[..., Page]
) -> None:
    with serving(Workspace(loaded), acts=benchwright.runs) as (address, _):
        page = tab(f"{address.open_url}#/history/q")
        page.wait_for_selector("tr[data-run='3']")
        said = page.inner_text(".verdict-line")
        assert said.startswith("Run 2 scored 0.75"), said
        assert "the newest of 2 runs with a result" in said
        assert page.locator("h2").all_inner_texts() == ["Runs, oldest first", "Load tests of this name"]
        assert page.locator("table.history").last.locator("tr[data-run]").count() == 1
        assert page.locator(".plot .below").all_text_contents() == ["1", "2"]


def test_the_small_line_beside_a_name_is_not_joined_across_breaks(changed: Path) -> None:
    with serving(Workspace(changed), acts=benchwright.runs) as (address, _):
        connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
        connection.request("GET", "/api/runs", headers={"Authorization": f"Bearer {address.token}"})
        told = json.loads(connection.getresponse().read())
        connection.close()
        for name in ("q", HOSTILE):
            runs = {each["run_id"]: each for each in asked(address, name=name)[1]["runs"]}
            points = told["histories"][name]
            assert len(points) > 3
            for before, point in pairwise(points):
                run = runs[point["run_id"]]
                other = any(change["path"] == "$.model" for change in run["changes"])
                if run["before"] == before["run_id"]:
                    assert point["joined"] == (not run["breaks"] and not other), point
