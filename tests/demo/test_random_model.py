"""The model `random`: at chance level, another throw for each repeat, the same in every rerun."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import benchwright
from benchwright.core import UsageError
from benchwright.demo import DemoSettings
from benchwright.demo._model import DemoModel


def said(question: str, *, seed: int = 0, repeat: int = 0) -> str:
    model = DemoModel(DemoSettings(by_chance=True, seed=seed))
    body = {"model": "random", "messages": [{"role": "user", "content": question}], "temperature": 0}
    return model.complete("chat", body, repeat).choices[0].text  # type: ignore[arg-type]  # JSON, all of it


CHOICE = "What is {} + {}?\nA) {}\nB) {}\nC) {}\nD) {}\nAnswer with the letter."


def test_options_are_drawn_alike_whatever_is_right() -> None:
    drawn = [said(CHOICE.format(n, 3, n + 3, n + 4, n + 5, n + 6)) for n in range(600)]
    assert set(drawn) == set("ABCD")
    for letter in "ABCD":  # 150 expected, standard deviation 10.6
        assert 105 < drawn.count(letter) < 195


def test_each_repeat_and_seed_is_another_throw_and_a_rerun_is_not() -> None:
    question = CHOICE.format(1, 3, 4, 5, 6, 7)
    repeats = [said(question, repeat=n) for n in range(40)]
    assert set(repeats) == set("ABCD")
    assert repeats == [said(question, repeat=n) for n in range(40)]
    assert repeats != [said(question, repeat=n, seed=1) for n in range(40)]


def test_yes_and_no_and_numbers_are_drawn_too() -> None:
    verdicts = [said(f"Is {n} an even number? Answer yes or no.") for n in range(200)]
    right = sum((verdict.lower() == "yes") == (n % 2 == 0) for n, verdict in enumerate(verdicts))
    assert {verdict.lower() for verdict in verdicts} == {"yes", "no"}
    assert 60 < right < 140
    assert sum(said(f"What is {n} + {n}?") == str(2 * n) for n in range(200)) < 20


@pytest.mark.parametrize("model", ["random", "random_label"])
def test_a_run_is_at_chance_level(tmp_path: Path, model: str) -> None:
    path = tmp_path / "mcq.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "A", "B", "C", "D", "answer"])
        for n in range(400):
            writer.writerow([f"What is {n} + 1?", n + 1, n + 2, n + 3, n + 4, "A"])
    result = benchwright.run(path, model=model, workspace=tmp_path)
    assert 0.15 < result.summary.metrics["accuracy"].value < 0.35
    again = benchwright.run(path, model=model, workspace=tmp_path / "other")
    assert again.summary == result.summary
    assert any("at random" in note for note in result.summary.notes)
    with pytest.raises(UsageError, match="random model"):
        benchwright.run(path, model=model, workspace=tmp_path, demo_skill=1.0)
