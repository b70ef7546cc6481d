"""Calls against expected calls, by the rules of the published evaluation."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from benchwright.toolcalls._schema_types import PYTHON, PYTHON_TYPES, LanguageTypes, language_of, types_of
from benchwright.toolcalls._value_rules import check_equal, check_type, check_value
from benchwright.toolcalls._verdict import VALID, CallVerdict, invalid, shown

_SIMPLE = "simple_function_checker:"
_MULTIPLE = "multiple_function_checker:"
_PARALLEL = "parallel_function_checker_no_order:"

_PYTHON_MODES: dict[str, str] = {}
"""How calls of a category are compared, once it has been met; only of categories in Python."""
_MOST_MODES = 256
_LONGEST_CONVERTED = 10_000
"""Longest text that is read as a value of Java or JavaScript: patterns take time that grows with its square."""
_PLAIN = {name: kind if kind not in (list, dict) else None for name, kind in PYTHON_TYPES.items()}
"""Types of values that are right where they equal an allowed one."""


def check_ast(
    functions: Any, model_output: Any, ground_truth: Any, category: str, underscore_names: bool = False
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
        mode = _PYTHON_MODES[category]
        if type(model_output) is list and len(model_output) == (1 if mode is _SIMPLE else len(ground_truth)):
            if mode is not _PARALLEL:
                if _fits(functions, model_output[0], ground_truth[0], mode is _SIMPLE, underscore_names):
                    return VALID
            else:
                for call, truth in zip(model_output, ground_truth, strict=True):
                    if not _fits(functions, call, truth, False, underscore_names):
                        break
                else:
                    return VALID
    except Exception:  # whatever is odd is looked at below
        pass
    try:
        return _first_fault(functions, model_output, ground_truth, category, underscore_names)
    except Exception as error:  # a broken document or ground truth; RecursionError where values are too deep
        return invalid(_SIMPLE + "unclear", f"cannot be checked: {type(error).__name__}: {shown(error)}")


def _first_fault(
    functions: Any, calls: Any, truths: Any, category: str, underscore_names: bool
) -> CallVerdict:
    types, mode = _rules_of(category)
    if mode is _PARALLEL:
        return _check_parallel(functions, calls, truths, types, underscore_names)
    if mode is _MULTIPLE:
        if not isinstance(calls, list) or len(calls) != len(truths):
            return _wrong_count(_MULTIPLE, calls, len(truths))
        function = _named(functions, truths[0])
    else:
        if not isinstance(calls, list) or len(calls) != 1:
            return _wrong_count(_SIMPLE, calls, 1)
        function = functions[0]
    return check_call(function, calls[0], truths[0], types, underscore_names)


@lru_cache(maxsize=256)
def _rules_of(category: str) -> tuple[LanguageTypes, str]:
    """What the name of a category decides."""
    mode = _PARALLEL if "parallel" in category else _MULTIPLE if "multiple" in category else _SIMPLE
    types = types_of(language_of(category))
    if types is PYTHON and len(_PYTHON_MODES) < _MOST_MODES:
        _PYTHON_MODES[category] = mode
    return types, mode


def _fits(functions: Any, call: Any, truth: Any, by_place: bool, underscore_names: bool) -> bool:
    """Whether a call is right beyond doubt: plain values of the schema's types, each equal to an allowed one.

    Most calls are. The others, and what raises here, take the longer way, which comes to the same verdict on these.
    """
    (name,) = truth
    expected = truth[name]
    if by_place:
        function = functions[0]
        name = function["name"]
    else:
        for function in functions:
            if function["name"] == name:
                break
        else:
            return False
    arguments = call[name.replace(".", "_") if underscore_names else name]
    parameters = function["parameters"]
    for required in parameters["required"]:
        if required not in arguments:
            return False
    properties = parameters["properties"]
    for name, value in arguments.items():
        allowed = expected[name]
        if type(allowed) is not list or value not in allowed:
            return False
        schema = properties[name]
        if type(value) is not _PLAIN[schema["type"]]:
            if type(value) is not list or schema["type"] not in ("array", "list"):
                return False
            inner = _PLAIN[schema["items"]["type"]]
            if value != allowed[0]:  # one before it may be no list, which the longer way does not forgive
                return False
            for item in value:
                if type(item) is not inner:
                    return False
    if len(arguments) != len(expected):
        for name, allowed in expected.items():
            if name not in arguments and "" not in allowed:
                return False
    return True


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
    for required in parameters.get("required") or ():
        if required not in arguments:
            return invalid(
                _SIMPLE + "missing_required", f"required parameter {required} is missing", required
            )
    plain = types is PYTHON
    for parameter, value in arguments.items():
        if parameter not in properties or parameter not in expected:
            return invalid(
                _SIMPLE + "unexpected_param", f"unexpected parameter {shown(parameter)}", parameter
            )
        schema, allowed = properties[parameter], expected[parameter]
        if (
            plain
            and type(value) is _PLAIN.get(schema.get("type"))
            and type(allowed) is list
            and value in allowed
        ):
            continue
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
        if len(value) <= _LONGEST_CONVERTED:
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
        return _wrong_count(_PARALLEL, calls, len(truths))
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


def _wrong_count(mode: str, calls: Any, expected: int) -> CallVerdict:
    found = len(calls) if isinstance(calls, list) else shown(calls)
    return invalid(mode + "wrong_count", f"expected {expected} calls, got {found}")
