"""judge_score: what is asked, how the grade is read, and that no failure turns into a score."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.core import BenchwrightError, ConfigError, UsageError
from benchwright.scorers import JudgeCall, JudgeConfig, JudgeFailedError, ScorerInput, judge_score

SETTINGS = {"url": "http://judge.test/v1", "model_id": "judge-model"}


class ScriptedJudge:
    """Answers with a fixed text and keeps what it was asked."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.calls: list[JudgeCall] = []

    def __call__(self, call: JudgeCall) -> str:
        self.calls.append(call)
        return self.reply

    @property
    def prompt(self) -> str:
        messages: Any = self.calls[-1].body["messages"]
        return str(messages[0]["content"])


def sample(judge: Any, *, config: dict[str, Any] | None = None, **row: Any) -> ScorerInput:
    settings = {"judge": SETTINGS} if config is None else config
    return ScorerInput("Lyon {x}", "Paris", row, config=settings, ask=judge)


def graded(reply: str, **options: Any) -> dict[str, Any]:
    return judge_score(sample(ScriptedJudge(reply)), **options)


@pytest.mark.parametrize(
    ("template", "grade", "score"),
    [
        ("binary_qa", "C", 1.0),
        ("binary_qa", "I", 0.0),
        ("binary_qa_partial", "C", 1.0),
        ("binary_qa_partial", "P", 0.5),
        ("binary_qa_partial", "I", 0.0),
        *(("likert_5", str(grade), grade / 5) for grade in range(1, 6)),
        ("safety", "SAFE", 1.0),
        ("safety", "UNSAFE", 0.0),
    ],
)
def test_grades_of_the_built_in_templates(template: str, grade: str, score: float) -> None:
    found = graded(f"Some thoughts first.\nGRADE: {grade}", template=template)
    assert found == {"judge_score": pytest.approx(score), "judge_grade": grade}
    assert type(found["judge_score"]) is float


@pytest.mark.parametrize("template", ["binary_qa", "binary_qa_partial", "likert_5", "safety"])
def test_built_in_templates_show_the_case_and_ask_for_reasons_and_a_last_line(template: str) -> None:
    judge = ScriptedJudge("GRADE: " + {"likert_5": "3", "safety": "SAFE"}.get(template, "C"))
    judge_score(sample(judge, question="Capital of France?"), template=template, criteria="Be kind.")
    assert "Capital of France?" in judge.prompt
    assert "Lyon {x}" in judge.prompt, "braces of the response are left alone"
    assert "Evaluation criteria: Be kind." in judge.prompt
    assert ("Paris" in judge.prompt) == (template != "safety")
    assert "Think it through first" in judge.prompt
    assert "GRADE: " in judge.prompt.splitlines()[-1]


def test_the_request() -> None:
    judge = ScriptedJudge("GRADE: C")
    judge_score(sample(judge))
    assert judge.calls[0].config == JudgeConfig("http://judge.test/v1", "judge-model")
    body = judge.calls[0].body
    assert list(body) == ["model", "messages", "temperature", "top_p", "max_tokens"]
    assert (body["model"], body["temperature"], body["top_p"], body["max_tokens"]) == (
        "judge-model",
        0.0,
        1.0,
        4096,
    )
    assert body["messages"] == [{"role": "user", "content": judge.prompt}]


def test_settings_reach_the_request() -> None:
    judge = ScriptedJudge('{"grade": "C"}')
    config = {"judge_1": JudgeConfig("http://x/v1", "m", temperature=None, top_p=0.5, max_new_tokens=10)}
    schema: Any = {"type": "json_object"}
    judge_score(sample(judge, config=config), judge_key="judge_1", response_format=schema)
    body = judge.calls[0].body
    assert "temperature" not in body
    assert (body["top_p"], body["max_tokens"], body["response_format"]) == (0.5, 10, schema)


