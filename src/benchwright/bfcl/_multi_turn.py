"""Checks calls of several turns: the state that they leave, and the answers that they got."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import Any

from benchwright.bfcl._simulations import EXECUTION_ERROR, Simulation
from benchwright.core import BenchwrightError, Row
from benchwright.toolcalls import Calls, CallVerdict

_ERROR = "multi_turn:"
_LINT_SECONDS = 2.0
_BRIEF = 200  # characters of a value in a message
_DEEPEST = 50  # levels of a state that are searched for a difference


def check_turns(
    turns: Any,
    ground_truth: Sequence[Sequence[str]],
    open_simulation: Callable[[], Simulation],
    *,
    stopped: bool = False,
) -> CallVerdict:
    """The verdict on the calls of all turns, each a list of steps, each a list of calls (None: no calls were read).

    `stopped`: a turn took too many steps, which the published check overlooks in the last turn.
    """
    if not isinstance(turns, list | tuple):
        return _wrong("inference_error", "there is no list of turns")
    if stopped or len(turns) != len(ground_truth):
        return _wrong("force_terminated", f"{len(turns)} of {len(ground_truth)} turns were completed")
    model, truth = open_simulation(), open_simulation()
    given: Counter[str] = Counter()
    for number, (steps, expected) in enumerate(zip(turns, ground_truth, strict=True), 1):
        calls: Calls = [call for step in steps if step for call in step]
        given.update([_carried_out(model, call) for call in calls])
        wanted = Counter([truth.call_text(text) for text in expected])
        if not expected:
            continue
        if not calls:
            return _wrong(
                "empty_turn_model_response", f"turn {number}: no call, where {expected[0]} … is expected"
            )
        difference = _state_difference(model.state, truth.state)
        if difference is not None:
            return _wrong("instance_state_mismatch", f"turn {number}: {difference}")
        lacking = wanted - given
        if lacking:
            return _wrong(
                "execution_response_mismatch",
                f"turn {number}: no call gave {next(iter(lacking))[:200]!r}",
            )
    return CallVerdict(True)


def _carried_out(simulation: Simulation, call: dict[str, dict[Any, Any]]) -> str:
    ((name, arguments),) = call.items()
    return simulation.call(name, arguments)


def _state_difference(model: dict[str, dict[str, Any]], truth: dict[str, dict[str, Any]]) -> str | None:
    for name, expected in truth.items():
        for key, value in expected.items():
            if model[name].get(key) != value:
                return _difference(f"{name}.{key}", model[name].get(key), value, _DEEPEST)
    return None


def _difference(where: str, found: Any, expected: Any, deeper: int) -> str:
    """The innermost place at which two unequal values differ first: states are long, and differ in one entry."""
    if deeper and isinstance(found, dict) and isinstance(expected, dict):
        for key in {**expected, **found}:
            if key not in found:
                return f"{where}[{key!r}] is missing, expected {_brief(expected[key])}"
            if key not in expected:
                return f"{where}[{key!r}] is {_brief(found[key])}, expected nothing there"
            if found[key] != expected[key]:
                return _difference(f"{where}[{key!r}]", found[key], expected[key], deeper - 1)
    if deeper and isinstance(found, list) and isinstance(expected, list):
        for number, (one, other) in enumerate(zip(found, expected, strict=False)):
            if one != other:
                return _difference(f"{where}[{number}]", one, other, deeper - 1)
        if len(found) != len(expected):
            return f"{where} has {len(found):,} items, expected {len(expected):,}"
    return f"{where} is {_brief(found)}, expected {_brief(expected)}"


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def _wrong(kind: str, message: str) -> CallVerdict:
    return CallVerdict(False, _ERROR + kind, message)


def doubtful_truths(
    rows: Iterable[Row],
    count: int,
    simulation_of: Callable[[Row], Simulation],
    *,
    clock: Callable[[], float] = monotonic,
) -> list[str]:
    """Doubts about the ground truths of `count` rows of several turns. Each is carried out until the time for that is
    over."""
    found: list[str] = []
    deadline = clock() + _LINT_SECONDS
    for number, row in enumerate(rows):
        if clock() > deadline:
            found.append(
                f"the ground truths of {count - number} rows of several turns were not tried, because that would take too long"
            )
            break
        found += [f"{row['id']}: {warning}" for warning in _warnings_of(row, simulation_of)]
    return found


def _warnings_of(row: Row, simulation_of: Callable[[Row], Simulation]) -> Iterator[str]:
    truth = row["ground_truth"]
    try:
        simulation = simulation_of(row)
    except BenchwrightError as error:
        yield str(error)
        return
    for number, calls in enumerate(truth, 1):
        for text in calls:
            result = simulation.call_text(str(text))
            if result.startswith(EXECUTION_ERROR):
                yield f"turn {number} of the ground truth: {text} gives {result[:200]!r}"
