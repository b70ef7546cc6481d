"""One setting: the same check for a flag's text and a file's value."""

from __future__ import annotations

import doctest

import pytest

from benchwright.config import RUN_SETTINGS, Setting, _model, _setting

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
    names = [name for s in RUN_SETTINGS for name in (s.name, *s.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("module", [_setting, _model])
def test_examples_in_the_documentation_are_true(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
