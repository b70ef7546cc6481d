"""bleu, rouge, chrf against naive re-implementations; chrf_sacre and corpus_bleu against sacreBLEU."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import sacrebleu
from hypothesis import given, strategies as st

from benchwright.core import BenchwrightError, UsageError
from benchwright.scorers import ScorerInput, bleu, chrf, chrf_sacre, corpus_bleu, rouge

WORDS = st.lists(st.sampled_from(["the", "The", "cat", "sat", "on", "mat", "a", "B.", "é"]), max_size=12)
SENTENCES = WORDS.map(" ".join)
PROSE = st.text(st.sampled_from("ab cé,.!('日 \t\n"), max_size=25)


def sample(response: Any, target: Any) -> ScorerInput:
    return ScorerInput(response, target, {})


# Naive oracles: straight from the formulas, with Counters and tables.


def grams(items: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(items[i : i + n]) for i in range(len(items) - n + 1))


def naive_bleu(response: str, target: str) -> dict[str, float]:
    c, r = response.lower().split(), target.lower().split()
    if not c or not r:
        return {f"bleu_{n}": 0.0 for n in range(1, 5)}
    precisions = [((grams(c, n) & grams(r, n)).total() + 1) / (grams(c, n).total() + 1) for n in range(1, 5)]
    brevity = math.exp(1 - len(r) / len(c)) if len(c) < len(r) else 1.0
    return {f"bleu_{n}": brevity * math.prod(precisions[:n]) ** (1 / n) for n in range(1, 5)}


def naive_lcs(left: Sequence[str], right: Sequence[str]) -> int:
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def f1(common: int, found: int, wanted: int) -> float:
    return 2 * common / (found + wanted) if common else 0.0


def naive_rouge(response: str, target: str) -> dict[str, float]:
    c, r = response.lower().split(), target.lower().split()
    return {
        "rouge_1": f1((grams(c, 1) & grams(r, 1)).total(), len(c), len(r)),
        "rouge_2": f1((grams(c, 2) & grams(r, 2)).total(), len(c) - 1, len(r) - 1),
        "rouge_l": f1(naive_lcs(c, r), len(c), len(r)),
    }


def naive_chrf(response: str, target: str) -> dict[str, float]:
    def f(left: Sequence[str], right: Sequence[str], n: int) -> float:
        common, c, r = (
            (grams(left, n) & grams(right, n)).total(),
            grams(left, n).total(),
            grams(right, n).total(),
        )
        return 5 * (common / c) * (common / r) / (4 * common / c + common / r) if common else 0.0

    chars = [f(response, target, n) for n in range(1, 7)]
    both = [*chars, *(f(response.split(), target.split(), n) for n in (1, 2))]
    return {"chrf": 100 * sum(chars) / 6, "chrf_pp": 100 * sum(both) / 8}


@given(SENTENCES, SENTENCES)
def test_bleu_agrees_with_the_formula(response: str, target: str) -> None:
    assert bleu(sample(response, target)) == pytest.approx(naive_bleu(response, target), abs=1e-12)


@given(SENTENCES, SENTENCES)
def test_rouge_agrees_with_the_formula(response: str, target: str) -> None:
    assert rouge(sample(response, target)) == pytest.approx(naive_rouge(response, target), abs=1e-12)


@given(PROSE, PROSE)
def test_chrf_agrees_with_the_formula(response: str, target: str) -> None:
    assert chrf(sample(response, target)) == pytest.approx(naive_chrf(response, target), abs=1e-10)


@given(PROSE, PROSE)
def test_chrf_sacre_is_sacrebleus(response: str, target: str) -> None:
    found = chrf_sacre(sample(response, target))
    assert found["chrf"] == pytest.approx(sacrebleu.sentence_chrf(response, [target]).score, abs=1e-9)
    with_words = sacrebleu.sentence_chrf(response, [target], word_order=2).score
    assert found["chrf_pp"] == pytest.approx(with_words, abs=1e-9)


@pytest.mark.parametrize(
    ("response", "target", "expected"),
    [
        ("the cat", "the cat", [1, 1, 1, 1]),
        ("THE cat", "the CAT", [1, 1, 1, 1]),
        ("wrong", "right", [0.5, 0.5**0.5, 0.5 ** (1 / 3), 0.5**0.25]),  # too short: precision 1
        ("a", "a b", [math.exp(-1)] * 4),  # shorter than the target
        (
            "a b",
            "a",
            [2 / 3, (2 / 3 * 1 / 2) ** 0.5, (1 / 3) ** (1 / 3), (1 / 3) ** 0.25],
        ),  # longer: no penalty
        ("", "a", [0, 0, 0, 0]),
        ("a", " ", [0, 0, 0, 0]),
        ("42", 42, [1, 1, 1, 1]),
        ("none", None, [1, 1, 1, 1]),
    ],
)
def test_bleu_by_hand(response: str, target: Any, expected: list[float]) -> None:
    assert list(bleu(sample(response, target)).values()) == pytest.approx(expected, abs=1e-12)


def test_bleu_flatters_a_wrong_word_as_documented() -> None:
    assert bleu(sample("wrong", "right"))["bleu_4"] == pytest.approx(0.8409, abs=1e-4)


@pytest.mark.parametrize(
    ("response", "target", "expected"),
    [
        ("the cat sat", "the cat", [0.8, 2 / 3, 0.8]),
        ("cat", "cat", [1, 0, 1]),  # no bigrams
        ("b a", "a b", [1, 0, 0.5]),
        ("", "a", [0, 0, 0]),
        ("a", "", [0, 0, 0]),
        ("7 8", 7, [2 / 3, 0, 2 / 3]),
    ],
)
def test_rouge_by_hand(response: str, target: Any, expected: list[float]) -> None:
    assert list(rouge(sample(response, target)).values()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("response", "target", "expected"),
    [
        ("yes", "yes", (50, 50)),  # three orders of six, one word order of two
        ("abcdef", "abcdef", (100, 87.5)),
        ("a b", "a b", (50, 62.5)),  # the space is a character
        ("A", "a", (0, 0)),  # case is kept
        ("", "a", (0, 0)),
        ("a", "", (0, 0)),
        (None, "a", (0, 0)),
        ("None", None, (400 / 6, 62.5)),
        ("12", 12, (200 / 6, 37.5)),
        (" ", " ", (100 / 6, 12.5)),  # not empty, but without words
    ],
)
def test_chrf_by_hand(response: str | None, target: Any, expected: tuple[float, float]) -> None:
    assert tuple(chrf(sample(response, target)).values()) == pytest.approx(expected, abs=1e-10)


def test_chrf_sacre_takes_what_chrf_takes() -> None:
    assert chrf_sacre(sample(None, "a")) == {"chrf": 0.0, "chrf_pp": 0.0}
    assert chrf_sacre(sample("12", 12)) == {"chrf": 100.0, "chrf_pp": 100.0}


@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6))
def test_corpus_bleu_is_sacrebleus(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    expected = sacrebleu.corpus_bleu(hypotheses, [references], force=True).score
    assert corpus_bleu(hypotheses, references) == pytest.approx(expected, abs=1e-9)


def test_corpus_bleu_takes_several_references_per_sentence() -> None:
    hypotheses = ["the cat sat on the mat", "it rains a lot today"]
    references = [["the cat sat on a mat", "a cat sat on the mat"], ["it rains a lot now"]]
    streams: Any = [["the cat sat on a mat", "it rains a lot now"], ["a cat sat on the mat", None]]
    assert corpus_bleu(hypotheses, references) == pytest.approx(
        sacrebleu.corpus_bleu(hypotheses, streams).score, abs=1e-9
    )


@pytest.mark.parametrize(
    ("hypotheses", "references"), [([], []), (["a"], []), (["a"], ["b", "c"]), (["a"], [[]])]
)
def test_corpus_bleu_refuses_what_does_not_pair_up(hypotheses: list[str], references: list[Any]) -> None:
    with pytest.raises(UsageError, match="reference"):
        corpus_bleu(hypotheses, references)


def test_corpus_bleu_names_the_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(BenchwrightError, match=r"pip install 'benchwright\[metrics\]'"):
        corpus_bleu(["a"], ["a"])
