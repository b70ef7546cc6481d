"""extract_choice: what replies are read as, and on which characters."""

from __future__ import annotations

import re

import pytest

from benchwright.scorers import (
    extract_choice,
    gold_letter,
    options_of,
)
from benchwright.scorers._mcq.extraction import Extraction
from benchwright.scorers._mcq.rules import CHOICE_RULES, NO_ANSWER_REASONS

SUMS = {"A": "2258", "B": "2263", "C": "2281"}
FOUR = {**SUMS, "D": "none of these"}
CITIES = {"A": "Paris", "B": "London", "C": "Rome"}
ALL_26 = {chr(65 + at): f"option {at}" for at in range(26)}


def letter(reply: str, options: dict[str, str] = SUMS) -> str | None:
    found = extract_choice(reply, options)
    assert (found.letter is None) == (found.method == "none") == (found.start is None)
    assert found.rule in ({rule.name for rule in CHOICE_RULES} if found.letter else NO_ANSWER_REASONS)
    if found.start is not None and found.end is not None:
        assert reply[found.start : found.end].strip(), "the span shows what decided"
    return found.letter


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        *(
            (reply, "B")
            for reply in ("B", "(B)", "B.", "**B**", r"\boxed{B}", "I think B is right", "It is 2263.")
        ),
        ("b", "B"),
        ("answer: b", "B"),
        ("", None),
        ("zzz", None),
        ("The correct answer is **B**", "B"),
        ("A simple sum gives 2263", "B"),
        ("2263 not 2258", "B"),
        ("C or B", None),
    ],
)
def test_replies_that_were_once_misread(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [("I do not know", None), ("Berlin", None), ("A capital of Italy: Rome", "C"), ("parsi", None)],
)
def test_cities_that_were_once_misread(reply: str, expected: str | None) -> None:
    assert letter(reply, CITIES) == expected


@pytest.mark.parametrize("rule", CHOICE_RULES, ids=lambda rule: rule.name)
def test_each_rule_decides_its_own_examples(rule: object) -> None:
    for example in rule.examples:  # type: ignore[attr-defined]
        found = extract_choice(example, FOUR)
        assert (found.rule, found.letter is not None) == (rule.name, True), example  # type: ignore[attr-defined]


def test_rules_have_names_of_their_own_and_stand_in_the_order_of_steps() -> None:
    assert len({rule.name for rule in CHOICE_RULES}) == len(CHOICE_RULES)
    steps = list(dict.fromkeys(rule.step for rule in CHOICE_RULES))
    assert steps == ["whole reply", "statement", "lone letter", "option text"]
    assert [rule.step for rule in CHOICE_RULES] == sorted((r.step for r in CHOICE_RULES), key=steps.index)


@pytest.mark.parametrize(
    ("reply", "decided"),
    [
        ("  B \n", "B"),
        ("The correct answer is **B**", "B"),
        ("<think>Surely answer: A</think>\n\nThe answer is: __B__", "B"),
        (r"So $\boxed{\text{(B)}}$.", "B"),
        ('{"reason": "A is small", "answer": "B"}', "B"),
        ("It   gives\n\n**2,263**!", "2,263"),
        ("答案：（Ｂ）。", "Ｂ"),
        ("A simple sum gives 2263", "2263"),
        ("not 2258\u200b but 2263.", "2263"),
    ],
)
def test_span_shows_the_characters_that_decided(reply: str, decided: str) -> None:
    found = extract_choice(reply, SUMS)
    assert found.letter == "B"
    assert reply[found.start : found.end] == decided
    assert found.span == f"{found.start}:{found.end}"


