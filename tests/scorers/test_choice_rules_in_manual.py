"""The manual shows the cascade as it is declared."""

from __future__ import annotations

from pathlib import Path

from benchwright.scorers import (
    ScorerInput,
    mcq_answers,
)
from benchwright.scorers._mcq.rules import CHOICE_RULES, NO_ANSWER_REASONS
from benchwright.scorers._qa import QA_METRICS
from benchwright.scorers._quantity.expressions import UNREAD

PAGE = (Path(__file__).parents[2] / "docs" / "scorers.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]


def test_every_rule_stands_in_the_manual_in_order_with_its_examples() -> None:
    shown = [
        row
        for row in ROWS
        if row.startswith(tuple(f"| `{rule.name}` | {rule.step} " for rule in CHOICE_RULES))
    ]
    expected = []
    for rule in CHOICE_RULES:
        examples = ", ".join(f"`{example}`" for example in rule.examples).replace("\n", "\\n")
        expected.append(f"| `{rule.name}` | {rule.step} | `{rule.method}` | {rule.meaning} | {examples} |")
    assert shown == expected


def test_every_reason_stands_in_the_manual() -> None:
    for reason, meaning in (*NO_ANSWER_REASONS.items(), *UNREAD.items()):
        assert f"| `{reason}` | {meaning} |" in ROWS


def test_every_score_and_metric_stands_in_the_manual() -> None:
    heads = " ".join(row.split("|")[1] for row in ROWS)
    scores = mcq_answers()(ScorerInput("B", "B", {"A": "x", "B": "y"}))
    for name in (*scores, *QA_METRICS):
        assert f"`{name}`" in heads
