"""Live updates: pages learn of new runs, of progress and of ends; a reader that goes away costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from test_pages_in_a_browser import tab, text

from benchwright.core import RunProgress
from benchwright.server import serving
from benchwright.server._bodies import RunBody
from benchwright.server._catalogue import SORTS, Catalogue, is_live, list_runs
from benchwright.server._handlers import RestCall
from benchwright.server._keys import Keys
from benchwright.server._state import ServerState
from benchwright.store import Store, Workspace, open_store

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["tab"]
QUERY: dict[str, Any] = {
    "after": None, "limit": 100, "kind": None, "name": None, "model": None, "suite": None, "status": None, "tag": None, "data": None, "q": None,
    "sort": None, "brief": "true",
}  # fmt: skip


def begun(store: Store, name: str, **given: Any) -> int:
    return store.create_run(name=name, target=f"{name}.csv", **given).id


def rows(page: Page, number: int) -> None:
    """Wait until the table has so many rows."""
    page.wait_for_selector(f"tbody:has(> tr:nth-child({number})):not(:has(> tr:nth-child({number + 1})))")


def event_of(sent: bytes) -> dict[str, Any]:
    assert sent.startswith(b"data: ")
    found: dict[str, Any] = msgspec.json.decode(sent[6:])
    return found


def told(catalogue: Catalogue, store: Store) -> list[RunBody]:
    """What a look at the records tells of."""
    catalogue.refresh(store)
    news = catalogue.news()
    return [] if news is None else news.runs


class TestTheStream:
    def test_a_change_that_another_request_sees_first_is_told_to_every_page(self, tmp_path: Path) -> None:
        with open_store(Workspace(tmp_path)) as store:
            run, gone = begun(store, "one"), begun(store, "two")
            store.finish_run(gone, "failed", summary=None, error="no")

            async def read() -> None:
                state = ServerState(open_store(Workspace(tmp_path)), Keys("token-of-all"))
                events = state.live.read(state)
                await anext(events)
                store.finish_run(run, "completed", summary=None)
                store.remove_run(gone)
                await list_runs(state, RestCall({}, QUERY, None))
                late = state.live.read(state)
                await anext(late)
                for each in (events, late):
                    seen = event_of(await anext(each))
                    assert [one["status"] for one in seen["runs"]] == ["completed"]
                    assert seen["removed"] == [gone]
                    await each.aclose()
                state.close()

            asyncio.run(asyncio.wait_for(read(), 60))

    def test_it_has_what_is_live_then_every_change(self, tmp_path: Path) -> None:
        with open_store(Workspace(tmp_path)) as store:
            first = begun(store, "one")

            async def read() -> list[dict[str, Any]]:
                state = ServerState(open_store(Workspace(tmp_path)), Keys("token-of-all"))
                events = state.live.read(state)
                found = [event_of(await anext(events))]
                assert state.use.idle_s == 0.0
                store.beat(first, RunProgress.of("asking", 3, 12, 1, 2, 1.5))
                found.append(event_of(await anext(events)))
                second = begun(store, "two", tags={"prompt": "v2"})
                found.append(event_of(await anext(events)))
                store.finish_run(first, "completed", summary=None)
                found.append(event_of(await anext(events)))
                store.finish_run(second, "failed", summary=None, error="no")
                store.remove_run(second)
                while not found[-1]["removed"]:
                    found.append(event_of(await anext(events)))
                await events.aclose()
                assert state.live._looking is None
                state.close()
                return found

            told = asyncio.run(read())
        shown = [[(run["id"], run["status"]) for run in event["runs"]] for event in told]
        assert shown[:4] == [[(1, "running")], [(1, "running")], [(2, "running")], [(1, "completed")]]
        assert told[1]["runs"][0]["progress"] == {**RunProgress.of("asking", 3, 12, 1, 2, 1.5).to_json(), "at": told[1]["runs"][0]["progress"]["at"]}  # fmt: skip
        assert (told[0]["last"], told[2]["last"], told[-1]["last"], told[-1]["removed"]) == (1, 2, 1, [2])
        assert told[2]["runs"][0]["summary"] is None

    def test_one_look_serves_all_readers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        looks = 0
        with open_store(Workspace(tmp_path)) as store:
            run = begun(store, "one")

            async def read() -> None:
                nonlocal looks
                state = ServerState(open_store(Workspace(tmp_path)), Keys("token-of-all"))
                before = Catalogue.refresh

                def counted(self: Catalogue, store: Store) -> Any:
                    nonlocal looks
                    looks += 1
                    return before(self, store)

                readers = [state.live.read(state) for _ in range(50)]
                for events in readers:
                    await anext(events)
                monkeypatch.setattr(Catalogue, "refresh", counted)
                waiting = [asyncio.ensure_future(anext(events)) for events in readers]
                await asyncio.sleep(0)
                store.beat(run, RunProgress.of("asking", 1, 2, 0, 1, 1.0))
                told = await asyncio.gather(*waiting)
                assert len(set(told)) == 1
                for events in readers:
                    await events.aclose()
                state.close()

            asyncio.run(read())
        assert looks < 50


class TestTheCatalogue:
    @pytest.fixture
    def filled(self, tmp_path: Path) -> Catalogue:
        catalogue = Catalogue()
        with open_store(Workspace(tmp_path)) as store:
            for n in range(40):
                data = {"dataset": {"name": "q.csv", "fingerprint": f"sha256:{n % 3}abc", "rows": n}}
                run = begun(store, f"bench_{n % 4}", model=f"m{n % 5}", manifest=data, tags={"n": str(n % 2)}, kind=("benchmark", "workflow")[n % 2])  # fmt: skip
                if n % 3:
                    store.finish_run(run, ("completed", "failed")[n % 2], summary=None)
            catalogue.refresh(store)
        return catalogue

    @pytest.mark.parametrize("sort", SORTS)
    @pytest.mark.parametrize(
        "where",
        [
            {},
            {"name": "bench_1"},
            {"model": "m2"},
            {"status": "completed"},
            {"tag": "n=1"},
            {"tag": "n"},
            {"data": "1ab"},
            {"kind": "workflow"},
            {"q": "m2 BENCH"},
            {"q": "nothing"},
            {"name": "bench_1", "tag": "n=1"},
        ],
        ids=str,
    )
    def test_pages_by_cursor_are_the_whole_list_in_order(
        self, filled: Catalogue, sort: str, where: dict[str, Any]
    ) -> None:
        whole, after, total = filled.page({**QUERY, **where, "sort": sort})
        assert (after, total) == (None, len(whole))
        found, cursor = [], None
        while True:
            page, cursor, counted = filled.page({**QUERY, **where, "sort": sort, "limit": 7, "after": cursor})
            found += page
            assert counted == total
            if cursor is None:
                break
        assert [body.id for body in found] == [body.id for body in whole]
        assert len({body.id for body in found}) == len(found)

    def test_a_filter_passes_what_it_names(self, filled: Catalogue) -> None:
        every = filled.page(QUERY)[0]
        assert len(every) == 40
        passed = filled.page({**QUERY, "data": "sha256:1abc", "status": "running"})[0]
        assert [body.id for body in passed] == [
            body.id for body in every if body.data and body.data["hash"] == "sha256:1abc" and is_live(body)
        ]
        assert filled.choices()["data"] == ["sha256:0abc", "sha256:1abc", "sha256:2abc"]

    def test_a_dead_process_is_seen_and_nothing_is_read_twice(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from benchwright.store._owner import Owner

        catalogue = Catalogue()
        with open_store(Workspace(tmp_path)) as store:
            begun(store, "one")
            assert [body.status for body in told(catalogue, store)] == ["running"]
            assert told(catalogue, store) == []
            monkeypatch.setattr(Owner, "alive", lambda owner, heartbeat: False)
            assert [body.status for body in told(catalogue, store)] == ["interrupted"]
            assert told(catalogue, store) == []


def test_the_list_of_runs_follows_a_run_from_its_start_to_its_end(
    tmp_path: Path, tab: Callable[..., Page]
) -> None:
    with open_store(Workspace(tmp_path)) as store, serving(Workspace(tmp_path)) as (address, _):
        page = tab(address.open_url)
        assert "No runs yet" in text(page)
        run = begun(store, "geo", model="m")
        page.wait_for_selector("tr[data-run='1'] >> text=running")
        store.beat(run, RunProgress.of("asking", 30, 120, 0, 8, 1.5))
        page.wait_for_selector("[data-progress='0.25']")
        assert page.get_attribute("[data-time-left]", "data-time-left") == "60"
        assert "30 of 120" in text(page)
        other = tab(address.url)
        other.wait_for_selector("[data-progress='0.25']")  # of the list; news come through the first tab
        page.evaluate("window.kept = document.querySelector('tr[data-run]')")
        created = begun(store, "w", kind="workflow")
        page.wait_for_selector("tr[data-run='2']")
        assert page.evaluate("window.kept.isConnected")  # nothing that did not change was drawn again
        store.finish_run(created, "completed", summary=None)
        for each in (page, other):
            each.wait_for_selector("tr[data-run='2'] >> text=completed")
        page.close()
        store.finish_run(run, "interrupted", summary=None)
        other.wait_for_selector("tr[data-run='1'] >> text=interrupted")  # the other tab took over
        store.remove_run(run)
        other.wait_for_selector("tr[data-run='1']", state="detached")


def test_a_server_that_goes_away_is_told_in_words(tmp_path: Path, tab: Callable[..., Page]) -> None:
    with open_store(Workspace(tmp_path)) as store:
        begun(store, "one")
    with serving(Workspace(tmp_path)) as (address, _):
        page = tab(address.open_url, expect="ERR_|Failed to load")
        page.wait_for_selector("tr[data-run]")
    page.wait_for_selector(".connection >> text=The server does not answer")
    assert page.locator("tr[data-run]").count() == 1


def test_filters_are_in_the_address_and_the_back_button_undoes_them(
    tmp_path: Path, tab: Callable[..., Page]
) -> None:
    with open_store(Workspace(tmp_path)) as store:
        for n in range(6):
            store.finish_run(begun(store, f"bench_{n % 2}", model=f"m{n % 3}"), "completed", summary=None)
    with serving(Workspace(tmp_path)) as (address, _):
        page = tab(address.open_url)
        page.select_option("#by-name", "bench_1")
        rows(page, 3)
        page.fill("#by-q", "m2")
        rows(page, 1)
        assert page.url.endswith("#/runs?name=bench_1&q=m2")
        again = tab(page.url)
        assert again.locator("tr[data-run]").count() == 1
        assert again.input_value("#by-q") == "m2"
        page.fill("#by-q", "")
        rows(page, 3)
        page.check("#choose-2")
        assert "Choose another run" in text(page)
        page.check("#choose-6")
        assert page.get_attribute("text=Compare 2 runs", "href") == "#/compare?runs=2,6"
        page.select_option("#by-group", "name")
        assert page.locator("tr.group").count() == 1
        assert "runs=2%2C6" in page.url
        page.go_back()
        page.wait_for_selector("tr.group", state="detached")
        page.go_back()
        rows(page, 6)


def test_run_open_goes_to_the_page_of_the_new_run(tmp_path: Path, tab: Callable[..., Page]) -> None:
    with open_store(Workspace(tmp_path)) as store, serving(Workspace(tmp_path)) as (address, _):
        begun(store, "before")
        page = tab(f"{address.open_url}#/runs?follow=1")
        page.wait_for_selector("tr[data-run='1']")
        begun(store, "w", kind="workflow")
        page.wait_for_url("**/#/workflows/2")
        page.wait_for_selector("main[aria-busy=false] h1")  # a page that still loads would miss its server
