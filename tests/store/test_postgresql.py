"""What only a database on another machine does: it goes away and comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwright.store import Workspace, open_store
from postgres_server import PostgresServer, own_server, shared_server
from recording_server import recording
from waiting import until

ROWS = 120


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with own_server() as server:
        yield server


def questions(folder: Path) -> Path:
    lines = [
        json.dumps({"question": f"What is {number} + 1?", "answer": str(number + 1)})
        for number in range(ROWS)
    ]
    path = folder / "rows.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("times", [1, 3])
def test_a_run_waits_for_a_database_that_was_killed_and_sends_nothing_twice(
    server: PostgresServer, tmp_path: Path, times: int
) -> None:
    released = threading.Semaphore(0)

    def answer(body: dict[str, object]) -> str:
        released.acquire(timeout=300)
        return "1"

    url = server.url("team")
    with recording(answer) as model:
        child = subprocess.Popen(
            [sys.executable, "-m", "benchwright", "run", str(questions(tmp_path)), "--store", url, *model.model,
             "--parallelism", "8", "--qa-metrics", "numeric"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        for part in range(times):
            released.release(10)
            until(lambda part=part: len(model.received) >= 10 * (part + 1))
            server.stop("immediate")
            released.release(10)  # replies that arrive while it is away
            server.start()
        released.release(ROWS)
        out, err = child.communicate(timeout=600)
        assert child.returncode == 0, out + err
        asked = Counter(str(body["messages"]) for body in model.bodies)
    assert len(asked) == ROWS
    assert set(asked.values()) == {1}, "a request was repeated though only the database had died"
    with open_store(Workspace(tmp_path, url=url)) as store:
        assert [sample.sample for sample in store.samples(1)] == list(range(ROWS))
        assert store.run(1).status == "completed"


def test_a_database_that_does_not_come_back_interrupts_the_run_and_it_can_be_resumed(
    server: PostgresServer, tmp_path: Path
) -> None:
    released = threading.Semaphore(0)

    def answer(body: dict[str, object]) -> str:
        released.acquire(timeout=300)
        return "1"

    command = [sys.executable, "-m", "benchwright"]
    url = server.url("team") + "&patience=0.5"
    with recording(answer) as model:
        child = subprocess.Popen(
            [*command, "run", str(questions(tmp_path)), "--store", url, *model.model, "--parallelism", "4"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        released.release(20)
        until(lambda: len(model.received) >= 20)
        server.stop("immediate")
        released.release(ROWS * 2)
        _, err = child.communicate(timeout=600)
        assert child.returncode != 0
        assert "does not answer" in err
        assert "benchwright resume" in err
        assert "Traceback" not in err
        server.start()
        done = subprocess.run(
            [*command, "resume", "1", "--store", url],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    with open_store(Workspace(tmp_path, url=url)) as store:
        assert [sample.sample for sample in store.samples(1)] == list(range(ROWS))


def test_the_password_of_a_store_is_written_nowhere(tmp_path: Path) -> None:
    password = "canary-of-a-password"
    url = shared_server().url("secret").replace("postgresql:///", f"postgresql://tester:{password}@/")
    (tmp_path / "quiz.csv").write_text("question,A,B,answer\nOne?,1,2,A\n", encoding="utf-8")
    said = ""
    for words in (
        ["run", "quiz.csv", "--json"],
        ["show", "1", "--json"],
        ["list"],
        ["resume", "1"],
        ["doctor"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "benchwright", *words, "--store", url],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said += done.stdout + done.stderr
    said += b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()).decode(
        errors="replace"
    )
    with open_store(Workspace(tmp_path, url=url)) as store:
        said += repr(store) + repr(store.workspace) + repr(store.run(1)) + repr(store.events(1))
    assert "canary" not in said
    nobody = url.replace("host=", "host=/nowhere").replace("secret", "other")
    done = subprocess.run(
        [sys.executable, "-m", "benchwright", "list", "--store", nobody],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    assert "canary" not in done.stderr
