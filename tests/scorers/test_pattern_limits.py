"""Patterns that would run for ever end as a failure of their sample, and ordinary ones mean what they mean in `re`."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from benchwright.scorers import ScorerInput, _patterns as patterns, qa_answers, regex_match

ENDLESS = [r"(a+)+$", r"(a|a)*$", r"([a-zA-Z]+)*$", r"(.*a){25}x", "a?" * 34 + "a" * 34 + "$"]
TEXT = "a" * 33 + "!"


def in_thread(work: Callable[[], Any]) -> Any:
    came: list[Any] = []

    def target() -> None:
        try:
            came.append(work())
        except BaseException as error:
            came.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if isinstance(came[0], BaseException):
        raise came[0]
    return came[0]


def here(work: Callable[[], Any]) -> Any:
    return work()


@pytest.mark.parametrize("place", [here, in_thread])
@pytest.mark.parametrize("pattern", ENDLESS)
def test_an_endless_match_raises(monkeypatch: pytest.MonkeyPatch, pattern: str, place: Any) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.1)
    with pytest.raises(
        patterns.PatternTimeoutError, match=r"took more than 0\.1 s on a text of 34 characters"
    ):
        place(lambda: regex_match(ScorerInput(TEXT, pattern, {})))
    with pytest.raises(patterns.PatternTimeoutError):
        place(lambda: qa_answers(("regex",), pattern=pattern)(ScorerInput(TEXT, "x", {})))
    with pytest.raises(patterns.PatternTimeoutError):
        place(lambda: patterns.matches_of(re.compile(pattern), TEXT))


def test_the_alarm_of_others_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.1)
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1000)
        with pytest.raises(patterns.PatternTimeoutError):
            regex_match(ScorerInput(TEXT, ENDLESS[0], {}))
        assert signal.setitimer(signal.ITIMER_REAL, 0)[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


PIECES = st.sampled_from(
    [r"\d+", r"\w*", "a", "(b|c)+", "[ab]{1,3}", ".", r"\s?", "(?:ab)*", "^", "$", "é", "(a)"]
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, min_size=1, max_size=5).map("".join), st.text("ab 1é\ud800", max_size=12))
def test_a_limit_changes_no_result(pattern: str, text: str) -> None:
    found = re.search(pattern, text) is not None
    compiled = re.compile(pattern)
    every = [match[1] if compiled.groups else match[0] for match in compiled.finditer(text)]
    for place in (here, in_thread):
        assert place(lambda: patterns.is_found(pattern, text)) == found
        assert place(lambda: patterns.matches_of(compiled, text)) == every


def test_a_pattern_that_is_none_is_told_alike_everywhere() -> None:
    for place in (here, in_thread):
        with pytest.raises(re.error):
            place(lambda: patterns.is_found("(a+)+(", "a"))