@pytest.mark.parametrize(
    "reply",
    [
        "ANSWER: B",
        "Answer:\nB",
        "**Answer:** B",
        "### Final Answer\n\n**B) 2263**",
        "The answer is most likely B, although C is also plausible.",
        "The answer's B",
        "So the answer must be B.",
        "The answer to the question is B",
        "We get 998, then 1648, then 2263.\n\nSo the correct answer is **B. 2263**.",
        "Answer: B. 2263\nExplanation: A. 2258 is too small.",
        "The answer is B) 2263, not A) 2258.",
        "The sum is 2263, which corresponds to option B.",
        "A. 2258 B. 2263 C. 2281. The result matches option B.",
        "I'm not sure, but I think it's B.",
        "Yes, B is correct.",
        "A is wrong. C is wrong. B is correct.",
        "A is wrong. It is 2263.",
        "We can eliminate A and C. Therefore, the answer is B.",
        "This makes B the correct answer.",
        "The answer is A. No wait, the answer is B",
        r"\boxed{A} Let me recheck. \boxed{B}",
        '```json\n{"final_answer": "B", "why": "A is wrong"}\n```',
        '{"result": 2263}',
        "<answer>B</answer>",
        "A) 2258\nB) 2263\nC) 2281\n\nAnswer: B",
        "A) 2258\nB) 2263\nC) 2281\n\nB",
        "2258 is close. The answer is 2263.",
        "I'd pick 2263",
        "I choose B, because A is too small",
        "Option B: 2263",
        "B - 2263",
        "B\n\nThe others are too small.",
        "B\n\nQuestion: 1+1=\nA. 1\nB. 2\nAnswer: C",
        "👉 **B**",
        "本题选项A错误，选项B正确，选项C错误",
        "我选择B，因为A太小",
        "A不对，应该是B",
        "不是2258，而是2263",
        "因此，答案是选项B。",
        "（Ｂ）",
        "Die richtige Antwort ist B",
        "B</s>",
        "B<|im_end|>",
        "**B.** 2263",
        "#### B",
        "Option **B** is correct.",
        "I am confident that B is correct",
        "【答案】B",
        "正确选项为：B",
        "选B。A、C都不对。",
        "A和C都不对，选B",
        "B。因为只有它对",
    ],
)
def test_ways_to_say_b(reply: str) -> None:
    assert letter(reply) == "B"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("not B, rather C", "C"),
        ("The answer isn't B but C", "C"),
        ("答案不是B，而是C", "C"),
        ("C, not B", "C"),
        ("A is wrong", None),
        ("not B", None),
        ("不选B", None),
        ("答案不是B", None),
        ("I don't think B is right", None),
        ("I am not sure that the answer is B", None),
        ("The answer is neither A nor B", None),
        ("If the answer is B, then so be it", None),
        ("Is the answer B?", None),
        ("The answer is B?", None),
        ("Suppose B is correct", None),
        ("I am not confident that B is correct", None),
        ("Choose A, B or C.", None),
        ("I can rule out A. I can rule out B.", None),
        ("可以排除A和B", None),
    ],
)
def test_what_is_denied_supposed_or_asked_is_not_stated(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("<think>The answer is B", "unfinished_reasoning"),
        ("C or B", "ambiguous"),
        ("The answer is B or C", "ambiguous"),
        ("Answer: A, B or C", "ambiguous"),
        ("A/B", "ambiguous"),
        ("B或C", "ambiguous"),
        ("2263 or 2258", "ambiguous"),
        ("The answer is 2263 or 2258", "ambiguous"),
        ("Answer: B. Wait, no: B is wrong.", "retracted"),
        ("zzz", "not_found"),
        ("**", "not_found"),
        ("D", "not_found"),
        ("The answer is D", "not_found"),
        ("A) 2258\nB) 2263\nC) 2281", "ambiguous"),
    ],
)
def test_why_nothing_is_read(reply: str, reason: str) -> None:
    assert extract_choice(reply, SUMS) == Extraction(None, "none", reason, None, None)


def test_without_options_nothing_is_read() -> None:
    assert extract_choice("B", {}).rule == "no_options"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A tie, I think", None),
        ("The answer is a tie", None),
        ("Answer: A city", None),
        ("Answer: A because it is", "A"),
        ("The answer is a", "A"),
        ("I think so", None),
        ("I", "I"),
        ("Answer: I", "I"),
        ("Answer: I don't know", None),
        ("I think it is Z", "Z"),
        ("It is option 25", "Z"),
        ("option 2", "C"),
        ("z", "Z"),
    ],
)
def test_articles_and_pronouns_are_no_options_among_26(reply: str, expected: str | None) -> None:
    assert letter(reply, ALL_26) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("12263", None),
        ("12,263", None),
        ("It is 2263.5", None),
        ("0.2263", None),
        ("-2263", None),
        ("1/2263", None),
        ("x2263", None),
        ("2,263", "B"),
        ("=2263", "B"),
        ("(2263)", "B"),
        ("2263元", "B"),
        ("共2263个", "B"),
        ("The answer is 2258 + 5 = 2263", None),
    ],
)
def test_numbers_are_read_whole(reply: str, expected: str | None) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        ({"A": "York", "B": "New York"}, "It lies in New York.", "B"),
        ({"A": "York", "B": "New York"}, "It lies in York.", "A"),
        ({"A": "York", "B": "New York"}, "Not New York: York", "A"),
        ({"A": "cat", "B": "cat"}, "It is a cat", None),
        ({"A": "cat", "B": "cat"}, "cat", None),
        ({"A": "cat", "B": "Cat."}, "a Cat!", None),
        ({"A": "B", "B": "A"}, "B", "B"),
        ({"A": "B", "B": "A"}, "The answer is A", "A"),
        ({"A": "C major", "B": "D minor", "C": "E flat"}, "The answer is C major", "A"),
        ({"A": "C", "B": "C++", "C": "Java"}, "I would use C++", "B"),
        ({"A": "C", "B": "C++", "C": "Java"}, "C++", "B"),
        ({"A": "Yes", "B": "No"}, "I have no idea", None),
        ({"A": "Yes", "B": "No"}, "No, it is not.", "B"),
        ({"A": "toxic", "B": "harmless"}, "It is non-toxic", None),
        ({"A": "5", "B": "-5"}, "x = -5", "B"),
        ({"A": "0.5", "B": "5"}, "it equals 0.5", "A"),
        ({"A": "10", "B": "10%"}, "about 10% of it", "B"),
        ({"A": "It rises.", "B": "It falls."}, "I believe it falls", "B"),
        ({"A": "Only B is correct", "B": "Milan"}, "The answer is A: Only B is correct", "A"),
        ({"A": "x", "B": "y", "C": "Both A and B"}, "Both A and B are fine", "C"),
        ({"A": "x", "B": "y", "C": "Both A and B"}, "The answer is B", "B"),
        ({"A": "Milan", "B": "Rome"}, "Milan is not a capital.", "A"),
        ({"A": "北京", "B": "上海"}, "首都是北京。", "A"),
        ({"A": "北京", "B": "上海"}, "不是上海，是北京", "A"),
        ({"A": "*", "B": "+"}, "*", "A"),
        ({"A": r"$\frac{1}{2}$", "B": r"$\frac{1}{3}$"}, r"\boxed{\frac{1}{2}}", "A"),
        ({"A": "True", "B": "False"}, "The statement is not true.", None),
        ({"A": "Straße", "B": "Weg"}, "die STRASSE? Nein, der Weg", "B"),
        (CITIES, "Not Paris or London.", None),
        (CITIES, "Neither Paris nor London. Rome.", "C"),
        (CITIES, "Romeo", None),
        (CITIES, "Vitamin B is best", None),
        (CITIES, "Rome (C)", "C"),
    ],
)
def test_option_texts(options: dict[str, str], reply: str, expected: str | None) -> None:
    assert letter(reply, options) == expected


