"""Calls against expected calls, by the rules of the published evaluation."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from benchwright.toolcalls._schema_types import LanguageTypes, language_of, types_of
from benchwright.toolcalls._value_rules import check_equal, check_type, check_value
from benchwright.toolcalls._verdict import VALID, CallVerdict, invalid, shown

_SIMPLE = "simple_function_checker:"
_PARALLEL = "parallel_function_checker_no_order:"


def check_ast(
    functions: Any, model_output: Any, ground_truth: Any, category: str, *, underscore_names: bool = False
) -> CallVerdict:
    """The verdict on decoded calls. It never raises: what has an unforeseen shape is wrong.

    `functions` are the documents that the model saw, `ground_truth` is a list of `{name: {parameter: [allowed value, …]}}`.
    The category's name decides the language and whether order matters. `underscore_names` expects names whose dots
    became underscores, as they do in native mode.

    >>> weather = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}, "required": ["city"]}}
    >>> check_ast([weather], [{"weather": {"city": "Oslo"}}], [{"weather": {"city": ["Oslo", "oslo"]}}], "simple").valid
    True
    """
    try:
        types, mode = _rules_of(category)
        if mode == "parallel":
            return _check_parallel(functions, model_output, ground_truth, types, underscore_names)
        if mode == "multiple":
            if not isinstance(model_output, list) or len(model_output) != len(ground_truth):
                return _wrong_count("multiple_function_checker:wrong_count", model_output, len(ground_truth))
            function = _named(functions, ground_truth[0])
        else:
            if not isinstance(model_output, list) or len(model_output) != 1:
                return _wrong_count(_SIMPLE + "wrong_count", model_output, 1)
            function = functions[0]
        return check_call(function, model_output[0], ground_truth[0], types, underscore_names)
    except Exception as error:  # a broken document or ground truth; RecursionError where values are too deep
        return invalid(_SIMPLE + "unclear", f"cannot be checked: {type(error).__name__}: {shown(error)}")


@lru_cache(maxsize=256)
def _rules_of(category: str) -> tuple[LanguageTypes, str]:
    """What the name of a category decides."""
    mode = next((mode for mode in ("parallel", "multiple") if mode in category), "simple")
    return types_of(language_of(category)), mode


def check_call(
    function: dict[str, Any], call: Any, truth: dict[str, Any], types: LanguageTypes, underscore_names: bool
) -> CallVerdict:
    """One call against one expected call. The first fault ends the check."""
    name = function["name"].replace(".", "_") if underscore_names else function["name"]
    if not isinstance(call, dict) or name not in call:
        found = ", ".join(map(str, call)) if isinstance(call, dict) else shown(call)
        return invalid(_SIMPLE + "wrong_func_name", f"expected a call of {name}, got {found}")
    arguments = call[name]
    parameters = function.get("parameters") or {}
    properties = parameters.get("properties") or {}
    expected = next(iter(truth.values()))
    scalars = types.scalars
    for required in parameters.get("required") or ():
        if required not in arguments:
            return invalid(
                _SIMPLE + "missing_required", f"required parameter {required} is missing", required
            )
    for parameter, value in arguments.items():
        if parameter not in properties or parameter not in expected:
            return invalid(
                _SIMPLE + "unexpected_param", f"unexpected parameter {shown(parameter)}", parameter
            )
        schema, allowed = properties[parameter], expected[parameter]
        if type(value) is scalars.get(schema.get("type")) and type(allowed) is list and value in allowed:
            continue  # nearly all values are; by the longer way they would pass as well
        verdict = _check_argument(parameter, value, schema, allowed, types)
        if not verdict.valid:
            return verdict
    if len(arguments) == len(expected):  # each of them is an expected one, so none is missing
        return VALID
    for parameter, allowed in expected.items():
        if parameter not in arguments and "" not in allowed:
            return invalid(
                _SIMPLE + "missing_optional",
                f"parameter {parameter} is missing, and the expected call does not leave it out",
                parameter,
            )
    return VALID


def _check_argument(
    name: object, value: Any, schema: dict[str, Any], allowed: Any, types: LanguageTypes
) -> CallVerdict:
    kind = schema.get("type")
    expected = types.types.get(kind)  # type: ignore[arg-type]  # None finds nothing
    if expected is None:
        return invalid("type_error:simple", f"{name}: the schema has the unknown type {shown(kind)}", name)
    if not isinstance(allowed, list | tuple | str):
        allowed = [allowed]
    inner: type | None = None
    inner_kind: str | None = None
    if kind in types.lists:
        items = schema.get("items")
        inner_kind = items.get("type") if isinstance(items, dict) else None
        inner = types.types.get(inner_kind) if inner_kind is not None else None
    if types.convert is not None:
        if type(value) is not str:
            return invalid(str(types.error_type), f"{name}: expected a text, got {shown(value)}", name)
        value = types.convert(value, str(kind), inner_kind)
    elif kind == "tuple" and type(value) is tuple:
        value = list(value)
    elif expected is float and type(value) is int:
        value = float(value)
    outcome = check_type(name, value, allowed, expected, inner)
    if outcome is True:
        return check_equal(name, value, allowed)
    if outcome is False:
        return check_value(name, value, allowed, expected, inner)
    return outcome


def _check_parallel(
    functions: Any, calls: Any, truths: Any, types: LanguageTypes, underscore_names: bool
) -> CallVerdict:
    """Each expected call takes the first unused call that passes. There is no second try, as in the published checker."""
    if not isinstance(calls, list) or len(calls) != len(truths):
        return _wrong_count(_PARALLEL + "wrong_count", calls, len(truths))
    unused = list(range(len(calls)))
    for truth in truths:
        function = _named(functions, truth)
        first: CallVerdict | None = None
        for index in unused:
            verdict = check_call(function, calls[index], truth, types, underscore_names)
            if verdict.valid:
                unused.remove(index)
                break
            if first is None or first.error_type == _SIMPLE + "wrong_func_name":
                first = verdict  # the fault of a call of the right name says more
        else:
            reason = f": {first.message}" if first is not None else ""
            return invalid(
                _PARALLEL + "cannot_find_match", f"no call matches {shown(truth)}{reason}",
                first.parameter if first is not None else None,
            )  # fmt: skip
    return VALID


def _named(functions: Any, truth: dict[str, Any]) -> dict[str, Any]:
    """The document of the function that an expected call names."""
    name = next(iter(truth))
    for function in functions:
        if function["name"] == name:
            document: dict[str, Any] = function
            return document
    raise LookupError(f"the ground truth calls {name}, which no document describes")


def _wrong_count(error_type: str, calls: Any, expected: int) -> CallVerdict:
    found = len(calls) if isinstance(calls, list) else shown(calls)
    return invalid(error_type, f"expected {expected} calls, got {found}")
