"""The files of a load test: the same figures everywhere, nothing invented, and the names that AISBench's readers expect."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from load_tests import conversations, open_loop, sweep, view_of
from tests.perf.made_records import read_request_file

from benchwright.core import LoadFile, open_artifacts
from benchwright.perf import LATENCIES, METRICS, LoadSummary, summarise
from benchwright.reports import write_load_files

pytestmark = pytest.mark.usefixtures("any_place")


def requests_file(folder: Path) -> io.BytesIO:
    return io.BytesIO(open_artifacts(folder).read(LoadFile.REQUESTS))


def text(folder: Path, name: str) -> str:
    return open_artifacts(folder).read(name).decode()


def test_files_say_the_same(tmp_path: Path) -> None:
    view, requests = view_of(sweep(), tmp_path)
    assert sorted(write_load_files(view, requests)) == sorted(LoadFile)
    assert open_artifacts(tmp_path).names() == sorted(LoadFile)
    written = json.loads(text(tmp_path, LoadFile.SUMMARY))
    assert LoadSummary.from_json(written) == view.summary
    assert summarise(read_request_file(requests_file(tmp_path)), view.settings).stages[0].metrics == view.summary.stages[0].metrics  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(text(tmp_path, LoadFile.TABLE), newline="")))
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
    stage = json.loads(text(tmp_path, LoadFile.SUMMARY))["stages"][0]
    rows = list(csv.DictReader(io.StringIO(text(tmp_path, LoadFile.TABLE), newline="")))
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
    stage = json.loads(text(tmp_path, LoadFile.SUMMARY))["stages"][0]
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
    for name in write_load_files(view, requests, format="aisbench"):
        assert b"sk-12345" not in open_artifacts(tmp_path).read(name)


def test_aisbench_files_have_its_names_shapes_and_units(tmp_path: Path) -> None:
    view, requests = view_of(open_loop(), tmp_path)
    write_load_files(view, requests, format="aisbench")
    folder = "performances/org_my-model"
    assert open_artifacts(tmp_path).names(folder) == [
        f"{folder}/{name}"
        for name in ("my_qa.csv", "my_qa.json", "my_qa_details.jsonl", "my_qa_failed.jsonl")
    ]
    table = list(csv.reader(io.StringIO(text(tmp_path, f"{folder}/my_qa.csv"), newline="")))
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
    whole = json.loads(text(tmp_path, f"{folder}/my_qa.json"))
    assert whole["Total Requests"] == {"total": "1000"}
    assert whole["Total Generated Tokens"] == {"total": "16000"}
    assert whole["Max Concurrency"] == {"total": "8"}
    assert whole["Request Throughput"]["total"].endswith(" req/s")
    assert whole["Benchmark Duration"]["total"].endswith(" ms")
    lines = [json.loads(line) for line in text(tmp_path, f"{folder}/my_qa_details.jsonl").splitlines()]
    assert len(lines) == 1000
    assert len(lines[0]["time_points"]) == 17
    assert text(tmp_path, f"{folder}/my_qa_failed.jsonl") == ""


def test_aisbench_files_of_a_sweep_are_one_set_per_level_with_failures_apart(tmp_path: Path) -> None:
    view, requests = view_of(sweep(), tmp_path)
    paths = write_load_files(view, requests, format="aisbench")
    names = {name.rpartition("/")[2] for name in paths}
    assert {"my_qa_1_in_flight.csv", "my_qa_16_in_flight.json"} <= names
    failures = text(tmp_path, "performances/org_my-model/my_qa_16_in_flight_failed.jsonl")
    lines = [json.loads(line) for line in failures.splitlines()]
    assert len(lines) == 15
    assert all(not line["success"] and line["error_info"].startswith("503") for line in lines)


@pytest.mark.parametrize("made", [sweep(), open_loop()], ids=["sweep", "open"])
def test_requests_are_all_in_the_file_in_the_order_of_the_plan(made, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    view, requests = view_of(made, tmp_path)
    write_load_files(view, requests)
    numbers = pq.read_table(requests_file(tmp_path))["number"].to_pylist()
    assert numbers == list(range(len(made[0])))
