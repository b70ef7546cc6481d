"""`rescore`, `export` and `show --unparsed` from start to end."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warm
from benchwright.cli import main
from benchwright.demo import DemoSettings, demo_server
from benchwright.engine import _perform
from benchwright.store import Workspace, open_store
from stored_workflows import created_workflow

QUIZ = 'question,A,B,C,answer,topic\nq1,Paris,London,Rome,B,"geo\ngraphy"\nq2,red,green,blue,C,colours\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["init"]) == 0
    (tmp_path / "quiz.csv").write_text(QUIZ, encoding="utf-8")
    capsys.readouterr()
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> tuple[int, str]:
        code = main(list(words))
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run


@pytest.fixture
def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> Any:
        main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    return run


def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **keywords: Any) -> Any:
        raise AssertionError("the model's endpoint was opened")

    monkeypatch.setattr(_perform, "open_endpoint", refuse)


def test_a_mended_scorer_changes_the_number_for_nothing(
    folder: Path, said: Any, json_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = json_of("run", "my_bench.py")["results"][0]
    no_model(monkeypatch)
    bench = folder / "my_bench.py"
    bench.write_text(bench.read_text().replace("reply == sample.target", "bool(reply)"), encoding="utf-8")
    code, shown = said("rescore", "last")
    assert code == 0
    assert "rescored from run 1: no model was called" in shown
    assert "12 replies from earlier runs" in shown
    again = json_of("rescore", "1")["results"][0]
    assert (
        again["summary"]["metrics"]["correct"]["value"]
        == 1.0
        > first["summary"]["metrics"]["correct"]["value"]
    )
    assert (again["requests_sent"], again["from_cache"]) == (0, 12)


def test_lists_and_views_say_where_replies_come_from(said: Any, json_of: Any) -> None:
    said("run", "my_bench.py")
    said("rescore", "1")
    assert "completed, rescored from 1" in " ".join(said("list")[1].split())
    shown = " ".join(said("show", "2")[1].split())
    assert "from the replies of run 1" in shown
    assert "benchwright rescore 1 --parallelism 16" in shown
    assert [run["rescored_from"] for run in json_of("list")["runs"]] == [1, None]


@pytest.fixture
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `CI` is set, runs use no cache, and their commands say so."""
    monkeypatch.delenv("CI", raising=False)


@pytest.mark.usefixtures("outside_ci")
def test_the_recorded_command_scores_again(said: Any, json_of: Any) -> None:
    said("run", "my_bench.py", "--limit", "5", "--repeats", "2", "--temperature", "1")
    said("rescore", "1", "--limit", "3", "--pass-k", "1")
    command = json_of("show", "2")["command"]
    assert command == "benchwright rescore 1 --limit 3 --pass-k 1 --parallelism 16"
    assert said(*command.split()[1:])[0] == 0
    said("rescore", "1", "--target", "my_bench.py")
    command = json_of("show", "last")["command"]
    assert command == "benchwright rescore 1 --target my_bench.py:my_bench --limit 5 --parallelism 16"
    assert said(*command.split()[1:])[0] == 0


@pytest.mark.usefixtures("outside_ci")
def test_the_recorded_command_of_questions_names_the_rules(said: Any, json_of: Any) -> None:
    shown = said("run", "quiz.csv", "--prompt-style", "aisbench", "--mode", "infer")[1]
    assert "1 completed (score it: benchwright rescore 1)" in shown
    asked = json_of("show", "1")["command"]
    assert "--mode infer --prompt-style aisbench" in asked
    said("rescore", "1", "--mcq-fallback", "aisbench")
    command = json_of("show", "2")["command"]
    assert command == "benchwright rescore 1 --mcq-fallback aisbench --parallelism 16"
    assert said(*command.split()[1:])[0] == 0
    assert json_of("show", "3")["summary"] == json_of("show", "2")["summary"]
    assert said(*asked.split()[1:])[0] == 0
    assert json_of("list")["runs"][0]["metrics"] == {}


def test_what_was_never_asked_is_not_offered_to_be_asked_again(folder: Path, said: Any) -> None:
    said("run", "my_bench.py", "--limit", "11")
    code, shown = said("rescore", "1", "--limit", "12")
    assert code == 3
    assert "2 completed (benchwright show 2 --failed)" in shown
    assert "no reply in run 1" in said("show", "2", "--failed")[1]


def test_flags_that_would_ask_otherwise_are_not_offered(said: Any) -> None:
    said("run", "my_bench.py", "--limit", "2")
    code, shown = said("rescore", "last", "--temperature", "1")
    assert code == 2
    assert "unknown option --temperature: run has it, benchwright rescore does not" in shown
    assert said("rescore", "7")[0] == 4
    code, shown = said("run", "quiz.csv", "--mode", "perf", "--requests", "5")
    assert code == 2
    assert "unknown option --requests: perf has it, benchwright run does not" in shown


def test_other_rules_for_a_file_of_questions(
    said: Any, json_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = json_of("run", "quiz.csv")["results"][0]
    no_model(monkeypatch)
    again = json_of("rescore", "last", "--mcq-fallback", "levenshtein")["results"][0]
    assert again["summary"]["headline"] == first["summary"]["headline"] == "accuracy"
    code, shown = said("rescore", "1", "--qa-metric", "contains")
    assert code == 2
    assert "only qa files" in shown


@pytest.mark.parametrize("words", [(), ("--format", "jsonl"), ("-o", "out.jsonl")])
def test_samples_go_to_a_file_of_json_lines(folder: Path, said: Any, words: tuple[str, ...]) -> None:
    said("run", "quiz.csv")
    code, shown = said("export", "last", *words)
    path = folder / ("out.jsonl" if "-o" in words else "quiz-1.jsonl")
    assert code == 0
    assert f"wrote 2 samples of run 1 to {path.name}" in shown
    samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(sample["sample_id"], sample["target"]) for sample in samples] == [(0, "B"), (1, "C")]
    assert samples[0]["row"]["topic"] == "geo\ngraphy", "columns that nobody asked about are kept"
    assert "method" in samples[0]["scores"]


