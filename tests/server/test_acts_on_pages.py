"""What people change from pages: resume, tag, rename, bless, cancel and delete, each asked for first, and none of them in the way of readers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from test_pages_in_a_browser import tab, text

import benchwright
from benchwright import BenchwrightError, RunOwnedError, ScriptedEndpoint, UsageError, runs as run_acts
from benchwright.cli import main
from benchwright.runs import diagnose, rename_run, resume_apart, tag_run
from benchwright.server import serving
from benchwright.server._acts import cancel
from benchwright.server._handlers import RestCall
from benchwright.server._keys import Keys
from benchwright.server._state import ServerState
from benchwright.store import Store, Workspace, open_store
from stored_records import lose_rows

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["tab"]


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a run that stopped half-way."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n2+2,4\n3+4,7\n")
    assert main(["run", "q.csv", "--model", "demo", "--max-requests", "2", "--parallelism", "1", "-q"]) == 3
    return tmp_path


def press(page: Page, label: str, given: str | None = None) -> None:
    """Press a button of the acts, fill in what it asks for, and confirm."""
    page.click(f".acts button:text-is('{label}')")
    if given is not None:
        page.fill(".acts input", given)
    page.click(".acts button.sure")


def test_a_run_is_resumed_tagged_renamed_and_deleted_from_its_page(
    stopped: Path, tab: Callable[..., Page]
) -> None:
    with serving(Workspace(stopped), acts=run_acts) as (address, _):
        page = tab(f"{address.open_url}#/runs/1")
        page.wait_for_selector(".acts button")
        assert page.locator(".acts button").all_inner_texts() == ["Resume run", "Tag", "Rename", "Delete run"]
        page.click(".acts button:text-is('Resume run')")
        assert "may cost money" in page.inner_text(".acts")
        page.click(".acts button:text-is('Leave it as it is')")
        press(page, "Resume run")
        page.wait_for_selector("h1:not(.bad)[data-json=sentence]")  # the page follows the run to its end
        page.wait_for_selector(".acts button:text-is('Make it the baseline')")
        press(page, "Tag", "prompt=v2, who=ann")
        page.wait_for_selector("a.tag:has-text('prompt=v2')")
        page.wait_for_selector(".acts button:text-is('Rename')")
        press(page, "Rename", "Quiz DE")
        page.wait_for_selector("h1:text('quiz_de on demo')")
        with open_store(Workspace(stopped)) as store:
            run = store.run(1)
            assert (run.status, run.starts, run.name) == ("completed", 2, "quiz_de")
            assert run.tags == {"prompt": "v2", "who": "ann"}
        page.wait_for_selector(".acts button:text-is('Delete run')")
        press(page, "Delete run")
        page.wait_for_url("**/#/runs")
        page.wait_for_selector("main[aria-busy=false]:not(:has(.acts)) h1")
        assert "quiz_de" not in text(page)


def test_a_page_that_only_reads_has_no_acts(stopped: Path, tab: Callable[..., Page]) -> None:
    with serving(Workspace(stopped), acts=run_acts) as (address, state):
        from benchwright.server._people import Access

        page = tab(f"{address.url}/?code={state.keys.new_code(Access.READ)}#/runs/1")
        page.wait_for_selector("main[aria-busy=false] h1")
        assert page.locator(".acts").count() == 0


def test_what_resume_refuses_is_told_in_its_words(stopped: Path) -> None:
    (stopped / "q.csv").write_text("question,answer\n1+1,3\n")
    with open_store(Workspace(stopped)) as store:
        with pytest.raises(BenchwrightError, match=r"q\.csv|changed"):
            resume_apart(store, store.run(1))
        assert (store.run(1).starts, store.run(1).owner) == (1, None)
        done = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "3")).run_id
        with pytest.raises(UsageError, match="complete"):
            resume_apart(store, store.run(done))


def test_reads_go_on_while_a_run_is_canceled(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        def cancel_run(self, store: Store, run: Any) -> Any:
            begun.set()
            go_on.wait()
            return run_acts.cancel_run(store, run)

    async def both(state: ServerState) -> tuple[int, str]:
        run = state.store.create_run(name="one", target="one", kind="workflow")
        state.store.release_run(run.id)
        canceling = asyncio.create_task(cancel(state, RestCall({"run_id": run.id}, {}, None)))
        await asyncio.to_thread(begun.wait)
        listed = await state.read(lambda store: len(store.runs()))  # would wait forever behind the act
        go_on.set()
        return listed, (await canceling).message

    state = ServerState(open_store(Workspace(tmp_path)), Keys("token-of-all"), cast("Any", Slow()))
    try:
        assert asyncio.run(asyncio.wait_for(both(state), 60)) == (1, "run 1 canceled")
    finally:
        state.close()


def test_tags_and_names_by_command(stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["tag", "1", "prompt=v2", "who=a=b"]) == 0
    assert main(["tag", "1", "--remove", "prompt", "--json"]) == 0
    assert main(["rename", "1", "Quiz: DE!"]) == 0
    said = capsys.readouterr().out
    assert "run 1 q: prompt=v2, who=a=b" in said
    assert '"who": "a=b"' in said
    assert '"prompt"' not in said
    assert "run 1 is now quiz_de; it was q" in said
    assert main(["show", "quiz_de"]) in (0, 3)
    for wrong in (
        ["tag", "1", "x"],
        ["tag", "1", "--remove", "prompt"],
        ["tag", "1", "=x"],
        ["rename", "1", "!!"],
    ):
        assert main(wrong) == 2, wrong
    assert (main(["tag", "9", "a=b"]), main(["rename", "9", "b"])) == (4, 4)
    assert main(["tag", "1", "--remove", "who"]) == 0
    with open_store(Workspace(stopped)) as store:
        assert store.run(1).tags is None
        assert [event.kind for event in store.events(1)].count("run.renamed") == 1


def test_a_live_run_keeps_its_name_and_takes_tags(tmp_path: Path) -> None:
    with open_store(Workspace(tmp_path)) as store:
        run = store.create_run(name="one", target="one")
        with open_store(Workspace(tmp_path)) as other:
            assert tag_run(other, other.run(run.id), {"a": "1"}) == {"a": "1"}
            with pytest.raises(RunOwnedError, match="when it has ended"):
                rename_run(other, other.run(run.id), "two")


def test_lost_records_of_a_renamed_run_are_restored_from_its_files(stopped: Path) -> None:
    done = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2")).run_id
    with open_store(Workspace(stopped)) as store:
        rename_run(store, store.run(done), "other")
        rename_run(store, store.run(done), "third")
    lose_rows(stopped, done, [1])
    assert [(each.run_id, each.lost) for each in diagnose(Workspace(stopped)).mended] == [(done, 0)]
