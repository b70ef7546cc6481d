"""Every view of every kind of run gives the same counts and values: files, tables, JSON, REST, compare, export, gates."""

from __future__ import annotations

import csv
import http.client
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
import yaml

from benchwright.cli import main
from benchwright.core import RunKind
from benchwright.server import serving
from benchwright.store import Workspace
from browser import page_data
from recording_server import RecordingServer, Refusal, recording
from waiting import PATIENCE_S

BENCHMARKS = """
from benchwright import benchmark, judge_panel, scorer

COMMON = dict(dataset="rows.jsonl", prompt="{question}", target_field="answer")

@benchmark(name="plain", **COMMON)
@scorer
def plain(sample):
    if sample.metadata["question"] == "odd":
        raise RuntimeError("no score")
    return {"correct": sample.response == sample.target, "length": len(sample.response) / 8}

@benchmark(name="panel", extra={f"judge_{n}": {"url": "URL", "model_id": f"judge-{n}", "max_retries": 0} for n in (1, 2, 3)},
           **COMMON)
@scorer
def panel(sample):
    return judge_panel(sample, quorum=3)
"""
QUESTIONS = ["right", "wrong", "fail", "odd", "right too"]
TOOL = {"type": "function", "function": {"name": "f", "description": "Does it.", "parameters": {
    "type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}}}  # fmt: skip


def answer(body: dict[str, Any]) -> str | dict[str, Any]:
    asked = str(body["messages"][-1]["content"])
    if body["model"].startswith("judge"):
        if body["model"] == "judge-3" and "odd" in asked:
            raise Refusal("no grade")
        right = re.search(r"Answer to grade:\s*fine", asked) or body["model"] == "judge-2"
        return "GRADE: C" if right else "GRADE: I"
    if "fail" in asked:
        raise Refusal("no")
    if "tools" in body:
        called = {"name": "f", "arguments": json.dumps({"k": "v" if "right" in asked else "w"})}
        return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": called}]}
    return "fine" if "right" in asked else "bad"


class Case(NamedTuple):
    """A run, and what every view must say of it."""

    kind: RunKind
    words: list[str]
    outcomes: dict[str, int]
    values: dict[str, float]
    """Metrics; of a load test, the scores of its replies."""
    failed: int
    threshold: str = "correct"


FILES = ["--reports", "run_eval", "--skip-bad-rows", "--failure-threshold", "1", "--no-cache"]
QA = dict.fromkeys(("normalised_exact", "contains", "contains_word", "exact", "f1"), 0.5)
CASES = {
    "failures and skipped rows": Case(
        RunKind.BENCHMARK, ["run", "bench.py:plain", *FILES],
        {"scored": 3, "request_failed": 1, "scorer_failed": 1, "skipped": 1}, {"correct": 2 / 3, "length": 11 / 24}, 3,
    ),
    "function calling": Case(
        RunKind.BENCHMARK, ["run", "bfcl_simple", "--tool-data", "calls.jsonl", *FILES],
        {"scored": 4, "request_failed": 1}, {"correct": 0.5, "parsed": 1.0, "simple": 0.5}, 1,
    ),
    "panel of judges": Case(
        RunKind.BENCHMARK, ["run", "bench.py:panel", *FILES],
        {"scored": 3, "request_failed": 1, "scorer_failed": 1, "skipped": 1},
        {"judge_score": 2 / 3, "judges_agree": 2 / 3, "score_of_judge_1": 2 / 3, "score_of_judge_2": 1.0,
         "score_of_judge_3": 2 / 3}, 3, "judge_score",
    ),
    "suite": Case(
        RunKind.BENCHMARK, ["run", "suite.json", "--failure-threshold", "1", "--no-cache"],
        {"scored": 4, "request_failed": 1}, QA, 1, "exact",
    ),
    "load test": Case(
        RunKind.LOAD, ["perf", "qa.jsonl", "--no-stream", "--score", "--max-error-share", "1", "--stop-error-share", "1"],
        {"ok": 4, "http_4xx": 1}, QA, 1,
    ),
}  # fmt: skip
ELSEWHERE = {RunKind.WORKFLOW: "promises/test_workflow_commands.py"}
"""Kinds whose views have tests of their own: they have steps in place of samples."""


def test_every_kind_of_run_has_a_case() -> None:
    assert {case.kind for case in CASES.values()} | set(ELSEWHERE) == set(RunKind)
    for path in ELSEWHERE.values():
        assert "test_lists_and_views" in (Path(__file__).parents[1] / path).read_text(encoding="utf-8")


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_data(url: str) -> None:
    Path("bench.py").write_text(BENCHMARKS.replace("URL", url), encoding="utf-8")
    rows: list[dict[str, Any]] = [{"question": text, "answer": "fine"} for text in QUESTIONS]
    Path("qa.jsonl").write_text(lines(rows), encoding="utf-8")
    Path("rows.jsonl").write_text(
        lines([*rows, {"answer": "of a row that cannot be asked"}]), encoding="utf-8"
    )
    calls = [
        {"messages": [{"role": "user", "content": text}], "tools": [TOOL],
         "tool_calls_ground_truth": [{"name": "f", "arguments": {"k": "v"}}]}
        for text in QUESTIONS
    ]  # fmt: skip
    Path("calls.jsonl").write_text(lines(calls), encoding="utf-8")
    model = {"name": "a", "url": url, "model_id": "m", "max_retries": 0}
    Path("suite.json").write_text(json.dumps({"models": [model], "datasets": ["qa.jsonl"]}), encoding="utf-8")


class Done(NamedTuple):
    """A case that was run twice."""

    case: Case
    ids: tuple[int, int]
    printed: str
    """What the first run printed."""
    told: dict[str, Any]
    """What the second said as JSON."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, RecordingServer]]:
    folder = tmp_path_factory.mktemp("every view")
    with pytest.MonkeyPatch.context() as patch, recording(answer) as server:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        patch.setattr("sys.dont_write_bytecode", True)
        write_data(server.url)
        yield folder, server


@pytest.fixture(scope="module", params=CASES)
def done(request: pytest.FixtureRequest, workspace: tuple[Path, RecordingServer]) -> Done:
    from contextlib import redirect_stdout

    case = CASES[request.param]
    server = workspace[1]
    model = [] if "suite.json" in case.words else ["--model-url", server.url, "--model-id", "m"]
    model += ["--max-retries", "0"] if case.kind != RunKind.LOAD and model else []
    printed, told = io.StringIO(), io.StringIO()
    with redirect_stdout(printed):
        assert main([*case.words, *model, "-q"]) == 0
    with redirect_stdout(told):
        assert main([*case.words, *model, "-q", "--json"]) == 0
    (result,) = json.loads(told.getvalue())["results"]
    number = int((result.get("run") or result)["id"])
    return Done(case, (number - 1, number), printed.getvalue(), result)


@pytest.fixture
def spoken(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def speak(*words: str) -> Any:
        capsys.readouterr()
        main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    return speak


def happened(outcomes: dict[str, int] | None) -> dict[str, int]:
    return {name: count for name, count in (outcomes or {}).items() if count}


def approx(values: dict[str, float]) -> Any:
    return pytest.approx(values, abs=1e-6)


def folder_of(run: int) -> Path:
    (found,) = Path(".benchwright/runs").glob(f"{run:04d}-*")
    return found


def rest_of(run: int) -> Any:
    with serving(Workspace(Path.cwd())) as (address, _):
        connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
        connection.request("GET", f"/runs/{run}", headers={"Authorization": f"Bearer {address.token}"})
        found = json.loads(connection.getresponse().read())
        connection.close()
    return found.get("run", found)


def test_as_json(done: Done, spoken: Callable[..., Any]) -> None:
    """The result of `run` in Python, as JSON, `show`, `list` and REST have the same counts and metrics."""
    case, run = done.case, done.ids[1]
    shown, listed, rest = spoken("show", str(run)), spoken("list")["runs"], rest_of(run)
    first = done.told.get("run") or done.told
    (in_list,) = [each for each in listed if each["id"] == run]
    for each in (first, shown["run"], in_list, rest):
        assert happened(each["outcomes"]) == case.outcomes
        assert (each["evaluated"], each["failed"]) == (sum(case.outcomes.values()), case.failed)
        assert each["metrics"] == first["metrics"]
    for summary in (done.told["summary"], shown["summary"], rest["summary"]):
        if case.kind == RunKind.LOAD:
            (stage,) = summary["stages"]
            assert stage["outcomes"] == case.outcomes
            assert {name: score["mean"] for name, score in stage["scores"].items()} == approx(case.values)
        else:
            assert happened(summary["outcomes"]) == case.outcomes
            found = {name: metric["value"] for name, metric in summary["metrics"].items()}
            assert found == first["metrics"] == approx(case.values)


def test_in_files(done: Done) -> None:
    case, folder = done.case, folder_of(done.ids[1])
    if case.kind == RunKind.LOAD:
        table = pq.read_table(folder / "requests.parquet").to_pylist()
        assert Counter(row["outcome"] for row in table) == case.outcomes
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        assert [stage["outcomes"] for stage in summary["stages"]] == [case.outcomes]
        assert (summary["evaluated"], summary["failed"]) == (len(table), case.failed)
        figures = list(csv.DictReader(io.StringIO((folder / "summary.csv").read_text(encoding="utf-8"))))
        (share,) = [row["value"] for row in figures if row["figure"] == "error_share"]
        assert float(share) == case.failed / sum(case.outcomes.values())
        return
    (task,) = yaml.safe_load((folder / "results.yml").read_text(encoding="utf-8"))["results"][
        "tasks"
    ].values()
    scores = task["metrics"]["pass@1"]["scores"]
    assert {name: score["value"] for name, score in scores.items()} == approx(case.values)
    assert happened(task["outcomes"]) == case.outcomes
    assert (task["samples"]["evaluated"], task["samples"]["failed"]) == (
        sum(case.outcomes.values()),
        case.failed,
    )
    assert_of_samples(case, pq.read_table(folder / "samples.parquet").to_pylist())
    if "run_eval" in case.words:
        stats = json.loads((folder / "eval_factory_metrics.json").read_text(encoding="utf-8"))[
            "response_stats"
        ]
        skipped = case.outcomes.get("skipped", 0)
        assert stats["count"] == sum(case.outcomes.values()) - skipped
        assert stats["successful_count"] == stats["count"] - case.outcomes["request_failed"]


def assert_of_samples(case: Case, rows: list[dict[str, Any]]) -> None:
    """Counts and means that anybody can compute from the samples. A category's own metric is not in them."""
    assert Counter(row["outcome"] for row in rows) == case.outcomes
    for name, value in case.values.items():
        found = [float(row[f"score.{name}"]) for row in rows if row.get(f"score.{name}") not in (None, "")]
        assert not found or sum(found) / len(found) == pytest.approx(value), name
        assert found or name == "simple"


def test_on_the_terminal(done: Done, capsys: pytest.CaptureFixture[str]) -> None:
    case, run = done.case, done.ids[0]
    capsys.readouterr()
    main(["show", str(run)])
    shown = capsys.readouterr().out
    for text in (done.printed, shown):
        plain = " ".join(text.split())
        for name, value in case.values.items():
            folded = re.search(rf"\bequal [^·]*?\b{name}\b", plain)
            shown_as = r"\w+" if folded else name
            assert re.search(rf"\b{shown_as} {value:.4f}\b", plain), name
        if case.kind == RunKind.LOAD:
            assert f"{case.failed} of {sum(case.outcomes.values())} requests failed" in plain
        else:
            assert all(f"{name} {count}" in plain for name, count in case.outcomes.items())
    main(["list"])
    row = re.split(rf"^\s*{run}  ", capsys.readouterr().out, flags=re.MULTILINE)[1]
    row = re.split(r"^\s*\d+  ", row, flags=re.MULTILINE)[0]
    assert {
        name: int(count)
        for count, name in re.findall(r"\b(\d+) ([a-z_0-9]+)\b", row)
        if name in case.outcomes
    } == case.outcomes


def test_compared_with_an_equal_run(done: Done, spoken: Callable[..., Any]) -> None:
    case = done.case
    told = spoken("compare", *map(str, done.ids))
    for side in ("a", "b"):
        assert happened(told[f"run_{side}"]["outcomes"]) == case.outcomes
        assert told[f"run_{side}"]["failed"] == case.failed
    if case.kind != RunKind.LOAD:
        found = {metric["name"]: metric["run_a"] for metric in told["metrics"]}
        assert {name: value[0] for name, value in found.items()} == approx(case.values)
        assert all(metric["direction"] == "same" for metric in told["metrics"])
        assert told["input_comparison"]["same"] is True


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_exported(done: Done, ending: str, tmp_path: Path) -> None:
    case, path = done.case, tmp_path / f"out.{ending}"
    assert main(["export", str(done.ids[1]), "-o", str(path)]) == 0
    if ending == "parquet":
        rows = pq.read_table(path).to_pylist()
    elif ending == "csv":
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            scores = row.get("scores") or {}
            scores = json.loads(scores) if isinstance(scores, str) else scores
            row |= {f"score.{name}": value for name, value in scores.items()}
    assert Counter(row["outcome"] for row in rows) == case.outcomes
    if case.kind != RunKind.LOAD:
        assert_of_samples(case, rows)


def test_judged_by_a_gate(done: Done, spoken: Callable[..., Any], tmp_path: Path) -> None:
    case, total = done.case, sum(done.case.outcomes.values())
    rules = f'[[threshold]]\nmetric = "{case.threshold}"\nmin = 0.01\nbound = "value"\n[[failures]]\nmax = 1.0\nbound = "value"\n'
    if case.kind == RunKind.LOAD:
        rules = '[[load]]\nfigure = "error_share"\nmax = 1.0\n'
    (tmp_path / "policy.toml").write_text(rules, encoding="utf-8")
    files = [f"--junit={tmp_path}/gate.xml", f"--markdown={tmp_path}/gate.md"]
    told = spoken("gate", str(done.ids[1]), "--policy", str(tmp_path / "policy.toml"), *files)
    assert told["verdict"] == "GO"
    first, *others = told["rows"]
    assert (first["reason"], first["n"]) == (f"{case.failed} of {total} failed", total)
    observed = [row["observed"] for row in others]
    share = case.failed / total
    expected = [share] if case.kind == RunKind.LOAD else [case.values[case.threshold], share]
    assert observed == pytest.approx(expected)
    for name in ("gate.xml", "gate.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert f"{case.failed} of {total} failed" in text
        assert all(f"{value:.4g}" in text for value in expected), name


def test_on_pages(done: Done) -> None:
    case = done.case
    if "suite.json" in case.words:
        path = sorted(Path("outputs").rglob("summary_*.html"))[-1]
    else:
        path = folder_of(done.ids[1]) / "report.html"
    text = path.read_text(encoding="utf-8")
    data = page_data(text)
    if case.kind == RunKind.LOAD:
        assert f"{case.failed} of {sum(case.outcomes.values())} requests failed" in text
        (stage,) = data["summary"]["stages"]
        assert {name: stage["scores"][name]["mean"] for name in case.values} == pytest.approx(
            case.values, abs=1e-4
        )
    elif "suite.json" in case.words:
        (line,) = data["lines"]
        (cell,) = line["models"].values()
        assert cell["value"] == pytest.approx(case.values["normalised_exact"])
        assert (cell["failed"], cell["samples"]) == (case.failed, sum(case.outcomes.values()))
        (run,) = data["runs"]
        assert {name: count for name, _, count in run["outcomes"] if count} == {
            name: count for name, count in case.outcomes.items() if count
        }
    else:
        assert {name: count for name, _, count in data["outcomes"] if count} == {
            name: count for name, count in case.outcomes.items() if count
        }
        shown = {row["name"]: row["value"] for row in data["metrics"]}
        equal, _, headline = data["equal"].partition(": the same as ")
        shown |= {name: shown[headline] for name in equal.split(", ") if headline}
        assert {name: shown[name] for name in case.values} == pytest.approx(case.values)
        assert len(data["samples"]) == sum(case.outcomes.values())
        assert data["counts"].get("failed", 0) == case.failed


def test_load_tests_that_sent_something_else_are_not_called_the_same(
    workspace: tuple[Path, RecordingServer], spoken: Callable[..., Any]
) -> None:
    url = workspace[1].url
    rows = Path("qa.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("fewer.jsonl").write_text("".join(rows[:2]), encoding="utf-8")
    model = ["--model-url", url, "--model-id", "m", "--no-stream", "--requests", "2", "-q"]
    numbers = []
    for words in (
        ["fewer.jsonl"],
        ["fewer.jsonl", "--temperature", "0.5", "--header", "X-Team=red"],
        ["qa.jsonl"],
    ):
        (result,) = spoken("perf", *words, *model)["results"]
        numbers.append(str(result["run"]["id"]))
    first, warmer, other = numbers
    changed = spoken("compare", first, warmer)
    assert {each["path"] for each in changed["input_comparison"]["differences"]} == {
        "$.generation.temperature",
        "$.model.headers",
    }
    assert changed["warning"] is None
    assert "different data" in spoken("compare", first, other)["warning"]
    rule = '[[regression]]\nmetric = "error_share"\nmargin = 1.0\nbound = "value"\n'
    Path("load.toml").write_text(rule, encoding="utf-8")
    for run, said in ((warmer, "generation.temperature 0.0 → 0.5"), (other, "rows of other data")):
        judged = spoken("gate", run, "--policy", "load.toml", "--baseline", first)
        assert said in judged["rows"][1]["reason"]
        assert judged["verdict"] != "GO"
