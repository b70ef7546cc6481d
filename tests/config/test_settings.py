"""One setting: the same check for a flag's text and a file's value."""

from __future__ import annotations

import doctest

import pytest
from msgspec import NODEFAULT, Struct

from benchwright.benchmarks import Generation, QuestionOptions
from benchwright.benchmarks._requests import body_settings
from benchwright.config import (
    BODY_SETTINGS,
    BY_NAME,
    RECORDED,
    RESCORE_OPTIONS,
    RESUME_OVERRIDES,
    RunOptions,
    Setting,
    _model,
    _run_settings,
    _setting,
)
from benchwright.core import UsageError
from benchwright.demo import DemoSettings
from benchwright.endpoints import EndpointSettings
from benchwright.engine import DECIDES, RunSettings

LIMIT = Setting("limit", "int", "rows", least=1)


def test_flag_texts_become_values() -> None:
    assert LIMIT.parse("12") == 12
    assert Setting("t", "number", "").parse("1e-3") == 0.001
    assert Setting("stop", "texts", "").parse("\n") == ["\n"]
    assert Setting("kind", "text", "", choices=("a", "b")).parse("a") == "a"


@pytest.mark.parametrize("text", ["", "ten", "1.5", "0x10", "0", "-3", "nan"])
def test_a_limit_is_a_whole_number_of_one_or_more(text: str) -> None:
    with pytest.raises(ValueError, match="expected a whole number of 1 or more"):
        LIMIT.parse(text)


def test_names_of_settings_are_unique_aliases_included() -> None:
    names = [name for s in BY_NAME.values() for name in (s.name, *s.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("module", [_setting, _model, _run_settings])
def test_examples_in_the_documentation_are_true(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_every_setting_says_what_it_decides() -> None:
    assert [setting.name for setting in BY_NAME.values() if setting.decides is None] == []


def test_what_resume_and_rescore_change_follows_from_what_settings_decide() -> None:
    by_name = {setting.name: setting.decides for setting in BY_NAME.values()}
    assert set(RESUME_OVERRIDES) == {name for name, what in by_name.items() if what == "budget"}
    refused = {"everything", "columns", "prompt", "replies", "effort"}  # what was asked is asked already
    assert refused.isdisjoint(by_name[name] for name in RESCORE_OPTIONS)
    assert "infer_only" not in RESCORE_OPTIONS


def test_a_recorded_setting_decides_what_its_option_says() -> None:
    options = {setting.name: setting.decides for setting in BY_NAME.values()}
    assert {name: what for name, what in DECIDES.items() if name in options} == {
        name: options[name] for name in DECIDES if name in options
    }
    assert DECIDES["benchmark"] == DECIDES["rescored_from"] == "everything"  # nobody said otherwise
    assert {"parallelism", "request_timeout_s", "verify"} <= EndpointSettings.changing_no_reply()
    assert EndpointSettings.changing_no_reply().isdisjoint(
        {"url", "model_id", "model_type", "api", "headers"}
    )


@pytest.mark.parametrize("kind", [RunSettings, EndpointSettings, QuestionOptions])
def test_declared_defaults_are_those_that_hold(kind: type[Struct]) -> None:
    """The manual and the help text show the declaration's."""
    for name, default in zip(
        reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False
    ):
        option = RECORDED.get(name)
        if option is not None and option.default is not None and default is not NODEFAULT:
            assert default == option.default, name
    assert DemoSettings().skill == RECORDED["demo_skill"].default


def test_a_body_holds_what_is_declared_and_given() -> None:
    body = body_settings(Generation("m"))
    assert body == {"temperature": 0.0, "max_tokens": 4096, "top_p": 1.0}
    assert list(Generation("m").to_json()) == ["model", *(s.name for s in BODY_SETTINGS), "extra_body"]
    given = Generation.of("m", temperature=None, stop=("a", "b"), stream=True, extra_body={"seed": 2}, seed=1)
    assert body_settings(given) == {
        "max_tokens": 4096, "top_p": 1.0, "stop": ["a", "b"], "seed": 2, "stream": True,
    }  # fmt: skip
    assert Generation.of(**given.to_json()) == given  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Did you mean 'top_p'"):
        Generation.of("m", topp=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -1),
        ("top_p", -0.1),
        ("max_retries", -1),
        ("host_port", 70000),
        ("numeric_tolerance", -0.1),
    ],
)
def test_python_keywords_have_the_ranges_of_the_flags(name: str, value: float) -> None:
    setting = next(each for each in BY_NAME.values() if each.name == name)
    with pytest.raises(ValueError, match="too"):
        setting.parse(str(value))
    with pytest.raises(UsageError, match=f"expected {setting.limits}"):
        RunOptions.from_keywords({name: value})


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (Setting("a", "steps", ""), "3 is not a table of pipeline settings or a list of steps"),
        (Setting("a", "text", "", choices=("x", "y")), "3 is not a text; expected one of x, y"),
    ],
)
def test_what_is_expected_is_said_once(setting: Setting, says: str) -> None:
    with pytest.raises(ValueError, match="is not") as told:
        setting.check(3)
    assert str(told.value) == says


@pytest.mark.parametrize(
    "setting",
    [each for each in BY_NAME.values() if each.kind in ("int", "number")],
    ids=lambda each: each.name,
)
def test_numbers_beyond_any_use_are_refused_in_files(setting: Setting) -> None:
    for value in (10**400, -(10**400), float("inf"), float("nan")):
        with pytest.raises(ValueError, match=r"expected|is not a"):
            setting.check(value)


@pytest.mark.parametrize(
    "setting", [each for each in BY_NAME.values() if each.kind == "table"], ids=lambda each: each.name
)
@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**400], ids=["above", "below", "no float"])
def test_integers_that_a_record_cannot_hold_are_refused_in_tables(setting: Setting, number: int) -> None:
    """A record has them as texts, so a resumed run would send and score with other values; a flag would round them."""
    for wrong in (lambda: setting.check({"a": [number]}), lambda: setting.parse(f'{{"a": [{number}]}}')):
        with pytest.raises(ValueError, match="an integer beyond 64 bits"):
            wrong()
    assert setting.parse('{"a": 18446744073709551615}') == {"a": 2**64 - 1}
