"""Executable rows: a user's module executes the calls in a separate process, and their results are compared."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.core import BenchwrightError
from benchwright.toolcalls import Calls, CallVerdict

KEYS = ("RAPID_API_KEY", "EXCHANGERATE_API_KEY", "OMDB_API_KEY", "GEOCODE_API_KEY")
"""Variables that the published executable rows need."""
RESULT_TYPES = ("exact_match", "real_time_match", "structural_match")
"""How a result is compared with the expected one."""
_SECONDS = 10.0
_TOLERANCE = 0.2
_CHILD = """
import importlib.util, json, os, sys
task = json.load(sys.stdin)
real = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
spec = importlib.util.spec_from_file_location("functions_under_test", task["module"])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for call in task["calls"]:
    function = None if call["name"].startswith("_") else getattr(module, call["name"], None)
    if not callable(function):
        result = {"error": "there is no function " + call["name"]}
    else:
        try:
            result = {"value": function(*call["positional"], **call["arguments"])}
        except Exception as error:
            result = {"error": type(error).__name__ + ": " + str(error)}
    try:
        text = json.dumps(result, default=str)
    except Exception as error:
        text = json.dumps({"error": "the result cannot be passed on: " + str(error)})
    print(text, file=real, flush=True)
"""


def carry_out(
    module: Path, calls: Sequence[Mapping[str, Any]], seconds: float = _SECONDS
) -> list[dict[str, Any]]:
    """Results of calls (`name`, `arguments`, `positional`) to a module's functions, each `{"value"}` or `{"error"}`.

    A call that never ends, or ends the process, does not change the results of those before it."""
    task = {"module": str(module), "calls": [{"positional": [], "arguments": {}, **call} for call in calls]}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _CHILD],
            input=json.dumps(task, default=str).encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else "the module ended without a result"
        lines = done.stdout
    except subprocess.TimeoutExpired as error:
        why, lines = f"took more than {seconds:g} seconds", error.stdout or b""
    found: list[dict[str, Any]] = [json.loads(line) for line in lines.split(b"\n")[:-1]]
    return found + [{"error": why}] * (len(calls) - len(found))


def unexecutable(expected: Sequence[str], module: Path) -> str | None:
    """Which expected call cannot be executed, and why: without it, no reply can be judged. None if all can."""
    calls = []
    for text in expected:
        try:
            calls.append(as_call(text))
        except ValueError as error:
            return _unexecuted(text, {"error": error})
    for text, result in zip(expected, carry_out(module, calls), strict=True):
        if "error" in result:
            return _unexecuted(text, result)
    return None


def _unexecuted(text: str, result: Mapping[str, Any]) -> str:
    return f"the expected call {text} could not be executed: {result['error']}"


def check_executable(
    calls: Calls,
    expected: Sequence[str],
    kinds: Sequence[str],
    module: Path,
    *,
    offered: Sequence[Mapping[str, Any]],
    simple: bool,
) -> CallVerdict:
    """The verdict on calls: their results compared with those of the expected calls, which are given as text. Only functions on
    offer are executed: a module also has functions that it imports, such as `os.system`.

    Raises BenchwrightError if an expected call could not be executed: the calls are then neither right nor wrong."""
    if len(calls) != len(expected):
        kind = "simple_exec_checker:wrong_count" if simple else "value_error:exec_result_count"
        return CallVerdict(False, kind, f"expected {len(expected)} calls, got {len(calls)}")
    wanted = [as_call(text) for text in expected]
    given = [{"name": name, "arguments": arguments} for call in calls for name, arguments in call.items()]
    names = {str(function.get("name")) for function in offered}
    names |= {name.replace(".", "_") for name in names}
    for call in given:
        if call["name"] not in names:
            return _wrong("execution_error", f"there is no function {call['name']!r} on offer")
        try:
            json.dumps(call, default=str)
        except (TypeError, ValueError, RecursionError) as error:  # such as a tuple as a key
            return _wrong("execution_error", f"the arguments of {call['name']} cannot be passed: {error}")
    results = carry_out(module, [*wanted, *given], 2 * _SECONDS)
    truths, found = results[: len(wanted)], results[len(wanted) :]
    unused = list(range(len(found)))
    for number, truth in enumerate(truths):
        if "error" in truth:  # although it could be executed before the model was asked
            raise BenchwrightError(_unexecuted(expected[number], truth))
        kind = kinds[number] if number < len(kinds) else "exact_match"
        faults = [_fault(found[index], truth["value"], kind) for index in unused]
        if None in faults:
            unused.pop(faults.index(None))
        elif simple and faults[0] is not None:
            return faults[0]
        else:
            return _wrong("cannot_find_match", f"no call gives what {expected[number]} gives")
    return CallVerdict(True)


def as_call(text: str) -> dict[str, Any]:
    """The call that a text describes, for `carry_out`. Raises CallDecodeError if it is not one call."""
    from benchwright.toolcalls import CallDecodeError, dotted_name, parse_calls, value_of

    calls = parse_calls(text)
    if len(calls) != 1:
        raise CallDecodeError(f"expected one call, found {len(calls)}")
    (node,) = calls
    return {
        "name": dotted_name(node.func),
        "positional": [value_of(item) for item in node.args],
        "arguments": {str(word.arg): value_of(word.value) for word in node.keywords},
    }


def _fault(result: Mapping[str, Any], truth: Any, kind: str) -> CallVerdict | None:
    if "error" in result:
        return _wrong("execution_error", str(result["error"]))
    value = result["value"]
    if kind == "real_time_match":
        both = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (value, truth))
        if not both or abs(value - truth) > abs(truth) * _TOLERANCE:
            return _wrong("wrong_result_real_time", f"expected about {truth!r}, got {value!r}")
        return None
    if kind == "structural_match":
        return _structure_fault(value, truth)
    if value != truth:
        return _wrong("wrong_result", f"expected {truth!r}, got {value!r}")
    return None


def _structure_fault(value: Any, truth: Any) -> CallVerdict | None:
    if type(value) is not type(truth):
        return _wrong("wrong_result_type", f"expected {type(truth).__name__}, got {type(value).__name__}")
    if isinstance(truth, dict):
        if len(value) != len(truth):
            return _wrong("wrong_result_type:dict_length", f"expected {len(truth)} keys, got {len(value)}")
        for key in truth:
            if key not in value:
                return _wrong("wrong_result_type:dict_key_not_found", f"key {key!r} is missing")
        for key in value:
            if key not in truth:
                return _wrong("wrong_result_type:dict_extra_key", f"unexpected key {key!r}")
    if isinstance(truth, list) and len(value) != len(truth):
        return _wrong("wrong_result_type:list_length", f"expected {len(truth)} items, got {len(value)}")
    return None


def _wrong(kind: str, message: str) -> CallVerdict:
    return CallVerdict(False, f"executable_checker:{kind}", message)