def test_samples_as_csv_on_standard_output(said: Any, capsys: pytest.CaptureFixture[str]) -> None:
    said("run", "quiz.csv")
    assert main(["export", "1", "--format", "csv", "-o", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out, newline="")))
    assert [row["target"] for row in rows] == ["B", "C"]
    assert rows[0]["success"] == "true"
    assert float(rows[0]["score.accuracy"]) in (0.0, 1.0)
    assert json.loads(rows[0]["row"])["topic"] == "geo\ngraphy"


def test_samples_as_parquet(folder: Path, said: Any, json_of: Any) -> None:
    import pyarrow.parquet as pq

    said("run", "quiz.csv")
    told = json_of("export", "1", "-o", "s.parquet")
    assert told == {"file": "s.parquet", "format": "parquet", "samples": 2}
    run = next(iter((folder / ".benchwright/runs").iterdir()))
    assert pq.read_table(folder / "s.parquet").equals(pq.read_table(run / "samples.parquet"))
    assert said("export", "1", "--format", "parquet", "-o", "-")[0] == 2


def test_mistakes_in_exports_are_told(folder: Path, said: Any) -> None:
    assert said("export", "1")[0] == 4
    said("run", "quiz.csv")
    code, shown = said("export", "1", "-o", "no/such/folder/x.jsonl")
    assert code == 2
    assert "choose another with -o FILE" in shown
    code, shown = said("export", "1", "--format", "jsn")
    assert code == 2
    assert "Did you mean 'jsonl'" in shown


def test_a_closed_pipe_ends_the_export_quietly(folder: Path, said: Any) -> None:
    said("run", "my_bench.py", "--repeats", "200")
    export = [sys.executable, "-m", "benchwright", "export", "1", "-o", "-"]
    with warm.Popen(export, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr is not None
        complaint = child.stderr.read()
    assert (complaint, child.returncode) == (b"", 0)


def test_replies_without_an_answer_are_listed(folder: Path, said: Any, json_of: Any) -> None:
    bench = folder / "my_bench.py"
    text = bench.read_text().replace(
        '{"correct": reply == sample.target}', '{"correct": False, "parsed": sample.target != "54"}'
    )
    bench.write_text(text, encoding="utf-8")
    said("run", "my_bench.py")
    code, shown = said("show", "last", "--unparsed")
    assert code == 0
    assert "What is 43 + 11?" in shown
    assert "What is 8 - 6?" not in shown
    for flags in (["--unparsed"], ["--outcome", "unparsed"], ["--wrong", "--outcome", "unparsed"]):
        assert [sample["sample_id"] for sample in json_of("show", "last", *flags)["samples"]] == [0]
    assert 0 not in [
        sample["sample_id"] for sample in json_of("show", "last", "--outcome", "scored")["samples"]
    ]
    assert said("show", "last", "--outcome", "scord")[0] == 2
    assert "give one of them" in said("show", "last", "--unparsed", "--outcome", "scored")[1]
    said("run", "quiz.csv", "--model", "demo")
    said("rescore", "1", "--limit", "1")
    bench.write_text(text.replace('sample.target != "54"', "True"), encoding="utf-8")
    said("rescore", "1")
    assert "every reply has a readable answer" in said("show", "last", "--unparsed")[1]


def test_k_is_checked_against_the_repeats(said: Any) -> None:
    code, shown = said("run", "my_bench.py", "--repeats", "2", "--pass-k", "3")
    assert code == 2
    assert "--pass-k is 3, and each row is sent 2 times; expected 1 to 2" in shown
    assert said("run", "my_bench.py", "--pass-k", "0")[0] == 2
    assert said("run", "my_bench.py", "--pass-k", "1.5")[0] == 2
    code, shown = said("run", "my_bench.py", "--repeats", "3", "--pass-k", "2", "--temperature", "1")
    assert code == 0
    for figure in ("pass@2", "pass^2", "cons@2"):
        assert figure in shown
    assert "avg@3" not in shown, "the mean stands there already"


def test_scoring_later_needs_no_server_not_even_for_the_name_of_its_model(folder: Path, said: Any) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        (folder / "benchwright.toml").write_text(
            f'[models.local]\nprofile = "vllm_api_general_chat"\nbase_url = "{server.url}"\n',
            encoding="utf-8",
        )
        words = ("run", "--models", "local", "--custom-dataset-path", "quiz.csv", "--work-dir", "out")
        code, shown = said(*words, "--mode", "infer")
        assert (code, "no scores" in shown) == (0, True)
    code, shown = said(*words, "--mode", "eval", "--reuse")
    assert code == 0, shown
    assert "rescored from run 1: no model was called" in shown
    assert said(*words, "--mode", "viz", "--reuse")[0] == 0
    (results,) = (folder / "out").glob("*/results/local/quiz.json")
    assert json.loads(results.read_text(encoding="utf-8"))["n"] == 2


def test_workflows_have_nothing_to_score_and_steps_to_export(folder: Path, said: Any) -> None:
    store = open_store(Workspace(folder))
    created_workflow(store, "flow")
    store.close()
    code, shown = said("rescore", "1")
    assert code == 2
    assert "run 1 is a workflow" in shown
    assert said("export", "1", "-o", "steps.csv")[0] == 0
