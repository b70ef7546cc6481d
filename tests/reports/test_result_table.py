"""The table that a run ends with: the figure that counts first, and nothing twice."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded_runs import SUMMARY

from benchwright import run
from benchwright.cli import main
from benchwright.core import RunSummary
from benchwright.reports.terminal.result import result_blocks
from benchwright.results._benchmarks import RunResult
from benchwright.results._figures import figures_of, figures_to_show, result_sentence


@pytest.fixture
def view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"What is {n} + {n}?,{2 * n},{2 * n + 1},{n},A\n" for n in range(3, 15))
    Path("quiz.csv").write_text("question,A,B,C,answer\n" + rows)
    found = run("quiz.csv", model="demo", demo_skill=0.6, repeats=5, pass_k=[5, 1, 3], temperature=1.0)
    view: RunResult = found
    return view


def test_the_headline_comes_first_and_no_figure_twice(view: RunResult) -> None:
    rows = result_blocks(view)[2].rows
    names = [row[0] for row in rows]
    assert names[0] == "accuracy"
    assert not [name for name in names if name.startswith("parsed,") or "avg@" in name]
    shown, equal = figures_to_show(view.summary)
    assert list(shown) == names
    assert {"accuracy_parsed", "accuracy_strict", "pass@1", "pass^1"} <= set(equal)
    values = {name.removeprefix("accuracy, "): metric for name, metric in figures_of(view.summary).items()}
    for name in equal:
        assert values[name].value == pytest.approx(values["accuracy"].value, abs=1e-12)
        assert values[name].ci_low == pytest.approx(values["accuracy"].ci_low, abs=1e-12)
        assert values[name].ci_high == pytest.approx(values["accuracy"].ci_high, abs=1e-12)
    ((label, pieces), *_) = result_blocks(view)[3].rows
    assert (label, pieces[0][0]) == ("equal", f"{', '.join(equal)}: the same as accuracy")


def test_every_k_is_there_in_order(view: RunResult) -> None:
    over = view.summary.over_repeats
    passes = [name for name in over if name.startswith("pass")]
    assert passes == ["pass@1", "pass@3", "pass@5", "pass^1", "pass^3", "pass^5"]
    chances = [over[name]["accuracy"].value for name in ("pass^5", "pass^3", "pass@1", "pass@3", "pass@5")]
    assert chances == sorted(chances)


def _summaries() -> list[RunSummary]:
    found = []
    for metrics, repeats, failed, partial, fine in product(
        ({}, SUMMARY.metrics), (1, 3), (0, 2), (True, False), (True, False)
    ):
        evaluated = 4 if partial else 7 * repeats
        found.append(
            replace(
                SUMMARY, metrics=metrics, repeats=repeats, failed=failed, partial=partial, evaluated=evaluated,
                comparable=fine and not partial,
            )
        )  # fmt: skip
    return found


@pytest.mark.parametrize("summary", _summaries())
def test_the_sentence_has_the_headline_and_every_limit_of_it(summary: RunSummary) -> None:
    said = result_sentence("q on m", summary)
    assert said.startswith("q on m, 7 rows × 3 repeats: " if summary.repeats == 3 else "q on m, 7 rows: ")
    headline = "correct 0.6000 (95 % interval 0.2307 – 0.8823, n = 5)"
    assert (headline in said) == bool(summary.metrics)
    assert ("no sample gave a score" in said) == (not summary.metrics)
    assert (f"2 of {summary.evaluated} samples failed" in said) == (summary.failed == 2)
    assert (f"only 4 of {7 * summary.repeats} samples evaluated" in said) == summary.partial
    planned = 7 * summary.repeats
    whole = result_sentence(
        "x", replace(summary, evaluated=planned)
    )  # of a program that tells of no more rows
    assert f"{planned} of {planned}" not in whole
    assert ("the run is not complete" in whole) == summary.partial
    assert said.endswith("not comparable with other runs") == (not summary.comparable)


def test_every_view_begins_with_the_same_sentence(
    view: RunResult, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = view.sentence
    assert main(["show", "1"]) == 0
    assert capsys.readouterr().out.strip().splitlines()[0] == said
    assert main(["show", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["sentence"] == said
    assert shown["notes"] == view.to_json()["notes"]
    assert json.dumps(said)[1:-1] in json.dumps((view.run.folder / "report.html").read_text())
    Path("policy.toml").write_text('[[threshold]]\nmetric = "accuracy"\nmin = 0.1\nbound = "value"\n')
    main(["gate", "1", "--policy", "policy.toml", "--markdown", "gate.md"])
    assert said.split(" (")[0] in Path("gate.md").read_text().replace("\\", "")
    capsys.readouterr()
    assert main(["rescore", "1"]) == 0
    assert capsys.readouterr().out.strip().splitlines()[0] == said
