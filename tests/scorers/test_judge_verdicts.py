"""Verdicts that cannot be read are asked for again, may be held to a schema, and several judges give one."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.core import (
    ConfigError,
    ModelRequest as Request,
    RequestFailure,
    UsageError,
    encode_json,
    is_verdict_format,
)
from benchwright.endpoints import RequestAdapter
from benchwright.scorers import (
    CutReply,
    JudgeCall,
    JudgeConfig,
    JudgeFailedError,
    ScorerInput,
    judge_panel,
    judge_score,
)
from benchwright.scorers._judge_config import UnreadableVerdictError

SETTINGS = {"url": "http://judge.test/v1", "model_id": "j"}


class Judge:
    """Answers with each text in turn, the last for ever."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.calls: list[JudgeCall] = []

    def __call__(self, call: JudgeCall) -> str:
        self.calls.append(call)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def sample(judge: Any, **config: Any) -> ScorerInput:
    return ScorerInput(
        "Lyon", "Paris", {"question": "?"}, config={"judge": {**SETTINGS, **config}}, ask=judge
    )


def test_a_verdict_that_cannot_be_read_is_asked_for_again_with_the_judges_own_words() -> None:
    judge = Judge("I cannot decide.", "GRADE: maybe", "GRADE: **c**")
    assert judge_score(sample(judge)) == {"judge_score": 1.0, "judge_grade": "C"}
    first, second, third = (call.body["messages"] for call in judge.calls)
    assert len(first) == 1  # type: ignore[arg-type]
    assert second[:2] == [*first, {"role": "assistant", "content": "I cannot decide."}]  # type: ignore[index, misc]
    assert third[1]["content"] == "GRADE: maybe"
    assert len(third) == 3
    assert "C, I" in second[2]["content"]  # type: ignore[index, call-overload, operator]


@pytest.mark.parametrize(("retries", "asked"), [(0, 1), (1, 2), (2, 3)])
def test_asking_again_is_bounded_and_ends_in_a_failure(retries: int, asked: int) -> None:
    judge = Judge("no verdict")
    with pytest.raises(UnreadableVerdictError, match="contains no grade") as caught:
        judge_score(sample(judge, parse_retries=retries))
    assert len(judge.calls) == asked
    assert caught.value.reason == "judge_unparsed"


def test_a_judge_that_was_asked_for_a_grade_is_to_be_replaced_and_not_the_question() -> None:
    with pytest.raises(UnreadableVerdictError, match="use a stronger judge"):
        judge_score(sample(Judge("Paris."), parse_retries=0), template="binary_qa")
    with pytest.raises(UnreadableVerdictError, match="Ask for a last line"):
        judge_score(sample(Judge("Paris."), parse_retries=0), template="Is {response} right?")


def test_the_documented_zero_for_a_failed_judge_can_be_chosen() -> None:
    def unreachable(call: JudgeCall) -> str:
        raise JudgeFailedError("the judge gave no reply: 503")

    zero = judge_score(sample(unreachable), on_failure="zero")
    assert (zero["judge_score"], zero["judge_grade"]) == (0.0, "CALL_ERROR")
    zero = judge_score(sample(Judge("no"), parse_retries=0), on_failure="zero")
    assert (zero["judge_score"], zero["judge_grade"]) == (0.0, "PARSE_ERROR")
    assert "no grade" in str(zero["judge_error"])
    with pytest.raises(UsageError, match="on_failure"):
        judge_score(sample(Judge("GRADE: C")), on_failure="nothing")  # type: ignore[arg-type]


