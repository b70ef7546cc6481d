"""The folder of an evaluation: every file from the records, whole, with every failure counted."""

from __future__ import annotations

import csv
import doctest
import io
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from recorded_runs import SETTINGS, SUMMARY, chat_call, every_kind_of_sample, score, write_work_folder

from benchwright.core import (
    CallTimes,
    MetricSummary,
    ModelReply,
    NotFoundError,
    Outcome,
    RequestFailure,
    RunSummary,
    StepValues,
    TokenUsage,
    UsageError,
    safe_name,
)
from benchwright.reports import WorkFolder
from benchwright.reports.files import work_folder
from benchwright.reports.files.work_folder import task_places
from benchwright.results import WorkTask
from benchwright.store import RunRecord, Store
from browser import document_of, page_data

Record = Callable[..., RunRecord]
NOON = 1_700_000_000.0


def metric(value: float, count: int, low: float, high: float) -> MetricSummary:
    spread = (value * (1 - value)) ** 0.5
    return MetricSummary(
        value, count, spread, 0.1, 0.1, low, high, "wilson", 0.0, 1.0, value * 0.9, count + 1
    )


def summary(**changes: Any) -> RunSummary:
    values: dict[str, Any] = {name: getattr(SUMMARY, name) for name in SUMMARY.__struct_fields__}
    return RunSummary(**{**values, **changes})


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_file_of_the_tree_is_there(store: Store, record: Record, tmp_path: Path) -> None:
    run = record()
    folder = tmp_path / "outputs" / "20231114_221320"
    written = write_work_folder(store, folder, [WorkTask("my-model", "qa", run.id)], moment=NOON)
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert sorted(str(path.relative_to(folder)) for path in written) == found
    stamp = next(name for name in found if name.endswith(".txt"))[len("summary/summary_") : -len(".txt")]
    config = next(name for name in found if name.startswith("configs/"))
    assert found == sorted(
        [
            config, "runs.json", "predictions/my-model/qa.jsonl", "predictions/my-model/qa_failed.jsonl",
            "results/my-model/qa.json", "logs/infer/my-model/qa.out", "logs/eval/my-model/qa.out",
            *(f"summary/summary_{stamp}.{ending}" for ending in ("txt", "csv", "md", "html", "json")),
        ]
    )  # fmt: skip
    assert config.startswith(f"configs/{stamp}_")
    assert not list(folder.rglob(".*")), "nothing half-written stays behind"
    merged = yaml.safe_load((folder / config).read_text(encoding="utf-8"))["tasks"][0]
    assert (merged["model"], merged["dataset"], merged["run_id"]) == ("my-model", "qa", run.id)
    assert "sk-in" not in (folder / config).read_text(encoding="utf-8")


def test_predictions_hold_successes_and_failures(store: Store, record: Record, tmp_path: Path) -> None:
    run = record()
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "qa", run.id)])
    samples = lines_of(tmp_path / "w/predictions/m/qa.jsonl")
    assert [sample["id"] for sample in samples] == list(range(7))
    assert [sample["success"] for sample in samples] == [True, True, True, False, False, True, True]
    first, failed = samples[0], samples[3]
    assert (first["data_abbr"], first["prediction"], first["gold"]) == ("qa", "yes", "yes")
    assert first["origin_prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "question 0"},
    ]
    assert (first["prompt_tokens"], first["latency_s"], first["outcome"]) == (10, 0.25, "scored")
    assert first["row"] == {"question": "question 0", "answer": 0}
    assert "error" not in first
    assert failed["error"] == {"kind": "timeout", "message": "no answer within 120 s", "http_status": None}
    assert failed["prediction"] is None
    assert len({sample["uuid"] for sample in samples}) == 7
    failures = lines_of(tmp_path / "w/predictions/m/qa_failed.jsonl")
    assert [(each["id"], each["error_info"]) for each in failures] == [
        (3, "no answer within 120 s"),
        (4, 'field "question" is missing'),
    ]


def test_ids_are_the_same_each_time(store: Store, record: Record, tmp_path: Path) -> None:
    run = record()
    for name in ("a", "b"):
        write_work_folder(store, tmp_path / name, [WorkTask("m", "qa", run.id)])
    first, second = ((tmp_path / n / "predictions/m/qa.jsonl").read_bytes() for n in ("a", "b"))
    assert first == second


