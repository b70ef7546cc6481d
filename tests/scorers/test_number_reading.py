"""The number that a text gives: read as a whole, in any notation, or not at all."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.scorers.growth import assert_linear
from tests.scorers.number_notations import parts, written
from tests.scorers.reply_shapes import beside, followed, without
from tests.scorers.word_problems import explanations

from benchwright.scorers import ScorerInput, Scores, gsm8k_answer_strict, qa_answers
from benchwright.scorers._quantity.reader import read_number

REPLIES = Path(__file__).parent / "replies"
SCORER = qa_answers(["numeric"])


def score(response: str, target: object, question: str = "") -> Scores:
    return SCORER(ScorerInput(response, target, {"question": question} if question else {}))


@pytest.mark.parametrize(
    ("response", "target"),
    [
        ("5/8", "3/8"),
        ("1/4", "3/4"),
        ("7,5", "3,5"),
        ("7 000", "12 000"),
        ("12.000", "7.000"),
        ("The answer is 1/2", "1"),
        (r"\boxed{\frac{3}{4}}", 3),
        (r"\boxed{10^{6}}", 10),
        ("2 1/2", "1/2"),
        ("2 1/2", 2),
        ("1.5 million", 1.5),
        ("6 × 10^23", 23),
        ("-3/4", "3/4"),
        ("12 000", 12),
        ("12:30", 30),
        ("5'10", 10),
        ("1h15", 1),
        ("3π", 3),
        ("2√3", 3),
        ("2x", 2),
        ("GPT-4", 4),
    ],
)
def test_a_part_of_a_number_is_never_the_number(response: str, target: object) -> None:
    for text in (response, f"The answer is {response}.", f"We get {response}"):
        assert score(text, target)["numeric"] is False
        assert gsm8k_answer_strict(ScorerInput(text, target, {}))["correct"] is False


@pytest.mark.parametrize(
    ("response", "rule"),
    [
        ("1999-12-01", "date"),
        ("12/05/2024", "date"),
        ("4 May 1961", "date"),
        ("2.10.3", "date"),
        ("5–10", "range"),
        ("5 to 10", "range"),
        ("14:35", "time_or_ratio"),
        ("4 or 5", "several"),
        ("(2, 3)", "several"),
        ("3 out of 4", "several"),
        ("5 feet 11 inches", "units"),
        ("3π", "formula"),
        ("more than 5", "bound"),
        ("5 billions d'euros, c'est le résultat", "ambiguous"),
        ("The answer is 5. Wait, let me count: 3 here and 4 there.", "corrected"),
        ("1" * 500, "too_long"),
        ("none", "not_found"),
    ],
)
def test_what_is_not_one_number_is_unparsed_with_the_reason(response: str, rule: str) -> None:
    scores = score(response, 5)
    assert (scores["numeric"], scores["parsed"], scores["matched"], scores["rule"]) == (
        False,
        False,
        None,
        rule,
    )


@pytest.mark.parametrize(
    ("response", "target", "verdict"),
    [
        ("1,234", 1234, True),
        ("1,234", "1.234", None),
        ("The total is 1,234", 1.234, False),
        ("1.234", 1.234, True),
        ("1.234", 1234, None),
        ("1.234", "1.234", True),
        ("Das Ergebnis ist 1.234", 1234, True),
        ("Das Ergebnis ist 1.234", 1.234, None),
        ("Das Ergebnis ist 3,142", 3.142, True),
        ("1.234", "12.345,6", False),
        ("1.234", "1.234,0", True),  # the target's own notation decides
        ("0,5 + 1.000 = 1.000,5", "1000,5", True),
        ("20 %", 20, True),
        ("20 %", 0.2, True),
        ("20", "20 %", True),
        ("0.2", "20 %", True),
        ("0.5 %", 0.5, None),
        ("0.5", "0.5 %", None),
        ("0.5 %", 0.005, True),
        ("0.5 %", 50, False),
        ("300K", 300, None),
        ("300K", 300_000, True),
        ("$300K", 300, False),
        ("3 million", 3, None),
        ("3 million", 3_000_000, True),
        ("(42)", 42, True),
        ("(42)", -42, None),
        ("Loss: ($42)", -42, True),
        ("1/3 ≈ 0.333", "1/3", True),
        ("1/3 ≈ 0.333", 0.333, True),
    ],
)
def test_the_target_decides_only_where_that_is_sound(
    response: str, target: object, verdict: bool | None
) -> None:
    scores = score(response, target)
    assert (scores["numeric"], scores["parsed"]) == (verdict is True, verdict is not None)
    assert (scores["rule"] == "ambiguous") == (verdict is None)


@pytest.mark.parametrize(
    ("name", "share"),
    [
        *((f"numbers_{letter}", 0.92) for letter in "abcdefghijklmnopqrstuvwxy"),
        *((f"numbers_hard_{letter}", 0.8) for letter in "abc"),
        (
            "numbers_hard_d",
            0.7,
        ),  # replies of which each is asked about twice: what they do not answer is unparsed
    ],
)
def test_replies_are_read_as_a_careful_reader_reads_them(name: str, share: float) -> None:
    """So many alike, and never another number."""
    replies = [json.loads(line) for line in (REPLIES / f"{name}.jsonl").read_text("utf-8").splitlines()]
    alike = 0
    for reply, meant, *asked in replies:
        scores = score(reply, meant or "987654321", *asked)
        assert scores["numeric"] or not scores["parsed"], (reply, meant, scores["matched"])
        alike += scores["parsed"] == (meant is not None)
    assert alike / len(replies) >= share


@pytest.mark.parametrize("block", range(4))
def test_every_notation_gives_its_value_or_nothing(block: int) -> None:
    unread = 0
    total = 300
    for seed in range(block * total, (block + 1) * total):
        reply = written(seed)
        scores = score(reply.text, reply.target)
        assert scores["numeric"] or not scores["parsed"], (reply, scores["matched"])
        unread += not scores["numeric"] and not reply.ambiguous
        for part in set(parts(reply.text)):
            if Fraction(part) not in (reply.value, reply.value * 100):
                assert not score(reply.text, part)["numeric"], (reply, part)
    assert unread / total <= 0.02


@pytest.mark.parametrize("number", ["0", "7", "-3", "42", "3.5", "-0.25", "123456789012345", "100.00"])
@pytest.mark.parametrize("end", ["", ".", "\n", ".\n"])
@pytest.mark.parametrize(
    "lead", ["", "The answer is ", "the answer: ", "Answer: ", "The final answer is ", "Final answer: "]
)
def test_plain_replies_are_read_as_all_others_are(lead: str, number: str, end: str) -> None:
    reply = f"{lead}{number}{end}"
    assert read_number(reply) == read_number(f"{reply}{' ' * 60}")  # too long to be a plain one


@pytest.mark.parametrize("seed", range(8))
def test_word_problems_are_read_by_their_conclusion(seed: int) -> None:
    """Right or unparsed, never another number; what concludes nothing is unparsed."""
    every = explanations(seed)
    unread = 0
    for one in every:
        scores = score(one.text, 987654321 if one.result is None else one.result)
        assert scores["numeric"] or not scores["parsed"], (one, scores["matched"])
        unread += one.result is not None and not scores["parsed"]
    assert unread / len(every) <= 0.05


@pytest.mark.parametrize("seed", range(6))
def test_what_follows_an_answer_and_gives_none_is_not_read(seed: int) -> None:
    for kind, text, number in followed(seed):
        assert score(text, number)["numeric"], (kind, text, score(text, number)["matched"])


@pytest.mark.parametrize("seed", range(3))
def test_replies_without_an_answer_are_unparsed(seed: int) -> None:
    for kind, text in without(seed):
        scores = score(text, 987654321)
        assert not scores["parsed"], (kind, text, scores["matched"])


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_found_among_other_numbers(seed: int) -> None:
    for text, number in beside(seed):
        assert score(text, number)["numeric"], (text, score(text, number)["matched"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Il y en a quatre-vingt-dix-sept.", 97),
        ("L'armée comptait sept mille soldats.", 7000),
        ("Compró una docena de huevos.", 12),
        ("Hay treinta y dos alumnos.", 32),
        ("Novembre ha trenta giorni.", 30),
        ("São quarenta e dois dias.", 42),
        ("Там двадцать пять книг.", 25),
        ("She bought half a dozen rolls.", 6),
        ("Earth has one moon.", 1),
        ("That is one of the moons.", None),
        ("Il y en a cent vingt.", None),
        ("Son mil quinientos.", None),
    ],
)
def test_numbers_in_words_are_read_as_a_whole_or_not_at_all(text: str, value: int | None) -> None:
    number = read_number(text).number
    assert (None if number is None else number.value) == value


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("There are 5 red and 7 blue balls in total.", "several"),
        ("First she buys 5 apples. She also buys 7 pears.", "several"),
        ("Red: 5\nBlue: 7", "several"),
        ("1. 5 apples\n2. 7 pears", "several"),
        ("So Tom is 12 and Ann is 7.", "several"),
        ("12 because Tom has 5. Therefore 13 are left.", "several"),
        ("He needs 4 more than the 8 he has.", "not_found"),
    ],
)
def test_counts_without_a_conclusion_are_unparsed(text: str, rule: str) -> None:
    scores = score(text, 7)
    assert (scores["parsed"], scores["rule"]) == (False, rule)


@pytest.mark.parametrize(
    ("response", "target", "right"),
    [
        ("0.30000000000000004", 0.3, True),
        ("0.3", 0.30000000000000004, True),
        ("The sum is 2.9999999999999996", 3, True),
        ("0.3001", 0.3, False),
        ("0.3000000001", 0.3, False),
        ("1000000000000001", 1000000000000000, False),
        ("-0.30000000000000004", 0.3, False),
        ("0.00000000000000001", 0, False),
    ],
)
def test_the_noise_of_binary_arithmetic_is_no_difference(response: str, target: object, right: bool) -> None:
    assert score(response, target)["numeric"] is right
    assert gsm8k_answer_strict(ScorerInput(response, target, {}))["correct"] is right


@pytest.mark.parametrize(
    "unit",
    ["answer is ", "答案是", "1/2 ", "(5", "so 5 ", "5 = ", "not 5 ", "answer to 1 ", "[5]", "one hundred and ", r"\frac{1}{",
     "10^", "wait 5 ", "\n5)", "5 feet ", "minus ", "x_1", "<think>", "{", "$",
     "5 and ", "so ", "because 5 ", "also 5. ", "check 5. ", "cannot 5. ", "5? ", "if 5 ", "**5** ", "[1] ", "a) 5. ", "\nQ: ",
     "note 5. ", "The car uses 5 litres. ", "i.e. ", "trente et ", "```python ", "~~5~~", "<5>", "- if 5\n", "many people say 5 ", "5 → ", "\nwhat is 5?\n", "1,", "5,0", "((5", "{5}"],
)  # fmt: skip
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    assert_linear(lambda text: score(text, "5"), unit)


def test_only_the_end_of_a_megabyte_is_read() -> None:
    assert score("5 and " * 200_000 + "so the answer is 12.", 12)["numeric"]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"answer": 42, "confidence": 0.87}', 42),
        ("{'result': '42', 'steps': 3}", 42),
        ("answer=42 confidence=0.8", 42),
        ("We get x² = 49, hence x = ±7.", None),
        (r"$x = \pm 7$", None),
        ("5 +/- 0.2", None),
    ],
)
def test_named_values_are_read_by_name_and_two_signs_are_two_numbers(reply: str, value: int | None) -> None:
    number = read_number(reply).number
    assert (None if number is None else number.value) == value