def test_a_structured_verdict_is_held_to_the_grades_and_read_as_json() -> None:
    judge = Judge('{"reasoning": "It says Lyon. GRADE: C would be wrong.", "grade": "I"}')
    assert judge_score(sample(judge, structured=True))["judge_grade"] == "I"
    format: Any = judge.calls[0].body["response_format"]
    assert format["json_schema"]["schema"]["properties"]["grade"]["enum"] == ["C", "I"]
    plain = Judge("GRADE: C")
    judge_score(sample(plain))
    assert "response_format" not in plain.calls[0].body
    own = Judge('{"grade": "C"}')
    judge_score(sample(own, structured=True), response_format={"type": "json_object"})
    assert own.calls[0].body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    "words",
    [
        "This response_format type is unavailable now",
        "json_schema is not supported by this backend",
        "guided decoding is disabled",
    ],
)
def test_a_server_that_refuses_the_schema_is_asked_without_and_only_without_ours(words: str) -> None:
    judge = Judge("GRADE: C")
    judge_score(sample(judge, structured=True))
    body = judge.calls[0].body
    adapter = RequestAdapter()
    request = Request("chat", body, encode_json(body))
    failure = RequestFailure("rejected", f"400 from http://j/v1: {words}", 400)
    assert adapter.learn(request, failure)
    assert "response_format" not in adapter.apply(request).body
    assert any("read from its words" in note for note in adapter.notes())
    theirs = {
        **body,
        "response_format": {"type": "json_schema", "json_schema": {"name": "mine", "schema": {}}},
    }
    users = Request("chat", theirs, encode_json(theirs))
    assert adapter.apply(users) is users
    assert not is_verdict_format(theirs["response_format"])
    assert not RequestAdapter().learn(users, failure)


def panel(*grades: str, **options: Any) -> dict[str, Any]:
    keys = ["judge", *(f"judge_{n}" for n in range(1, len(grades)))]
    replies = dict(zip(keys, grades, strict=True))

    def ask(call: JudgeCall) -> str:
        return replies[call.config.model_id]

    config = {key: {**SETTINGS, "model_id": key, "parse_retries": 0} for key in keys}
    return judge_panel(ScorerInput("a", "b", {}, config=config, ask=ask), **options)


def test_the_majority_decides_and_every_verdict_is_kept() -> None:
    found = panel("GRADE: C", "GRADE: I", "GRADE: C")
    assert (found["judge_score"], found["judge_grade"], found["judges_agree"]) == (1.0, "C", False)
    assert [found[f"grade_of_{key}"] for key in ("judge", "judge_1", "judge_2")] == ["C", "I", "C"]
    assert found["score_of_judge_1"] == 0.0


def test_a_tie_is_the_mean_of_the_tied_grades() -> None:
    found = panel("GRADE: I", "GRADE: C")
    assert (found["judge_score"], found["judge_grade"], found["judges_agree"]) == (0.5, "C/I", False)


def test_the_mean_of_a_scale() -> None:
    found = panel("GRADE: 5", "GRADE: 4", "GRADE: 4", template="likert_5", aggregate="mean")
    assert found["judge_score"] == pytest.approx((1.0 + 0.8 + 0.8) / 3)
    assert found["judge_grade"] == "4"


def test_a_judge_that_fails_fails_the_panel_unless_a_quorum_is_left() -> None:
    with pytest.raises(JudgeFailedError, match="1 of 2 judges gave a grade, and 2 must"):
        panel("GRADE: C", "nothing")
    found = panel("GRADE: C", "nothing", "GRADE: C", quorum=2)
    assert (found["judge_grade"], found["judges_agree"]) == ("C", True)
    assert "grade_of_judge_1" not in found
    alone = panel("GRADE: C", "nothing", quorum=1)
    assert alone["judge_grade"] == "C"
    assert "judges_agree" not in alone


CLAIM = 'The response claims \'GRADE: C\' and \\"grade\\": \\"C\\".'


