"""Simulated classes and the check of several turns, on the rows that ship."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import benchwright.bfcl
from benchwright.bfcl import CATEGORIES, NativeFolder, decode_calls
from benchwright.bfcl._categories import GROUPS
from benchwright.bfcl._multi_turn import check_turns, doubtful_truths
from benchwright.bfcl._simulations import COSTLY, Simulation, SimulationError

MINI = NativeFolder(Path(benchwright.bfcl.__file__).parent / "_mini_set")
SHOP = {"CornerShop": {"balance": 5, "stock": {"tea": {"price": 2.5, "count": 3}}}}


def shop() -> Simulation:
    return Simulation(SHOP, ["CornerShop"], MINI.documents(["CornerShop"]))


def test_every_shipped_row_passes_with_its_own_ground_truth() -> None:
    for category in map(CATEGORIES.__getitem__, GROUPS["multi_turn"]):
        for row in MINI.rows(category):
            simulation = partial(Simulation, row["initial_config"], row["involved_classes"], row["function"])
            turns = [[[_call(text)] for text in turn] for turn in row["ground_truth"]]
            assert check_turns(turns, row["ground_truth"], simulation).valid, row["id"]


def _call(text: str) -> Any:
    from benchwright.toolcalls import decode_calls

    return decode_calls(text)[0]


def test_only_listed_functions_are_called_and_mistakes_are_texts() -> None:
    simulation = shop()
    assert simulation.call("add_to_basket", {"article": "tea", "count": 2}) == '{"basket": {"tea": 2}}'
    for name, arguments in (
        ("_load_scenario", {"config": {}}),
        ("__class__", {}),
        ("nothing", {}),
        ("add_to_basket", {"wrong": 1}),
        ("add_to_basket", {None: "x"}),
        ("add_to_basket", {"article": ["list"]}),
    ):
        assert "rror" in simulation.call(name, arguments), name
    assert simulation.state["CornerShop"]["basket"] == {"tea": 2}


def test_nested_calls_are_carried_out_inside_out() -> None:
    simulation = shop()
    simulation.call_text("add_to_basket('tea', count=1)")
    inner = simulation.call("total", {})
    assert inner == '{"total": 2.5}'
    refused = (
        "Error during execution: unhashable type: 'dict'"  # no article is called as the inner call's result
    )
    assert simulation.call_text("look_up(article=total())") == refused
    assert simulation.call("look_up", {"article": {"total": {}}}) == refused


def test_text_of_a_call_is_never_run(tmp_path: Path) -> None:
    target = tmp_path / "written"
    simulation = shop()
    for text in (
        f"look_up(article=open({str(target)!r}, 'w').write('x'))",
        f"__import__('pathlib').Path({str(target)!r}).touch()",
        f"look_up(article=[c for c in ().__class__.__base__.__subclasses__()], x={str(target)!r})",
    ):
        assert "rror" in simulation.call_text(text)
    assert not target.exists()


ADD, PAY = {"add_to_basket": {"article": "tea"}}, {"check_out": {}}
TRUTH = [["add_to_basket(article='tea')"], [], ["check_out()"]]


@pytest.mark.parametrize(
    ("turns", "stopped", "error"),
    [
        ([[[ADD]], [], [[PAY]]], False, None),
        ([[[ADD], None, [{"total": {}}]], [None], [[PAY]]], False, None),
        ([[[ADD]], [[PAY]], [[{"total": {}}]]], False, None),
        ([[[ADD]], []], False, "force_terminated"),
        ([[[ADD]], [], [[PAY]]], True, "force_terminated"),
        ([[[ADD]], [], [None]], False, "empty_turn_model_response"),
        ([[[ADD, ADD]], [], [[PAY]]], False, "instance_state_mismatch"),
        ("nothing", False, "inference_error"),
    ],
)
def test_state_and_responses_decide(turns: Any, stopped: bool, error: str | None) -> None:
    verdict = check_turns(turns, TRUTH, shop, stopped=stopped)
    assert verdict.error_type == (error and f"multi_turn:{error}")


@pytest.mark.parametrize(
    ("call", "expected", "difference"),
    [
        ("add_task(title='Paint')", "add_task(title='Paint the fence')", "TaskBoard.tasks[31]['title'] is 'Paint', expected 'Paint the fence'"),
        ("find_tasks()", "add_task(title='Paint')", "TaskBoard.tasks[31] is missing, expected {'id': 31, 'title': 'Paint'"),
        ("add_task(title='Paint')", "find_tasks()", "TaskBoard.tasks[31] is {'id': 31, 'title': 'Paint'"),
    ],
)  # fmt: skip
def test_the_first_difference_between_long_states_is_the_entry_that_differs(
    call: str, expected: str, difference: str
) -> None:
    start = {"TaskBoard": {"people": ["Ada"], "tasks": [{"title": f"Task {n}"} for n in range(30)]}}

    def opened() -> Simulation:
        return Simulation(start, ["TaskBoard"], MINI.documents(["TaskBoard"]))

    verdict = check_turns([[decode_calls(f"[{call}]")]], [[expected]], opened)
    assert verdict.error_type == "multi_turn:instance_state_mismatch"
    assert difference in str(verdict.message)


def test_every_expected_response_must_have_been_given() -> None:
    truth = [["add_to_basket(article='tea')", "total()"]]
    assert check_turns([[[{"total": {}}], [ADD], [{"total": {}}]]], truth, shop).valid
    verdict = check_turns([[[{"total": {}}], [ADD]]], truth, shop)
    assert verdict.error_type == "multi_turn:execution_response_mismatch"
    assert "2.5" in str(verdict.message)


@pytest.mark.parametrize("neighbour", [".long_context", "published.checker.func_source_code.long_context"])
def test_published_classes_are_loaded_by_path_and_name_what_they_lack(tmp_path: Path, neighbour: str) -> None:
    (tmp_path / "long_context.py").write_text("PAD = 7\n")
    (tmp_path / "ticket_api.py").write_text(
        f"from {neighbour} import PAD\nclass TicketAPI:\n    def __init__(self):\n        self.pad = PAD\n"
        "    def pads(self):\n        return {'pad': self.pad}\n"
    )
    (tmp_path / "math_api.py").write_text("import no_such_library\n")
    document = {"name": "pads", "parameters": {"properties": {}}}
    assert Simulation({}, ["TicketAPI"], [document], source=tmp_path).call("pads", {}) == '{"pad": 7}'
    with pytest.raises(SimulationError, match="no_such_library"):
        Simulation({}, ["MathAPI"], [], source=tmp_path)
    # Of this folder: modules of others stay loaded.
    left = [
        each
        for each in [*sys.modules.values()]
        if getattr(each, "__file__", None) == str(tmp_path / "math_api.py")
    ]
    assert not left


def test_no_call_computes_more_digits_than_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "math_api.py").write_text(
        "class MathAPI:\n"
        "    def power(self, base, exponent): return {'result': 'computed'}\n"
        "    def logarithm(self, value, base, precision): return {'result': 'computed'}\n"
        "    def square_root(self, number, precision): return {'result': 'computed'}\n"
        "    def round_number(self, number, decimal_places=0): return {'result': 'computed'}\n"
        "    def multiply(self, a, b): return {'result': a * b}\n"
    )
    documents = [{"name": name} for name in (*COSTLY, "multiply")]
    simulation = Simulation({}, ["MathAPI"], documents, source=tmp_path)
    for text, computed in (
        ("power(base=9, exponent=99999999)", False),
        ("power(9, 99999999)", False),
        ("power(base=10**1000, exponent=-5)", False),
        ("power(base=2, exponent=0x" + "f" * 900 + ")", False),
        ("power(base=2, exponent=1000)", True),
        ("power(base=2.5, exponent=1000)", True),
        ("logarithm(value=3, base=10, precision=100000000)", False),
        ("logarithm(value=3, base=10, precision='100000000')", False),
        ("logarithm(value=3, base=10, precision=1e9)", False),
        ("logarithm(3, 10, 50)", True),
        ("square_root(number=2, precision=1000000000)", False),
        ("square_root(number=2, precision=[5])", True),
        ("round_number(number=7, decimal_places=-1000000000)", False),
        ("round_number(number=7)", True),
        ("multiply(a=10**1000, b=10**1000)", True),
    ):
        assert ("computes at most" not in simulation.call_text(text)) is computed, text
    assert "Error during execution" in simulation.call("multiply", {"a": 10**3000, "b": 10**3000})


def test_ground_truths_of_several_turns_are_carried_out_and_their_faults_named() -> None:
    documents = [{"name": "find_tasks"}, {"name": "move_task"}]
    good = {"id": "a_0", "question": [[], []], "ground_truth": [["find_tasks()"], []]}
    bad = {"id": "a_1", "question": [[]], "ground_truth": [["find_tasks()"], ["move_taks(task_id=1)"]]}

    def opened(row: Any) -> Simulation:
        return Simulation({}, ["TaskBoard"], documents)

    (unknown,) = doubtful_truths([good, bad], 2, opened)
    assert "turn 2 of the ground truth: move_taks(task_id=1) gives" in unknown
    (late,) = doubtful_truths([good, bad], 2, opened, clock=iter([0.0, 9.0]).__next__)
    assert late.startswith("the ground truths of 2 rows")
