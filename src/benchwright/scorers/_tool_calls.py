"""Scores function calls: whether a reply makes the expected calls."""

from __future__ import annotations

from typing import Any

from benchwright.scorers._scorer import AnswerScores, ScorerInput, by_name


@by_name
def tool_calls_match(sample: ScorerInput) -> AnswerScores:
    """Whether the calls of a reply are the expected ones, in any order.

    `correct`: as many calls as expected, each with the name and arguments of another expected one. `parsed`: whether the reply
    could be read as calls; a reply in plain words is parsed, and right if no call is expected. `name_correct`: whether the
    right functions were called, regardless of their arguments. `error_type`: the first fault, as a text. `call_error`: why the
    reply could not be read as calls, in one word.

    Expected calls are `{"name": …, "arguments": {…}}`, or `{name: {parameter: [allowed values]}}`, where `""` among the values
    says that the parameter may be left out. If a run offers functions, their schemas say which types are right.
    """
    from benchwright.toolcalls import READABLE, CallVerdict, expected_calls_verdict

    row = sample.metadata
    calls, error, why = _calls_of(sample)
    functions: list[dict[str, Any]] = row.get("_functions") or _expected_functions(sample.target)
    underscores = bool(row.get("_native_calling"))
    verdict = expected_calls_verdict(functions, calls or [], sample.target, underscore_names=underscores)
    # Words are an answer. A text that is no list of calls is words; calls in the reply that cannot be read are not.
    spoke = error in READABLE or (verdict.valid and not underscores)
    correct = verdict.valid and spoke
    judged = verdict if spoke else CallVerdict.unread(str(error), why)
    lenient: dict[str, Any] = {}
    if "_lenient_calls" in row:
        again = row["_lenient_calls"]
        other = expected_calls_verdict(functions, again or [], sample.target, underscore_names=underscores)
        lenient["correct_lenient"] = other.valid
        lenient["reading"] = "lenient" if again != calls else None
    return AnswerScores(
        {
            "correct": correct,
            "parsed": spoke,
            "name_correct": _names(calls or [], underscores) == _expected_names(sample.target, underscores),
            **judged.fault,
            "call_error": error,
            **lenient,
        },
        sample.response,
    )


def _calls_of(sample: ScorerInput) -> tuple[list[dict[str, Any]] | None, str | None, str | None]:
    """The calls that the run read, or those in the text of a ready-made response; and why there are none, in a word and in a
    sentence."""
    row = sample.metadata
    if "_calls" in row:
        return row["_calls"], row.get("_call_error"), row.get("_call_problem")
    from benchwright.toolcalls import CallDecodeError, decode_calls

    try:
        return decode_calls(sample.response), None, None
    except CallDecodeError as error:
        return None, error.reason, str(error)


def _names(calls: list[dict[str, Any]], underscores: bool) -> list[str]:
    return sorted(_spelled(name, underscores) for call in calls for name in call)


def _expected_names(expected: Any, underscores: bool) -> list[str] | None:
    from benchwright.toolcalls import ground_truth_of

    try:
        return _names(ground_truth_of(expected), underscores)
    except ValueError:  # the verdict reports it
        return None


def _expected_functions(expected: Any) -> list[dict[str, Any]]:
    """Functions with just the parameters that the expected calls have, for responses of which no functions are known."""
    from benchwright.toolcalls import ground_truth_of

    try:
        calls = ground_truth_of(expected)
    except ValueError:
        return []
    allowed: dict[str, dict[str, list[Any]]] = {}  # by function and parameter, of all expected calls
    for call in calls:
        for name, parameters in call.items():
            known = allowed.setdefault(name, {})
            for parameter, values in parameters.items():
                known[parameter] = [*known.get(parameter, ()), *values]
    return [
        {
            "name": name,
            "parameters": {
                "type": "dict",
                "properties": {key: _schema(values) for key, values in known.items()},
            },
        }
        for name, known in allowed.items()
    ]


def _spelled(name: str, underscores: bool) -> str:
    return name.replace(".", "_") if underscores else name


def _schema(allowed: list[Any]) -> dict[str, Any]:
    """The types of the allowed values of a parameter; `""` says that it may be left out."""
    values = [value for value in allowed if value != ""]
    return {"enum": values} if values else {"type": "any"}
