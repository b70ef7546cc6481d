"""The quick path for plain replies gives exactly what the full reader gives, and can be left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.scorers.reply_shapes import ANSWERS

from benchwright.scorers._quantity.quick import read_quickly
from benchwright.scorers._quantity.reader import read_fully

REPLIES = Path(__file__).parent / "replies"
NUMBERS = (
    "0",
    "7",
    "42",
    "-5",
    "1000",
    "1200",
    "1999",
    "2024",
    "123456789012345",
    "0.5",
    "3.14",
    "-0.25",
    "1000.00",
    "12.5",
)
OTHERS = (
    "007",
    "1,200",
    "1.234",
    "1e3",
    "+5",
    "1/2",
    "20%",
    "٤٢",
    "1 000",
    "-",
    ".5",
    "5.",
    "1_000",
    "2024-05-01",
)
SHAPES = (
    "{}", "{}.", "{}\n", "The answer is {}.", "the answer is {}", "Answer: {}", "Final answer: {}", "The final answer is: {}.\n",
    r"\boxed{{{}}}", r"$\boxed{{{}}}$.", "**{}**", "**{}**.", "${}", "${}.", "#### {}", "#### {}\n",
)  # fmt: skip
BEFORE = (
    "", "3 + 4 = 7\n", "So 5 (or 6) remain.\n", "The answer is 9.\n", "Wait, -\n", r"\boxed{3}" "\n", r"\text{a" "\n", "Q: 5?\nA: 6\n", "~~5\n", "$5\n",
    "#### 3\n", "Question: 3\n", "\nQuestion: What is 3?\nAnswer: 4\n", "```python\n3\n", "<think>3\n", "I cannot help. 5 is\n", "5 -\n", "(\n",
    "Check: 3\n", "more than\n", "| 1 | 2 |\n", "Note: 5 of\n", "minus\n",
)  # fmt: skip


def agrees(text: str) -> bool:
    """Whether both give the same; False if the quick path leaves it."""
    quick = read_quickly(text)
    for mark in (None, ".", ","):
        assert quick is None or quick == read_fully(text, mark), text  # type: ignore[arg-type]
    return quick is not None


@pytest.mark.parametrize("shape", SHAPES)
def test_plain_replies_are_read_quickly_and_as_the_full_reader_reads_them(shape: str) -> None:
    assert agrees(shape.format("42"))
    for number in (*NUMBERS, *OTHERS):
        agrees(shape.format(number))


@pytest.mark.parametrize("before", BEFORE)
def test_what_comes_before_a_plain_number_changes_nothing(before: str) -> None:
    for shape, number in product((*SHAPES, *ANSWERS), (*NUMBERS, *OTHERS)):
        agrees(before + shape.format(number, a=3, b=4, r=number))
        agrees(before + "####\n" + number)
        agrees(f"{before}#### {number} apples")


@given(st.text(alphabet="0123459.,- $*#\\boxed{}TheanswrisA:\n%", max_size=30))
def test_any_short_text(text: str) -> None:
    agrees(text)


def test_labelled_replies() -> None:
    for path in REPLIES.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            reply = json.loads(line)[0]
            agrees(reply)
            agrees(f"{reply}\n#### 42")
            agrees(f"{reply} $\\boxed{{42}}$.")
            agrees(f"{reply} = \\boxed{{-3.5}}")
            agrees(f"{reply}\n\\[ \\boxed{{1200}} \\]")


def test_it_can_be_left_out() -> None:
    code = "from benchwright.scorers._quantity.quick import read_quickly; assert read_quickly('42') is None"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "BENCHWRIGHT_PLAIN": "1"}, check=True)
