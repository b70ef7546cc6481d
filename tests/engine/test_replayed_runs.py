"""A run that is done again with the cache gives the results of the first, sends nothing, and shares no reply between
rows: copies of a row are repeats."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
import threading
from collections.abc import Iterator
from contextlib import chdir
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from tests.store.backends import forget_samples

import benchwright
from benchwright import RunResult
from benchwright.config import RunOptions
from benchwright.core import step_key
from benchwright.runs import rescore
from benchwright.store import Workspace, open_store
from recording_server import recording
from stored_records import hash_all_calls_alike

BENCHMARKS = """
from benchwright import benchmark, judge_score, scorer

COMMON = dict(dataset="rows.jsonl", prompt="{question}", target_field="answer", fewshot_dataset="pool.jsonl")

@benchmark(name="plain", **COMMON)
@scorer
def plain(sample):
    return {"right": sample.target in sample.response.split()}

@benchmark(name="judged", judge={"url": "URL", "model_id": "judge", "max_retries": 0}, **COMMON)
@scorer
def judged(sample):
    votes = [judge_score(sample)["judge_score"] for _ in range(2)]
    return {"first": votes[0], "second": votes[1]}

@benchmark(name="asks_back", **COMMON)
@scorer
def asks_back(sample):
    votes = [sample.model_call_fn("Sure?").split()[0] for _ in range(2)] + [
        sample.model_call_fn(sample.metadata["question"]).split()[0]
    ]
    return {vote: votes.count(vote) for vote in "AB"}

@benchmark(name="turns", turns_field="turns", **{**COMMON, "prompt": "{question}"})
@scorer
def turns(sample):
    return {"right": sample.target in sample.response.split()}
"""


class Dice(ThreadingHTTPServer):
    """Answers by chance, as a model at temperature 1 does."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.random = random.Random(0)
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def throw(self) -> str:
        with self.lock:
            self.asked += 1
            return f"{self.random.choice('AB')} GRADE: {self.random.choice('CI')}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Dice)
        choice = {"message": {"content": self.server.throw()}, "finish_reason": "stop"}
        reply = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def dice() -> Iterator[Dice]:
    running = Dice()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run(dice: Dice, target: str, **options: Any) -> RunResult:
    return benchwright.run(
        target, model_url=dice.url, model_id="dice", temperature=1.0, max_retries=0, **options
    )


def results(result: RunResult) -> Any:
    found = yaml.safe_load((result.folder / "results.yml").read_text(encoding="utf-8"))
    del found["config"]["output_dir"]
    for task in found["results"]["tasks"].values():  # it says that its replies are those of another run
        task["samples"].pop("reused", None)
        task["notes"] = [note for note in task["notes"] if "came from earlier runs" not in note]
    return found


def replies(result: RunResult, folder: Path) -> list[bytes | None]:
    store = open_store(Workspace(folder))
    try:
        return [sample.call_output for sample in store.samples(result.run_id)]
    finally:
        store.close()


ROW = st.fixed_dictionaries(
    {"question": st.sampled_from(["q", "r"]), "answer": st.sampled_from("AB"), "turns": st.just(["and?"])},
    optional={"id": st.integers(0, 2)},
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an example takes long: not shrunk
)  # fmt: skip
@given(
    rows=st.lists(ROW, min_size=1, max_size=6),
    before=st.lists(ROW, max_size=3),
    name=st.sampled_from(["plain", "judged", "asks_back", "turns"]),
    repeats=st.integers(1, 2),
    shots=st.integers(0, 2),
)
def test_a_replayed_run_has_the_results_of_the_first(
    dice: Dice,
    rows: list[dict[str, Any]],
    before: list[dict[str, Any]],
    name: str,
    repeats: int,
    shots: int,
) -> None:
    with tempfile.TemporaryDirectory() as place, chdir(place):
        folder = Path(place)
        (folder / "bench.py").write_text(BENCHMARKS.replace("URL", dice.url), encoding="utf-8")
        write_rows(folder / "rows.jsonl", rows)
        pool = [{"question": f"p{n}", "answer": "A", "turns": []} for n in range(3)]
        write_rows(folder / "pool.jsonl", pool)
        options = {"repeats": repeats, "num_fewshot": 0 if name == "turns" else shots}
        if before:  # the cache knows some of the rows, in another order and number
            write_rows(folder / "before.jsonl", before)
            run(dice, f"bench.py:{name}", dataset="before.jsonl", **options)
        first = run(dice, f"bench.py:{name}", **options)
        asked = dice.asked
        second = run(dice, f"bench.py:{name}", **options)
        assert dice.asked == asked, "a replayed run sends nothing"
        assert results(second) == results(first)
        assert replies(second, folder) == replies(first, folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dice: Dice) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.py").write_text(BENCHMARKS.replace("URL", dice.url), encoding="utf-8")
    write_rows(tmp_path / "pool.jsonl", [])
    return tmp_path


def test_copies_are_asked_each_on_their_own_though_the_cache_knows_one(dice: Dice, folder: Path) -> None:
    row = {"question": "q", "answer": "A"}
    write_rows(folder / "one.jsonl", [row])
    write_rows(folder / "rows.jsonl", [{**row, "id": n} for n in range(4)])
    run(dice, "bench.py:plain", dataset="one.jsonl")
    asked = dice.asked
    result = run(dice, "bench.py:plain")
    assert dice.asked - asked == 3
    assert result.from_cache == 1


