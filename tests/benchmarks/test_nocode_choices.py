"""Choices of described evaluations: the published shuffles, every form of column, and which label a reply gives."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.benchmarks._nocode.choices import ChoiceReader, label_of, shuffled, siphash13
from benchwright.benchmarks._nocode.figures import LabelFigures, Similarities
from benchwright.config import ChoiceStyle
from benchwright.core import MissingFieldError


def reader(**changes: Any) -> ChoiceReader:
    given: dict[str, Any] = {
        "column": "c", "labels": ("A", "B", "C", "D"), "answer": "label", "answer_column": "a", **changes
    }  # fmt: skip
    return ChoiceReader(ChoiceStyle(**given))


def refused(read: ChoiceReader, row: dict[str, Any]) -> str:
    with pytest.raises(MissingFieldError) as caught:
        read(row)
    assert read.golden(row) == "", "a target that is not there is empty, not an error"
    return str(caught.value)


@pytest.mark.parametrize(("text", "digest"), [("hello", "e037876b880b8ed9"), ("", "30406ea523c53def")])
def test_siphash_gives_the_published_values(text: str, digest: str) -> None:
    assert f"{siphash13(text):016x}" == digest


@pytest.mark.parametrize(("seed", "order"), [("rec1", "acbd"), ("abc", "cabd")])
def test_shuffles_by_siphash_are_the_published_ones(seed: str, order: str) -> None:
    assert "".join("abcd"[at] for at in shuffled(4, seed, "siphash13")) == order


def test_shuffles_by_sha256_take_its_first_eight_bytes() -> None:
    import hashlib

    order = list("abcd")
    for last in (3, 2, 1):
        digest = hashlib.sha256(f"custom-nocode-choice-shuffle-v1:rec1:{last}".encode()).digest()
        chosen = int.from_bytes(digest[:8], "big") % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    assert ["abcd"[at] for at in shuffled(4, "rec1")] == order


@pytest.mark.parametrize("count", [1, 2, 26])
@pytest.mark.parametrize("seed", ["", "ü", "7"])
def test_a_shuffle_keeps_every_choice(count: int, seed: str) -> None:
    assert sorted(shuffled(count, seed)) == list(range(count))


def test_the_right_label_moves_with_its_choice() -> None:
    read = reader(seed_column="id", algorithm="siphash13")
    shown = read({"c": ["a", "b", "c", "d"], "a": "b", "id": "rec1"})
    assert [choice["text"] for choice in shown[0]] == ["a", "c", "b", "d"]
    assert shown[1] == "C"


@pytest.mark.parametrize(
    "column",
    [["x", 2, True], '["x", 2, true]', {"A": "x", "B": 2, "C": True}, '{"C": true, "A": "x", "B": 2}'],
)
def test_choices_are_a_list_an_object_or_either_as_json(column: Any) -> None:
    shown = reader(labels=("A", "B", "C"))({"c": column, "a": " b "})
    assert shown[0] == [
        {"label": "A", "text": "x"}, {"label": "B", "text": "2"}, {"label": "C", "text": "true"}
    ]  # fmt: skip
    assert shown[1] == "B"


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ({"a": "A"}, '"c" is missing; the row has: a'),
        ({"c": [], "a": "A"}, "contains 0 choices"),
        ({"c": ["x"] * 5, "a": "A"}, "contains 5 choices; expected 1 to 4"),
        ({"c": "no json", "a": "A"}, "a text that is not JSON"),
        ({"c": {"A": "x"}, "a": "A"}, "an object without B, C, D"),
        ({"c": None, "a": "A"}, "null"),
        ({"c": ["x", None], "a": "A"}, "something other than texts"),
        ({"c": ["x", "y"], "a": "C"}, "expected one of A, B"),
        ({"c": ["x", "y"], "a": ["A"]}, "is a list"),
        ({"c": ["x", "y"]}, "answer's column"),
    ],
)
def test_a_row_that_offers_no_choice_is_told(row: dict[str, Any], part: str) -> None:
    assert part in refused(reader(), row)


@pytest.mark.parametrize(("answer", "golden"), [(1, "A"), ("2", "B"), (2.0, "B")])
def test_an_answer_may_be_counted(answer: Any, golden: str) -> None:
    assert reader(answer="index", index_base=1)({"c": ["x", "y"], "a": answer})[1] == golden


@pytest.mark.parametrize("answer", [0, 3, -1, "x", 1.5, True, "inf"])
def test_a_number_that_counts_nothing_is_told(answer: Any) -> None:
    assert "expected a whole number from 1 to 2" in refused(
        reader(answer="index", index_base=1), {"c": ["x", "y"], "a": answer}
    )


def test_the_right_choice_may_be_a_column() -> None:
    read = reader(column=None, columns=("w", "r"), labels=("1", "2"), answer="choice", answer_column="r")
    assert read({"w": "wrong", "r": "right"})[1] == "2"
    assert 'the choice "r" is missing' in refused(read, {"w": "wrong"})


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        (" b ", "B"),
        ("The answer is (B).", "B"),
        ("**C**", "C"),
        ("A or rather B", "B"),
        ("It is a", "A"),  # as an article reads, so the rule says
        ("B one two three four five six seven", "B"),
        ("B one two three four five six seven eight", None),
        ("", None),
        ("neither", None),
        ("Answer:B", None),
        ("E", None),
    ],
)
def test_which_label_a_reply_gives(reply: str, label: str | None) -> None:
    assert label_of(reply, ["A", "B", "C"]) == label


def test_labels_of_several_words_are_the_whole_reply() -> None:
    assert label_of("Not Sure", ["sure", "not sure"]) == "not sure"


def test_figures_of_labels_are_those_of_the_textbook() -> None:
    found = LabelFigures(["x", "y"], [("f1", "all"), ("confusion", "json")])
    for golden, said in [("x", "x"), ("x", "x"), ("x", "y"), ("x", None), ("y", "y"), ("y", "x")]:
        found.add({"golden": golden, "parsed_response": said})
    values = found.figures()
    assert values["f1_label_0"] == pytest.approx(2 * 2 / (3 + 4))
    assert values["f1_label_1"] == pytest.approx(2 * 1 / (2 + 2))
    assert values["macro_f1"] == pytest.approx((4 / 7 + 1 / 2) / 2)
    assert values["weighted_f1"] == pytest.approx((4 / 7 * 4 + 1 / 2 * 2) / 6)
    assert [values[f"confusion_matrix_0_{to}"] for to in ("0", "1", "unparsed")] == [2, 1, 1]
    assert [values[f"confusion_matrix_1_{to}"] for to in ("0", "1", "unparsed")] == [1, 1, 0]
    assert len(found.remarks()) == 1
    assert found.remarks()[0].startswith("F1: macro 0.536")


def test_figures_of_nothing_are_zero() -> None:
    values = LabelFigures(["x"], [("f1", "json")]).figures()
    assert values == {"f1_label_0": 0.0, "macro_f1": 0.0, "weighted_f1": 0.0}
    assert Similarities().figures() == {}


def test_percentiles_are_interpolated() -> None:
    found = Similarities()
    for value in (0.0, 0.5, 1.0):
        found.add({"similarity": value})
    values = found.figures()
    assert values["median_similarity"] == 0.5
    assert values["p95_similarity"] == pytest.approx(0.95)
    assert values["stdev_similarity"] == pytest.approx((1 / 6) ** 0.5)
