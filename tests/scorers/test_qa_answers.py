"""qa_answers: several metrics in one pass, and which of them hold."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from benchwright.core import ConfigError, UsageError
from benchwright.scorers import (
    JudgeCall,
    JudgeFailedError,
    ScorerInput,
    Scores,
    bleu,
    contains,
    exact_match,
    f1_token,
    qa_answers,
    qa_metric_names,
    rouge,
)
from benchwright.scorers._qa import QA_METRICS

STANDARD = ["normalised_exact", "exact", "contains", "contains_word", "numeric", "f1"]


def score(response: str | None, target: object, *metrics: str, **settings: Any) -> Scores:
    return qa_answers(metrics, **settings)(ScorerInput(response, target, {}))  # type: ignore[arg-type]


def holds(response: str, target: object, **settings: Any) -> str:
    """Names of the right-or-wrong metrics that hold."""
    scores = score(response, target, **settings)
    return " ".join(name for name in STANDARD if scores.get(name) is True)


@pytest.mark.parametrize(
    ("response", "target", "expected"),
    [
        ("877", "877", "normalised_exact exact contains contains_word numeric"),
        ("877", 877, "normalised_exact exact contains contains_word numeric"),
        (" 877", "877", "normalised_exact contains contains_word numeric"),
        ("8 77", "877", ""),
        ("The answer is 5", "5", "contains contains_word numeric"),
        ("15", "5", "contains"),
        ("It is 5.5", "5", "contains"),
        ("5.0", 5, "contains numeric"),
        ("1,200", "1200", "numeric"),
        ("-5", 5, "contains"),
        ("5 of 7", "5", "contains contains_word"),
        ("7. The answer is 5, not 3", "5", "contains contains_word numeric"),
        ("#### 5 and 3", "5", "contains contains_word"),
        (r"\boxed{5} or 3", "5", "contains contains_word numeric"),
        ("Paris", "Paris", "normalised_exact exact contains contains_word"),
        ("paris", "Paris", "contains contains_word"),
        ("It is Paris.", "Paris", "contains contains_word"),
        ("Parisian", "Paris", "contains"),
        ("new \n york", "new york", "normalised_exact contains contains_word"),
        ("Ｐａｒｉｓ", "Paris", "normalised_exact contains contains_word"),
        ("首都是北京。", "北京", "contains contains_word"),
        ("答案是42个苹果", "42", "contains contains_word numeric"),
        ("共１５个", "15", "contains contains_word numeric"),
        ("true", True, "normalised_exact exact contains contains_word"),
        ("0", 0, "normalised_exact exact contains contains_word numeric"),
        ("a+b", "+", "contains contains_word"),
        ("", "5", ""),
    ],
)
def test_which_metrics_hold(response: str, target: object, expected: str) -> None:
    assert holds(response, target) == expected


def test_numeric_is_absent_where_the_answer_holds_no_number() -> None:
    assert list(score("It is 5", "Paris")) == ["normalised_exact", "exact", "contains", "contains_word", "f1"]


@pytest.mark.parametrize(
    ("response", "matched", "rule"),
    [
        ("Take 1. That makes 2", "2", "last_number"),
        ("1 then 2", None, "several"),
        ("The answer is 1,000, twice 500", "1000", "stated"),
        ("42 because 6 times 7", "42", "opening"),
        ("So it is 6. I have 2 hands.", "6", "concluded"),
        ("答案：7，不是8", "7", "stated"),
        (r"\boxed{3} 4", "3", "boxed"),
        ("#### 4", "4", "marked"),
        ("none", None, "not_found"),
    ],
)
def test_the_number_that_was_read_and_its_rule_are_kept(
    response: str, matched: str | None, rule: str | None
) -> None:
    scores = score(response, 1)
    assert (scores["matched"], scores["rule"]) == (matched, rule)


def test_numbers_may_be_apart_by_a_share_of_the_expected_one() -> None:
    assert score("99", 100)["numeric"] is False
    assert score("99", 100, tolerance=0.01)["numeric"] is True
    assert score("98.9", 100, tolerance=0.01)["numeric"] is False
    assert score("-99", -100, tolerance=0.01)["numeric"] is True
    assert score("0.001", 0, tolerance=0.5)["numeric"] is False


def test_any_of_several_answers_will_do_and_the_best_value_counts() -> None:
    answers = ["the city of Paris", "Paris", 75]
    assert holds("Paris", answers) == "normalised_exact exact contains contains_word"
    assert score("Paris", answers)["f1"] == 1.0
    assert score("about 75", answers)["numeric"] is True
    assert score("big city", answers)["f1"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("target", [None, "", " ", [], [None, ""]])
def test_rows_without_an_answer_get_no_score(target: object) -> None:
    assert score("whatever", target, "regex") == {}


def test_no_response_is_wrong_in_everything() -> None:
    for response in ("", None):
        scores = score(response, "5", "rouge_l", "bleu", "regex")
        assert not any(scores[name] for name in scores if name not in ("matched", "rule"))


def test_metrics_asked_for_come_first_and_the_standard_ones_are_always_there() -> None:
    scores = score("the cat sat", "the cat", "rouge_l", "bleu", "f1")
    assert list(scores) == ["rouge_l", "bleu", "f1", "normalised_exact", "exact", "contains", "contains_word"]
    sample = ScorerInput("the cat sat", "the cat", {})
    assert scores["rouge_l"] == rouge(sample)["rouge_l"]
    assert scores["bleu"] == bleu(sample)["bleu_4"]
    assert scores["f1"] == f1_token(sample)["f1"]


def test_names_have_other_spellings() -> None:
    assert qa_metric_names(["normalized_exact"]) == tuple(STANDARD)
    assert qa_metric_names(["raw"])[0] == "exact"
    assert qa_metric_names(["f1_token", "F1"])[:2] == ("f1", "normalised_exact")
    assert qa_metric_names(["Rouge-L"])[0] == "rouge_l"
    assert qa_metric_names("f1")[0] == "f1"
    assert list(QA_METRICS[:6]) == STANDARD


def test_unknown_metrics_are_refused_with_the_near_name() -> None:
    with pytest.raises(
        UsageError, match=r"unknown metric 'exat' .*Did you mean 'exact'\? Known: normalised_exact"
    ):
        qa_answers(["exat"])


def test_regex_takes_the_answer_or_one_pattern_for_all() -> None:
    assert score("about 42 apples", r"\b\d+\b", "regex")["regex"] is True
    assert score("about 42 apples", "none", "regex", pattern=r"APPLES?$")["regex"] is True
    assert score("about 42 pears", "none", "regex", pattern="apples?$")["regex"] is False
    assert score("x", "(", "regex")["regex"] is False
    with pytest.raises(UsageError, match="not a valid regular expression"):
        qa_answers(["regex"], pattern="(")


@pytest.mark.parametrize("tolerance", [-0.1, float("nan"), float("inf"), "1 %"])
def test_tolerances_that_mean_nothing_are_refused(tolerance: Any) -> None:
    with pytest.raises(UsageError, match="expected a share"):
        qa_answers(tolerance=tolerance)


def test_a_judge_is_asked_with_all_accepted_answers() -> None:
    asked: list[JudgeCall] = []

    def ask(call: JudgeCall) -> str:
        asked.append(call)
        return "GRADE: C"

    scorer = qa_answers(["judge"], judge={"url": "http://localhost:1/v1", "model_id": "j"})
    sample = ScorerInput("Lutetia", ["Paris", "Lutèce"], {"question": "Capital?"}, ask=ask)
    scores = scorer(sample)
    assert list(scores)[:2] == ["judge", "judge_grade"]
    assert (scores["judge"], scores["judge_grade"], scores["exact"]) == (1.0, "C", False)
    assert "Paris / Lutèce" in str(asked[0].body)
    assert asked[0].config.model_id == "j"
    assert sample.config == {}


def test_the_settings_of_the_benchmark_reach_the_judge_too() -> None:
    config = {"judge": {"url": "http://localhost:1/v1", "model_id": "mine"}}
    sample = ScorerInput(
        "x",
        "y",
        {},
        config=config,
        ask=lambda call: f"GRADE: {'I' if call.config.model_id == 'mine' else 'C'}",
    )
    assert qa_answers(["judge"])(sample)["judge"] == 0.0


def test_a_judge_that_cannot_be_asked_fails_the_sample() -> None:
    with pytest.raises(ConfigError, match="judge"):
        score("x", "y", "judge")
    with pytest.raises(JudgeFailedError):
        qa_answers(["judge"], judge={"url": "http://localhost:1/v1", "model_id": "j"})(
            ScorerInput("x", "y", {})
        )
    with pytest.raises(ConfigError, match="model_id"):
        qa_answers(["judge"], judge={"url": "http://localhost:1/v1"})


@settings(max_examples=200)
@given(
    response=st.one_of(st.text(max_size=40), st.from_regex(r"[-0-9.,$ e答是]{0,20}", fullmatch=True)),
    target=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=4,
    ),
)
def test_any_text_against_any_answer(response: str, target: object) -> None:
    scores = score(response, target, "bleu", "rouge_l", tolerance=0.1)
    for name in [*STANDARD, "bleu", "rouge_l"]:
        assert 0 <= float(scores.get(name, 0)) <= 1  # type: ignore[arg-type]
    if scores and scores["exact"]:
        assert scores["normalised_exact"]
    if scores and scores["normalised_exact"]:
        assert scores["contains"]


@settings(max_examples=100)
@given(
    answer=st.one_of(
        st.integers(), st.text(min_size=1, max_size=20), st.decimals(allow_nan=False, allow_infinity=False)
    )
)
def test_the_answer_itself_is_right(answer: object) -> None:
    scores = score(str(answer), answer)
    assert all(scores[name] for name in ("normalised_exact", "exact", "contains") if scores)
    assert scores.get("numeric", True)


@pytest.mark.parametrize("unit", ["1,111", "\\boxed{", "#### ", "1", "answer is ", "5 ", "答案是", "5.", "-"])
def test_adversarial_megabytes_are_scored_in_no_time(unit: str) -> None:
    started = time.process_time()
    scores = score(unit * (1_000_000 // len(unit)), "5")
    assert time.process_time() - started < 25
    assert len(str(scores["matched"])) < 100


@pytest.mark.parametrize(
    ("response", "answer"),
    [("caf\u00e9 noir", "cafe\u0301 noir"), ("\uff12\uff10\uff12\uff16 年", "2026 年"), ("a\u00a0b", "a b")],
)
def test_what_is_equal_when_normalised_is_right_by_every_metric(response: str, answer: str) -> None:
    scores = qa_answers(["rouge_l"])(ScorerInput(response, answer, {}))
    right = [scores[name] for name in ("normalised_exact", "contains", "contains_word", "f1", "rouge_l")]
    assert right == [True, True, True, 1.0, 1.0]


@given(st.text(max_size=30), st.text(max_size=8))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_contains_is_one_thing_as_metric_and_as_scorer(response: str, answer: str) -> None:
    """For texts that are normalised already: the metric normalises first."""
    response, answer = (" ".join(unicodedata.normalize("NFKC", text).split()) for text in (response, answer))
    assume(answer and unicodedata.is_normalized("NFKC", response + answer))
    metric = qa_answers()(ScorerInput(response, answer, {}))["contains"]
    assert metric == contains(ScorerInput(response, answer, {}))["correct"]


def test_accents_count_alike_however_they_were_typed() -> None:
    typed, composed = "It is cafe\u0301", "caf\u00e9"
    assert contains(ScorerInput(typed, composed, {}))["correct"]
    assert f1_token(ScorerInput("cafe\u0301", composed, {}))["f1"] == 1.0
    assert exact_match(ScorerInput("cafe\u0301", composed, {}))["correct"]


@pytest.mark.parametrize(
    ("response", "answer", "held"),
    [
        ("The city has 12 000 inhabitants", "12", False),
        ("The city has 12 000 inhabitants", "000", False),
        ("The city has 12 345 inhabitants", "345", False),
        ("The city has 12 000 inhabitants", "12 000", True),
        ("The city has 12 000 000 inhabitants", "12 000", False),
        ("It costs 12'000 francs", "12", False),
        ("It costs 12\u202f000 €", "12", False),
        ("In 2024 100 people came", "2024", True),
        ("12 people", "12", True),
        ("12 0000", "12", True),
        ("5 12", "12", True),
    ],
)
def test_a_group_of_digits_is_no_whole_number(response: str, answer: str, held: bool) -> None:
    assert score(response, answer)["contains_word"] is held