@pytest.mark.parametrize("mode", ["default", "shuffle", "random_with_replacement"])
def test_copies_of_a_meta_file_are_replayed(dice: Dice, folder: Path, mode: str) -> None:
    lines = ["question,A,B,answer", *(f"q{n},x,y,A" for n in range(3))]
    (folder / "mcq.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    meta = {"request_count": 10, "sampling_mode": mode}
    (folder / "mcq.csv.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    first = run(dice, "mcq.csv", repeats=2)
    asked = dice.asked
    second = run(dice, "mcq.csv", repeats=2)
    assert dice.asked == asked
    assert results(second) == results(first)
    assert replies(second, folder) == replies(first, folder)


def test_rescoring_other_rows_takes_the_replies_of_these_rows(dice: Dice, folder: Path) -> None:
    rows = [{"question": "q", "answer": "A", "kind": kind, "id": n} for n, kind in enumerate("xyxyyx")]
    write_rows(folder / "rows.jsonl", rows)
    source = run(dice, "bench.py:plain", repeats=2)
    there = replies(source, folder)
    assert len(set(there)) > 1
    asked = dice.asked
    again = rescore(source.run_id, options=RunOptions(filters=("kind=y",)))
    assert dice.asked == asked
    expected = [
        there[2 * n + repeat] for n, row in enumerate(rows) if row["kind"] == "y" for repeat in (0, 1)
    ]
    assert replies(again, folder) == expected


def test_replies_of_an_older_version_are_taken_and_resumed(dice: Dice, folder: Path) -> None:
    """Older versions gave copies the hash of the first."""
    write_rows(folder / "rows.jsonl", [{"question": "q", "answer": "A", "id": n} for n in range(3)])
    first = run(dice, "bench.py:plain")
    store = open_store(Workspace(folder))
    known = store.calls(first.run_id, 0, 0).get(step_key("call", 0, 0))
    assert known is not None
    hash_all_calls_alike(folder, known.input_hash)
    forget_samples(store, first.run_id, [(2, 0)], kinds=("judge", "score"))
    store.close()
    asked = dice.asked
    resumed = benchwright.resume(first.run_id)
    assert dice.asked == asked, "the recorded reply is the row's own"
    assert replies(resumed, folder) == replies(first, folder)
    again = rescore(first.run_id, options=RunOptions(limit=3))
    assert replies(again, folder) == replies(first, folder)


def test_runs_that_sent_the_same_requests_at_once_get_their_own_replies_again(
    dice: Dice, folder: Path
) -> None:
    """Also after another run asked anew, and after a repetition that took all its replies from the record."""
    for name, count in (("few", 4), ("more", 9)):
        write_rows(folder / f"{name}.jsonl", [{"question": "q", "answer": "A"}] * count)
    few, more = (
        {"name": name, "dataset": f"{name}.jsonl", "benchmark": "bench.py:plain"} for name in ("few", "more")
    )
    model = {"name": "dice", "url": dice.url, "model_id": "dice", "temperature": 1.0, "max_retries": 0}
    suite = {"models": [model], "datasets": [few, more, {**few, "name": "fewest", "limit": 3}]}
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")

    def done() -> list[list[bytes | None]]:
        runs = benchwright.run("suite.yaml", max_num_workers=3)
        return [replies(pair.result, folder) for pair in runs]  # type: ignore[union-attr]

    first, asked = done(), dice.asked
    assert asked
    assert done() == first
    assert dice.asked == asked
    run(dice, "bench.py:plain", dataset="more.jsonl", repeats=2, cache=False)
    asked = dice.asked
    assert done() == first
    assert dice.asked == asked


PANEL = """
from benchwright import benchmark, judge_panel, scorer

@benchmark(name="panel", dataset="rows.jsonl", prompt="{{question}}", target_field="answer",
           judge={{"url": "{url}", "model_id": "judge-a"}}, judge_1={{"url": "{url}", "model_id": "judge-b"}})
@scorer
def panel(sample):
    return judge_panel(sample)
"""
STEPS = {
    "use_caching": True,
    "use_system_prompt": True,
    "custom_system_prompt": "S",
    "process_reasoning_traces": True,
}


@pytest.mark.parametrize(
    ("target", "more"),
    [
        ("rows.jsonl", {}),
        ("rows.jsonl", {"pipeline": STEPS}),
        ("panel.py", {}),
        ("bfcl_simple", {}),
        ("bfcl_multi_turn", {}),
        ("bfcl_multi_turn_prompting", {}),
    ],
    ids=["questions", "pipeline", "panel", "calls", "turns", "prompted turns"],
)
def test_any_kind_of_run_done_again_gives_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, more: dict[str, Any]
) -> None:
    """A model that never says the same twice, on rows of which some are copies, with repeats."""
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"q{number % 3}", "answer": "a1"} for number in range(6)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    numbers = itertools.count()

    def fickle(body: dict[str, Any]) -> str | dict[str, Any]:
        number = next(numbers)
        if body["model"].startswith("judge"):
            return f"GRADE: {'CI'[number % 2]}"
        if "tools" not in body or number % 3 == 0:
            return f"a{number % 2}"
        name = body["tools"][number % len(body["tools"])]["function"]["name"]
        called = {"name": name, "arguments": "{}"}
        return {"content": None, "tool_calls": [{"id": f"c{number}", "type": "function", "function": called}]}

    with recording(fickle) as server:
        Path("panel.py").write_text(PANEL.format(url=server.url))
        files = []
        for sent in (True, False):
            result = benchwright.run(
                target, model_url=server.url, model_id="m", temperature=1.0, repeats=2, limit=6,
                output_dir=tmp_path / "out", overwrite=True, **more,
            )  # fmt: skip
            files.append(results(result))
            assert bool(server.take()) is sent
    assert files[0] == files[1]
