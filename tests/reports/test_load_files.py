"""The files of a load test: the same figures everywhere, nothing invented, and the names that AISBench's readers expect."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from load_tests import conversations, open_loop, sweep, view_of
from tests.perf.made_records import read_request_file

from benchwright.core import LoadFile
from benchwright.perf import LATENCIES, METRICS, LoadSummary, summarise
from benchwright.reports import write_load_files


def test_files_say_the_same(tmp_path: Path) -> None:
    view, requests = view_of(sweep(), tmp_path)
    paths = write_load_files(view, requests)
    assert sorted(path.name for path in paths) == sorted(LoadFile)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(LoadFile)
    written = json.loads((tmp_path / LoadFile.SUMMARY).read_text())
    assert LoadSummary.from_json(written) == view.summary
    assert summarise(read_request_file(tmp_path / LoadFile.REQUESTS), view.settings).stages[0].metrics == view.summary.stages[0].metrics  # fmt: skip
    with (tmp_path / LoadFile.TABLE).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["stage"], row["figure"]) for row in rows] == [
        (str(stage), metric.key)
        for stage in range(3)
        for metric in sorted(METRICS.values(), key=lambda metric: metric.values is not None)
    ]
    for row in rows:
        stage = written["stages"][int(row["stage"])]
        value = stage[row["figure"]]
        if isinstance(value, dict):
            assert {name: float(row[name]) for name in ("n", "mean", "p1", "p50", "p99.9", "max")} == {
                name: value[name] for name in ("n", "mean", "p1", "p50", "p99.9", "max")
            }
        else:
            assert row["value"] == ("" if value is None else str(value))
            assert row["mean"] == ""


def test_the_table_has_the_headline_times_of_turns_and_servers(tmp_path: Path) -> None:
    view, requests = view_of(conversations(), tmp_path)
    write_load_files(view, requests)
    stage = json.loads((tmp_path / LoadFile.SUMMARY).read_text())["stages"][0]
    with (tmp_path / LoadFile.TABLE).open(newline="") as file:
        rows = list(csv.DictReader(file))
    whole = [row["figure"] for row in rows if not row["group"]]
    assert len(whole) == len(set(whole)) == len(METRICS)
    given = {(row["group"], row["figure"]): row for row in rows if row["group"]}
    groups = {group["label"]: group for group in (*stage["by_turn"], *stage["by_url"])}
    assert [*groups] == ["turn 1", "turn 2", "turn 3", *view.settings.urls]
    assert {*given} == {(label, METRICS[name].key) for label in groups for name in LATENCIES}
    for (label, key), row in given.items():
        expected = groups[label][key]
        assert (int(row["n"]), float(row["value"]), float(row["p99"])) == (
            expected["n"], expected["mean"], expected["p99"],
        )  # fmt: skip


def test_units_stand_in_keys_and_numbers_stay_numbers(tmp_path: Path) -> None:
    view, requests = view_of(open_loop(), tmp_path)
    write_load_files(view, requests)
    stage = json.loads((tmp_path / LoadFile.SUMMARY).read_text())["stages"][0]
    for key in ("ttft_ms", "e2e_planned_ms", "itl_ms"):
        assert isinstance(stage[key]["p99"], float)
    for key in (
        "duration_s",
        "request_throughput_per_s",
        "output_throughput_tokens_per_s",
        "mean_concurrency",
    ):
        assert isinstance(stage[key], float)
    for metric in METRICS.values():
        assert (stage[metric.key] is None) == (metric.key in stage["absent"]), metric.key


def test_no_file_has_a_secret(tmp_path: Path) -> None:
    view, requests = view_of(open_loop(200), tmp_path)
    for path in write_load_files(view, requests, format="aisbench"):
        assert b"sk-12345" not in path.read_bytes()


def test_aisbench_files_have_its_names_shapes_and_units(tmp_path: Path) -> None:
    view, requests = view_of(open_loop(), tmp_path)
    write_load_files(view, requests, format="aisbench")
    folder = tmp_path / "performances" / "org_my-model"
    assert sorted(path.name for path in folder.iterdir()) == [
        "my_qa.csv", "my_qa.json", "my_qa_details.jsonl", "my_qa_failed.jsonl",
    ]  # fmt: skip
    with (folder / "my_qa.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == [
        "Performance Parameters",
        "Stage",
        "Average",
        "Min",
        "Max",
        "Median",
        "P75",
        "P90",
        "P99",
        "N",
    ]
    rows = {row[0]: row[1:] for row in table[1:]}
    assert list(rows) == [
        "E2EL", "TTFT", "TPOT", "ITL", "InputTokens", "OutputTokens", "OutputTokenThroughput", "PrefillTokenThroughput",
    ]  # fmt: skip
    assert rows["TTFT"] == ["total", *["50 ms"] * 7, "1000"]
    assert rows["InputTokens"][1] == "100"
    assert rows["OutputTokenThroughput"][1].endswith(" token/s")
    whole = json.loads((folder / "my_qa.json").read_text())
    assert whole["Total Requests"] == {"total": "1000"}
    assert whole["Total Generated Tokens"] == {"total": "16000"}
    assert whole["Max Concurrency"] == {"total": "8"}
    assert whole["Request Throughput"]["total"].endswith(" req/s")
    assert whole["Benchmark Duration"]["total"].endswith(" ms")
    lines = [json.loads(line) for line in (folder / "my_qa_details.jsonl").read_text().splitlines()]
    assert len(lines) == 1000
    assert len(lines[0]["time_points"]) == 17
    assert (folder / "my_qa_failed.jsonl").read_text() == ""


def test_aisbench_files_of_a_sweep_are_one_set_per_level_with_failures_apart(tmp_path: Path) -> None:
    view, requests = view_of(sweep(), tmp_path)
    paths = write_load_files(view, requests, format="aisbench")
    names = {path.name for path in paths}
    assert {"my_qa_1_in_flight.csv", "my_qa_16_in_flight.json"} <= names
    failures = (tmp_path / "performances" / "org_my-model" / "my_qa_16_in_flight_failed.jsonl").read_text()
    lines = [json.loads(line) for line in failures.splitlines()]
    assert len(lines) == 15
    assert all(not line["success"] and line["error_info"].startswith("503") for line in lines)


@pytest.mark.parametrize("made", [sweep(), open_loop()], ids=["sweep", "open"])
def test_requests_are_all_in_the_file_in_the_order_of_the_plan(made, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    view, requests = view_of(made, tmp_path)
    write_load_files(view, requests)
    numbers = pq.read_table(tmp_path / LoadFile.REQUESTS)["number"].to_pylist()
    assert numbers == list(range(len(made[0])))
