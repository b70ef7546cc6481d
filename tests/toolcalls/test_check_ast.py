"""Verdicts on calls: one small case for each rule and each kind of fault."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.toolcalls import check_ast, expected_calls_verdict, tools_of


def document(name: str = "shop.order", required: tuple[str, ...] = (), **types: Any) -> dict[str, Any]:
    properties = {key: kind if isinstance(kind, dict) else {"type": kind} for key, kind in types.items()}
    return {"name": name, "description": "", "parameters": {"type": "dict", "properties": properties, "required": list(required)}}  # fmt: skip


def test_a_tool_keeps_what_says_its_type_in_another_way() -> None:
    optional = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    (tool,) = tools_of([document(n=optional, e={"enum": [1, 2]}, plain={"description": "x"})])
    sent = tool["function"]["parameters"]["properties"]
    assert (sent["n"], sent["e"]) == (optional, {"enum": [1, 2]})
    assert sent["plain"]["type"] == "string"


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({"type": ["float", "null"]}, {"type": ["number", "null"]}),
        ({"type": ["dict", "null"], "properties": {"a": {"type": "dict"}}}, {"type": ["object", "null"], "properties": {"a": {"type": "object"}}}),
        ({"type": ["tuple"], "items": {"type": "float"}}, {"type": ["array"], "items": {"type": "number"}}),
        ({"anyOf": [{"type": "float"}, {"type": "tuple", "items": {"type": "dict"}}]}, {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "object"}}]}),
        ({"oneOf": [{"anyOf": [{"type": "bool"}]}, True]}, {"oneOf": [{"anyOf": [{"type": "boolean"}]}, True]}),
        ({"type": "null"}, {"type": "null"}),
    ],
)  # fmt: skip
def test_a_tool_has_only_types_of_json_schema(written: dict[str, Any], sent: dict[str, Any]) -> None:
    (tool,) = tools_of([document(v=written)])
    assert tool["function"]["parameters"]["properties"]["v"] == sent
    (tool,) = tools_of([document(v=written)], "java")  # in which every value is a text
    assert tool["function"]["parameters"]["properties"]["v"]["type"] == "string"


def verdict_of(kind: Any, value: Any, allowed: Any, category: str = "simple") -> str | None:
    verdict = check_ast(
        [document(v=kind)], [{"shop.order": {"v": value}}], [{"shop.order": {"v": allowed}}], category
    )
    assert verdict.valid == (verdict.error_type is None)
    return verdict.error_type


@pytest.mark.parametrize(
    ("kind", "value", "allowed", "error"),
    [
        ("string", "New-York, N.Y.", ["new york ny"], None),
        ("string", "it's", ['it"s'], None),
        ("string", "a\tb", ["ab"], "value_error:string"),
        ("string", "-", ["x", ""], None),
        ("string", 5, ["5"], "type_error:simple"),
        ("string", 5, [5], None),
        ("string", 6, [5], "value_error:others"),
        ("any", "x", ["X"], None),
        ("integer", 5, [5], None),
        ("integer", 5.0, [5], "type_error:simple"),
        ("integer", True, [1], "type_error:simple"),
        ("integer", 6, [5], "value_error:others"),
        ("float", 5, [5.0], None),
        ("float", 5, [5], None),
        ("float", "5", [5.0], "type_error:simple"),
        ("number", 5, [5.0], None),
        ("boolean", True, [True], None),
        ("boolean", 1, [True], "type_error:simple"),
        ("tuple", (1, 2), [[1, 2]], None),
        ({"type": "tuple", "items": {"type": "integer"}}, (1, 2), [[1, 2]], None),
        ({"type": "array", "items": {"type": "integer"}}, (1, 2), [[1, 2]], "type_error:simple"),
        ({"type": "array", "items": {"type": "float"}}, [1], [[1.0]], "type_error:nested"),
        ({"type": "array", "items": {"type": "float"}}, [1], [[1]], None),
        ({"type": "array", "items": {"type": "integer"}}, [2, 1], [[1, 2]], "value_error:list/tuple"),
        ({"type": "array", "items": {"type": "string"}}, ["A b"], [["ab"]], None),
        ({"type": "array", "items": {"type": "string"}}, [], [["ab"], ""], None),
        ({"type": "array", "items": {"type": "string"}}, [1], [], "type_error:simple"),
        ({"type": "array"}, [1, "A"], [[1, "a"]], None),
        ("object", {"k": "V v"}, [{"k": ["vv"]}], None),
        ("dict", {"k": 1}, [{"k": [2]}], "value_error:dict_value"),
        ("dict", {"z": 1}, [{"k": [2]}], "value_error:dict_key"),
        ("dict", {}, [{"k": [2]}], "value_error:dict_key"),
        ("dict", {}, [{"k": [2, ""]}], None),
        ("dict", {"k": 1}, [""], "dict_checker:unclear"),
        ("dict", {"k": 3}, [{"k": [2]}, {"j": [3]}], "value_error:dict_key"),
        ({"type": "array", "items": {"type": "dict"}}, [{"k": 1}], [[{"k": [1]}]], None),
        ({"type": "array", "items": {"type": "dict"}}, [{"k": 1}], [[{"k": [1]}, {"k": [2]}]], "value_error:list_dict_count"),
        ({"type": "array", "items": {"type": "dict"}}, [{"k": 1}], [[{"k": [2]}]], "value_error:dict_value"),
        ("quaternion", 1, [1], "type_error:simple"),
        # Schemas as libraries write them, which the published checker does not know
        ({"type": ["integer", "null"]}, 1, [1], None),
        ({"type": ["integer", "null"]}, None, [1, None], None),
        ({"type": ["integer", "null"]}, None, [1], "value_error:others"),
        ({"type": ["integer", "null"]}, "1", [1], "type_error:simple"),
        ({"type": ["string", "number"]}, 5, [5.0], None),
        ({"type": ["string", "number"]}, "A b", ["ab"], None),
        ({"type": []}, 1, [1], "type_error:simple"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, 1, [1], None),
        ({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, ["A b"], [["ab"]], None),
        ({"oneOf": [{"type": "object"}, {"type": "string"}]}, {"k": "V"}, [{"k": ["v"]}], None),
        ({"enum": [1, 2]}, 2, [2], None),
        ({"enum": ["a", None]}, "A", ["a"], None),
        ({"const": "x"}, "x", ["x"], None),
        ({"type": "array", "items": {"type": ["integer", "string"]}}, [1, "A"], [[1, "a"]], None),
        ({"type": "array", "items": {"anyOf": [{"type": "integer"}]}}, ["1"], [[1]], "type_error:nested"),
        ({"type": "array", "items": [{"type": "integer"}]}, [1], [[1]], None),
        ({"$ref": "#/$defs/Place"}, "x", ["x"], "type_error:simple"),
        ({}, "x", ["x"], "type_error:simple"),
    ],
)  # fmt: skip
def test_a_value_against_the_allowed_ones(kind: Any, value: Any, allowed: Any, error: str | None) -> None:
    assert verdict_of(kind, value, allowed) == error


@pytest.mark.parametrize(
    ("kind", "value", "allowed", "error"),
    [
        ("integer", "5", [5], None),
        ("integer", 5, [5], "type_error:java"),
        ("long", "5L", [5], None),
        ("long", "5", [5], "type_error:simple"),
        ("float", "1.5f", [1.5], None),
        ("double", "1.5e2", [150.0], None),
        ("boolean", "true", [True], None),
        ("String", "x y", ["xy"], None),
        ("char", "c", ["c"], None),
        ({"type": "Array", "items": {"type": "integer"}}, "new int[]{1, 2}", [[1, 2]], None),
        ({"type": "ArrayList", "items": {"type": "String"}}, 'new ArrayList<String>(Arrays.asList("a", "b"))', [["a", "b"]], None),
        ({"type": "ArrayList", "items": {"type": "integer"}}, "new ArrayList<Integer>() {{ add(1); add(2); }}", [[1, 2]], None),
        ({"type": "Array", "items": {"type": "ArrayList"}}, "new Object[]{new ArrayList<Integer>(Arrays.asList(1))}", [[[1]]], None),
        ({"type": "Array"}, 'new Object[]{"a", 2, true}', [["a", 2, True]], None),
        ("HashMap", 'new HashMap<String, Object>() {{ put("k", "v"); put("n", 2L); }}', [{"k": ["v"], "n": [2]}], None),
        ("HashMap", "new HashMap<>()", [{"k": ["v", ""]}], None),
        # Bracket, quote and line break within a value mislead the published patterns; verdicts must still be the same.
        ("HashMap", 'new HashMap<>() {{ put("k", ")"); }}', [{"k": ["v", ""]}], None),
        ("HashMap", 'new HashMap<>() {{ put("k", List.of("a",\n "b")); }}', [{"k": ["v", ""]}], "value_error:dict_key"),
        ("HashMap", 'new HashMap<>() {{ put("",\n "b"); }}', [{"": ["b"]}], None),
        ({"type": "ArrayList", "items": {"type": "String"}}, 'new ArrayList<>() {{ }}; x {{ add("b"); }}', [["b"]], None),
    ],
)  # fmt: skip
def test_java_texts_are_converted_by_type(kind: Any, value: Any, allowed: Any, error: str | None) -> None:
    assert verdict_of(kind, value, allowed, "java") == error


@pytest.mark.parametrize(
    ("kind", "value", "allowed", "error"),
    [
        ("String", "'x'", ["x"], None),
        ("integer", "5", [5], None),
        ("float", "5", [5.0], None),
        ("Bigint", "5n", [5], None),
        ("Boolean", "false", [False], None),
        ("Boolean", True, [True], "type_error:js"),
        ({"type": "array", "items": {"type": "String"}}, "['a', \"b\"]", [["a", "b"]], None),
        ({"type": "array", "items": {"type": "integer"}}, "new Array(1, 2)", [[1, 2]], None),
        ({"type": "array", "items": {"type": "array"}}, "[[1, 2], [3]]", [[[1, 2], [3]]], None),
        ("dict", "{k: 'v', n: 2}", [{"k": ["v"], "n": [2]}], None),
        ("dict", "{:k:'v',:n: 2}", [{"k": ["v"], "n": [2]}], None),
        ("dict", "{x, k: 1, y, n: a:b}", [{"x, k": ["1, y"], "n": ["a:b"]}], None),
        ("dict", "{k: 1,  :}", [{"k": [1], "": ["z", ""]}], None),
        ("dict", "{k: [[1],[2]], [3]}", [{"k": [[[1], [2]]]}], None),
        ("String", '"a\nb"', ["a\nb"], None),
        ("String", "'", ["x", ""], None),
    ],
)  # fmt: skip
def test_javascript_texts_are_converted_by_type(
    kind: Any, value: Any, allowed: Any, error: str | None
) -> None:
    assert verdict_of(kind, value, allowed, "javascript") == error


ONE = [document(required=("a",), a="integer", b="string")]
TRUTH = [{"shop.order": {"a": [1], "b": ["x", ""]}}]


@pytest.mark.parametrize(
    ("calls", "error"),
    [
        ([{"shop.order": {"a": 1}}], None),
        ([{"shop.order": {"b": "x", "a": 1}}], None),
        ([], "simple_function_checker:wrong_count"),
        ([{"shop.order": {"a": 1}}] * 2, "simple_function_checker:wrong_count"),
        ([{"shop_order": {"a": 1}}], "simple_function_checker:wrong_func_name"),
        ([{"shop.order": {"b": "x"}}], "simple_function_checker:missing_required"),
        ([{"shop.order": {"a": 1, "c": 1}}], "simple_function_checker:unexpected_param"),
        ([{"shop.order": {"a": 1, None: "x"}}], "simple_function_checker:unexpected_param"),
        (["shop.order"], "simple_function_checker:wrong_func_name"),
        (None, "simple_function_checker:wrong_count"),
    ],
)
def test_one_call(calls: Any, error: str | None) -> None:
    assert check_ast(ONE, calls, TRUTH, "simple").error_type == error


@pytest.mark.parametrize(("kind", "value"), [("string", "x"), ("integer", 5), ("boolean", True)])
def test_a_parameter_that_must_be_left_out_is_named_so(kind: str, value: Any) -> None:
    verdict = check_ast(
        [document(v=kind)], [{"shop.order": {"v": value}}], [{"shop.order": {"v": [""]}}], "simple"
    )
    assert f"v: expected to be left out, got {value!r}" in str(verdict.message)


def test_a_parameter_that_the_truth_demands_may_not_be_left_out() -> None:
    verdict = check_ast([document(a="integer")], [{"shop.order": {}}], [{"shop.order": {"a": [1]}}], "simple")
    assert (verdict.error_type, verdict.parameter) == ("simple_function_checker:missing_optional", "a")


def test_names_lose_their_dots_where_servers_refuse_them() -> None:
    calls = [{"shop_order": {"a": 1}}]
    assert check_ast(ONE, calls, TRUTH, "simple", underscore_names=True).valid


def test_several_calls_match_in_any_order_and_each_truth_needs_its_own() -> None:
    functions = [document("f", ("a",), a="integer"), document("g", ("a",), a="integer")]
    truths = [{"f": {"a": [1]}}, {"g": {"a": [2]}}]
    right = [{"g": {"a": 2}}, {"f": {"a": 1}}]
    assert check_ast(functions, right, truths, "parallel_multiple").valid
    assert (
        check_ast(functions, right[:1], truths, "parallel").error_type
        == "parallel_function_checker_no_order:wrong_count"
    )
    wrong = check_ast(functions, [right[1], right[1]], truths, "live_parallel")
    assert wrong.error_type == "parallel_function_checker_no_order:cannot_find_match"
    assert check_ast(functions, [right[0]], [truths[1]], "multiple").valid
    assert (
        check_ast(functions, right, [truths[1]], "multiple").error_type
        == "multiple_function_checker:wrong_count"
    )


@pytest.mark.parametrize("category", ["simple", "multiple", "parallel", "java", "javascript"])
def test_no_input_makes_the_checker_raise(category: str) -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    odd: list[Any] = [None, 1, "x", [], {}, [None], [{}], [{"shop.order": None}], [{"shop.order": [1]}], [{"shop.order": {"a": deep}}], [{1: {}}]]  # fmt: skip
    for calls in odd:
        assert not check_ast(ONE, calls, TRUTH, category).valid
    for broken in odd:
        assert not check_ast(broken, [{"shop.order": {"a": 1}}], TRUTH, category).valid
        check_ast(ONE, [{"shop.order": {"a": 1}}], broken, category)


def test_expected_calls_of_users_take_both_forms() -> None:
    functions = [document("f", a="integer", b="dict")]
    plain = [{"name": "f", "arguments": '{"a": 1, "b": {"k": "v"}}'}]
    assert expected_calls_verdict(functions, [{"f": {"a": 1, "b": {"k": "V"}}}], plain).valid
    assert expected_calls_verdict(functions, [{"f": {"a": 2}}], [{"f": {"a": [1, 2]}}]).valid
    assert expected_calls_verdict(functions, [], []).valid
    assert (
        expected_calls_verdict(functions, [{"f": {}}], []).error_type == "irrelevance_error:decoder_success"
    )
    assert expected_calls_verdict(functions, [], [5]).error_type == "ground_truth:unreadable"
    for broken, said in (
        ("f(1)", "the list of expected calls"),
        ([{"name": "f", "arguments": "{x"}], "the arguments of f"),
    ):
        assert said in str(expected_calls_verdict(functions, [], broken).message)
    two = [{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": 2}}]
    swapped = [{"f": {"a": 2}}, {"f": {"a": 1}}]
    assert expected_calls_verdict(functions, swapped, two).valid


@pytest.mark.parametrize(
    ("category", "kind", "value"),
    [
        ("javascript", "array", "new Array([" + "],[" * 3_000),
        ("javascript", "array", "[[" + "],[" * 3_000),
        ("javascript", "dict", "{" + "a: {b: " * 14_000),
        ("java", "Array", "new int[]{" * 9_000),
        ("java", "Array", "new int[]{" * 490),
        ("java", "HashMap", "new HashMap<String, Object>() {" + " " * 4_900),
        ("java", "HashMap", "new HashMap<A, B>() {{ " + 'put("a", ' * 540 + "}}"),
        ("java", "HashMap", 'new HashMap<A, B>() {{ put("a",' + " " * 4_900 + "}}"),
        ("java", "HashMap", "new HashMap<A, B>() {{ " + 'put("a",' * 560 + "\n}}"),
        ("java", "HashMap", "new HashMap<A, B>() {{ " + 'put("a",\n' * 500 + "}}"),
        ("java", "ArrayList", "new ArrayList<>() {{ " * 230),
        ("java", "ArrayList", "new ArrayList<String>() {{" + " " * 4_900),
        ("java", "HashMap", "new HashMap<String, Object>() {{ " + 'put("a", ' * 11_000),
    ],
)
def test_no_text_keeps_the_conversion_of_values_busy(category: str, kind: str, value: str) -> None:
    function = {"name": "f", "parameters": {"properties": {"a": {"type": kind, "items": {"type": "any"}}}}}
    verdict = check_ast([function], [{"f": {"a": value}}], [{"f": {"a": [5]}}], category)
    assert not verdict.valid


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2], [3]]",
        "[[1, 2],\n [3]]",
        "new Array([1, 2], [3])",
        "[ [1, 2] , [3] ] trailing",
        "[[1, 2]\n,[3]\n]",
    ],
)
def test_lists_of_lists_are_read_over_lines(text: str) -> None:
    function = {
        "name": "f",
        "parameters": {"properties": {"a": {"type": "array", "items": {"type": "array"}}}},
    }
    assert check_ast([function], [{"f": {"a": text}}], [{"f": {"a": [[[1, 2], [3]]]}}], "javascript").valid
