"""Checks calls against expected calls, by the rules of the published evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, TypeAlias

from benchwright.toolcalls._schema_types import LanguageTypes, fitting, language_of, types_of
from benchwright.toolcalls._value_rules import value_fault
from benchwright.toolcalls._verdict import VALID, CallVerdict, invalid, shown

_WRONG_NAME = "simple_function_checker:wrong_func_name"

_LONGEST_CONVERTED = 5_000
"""Longest text that is read as a value of Java or JavaScript, because the time of the patterns grows with its square."""


_MOST_RULES = 256


def check_ast(
    functions: Any, model_output: Any, ground_truth: Any, category: str, underscore_names: bool = False
) -> CallVerdict:
    """The verdict on decoded calls. It never raises: a call of an unexpected form is wrong.

    `functions` are the documents that the model saw, `ground_truth` is a list of `{name: {parameter: [allowed value, …]}}`.
    The category's name decides the language and whether order matters. `underscore_names` expects names whose dots
    became underscores, as they do in native mode.

    >>> weather = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}, "required": ["city"]}}
    >>> check_ast([weather], [{"weather": {"city": "Oslo"}}], [{"weather": {"city": ["Oslo", "oslo"]}}], "simple").valid
    True
    """
    try:
        check, types = _RULES[category]
        return check(functions, model_output, ground_truth, types, underscore_names)
    except Exception as error:  # a broken document or ground truth; RecursionError where values are too deep
        if category not in _RULES:
            _RULES[category] = _rules_of(category)
            return check_ast(functions, model_output, ground_truth, category, underscore_names)
        kind = type(error).__name__
        return invalid("simple_function_checker:unclear", f"cannot be checked: {kind}: {shown(error)}")


Check: TypeAlias = "Callable[[Any, Any, Any, LanguageTypes, bool], CallVerdict]"
_RULES: dict[str, tuple[Check, LanguageTypes]] = {}
"""The rules of each category seen so far, by name."""


def _rules_of(category: str) -> tuple[Check, LanguageTypes]:
    """How the calls of a category are compared, and the types of its language."""
    if len(_RULES) >= _MOST_RULES:
        _RULES.clear()
    parallel, multiple = "parallel" in category, "multiple" in category
    check = _check_parallel if parallel else _check_multiple if multiple else _check_simple
    return check, types_of(language_of(category))


def _check_simple(
    functions: Any, calls: Any, truths: Any, types: LanguageTypes, underscore_names: bool
) -> CallVerdict:
    """Check one call of the first function; the name in the ground truth does not matter."""
    if not calls or len(calls) != 1:
        return _wrong_count("simple_function_checker", 1, calls)
    function = functions[0]
    (expected,) = truths[0].values()
    return _check_call(function, function["name"], calls[0], expected, types, underscore_names)


def _check_multiple(
    functions: Any, calls: Any, truths: Any, types: LanguageTypes, underscore_names: bool
) -> CallVerdict:
    """Check the number of calls, and the first call."""
    if not calls or len(calls) != len(truths):
        return _wrong_count("multiple_function_checker", len(truths), calls)
    ((name, expected),) = truths[0].items()
    return _check_call(_named(functions, name), name, calls[0], expected, types, underscore_names)


def _check_parallel(
    functions: Any, calls: Any, truths: Any, types: LanguageTypes, underscore_names: bool
) -> CallVerdict:
    """Each expected call takes the first unused call that passes. As in the published checker, there is no second try."""
    if not calls or len(calls) != len(truths):
        return _wrong_count("parallel_function_checker_no_order", len(truths), calls)
    unused = list(calls)
    for truth in truths:
        ((name, expected),) = truth.items()
        function = _named(functions, name)
        first: CallVerdict | None = None
        for index, call in enumerate(unused):
            verdict = _check_call(function, name, call, expected, types, underscore_names)
            if verdict is VALID:
                del unused[index]
                break
            if first is None or first.error_type == _WRONG_NAME:
                first = verdict  # the fault of a call with the right name is more informative
        else:
            kind = "parallel_function_checker_no_order:cannot_find_match"
            if first is None:
                return invalid(kind, "no call matches {!r}", None, truth)
            return invalid(kind, "no call matches {!r}: {}", first.parameter, truth, _Reason(first))
    return VALID


def _check_call(
    function: dict[str, Any],
    name: str,
    call: Any,
    expected: Any,
    types: LanguageTypes,
    underscore_names: bool,
) -> CallVerdict:
    """One call against one expected call. The first fault ends the check.

    This is the hot path: a subscript that may raise costs right calls nothing, while `get` and `in` would take a third of
    the time.
    """
    if underscore_names:
        name = name.replace(".", "_")
    try:
        arguments = call[name]
    except (KeyError, TypeError):
        return invalid(_WRONG_NAME, "expected a call of {}, got {!r}", None, name, call)
    try:
        parameters = function["parameters"]
        properties = parameters["properties"]
        for required in parameters["required"]:
            if required not in arguments:
                return _missing_required(required)
    except (KeyError, TypeError):
        parameters = function.get("parameters") or {}
        properties = parameters.get("properties") or {}
        for required in parameters.get("required") or ():
            if required not in arguments:
                return _missing_required(required)
    plain = types.plain
    for parameter, value in arguments.items():
        try:
            allowed = expected[parameter]
            # Most values are right and of a type for which an equal value is right under all rules.
            if (
                type(value) is plain[properties[parameter]["type"]]
                and type(allowed) is list
                and value in allowed
            ):
                continue
        except (KeyError, TypeError):
            if parameter not in properties or parameter not in expected:
                kind = "simple_function_checker:unexpected_param"
                return invalid(kind, "unexpected parameter {!r}", parameter, parameter)
        fault = _argument_fault(parameter, value, properties[parameter], allowed, types)
        if fault is not None:
            return fault
    if len(arguments) != len(expected):  # otherwise each call is expected, so none is missing
        for parameter, allowed in expected.items():
            if parameter not in arguments and "" not in allowed:
                kind = "simple_function_checker:missing_optional"
                wording = "parameter {} is missing, and the expected call does not leave it out"
                return invalid(kind, wording, parameter, parameter)
    return VALID


def _missing_required(name: str) -> CallVerdict:
    return invalid("simple_function_checker:missing_required", "required parameter {} is missing", name, name)


def _wrong_count(checker: str, expected: int, calls: Any) -> CallVerdict:
    found = len(calls) if isinstance(calls, list) else calls
    return invalid(f"{checker}:wrong_count", "expected {} calls, got {!r}", None, expected, found)


def _argument_fault(
    name: object, value: Any, schema: Mapping[str, Any], allowed: Any, types: LanguageTypes
) -> CallVerdict | None:
    kind = schema.get("type")
    if type(kind) is not str and types.convert is None:  # the published checker knows no such schema
        schema = fitting(schema, value)
        kind = schema.get("type")
    expected = NoneType if kind == "null" else types.types.get(kind) if type(kind) is str else None
    if expected is None:
        wording = "{}: the schema gives the type {!r}, which cannot be checked; write one of: {}"
        known = ", ".join(types.types)
        return invalid("type_error:simple", wording, name, name, kind, known)
    if type(allowed) is not list and not isinstance(allowed, tuple | str):
        allowed = [allowed]
    inner_kind: str | None = None
    if expected is list and kind in types.lists:
        inner_kind = _item_kind(schema.get("items"), value)
    if types.convert is not None:
        if type(value) is not str:
            return invalid(str(types.error_type), "{}: expected a text, got {!r}", name, name, value)
        if len(value) <= _LONGEST_CONVERTED:
            value = types.convert(value, str(kind), inner_kind)
    elif expected is float:
        if type(value) is int:
            value = float(value)
    elif kind == "tuple" and type(value) is tuple:
        value = list(value)
    return value_fault(name, value, allowed, expected, types.types.get(inner_kind) if inner_kind else None)


def _item_kind(items: Any, value: Any) -> str | None:
    """The type of a list's items. None if the schema gives none, or several that occur: such items are compared by value only."""
    if not isinstance(items, dict):
        return None
    kind = items.get("type")
    if type(kind) is str:
        return kind
    kinds = {str(fitting(items, item).get("type")) for item in value} if type(value) is list else set()
    return kinds.pop() if len(kinds) == 1 else None


class _Reason:
    """The message of a verdict, formatted only when it is read."""

    def __init__(self, verdict: CallVerdict) -> None:
        self._verdict = verdict

    def __str__(self) -> str:
        return str(self._verdict.message)


def _named(functions: Any, name: str) -> dict[str, Any]:
    """The document of the function that an expected call names."""
    for function in functions:
        if function["name"] == name:
            document: dict[str, Any] = function
            return document
    raise LookupError(f"the ground truth calls {name}, which no document describes")
