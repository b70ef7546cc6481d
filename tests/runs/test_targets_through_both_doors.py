"""Every kind of target gives the same result to the command line and to Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright import BenchwrightError, ScriptedEndpoint, check, resume, run
from benchwright.cli import main
from benchwright.config import RunKeywords, find_config
from benchwright.core import UsageError
from benchwright.demo import DemoSettings, demo_server
from benchwright.results import RunResult
from benchwright.runs import (
    Benchmarks,
    Program,
    ProgramResult,
    Suite,
    SuiteResult,
    resolve,
)
from benchwright.runs._resolve import Questions, Workflow

BENCHMARK = """
@benchmark(name="{name}", dataset=[{{"q": f"What is {{n}} + {k}?", "target": str(n + {k})}} for n in range(10, 22)], prompt="{{q}}")
@scorer
def {name}(sample):
    return {{"correct": sample.response.strip() == sample.target}}
"""
HEADER = "from benchwright import benchmark, scorer\n"
FLOW = """
from benchwright import workflow

async def handler(input_value, ctx):
    n = (input_value or {{}}).get("n", 4)
    await ctx.emit("doubled", 2 * n)
    return {{"n": n}}

{name} = workflow("{name}", handler)
"""
CONFIG = """
[benchmarks.configured]
file = "quiz.csv"
limit = 5

[benchmarks.described]
type = "custom_nocode"
dataset = "quiz.jsonl"
prompt = "{{ row.question }}"
style = { type = "exact_match", golden_column = "answer" }

