"""A database that is lost, damaged or deleted under a run: said in its own words, and as much as possible is had back."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.cli._main import main
from benchwright.core import step_key
from benchwright.runs import diagnose
from benchwright.store import RunClosedError, StoreError, Workspace, find_workspace, open_store
from benchwright.store._statements.step_writer import SampleStepWriter
from stored_steps import stored_step
from stored_workflows import claimed_workflow, created_workflow, finish_workflow

ROWS = [{"question": f"q{n}", "answer": str(n)} for n in range(30)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@benchmark(name="lost", dataset=ROWS, prompt="{question}", target_field="answer")
@scorer
def lost(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": sample.response == sample.target}


def run(**options: Any) -> benchwright.RunResult:
    endpoint = ScriptedEndpoint(lambda request: str(request.body["messages"][-1]["content"])[1:2])
    return benchwright.run(lost, endpoint=endpoint, **options)


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(words)
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def database() -> Path:
    return find_workspace(Path.cwd()).database


def lose() -> None:
    for file in database().parent.glob("benchwright.db*"):
        file.unlink()


def test_numbers_of_folders_are_never_given_again(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = run(), run(repeats=2)
    before = {path: path.read_bytes() for path in first.folder.iterdir()}
    lose()
    code, said = command(capsys, "list")
    assert code == 0
    assert "2 run folders" in said
    assert "benchwright doctor" in said
    third = run()
    assert third.run_id == 3
    assert {path: path.read_bytes() for path in first.folder.iterdir()} == before
    assert "2 run folders are not on record" in command(capsys, "list")[1]
    assert second.folder.exists()


def test_doctor_says_what_of_a_workflow_is_lost(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    with open_store(find_workspace(folder)) as store:
        lease = created_workflow(store, "job", input_json=b'{"n":1}')
        place = store.run(lease.run_id).folder
        place.mkdir(parents=True)
        (place / "stdout.txt").write_text("counted 42\n")
        finish_workflow(store, lease, "completed", output=b"42")
    lose()
    code, said = command(capsys, "doctor")
    assert code == 0
    assert "listed again: run 1 job, interrupted, workflow" in said
    assert "input, steps, metrics and output are lost" in said
    assert "counted 42" in command(capsys, "show", "1")[1]
    assert [each["kind"] for each in json.loads(command(capsys, "list", "--json")[1])["runs"]] == ["workflow"]
    with (
        open_store(find_workspace(folder)) as store,
        pytest.raises(RunClosedError, match="cannot be resumed"),
    ):
        claimed_workflow(store, 1)


def test_doctor_lists_lost_runs_again(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    first = run(repeats=2)
    views = {}
    for when in ("before", "after"):
        code, listed = command(capsys, "list", "--json")
        assert code == 0
        command(capsys, "export", "1", "-o", f"{when}.jsonl")
        command(capsys, "export", "1", "-o", f"{when}.parquet")
        code, shown = command(capsys, "show", "1", "--json")
        assert code == 0
        views[when] = json.loads(listed)["runs"][0], json.loads(shown)
        for view in views[when]:  # files tell times to the millisecond
            run_view = view.get("run", view)
            run_view.pop("duration_s")
            for name in ("created_at", "started_at", "finished_at"):
                run_view[name] = run_view[name][: len("2026-01-01T00:00:00.000")]
        if when == "before":
            lose()
            code, said = command(capsys, "doctor", "--dry-run")
            assert (code, database().exists()) == (1, False)
            assert "0001-lost" in said
            code, said = command(capsys, "doctor", "--json")
            assert code == 0
            assert [each["samples"] for each in json.loads(said)["adopted"]] == [60]
    unknown = {"events", "origins"}  # of which no file tells
    for before, after in zip(views["before"], views["after"], strict=True):
        differ = {key for key in before if before[key] != after.get(key)}
        assert differ <= unknown, {key: (before[key], after.get(key)) for key in differ}
    lines = [[json.loads(line) for line in Path(f"{when}.jsonl").read_text().splitlines()] for when in views]
    assert lines[0] == lines[1]
    import pyarrow.parquet as pq

    assert pq.read_table("before.parquet").to_pylist() == pq.read_table("after.parquet").to_pylist()
    assert command(capsys, "doctor")[1].endswith(
        "every run folder is on record, and no run has lost records\n"
    )
    code, said = command(capsys, "resume", "1")
    assert (code, "its record was lost" in said) == (2, True)
    assert first.folder.exists()


def test_doctor_recovers_a_damaged_database(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        run()
    with closing(sqlite3.connect(database())) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        steps = connection.execute("SELECT count(*) FROM steps").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'steps'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    with database().open("r+b") as file:  # a leaf of the table, and the end of the file
        file.seek((root + 4) * size)
        file.write(os.urandom(size))
    code, said = command(capsys, "doctor")
    assert code == 0, said
    assert "the database is damaged" in said
    assert "recovered 3 runs" in said
    store = open_store(Workspace(Path.cwd()))
    kept = sum(store.count_steps(n, "score") for n in (1, 2, 3))
    store.close()
    assert 0 < kept < steps
    assert list(database().parent.glob("benchwright.db.damaged-*"))
    assert diagnose(find_workspace(Path.cwd())).sound


@pytest.mark.parametrize(
    "content", [b"", b"no database at all, but a text that is long enough for a page" * 99]
)
def test_a_file_that_is_no_database_is_called_damaged(
    capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    run()
    lose()
    database().write_bytes(content)
    if content:
        for words in (("list",), ("show", "1"), ("run", "x.csv")):
            Path("x.csv").write_text("question,answer\nq,a\n")
            code, said = command(capsys, *words)
            assert code != 0
            assert "is damaged" in said
            assert "benchwright doctor" in said
            assert "network" not in said
    code, said = command(capsys, "doctor")
    assert code == 0
    assert "listed again: run 1 lost" in said


def test_a_database_deleted_under_a_run_stops_it_and_loses_nothing() -> None:
    asked: list[str] = []

    def answer(request: Any) -> str:
        asked.append(request.body["messages"][-1]["content"])
        if len(asked) == 10:
            lose()
        return "x"

    with pytest.raises(
        StoreError, match=r"was deleted or replaced while the run wrote to it.*benchwright resume"
    ):
        benchwright.run(lost, endpoint=ScriptedEndpoint(answer), parallelism=1)
    assert len(asked) < 20, "it stopped"
    recorded = open_store(find_workspace(Path.cwd()))
    assert recorded.count_steps(1, "score") >= 10
    recorded.close()


def test_all_runs_of_a_process_write_their_records_back() -> None:
    """The first that notices puts the file back; what the others recorded since must not go elsewhere."""
    with open_store(find_workspace(Path.cwd())) as store:
        runs = [
            store.create_run(name=f"r{n}", target="t", model="m", folder=None, settings={}, manifest={}).id
            for n in range(3)
        ]

        async def write() -> None:
            writers = [store.step_writer(run_id) for run_id in runs]
            lose()
            for number, writer in enumerate(writers):
                step = stored_step(step_key("score", number, 0), b"h", b"row", b"{}", False, 1.0, 2.0)
                with pytest.raises(StoreError, match="were written back"):
                    await writer.append([step])
                with suppress(StoreError):
                    await writer.close()

        asyncio.run(write())
    with open_store(find_workspace(Path.cwd())) as recorded:
        assert [recorded.count_steps(run_id, "score") for run_id in runs] == [1, 1, 1]
    assert list(database().parent.glob(f"{database().name}*")) == [database()]


def test_doctor_takes_what_a_run_saved_when_its_database_was_replaced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run()
    asked: list[str] = []

    def answer(request: Any) -> str:
        asked.append(request.body["messages"][-1]["content"])
        if len(asked) == 10:
            Path("other").write_bytes(b"no database at all, but long enough for a page" * 99)
            Path("other").replace(database())
        return "x"

    with pytest.raises(StoreError, match=r"saved as .*rescued.*benchwright doctor"):
        benchwright.run(lost, endpoint=ScriptedEndpoint(answer), parallelism=1, cache=False)
    code, said = command(capsys, "doctor")
    assert code == 0
    assert "recovered 2 runs" in said
    with closing(open_store(find_workspace(Path.cwd()))) as recorded:
        assert recorded.count_steps(2, "score") >= 10
    assert not list(database().parent.glob("*.rescued-*")), "taken once"
    assert diagnose(find_workspace(Path.cwd())).sound


def test_a_disk_that_is_full_before_the_first_record_is_called_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def small(*given: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*given, **named)
        connection.execute("PRAGMA max_page_count = 2")
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(StoreError, match="disk is full"):
        open_store(find_workspace(tmp_path))


def test_a_full_disk_is_called_full(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.cli import _list

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device", "/somewhere/results.yml")

    monkeypatch.setattr(_list, "execute", full)
    code, said = command(capsys, "list")
    assert code == 1
    assert "/somewhere/results.yml cannot be read or written: the disk is full" in said
    assert "should not happen" not in said


class Trouble:
    """A watcher of a load test that brings trouble once some requests are on record."""

    def __init__(self, bring: Any) -> None:
        self._bring = bring
        self.done = False

    def show(self, progress: Any) -> None:
        if self.done:  # the database may be gone
            return
        with closing(sqlite3.connect(f"{database().as_uri()}?mode=ro", uri=True)) as there:
            recorded = there.execute("SELECT count(*) FROM steps").fetchone()[0]
        if recorded:
            self.done = True
            self._bring()


@pytest.mark.parametrize("trouble", ["deleted", "full"])
def test_a_load_test_that_cannot_be_recorded_says_what_helps(
    trouble: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    append = SampleStepWriter.append

    def full(self: Any, steps: Any) -> Any:
        if watcher.done:
            self._connection.execute("PRAGMA max_page_count = 1")
        return append(self, steps)

    watcher = Trouble(lose if trouble == "deleted" else lambda: None)
    if trouble == "full":
        monkeypatch.setattr(SampleStepWriter, "append", full)
    with pytest.raises(StoreError) as raised:
        benchwright.perf(lost, model="demo", rate=100, seconds=60, watcher=watcher)
    said = str(raised.value)
    assert "benchwright resume" not in said
    assert ("make room, then start it again" if trouble == "full" else "start it again") in said
    assert "benchwright show 1" in said
    code, shown = command(capsys, "show", "1")
    assert code == 0
    assert "requests" in shown


def test_a_run_whose_samples_all_failed_is_listed_again_as_failed() -> None:
    @benchmark(name="broken", dataset=[{"q": "1", "target": "1"}] * 3, prompt="{q}")
    @scorer
    def broken(sample: ScorerInput) -> dict[str, Any]:
        raise ValueError("no")

    assert benchwright.run(broken, endpoint=ScriptedEndpoint(["1"] * 3)).status == "failed"
    lose()
    (adopted,) = diagnose(find_workspace(Path.cwd())).adopted
    assert adopted.status == "failed"


def test_pages_of_new_runs_are_whole_after_a_recovery_that_lost_records() -> None:
    """Indexes know how far they go by row numbers, which a recovered database gives again."""
    from benchwright.results import StoreSamples
    from benchwright.store import SampleFilter

    def pages(run_id: int) -> tuple[int, int]:
        with open_store(find_workspace(Path.cwd())) as store:
            samples = StoreSamples(store, run_id)
            right = samples.page(SampleFilter(verdict="right"), limit=1_000)
            wrong = samples.page(SampleFilter(metric="correct", below=0.5), limit=1_000)
            return len(right.items), len(wrong.items)

    first, second = run(), run(cache=False)
    assert pages(first.run_id) == pages(second.run_id) == (10, 20)
    (first.folder / "samples.parquet").unlink()  # else they are restored
    with closing(sqlite3.connect(database())) as raw:
        raw.execute("DELETE FROM steps WHERE run_id = 1")
        raw.commit()
        page = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events_by_run'").fetchone()[0]
        size = raw.execute("PRAGMA page_size").fetchone()[0]
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with database().open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 8)
    assert main(["doctor"]) == 1  # the first run has lost its records
    assert pages(run(cache=False).run_id) == (10, 20)
    assert pages(second.run_id) == (10, 20)
