"""Names of categories, groups and evaluations, and the scores over them."""

from __future__ import annotations

import pytest

from benchwright import UsageError
from benchwright.bfcl import CATEGORIES, EVALUATIONS, evaluation_of
from benchwright.bfcl._categories import GROUPS, categories_of
from benchwright.bfcl._scores import Scoreboard


def test_groups_have_the_published_sizes() -> None:
    assert {name: len(names) for name, names in GROUPS.items()} == {
        "all": 22, "multi_turn": 4, "single_turn": 18, "live": 6, "non_live": 12, "ast": 13, "executable": 5,
        "non_python": 2, "python": 16, "python_ast": 11,
    }  # fmt: skip
    assert sum(CATEGORIES[name].rows for name in GROUPS["ast"] if CATEGORIES[name].check == "ast") == 2501


def test_a_task_names_each_category_once_and_both_versions_names() -> None:
    names = [category.name for category in categories_of("simple_python, non_python,simple")]
    assert names == ["simple", "java", "javascript"]
    assert [c.name for c in categories_of(EVALUATIONS["bfclv2_ast"].task)] == list(GROUPS["ast"])


@pytest.mark.parametrize("task", ["simpel", "", " , ", "ast,liv"])
def test_an_unknown_name_is_refused_before_anything_runs(task: str) -> None:
    with pytest.raises(UsageError, match="task"):
        categories_of(task)


def test_every_category_and_group_is_an_evaluation() -> None:
    found = evaluation_of("bfcl_live_simple_prompting")
    assert found is not None
    assert (found.task, found.native_calling) == ("live_simple", False)
    assert all(evaluation_of(f"bfcl_{name}") for name in (*CATEGORIES, *GROUPS))
    assert evaluation_of("bfcl_nothing") is None
    assert evaluation_of("bfclv3_ast").native_calling is True  # type: ignore[union-attr]


def board(version: str = "v3", **right_of: tuple[int, int]) -> Scoreboard:
    scores = Scoreboard(version)
    for category, (right, rows) in right_of.items():
        for number in range(rows):
            correct = number < right
            scores.add(
                {
                    "category": category,
                    "correct": correct,
                    "error_type": None if correct else "value_error:string",
                }
            )
    return scores


def test_averages_leave_out_what_was_not_run_and_say_so() -> None:
    scores = board(simple=(1, 3))
    figures = scores.figures()
    assert figures["non_live_overall"] == figures["overall"] == pytest.approx(1 / 3)
    assert "live_overall" not in figures
    assert figures["errors.value_error:string"] == 2
    assert any(
        "not comparable" in note and "non_live_simple_ast (without java, javascript)" in note
        for note in scores.remarks()
    )


def test_a_complete_run_gives_the_official_formulas() -> None:
    full = dict.fromkeys(CATEGORIES, (1, 2)) | {
        "simple": (2, 2),
        "live_multiple": (30, 30),
        "irrelevance": (0, 2),
    }
    scores = board(**full)
    figures = scores.figures()
    simple_ast = (1 + 0.5 + 0.5) / 3
    assert figures["non_live_simple_ast"] == pytest.approx(simple_ast)
    assert figures["non_live_ast"] == pytest.approx((simple_ast + 1.5) / 4)
    assert figures["non_live_overall"] == pytest.approx((simple_ast + 7 * 0.5 + 0) / 9)
    assert figures["live_overall"] == pytest.approx((30 + 5) / 40)
    assert figures["overall"] == pytest.approx(
        (figures["live_overall"] + figures["non_live_overall"] + 0.5) / 3
    )
    assert not any("not comparable" in note for note in scores.remarks())


def test_version_4_has_averages_of_its_own_and_never_has_all_of_them() -> None:
    scores = board(
        "v4",
        **dict.fromkeys(CATEGORIES, (1, 2))
        | {"simple": (2, 2), "live_multiple": (8, 8), "irrelevance": (0, 2), "multi_turn_base": (2, 2)},
    )
    figures = scores.figures()
    assert figures["non_live_overall"] == pytest.approx(((1 + 0.5 + 0.5) / 3 + 1.5) / 4)
    assert figures["live_overall"] == pytest.approx((8 + 3) / 14)
    assert figures["irrelevance_overall"] == pytest.approx(0.25)
    tenths = sum(figures[name] for name in ("non_live_overall", "live_overall", "irrelevance_overall"))
    assert figures["overall"] == pytest.approx((10 * tenths + 30 * 2.5 / 4) / 60)
    assert any("overall (without agentic)" in note for note in scores.remarks())


@pytest.mark.parametrize("task", ["memory_kv", "simple,web_search", "agentic", "format_sensitivity"])
def test_what_version_4_adds_is_refused_with_the_reason(task: str) -> None:
    with pytest.raises(UsageError, match=r"of version v4 is not evaluated: .*(web|stores|system messages)"):
        categories_of(task)
