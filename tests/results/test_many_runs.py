"""Comparisons of several runs: every pair equals an enumeration of the rows, and the sentence says what the tests say."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from math import isclose
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.cli import main
from benchwright.reports import write_comparison
from benchwright.results import ComparisonOptions, ManyRuns
from benchwright.results._comparison import ChangedSample, SampleTexts, Side
from benchwright.results._many_runs import RunPair
from benchwright.results._metric_comparison import direction_of
from benchwright.runs import compare_runs
from benchwright.stats import PairedResult, holm

ROWS = 60


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs of one benchmark: a poor one, two good ones that differ by little, and one that is the first again."""
    place = tmp_path_factory.mktemp("many")
    (place / "q.csv").write_text(
        "question,answer,topic\n" + "".join(f"number {n}?,{n},{'ab'[n % 2]}\n" for n in range(ROWS))
    )
    dice = Random(3)
    wrong = [set(dice.sample(range(ROWS), k)) for k in (40, 8, 6)]
    wrong.append(wrong[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for misses in wrong:
            replies = iter([f"{-n - 1 if n in misses else n}" for n in range(ROWS)])
            endpoint = ScriptedEndpoint(lambda request, replies=replies: next(replies))
            benchwright.run("q.csv", endpoint=endpoint, parallelism=1)
    return place


def compared(workspace: Path, *runs: int, **options: Any) -> ManyRuns:
    by = options.pop("by", None)
    return compare_runs(runs, ComparisonOptions(**options), by=by, workspace=workspace)


def scores(workspace: Path, run: int, metric: str, capsys: pytest.CaptureFixture[str]) -> list[float]:
    main(["export", str(run), "-o", "-", "--workspace", str(workspace)])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [float(line["scores"][metric]) for line in sorted(lines, key=lambda line: line["sample_id"])]


def test_every_pair_is_what_an_enumeration_gives(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(workspace, 1, 2, 3, 4)
    assert found.metric is not None
    values = {run: scores(workspace, run, found.metric, capsys) for run in (1, 2, 3, 4)}
    assert [(pair.run_a, pair.run_b) for pair in found.pairs] == list(combinations((1, 2, 3, 4), 2))
    tested = []
    for pair in found.pairs:
        a, b = values[pair.run_a], values[pair.run_b]
        assert pair.paired is not None
        assert isclose(pair.paired.difference, (sum(b) - sum(a)) / ROWS, abs_tol=1e-12)
        won = sum(y > x for x, y in zip(a, b, strict=True)), sum(y < x for x, y in zip(a, b, strict=True))
        assert (pair.paired.wins, pair.paired.losses, pair.paired.ties) == (*won, ROWS - sum(won))
        if any(won):
            tested.append((pair, PairedResult.of(a, b).p_value))
    assert [pair.p_adjusted for pair, _ in tested] == holm([p for _, p in tested])
    assert next(pair for pair in found.pairs if (pair.run_a, pair.run_b) == (1, 4)).p_adjusted is None


def test_the_sentence_names_the_best_and_what_cannot_be_told_apart(workspace: Path) -> None:
    found = compared(workspace, 1, 2, 3)
    assert found.best is not None
    assert found.best.id == 3
    assert found.sentence.startswith("run 3 is better than run 1 by 0.5667 (0.")
    assert found.sentence.endswith("run 2 cannot be told apart from run 3")
    turned = compared(workspace, 3, 2, 1)
    assert turned.sentence.startswith("run 3 has the best")
    assert "run 1 is worse than run 3 by 0.5667 (0." in turned.sentence
    assert turned.regressed
    assert "no run can be told apart" in compared(workspace, 2, 3).sentence


def test_the_sentence_says_of_each_run_what_its_own_pair_says() -> None:
    """Runs that share only some rows need not be in one order: no pair may be told the wrong way round."""
    dice, seen = Random(7), set[str]()
    for turn in range(300):
        less = turn % 2 == 0
        pairs = []
        for a, b in combinations((1, 2, 3, 4), 2):
            values = [[dice.random() for _ in range(12)] for _ in "ab"]
            shift = dice.choice((-0.9, -0.4, 0.0, 0.4, 0.9))
            side = [each + shift - (12 * shift * dice.choice((0, 1.5)) if n == 0 else 0) for n, each in enumerate(values[1])]  # fmt: skip
            paired = PairedResult.of(values[0], side, share=False) if dice.random() < 0.9 else None
            pairs.append(RunPair(a, b, paired, None if paired is None else paired.p_value))
        sides = [Side(n, "w", "completed", "m", None, title=f"run {n}") for n in (1, 2, 3, 4)]
        against: Any = tuple(SimpleNamespace(run_a=sides[0], run_b=side) for side in sides[1:])
        found = ManyRuns(comparisons=against, metric="m", lower_is_better=less, pairs=tuple(pairs))
        best, sentence = found.best, found.sentence
        assert best is not None
        for other in sides:
            pair = found.pair(other.id, best.id) if other.id != best.id else None
            if pair is None or pair.paired is None:
                continue
            ahead = direction_of(pair.paired.mean_a, pair.paired.mean_b, pair.paired, 0.0)
            better = {"up": not less, "down": less}.get(ahead)
            one = f"{best.title} is better than {other.title} by" in sentence
            one |= f"{other.title} is worse than {best.title} by" in sentence
            two = f"{other.title} is better than {best.title} by" in sentence
            three = f"{other.title} differs from {best.title}, but not in one direction" in sentence
            assert (one, two, three) == (
                pair.significant and better is True, pair.significant and better is False, pair.significant and better is None
            )  # fmt: skip
            seen |= {name for name, told in (("one", one), ("two", two), ("three", three)) if told}
    assert seen == {"one", "two", "three"}


def test_two_runs_keep_their_shape(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", "1", "2", "--json", "--workspace", str(workspace)])
    printed = json.loads(capsys.readouterr().out)
    old = benchwright.compare(1, 2, workspace=workspace).to_json()
    assert {name: printed[name] for name in old} == json.loads(json.dumps(old))
    assert "significantly better (up 0.5333)" in printed["sentence"]
    main(["compare", "1", "2", "3", "--json", "--workspace", str(workspace)])
    many = json.loads(capsys.readouterr().out)
    assert many["comparisons"][0]["metrics"] == printed["metrics"]
    assert [run["id"] for run in many["runs"]] == [1, 2, 3]


def test_slices_of_pairs_add_up(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(workspace, 1, 2, 3, by="topic")
    for sliced, pair in zip(found.slices, found.pairs, strict=False):
        whole = pair.paired
        assert whole is not None
        parts = [each.paired for _, each in sliced.slices if each.paired is not None]
        assert sum(part.pairs for part in parts) == whole.pairs
        assert sum(part.wins for part in parts) == whole.wins
        total = sum(part.difference * part.pairs for part in parts)
        assert isclose(total, whole.difference * whole.pairs, abs_tol=1e-9)
    assert main(["compare", "1", "2", "--by", "topci", "--workspace", str(workspace)]) == 4
    assert "Did you mean 'topic'? Columns: answer, question, topic" in capsys.readouterr().err


def test_files_have_the_figures_of_the_table(workspace: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(workspace)
        replies = iter([f"{n}" if n % 3 else "-1" for n in range(ROWS)])
        run = benchwright.run(
            "q.csv", endpoint=ScriptedEndpoint(lambda request: next(replies)), parallelism=1, limit=20
        )
    found = compared(workspace, 1, 2, 3, run.run_id)
    write_comparison(found, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    values: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for side in "ab":
            values.setdefault((row["metric"], row[f"run_{side}"]), set()).add(row[f"value_{side}"])
        if row["pairs"]:
            assert isclose(
                float(row["difference"]), float(row["mean_b"]) - float(row["mean_a"]), abs_tol=1e-9
            )
    assert {len(each) for each in values.values()} == {1}
    told = {(row["run_a"], row["run_b"]): row["p_adjusted"] for row in rows if row["metric"] == found.metric}
    p_values = {
        (f"run {pair.run_a}", f"run {pair.run_b}"): "" if pair.p_adjusted is None else str(pair.p_adjusted)
        for pair in found.pairs
    }
    assert told == p_values


def test_what_cannot_be_compared_is_said(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--workspace", str(workspace)]
    assert main(["compare", "1", "2", "1", *at]) == 2
    assert "run 1 is compared with itself" in capsys.readouterr().err
    assert main(["compare", *"123412341", *at]) == 2
    assert "a comparison needs 2 to 8 runs, and 9 runs are named" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("a", "b", "layer"),
    [
        (("x", "p", "r", {"s": 1}), ("y", "q", "q", {"s": 0}), "data"),
        (("x", "p", "r", {"s": 1}), ("x", "q", "q", {"s": 0}), "prompt"),
        (("x", "p", "r", {"s": 1, "answer": "A"}), ("x", "p", "q", {"s": 0, "answer": "B"}), "reply"),
        (("x", "p", "r", {"s": 1, "answer": "A"}), ("x", "p", "r", {"s": 0, "answer": "B"}), "extraction"),
        (("x", "p", "r", {"s": 1, "answer": "A"}), ("x", "p", "r", {"s": 0, "answer": "A"}), "score"),
    ],
)
def test_a_change_is_explained_by_the_first_layer_that_differs(a: Any, b: Any, layer: str) -> None:
    sides = [{"target": each[0], "outcome": "scored", "scores": each[3]} for each in (a, b)]
    texts = [SampleTexts(each[1], each[2]) for each in (a, b)]
    assert ChangedSample("0/0", "s", sides[0], sides[1], "0/0", texts[0], texts[1]).why == layer
