"""Custom datasets: both formats, templates, and every fault with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright import DatasetError
from benchwright.bfcl import CATEGORIES
from benchwright.bfcl._categories import categories_of
from benchwright.bfcl._custom import read_custom
from benchwright.cli import main

FUNCTION = {
    "name": "math.factorial",
    "description": "Factorial of a number.",
    "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
}
ASK = [{"role": "user", "content": "Factorial of 5?"}]
OPENAI = {
    "messages": [ASK],
    "tools": [{"type": "function", "function": FUNCTION}],
    "tool_calls_ground_truth": [{"math.factorial": {"number": [5]}}],
}
NATIVE = {"id": "simple_0", "question": [ASK], "function": [FUNCTION]}
ANSWER = {"id": "simple_0", "ground_truth": [{"math.factorial": {"number": [5]}}]}


def openai(path: Path, *rows: Any) -> Path:
    file = path / "data.jsonl"
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n\n")
    return file


def native(path: Path, question: Any = NATIVE, answer: Any = ANSWER, category: str = "simple") -> Path:
    (path / "possible_answer").mkdir(exist_ok=True)
    for folder, row in ((path, question), (path / "possible_answer", answer)):
        if row is not None:
            (folder / f"BFCL_v3_{category}.json").write_text(
                row if isinstance(row, str) else json.dumps(row) + "\n"
            )
    return path


def test_both_formats_give_the_same_rows(tmp_path: Path) -> None:
    simple = categories_of("simple")
    (one,) = read_custom(openai(tmp_path, OPENAI), "openai", simple).rows()
    (two,) = read_custom(native(tmp_path), "native", simple).rows()
    for key in ("id", "category", "question", "function", "ground_truth"):
        assert one[key] == two[key]


def test_blank_lines_do_not_change_the_lines_that_check_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hopeless = {**OPENAI, "tool_calls_ground_truth": [{"math.factorial": {"missing": [5]}}]}
    file = openai(tmp_path, hopeless, "", "", hopeless)
    assert main(["check", "bfcl_simple", "--tool-data", str(file)]) == 2
    assert re.findall(r"data\.jsonl:(\d+): no reply can pass", capsys.readouterr().err) == ["1", "4"]


def test_what_other_tools_write_is_understood(tmp_path: Path) -> None:
    row = {
        "messages": [*ASK, {"role": "assistant", "content": None}, {"role": "tool", "content": "x"}],
        "tools": OPENAI["tools"],
        "tool_calls_ground_truth": [{"name": "math.factorial", "arguments": {"number": 5}}],
    }
    scalar = {**OPENAI, "tool_calls_ground_truth": [{"math.factorial": {"number": 5}}]}
    none = {**OPENAI, "tool_calls_ground_truth": [], "category": "irrelevance"}
    found = read_custom(openai(tmp_path, row, scalar, none), "openai", categories_of("simple"))
    assert found.doubts == ["rows of other categories are left out: irrelevance 1"]
    assert [each["id"] for each in found.rows()] == ["simple_0", "simple_1"]
    none["messages"] = row["messages"]
    row["category"] = scalar["category"] = "simple"
    found = read_custom(openai(tmp_path, row, scalar, none), "openai", categories_of("simple,irrelevance"))
    assert [each.get("ground_truth") for each in found.rows()] == [ANSWER["ground_truth"]] * 2 + [[]]
    assert next(found.rows())["question"] == [row["messages"]]
    assert [each["id"] for each in found.rows()] == ["simple_0", "simple_1", "irrelevance_2"]


def test_a_data_template_maps_other_fields(tmp_path: Path) -> None:
    row = {"user_input": [ASK], "function": OPENAI["tools"], "reference": OPENAI["tool_calls_ground_truth"]}
    template = tmp_path / "template.json"
    template.write_text(
        json.dumps(
            {
                "messages": "{{ item.user_input | tojson }}",
                "tools": "{{ item.function | tojson }}",
                "tool_calls_ground_truth": "{{ reference | tojson }}",
            }
        )
    )
    found = read_custom(openai(tmp_path, row), "openai", categories_of("simple"), template=template)
    assert next(found.rows())["ground_truth"] == ANSWER["ground_truth"]
    with pytest.raises(DatasetError, match="user_input"):
        read_custom(openai(tmp_path, OPENAI), "openai", categories_of("simple"), template=template)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "File not found"),
        ("{", "not JSON"),
        ('{"messages": "{{ x"}', "cannot be used"),
        ('{"messages": "{{ ().__class__.__base__.__subclasses__() | tojson }}"}', "cannot be rendered"),
        ('["{{ item.messages | tojson }}"]', "expected an object"),
        (
            '{"messages": "{{ item.messages }}", "tools": [], "tool_calls_ground_truth": []}',
            "end with | tojson".replace("|", "[|]"),
        ),
    ],
)
def test_a_bad_data_template_is_named(tmp_path: Path, text: str | None, message: str) -> None:
    template = tmp_path / "template.json"
    if text is not None:
        template.write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        read_custom(openai(tmp_path, OPENAI), "openai", categories_of("simple"), template=template)
    assert ("not JSON" in str(caught.value)) is (message == "not JSON")


def test_rows_written_over_several_lines_are_read_as_rows(tmp_path: Path) -> None:
    broken = without(OPENAI, "tools")
    file = openai(tmp_path, json.dumps(OPENAI, indent=2), OPENAI)
    folder = native(tmp_path, json.dumps(NATIVE, indent=2), json.dumps(ANSWER, indent=2))
    assert len([*read_custom(file, "openai", categories_of("simple")).rows()]) == 2
    assert len([*read_custom(folder, "native", categories_of("simple")).rows()]) == 1
    first = json.dumps(OPENAI, indent=2)
    with pytest.raises(DatasetError, match="1 bad row") as caught:
        read_custom(openai(tmp_path, first, json.dumps(broken, indent=2)), "openai", categories_of("simple"))
    assert f"data.jsonl:{first.count(chr(10)) + 2}: " in str(caught.value)


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{not json", "unexpected|expected"),
        ("[1]", "expected a JSON object"),
        (without(OPENAI, "messages"), '"messages" is missing'),
        (without(OPENAI, "tools"), '"tools" is missing'),
        ({**OPENAI, "tools": []}, "at least one tool"),
        ({**OPENAI, "tools": [{"type": "function"}]}, 'tool 1 needs "function"'),
        ({**OPENAI, "tools": [{"type": "web_search"}]}, "no tool of the type"),
        ({**OPENAI, "messages": []}, "list of turns"),
        ({**OPENAI, "messages": [[{"role": "boss", "content": "x"}]]}, "'boss'"),
        ({**OPENAI, "messages": [[{"role": "user", "content": 5}]]}, "content is int"),
        ({**OPENAI, "tools": [{"type": "function", "function": {}}]}, 'no "name"'),
        (
            {**OPENAI, "tools": [{"type": "function", "function": {**FUNCTION, "parameters": []}}]},
            "parameters must be",
        ),
        (
            {
                **OPENAI,
                "tools": [{"type": "function", "function": {**FUNCTION, "parameters": {"required": ["n"]}}}],
            },
            "required names n",
        ),
        (without(OPENAI, "tool_calls_ground_truth"), '"tool_calls_ground_truth" is missing'),
        ({**OPENAI, "tool_calls_ground_truth": []}, '"tool_calls_ground_truth" must be .* at least one'),
        ({**OPENAI, "tool_calls_ground_truth": [{"a": 1, "b": 2}]}, "an expected call is"),
        ({**OPENAI, "messages": [ASK, ASK]}, "has 2 turns, and simple expects calls after one"),
        ({**OPENAI, "category": "simpel"}, "no category 'simpel'.*simple"),
        ({**OPENAI, "messages": "hello"}, "list of turns"),
        ({**OPENAI, "tool_calls_ground_truth": "{"}, "expected|unexpected"),
        ({**OPENAI, "tools": 2 * OPENAI["tools"]}, "two functions have the name math.factorial"),
    ],
)
def test_a_broken_row_stops_everything_with_its_line(tmp_path: Path, row: Any, message: str) -> None:
    file = openai(tmp_path, OPENAI, row)
    with pytest.raises(DatasetError, match=message) as caught:
        read_custom(file, "openai", categories_of("simple"), details=tmp_path / "details")
    assert f"{file}:2" in str(caught.value)
    (fault,) = json.loads((tmp_path / "details" / "validation_failure_details.json").read_text())
    assert fault["line"] == 2
    assert fault["error"].startswith("Dataset conversion error: ")
    assert fault["data"] == (row if isinstance(row, str) else json.dumps(row))
    assert (fault["file"], fault["category"]) == (
        str(file),
        "simple" if fault["category"] == "simple" else "",
    )
    assert len([*read_custom(file, "openai", categories_of("simple"), skip_bad_rows=True).rows()]) == 1


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_row_that_is_not_utf_8_is_refused_as_such(tmp_path: Path, encoding: str) -> None:
    file = openai(tmp_path, OPENAI, {**OPENAI, "remark": "Grüße"})
    file.write_bytes(file.read_text(encoding="utf-8").replace("\\u00fc", "ü").encode(encoding))
    with pytest.raises(DatasetError, match=r":[12]: .*not UTF-8 text; save the file as UTF-8") as caught:
        read_custom(file, "openai", categories_of("simple"), details=tmp_path / "details")
    assert "missing" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: native(path, answer=None), "File not found: .*possible_answer"),
        (lambda path: native(path, question={**NATIVE, "id": "simple_1"}), "no answer has the id 'simple_1'"),
        (lambda path: native(path, question=2 * (json.dumps(NATIVE) + "\n")), "occurs twice"),
        (lambda path: native(path, answer=2 * (json.dumps(ANSWER) + "\n")), "possible_answer.*:2: .*occurs twice"),
        (lambda path: native(path, question={**NATIVE, "function": []}), "at least one function"),
        (lambda path: native(path, answer={**ANSWER, "ground_truth": {}}), "at least one expected call"),
        (lambda path: native(path, category="multiple"), "File not found: .*BFCL_v3_simple.json; the folder has: BFCL_v3_multiple.json"),
        (lambda path: path / "nowhere", "File not found: .*nowhere"),
    ],
)  # fmt: skip
def test_a_broken_folder_is_refused(tmp_path: Path, make: Callable[[Path], Path], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_custom(make(tmp_path), "native", categories_of("simple"))


@pytest.mark.parametrize(
    ("name", "format", "message"),
    [
        ("nowhere", "native", "File not found: .*nowhere"),
        ("nowhere.jsonl", "openai", "File not found: .*nowhere.jsonl"),
        ("empty.jsonl", "openai", "empty.jsonl: there are no rows"),
        ("empty.jsonl", "native", "the native format is a folder"),
    ],
)
def test_faults_of_a_whole_dataset_are_in_the_file_too(
    tmp_path: Path, name: str, format: Any, message: str
) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DatasetError, match=message) as caught:
        read_custom(tmp_path / name, format, categories_of("simple"), details=tmp_path)
    (fault,) = json.loads((tmp_path / "validation_failure_details.json").read_text())
    assert fault == {"error": str(caught.value), "file": str(tmp_path / name), "category": ""}


def test_several_categories_go_into_one_file_of_faults(tmp_path: Path) -> None:
    native(tmp_path, question={**NATIVE, "question": 1})
    native(tmp_path, question={**NATIVE, "function": 1}, category="multiple")
    with pytest.raises(DatasetError):
        read_custom(tmp_path, "native", categories_of("simple,multiple"), details=tmp_path)
    faults = json.loads((tmp_path / "validation_failure_details.json").read_text())
    assert [fault["category"] for fault in faults] == ["simple", "multiple"]
    assert all(fault["error"].startswith("Validation failed for line 1: ") for fault in faults)


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        ([{"math.factorial": {"number": ["five"]}}], "gives number as 'five', but the schema says integer"),
        ([{"math.factorial": {"number": ["five", 5]}}], None),
        ([{"math.factorial": {"number": [5, ""]}}], None),
        ([{"another.name": {"number": [5]}}], "calls another.name, which is not one of the functions"),
        ([{"math.factorial": {"number": ["", 5.5, 5]}}], None),
    ],
)
def test_a_doubtful_ground_truth_is_reported(tmp_path: Path, truth: Any, why: str | None) -> None:
    file = openai(tmp_path, {**OPENAI, "tool_calls_ground_truth": truth})
    found = read_custom(file, "openai", categories_of("simple"))
    if why is None:
        assert not found.doubts
    else:
        assert why in found.doubts[0]
        assert f"{file}:1" in found.doubts[0]


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        ([{"math.factorial": {"number": []}}], "rejects its own ground truth: number has no allowed value"),
        ([{"math.factorial": {"number": [5], "base": [2]}}], "demands base"),
        ([{"math.factorial": {}}], "rejects its own ground truth"),
        (2 * ANSWER["ground_truth"], "has one call, and the ground truth lists 2. Use the task parallel"),
    ],
)
@pytest.mark.parametrize("format", ["openai", "native"])
def test_a_row_that_no_call_can_pass_is_refused_where_its_ground_truth_is(
    tmp_path: Path, truth: Any, why: str, format: Any
) -> None:
    if format == "openai":
        path = file = openai(tmp_path, OPENAI, {**OPENAI, "tool_calls_ground_truth": truth})
    else:  # the answers are in another order, with a blank line between them
        questions = [json.dumps(NATIVE), json.dumps({**NATIVE, "id": "simple_1"})]
        answers = [json.dumps({"id": "simple_1", "ground_truth": truth}), "", json.dumps(ANSWER)]
        path = native(tmp_path, "\n".join(questions), "\n".join(answers))
        file = path / "possible_answer" / "BFCL_v3_simple.json"
    line = 2 if format == "openai" else 1
    with pytest.raises(DatasetError) as caught:
        read_custom(path, format, categories_of("simple"))
    assert f"{file}:{line}: no reply can pass row simple_1: " in str(caught.value)
    assert why in str(caught.value)
    assert "--skip-bad-rows" in str(caught.value)
    found = read_custom(path, format, categories_of("simple"), skip_bad_rows=True)
    assert [row["id"] for row in found.rows()] == ["simple_0"]
    assert "1 bad row" in found.doubts[-1]


def test_only_rows_of_the_category_that_is_evaluated_are_read(tmp_path: Path) -> None:
    rows = [
        {**OPENAI, "category": name} for name in ("simple", "simple_python", "multiple", "multi_turn_base")
    ]
    found = read_custom(openai(tmp_path, *rows), "openai", categories_of("simple"))
    assert [row["id"] for row in found.rows()] == ["simple_0", "simple_1"]
    assert found.doubts == ["rows of other categories are left out: multiple 1, multi_turn_base 1"]
    with pytest.raises(
        DatasetError, match=r"no rows of java, only of other categories, .*--task.*: simple 2, mult"
    ):
        read_custom(openai(tmp_path, *rows), "openai", categories_of("java"))
    with pytest.raises(DatasetError, match="use the native format"):
        read_custom(openai(tmp_path, *rows), "openai", categories_of("multi_turn,simple"))


def test_multi_turn_rows_come_in_native_folders_only(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="native format"):
        read_custom(openai(tmp_path, OPENAI), "openai", categories_of("multi_turn_base"))
    row = {
        "id": "multi_turn_base_0",
        "question": [ASK],
        "involved_classes": ["TaskBoard"],
        "initial_config": {},
    }
    native(tmp_path, row, {"id": row["id"], "ground_truth": [["list_people()"]]}, "multi_turn_base")
    (tmp_path / "multi_turn_func_doc").mkdir()
    (tmp_path / "multi_turn_func_doc" / "task_board.json").write_text('{"name": "list_people"}\n')
    (found,) = read_custom(tmp_path, "native", categories_of("multi_turn_base")).rows()
    assert found["ground_truth"] == [["list_people()"]]
    assert found["function"] == [{"name": "list_people"}]


@pytest.mark.parametrize(
    ("category", "schema", "allowed", "reachable"),
    [
        ("java", {"type": "ArrayList", "items": {"type": "any"}}, [["id", 42, True]], False),
        ("java", {"type": "ArrayList", "items": {"type": "any"}}, [["id", 42], ["id", "42"]], True),
        ("java", {"type": "ArrayList", "items": {"type": "any"}}, [["id", 42], ""], True),
        ("java", {"type": "ArrayList", "items": {"type": "double"}}, [[1, 2.5]], True),
        ("java", {"type": "String"}, [5], False),
        ("java", {"type": "long"}, [5], True),
        ("java", {"type": "boolean"}, [1], True),
        ("java", {"type": "HashMap"}, [{"a": 1}], True),
        ("javascript", {"type": "array", "items": {"type": "String"}}, [[1]], False),
        ("javascript", {"type": "Boolean"}, [True], True),
    ],
)
def test_ground_truths_of_other_languages_that_no_text_can_give(
    category: str, schema: dict[str, Any], allowed: list[Any], reachable: bool
) -> None:
    from benchwright.bfcl._row_rules import unreachable

    function = {"name": "f", "parameters": {"properties": {"x": schema}, "required": ["x"]}}
    fault = unreachable(
        {"function": [function], "ground_truth": [{"f": {"x": allowed}}]}, CATEGORIES[category]
    )
    assert (fault is None) is reachable
    if fault is not None:
        assert f"demands for x what no text of type {schema['type']}" in fault


@pytest.mark.parametrize(
    ("category", "cure"),
    [
        ("simple", "Use the task multiple"),
        ("live_simple", "Use the task live_multiple"),
        ("java", "Offer only that function"),
        ("multiple", None),
        ("parallel", None),
    ],
)
@pytest.mark.parametrize("first_has", ["number", "text"])
def test_a_row_with_several_functions_in_a_category_of_one_is_told_the_right_category(
    category: str, cure: str | None, first_has: str
) -> None:
    from benchwright.bfcl._row_rules import unreachable

    def takes(name: str, parameter: str) -> dict[str, Any]:
        schema = {"type": "dict", "properties": {parameter: {"type": "integer"}}, "required": [parameter]}
        return {"name": name, "parameters": schema}

    row = {
        "function": [takes("book", first_has), takes("cancel", "number")],
        "ground_truth": [{"cancel": {"number": [5]}}],
    }
    fault = unreachable(row, CATEGORIES[category])
    if cure is None:
        assert fault is None
    else:
        assert fault is not None
        assert "the first function of a row, book, and the ground truth calls cancel" in fault
        assert cure in fault


@pytest.mark.parametrize(
    ("allowed", "reachable"), [([{"a": [1]}], False), ([{"a": [1]}, ""], True), ([{"a": [1, ""]}], True)]
)
def test_a_map_of_java_that_must_hold_something_cannot_be_read_from_a_text(
    tmp_path: Path, allowed: list[Any], reachable: bool
) -> None:
    function = {"name": "f", "parameters": {"properties": {"x": {"type": "HashMap"}}, "required": ["x"]}}
    answer = {"id": "java_0", "ground_truth": [{"f": {"x": allowed}}]}
    folder = native(tmp_path, {"id": "java_0", "question": [ASK], "function": [function]}, answer, "java")
    java = categories_of("java")
    assert read_custom(folder, "native", java).doubts == []
    if reachable:
        assert len([*read_custom(folder, "native", java, as_text=True).rows()]) == 1
    else:
        with pytest.raises(DatasetError, match="lost when calls are texts"):
            read_custom(folder, "native", java, as_text=True)


def test_byte_order_marks_and_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    file, bad = tmp_path / "data.jsonl", json.dumps(without(OPENAI, "tools"))
    lines = b"\xef\xbb\xbf" + b"\r\n".join(
        [json.dumps(OPENAI).encode(), b"", json.dumps(OPENAI).encode(), b""]
    )
    file.write_bytes(lines)
    found = read_custom(file, "openai", categories_of("simple"))
    assert [row["id"] for row in found.rows()] == ["simple_0", "simple_2"]
    file.write_bytes(lines + bad.encode() + b"\r\n")
    with pytest.raises(DatasetError, match=r"data.jsonl:4: .*\"tools\" is missing"):
        read_custom(file, "openai", categories_of("simple"))


def test_rows_are_read_again_in_each_pass_and_none_is_kept(tmp_path: Path) -> None:
    file = openai(tmp_path, *([OPENAI] * 3))
    found = read_custom(file, "openai", categories_of("simple"))
    assert [*found.rows()] == [*found.rows()]
    assert found.sizes == {"simple": 3}
    folder = native(tmp_path)
    found = read_custom(folder, "native", categories_of("simple"))
    answers = folder / "possible_answer" / "BFCL_v3_simple.json"
    answers.write_text(answers.read_text().replace("simple_0", "simple_9"))
    with pytest.raises(DatasetError, match="changed while they were read"):
        [*found.rows()]


def test_very_many_doubts_are_counted(tmp_path: Path) -> None:
    row = {**OPENAI, "tool_calls_ground_truth": [{"math.factorial": {"number": ["five"]}}]}
    doubts = read_custom(openai(tmp_path, *([row] * 30)), "openai", categories_of("simple")).doubts
    assert len(doubts) == 21
    assert doubts[-1].startswith("10 more doubts")


def test_a_check_fails_where_no_call_can_pass_by_some_row(tmp_path: Path) -> None:
    impossible = {**OPENAI, "tool_calls_ground_truth": [{"name": "nothing_like_it", "arguments": {}}]}
    file = openai(tmp_path, impossible, OPENAI)
    assert main(["check", "bfcl_simple", "--tool-data", str(file)]) == 2
    assert main(["check", "bfcl_simple", "--tool-data", str(file), "--skip-bad-rows"]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "more than 100,000 times"),
        ("{% for a in item.many %}{% for b in item.many %}{% endfor %}{% endfor %}", "more than 100,000 times"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "calls itself without end"),
        ("{% set n = namespace(t='a') %}{% for i in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}", "1,000,000 characters"),
        ("{% set n = namespace(t=[1]) %}{% for i in range(60) %}{% set n.t = n.t + n.t %}{% endfor %}", "1,000,000 characters"),
        ("{{ 'a' * 9999999999 }}", "too large"),
        ("{{ 9 ** 99999999 }}", "too large"),
        ("{{ 'a'.center(9999999999) }}", "too large"),
        ("{{ 'a' | center(9999999999) }}", "too large"),
        ("{{ '{:9999999999}'.format(1) }}", "too large"),
        ("{{ '%9999999999d' % 1 }}", "too large"),
        ("{{ '%*d' | format(9999999999, 1) }}", "too large"),
        ("{{ (5).to_bytes(9999999999, 'big') }}", "too large"),
        ("{{ lipsum(99999999) }}", "'lipsum' is undefined"),
        ("{% set n = namespace(t=9) %}{% for i in range(60) %}{% set n.t = n.t * n.t %}{% endfor %}", "too many digits"),
        ("{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}", "more than 100,000 times"),
        ("{{ ('x' * 9999).replace('x', 'y' * 9999) }}", "1,000,000 characters"),
        ("{{ ('x' * 9999) | replace('x', 'y' * 9999) }}", "1,000,000 characters"),
        ("{{ range(9999) | map('string') | join('y' * 9999) }}", "1,000,000 characters"),
        ("{{ ('y' * 9999).join(item.many | map('string')) }}", "1,000,000 characters"),
        ("{{ ('\t' * 9999).expandtabs(9999) }}", "1,000,000 characters"),
        *(
            (f"{{% set n = namespace(t='a') %}}{{% for i in range(60) %}}{{% set n.t = {grown} %}}{{% endfor %}}", "1,000,000 characters")
            for grown in ("n.t.replace('a', 'aa')", "n.t | replace('a', 'aa')", "[n.t, n.t] | join", "[n.t, n.t]", "(n.t, n.t)",
                          "{'a': n.t, 'b': n.t}", "'{0}{0}'.format(n.t)", "'%s%s' % (n.t, n.t)", "'%s%s' | format(n.t, n.t)")
        ),
        (
            "{% set n = namespace(t='a') %}{% for i in range(60) %}{% set t %}{{ n.t }}{{ n.t }}{% endset %}{% set n.t = t %}{% endfor %}",
            "1,000,000 characters",
        ),
        ("{{ item.many | batch }}", "missing 1 required positional argument"),
    ],
)  # fmt: skip
def test_a_data_template_that_would_not_end_is_refused_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    template = tmp_path / "template.json"
    template.write_text(json.dumps({"messages": [text]}))
    row = {**OPENAI, "many": list(range(1_000))}
    if message.startswith("1,000,000"):  # whichever limit is met first
        message += "|more than 100,000 times"
    with pytest.raises(DatasetError, match=message) as caught:
        read_custom(openai(tmp_path, row), "openai", categories_of("simple"), template=template)
    assert "data.jsonl:1: " in str(caught.value)
    assert "template.json: messages" in str(caught.value)


def test_what_data_templates_usually_do_is_not_bounded(tmp_path: Path) -> None:
    text = (
        "{% for t in item.many if t > 90000 %}{{ 'No. ' ~ t ~ '; ' }}{{ loop.last }} {{ loop.length }}{% endfor %}"
        "{{ item.get('absent', 123456) }} {{ absent | default(99999) }} {{ '%s-%05d' | format('a', 7) }} {{ 2 ** 10 }}"
        "{{ 123456 * 1000 }} {{ '-' * 3 }} {{ [1] + [2] }} {{ 'a' + 'b' }} {{ 12345.678 | round(1) }}"
    )
    template = tmp_path / "template.json"
    tools, truth = "{{ tools | tojson }}", "{{ item.tool_calls_ground_truth | tojson }}"
    asked = [{"role": "user", "content": text}]
    template.write_text(json.dumps({"messages": asked, "tools": tools, "tool_calls_ground_truth": truth}))
    file = openai(tmp_path, *([{**OPENAI, "many": [1, 123456]}] * 3))
    rows = read_custom(file, "openai", categories_of("simple"), template=template).rows()
    shown = "No. 123456; True 1123456 99999 a-00007 1024123456000 --- [1, 2] ab 12345.7"
    assert [row["question"][0][0]["content"] for row in rows] == [shown] * 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ item.said.strip() }}", "order 20240115: 123456 pieces"),
        ("{{ item.said.replace('order', 'No. 98765') }}", "No. 98765 20240115: 123456 pieces"),
        ("{{ item.said.split(': ')[1] | indent }}", "123456 pieces"),
        ("{{ 'id 20240115 {}'.format('a') }} {{ 'id 20240115 %s' % 'a' }}", "id 20240115 a id 20240115 a"),
        ("{{ '{:,}'.format(1234567) }} {{ '%d' | format(1234567) }}", "1,234,567 1234567"),
        ("{% for a, b in [(1, 2), (3, 4)] %}{{ a }}{{ loop.index }}{% endfor %} {{ {'a': 1}.items() | list }}", "1132 [('a', 1)]"),
        ("{{ item.long | length }} {{ (item.long ~ item.long) | upper | length }}", "3000000 6000000"),
    ],
)  # fmt: skip
def test_numbers_and_lengths_of_the_data_itself_are_not_bounded(
    tmp_path: Path, text: str, shown: str
) -> None:
    template = tmp_path / "template.json"
    tools, truth = "{{ tools | tojson }}", "{{ item.tool_calls_ground_truth | tojson }}"
    asked = [{"role": "user", "content": text}, {"role": "user", "content": "{{ long }}{{ item.long }}"}]
    template.write_text(json.dumps({"messages": asked, "tools": tools, "tool_calls_ground_truth": truth}))
    row = {**OPENAI, "said": "order 20240115: 123456 pieces", "long": "x" * 3_000_000}
    (found,) = read_custom(openai(tmp_path, row), "openai", categories_of("simple"), template=template).rows()
    first, second = found["question"][0]
    assert first["content"] == shown
    assert len(second["content"]) == 6_000_000
