"""`benchwright perf` as users start it: real processes, real signals, exit codes."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.perf.stub_server import serving

import warm
from benchwright.core import open_artifacts
from benchwright.perf import Journals, RequestOutcome, RequestRecord, recorded_requests
from benchwright.perf._values import encode_record
from benchwright.results import view_of
from benchwright.store import find_workspace, open_store
from waiting import PATIENCE_S

PROGRAM = (sys.executable, "-m", "benchwright")


class Simulator:
    """`benchwright simulate` in a process of its own."""

    def __init__(self, *flags: str) -> None:
        self._process = warm.Popen(
            [*PROGRAM, "simulate", "--port", "0", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = next(word for word in self._process.stdout.readline().split() if word.startswith("http"))

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def slow() -> Iterator[Simulator]:
    """Answers after 100 ms."""
    simulator = Simulator("--ttft-ms", "100")
    yield simulator
    simulator.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n4*5=,20\n", encoding="utf-8")
    return tmp_path


def command(*words: str) -> list[str]:
    return [*PROGRAM, "perf", "qa.csv", *words]


def done(folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    found = warm.run(
        [*command(*words), "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    printed: dict[str, Any] = json.loads(found.stdout)
    assert found.returncode == code, found.stdout + found.stderr
    return printed


def said(folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """What another command prints as JSON."""
    found = warm.run(
        [*PROGRAM, *words, "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert found.returncode == code, found.stdout + found.stderr
    printed: dict[str, Any] = json.loads(found.stdout)
    return printed


def records(folder: Path, run_id: int = 1) -> list[RequestRecord]:
    with open_store(find_workspace(folder, None)) as store:
        return list(recorded_requests(store, run_id)) if store.runs() else []


def started(folder: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return warm.Popen(
        command(*words),
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_records(folder: Path, process: subprocess.Popen[str], count: int) -> None:
    """Until so many requests are on record, as another process sees them."""
    from waiting import until

    def enough() -> bool:
        assert process.poll() is None, process.communicate()
        return (folder / ".benchwright").exists() and len(records(folder)) >= count

    until(enough)


def test_a_load_test_of_the_demo_model_ends_with_0(folder: Path) -> None:
    (result,) = done(folder, "--requests", "20", "--concurrency", "1,2")["results"]
    assert [stage["requests"]["sent"] for stage in result["summary"]["stages"]] == [20, 20]
    assert [(record.number, record.row) for record in records(folder)] == [(n, n % 3) for n in range(40)]


def test_meta_file_and_column_decide_rows_and_lengths(folder: Path) -> None:
    (folder / "qa.csv").write_text("question,answer,max_tokens\n1+1=,2,7\n2+3=,5,9\n", encoding="utf-8")
    done(folder, "--concurrency", "1")
    assert [record.requested_tokens for record in records(folder)] == [7, 9]
    meta = {
        "request_count": "5",
        "output_config": {"method": "uniform", "params": {"min_value": 3, "max_value": 3}},
    }
    (folder / "qa.csv.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    done(folder, "--concurrency", "1")
    assert [record.requested_tokens for record in records(folder, 2)] == [3] * 5


def test_a_server_that_is_not_there_ends_with_1(folder: Path) -> None:
    code = done(folder, "--model-url", "http://127.0.0.1:9/v1", "--model-id", "m", code=1)
    assert code["results"][0]["run"]["status"] == "failed"
    assert {record.outcome for record in records(folder)} == {RequestOutcome.CONNECT}


def test_too_many_errors_end_with_3(folder: Path) -> None:
    simulator = Simulator("--error-rate", "0.4", "--faults", "server_error", "--seed", "1")
    try:
        where = ("--model-url", simulator.url, "--model-id", "demo", "--requests", "40", "--concurrency", "1")
        (folder / "qa.csv").write_text(
            "question\n" + "".join(f"{n}+1=\n" for n in range(40)), encoding="utf-8"
        )
        done(folder, *where, code=3)
        share = sum(record.outcome is RequestOutcome.HTTP_5XX for record in records(folder)) / 40
        assert 0.15 < share < 0.7
        done(folder, *where, "--max-error-share", "0.9", code=0)
    finally:
        simulator.close()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--profile", "constant"), "needs --rate"),
        (("--rate", "5", "--concurrency", "2"), "--max-concurrency"),
        (("--profile", "ramp", "--rate", "5"), "two rates"),
        (("--rate", "x"), "expected numbers"),
        (("--rate", "0"), "--rate 0: expected numbers above 0"),
        (("--concurrency", "0,2"), "--concurrency 0,2: expected whole numbers above 0"),
        (("--concurrency", "1.5"), "--concurrency 1.5: expected whole numbers above 0"),
        (("--burst-size", "3", "--rate", "5"), "--profile burst"),
        (("--slo", "tftt=5"), "ttft"),
        (("--concurrency", "100000000"), "ulimit -n"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_sent(
    folder: Path, words: tuple[str, ...], message: str
) -> None:
    printed = done(folder, *words, code=2)
    assert message in printed["error"]["message"]


def test_ctrl_c_lets_requests_end_and_sums_up(folder: Path, slow: Simulator) -> None:
    where = ("--model-url", slow.url, "--model-id", "demo", "--requests", "100000", "--concurrency", "4")
    process = started(folder, *where)
    wait_for_records(folder, process, 4)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "interrupted" in output
    found = records(folder)
    assert all(record.ok for record in found)
    assert [record.number for record in found] == list(range(len(found)))
    summary = json.loads((folder / ".benchwright/runs/0001-qa/summary.json").read_text(encoding="utf-8"))
    assert summary["evaluated"] == len(found)


def test_ctrl_c_ends_a_search_with_130_and_no_answer(folder: Path, slow: Simulator) -> None:
    where = ("--model-url", slow.url, "--model-id", "demo", "--requests", "100000")
    process = started(folder, *where, "--find-max-load", "--slo", "e2e=60s")
    wait_for_records(folder, process, 3)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "the search ended before the boundary was found" in " ".join(output.split())
    summary = json.loads((folder / ".benchwright/runs/0001-qa/summary.json").read_text(encoding="utf-8"))
    assert (summary["search"]["status"], summary["search"]["level"]) == ("unfinished", None)
    assert summary["evaluated"] == len(records(folder))


def test_ctrl_c_twice_ends_at_once(folder: Path) -> None:
    simulator = Simulator("--ttft-ms", "600000")
    try:
        where = ("--model-url", simulator.url, "--model-id", "demo", "--requests", "50", "--concurrency", "3")
        process = started(folder, *where, "--workers", "2", "--drain", "300", "--request-timeout", "900")
        assert process.stderr is not None
        # Nothing ends here, so records cannot tell that it runs; the log line of the live view does.
        process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        process.stderr.readline()  # it says that it is stopping
        os.killpg(process.pid, signal.SIGINT)
        output, said_last = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert not output, "figures would take seconds"
        assert "benchwright show 1" in said_last
        assert {record.outcome for record in records(folder)} == {RequestOutcome.CANCELLED}
        shown = said(folder, "show", "1")
        assert shown["run"]["status"] == "interrupted"
        assert not (folder / ".benchwright/runs/0001-qa/summary.json").exists()
    finally:
        simulator.close()


def kill(process: subprocess.Popen[str], whom: str) -> None:
    """Kill all processes of a test, the one that was started, or one of those that it started."""
    if whom == "all":
        os.killpg(process.pid, signal.SIGKILL)
    elif whom == "parent":
        process.kill()
    elif whom == "parent and 0":
        worker = workers_of(process)[0]
        process.kill()
        os.kill(worker, signal.SIGKILL)
    else:
        os.kill(workers_of(process)[int(whom)], signal.SIGKILL)


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True
    )
    return [int(line.split()[0]) for line in found.stdout.splitlines() if "perf._worker" in line]


@pytest.mark.parametrize(
    ("workers", "whom"),
    [
        (1, "all"),
        (2, "all"),
        (2, "parent"),
        (2, "0"),
        (2, "1"),
        (2, "parent and 0"),
        (3, "all"),
        (3, "parent"),
    ],
)
def test_a_killed_test_has_every_request_that_had_ended(folder: Path, workers: int, whom: str) -> None:
    """At any moment, here after some number of requests. Each of the eight places may lack two: the request in flight, and one whose reply came in
    the same turn of the event loop, which is booked after the next request has been sent."""
    moment = random.Random(f"{workers} {whom}").randint(20, 900)

    async def work() -> int:
        async with serving(events=2) as stub:
            process = started(
                folder, "--model-url", stub.url, "--model-id", "stub", "--requests", "1000000", "--concurrency", "8",
                "--workers", str(workers), "--quiet",
            )  # fmt: skip
            await stub.until_came(moment)
            kill(process, whom)
            await asyncio.to_thread(process.communicate)  # workers have its output too, so it waits for them
            while stub.connected:
                stub.changed.clear()
                await stub.changed.wait()
            return stub.served

    served = asyncio.run(work())
    found = records(folder)
    assert served - 2 * 8 <= len(found) <= served
    assert all(record.ok for record in found)
    assert len({record.number for record in found}) == len(found)
    assert said(folder, "show", "1")["summary"]["evaluated"] == len(found)
    with open_store(find_workspace(folder, None)) as store:
        assert view_of(store.run(1), store).counted == f"{len(found):,}"
    assert [record.number for record in found] == sorted(record.number for record in found)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_test_that_ended_leaves_no_journal(folder: Path, workers: int) -> None:
    simulator = Simulator()
    try:
        where = ("--model-url", simulator.url, "--model-id", "demo", "--requests", "30", "--concurrency", "4")
        warm.run(
            command(*where, "--workers", str(workers)), cwd=folder, capture_output=True, timeout=PATIENCE_S
        )
    finally:
        simulator.close()
    assert len(records(folder)) == 30
    assert not list((folder / ".benchwright").rglob("*.journal"))


def numbers(journals: Journals) -> list[int]:
    return [record.number for record in journals.records()]


@pytest.mark.usefixtures("any_place")
def test_a_journal_holds_what_is_not_committed_and_no_more(tmp_path: Path) -> None:
    journals = Journals(open_artifacts(tmp_path), 7)
    journal = journals.of(0)
    for number in range(3):
        journal.write(encode_record(RequestRecord(number)))
    file = journal.turn()
    journal.write(encode_record(RequestRecord(3)))
    assert numbers(journals) == [0, 1, 2, 3]
    journal.empty(file)
    assert numbers(journals) == [3]
    assert journal.turn() == 1
    journal.write(encode_record(RequestRecord(4)))
    files = open_artifacts(tmp_path)
    (torn,) = (name for name in files.names() if name.endswith("0.journal"))
    files.write(torn, files.read(torn)[:-1])  # killed while it was written
    assert numbers(journals) == [3]
    journal.close(keep=False)
    assert files.names() == []


@pytest.mark.usefixtures("any_place")
def test_the_journal_of_a_worker_holds_what_the_other_process_has_not(tmp_path: Path) -> None:
    """However late the other process says what it has: nothing else is dropped, and what it has is dropped soon."""
    journals, chance = Journals(open_artifacts(tmp_path), 7), random.Random(0)
    journal, other = journals.of(1), Journals(open_artifacts(tmp_path), 77).of(0)
    written = safe = 0
    for _ in range(500):
        if chance.random() < 0.7:
            journal.write(encode_record(RequestRecord(written)))
            written += 1
        else:
            safe = chance.randint(safe, written)
            journal.safe(safe)
            assert set(range(safe, written)) <= set(numbers(journals))
    journal.safe(written)
    journal.safe(written)
    assert numbers(journals) == []
    journal.write(encode_record(RequestRecord(written)))
    other.write(encode_record(RequestRecord(1000)))
    assert numbers(journals) == [written]
    journals.remove()
    assert numbers(journals) == []
    journal.close(keep=False)
    other.close(keep=False)


@pytest.mark.usefixtures("any_place")
def test_a_journal_out_of_step_gives_what_came_before(tmp_path: Path) -> None:
    journals = Journals(open_artifacts(tmp_path), 7)
    journal = journals.of(2)
    journal.write(encode_record(RequestRecord(0)))
    journal.write(b"\x00\xff")
    journal.write(encode_record(RequestRecord(1)))
    assert numbers(journals) == [0]
    journal.close(keep=True)


def test_the_journal_of_a_worker_has_no_secret(folder: Path) -> None:
    """A server that returns the key in an error: the worker's journal is a file like others."""
    secret = "quite-a-secret-7316"

    async def work() -> None:
        async with serving(events=2, fail_every=2, said_on_failure=f"no such key {secret}") as stub:
            process = started(
                folder, "--model-url", stub.url, "--model-id", "stub", "--requests", "1000000", "--concurrency", "8",
                "--workers", "2", "--quiet", env=os.environ | {"STUB_API_KEY": secret},
            )  # fmt: skip
            await stub.until_came(200)
            kill(process, "all")
            await asyncio.to_thread(process.communicate)

    asyncio.run(work())
    files = list((folder / ".benchwright").rglob("*.journal"))
    assert any(file.stat().st_size for file in files)
    assert not [file for file in files if secret.encode() in file.read_bytes()]
    assert any("no such key" in (record.error or "") for record in records(folder))


