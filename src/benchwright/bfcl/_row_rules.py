"""Checks the fields of a custom dataset's rows. A fault is a ValueError that names the field and the cure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.bfcl._categories import CATEGORIES, Category
from benchwright.bfcl._executable import RESULT_TYPES, as_call
from benchwright.core import Row
from benchwright.toolcalls import check_ast, ground_truth_of, parsed_json, unwritable_value

_ROLES = ("user", "system", "assistant", "tool")


def question_of(row: Row, category: Category, identity: str) -> Row:
    """A row in the form of the evaluation: turns, functions and, if it has one, the ground truth."""
    functions = row.get("function") if "function" in row else row.get("functions")
    multi_turn = category.check == "multi_turn"
    found: Row = {**row, "id": identity, "category": category.name}
    found["question"] = _turns(row.get("question"), empty_turns=multi_turn)
    if len(found["question"]) > 1 and not multi_turn:
        raise ValueError(
            f"the row has {len(found['question'])} turns, and {category.name} expects calls after one. Write the "
            "conversation as one list of messages, with the replies of the assistant; its last message is answered"
        )
    if multi_turn:
        _check_multi_turn(row)
    else:
        found["function"] = [
            _function(item, number) for number, item in enumerate(_functions(functions, category), 1)
        ]
        names = [function["name"] for function in found["function"]]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(
                f"two functions have the name {twice[0]}, so that a call could mean either; rename one of them"
            )
    if category.check == "executable":
        _check_executable(row)
    return found


def messages_row(row: Row, category: Category, identity: str) -> Row:
    """Convert a row of the OpenAI format (`messages`, `tools`, `tool_calls_ground_truth`) to the form of the evaluation."""
    answers = ("tool_calls_ground_truth",) if category.check == "ast" else ()
    for name in ("messages", "tools", *answers):
        if name not in row:
            raise ValueError(
                f'field "{name}" is missing; the row has: {", ".join(map(str, row)) or "nothing"}'
            )
    tools = row["tools"]
    if not isinstance(tools, list) or not tools:
        raise ValueError('"tools" must be a list with at least one tool')
    functions = []
    for number, tool in enumerate(tools, 1):
        if not isinstance(tool, dict) or not isinstance(tool.get("type"), str):
            raise ValueError(f'tool {number} needs "type" and "function"')
        if tool["type"] == "function":
            if not isinstance(tool.get("function"), dict):
                raise ValueError(f'tool {number} needs "function", an object with name and parameters')
            functions.append(tool["function"])
    if not functions and category.check == "ast":
        raise ValueError('"tools" has no tool of the type "function"')
    native = {**row, "question": row["messages"], "function": functions}
    for name in ("messages", "tools", "tool_calls_ground_truth"):
        native.pop(name, None)
    found = question_of(native, category, identity)
    if category.check == "ast":
        found["ground_truth"] = truth_of(row["tool_calls_ground_truth"], "tool_calls_ground_truth")
    return found


def truth_of(value: Any, name: str = "ground_truth") -> list[dict[str, dict[str, list[Any]]]]:
    """The ground truth of a row; a value that is not a list is the only one allowed."""
    if isinstance(value, str):
        value = parsed_json(value, f'"{name}"')
    if not isinstance(value, list) or not value:
        raise ValueError(f'"{name}" must be a list with at least one expected call')
    return ground_truth_of(value)


def unreachable(row: Row, category: Category, *, as_text: bool = False) -> str | None:
    """Why no call can match a row's ground truth, found by scoring it against itself; None if one can. `as_text`: calls
    are read from texts."""
    functions, truths = row["function"], row["ground_truth"]
    by_name = {function["name"]: function for function in functions}
    if category.by_place and len(truths) > 1:
        several = category.name.replace("simple", "parallel")
        cure = f". Use the task {several} for rows with several calls" if several != category.name else ""
        return f"a row of {category.name} has one call, and the ground truth lists {len(truths)}{cure}"
    for truth in truths:
        name, expected = next(iter(truth.items()))
        if category.by_place and len(functions) > 1 and name != functions[0]["name"]:
            return _not_the_first(name, functions[0]["name"], category)
        document = functions[0] if category.by_place else by_name.get(name)
        if document is None:
            return f"the ground truth calls {name}, which is not one of the functions: {', '.join(by_name)}"
        parameters = document["parameters"]
        properties = parameters.get("properties", {})
        unknown = [key for key in expected if key not in properties and "" not in expected[key]]
        if unknown:
            return (
                f"the ground truth of {name} demands {', '.join(unknown)}, which its properties do not have"
            )
        if category.language != "python":  # the ground truth has values, and calls have their texts
            fault = unwritable_value(
                name, expected, properties, maps=not as_text or category.language != "java"
            )
            if fault is not None:
                return fault
            continue
        if (fault := _rejected(document, expected)) is not None:
            return f"the checker rejects its own ground truth: {fault}"
    return None


def _rejected(document: dict[str, Any], expected: dict[str, list[Any]]) -> str | None:
    """Why no call with allowed values passes the check; None if one does. Arguments are checked one by one, so the value of one
    may be changed until it passes."""
    name, required = document["name"], document["parameters"].get("required", ())
    for key, allowed in expected.items():
        if not allowed:
            return f"{key} has no allowed value"
    choices = {key: iter(_choices(allowed, key in required)) for key, allowed in expected.items()}
    call = {key: next(values, _LEFT_OUT) for key, values in choices.items()}
    first: str | None = None
    while True:
        arguments = {key: value for key, value in call.items() if value is not _LEFT_OUT}
        verdict = check_ast([document], [{name: arguments}], [{name: expected}], "simple")
        if verdict.valid:
            return None
        first = first or verdict.message or str(verdict.error_type)
        at_fault = verdict.parameter
        if at_fault not in call:
            return first
        value = next(choices[at_fault], _EXHAUSTED)
        if value is _EXHAUSTED:
            return first
        call[at_fault] = value


_LEFT_OUT, _EXHAUSTED = object(), object()


def _choices(allowed: list[Any], required: bool) -> Iterator[Any]:
    """What a call may give for a parameter: each allowed value, in the ways in which it may be meant, and nothing at all."""
    for value in allowed:
        if value == "":
            continue
        yield _plain(value)
        if isinstance(value, dict):  # deeper objects are compared as they are
            yield {
                key: options[0] if isinstance(options, list) and options else options
                for key, options in value.items()
            }
        if isinstance(value, dict | list):
            yield value
    if "" in allowed:
        if not required:
            yield _LEFT_OUT
        yield ""
        yield []


def _not_the_first(called: str, first: str, category: Category) -> str:
    several = category.name.replace("simple", "multiple")
    other = several in CATEGORIES and several != category.name
    cure = f"Use the task {several} for rows with several functions" if other else "Offer only that function"
    return (
        f"{category.name} compares calls with the first function of a row, {first}, and the ground truth calls {called}. "
        f"{cure}"
    )


def misnamed(row: Row) -> str | None:
    """Expected calls of functions that a row does not offer, if the published rules would not notice: they use the only
    function of a row and do not compare names in the ground truth."""
    offered = [function["name"] for function in row["function"]]
    unknown = [name for truth in row["ground_truth"] for name in truth if name not in offered]
    if not unknown:
        return None
    return (
        f"the ground truth calls {', '.join(unknown)}, which is not one of the functions: {', '.join(offered)}. "
        "Correct the name: by the published rules only its arguments are compared"
    )


def _first(expected: dict[str, list[Any]]) -> dict[str, Any]:
    """The first allowed value of every parameter that may not be left out."""
    return {name: _plain(allowed[0]) for name, allowed in expected.items() if allowed and "" not in allowed}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _first({key: item if isinstance(item, list) else [item] for key, item in value.items()})
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _turns(value: Any, *, empty_turns: bool) -> list[list[dict[str, Any]]]:
    if not isinstance(value, list) or not value:
        raise ValueError(
            "the messages (question) must be a list, or a list of turns with a list each, and must not be empty"
        )
    turns = [value] if isinstance(value[0], dict) else value
    for number, turn in enumerate(turns, 1):
        if not isinstance(turn, list) or not (turn or empty_turns):
            raise ValueError(f"turn {number} must be a list with at least one message")
        for message in turn:
            _check_message(message, number)
    return turns


def _check_message(message: Any, turn: int) -> None:
    if not isinstance(message, dict):
        raise ValueError(
            f"turn {turn}: a message is an object with role and content, not {type(message).__name__}"
        )
    if message.get("role") not in _ROLES:
        raise ValueError(
            f"turn {turn}: the role is {message.get('role')!r}; expected one of {', '.join(_ROLES)}"
        )
    if not isinstance(message.get("content"), str | list | None):
        raise ValueError(f"turn {turn}: the content is {type(message['content']).__name__}; expected a text")


def _functions(value: Any, category: Category) -> list[Any]:
    if category.check in ("irrelevance", "relevance") and value == []:
        return []
    if not isinstance(value, list) or not value:
        raise ValueError('"function" must be a list with at least one function')
    return value


def _function(item: Any, number: int) -> dict[str, Any]:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
        raise ValueError(f'function {number} has no "name"')
    name = item["name"]
    if not isinstance(item.get("description", ""), str):
        raise ValueError(f"function {name}: the description is not a text")
    parameters = item.get("parameters", {"type": "dict", "properties": {}})
    if not isinstance(parameters, dict):
        raise ValueError(f"function {name}: parameters must be an object with properties")
    properties = parameters.get("properties", {})
    if not isinstance(properties, dict) or not all(
        isinstance(schema, dict) for schema in properties.values()
    ):
        raise ValueError(f"function {name}: properties must be an object of schemas")
    required = parameters.get("required", [])
    if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
        raise ValueError(f"function {name}: required must be a list of names")
    unknown = [each for each in required if each not in properties]
    if unknown:
        raise ValueError(
            f"function {name}: required names {', '.join(unknown)}, which properties do not have"
        )
    return {**item, "parameters": {**parameters, "properties": properties, "required": required}}


def _check_executable(row: Row) -> None:
    truth, kinds = row.get("ground_truth"), row.get("execution_result_type") or []
    if not isinstance(truth, list) or not truth or not all(isinstance(text, str) for text in truth):
        raise ValueError('"ground_truth" of an executable row lists calls as texts, such as "add(a=1, b=2)"')
    for text in truth:
        try:
            as_call(text)
        except ValueError as error:
            raise ValueError(f'"ground_truth": {text!r} is not a call: {error}') from None
    if not isinstance(kinds, list) or not all(kind in RESULT_TYPES for kind in kinds):
        raise ValueError(f'"execution_result_type" lists, for each call, one of: {", ".join(RESULT_TYPES)}')


def _check_multi_turn(row: Row) -> None:
    classes = row.get("involved_classes")
    if not isinstance(classes, list) or not classes or not all(isinstance(name, str) for name in classes):
        raise ValueError('"involved_classes" must list the names of one or more simulated classes')
    if not isinstance(row.get("initial_config", {}), dict):
        raise ValueError('"initial_config" must be an object by class')
    missed = row.get("missed_function") or {}
    if not isinstance(missed, dict) or not all(
        turn.isdecimal() and isinstance(names, list) and all(isinstance(name, str) for name in names)
        for turn, names in missed.items()
    ):
        raise ValueError(
            '"missed_function" must be an object: the number of a turn, from "0", and a list of names'
        )
