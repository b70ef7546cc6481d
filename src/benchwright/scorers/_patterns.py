"""Matches regular expressions of users and rows with a time limit.

A pattern such as `(a+)+$` can keep Python's `re` busy for years. It keeps the interpreter lock meanwhile, so no other
thread can stop it. Two things can: a signal, which `re` checks for now and then in the main thread, and killing a child
process. Both use the same `re`, so the limit does not change what a pattern means.
"""

from __future__ import annotations

import atexit
import marshal
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from types import FrameType
from typing import TYPE_CHECKING, Any

from benchwright.core import BenchwrightError
from benchwright.scorers import _pattern_child
from benchwright.scorers._pattern_child import find_all, search

if TYPE_CHECKING:
    from subprocess import Popen

LIMIT_S = 5.0
"""How long one match may take. Matches that end at all usually end in milliseconds."""

_REPEATS = re.compile(r"[*+{]|(?<!\()\?")
_REPEATED_GROUP = re.compile(r"\)[*+?{]")
_FEW_STEPS = 5e6
"""This many steps of a match take about 30 ms."""


class PatternTimeoutError(BenchwrightError):
    """A regular expression took too long."""


def is_found(pattern: str, text: str, flags: int = 0) -> bool:
    """Whether the pattern matches anywhere in the text. Raises `re.error`, or PatternTimeoutError after `LIMIT_S`."""
    if _is_harmless(pattern, len(text)):
        return re.search(pattern, text, flags) is not None
    return bool(_limited(search, pattern, text, flags))


def matches_of(pattern: re.Pattern[str], text: str) -> list[str | None]:
    """Group 1 (or the whole match, if there are no groups) of every match. Raises PatternTimeoutError after `LIMIT_S`."""
    if _is_harmless(pattern.pattern, len(text)):
        return find_all(pattern.pattern, text, pattern.flags)
    found: list[str | None] = _limited(find_all, pattern.pattern, text, pattern.flags)
    return found


def _is_harmless(pattern: str, length: int) -> bool:
    """Whether the pattern must end soon, judged by its repeats. Most patterns do, and need no limit."""
    return length <= _longest(pattern)


@lru_cache(maxsize=512)
def _longest(pattern: str) -> float:
    """The longest text on which the pattern must end soon; below 0 if there is none.

    Without repeated groups a match tries at most every length of every repeat, at every start, in every branch.
    """
    if _REPEATED_GROUP.search(pattern):
        return -1
    repeats = len(_REPEATS.findall(pattern))
    return float((_FEW_STEPS / 2.0 ** pattern.count("|")) ** (1 / (repeats + 1))) - 1


def _limited(work: Callable[[str, str, int], Any], pattern: str, text: str, flags: int) -> Any:
    if threading.current_thread() is threading.main_thread() and _alarm.take():
        try:
            return work(pattern, text, flags)
        except _AlarmError:
            raise _too_long(pattern, text) from None
        finally:
            _alarm.release()
    return _children.work(work.__name__, pattern, text, flags)


def _too_long(pattern: str, text: str) -> PatternTimeoutError:
    shown = pattern if len(pattern) <= 80 else f"{pattern[:80]}…"
    return PatternTimeoutError(
        f"the regular expression {shown!r} took more than {LIMIT_S:g} s on a text of {len(text):,} characters; "
        "simplify it: a repeat inside a repeat, such as (a+)+, tries every way to split the text"
    )


class _AlarmError(BaseException):
    """Raised inside a match whose time is up."""


class _Alarm:
    """The alarm timer of the process, used only if no other code uses it. For the main thread only."""

    def __init__(self) -> None:
        self._ringing_for: object = None

    def take(self) -> bool:
        """Start the timer. Returns False if other code uses it, or if there is none."""
        if not hasattr(signal, "setitimer"):
            return False
        handler = _handler_of(signal.SIGALRM)
        if handler == signal.SIG_DFL:
            signal.signal(signal.SIGALRM, self._ring)
        elif handler != self._ring:
            return False
        before = signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
        if before[0]:
            signal.setitimer(signal.ITIMER_REAL, *before)
            return False
        self._ringing_for = self
        return True

    def release(self) -> None:
        """Stop the timer."""
        self._ringing_for = None
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._ringing_for is not None:
            self._ringing_for = None
            raise _AlarmError
        # Another timer's alarm: call the handler that it would have reached.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGALRM)


def _handler_of(number: int) -> Any:
    # signal.getsignal() takes 4 µs because it searches for the handler's name; the function that it wraps takes 0.07.
    plain: Callable[[int], Any] = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
    return plain(number)


class _Children:
    """Child processes that match for threads other than the main one, because signals do not reach these."""

    def __init__(self) -> None:
        self._idle: list[Popen[bytes]] = []
        self._places = threading.Semaphore(4)
        self._first = True

    def work(self, name: str, pattern: str, text: str, flags: int) -> Any:
        """The result of the function `name`, computed in a child process."""
        re.compile(pattern, flags)  # an invalid pattern raises here
        with self._places:
            child = self._child()
            try:
                return self._answer_of(child, (name, pattern, text, int(flags)))
            except TimeoutError:
                raise _too_long(pattern, text) from None

    def _child(self) -> Popen[bytes]:
        while self._idle:
            child = self._idle.pop()
            if child.poll() is None:
                return child
        import subprocess  # 10 ms, which few runs need

        if self._first:
            self._first = False
            atexit.register(self._end_all)
        return subprocess.Popen(
            (sys.executable, "-I", "-S", "-W", "ignore", _pattern_child.__file__),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C goes to the run, which ends the children by closing their input
        )

    def _answer_of(self, child: Popen[bytes], question: tuple[Any, ...]) -> Any:
        assert child.stdin is not None
        assert child.stdout is not None
        ended = False
        try:
            child.stdin.write(marshal.dumps(question))
            child.stdin.flush()
            poll = select.poll()
            poll.register(child.stdout, select.POLLIN)
            if not poll.poll(LIMIT_S * 1000):
                raise TimeoutError
            answer = marshal.load(child.stdout)
            ended = True
        finally:
            if ended:
                self._idle.append(child)
            else:
                child.kill()
                child.communicate()
        return answer

    def _end_all(self) -> None:
        while self._idle:
            child = self._idle.pop()
            child.kill()
            child.communicate()


_alarm = _Alarm()
_children = _Children()