def test_a_killed_test_keeps_its_records(folder: Path, slow: Simulator) -> None:
    where = ("--model-url", slow.url, "--model-id", "demo", "--requests", "100000", "--concurrency", "4")
    process = started(folder, *where)
    wait_for_records(folder, process, 8)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    found = records(folder)
    assert len(found) >= 8
    assert all(record.ok for record in found)
    shown = said(folder, "show", "1")
    assert shown["run"]["status"] == "interrupted"
    assert shown["summary"]["evaluated"] == len(found)
    assert said(folder, "list")["runs"][0]["kind"] == "load"
    with open_store(find_workspace(folder, None)) as store:
        (run,) = store.runs()
        assert view_of(run, store).counted == str(len(found))
    # What is printed names no file that is not there, and does not sound as if the test went on.
    assert shown["run"]["demo"] is True
    ended = warm.run([*PROGRAM, "show", "1"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)
    text = " ".join(ended.stdout.split())
    assert (
        "the test was stopped before it could write its files; the figures cover the requests that had ended"
        in text
    )
    assert "files none were written; its requests: benchwright export 1 -o requests.csv" in text
    assert "summary.json" not in text


def test_the_client_measures_itself_against_known_times(folder: Path) -> None:
    words = [*PROGRAM, "perf", "--self-test", "--json"]
    ended = warm.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    found = json.loads(ended.stdout)
    assert ended.returncode == 0, ended.stderr
    assert (found["requests"], found["concurrency"]) == (512, 64)
    # However busy the machine is, no first token comes before the simulator sends it, and no CPU is free.
    assert 0 < found["ttft_error_mean_ms"] <= found["ttft_error_p99_ms"] <= found["ttft_error_max_ms"]
    assert found["cpu_s_per_1000_requests"] > 0
    assert (found["client_health"]["verdict"], found["client_health"]["reasons"]) == ("ok", [])


def test_the_long_form_and_a_suite_load_every_pair(folder: Path) -> None:
    (folder / "mcq.jsonl").write_text(
        '{"question": "1+1=", "A": "2", "B": "3", "answer": "A"}\n', encoding="utf-8"
    )
    files = ("--custom-dataset-path", "qa.csv", "mcq.jsonl")
    words = [*PROGRAM, "run", "--models", "demo", *files, "--mode", "perf", "--num-warmups", "1", "--json"]
    found = warm.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert [each["run"]["name"] for each in json.loads(found.stdout)["results"]] == ["qa", "mcq"]
    assert [record.phase for record in records(folder)] == ["warmup", *["measured"] * 3]
    shown = said(folder, "run", "--models", "demo", "--custom-dataset-path", "qa.csv", "--mode", "perf_viz")
    assert [each["run"]["id"] for each in shown["results"]] == [1]
    said(folder, "run", "--custom-dataset-path", "other.csv", "--mode", "perf_viz", code=4)
    suite = '{"models": ["demo"], "datasets": ["qa.csv", "mcq.jsonl"]}'
    (folder / "suite.json").write_text(suite, encoding="utf-8")
    words = [*PROGRAM, "perf", "suite.json", "--requests", "5", "--json"]
    found = warm.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert len(records(folder, 3)) == len(records(folder, 4)) == 5


def test_a_benchmark_in_python_and_multimodal_rows_can_be_sent(folder: Path) -> None:
    from benchwright import benchmark, perf, scorer

    @benchmark(name="sums", dataset=[{"a": 1, "target": "2"}, {"a": 2, "target": "3"}], prompt="{a}+1=")
    @scorer
    def right(sample: Any) -> dict[str, Any]:
        raise AssertionError("a load test scores nothing")

    result = perf(right, requests=4, concurrency=2, workspace=folder)
    assert (result.exit_code, result.summary.sent) == (0, 4)
    png = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")
    (folder / "dot.png").write_bytes(png)
    rows = '{"type": "image", "path": ["dot.png"], "question": "What is it?", "answer": "a dot"}\n'
    (folder / "mm.jsonl").write_text(rows, encoding="utf-8")
    result = perf(folder / "mm.jsonl", requests=3, concurrency=1, workspace=folder)
    assert result.summary.sent == 3


def test_a_load_test_is_not_resumed_or_rescored(folder: Path) -> None:
    done(folder, "--requests", "2")
    for command_name in ("resume", "rescore"):
        assert "load test" in said(folder, command_name, "1", code=2)["error"]["message"]


@pytest.mark.parametrize("api", ["openai", "responses", "tgi", "triton", "mindie"])
@pytest.mark.parametrize("stream", [True, False])
def test_every_wire_is_timed_and_counted(folder: Path, slow: Simulator, api: str, stream: bool) -> None:
    flags = ("--stream",) if stream else ("--no-stream",)
    url = slow.url if api in ("openai", "responses") else slow.url.removesuffix("/v1")
    done(
        folder,
        "--model-url",
        url,
        "--model-id",
        "demo",
        "--api",
        api,
        "--concurrency",
        "3",
        "--requests",
        "6",
        *flags,
    )
    for record in records(folder):
        assert record.ok, record.error
        assert record.sent is not None
        assert record.ended is not None
        assert record.ended - record.sent > 0.09
        assert record.output_tokens
        if stream:
            assert record.first_token is not None
            assert record.first_token - record.sent > 0.09
            assert len(record.arrivals) >= 1
        else:
            assert record.first_token is None


def test_the_long_form_writes_the_files_of_the_other_tool_too(folder: Path) -> None:
    words = [*PROGRAM, "run", "qa.csv", "--mode", "perf", "--format", "aisbench", "--quiet"]
    found = warm.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert found.returncode == 0, found.stderr
    assert list(folder.glob(".benchwright/runs/*/performances/*/*_details.jsonl"))
    refused = warm.run(
        [*PROGRAM, "run", "qa.csv", "--format", "aisbench"],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert (refused.returncode, "--mode perf" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("--models", "demo", "--mode", "perf"), "benchwright run --models …"),
        (("--rate", "5", "qa.csv"), "benchwright perf --rate …"),
    ],
)
def test_flags_without_a_command_name_it(folder: Path, words: tuple[str, ...], cure: str) -> None:
    found = warm.run(
        [*PROGRAM, *words], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (found.returncode, cure in found.stderr) == (2, True)