@pytest.mark.parametrize(
    ("name", "place"),
    [("correct", "correct"), ("n_correct", "metric n_correct"), ("n", "metric n"), ("samples", "metric samples"),
     ("details", "metric details"), ("notes", "metric notes"), ("extract_rate", "metric extract_rate")],
)  # fmt: skip
def test_a_metric_called_like_a_key_of_the_file_keeps_its_value(
    store: Store, record: Record, tmp_path: Path, name: str, place: str
) -> None:
    told = summary(
        rows=4, evaluated=4, failed=0, metrics={name: metric(0.25, 4, 0.05, 0.7)}, headline=name, notes=[]
    )
    run = record(
        [score(n, 0, {"o": "scored", "s": {name: n == 0}, "t": "x"}) for n in range(4)], summary=told
    )
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", run.id)], details=True)
    found = json.loads((tmp_path / "w/results/m/q.json").read_text(encoding="utf-8"))
    assert next(iter(found)) == place
    assert found[place] == 25.0
    assert (found["metric"], found["n"], found["n_correct"], found["samples"]) == (name, 4, 1, 4)
    assert (found["notes"], len(found["details"])) == ([], 4)
    assert found["metrics"][name]["value"] == 0.25


def test_results_are_in_percent_with_all_they_rest_on(store: Store, record: Record, tmp_path: Path) -> None:
    read = [
        {"o": "scored", "s": {"accuracy": 1, "extracted": "B", "method": "exact"}, "t": "B"},
        {"o": "scored", "s": {"accuracy": 0, "extracted": "A", "method": "pattern"}, "t": "B"},
        {"o": "unparsed", "s": {"accuracy": 0, "parsed": False, "extracted": "", "method": "none"}, "t": "C"},
    ]
    steps: list[StepValues] = []
    for index, scored in enumerate(read):
        steps += [chat_call(index, 0, ModelReply("answered", f"reply {index}")), score(index, 0, scored)]
    told = summary(
        rows=3, evaluated=3, failed=0, metrics={"accuracy": metric(1 / 3, 3, 0.06, 0.79)}, headline="accuracy",
        comparable=True, notes=[],
    )  # fmt: skip
    run = record(steps, summary=told)
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", run.id)], details=True, extract_rate=True)
    found = json.loads((tmp_path / "w/results/m/q.json").read_text(encoding="utf-8"))
    assert next(iter(found)) == "accuracy"
    assert found["accuracy"] == pytest.approx(33.3333)
    assert (found["n"], found["n_correct"], found["interval_95"]) == (3, 1, [6.0, 79.0])
    assert found["extraction"] == {"exact": 1, "pattern": 1, "none": 1}
    assert found["extract_rate"] == pytest.approx(66.6667)
    assert found["details"] == [
        {"example_abbr": "q_0", "pred": ["reply 0"], "parsed": ["B"], "refr": ["B"], "correct": [True]},
        {"example_abbr": "q_1", "pred": ["reply 1"], "parsed": ["A"], "refr": ["B"], "correct": [False]},
        {"example_abbr": "q_2", "pred": ["reply 2"], "parsed": [None], "refr": ["C"], "correct": [False]},
    ]
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", run.id)])
    plain = json.loads((tmp_path / "w/results/m/q.json").read_text(encoding="utf-8"))
    assert "details" not in plain
    assert "extract_rate" not in plain