[benchmarks.program]
type = "custom_code"
command = ["python", "-c", "print(42)"]
"""
QUIZ = [{"question": f"What is {n} + 7?", "answer": str(n + 7)} for n in range(10, 24)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "quiz.csv": "question,answer\n" + "".join(f"{row['question']},{row['answer']}\n" for row in QUIZ),
        "quiz.jsonl": "".join(json.dumps(row) + "\n" for row in QUIZ),
        "one.py": HEADER + BENCHMARK.format(name="sums", k=5),
        "two.py": HEADER + BENCHMARK.format(name="sums", k=5) + BENCHMARK.format(name="more", k=8),
        "suite.toml": 'models = ["demo", {name = "weak", type = "demo", skill = 0.3}]\n'
        'datasets = [{path = "quiz.csv"}, {benchmark = "one.py:sums"}]\n',
        "suite.yaml": "models: [demo]\ndatasets: [{path: quiz.csv}]\n",
        "suite.py": 'models = ["demo"]\ndatasets = [{"path": "quiz.csv"}]\n',
        "flow.py": FLOW.format(name="double"),
        "flows.py": FLOW.format(name="first") + FLOW.format(name="second"),
        "benchwright.toml": CONFIG,
        "packed_quiz.py": HEADER + BENCHMARK.format(name="packed", k=3),
        "packed_quiz-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: packed_quiz\nVersion: 1.0\n",
        "packed_quiz-1.0.dist-info/entry_points.txt": "[benchwright.benchmarks]\nfrom_package = packed_quiz\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


TARGETS: dict[str, tuple[type, RunKeywords]] = {
    "quiz.csv": (Questions, {}),
    "quiz.jsonl": (Questions, {"limit": 6}),
    "one.py": (Benchmarks, {}),
    "two.py": (Benchmarks, {}),
    "two.py:more": (Benchmarks, {"repeats": 2}),
    "packed_quiz": (Benchmarks, {}),
    "from_package": (Benchmarks, {}),
    "configured": (Questions, {}),
    "described": (Benchmarks, {}),
    "pubmedqa": (Benchmarks, {"input": {"dataset": "pubmed.jsonl"}}),
    "suite.toml": (Suite, {}),
    "suite.yaml": (Suite, {"limit": 4}),
    "suite.py": (Suite, {}),
    "flow.py": (Workflow, {"input": {"n": 21}}),
    "flows.py:second": (Workflow, {}),
    "program": (Program, {}),
}


def flags(keywords: RunKeywords) -> list[str]:
    texts = {
        name: json.dumps(value) if isinstance(value, dict) else str(value) for name, value in keywords.items()
    }
    return [word for name, text in texts.items() for word in (f"--{name.replace('_', '-')}", text)]


def essence(value: Any) -> Any:
    """What a result says, without numbers of runs, times and places."""
    if isinstance(value, dict):
        left_out = (
            "id",
            "run_id",
            "folder",
            "seconds",
            "samples_per_s",
            "work_folder",
            "duration_seconds",
            "runs",
        )
        left_out += ("created_at", "started_at", "finished_at", "duration_s")
        beside = ("base_url", "server_started_by_us", "run")  # the command starts a server for programs
        return {key: essence(each) for key, each in value.items() if key not in (*left_out, *beside)}
    return [essence(each) for each in value] if isinstance(value, list) else value


def as_printed(result: Any) -> Any:
    if isinstance(result, list):
        return {"results": [each.to_json() for each in result], "exit_code": 0}
    if isinstance(result, RunResult):
        return {"results": [result.to_json()], "exit_code": result.exit_code}
    return json.loads(json.dumps(result.to_json()))


@pytest.mark.parametrize("target", TARGETS)
def test_both_doors_give_the_same_result(
    folder: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"question": "Does it?", "context": "Plain.", "final_decision": "yes"}]
    (folder / "pubmed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    kind, keywords = TARGETS[target]
    assert isinstance(resolve(target, config=find_config(folder), cwd=folder), kind) or keywords.get("input")
    programs = kind in (Workflow, Program)
    more: RunKeywords = {**keywords} if programs else {**keywords, "cache": False}
    result = run(target, **more)
    capsys.readouterr()
    words = [*flags(keywords), *([] if programs else ["--no-cache"])]
    code = main(["run", target, *words, "--json", "--quiet"])
    printed = json.loads(capsys.readouterr().out)
    assert essence(as_printed(result)) == essence(printed)
    assert code == printed.get("exit_code", 0) or programs
    if kind is Suite:
        assert isinstance(result, SuiteResult)
        assert all(pair.result is not None for pair in result)
    elif programs:
        assert isinstance(result, ProgramResult)
        assert result.workflow_name in result._repr_html_()
        assert result.success
    else:
        checked = check(target, **keywords)
        assert len(checked) == (len(result) if target == "two.py" else 1)
        assert main(["check", target, *flags(keywords), "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)["checks"]
        assert [each["rows"] for each in shown] == [report.rows for report in checked]


def test_results_are_not_trivial() -> None:
    first, second = run("two.py")
    assert (first.name, second.name) == ("sums", "more")
    assert 0 < first["correct"] < 1
    suite = run("suite.toml")
    assert suite["weak", "sums"]["correct"] < suite["demo", "sums"]["correct"]
    program = run("flow.py", input={"n": 21})
    assert (program.output, program.metrics) == ({"n": 21}, {"doubled": 42.0})


def test_several_models_make_a_suite_of_any_target(capsys: pytest.CaptureFixture[str]) -> None:
    result = run("quiz.csv", models=["demo", "random"], limit=5, cache=False)
    assert [(pair.model, pair.dataset) for pair in result] == [("demo", "quiz"), ("random", "quiz")]
    main(["run", "quiz.csv", "--models", "demo", "random", "--limit", "5", "--no-cache", "--json", "-q"])
    assert essence(as_printed(result)) == essence(json.loads(capsys.readouterr().out))
    found = check("quiz.csv", models=["demo", "random"])
    assert [(pair.model, pair.ready) for pair in found.pairs] == [("demo", True), ("random", True)]


def test_a_function_on_several_models() -> None:
    names: dict[str, Any] = {}
    exec(HEADER + BENCHMARK.format(name="sums", k=5), names)
    result: Any = run(names["sums"], models=("demo", "random"))
    assert [pair.dataset for pair in result] == ["sums", "sums"]


def test_programs_take_their_input_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"^limit, models: flow\.py is a program") as caught:
        run("flow.py", limit=5, models=["demo"])
    assert main(["run", "flow.py", "--limit", "5", "--models", "demo"]) == 2
    assert str(caught.value).partition(": ")[2].partition(";")[0] in " ".join(capsys.readouterr().err.split())
    with pytest.raises(UsageError, match="calls its models itself"):
        run("flow.py", endpoint=ScriptedEndpoint(lambda request: "x"))
    with pytest.raises(UsageError, match=r"several workflows \(first, second\)"):
        run("flows.py")
    plan = check("flow.py", input={"n": 1})
    assert (plan.workflow, plan.input) == ("double", {"n": 1})


def test_a_workflow_resumes_from_python() -> None:
    first = run("flow.py", input={"n": 2})
    again = resume(first.run_id)
    assert (again.run_id, again.output) == (first.run_id, {"n": 2})
    assert "complete" in again.warning


@pytest.mark.parametrize("where", ["benchwright.toml", "suite.toml"])
def test_a_table_without_a_model_finds_the_only_one_of_its_server(folder: Path, where: str) -> None:
    with demo_server(DemoSettings(model_id="served")) as server:
        if where == "suite.toml":
            (folder / where).write_text(
                f'models = [{{name = "m", base_url = "{server.url}"}}]\ndatasets = [{{path = "quiz.csv"}}]\n',
                encoding="utf-8",
            )
            assert run(where, limit=2)["m", "quiz"].model == "served"
        else:
            (folder / where).write_text(f'[models.m]\nbase_url = "{server.url}"\n', encoding="utf-8")
            assert run("quiz.csv", model="m", limit=2).model == "served"


def test_a_table_without_a_model_on_a_server_of_several_is_refused_with_the_cure(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listed(settings: Any) -> list[str]:
        return ["a", "b"]

    monkeypatch.setattr("benchwright.endpoints.listed_models", listed)
    (folder / "benchwright.toml").write_text('[models.m]\nbase_url = "http://h"\n', encoding="utf-8")
    with pytest.raises(
        BenchwrightError, match=r'2 models: a, b.*model = "a" in the table of m, or model_id=.a.'
    ):
        run("quiz.csv", model="m")
