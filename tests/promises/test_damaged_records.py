"""A damaged record of one run costs one line: every consumer names it with the cure, and every other run is as it was."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.cli import main
from benchwright.core import DamagedRecordError, RunKind
from benchwright.perf import LoadSettings, RequestRecord, Requests, summarise
from benchwright.results import History, SearchPage, run_document
from benchwright.server._catalogue import list_runs
from benchwright.server._decisions import get_history
from benchwright.server._handlers import RestCall
from benchwright.server._keys import Keys
from benchwright.server._state import ServerState
from benchwright.store import Workspace, listed_run, named_run, open_store
from stored_records import change_cells, change_run, column_of, lose_rows
from stored_workflows import created_workflow, finish_workflow

QUERY: dict[str, Any] = {
    "after": None, "limit": 100, "kind": None, "name": None, "model": None, "status": None, "tag": None, "suite": None, "data": None, "q": "a",
    "sort": "headline", "brief": "true",
}  # fmt: skip
COLUMNS = ("settings", "manifest", "summary", "input", "output", "tags", "progress", "owner")
DAMAGES: dict[str, Any] = {
    "cut": lambda kept: kept[: len(kept) // 2] or b"{",
    "list": lambda kept: b"[1]",
    "number": lambda kept: b"3",
    "text": lambda kept: b'"x"',
    "empty": lambda kept: b"",
    "NUL": lambda kept: b"\0" + kept,
    "not UTF-8": lambda kept: b'{"a": "\xff"}',
    "wrong inside": lambda kept: json.dumps({name: [3] for name in json.loads(kept)} or {"metrics": 3}).encode(),
    "emptied": lambda kept: b"{}",
}  # fmt: skip
KINDS = {"benchmark": 1, "workflow": 2, "load": 3}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two runs of each kind: the first three will be damaged."""
    place = tmp_path_factory.mktemp("sound")
    (place / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n")
    with pytest.MonkeyPatch.context() as patch, open_store(Workspace(place)) as store:
        patch.chdir(place)
        sent = [RequestRecord(number=n, sent=float(n), ended=n + 1.0) for n in range(20)]
        figures = summarise(Requests.of(sent), LoadSettings()).to_json()
        for _ in range(2):
            benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2"))
            finish_workflow(store, created_workflow(store, "w", input_json=b'{"a": 1}'), "completed", output=b"{}")  # fmt: skip
            load = store.create_run(kind=RunKind.LOAD, name="l", target="l", model="m", tags={"a": "b"})
            store.finish_run(load.id, "completed", summary=figures)
    return place


@pytest.fixture
def damaged(sound: Path, request: pytest.FixtureRequest) -> Any:
    """Damages a column, and mends it afterwards."""
    changed: list[tuple[int, str, Any]] = []

    def damage(run: int, column: str, how: str) -> None:
        before = column_of(sound, run, column)
        changed.append((run, column, before))
        kept = before.encode() if isinstance(before, str) else before or b"{}"
        change_run(sound, run, **{column: DAMAGES[how](kept)})

    yield damage
    for run, column, value in reversed(changed):
        change_run(sound, run, **{column: value})


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_lists_name_the_damaged_run_and_show_all_others(
    sound: Path, damaged: Any, kind: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run, place = KINDS[kind], ["--workspace", str(sound)]
    for column in COLUMNS:
        damaged(run, column, how)
        capsys.readouterr()
        assert main(["list", *place]) == 0, column
        assert main(["list", "--json", *place]) == 0, column
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        listed = json.loads(printed.out[printed.out.index('{\n  "runs"') :])["runs"]
        assert [each["id"] for each in listed] == [6, 5, 4, 3, 2, 1], column
        assert not any("cannot be read" in (each["error"] or "") for each in listed if each["id"] != run)
        with open_store(Workspace(sound)) as store:
            assert named_run(store, "last").id == 6
            found = SearchPage.of(store, "zzz", after=None, limit=10)
            assert found is not None
            for name in ("q", "w", "l"):
                assert {each.run_id for each in History.of(store, name).runs} <= {1, 2, 3, 4, 5, 6}
            with suppress(DamagedRecordError):  # its own page may say so, and nothing else
                run_document(store, store.run(run))
            assert listed_run(store, run).id == run


@pytest.mark.parametrize("how", ["cut", "NUL", "list"])
@pytest.mark.parametrize("kind", KINDS)
def test_commands_that_need_the_damaged_figures_say_what_helps(
    sound: Path, damaged: Any, kind: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other, place = KINDS[kind], KINDS[kind] + 3, ["--workspace", str(sound)]
    damaged(run, "summary", how)
    capsys.readouterr()
    for command in (["show", str(run)], ["compare", str(run), str(other)], ["compare", str(other), str(run)], ["export", str(run)],
                    ["resume", str(run)], ["gate", str(run)], ["tag", str(run), "a=b"], ["rename", str(run), "x"]):  # fmt: skip
        code = main([*command, *place])
        printed = capsys.readouterr()
        assert code in (1, 2), (command, code)
        assert "Traceback" not in printed.err
        if command[0] != "gate":  # which wants a policy first
            assert f"run {run} cannot be read (summary: " in printed.err, command
            assert f"benchwright rm {run}" in printed.err


def test_a_list_over_rest_has_the_line_and_its_cure(sound: Path, damaged: Any) -> None:
    for run in KINDS.values():
        damaged(run, "summary", "cut")
    state = ServerState(open_store(Workspace(sound)), Keys("token-of-all"), benchwright.runs)
    try:
        page = asyncio.run(list_runs(state, RestCall({}, {**QUERY, "q": None}, None)))
        assert [(each.id, each.headline) for each in page.runs if each.id in KINDS.values()] == [
            (run, {"text": "cannot be read"}) for run in (3, 2, 1)
        ]
        assert all(f"benchwright rm {each.id}" in (each.error or "") for each in page.runs if each.id < 4)
        assert (
            asyncio.run(list_runs(state, RestCall({}, {**QUERY, "brief": "false", "q": None}, None))).total
            == 6
        )
        history = asyncio.run(
            get_history(state, RestCall({}, {"name": "q", "after": None, "limit": 10}, None))
        )
        assert [each.run_id for each in history.runs] == [1, 4]
    finally:
        state.close()


def test_a_damaged_run_can_be_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n")
    run = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2")).run_id
    for column in ("settings", "summary"):
        change_run(tmp_path, run, **{column: b"{"})
    assert main(["show", str(run)]) == 1
    assert main(["rm", str(run), "--yes"]) == 0
    assert main(["show", str(run)]) == 4


def test_no_command_uses_what_is_left_of_a_damaged_or_lost_sample_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n" + "".join(f"{n}+0,{n}\n" for n in range(25)))
    (tmp_path / "p.toml").write_text('[[threshold]]\nmetric = "exact"\nmin = 0.0\nbound = "value"\n')
    for _ in range(2):
        benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2"), cache=False)
    commands = (
        "gate 2 --policy p.toml", "compare 1 2", "compare 2 1", "export 2 -o x.csv", "export 2 -o x.xlsx",
        "export 2 --baseline b.jsonl", "bless 2 --as n", "report 2 -o x.html", "report 1 2 -o x.html",
        "labels 2 --export l.csv",
    )  # fmt: skip
    sound: list[bytes] = []
    for how in ("cut", "NUL", "list", "number", "emptied", "not UTF-8"):

        def damage(table: str, column: str, cell: Any, how: str = how) -> Any:
            """Damage the first score, and all that are equal to it."""
            if (table, column) != ("steps", "output") or b'"o":' not in cell or cell not in (sound or [cell]):
                return cell
            sound[:] = [cell]
            return DAMAGES[how](cell)

        def mend(table: str, column: str, cell: Any, how: str = how) -> Any:
            return sound[0] if column == "output" and cell == DAMAGES[how](sound[0]) else cell

        change_cells(tmp_path, damage)
        for words in commands:
            capsys.readouterr()
            assert main(words.split()) != 0, (how, words)
            said = capsys.readouterr().err
            assert "cannot be read" in said, (how, words)
            assert "choose another format" not in said
        change_cells(tmp_path, mend)
    assert main(["gate", "2", "--policy", "p.toml"]) == 0, "as it was"
    lose_rows(tmp_path, 2, [7, 8])
    for words in (*commands, "show 2 --wrong", "labels 2"):
        capsys.readouterr()
        code = main(words.split())
        printed = capsys.readouterr()
        said = " ".join((printed.out + printed.err).split())
        assert code != 0 or words in ("show 2 --wrong", "labels 2"), words
        assert "missing from the records" in said or "lost records" in said or "cannot be a baseline" in said
