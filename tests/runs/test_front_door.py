"""The front of the package: what it exports, and functions that work inside a running event loop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import check, compare, rescore, resume, run
from benchwright.cli import main
from benchwright.core import UsageError

SCORERS = (
    "exact_match contains f1_token regex_match bleu rouge retrieval_metrics multiple_choice_acc mcq_letter_extract "
    "gsm8k_answer boolean_yesno chrf"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n", encoding="utf-8")
    return tmp_path


def test_every_exported_name_loads() -> None:
    assert all(getattr(benchwright, name) is not None for name in benchwright.__all__)
    assert dir(benchwright) == sorted([*benchwright.__all__, "__version__"])


def test_all_documented_scorers_and_all_errors_are_exported() -> None:
    assert set(SCORERS.split()) <= set(benchwright.__all__)
    from benchwright.core import BenchwrightError

    exported = [getattr(benchwright, name) for name in benchwright.__all__ if name.endswith("Error")]
    assert all(issubclass(each, BenchwrightError) for each in exported if isinstance(each, type)), exported


def test_every_function_works_inside_a_running_event_loop() -> None:
    async def notebook() -> Any:
        first = run("quiz.csv", max_requests=1, cache=False)
        assert first.summary.evaluated == 1
        (report,) = check("quiz.csv")
        assert report.rows == 2
        done = resume(first)
        again = rescore(done)
        assert [pair.model for pair in run("quiz.csv", models=["demo", "random"])] == ["demo", "random"]
        return compare(done, again), done, again

    comparison, done, again = asyncio.run(notebook())
    assert done.summary.evaluated == again.summary.evaluated == 2
    assert comparison.differs is False


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: run("quiz.csv", work_dirr="x"),
            r"run\(\) has no option 'work_dirr'. Did you mean 'work_dir'",
        ),
        (lambda: check("quiz.csv", modls="x"), r"check\(\) has no option 'modls'. Did you mean 'model"),
        (lambda: resume(1, workspce="x"), r"resume\(\) has no option 'workspce'. Did you mean 'workspace'"),
        (lambda: rescore(1, limt=1), r"rescore\(\) has no option 'limt'. Did you mean 'limit'"),
        (lambda: rescore(1, models=["demo"]), r"rescore\(\) works on one run; leave models out"),
        (lambda: compare(1, 2, metrc="x"), r"compare\(\) has no option 'metrc'. Did you mean 'metric'"),
        (lambda: run("quiz.csv", mode="infr"), r"mode infr is not known. Did you mean 'infer'"),
        (lambda: run("quiz.csv", max_num_workers=0), "max_num_workers is 0; expected 1 or more"),
    ],
)
def test_unknown_keywords_are_refused_with_near_names(call: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()


def test_replies_now_and_scores_later() -> None:
    first = run("quiz.csv", mode="infer")
    assert first.summary.unscored
    assert list(rescore(first))


def test_overrides_of_a_resumed_run_are_taken_as_a_table_too() -> None:
    (Path.cwd() / "long.csv").write_text(
        "question,answer\n" + "".join(f"{n}+1=,{n + 1}\n" for n in range(9)), encoding="utf-8"
    )
    stopped = run("long.csv", max_requests=1, cache=False)
    assert resume(stopped, overrides={"max_requests": 2}).summary.evaluated == 3
    assert resume(stopped, overrides={"max_requests": 1}, max_requests=4).summary.evaluated == 7
    with pytest.raises(UsageError, match=r"resume\(\) has no option 'temperature'"):
        resume(stopped, overrides={"temperature": 1})


def test_errors_name_keywords_in_python_and_flags_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n")
    with pytest.raises(UsageError, match=r"^api is for a model reached by model_url; the demo"):
        run("q.csv", model="demo", api="tgi")
    assert main(["run", "q.csv", "--model", "demo", "--api", "tgi"]) == 2
    assert "--api is for a model reached by --model-url; the demo" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"^api is for"):  # the command has left no trace
        run("q.csv", model="demo", api="tgi")