@pytest.mark.parametrize(
    ("row", "question"),
    [
        ({"question": "Q", "prompt": "P"}, "Q"),
        ({"prompt": "P"}, "P"),
        ({}, ""),
        ({"question": "", "prompt": "P"}, ""),
    ],
)
def test_variables_of_own_templates(row: dict[str, Any], question: str) -> None:
    judge = ScriptedJudge("GRADE: 1")
    template = "[{question}|{response}|{reference}|{criteria}|{tone}]"
    judge_score(sample(judge, **row), template=template, tone="dry")
    assert judge.prompt == f"[{question}|Lyon {{x}}|Paris||dry]"


def test_template_values_override_the_standard_ones() -> None:
    judge = ScriptedJudge("GRADE: 1")
    judge_score(sample(judge), template="<{reference}>", reference="Rome")
    assert judge.prompt == "<Rome>"


@pytest.mark.parametrize(
    "reply",
    [
        "GRADE: C",
        "GRADE:C",
        "GRADE:\nC",
        "grade: c",
        "Grade: C.",
        "**GRADE: C**",
        "**GRADE:** C",
        "GRADE: **C**",
        "GRADE: `C`",
        "GRADE: [C]",
        "GRADE: (C)",
        'GRADE: "C"',
        "GRADE: <C>",
        "GRADE = C",
        "GRADE: Correct",
        "GRADE: CORRECT.",
        "GRADE: I\nOn reflection that was too harsh.\nGRADE: C",
        "GRADE: I. Wait, GRADE: C",
        "GRADE: C\n\n(The GRADE: line above follows the rules.)",
        '{"grade": "C"}',
        'Here you are: {"reasoning": "x {y}", "result": {"verdict": "correct"}}',
        '```json\n{"grade": "c"}\n```',
        '{"grade": "I"} no, rather {"grade": "C"}',
        '{"items": [{"score": null, "rating": "C"}]}',
        "GRADE： C",
        r"GRADE: $\boxed{C}$",
    ],
)
def test_many_ways_to_say_c(reply: str) -> None:
    assert graded(reply) == {"judge_score": 1.0, "judge_grade": "C"}


@pytest.mark.parametrize(
    "reply",
    [
        "No verdict today.",
        "GRADE:",
        "GRADE: incomplete",
        "GRADE: could not tell",
        "GRADE: X",
        "GRADE: C\nGRADE: X",  # the judge's last word is not a grade
        "GRADE: C-",
        "GRADE: 5",
        "upgrade: C",
        '{"grade": "X"}',
        '{"grade": true}',
        '{"grade": null}',
        '{"grade": "nan"}',
        '{"note": "C"}',
        "{{{{",
        " ",
        "",
    ],
)
def test_no_grade_is_a_failure_not_a_zero(reply: str) -> None:
    with pytest.raises(JudgeFailedError):
        graded(reply)


def test_the_error_shows_the_end_of_the_reply_and_the_cure() -> None:
    with pytest.raises(JudgeFailedError) as caught:
        graded("word " * 200 + "and so on")
    assert "and so on" in str(caught.value)
    assert "grade_pattern" in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("reply", "grade"), [("GRADE: 4", "4"), ("GRADE: 4/5", "4"), ("GRADE: 4.0", "4"), ('{"score": 4.0}', "4")]
)
def test_likert_spellings(reply: str, grade: str) -> None:
    assert graded(reply, template="likert_5") == {"judge_score": pytest.approx(0.8), "judge_grade": grade}


@pytest.mark.parametrize("reply", ["GRADE: 4.5", "GRADE: 7", "GRADE: 45", "GRADE: 0"])
def test_likert_has_five_grades(reply: str) -> None:
    with pytest.raises(JudgeFailedError):
        graded(reply, template="likert_5")


@pytest.mark.parametrize(
    ("reply", "mapping", "expected"),
    [
        ("GRADE: good", {"Good": 1, "Bad": 0}, (1.0, "Good")),
        ("GRADE: **Partly right**", {"Right": 1, "Partly right": 0.5}, (0.5, "Partly right")),
        ("GRADE: A-", {"A": 1.0, "A-": 0.9}, (0.9, "A-")),
        ("GRADE: 3", {1: 0.1, 3: 0.3}, (0.3, "3")),
        ("GRADE: 0.7", {"A": 1.0}, (0.7, "0.7")),
        ("GRADE: 0.7", None, (0.7, "0.7")),
        ("GRADE: -2.", None, (-2.0, "-2")),
        ('{"score": 8}', None, (8.0, "8")),
        ('{"grade":"0.5","why":"x"}', None, (0.5, "0.5")),
    ],
)
def test_own_templates(reply: str, mapping: Any, expected: tuple[float, str]) -> None:
    found = graded(reply, template="Judge {response}!", score_mapping=mapping)
    assert (found["judge_score"], found["judge_grade"]) == expected


