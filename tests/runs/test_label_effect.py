"""What labels would change is computed by scoring labelled samples again, and equals what `rescore --labels` then gives."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.core import ModelRequest
from benchwright.results import LabelList
from benchwright.runs import rescore, run_labels
from benchwright.store import Workspace, open_store
from recording_server import recording

BENCHMARK = '''
from benchwright import benchmark, scorer

@benchmark(name="near", dataset="data.csv", prompt="{question}", target_field="answer")
@scorer
def near(sample):
    """How near two numbers are."""
    try:
        apart = abs(float(sample.response) - float(sample.target))
    except ValueError:
        raise ValueError("no number")
    return {"near": 1 / (1 + apart), "exact": apart == 0, "row": float(sample.metadata["answer"])}
'''


def written(folder: Path, seed: int) -> tuple[str, dict[str, Any]]:
    """A run's target and options, drawn at random."""
    chance = random.Random(seed)
    rows = [[f"What is {n} plus 1?", str(n + 1), chance.choice("ab")] for n in range(chance.randint(2, 25))]
    rows += [list(row) for row in rows[:2] if chance.random() < 0.5]  # copies
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["question", "answer", "topic"], *rows])
    (folder / "near.py").write_text(BENCHMARK)
    target = chance.choice(["data.csv", "near.py"])
    return target, {"repeats": chance.choice([1, 1, 3])}


def answered(seed: int) -> ScriptedEndpoint:
    chance = random.Random(seed)

    def reply(request: ModelRequest) -> str:
        number = int(request.payload.split(b"What is ")[-1].split()[0])
        return chance.choice([str(number + 1), str(number), "no", f"It is {number + 1}."])

    return ScriptedEndpoint(reply)


def labelled(folder: Path, seed: int) -> None:
    """Labels of all kinds on some samples of run 1."""
    chance = random.Random(seed)
    with open_store(Workspace(folder)) as store:
        places = [(index, repeat) for index, repeat, *_ in store.scored(1)]
        for index, repeat in chance.sample(places, k=min(len(places), chance.randint(1, 8))):
            kind = chance.choice(["gold", "gold", "extraction", "extraction", "ambiguous", "note", "tag"])
            value = chance.choice(["1", "2", "3", "no", None])
            if kind in ("note", "tag"):
                value = "x"
            label = LabelList.new(
                store,
                1,
                index,
                repeat,
                kind=kind,
                value=None if kind == "ambiguous" else value,
                who=chance.choice("AB"),
            )
            store.add_label(label)


@pytest.mark.parametrize("seed", range(20))
def test_the_exact_effect_is_what_rescoring_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    target, options = written(tmp_path, seed)
    benchwright.run(target, endpoint=answered(seed), **options)
    labelled(tmp_path, seed)
    with open_store(Workspace(tmp_path)) as store:
        if not LabelList.applicable(store, 1):
            return
        before = list(store.scored(1))
        found = run_labels(store, store.run(1))
        assert list(store.scored(1)) == before, "nothing is recorded"
        assert len(store.runs()) == 1
    assert found.effect is not None
    assert found.effect.unknown in ("", "no sample is left that has a score")
    again = rescore(1, labels=True)
    headline = again.summary.main_metric
    if found.effect.exact is None:
        assert headline is None or not found.effect.moves or found.effect.unknown
        if not found.effect.moves and headline is not None:
            assert again.metrics[headline].value == found.effect.recorded
        return
    assert found.effect.metric == headline
    assert headline is not None
    assert found.effect.exact == again.metrics[headline]
    assert f"{found.effect.exact.value:.4f}" in found.text


def test_a_run_that_was_scored_with_labels_moves_by_later_ones_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, 1)
    benchwright.run("near.py", endpoint=answered(1))
    with open_store(Workspace(tmp_path)) as store:
        store.add_label(LabelList.new(store, 1, 0, 0, kind="gold", value="7", who="A"))
    rescore(1, labels=True)
    with open_store(Workspace(tmp_path)) as store:
        assert run_labels(store, store.run(2)).text == ""
        store.add_label(LabelList.new(store, 2, 1, 0, kind="gold", value="9", who="A"))
        exact = run_labels(store, store.run(2)).effect
    assert exact is not None
    assert exact.exact == rescore(2, labels=True).metrics[str(exact.metric)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda folder: (folder / "near.py").write_text(BENCHMARK.replace("1 / (1 + apart)", "apart")), "changed since the run"),
        (lambda folder: (folder / "data.csv").write_text("question,answer,topic\nWhat is 1 plus 1?,2,a\n"), "changed since the run"),
        (lambda folder: (folder / "near.py").unlink(), "near.py"),
        (lambda folder: (folder / "near.py").write_text("import nothing_of_that_name"), "nothing_of_that_name"),
    ],
)  # fmt: skip
def test_where_it_cannot_be_computed_the_range_is_given_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, 2)
    benchwright.run("near.py", endpoint=answered(2))
    with open_store(Workspace(tmp_path)) as store:
        store.add_label(LabelList.new(store, 1, 0, 0, kind="gold", value="7", who="A"))
        change(tmp_path)
        found = run_labels(store, store.run(1))
    assert found.effect is not None
    assert found.effect.exact is None
    assert told in found.effect.unknown
    assert "Labels would" in found.text
    assert told in found.text


def test_a_judge_is_not_asked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, 4)
    with recording("GRADE: C") as server:
        judged = BENCHMARK.replace(
            "@benchmark(", f'@benchmark(judge={{"url": "{server.url}", "model_id": "j"}}, '
        )
        judged = judged.replace("import benchmark", "import judge_score, benchmark").replace(
            '    """How near', '    return judge_score(sample)\n    """How near'
        )
        (tmp_path / "near.py").write_text(judged)
        benchwright.run("near.py", endpoint=answered(4))
        asked = len(server.bodies)
        with open_store(Workspace(tmp_path)) as store:
            store.add_label(LabelList.new(store, 1, 0, 0, kind="gold", value="7", who="A"))
            found = run_labels(store, store.run(1))
        assert len(server.bodies) == asked
    assert "Exact figures are not known: its scorer asks a judge" in found.text


def test_a_second_visit_scores_nothing_until_labels_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("question,answer\nWhat is 1 plus 1?,2\nWhat is 2 plus 1?,3\n")
    (tmp_path / "near.py").write_text(BENCHMARK.replace("    try:", '    print("scored")\n    try:', 1))
    benchwright.run("near.py", endpoint=answered(1))
    capsys.readouterr()
    with open_store(Workspace(tmp_path)) as store:
        for value in ("7", "8"):
            store.add_label(LabelList.new(store, 1, 0, 0, kind="gold", value=value, who="A"))
            first = run_labels(store, store.run(1)).text
            assert "scored" in capsys.readouterr().out
            assert run_labels(store, store.run(1)).text == first
            assert "scored" not in capsys.readouterr().out
