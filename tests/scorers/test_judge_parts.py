"""A judge's settings and templates: what is accepted, and what is refused with a cure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.core import ConfigError
from benchwright.scorers import JudgeConfig, _judge_replies
from benchwright.scorers._judge_replies import json_grade, stated_grade
from benchwright.scorers._judge_templates import JudgeTemplateError, render

BARE: dict[str, Any] = {"url": "http://localhost/v1", "model_id": "m"}


def test_defaults() -> None:
    found = JudgeConfig.of(BARE)
    assert (found.api_key, found.temperature, found.top_p, found.max_new_tokens) == (None, 0.0, 1.0, 4096)
    assert (found.parallelism, found.max_retries, found.request_timeout) == (None, None, 600)


def test_aliases() -> None:
    found = JudgeConfig.of({**BARE, "api_key_name": "JUDGE_KEY", "max_tokens": 5})
    assert found == JudgeConfig.of({**BARE, "api_key": "JUDGE_KEY", "max_new_tokens": 5})
    assert (found.api_key_name, found.max_tokens) == ("JUDGE_KEY", 5)
    with pytest.raises(ConfigError, match="same setting"):
        JudgeConfig.of({**BARE, "max_tokens": 5, "max_new_tokens": 6})


def test_ready_made_settings_pass_through_and_serve_as_keys() -> None:
    config = JudgeConfig.of(BARE)
    assert JudgeConfig.of(config) is config
    assert {config: 1}[JudgeConfig.of(dict(BARE))] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({**BARE, "modle_id": "x"}, "unknown setting 'modle_id'. Did you mean 'model_id'"),
        ({**BARE, "max_token": 1}, "Did you mean 'max_tokens'"),
        ({"url": "x"}, "lacks model_id"),
        ({}, "lacks url and model_id"),
        ("http://x", "expected a mapping"),
        ({**BARE, "url": ""}, "\"url\" is ''"),
        ({**BARE, "model_id": None}, '"model_id" is None'),
        ({**BARE, "temperature": "0"}, "\"temperature\" is '0'; expected a number of at least 0"),
        ({**BARE, "temperature": float("nan")}, '"temperature" is nan'),
        ({**BARE, "top_p": -1}, '"top_p" is -1'),
        ({**BARE, "max_tokens": 1.5}, '"max_new_tokens" is 1.5; expected a whole number of at least 1'),
        ({**BARE, "max_tokens": True}, '"max_new_tokens" is True'),
        ({**BARE, "parallelism": 0}, '"parallelism" is 0'),
        ({**BARE, "max_retries": -1}, '"max_retries" is -1'),
        ({**BARE, "request_timeout": 0}, '"request_timeout" is 0; expected a number of more than 0'),
    ],
)
def test_wrong_settings_are_named(settings: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        JudgeConfig.of(settings)
    assert message in str(caught.value)


def test_a_key_in_place_of_a_variable_name_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match="name of an environment variable") as caught:
        JudgeConfig.of({**BARE, "api_key": "sk-live-1234"})
    assert "1234" not in str(caught.value)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain", "plain"),
        ("{a}", "1"),
        ("{a:>3}|{a!r}|{b!r}|{b!s:.1}|{b!a}", "  1|1|'x{a}é'|x|'x{a}\\xe9'"),
        ("{{a}}", "{a}"),
        ("{b}", "x{a}é"),  # values are not read as templates
        ("{c[0]}{c[1]}", "pq"),
        ("{d[key]}{d[in][0]}", "vw"),
        ("{d[7]}", "seven"),
        ("{a:{width}}", "   1"),
        ("", ""),
    ],
)
def test_rendering(template: str, expected: str) -> None:
    values = {"a": 1, "b": "x{a}é", "c": ["p", "q"], "d": {"key": "v", "in": ["w"], "7": "seven"}, "width": 4}
    assert render(template, values) == expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{a.__class__}", "reaches for __class__"),
        ("{a.real}", "attribute"),
        ("{c[0].__class__}", "reaches for __class__"),
        ("{c[0].x[1]}", "attribute"),
        ("{c[__class__]}", 'no "__class__"'),
        ("{c[9]}", 'no "9" in a list of 1'),
        ("{a[0]}", 'has no "0"'),
        ("{}", "names no field"),
        ("{0}", "names no field"),
        ('Answer as {"grade": "C"}', "write {{ and }}"),
        ("{missing}", "Known: a, c"),
        ("{", "write {{ and }}"),
        ("}", "write {{ and }}"),
        ("{a!x}", "!x in {a!x} is not one of"),
        ("{c:d}", "unsupported format"),
        ("{a:{a:{a}}}", "nested too deeply"),
    ],
)
def test_templates_that_are_refused(template: str, message: str) -> None:
    with pytest.raises(JudgeTemplateError) as caught:
        render(template, {"a": 1, "c": ["p"]})
    assert message in str(caught.value)
    assert isinstance(caught.value, KeyError)


@given(st.text(), st.text())
def test_any_text_survives_rendering(response: str, around: str) -> None:
    literal = around.replace("{", "{{").replace("}", "}}")
    assert render(literal + "{response}" + literal, {"response": response}) == around + response + around


@given(st.text())
def test_reading_never_breaks(reply: str) -> None:
    spellings = {"C": "C", "I": "I"}
    assert stated_grade(reply, spellings, closed=True) in (None, "C", "I")
    json_grade(reply, whole=True)
    json_grade(reply, whole=False)


@pytest.mark.parametrize("braces", ["{", '{"grade"', "[{", "{ }x{", "\\frac{1}{2}"])
def test_a_reply_of_braces_is_read_in_a_bounded_number_of_tries(
    monkeypatch: pytest.MonkeyPatch, braces: str
) -> None:
    """Each try on a whole text of 100,000 braces takes as long as the text is."""
    lengths: list[int] = []

    class Counting(json.JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
            lengths.append(len(s))
            return super().raw_decode(s, idx)

    monkeypatch.setattr(_judge_replies, "_DECODER", Counting())
    reply = braces * 50_000 + ' so {"grade": "C"}'
    assert json_grade(reply, whole=False) == "C"
    assert len(lengths) <= 2_000
    assert max(lengths) <= 65_536
    words = "\\frac{a}{b} " * 5_000
    assert json_grade(f'{{"grade": "I"}} {words} {{"grade": "C"}}', whole=False) == "C"


@given(st.text(), st.sampled_from(["C", "I"]), st.sampled_from(["{}", "**{}**", "[{}]", "{}."]))
def test_the_last_line_decides(reasoning: str, grade: str, form: str) -> None:
    reply = f"{reasoning}\nGRADE: {form.format(grade)}"
    assert stated_grade(reply, {"C": "C", "I": "I"}, closed=True) == grade