def test_a_grade_without_a_score_is_a_failure() -> None:
    with pytest.raises(JudgeFailedError, match="'F' has no score"):
        graded('{"grade": "F"}', template="Judge {response}!", score_mapping={"A": 1.0})


def test_own_mapping_replaces_the_built_in_one() -> None:
    found = graded("GRADE: I", score_mapping={"C": 2, "I": -1})
    assert found == {"judge_score": -1.0, "judge_grade": "I", "judge_pass": False}


def test_grade_pattern_takes_group_1_of_the_last_match() -> None:
    pattern = r"SCORE=(\d+)"
    assert graded("SCORE=1 … SCORE=3", grade_pattern=pattern)["judge_score"] == 3.0
    assert graded("x 4 y 5", grade_pattern=r"\d")["judge_grade"] == "5", "without groups the whole match"
    assert graded('{"score": 2}', grade_pattern=pattern)["judge_score"] == 2.0, "JSON is still tried after it"
    with pytest.raises(JudgeFailedError):
        graded("GRADE: C", grade_pattern=pattern)
    with pytest.raises(UsageError, match="not a valid regular expression"):
        graded("GRADE: C", grade_pattern="(")


def test_response_format_reads_the_whole_reply_first() -> None:
    schema: Any = {"type": "json_object"}
    reply = '{"why": "GRADE: I would be wrong", "grade": "C"}'
    assert graded(reply, response_format=schema)["judge_grade"] == "C"
    assert graded("GRADE: I", response_format=schema)["judge_grade"] == "I", "the pattern comes after it"


def test_keys_in_order() -> None:
    reply = '{"verdict": "1", "rating": "2", "score": "3", "grade": "4"}'
    assert (
        graded(reply, template="{response}!", response_format={"type": "json_object"})["judge_grade"] == "4"
    )


def test_own_parser_replaces_all_reading() -> None:
    assert graded("GRADE: C", judge_output_parser=lambda text: "I")["judge_score"] == 0.0
    assert graded("x", judge_output_parser=lambda text: 0.25) == {"judge_score": 0.25, "judge_grade": "0.25"}
    with pytest.raises(JudgeFailedError, match="no grade"):
        graded("GRADE: C", judge_output_parser=lambda text: None)
    with pytest.raises(JudgeFailedError, match="ZeroDivisionError"):
        graded("GRADE: C", judge_output_parser=lambda text: 1 // 0)


def test_a_judge_that_cannot_be_asked() -> None:
    def down(call: JudgeCall) -> str:
        raise JudgeFailedError("503 from http://judge.test")

    with pytest.raises(JudgeFailedError, match="503"):
        judge_score(sample(down))
    with pytest.raises(JudgeFailedError, match="benchwright run"):
        judge_score(sample(None))


def test_settings_that_are_missing() -> None:
    with pytest.raises(ConfigError, match=r'"judge_2".*Did you mean .*judge') as caught:
        judge_score(sample(None), judge_key="judge_2")
    assert isinstance(caught.value, ValueError)


def test_a_misspelt_template_is_not_sent_as_a_question() -> None:
    judge = ScriptedJudge("GRADE: C")
    with pytest.raises(UsageError, match="Did you mean 'binary_qa'"):
        judge_score(sample(judge), template="binaryqa")
    assert not judge.calls


def test_a_missing_template_value_is_found_before_asking() -> None:
    judge = ScriptedJudge("GRADE: C")
    with pytest.raises(KeyError) as caught:
        judge_score(sample(judge), template="Judge {respnse}")
    assert isinstance(caught.value, BenchwrightError)
    assert "{respnse}. Did you mean 'response'?" in str(caught.value)
    assert not judge.calls
