"""48 pipelines as the older package runs them, and as this one does: what reaches the server, what comes back, what is posted
and written; equal, or different for a reason that the manual gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pipeline_cases import CASES, FAILING, ROWS, Stub, filled, seen

from benchwright.cli import main
from benchwright.endpoints._reasoning import split_reasoning

OLDER = {
    each["name"]: each
    for line in Path(__file__).with_name("golden_pipelines.jsonl").read_text(encoding="utf-8").splitlines()
    for each in [json.loads(line)]
}
KEY = "key-of-a-test"
BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="b", dataset="rows.jsonl", prompt="Q: {question}", target_field="answer")
@scorer
def check(sample):
    return {"correct": sample.response == sample.target}
"""
NOT_UNFINISHED = "only thinking that began is unfinished; `reasoning` is thinking too"
MIGRATED = "all thinking goes into the content, wherever the server put it"
TEXTS = {
    ("reasoning emptied", "plain"): (NOT_UNFINISHED, "B"),
    ("reasoning emptied", "newer"): (NOT_UNFINISHED, "B"),
    ("reasoning emptied", "custom"): (NOT_UNFINISHED, "[T]hm[/T]B"),
    ("reasoning with tokens emptied", "plain"): (NOT_UNFINISHED, "B"),
    ("reasoning with tokens emptied", "newer"): (NOT_UNFINISHED, "B"),
    ("reasoning with tokens emptied", "think"): (NOT_UNFINISHED, "B"),
    ("reasoning with tokens emptied", "twice"): (NOT_UNFINISHED, "B"),
    ("reasoning with tokens emptied", "lone"): (NOT_UNFINISHED, "B"),
    ("reasoning migrated", "think"): (MIGRATED, "<think>let me see\nmore</think>B"),
    ("reasoning migrated", "twice"): (MIGRATED, "<think>a</think> x <think>b</think>B"),
    ("reasoning migrated", "lone"): (MIGRATED, "<think>no start here</think>B"),
    ("reasoning migrated", "newer"): (MIGRATED, "<think>vllm style</think>B"),
}  # fmt: skip
"""Answers that differ, with the reason; besides thinking, which is apart in every run."""
LOGGED = {
    "requests logged": {"request": 2},
    "one request logged": {"request": 1},
    "all requests logged": {"request": len(ROWS)},
    "replies logged": {"response": 4},
    "replies logged, listed": {"response": 2},
    "failures logged": {"failed": 2},
    "everything": {"request": 2, "response": len(ROWS), "failed": 1},
}
"""How many exchanges of each kind are logged; the older package writes them between other lines of its log."""
REQUESTS = {"remove content": "rows that became equal are still rows", "system, then no messages": "the same", "other messages, then system": "the same"}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("pipelines")
    (place / "bench.py").write_text(BENCH, encoding="utf-8")
    rows = "".join(json.dumps({"question": row, "answer": "B"}) + "\n" for row in ROWS)
    (place / "rows.jsonl").write_text(rows, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr("sys.dont_write_bytecode", True)
        patch.setenv("MY_KEY", KEY)
        yield place


def run(name: str) -> tuple[int, Path, dict[str, Any]]:
    """The exit code, the folder of the files, and what the servers saw."""
    stub, posts = Stub(FAILING.get(name)), Stub()
    out = name.replace(" ", "_").replace(",", "")
    # A workspace each: another server may get the port of an earlier one, and with it the recorded replies.
    params = {"parallelism": 1, "max_retries": 0, "extra": {"workspace": f"records_{out}"}}
    endpoint = {
        "url": f"{stub.url}/chat/completions", "model_id": "m", "type": "chat", "api_key_name": "MY_KEY",
        "adapter_config": filled(CASES[name], out, posts),
    }  # fmt: skip
    document = {
        "config": {"type": "bench.py:b", "output_dir": out, "params": params},
        "target": {"api_endpoint": endpoint},
    }
    Path("run.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    try:
        code = main(["run_eval", "--run_config", "run.yaml", "--quiet"])
    finally:
        stub.close()
        posts.close()
    return code, Path(out), seen(stub, posts)


@pytest.mark.parametrize("name", CASES)
def test_a_pipeline_does_what_it_did(folder: Path, name: str) -> None:
    older = OLDER[name]
    code, out, ours = run(name)
    stopped = name in ("client errors", "client errors by number")
    assert code == (1 if stopped else 3 if name in FAILING else 0)
    assert (ours["path"], ours["headers"]) == (older["path"], older["headers"])
    assert len(ours["bodies"]) == (len(ROWS) if name in REQUESTS else older["requests"])
    for row, body in zip(ROWS, ours["bodies"], strict=False):
        assert body == json.loads(json.dumps(older["body"]).replace("Q: plain", f"Q: {row}"))
    for row, before, now in zip(ROWS, older["texts"], _texts(out), strict=False):
        if (name, row) in TEXTS:
            assert before != now == TEXTS[name, row][1], row
        else:
            answer, _, _ = split_reasoning(before or "")
            assert now in (before, answer, (before or "").strip(" ")), (row, before)
    _check_posts(name, older, ours["posts"], out)
    _check_files(name, older, out)


def _texts(out: Path) -> list[str | None]:
    lines = (out / "b" / "byob_predictions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["response"] for line in lines]


def _check_posts(name: str, older: dict[str, Any], posts: list[Any], out: Path) -> None:
    if name == "everything":  # samples are counted, and one of them failed
        assert posts == [*older["posts"], ["POST", len(ROWS)]]
        return
    assert posts == older["posts"]
    assert (out / "progress").exists() == bool(posts)
    if "progress" in older:
        assert (out / "progress").read_text(encoding="ascii") == older["progress"]


def _check_files(name: str, older: dict[str, Any], out: Path) -> None:
    metrics = json.loads((out / "eval_factory_metrics.json").read_text(encoding="utf-8"))
    assert ("response_stats" in metrics) == (name != "no statistics")
    if "response_stats" in older and older["requests"] == len(ROWS):
        assert {key: metrics["response_stats"][key] for key in older["response_stats"]} == older[
            "response_stats"
        ]
    if "reasoning" in older and name.startswith("reasoning") and "tokens" not in name:
        thinking = metrics["reasoning"]  # one reply more: `reasoning` is thinking too
        assert thinking["total_responses"] == older["reasoning"]["total_responses"]
        assert thinking["responses_with_reasoning"] == older["reasoning"]["responses_with_reasoning"] + 1
    report = out / "report.json"
    if "report" in older and older["requests"] == len(ROWS):
        assert len(json.loads(report.read_text(encoding="utf-8"))) == older["report"]
    assert report.exists() == (name not in ("report as HTML", "no report", "saved"))
    log = (out / "exchanges.jsonl").read_bytes() if (out / "exchanges.jsonl").exists() else b""
    assert KEY.encode() not in log
    assert b"sid=cookie" not in log
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert {event: events.count(event) for event in set(events)} == LOGGED.get(name, {})
