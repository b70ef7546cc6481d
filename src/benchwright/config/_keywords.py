"""Translates flags in error messages into keywords for callers of Python functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from benchwright.config._run_settings import RUN_SETTINGS
from benchwright.config._setting import Setting
from benchwright.config._suite_settings import MODES, SUITE_SETTINGS
from benchwright.core import FLAGS_TYPED, BenchwrightError, late_pattern

P = ParamSpec("P")
T = TypeVar("T")

_WORDS = late_pattern(
    r"(?P<command>\b(?:benchwright|python) [^\n;)]*)"  # commands stay unchanged, because users type them
    r"|(?P<flag>--[a-z][a-z0-9-]*)"
    r"(?: (?P<value>[A-Z][A-Z_]+\b|-?\d[\d._]*\b|'[^']*'|[a-z][\w-]*(?P<last>(?=[.,;)]|$))?))?"
)
_NO_VALUES = ("again", "instead", "off", "out", "too", "twice")
"""Words that end a sentence after a flag."""
_SWITCHES = ("allow_changed", "force", "retry_failed", "times")
_OTHERS = ("lower_is_better", "metric", "models", "reuse", "tolerance")
"""Keywords that are not settings of a run or a suite."""


def keywords_in_errors(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function's errors name keywords, unless a command was typed."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except BenchwrightError as error:
            if not FLAGS_TYPED.get() and error.args and isinstance(error.args[0], str):
                error.args = (in_keywords(error.args[0]), *error.args[1:])
            raise

    return call


def in_keywords(message: str) -> str:
    """A message with keywords in place of flags. Commands in it stay unchanged.

    >>> in_keywords("give --model-url URL and --model-id NAME, or run without examples: --num-fewshot 0")
    'give model_url=URL and model_id=NAME, or run without examples: num_fewshot=0'
    >>> in_keywords("use --model-type chat; or type: benchwright run test.csv --model-type chat")
    "use model_type='chat'; or type: benchwright run test.csv --model-type chat"
    >>> in_keywords("--reuse is on: leave --reuse off, or name the encoding (--encoding cp1252)")
    "reuse is on: leave reuse off, or name the encoding (encoding='cp1252')"
    """
    return _WORDS.sub(_keyword, message)


def _keyword(found: re.Match[str]) -> str:
    setting = None if found["flag"] is None else _by_flag().get(found["flag"])
    if setting is None:
        return found[0]
    value = found["value"]
    if value is None:
        return f"{setting.name}=True" if setting.name in _SWITCHES else setting.name
    if value[0].islower():
        # The next word is the value if the setting allows it, or if the sentence ends there; else it is part of the text.
        allowed = MODES if setting.name == "mode" else setting.choices
        is_value = value in allowed or (found["last"] is not None and value not in _NO_VALUES)
        return f"{setting.name}={value!r}" if is_value else f"{setting.name} {value}"
    return f"{setting.name}={value}"


@cache
def _by_flag() -> dict[str, Setting]:
    others = [Setting(name, "text", "") for name in (*_SWITCHES, *_OTHERS)]
    return {flag: each for each in (*others, *SUITE_SETTINGS, *RUN_SETTINGS) for flag in each.flags}
