"""The table that a run ends with: the figure that counts first, and nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright import run
from benchwright.reports.terminal.result import result_parts
from benchwright.reports.views.benchmarks import ResultView
from benchwright.reports.views.figures import figures_of, figures_to_show


@pytest.fixture
def view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ResultView:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"What is {n} + {n}?,{2 * n},{2 * n + 1},{n},A\n" for n in range(3, 15))
    Path("quiz.csv").write_text("question,A,B,C,answer\n" + rows)
    found = run("quiz.csv", model="demo", demo_skill=0.6, repeats=5, pass_k=[5, 1, 3], temperature=1.0)
    view: ResultView = found.view
    return view


def test_the_headline_comes_first_and_no_figure_twice(view: ResultView) -> None:
    rows = result_parts(view).metrics[1:]
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
    ((label, pieces), *_) = result_parts(view).remarks
    assert (label, pieces[0][0]) == ("equal", f"{', '.join(equal)}: the same as accuracy")


def test_every_k_is_there_in_order(view: ResultView) -> None:
    over = view.summary.over_repeats
    passes = [name for name in over if name.startswith("pass")]
    assert passes == ["pass@1", "pass@3", "pass@5", "pass^1", "pass^3", "pass^5"]
    chances = [over[name]["accuracy"].value for name in ("pass^5", "pass^3", "pass@1", "pass@3", "pass@5")]
    assert chances == sorted(chances)