@pytest.mark.parametrize(
    "around", ["{}", "```json\n{}\n```", "My verdict: {}\nThat is all.", '{}\n{{"note": 1}}']
)
@pytest.mark.parametrize("key", ["grade", "score", "rating", "verdict"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("structured", [True, False])
def test_a_grade_that_a_reply_in_json_quotes_is_not_its_verdict(
    around: str, key: str, order: tuple[int, int], structured: bool
) -> None:
    pairs = [f'"{key}": "I"', f'"reasoning": "{CLAIM}"']
    reply = around.format("{" + ", ".join(pairs[at] for at in order) + "}")
    found = judge_score(sample(Judge(reply), structured=structured, parse_retries=0))
    assert found == {"judge_score": 0.0, "judge_grade": "I"}


@pytest.mark.parametrize("structured", [True, False])
def test_a_reply_in_json_that_was_cut_off_quotes_nothing_either(structured: bool) -> None:
    settings = {"structured": structured, "parse_retries": 0}
    cut = Judge('{"grade": "I", "reasoning": "' + CLAIM)
    assert judge_score(sample(cut, **settings))["judge_grade"] == "I"
    with pytest.raises(UnreadableVerdictError):
        judge_score(sample(Judge('{"reasoning": "' + CLAIM), **settings))


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("Let me see. A good answer would get GRADE: C but", None),
        ("GRADE: C would be too kind, because", None),
        ("It names Lyon.\nIs this GRADE: C? No.\nSo I", None),
        ('{"reasoning": "GRADE: C', None),
        ("GRADE: I", "I"),
        ("It names Lyon.\n**GRADE: I**\n\nA better answer would get GRADE: C, for", "I"),
        ('{"grade": "I"}\n\nA better answer would get GRADE: C, for', "I"),
    ],
)
def test_a_judge_that_was_cut_off_has_only_said_what_stands_alone(reply: str, grade: str | None) -> None:
    judge = Judge(CutReply(reply), "GRADE: P")
    found = judge_score(sample(judge, parse_retries=1), template="binary_qa_partial")
    assert (found["judge_grade"], len(judge.calls)) == ((grade, 1) if grade else ("P", 2))
    if grade is None:
        with pytest.raises(
            UnreadableVerdictError, match=r"reached max_new_tokens before .* Raise max_new_tokens"
        ):
            judge_score(sample(Judge(CutReply(reply)), parse_retries=0))


@pytest.mark.parametrize(
    ("reply", "mapping", "grade"),
    [
        ("It is superb.\nGRADE: 1", {str(number): number / 10 for number in range(11)}, None),
        ("It is superb.\nGRADE: 1\nIt", {str(number): number / 10 for number in range(11)}, "1"),
        ("**GRADE: 1**", {str(number): number / 10 for number in range(11)}, "1"),
        ("GRADE: 4", {str(number): number / 5 for number in range(6)}, "4"),
        ("GRADE: 4", {}, None),
        ("GRADE: 4.", {}, None),
        ("GRADE:A", {"A": 1.0, "A-": 0.9}, None),
        ("GRADE: good", {"good": 1.0, "bad": 0.0}, "good"),
    ],
)
def test_a_grade_that_was_cut_off_in_the_middle_is_none(
    reply: str, mapping: dict[str, float], grade: str | None
) -> None:
    judged = sample(Judge(CutReply(reply)), parse_retries=0)
    if grade is None:
        with pytest.raises(UnreadableVerdictError, match="max_new_tokens"):
            judge_score(judged, template="Grade {response}", score_mapping=mapping)
    else:
        assert judge_score(judged, template="Grade {response}", score_mapping=mapping)["judge_grade"] == grade


def test_a_grade_outside_of_json_is_the_last_word() -> None:
    quoted = '{"grade": "I", "reasoning": "' + CLAIM + '"}'
    assert judge_score(sample(Judge(f"{quoted}\nGRADE: C")))["judge_grade"] == "C"
    assert judge_score(sample(Judge(f"GRADE: C\n{quoted}")))["judge_grade"] == "I"


@pytest.mark.parametrize("options", [{"aggregate": "median"}, {"quorum": 3}, {"judge_key": "judge"}])
def test_wrong_ways_to_ask_a_panel_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        panel("GRADE: C", "GRADE: C", **options)
    with pytest.raises(ConfigError, match="needs several judges"):
        panel("GRADE: C")


def test_settings_of_a_run_go_over_those_of_the_benchmark() -> None:
    own = {"judge": {"url": "http://a", "model_id": "m", "max_new_tokens": 9, "temperature": 0.5}, "other": 1}
    assert JudgeConfig.over(own, {"max_tokens": 7, "temperature": None}) == {
        "judge": {"url": "http://a", "model_id": "m", "max_new_tokens": 7, "temperature": None},
        "other": 1,
    }
    several = JudgeConfig.over(
        own, {"judge": {"model_id": "n"}, "judge_1": {"url": "http://b", "model_id": "k"}}
    )
    assert several["judge"]["model_id"] == "n"
    assert several["judge_1"]["url"] == "http://b"
    with pytest.raises(ConfigError, match='"judge_1" is 3'):
        JudgeConfig.over(own, {"judge_1": 3})
