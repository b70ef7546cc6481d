"""Every figure on a page is what scripts read: its place in the JSON is on the page, and both agree to the last digit shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchwright.cli import main
from benchwright.results import suite_document
from benchwright.store import Workspace, open_store
from page_figures import agrees, value_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROWS = "".join(
    json.dumps({"question": f"What is {n} + {n}?", "answer": str(2 * n)}) + "\n" for n in range(24)
)
BENCHMARKS = """
from benchwright import benchmark, scorer

@benchmark(name="odd", dataset="quiz.jsonl", prompt="{question}", target_field="answer")
@scorer
def odd(sample):
    if sample.metadata["question"].startswith("What is 7 "):
        raise ValueError("no score for seven")
    return {"correct": sample.response.strip() == sample.target, "length.words": len(sample.response) * 1234.5, "share": 1 / 3}
"""
RUNS = {
    "run": ["run", "quiz.jsonl", "--demo-skill", "0.7"],
    "repeats and failures": ["run", "odd.py", "--repeats", "3", "--pass-k", "2", "--demo-skill", "0.5"],
    "one row": ["run", "quiz.jsonl", "--limit", "1"],
    "load": ["perf", "quiz.jsonl", "--concurrency", "1,2", "--requests", "110", "--slo", "e2e=2s"],
    "scored load": ["perf", "quiz.jsonl", "--score", "--rate", "200", "--profile", "poisson", "--requests", "60"],
    "search": ["perf", "quiz.jsonl", "--find-max-load", "--slo", "e2e=60s", "--slo-share", "0.8", "--requests", "8",
               "--concurrency", "1,4", "--probe-repeats", "2"],
}  # fmt: skip
MODELS = [{"name": f"model.{n}", "type": "demo", "skill": skill} for n, skill in enumerate((0.3, 0.9))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path("quiz.jsonl").write_text(ROWS)
        Path("odd.py").write_text(BENCHMARKS)
        for name, words in RUNS.items():
            main([*words, "--output-dir", name])
        Path("suite.json").write_text(json.dumps({"models": MODELS, "datasets": ["quiz.jsonl", "odd.py"]}))
        main(["run", "suite.json"])
    return place


def figures(chromium: Browser, page: Path) -> list[tuple[str, str]]:
    """All figures of a page, each with its place in the JSON."""
    tab = chromium.new_page()
    try:
        tab.goto(page.as_uri())
        found: list[list[str]] = tab.eval_on_selector_all(
            "[data-json]", "all => all.map(each => [each.dataset.json, each.textContent])"
        )
        return [(path, text) for path, text in found]
    finally:
        tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*RUNS, "suite"])
def test_every_figure_on_a_page_is_in_the_json(
    chromium: Browser, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    if name == "suite":
        (page,) = folder.rglob("summary_*.html")
        with open_store(Workspace(folder)) as store:
            document = suite_document(store, "suite")  # what the route of suites answers
    else:
        page = folder / name / "report.html"
        main(["show", str([*RUNS].index(name) + 1), "--json"])
        document = json.loads(capsys.readouterr().out)
    found = figures(chromium, page)
    assert len(found) >= 8
    for path, text in found:
        assert agrees(text, value_at(document, path)), (path, text, value_at(document, path))
    assert all(path.split(".")[0] in document for path, _ in found)
