"""The front door: typed keywords that refuse typos, names that are nearly right, benchmarks of notebooks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from benchwright import check, rescore, resume, run
from benchwright.cli import main
from benchwright.config import RESUME_OVERRIDES, RUN_SETTINGS, RunKeywords, RunOptions, SuiteOptions
from benchwright.core import NotFoundError, UsageError

NOTEBOOK = """
from benchwright import benchmark, scorer

@benchmark(name="sums", dataset=[{"q": f"What is {n} + 5?", "target": str(n + 5)} for n in range(10, 14)], prompt="{q}")
@scorer
def check_sum(sample):
    return {"correct": sample.response.strip() == sample.target}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n", encoding="utf-8")
    return tmp_path


def cell(code: str = NOTEBOOK) -> dict[str, Any]:
    """Run code as a notebook does: in `__main__`, with no file."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "<cell>", "exec"), names)
    return names


def test_typed_keywords_are_the_options_and_the_flags() -> None:
    options = list(RunOptions.__struct_fields__)
    of_suites = list(SuiteOptions.__struct_fields__)
    assert sorted(get_type_hints(RunKeywords)) == sorted([*options, *of_suites])
    settings = {setting.name for setting in RUN_SETTINGS}
    assert settings <= set(options)
    assert set(RESUME_OVERRIDES) <= settings


@pytest.mark.parametrize("call", [run, check])
def test_a_misspelt_keyword_is_refused_by_the_function_that_got_it(call: Any) -> None:
    with pytest.raises(UsageError, match=rf"{call.__name__}\(\) has no option 'limt'. Did you mean 'limit'"):
        call("quiz.csv", limt=1)


def test_a_misspelt_keyword_of_rescore_and_override_of_resume_are_refused() -> None:
    first = run("quiz.csv", max_requests=1)
    assert first.summary.evaluated == 1
    with pytest.raises(
        UsageError, match=r"rescore\(\) has no option 'qa_metric_s'. Did you mean 'qa_metrics'"
    ):
        rescore(first.run_id, qa_metric_s=("contains",))  # type: ignore[call-arg]
    with pytest.raises(
        UsageError, match=r"resume\(\) has no option 'max_reqests'. Did you mean 'max_requests'"
    ):
        resume(first.run_id, max_reqests=1)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="parallelism is 'two'"):
        resume(first.run_id, parallelism="two")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="same experiment; it may change parallelism"):
        resume(first.run_id, temperature=1.0)
    assert resume(first.run_id, parallelism=1).summary.evaluated == 2


def test_rescore_takes_keywords_or_one_object_but_not_both() -> None:
    first = run("quiz.csv")
    by_name = rescore(first.run_id, limit=1)
    as_object = rescore(first.run_id, RunOptions(limit=1))
    named = rescore(first.run_id, options=RunOptions(limit=1))  # type: ignore[arg-type]
    assert by_name.summary.rows == as_object.summary.rows == named.summary.rows == 1
    with pytest.raises(UsageError, match="not both"):
        rescore(first.run_id, RunOptions(limit=1), limit=2)
    with pytest.raises(UsageError, match="not both"):
        check("quiz.csv", RunOptions(limit=1), limit=2)


def test_a_notebook_rescores_and_resumes_what_it_defined() -> None:
    names = cell()
    first = run(names["check_sum"], max_requests=2, cache=False)
    assert first.summary.evaluated == 2
    assert resume(first.run_id).summary.evaluated == 4
    assert rescore(first.run_id)["correct"] == run(names["check_sum"])["correct"]


def test_a_benchmark_that_only_a_closed_notebook_defined_is_named_with_the_cure() -> None:
    names = cell(NOTEBOOK.replace("sums", "gone_sums"))
    first = run(names["check_sum"])
    from benchwright.benchmarks import _spec

    for specs in _spec._BY_MODULE.values():  # as in a new process
        specs.pop("gone_sums", None)
    with pytest.raises(UsageError, match=r"rescore\(RUN, target=FUNCTION\)"):
        rescore(first.run_id)
    assert rescore(first.run_id, target=names["check_sum"])["correct"] == first["correct"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("quiz.cvs", "Did you mean 'quiz.csv'"),
        ("./quiz.cvs", "Did you mean 'quiz.csv'"),
        ("quizz", "Did you mean 'quiz.csv'"),
        ("pubmed_qa", "Did you mean 'pubmedqa'"),
        ("gsm8k", "hf://ORG/gsm8k"),
        ("my_configurd", "Did you mean 'my_configured'"),
        ("siute.toml", "Did you mean 'suite.toml'"),
    ],
)
def test_what_is_nearly_right_is_suggested_through_both_doors(
    folder: Path, written: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "suite.toml").write_text("models = []\ndatasets = []\n", encoding="utf-8")
    (folder / "benchwright.toml").write_text(
        '[benchmarks.my_configured]\nfile = "quiz.csv"\n', encoding="utf-8"
    )
    with pytest.raises(NotFoundError) as caught:
        run(written)
    assert said in str(caught.value)
    assert "benchwright ls" in str(caught.value)
    with pytest.raises(NotFoundError, match=re.escape(str(caught.value))):
        check(written)
    assert main(["run", written]) == 4
    assert str(caught.value) in " ".join(capsys.readouterr().err.split())


def test_broken_json_of_a_flag_is_shown_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "quiz.csv", "--extra-body", "{top_k: 5}"]) == 2
    said = capsys.readouterr().err
    assert "is not JSON" in said
    assert "(character 2)" in said
    assert "double quotes" in said


SCORERS = {
    "rejects every gold answer": "return {'correct': False}",
    "raises on every gold answer": "raise RuntimeError('broken')",
}


@pytest.mark.parametrize("body", SCORERS.values(), ids=SCORERS.keys())
def test_check_fails_when_every_gold_answer_does(
    folder: Path, body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bench.py").write_text(
        "from benchwright import benchmark, scorer\n"
        "@benchmark(name='b', dataset=[{'q': '1', 'target': 'x'}, {'q': '2', 'target': 'y'}], prompt='{q}')\n"
        f"@scorer\ndef s(sample):\n    {body}\n",
        encoding="utf-8",
    )
    (folder / "suite.toml").write_text(
        "models = [{name = 'm', type = 'demo'}]\ndatasets = [{benchmark = 'bench.py:b'}]\n", encoding="utf-8"
    )
    for command in (["check", "bench.py"], ["run", "bench.py", "--dry-run"], ["check", "suite.toml"]):
        assert main(command) == 1, command
        assert "no gold answer scores as right" in capsys.readouterr().out
        assert main([*command, "--json"]) == 1
        assert '"ok": false' in capsys.readouterr().out
        assert main([*command, "--allow-failing-gold"]) == 0
        assert ": ready" in capsys.readouterr().out
    assert main(["run", "bench.py", "--allow-failing-gold"]) == 2


def test_one_right_gold_answer_is_enough_to_be_ready(folder: Path) -> None:
    (folder / "bench.py").write_text(
        "from benchwright import benchmark, scorer\n"
        "@benchmark(name='b', dataset=[{'q': '1', 'target': 'x'}, {'q': '2', 'target': 'y'}], prompt='{q}')\n"
        "@scorer\ndef s(sample):\n    return {'correct': sample.response == 'x'}\n",
        encoding="utf-8",
    )
    assert main(["check", "bench.py"]) == 0