def test_repeats_stand_side_by_side(store: Store, record: Record, tmp_path: Path) -> None:
    steps = []
    for repeat, right in enumerate((True, False)):
        steps += [
            chat_call(0, repeat, ModelReply("answered", f"say {repeat}")),
            score(0, repeat, {"o": "scored", "s": {"correct": right}, "t": "x"}),
        ]
    told = summary(
        rows=1, repeats=2, evaluated=2, failed=0, comparable=True, notes=[],
        metrics={"correct": metric(0.5, 2, 0.1, 0.9)},
        over_repeats={
            "avg@2": {"correct": metric(0.5, 1, 0.1, 0.9)},
            "pass@2": {"correct": metric(1.0, 1, 0.2, 1.0)},
            "cons@2": {"correct": metric(0.0, 1, 0.0, 0.8)},
        },
    )  # fmt: skip
    run = record(steps, summary=told, settings={**SETTINGS, "repeats": 2})
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", run.id)], details=True)
    found = json.loads((tmp_path / "w/results/m/q.json").read_text(encoding="utf-8"))
    assert found["correct (2 runs average)"] == 50.0
    assert (found["avg@2"], found["pass@2"], found["cons@2"]) == (50.0, 100.0, 0.0)
    assert found["details"][0]["correct"] == [True, False]
    (table,) = (tmp_path / "w/summary").glob("*.csv")
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [(row["metric"], row["m"]) for row in rows] == [
        ("correct (2 runs average)", "50.00"), ("avg@2", "50.00"), ("pass@2", "100.00"), ("cons@2", "0.00"),
    ]  # fmt: skip


def test_the_summary_has_a_column_per_model_and_admits_failures(
    store: Store, record: Record, tmp_path: Path
) -> None:
    good = summary(
        metrics={"correct": metric(0.71249, 80, 0.6, 0.8)}, failed=0, comparable=True, notes=["same note"]
    )
    poor = summary(
        metrics={"correct": metric(0.5, 60, 0.38, 0.62)}, failed=20, comparable=False, notes=["same note"]
    )
    runs = [record(summary=good), record(summary=poor), record([], summary=None)]
    tasks = [
        WorkTask("large", "qa", runs[0].id),
        WorkTask("small", "qa", runs[1].id),
        WorkTask("small", "b", runs[2].id),
    ]
    write_work_folder(store, tmp_path / "w", tasks)
    texts = {path.suffix: path.read_text(encoding="utf-8") for path in (tmp_path / "w/summary").iterdir()}
    head, first, second = list(csv.reader(io.StringIO(texts[".csv"])))
    assert head[:6] == ["dataset", "version", "metric", "mode", "large", "small"]
    assert (first[0], first[2], first[4:6]) == ("qa", "correct", ["71.25", "50.00"])
    assert first[1] == "def", "the first digits of the hash of the prompt"
    assert dict(zip(head, first, strict=True))["small failed"] == "20"
    assert {name for name in head if name.startswith("small ")} >= {f"small {outcome}" for outcome in Outcome}
    assert (second[0], second[4:6]) == ("b", ["", ""])
    assert "not comparable" in texts[".txt"]
    assert texts[".txt"].count("same note") == 1, "a note of two tasks is said once, with both names"
    assert "qa on large; qa on small: same note" in texts[".txt"]
    document = json.loads(texts[".json"])
    assert document["lines"][0]["models"]["large"]["value"] == pytest.approx(71.249)
    assert document["lines"][1]["models"]["small"]["remark"] == "running"
    widths = {line.count("|") for line in texts[".md"].splitlines() if line.startswith("|")}
    assert widths == {7, 3 + 2 * len(Outcome)}, "each table has as many cells in every line"


def test_a_model_without_figures_stands_in_the_line_of_the_others(
    store: Store, record: Record, tmp_path: Path
) -> None:
    good = summary(metrics={"correct": metric(0.5, 60, 0.38, 0.62)}, failed=0, comparable=True, notes=[])
    dead = summary(metrics={}, failed=80, comparable=False, notes=[])
    runs = [record(summary=dead), record(summary=good)]
    tasks = [WorkTask("dead", "qa", runs[0].id), WorkTask("well", "qa", runs[1].id)]
    write_work_folder(store, tmp_path / "w", tasks)
    (path,) = (tmp_path / "w/summary").glob("*.csv")
    head, only = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    line = dict(zip(head, only, strict=True))
    assert (line["metric"], line["dead"], line["well"]) == ("correct", "", "50.00")
    assert (line["dead failed"], line["dead run"]) == ("80", str(runs[0].id))
    assert "no sample gave a score" in path.with_suffix(".txt").read_text(encoding="utf-8")