@pytest.mark.parametrize("reply", ["В", "Answer: В", "Β", "答案：В"])
def test_letters_that_only_look_alike_are_none(reply: str) -> None:
    assert letter(reply) is None


@pytest.mark.parametrize("other", "ACDI")
def test_no_letter_is_read_better_than_another(other: str) -> None:
    options = {chr(65 + at): f"text {at}" for at in range(9)} | FOUR
    options["B"], options[other] = options[other], options["B"]
    for rule in CHOICE_RULES:
        for example in rule.examples:
            if extract_choice(example, FOUR).letter != "B" or (other == "I" and " I" in f" {example}"):
                continue
            swapped = re.sub(
                rf"(?<![A-Za-z0-9'])[Bb{other}](?![A-Za-z0-9'])",
                lambda found: {"B": other, "b": other.lower()}.get(found[0], "B"),
                example,
            )
            if other == "I" and re.search(r"\bI (?:because|again)", swapped):
                continue  # the pronoun is more likely there
            assert extract_choice(swapped, options).letter == other, swapped


def test_only_what_follows_the_reasoning_counts() -> None:
    assert letter("<think>Answer: A. Answer: C.</think>B") == "B"
    assert letter("Answer: A</think>The answer is B") == "B"
    assert letter("B <think>or rather C?</think>") == "B"
    assert letter("[THINK]C[/THINK]\n(B)") == "B"
    assert letter("Answer: A</think>") is None


def test_a_late_answer_is_found_behind_megabytes_and_cut_numbers_are_not_read() -> None:
    noise = "So it goes on and on. " * 500_000
    found = extract_choice(f"{noise}The answer is **B**.", SUMS)
    assert (found.letter, found.start) == ("B", len(noise) + 16)
    assert letter("2263" + "9" * 5_000_000 + " the end") is None
    assert letter("9" * 5_000_000 + "2263") is None


def test_values_of_rows_may_be_anything() -> None:
    assert options_of({"A": 1, "B": 2.5, "C": True, "D": None, "E": "x"}) == {
        "A": "1",
        "B": "2.5",
        "C": "True",
    }
    assert options_of({"A": "x", "B": " ", "C": "y"}) == {"A": "x"}
    assert options_of({"B": "x"}) == {}
    assert len(options_of(ALL_26)) == 26
    assert letter("it is 2.5", options_of({"A": 1, "B": 2.5})) == "B"


@pytest.mark.parametrize(
    ("answer", "options", "expected"),
    [
        ("B", SUMS, "B"),
        (" b ", SUMS, "B"),
        ("(b)", SUMS, "B"),
        ("B.", SUMS, "B"),
        ("B) 2263", SUMS, "B"),
        ("B) 2258", SUMS, None),
        (2263, SUMS, "B"),
        ("2263", SUMS, "B"),
        ("london", CITIES, "B"),
        ("Berlin", CITIES, None),
        ("D", SUMS, None),
        ("", SUMS, None),
        (None, SUMS, None),
        ("B", {"A": "B", "B": "A"}, "B"),
        ("cat", {"A": "cat", "B": "Cat"}, None),
        (True, {"A": "True", "B": "False"}, "A"),
        (["B"], SUMS, "B"),
        (["A", "B"], SUMS, None),
        ({"letter": "B"}, SUMS, None),
    ],
)
def test_gold_letter(answer: object, options: dict[str, str], expected: str | None) -> None:
    assert gold_letter(answer, options) == expected
