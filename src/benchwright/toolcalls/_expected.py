"""A user's expected calls, in OpenAI's format `{"name", "arguments"}` or that of the published data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchwright.core import load_data_json
from benchwright.toolcalls._checker import check_ast
from benchwright.toolcalls._verdict import VALID, CallVerdict, invalid, shown


def ground_truth_of(expected: Any) -> list[dict[str, dict[str, list[Any]]]]:
    """Convert expected calls into the checker's format. Raises ValueError that describes what is wrong with them.

    A value that is not a list is the only allowed value; in `{"name", "arguments"}`, every value is.

    >>> ground_truth_of([{"name": "f", "arguments": {"a": [1, 2]}}])
    [{'f': {'a': [[1, 2]]}}]
    >>> ground_truth_of([{"f": {"a": [1, 2], "b": "x"}}])
    [{'f': {'a': [1, 2], 'b': ['x']}}]
    """
    if isinstance(expected, str):
        expected = parsed_json(expected, "the list of expected calls")
    if isinstance(expected, dict):
        expected = [expected]
    if not isinstance(expected, list):
        raise ValueError(f"expected calls are a list, not {type(expected).__name__}")
    return [_one(item) for item in expected]


def parsed_json(text: str, what: str) -> Any:
    """The value of a string that must be JSON. The ValueError names it as `what`."""
    try:
        return load_data_json(text)
    except ValueError as error:
        raise ValueError(f"{what} must be JSON, found the text {shown(text)}: {error}") from None


def _one(item: Any) -> dict[str, dict[str, list[Any]]]:
    if isinstance(item, dict) and isinstance(item.get("function"), dict) and "name" in item["function"]:
        item = item["function"]  # an entry of `tool_calls`
    if (
        isinstance(item, dict)
        and isinstance(item.get("name"), str)
        and set(item) <= {"name", "arguments", "id", "type"}
    ):
        arguments = item.get("arguments", {})
        if isinstance(arguments, str):
            arguments = parsed_json(arguments, f"the arguments of {item['name']} in an expected call")
        if not isinstance(arguments, dict):
            raise ValueError(f"arguments of {item['name']} are not an object: {shown(arguments)}")
        return {item["name"]: {name: [as_allowed(value)] for name, value in arguments.items()}}
    if isinstance(item, dict) and len(item) == 1:
        ((name, arguments),) = item.items()
        if isinstance(arguments, dict):
            return {name: {k: v if isinstance(v, list) else [v] for k, v in arguments.items()}}
    raise ValueError(
        f'an expected call is {{"name", "arguments"}} or {{name: {{parameter: [allowed]}}}}, not {shown(item)}'
    )


def as_allowed(value: Any) -> Any:
    """A plain value as an allowed value; objects contain lists of allowed values."""
    if isinstance(value, dict):
        return {key: [item] for key, item in value.items()}
    if isinstance(value, list):
        return [as_allowed(item) if isinstance(item, dict) else item for item in value]
    return value


def expected_calls_verdict(
    functions: list[dict[str, Any]], calls: Any, expected: Any, *, underscore_names: bool = False
) -> CallVerdict:
    """The verdict on calls: as many as the user expects, each matching one, in any order.

    No expected call means that none may be made.
    """
    try:
        truths = ground_truth_of(expected)
    except ValueError as error:
        return invalid("ground_truth:unreadable", str(error))
    if not isinstance(calls, list):
        return invalid(
            "ast_decoder:decoder_wrong_output_format", f"expected a list of calls, got {shown(calls)}"
        )
    if not truths:
        if not calls:
            return VALID
        return invalid("irrelevance_error:decoder_success", f"expected no call, got {shown(calls)}")
    if len(truths) == 1:
        return check_ast(functions, calls, truths, "multiple", underscore_names=underscore_names)
    verdict = check_ast(functions, calls, truths, "parallel", underscore_names=underscore_names)
    if verdict.valid or len(calls) != len(truths):
        return verdict

    # The published rule gives each expected call the first call that fits, which another one may need.
    def fits(truth: int, call: int) -> bool:
        return check_ast(
            functions, [calls[call]], [truths[truth]], "multiple", underscore_names=underscore_names
        ).valid

    return VALID if _can_be_paired(len(truths), fits) else verdict


def _can_be_paired(count: int, fits: Callable[[int, int], bool]) -> bool:
    """Whether `count` expected calls can be paired with as many calls so that each pair fits.

    Each expected call takes a call that fits; if all of these are taken, those who have them move on to others (Kuhn's
    algorithm for matchings).

    >>> _can_be_paired(2, lambda truth, call: (truth, call) in {(0, 0), (0, 1), (1, 0)})
    True
    """
    fitting = [[call for call in range(count) if fits(truth, call)] for truth in range(count)]
    holder: dict[int, int] = {}  # who has a call
    for first in range(count):
        came_from: dict[int, int] = {}  # by call: who asked for it
        waiting, free = [first], None
        while waiting and free is None:
            truth = waiting.pop()
            for call in fitting[truth]:
                if call in came_from:
                    continue
                came_from[call] = truth
                if call not in holder:
                    free = call
                    break
                waiting.append(holder[call])
        if free is None:
            return False
        held = {truth: call for call, truth in holder.items()}
        while free is not None:
            truth = came_from[free]
            holder[free] = truth
            free = held.get(truth)
    return True