def test_metrics_that_are_no_shares_are_not_made_percentages(
    store: Store, record: Record, tmp_path: Path
) -> None:
    words = MetricSummary(17.25, 4, 3.0, 1.5, 1.7, 12.0, 22.5, "normal", 12.0, 21.0, None, None)
    run = record(summary=summary(metrics={"words": words}, failed=0, comparable=True, notes=[]))
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", run.id)])
    (table,) = (tmp_path / "w/summary").glob("*.txt")
    assert "words (not in percent)" in table.read_text(encoding="utf-8")
    found = json.loads((tmp_path / "w/results/m/q.json").read_text(encoding="utf-8"))
    assert (found["words"], found["unit"]) == (17.25, "as scored")


def test_equal_names_get_files_of_their_own_and_it_is_said(
    store: Store, record: Record, tmp_path: Path
) -> None:
    first, second, third = record(), record([]), record([])
    tasks = [
        WorkTask("org/m", "data/qa", first.id),
        WorkTask("org/m", "data/qa", second.id),
        WorkTask("org_m", "data_qa_failed", third.id),
        WorkTask("org/m", "data_qa_failed", third.id),
    ]
    write_work_folder(store, tmp_path / "w", tasks)
    found = {
        str(path.relative_to(tmp_path / "w/results")) for path in (tmp_path / "w/results").rglob("*.json")
    }
    assert found == {
        "org_m/data_qa.json", "org_m/data_qa-2.json", "org_m-2/data_qa_failed.json", "org_m/data_qa_failed-2.json",
    }  # fmt: skip
    assert len(lines_of(tmp_path / "w/predictions/org_m/data_qa.jsonl")) == 7
    (table,) = (tmp_path / "w/summary").glob("*.txt")
    text = table.read_text(encoding="utf-8")
    assert f"data/qa on org/m (run {second.id}): the name is taken; its files are called data_qa-2" in text
    assert "data/qa-2" in text


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a/b\\c:d", "a_b_c_d"), ("..", "_"), ("", "_"), ("  spaced  out ", "_spaced_out_"), ("日本 語", "日本_語"),
        ("nul", "nul_"), ("x" * 300, "x" * 120), ("\x1b[2J", "_[2J"), ("half\ud800", "half_"), ("é" * 100, "é" * 60),
    ],
)  # fmt: skip
def test_names_are_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_examples_of_names_hold() -> None:
    assert doctest.testmod(work_folder).failed == 0


def test_upper_and_lower_case_do_not_share_a_file() -> None:
    placed, notes = task_places([WorkTask("M", "QA", 1), WorkTask("m", "qa", 2), WorkTask("M", "qa", 3)])
    assert list(map(str, placed)) == ["M/QA", "m-2/qa", "M/qa-2"]
    assert len(notes) == 1


def test_the_page_is_self_contained_and_escapes_every_name(
    store: Store, record: Record, tmp_path: Path
) -> None:
    evil = '<script>alert("x")</script>'
    run = record(summary=summary(notes=[f"note {evil}"]))
    write_work_folder(store, tmp_path / "w", [WorkTask(evil, f"ds{evil}&amp;", run.id)])
    (path,) = (tmp_path / "w/summary").glob("*.html")
    text = path.read_text(encoding="utf-8")
    assert text.count("<script") == 2, "the data and the script of the page"
    assert not re.search(r"""<[^>]+\s(?:src|href)=""", text)
    data = page_data(text)
    assert (data["lines"][0]["dataset"], data["models"]) == (f"ds{evil}&amp;", [evil])
    assert any(f"note {evil}" in note["text"] for note in data["notes"])
    assert ["request_failed", "request_failed", 1] in data["runs"][0]["outcomes"]
    shown = document_of(path, tmp_path)
    assert shown.count("<script") == 2
    assert "&lt;script&gt;alert" in shown


