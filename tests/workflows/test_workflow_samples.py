"""Rows of a workflow: scores with intervals, the steps of each in order, failed ones first; a resumed run changes nothing that it finds again."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchwright import UsageError, WorkflowContext, workflow
from benchwright.results import ComparisonOptions, kind_of
from benchwright.results._found_runs import FoundRun
from benchwright.store import Workspace, open_store

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "agent" / "agent_rows.py"


def details(folder: Path, run_id: int = 1) -> Any:
    with open_store(Workspace(folder)) as store:
        run = store.run(run_id)
        return kind_of(run).details(store, run).to_json()


def evaluation(fails: list[str], right: Collection[str] = ("a", "b")) -> Any:
    """Three rows at once; `fails` are those that raise."""

    async def one(ctx: WorkflowContext, name: str) -> None:
        async with ctx.sample(name, {"name": name}) as sample:
            found = await ctx.step(step_key=f"ask/{name}", execute=lambda: f"reply {name}")
            if name in fails:
                raise ValueError(f"no answer for {name}")
            sample.score(correct=name in right, response=found, target=name)

    async def handler(ctx: WorkflowContext) -> None:
        await asyncio.gather(*(one(ctx, name) for name in "abc"))

    return workflow("rows", handler)


def test_rows_have_scores_with_intervals_and_their_own_steps(tmp_path: Path) -> None:
    asyncio.run(evaluation([]).run(workspace=tmp_path))
    found = details(tmp_path)
    assert {row["id"]: (row["status"], row["steps"], row["row"]) for row in found["rows"]} == {
        name: ("completed", [f"ask/{name}"], {"name": name}) for name in "abc"
    }
    correct = found["scores"]["correct"]
    assert (correct["value"], correct["n"], correct["too_few"]) == (2 / 3, 3, True)
    assert 0 < correct["ci_low"] < 2 / 3 < correct["ci_high"] < 1
    assert found["resume"] is None


def test_a_failed_row_comes_first_and_a_resumed_run_finishes_it(tmp_path: Path) -> None:
    fails = ["c"]
    flow = evaluation(fails)
    with pytest.raises(ValueError, match="no answer for c"):
        asyncio.run(flow.run(workspace=tmp_path))
    found = details(tmp_path)
    assert (found["rows"][0]["id"], found["rows"][0]["status"]) == ("c", "failed")
    assert "no answer for c" in found["rows"][0]["error"]
    assert found["resume"] == "benchwright resume 1"
    fails.clear()
    asyncio.run(flow.run(workspace=tmp_path, resume=1))
    found = details(tmp_path)
    assert [row["status"] for row in found["rows"]] == ["completed"] * 3
    kept = [step for step in found["samples"] if step["step_key"] in ("sample/a", "sample/b")]
    assert all(
        not step["superseded"] and step["attempts"] == 1 for step in kept if step["status"] == "completed"
    )


def test_only_failed_rows_count_as_wrong_and_only_in_what_every_other_row_has(tmp_path: Path) -> None:
    given: list[dict[str, float] | None] = [{"correct": 1, "judged": 1}, {"correct": 0}, {}]

    async def handler(ctx: WorkflowContext) -> None:
        for name, scores in enumerate(given):
            with suppress(ValueError):
                async with ctx.sample(name) as sample:
                    if scores is None:
                        raise ValueError("no reply")
                    if scores:
                        sample.score(**scores)

    asyncio.run(workflow("w", handler).run(workspace=tmp_path))
    found = details(tmp_path)["scores"]
    assert {name: each["failures_as_wrong"] for name, each in found.items()} == {
        "correct": None,
        "judged": None,
    }
    given += [None, None]
    asyncio.run(workflow("w", handler).run(workspace=tmp_path))
    found = details(tmp_path, 2)["scores"]
    assert (found["correct"]["value"], found["correct"]["n"]) == (0.5, 2)
    assert found["correct"]["failures_as_wrong"] == 1 / 4, "one right of two scored and two failed"
    assert found["judged"]["failures_as_wrong"] is None, "a failed row might not have had it"


def test_rows_of_two_runs_are_compared_in_pairs(tmp_path: Path) -> None:
    asyncio.run(evaluation([]).run(workspace=tmp_path))
    asyncio.run(evaluation([], {"a"}).run(workspace=tmp_path))
    with open_store(Workspace(tmp_path)) as store:
        one, other = (FoundRun.of(store.run(number), store) for number in (1, 2))
        found: Any = kind_of(one.run).compare(one, other, ComparisonOptions())
    (metric,) = found.metrics
    assert (metric.name, metric.paired.pairs, metric.paired.losses, metric.paired.wins) == (
        "correct",
        3,
        1,
        0,
    )


@pytest.mark.parametrize("value", ["yes", None, [1], float("nan"), float("inf"), -float("inf"), 1e200])
def test_scores_are_numbers(tmp_path: Path, value: Any) -> None:
    async def handler(ctx: WorkflowContext) -> None:
        async with ctx.sample(1) as sample:
            sample.score(correct=value)

    with pytest.raises(UsageError, match="expected a number or a bool"):
        asyncio.run(workflow("w", handler).run(workspace=tmp_path))


def test_a_real_agent_leaves_its_conversation_with_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    handler = runpy.run_path(str(EXAMPLE))["handler"]
    output = asyncio.run(workflow("agent_rows", handler).run({}, workspace=tmp_path))
    assert output == {"right": 3}
    found = details(tmp_path)
    steps = {step["step_key"]: step for step in found["samples"]}
    for row in found["rows"]:
        first, tool, last = (steps[key] for key in row["steps"])
        assert first["output"]["tool_calls"][0]["name"] == "stock_of_item"
        assert tool["input"] == {"name": "stock_of_item", "arguments": {"item": row["id"]}}
        assert str(row["target"]) in tool["output"]
        assert last["output"]["content"] == row["response"]


def test_whole_numbers_of_any_size_count_in_the_mean(tmp_path: Path) -> None:
    async def handler(ctx: WorkflowContext) -> None:
        for number in (10**25, -(10**25), 2**63, 3):
            async with ctx.sample(number) as sample:
                sample.score(size=number)

    asyncio.run(workflow("w", handler).run(workspace=tmp_path))
    size = details(tmp_path)["scores"]["size"]
    assert (size["n"], size["value"]) == (4, pytest.approx((2**63 + 3) / 4))
