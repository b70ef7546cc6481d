"""`benchwright report`: any run, or several compared, as one page that opens from a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.results import _workflow_page
from benchwright.store import StepRequest, Workspace, open_store
from browser import driven, page_data
from page_figures import agrees, value_at
from stored_workflows import (
    add_metric,
    begin_step,
    complete_step,
    created_workflow,
    fail_step,
    finish_workflow,
)

ROWS = "".join(json.dumps({"question": f"{n} + {n}?", "answer": str(2 * n)}) + "\n" for n in range(8))
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">"
Said = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.jsonl").write_text(ROWS)
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(words))
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run


def recorded_workflow(folder: Path, steps: int = 3, points: int = 2) -> None:
    """A workflow whose last step failed."""
    with open_store(Workspace(folder)) as store:
        lease = created_workflow(store, HOSTILE)
        for number in range(steps):
            begun = begin_step(
                store, lease, StepRequest(f"row {number}", "h", b'{"n":%d}' % number, f"k{number}")
            )
            assert begun.step_id is not None
            if number < steps - 1:
                complete_step(store, lease, begun.step_id, begun.attempt, b'{"answer":"4"}')
            else:
                fail_step(store, lease, begun.step_id, begun.attempt, HOSTILE)
        for number in range(points):
            add_metric(store, lease, "accuracy", float(number))
        finish_workflow(store, lease, "failed", error=HOSTILE)


def test_the_page_of_a_run_is_its_report_by_number_name_and_folder(folder: Path, said: Said) -> None:
    said("run", "quiz.jsonl", "--output-dir", "out", "--demo-skill", "0.5")
    whole = (folder / "out" / "report.html").read_bytes()
    for written in ("last", "1", "quiz", "out"):
        assert said("report", written, "-o", "page.html") == (0, "wrote page.html\n")
        assert (folder / "page.html").read_bytes() == whole  # an earlier page is replaced
    code, shown = said("report", "last", "-o", "page.html", "--json")
    assert (code, json.loads(shown)) == (0, {"file": "page.html", "runs": [1], "exit_code": 0})


def test_the_page_of_a_run_that_keeps_no_samples_has_none(folder: Path, said: Said) -> None:
    said("run", "quiz.jsonl", "--output-dir", "out", "--no-save-predictions")
    assert said("report", "1", "-o", "page.html")[0] == 0
    page = (folder / "page.html").read_text()
    assert page_data(page)["samples"] == []
    assert page == (folder / "out" / "report.html").read_text()


def test_the_page_of_a_load_test_is_its_report(folder: Path, said: Said) -> None:
    said("perf", "quiz.jsonl", "--requests", "8", "--output-dir", "out")
    assert said("report", "last", "-o", "page.html")[0] == 0
    page, first = (page_data(Path(file).read_text()) for file in ("page.html", "out/report.html"))
    shown = json.loads(said("show", "last", "--json")[1])
    # The run itself writes its page just before its end is recorded.
    assert {**page, "run": None, "events": None} == {**first, "run": None, "events": None}
    assert {name: page[name] for name in shown} == shown


def test_several_runs_are_compared_as_compare_does(folder: Path, said: Said) -> None:
    for skill in ("0.2", "0.9", "0.5"):
        said("run", "quiz.jsonl", "--demo-skill", skill)
    assert said("report", "1", "2", "last", "-o", "page.html") == (0, "wrote page.html\n")
    said("compare", "1", "2", "3", "-o", "same.html")
    assert (folder / "page.html").read_bytes() == (folder / "same.html").read_bytes()
    (folder / "quiz.jsonl").write_text(ROWS.replace("?", "!"))
    said("run", "quiz.jsonl")
    code, shown = said("report", "1", "4", "-o", "other.html")
    assert (code, "--force" in shown, (folder / "other.html").exists()) == (2, True, False)
    assert said("report", "1", "4", "-o", "other.html", "--force")[0] in (0, 3)
    assert (folder / "other.html").exists()


def test_a_workflow_opens_from_its_file_with_the_figures_of_show(folder: Path, said: Said) -> None:
    recorded_workflow(folder)
    assert said("report", "last", "-o", "page.html")[0] == 0
    shown = json.loads(said("show", "1", "--json")[1])
    problems: list[str] = []
    with driven() as browser:
        page = browser.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((folder / "page.html").as_uri())
        figures: list[list[str]] = page.eval_on_selector_all(
            "[data-json]", "all => all.map(each => [each.dataset.json, each.textContent])"
        )
        text, title = page.inner_text("main"), page.title()
    assert not problems
    assert title == f"Workflow {HOSTILE}"
    assert "1 of 3 steps did not succeed" in text
    assert {path for path, _ in figures} >= {"run.status", "run.error", "samples.2.error", "samples.0.status"}
    for path, said_there in figures:
        value: Any = value_at(shown, path)
        if isinstance(value, str):
            assert said_there == value, path
        elif path == "run.duration_s":
            assert agrees(said_there, value) or said_there.endswith("s")


def test_a_long_workflow_is_cut_and_the_page_says_so(
    folder: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("MOST_STEPS", 2), ("_MOST_POINTS", 3), ("_MOST_EVENTS", 1)):
        monkeypatch.setattr(_workflow_page, name, most)
    recorded_workflow(folder, steps=5, points=7)
    assert said("report", "last", "-o", "page.html")[0] == 0
    document = page_data((folder / "page.html").read_text())
    assert [step["step_key"] for step in document["samples"]] == ["row 0", "row 4"]  # what failed is kept
    assert document["shown"]["places"] == [0, 4]
    assert [point["metric_value"] for point in document["metrics"]] == [0, 1, 2]
    with driven() as browser:
        page = browser.new_page()
        page.goto((folder / "page.html").as_uri())
        text = page.inner_text("main")
        assert page.locator("[data-json='samples.4.error']").count() == 1
    assert "1 of 5 steps did not succeed" in text
    assert "2 of 5 steps are shown" in text
    assert "7 points, mean 3, last 6; the first 3 are drawn" in text
    monkeypatch.setattr(_workflow_page, "_MOST_BYTES", 1)
    said("report", "last", "-o", "page.html")
    assert len(page_data((folder / "page.html").read_text())["samples"]) == 1


def test_what_cannot_be_a_page_is_an_error_with_a_cure(folder: Path, said: Said) -> None:
    assert said("report", "1", "-o", "page.html")[0] == 4
    with open_store(Workspace(folder)) as store:
        store.create_run(kind="benchmark", name="b", target="b")
        store.finish_run(1, "interrupted", summary=None)
        store.create_run(kind="load", name="l", target="l")
        store.finish_run(2, "failed", summary=None)
    for words, cure in (
        (("1", "-o", "page.html"), "run 1 has no result: it is interrupted; finish it first: benchwright resume 1"),
        (("2", "-o", "page.html"), "run 2 has no result: it is failed"),
        (("1", "-o", "page.pdf"), "name a file that ends in .html"),
        (("1", "-o", "page.html", "--force"), "--force is for runs that are compared"),
        (("1", "1", "-o", "page.html"), "compared with itself"),
    ):  # fmt: skip
        code, shown = said("report", *words)
        assert (code, cure in " ".join(shown.split())) == (2, True), shown
        assert not (folder / "page.html").exists()
    recorded_workflow(folder)
    code, shown = said("report", "3", "-o", "nowhere/page.html")
    assert (code, "nowhere/page.html cannot be written" in shown) == (2, True)