def test_logs_quote_the_server_and_the_scorer(store: Store, record: Record, tmp_path: Path) -> None:
    refused = ModelReply("failed", failure=RequestFailure("rejected", "HTTP 400: no such model 'x'", 400))
    steps = [
        chat_call(0, 0, refused),
        score(0, 0, {"o": "request_failed", "t": "x", "e": "HTTP 400: no such model 'x'"}),
        chat_call(1, 0, ModelReply("answered", "hm", usage=TokenUsage(3, 1), times=CallTimes.lasting(0.5))),
        score(
            1, 0, {"o": "scorer_failed", "t": "x", "e": "scorer failed at bench.py:7: KeyError: 'q'\x1b[2J"}
        ),
        *every_kind_of_sample()[4:6],
    ]
    run = record([step for step in steps if "/000000002/" not in step[0]])
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", run.id)])
    infer = (tmp_path / "w/logs/infer/m/q.out").read_text(encoding="utf-8")
    evaluated = (tmp_path / "w/logs/eval/m/q.out").read_text(encoding="utf-8")
    assert "row 0/0: HTTP 400: no such model 'x'" in infer
    assert "rejected 1" in infer
    assert "replies: 1, 0.500 s each" in infer
    assert "run.started" in infer
    assert "row 1/0: scorer failed at bench.py:7" in evaluated
    assert "\x1b" not in evaluated
    assert "correct: 0.6 (n 5" in evaluated


def test_failures_that_were_mended_leave_no_file(store: Store, record: Record, tmp_path: Path) -> None:
    bad, good = record(), record([])
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", bad.id)])
    assert (tmp_path / "w/predictions/m/q_failed.jsonl").exists()
    write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", good.id)])
    assert not (tmp_path / "w/predictions/m/q_failed.jsonl").exists()


def test_memory_stays_flat(store: Store, record: Record, tmp_path: Path) -> None:
    text = "words " * 1000
    steps = []
    for index in range(2000):
        steps += [
            chat_call(index, 0, ModelReply("answered", text), text),
            score(index, 0, {"o": "scored", "s": {"correct": True}, "t": "x"}),
        ]
    run = record(steps)
    del steps
    tracemalloc.start()
    try:
        write_work_folder(store, tmp_path / "w", [WorkTask("m", "q", run.id)], details=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "w/predictions/m/q.jsonl").stat().st_size > 24_000_000
    assert peak < 3_000_000


def test_folders_are_made_by_time_and_found_again(tmp_path: Path) -> None:
    work = tmp_path / "outputs"
    first, twin = WorkFolder.make(work, NOON), WorkFolder.make(work, NOON)
    later = WorkFolder.make(work, NOON + 3600)
    assert twin.path.name == f"{first.path.name}_2"
    with pytest.raises(NotFoundError, match="no work folder to reuse"):
        WorkFolder.find(work, None)
    for folder in (first, later):
        folder.record(tmp_path, [WorkTask("m", "d", 3)])
    (work / "zzz").mkdir()
    assert WorkFolder.find(work).path == later.path
    assert WorkFolder.find(work, first.path.name).path == first.path
    with pytest.raises(NotFoundError, match=f"Did you mean .*{first.path.name}"):
        WorkFolder.find(work, first.path.name[:-1] + "9")
    with pytest.raises(NotFoundError, match="has no work folder 'zzz'"):
        WorkFolder.find(work, "zzz")
    for run in ("99", "last"):
        with pytest.raises(
            NotFoundError, match=f"not a run; to score a run again: benchwright rescore {run}"
        ):
            WorkFolder.find(work, run)
    with pytest.raises(NotFoundError):
        WorkFolder.find(tmp_path / "nowhere")


def test_what_a_folder_remembers_is_read_back(tmp_path: Path) -> None:
    tasks = [WorkTask("org/m", "日本.csv", 3), WorkTask("half\ud800", "d", 4)]
    WorkFolder(tmp_path).record(tmp_path / "ws", tasks)
    workspace, known = WorkFolder(tmp_path).recorded()
    assert workspace == tmp_path / "ws"
    assert known == (tasks[0], WorkTask("half?", "d", 4))
    (tmp_path / "runs.json").write_text('{"tasks": 7}', encoding="utf-8")
    with pytest.raises(UsageError, match=r"runs\.json cannot be read"):
        WorkFolder(tmp_path).recorded()
    (tmp_path / "runs.json").unlink()
    with pytest.raises(NotFoundError, match=r"it has no runs\.json"):
        WorkFolder(tmp_path).recorded()


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="--work-dir"):
        WorkFolder.make(tmp_path / "outputs")
