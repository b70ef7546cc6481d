"""What a workflow's handler sees: steps done once, replayed alike, retried, timed out, cancelled; metrics; events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchwright import (
    InputChangedError,
    StepHeldError,
    StepTimeoutError,
    WorkflowContext,
    emit,
    step,
    workflow,
)
from benchwright.core import NotFoundError, RunOwnedError, UsageError
from benchwright.store import Workspace, open_store

Handler = Callable[..., Awaitable[Any]]


class Flow:
    """A handler in a workspace of its own, run and resumed as a test likes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = open_store(Workspace(folder))

    def run(self, handler: Handler, given: Any = None, **options: Any) -> Any:
        return asyncio.run(workflow("my_eval", handler).run(given, workspace=self.folder, **options))

    def fails(self, handler: Handler, error: type[BaseException], given: Any = None, **options: Any) -> Any:
        with pytest.raises(error) as caught:
            self.run(handler, given, **options)
        return caught.value

    def steps(self, run_id: int = 1) -> dict[str, str]:
        return {found.key: found.status for found in self.store.page_steps(run_id, limit=1000).items}

    def points(self, run_id: int = 1) -> list[tuple[str, float]]:
        return [(point.name, point.value) for point in self.store.page_metrics(run_id).items]

    def kinds(self, run_id: int = 1) -> list[str]:
        return [event.kind for event in self.store.events(run_id)]


@pytest.fixture
def flow(tmp_path: Path) -> Flow:
    return Flow(tmp_path)


def test_a_workflow_is_recorded_with_its_input_output_and_steps(flow: Flow) -> None:
    async def handler(given: Any, ctx: WorkflowContext) -> Any:
        assert (ctx.run_id, ctx.workflow_name) == (1, "my_eval")
        double = await ctx.step(step_key="double", input_value=given, execute=lambda: given["n"] * 2)
        return {"double": double}

    assert flow.run(handler, {"n": 4}) == {"double": 8}
    run = flow.store.run(1)
    assert (run.kind, run.name, run.status, run.input, run.output) == (
        "workflow",
        "my_eval",
        "completed",
        {"n": 4},
        {"double": 8},
    )
    assert run.settings["cwd"] == str(Path.cwd())
    assert run.settings["command"]
    entry = run.manifest["entry"]
    assert isinstance(entry, dict)
    assert entry["path"] == str(Path(__file__).resolve())
    assert entry["sha256"]
    versions = run.manifest["versions"]
    assert isinstance(versions, dict)
    assert {"benchwright", "python"} <= set(versions)
    assert flow.kinds() == ["run.started", "step.started", "step.completed", "run.completed"]


def test_handlers_with_one_required_parameter_get_the_context_only(flow: Flow) -> None:
    async def only(ctx: WorkflowContext, extra: int = 3, *, more: int = 4) -> Any:
        return [ctx.run_id, extra, more]

    async def anything(*everything: Any) -> Any:
        return [everything[0], everything[1].run_id]

    assert flow.run(only, {"n": 1}) == [1, 3, 4]
    assert flow.run(anything, "x") == ["x", 2]
    with pytest.raises(UsageError, match=r"handler\(input_value, ctx\)"):
        workflow("w", lambda: None)  # type: ignore[arg-type,misc]
    with pytest.raises(UsageError, match="3 arguments"):
        workflow("w", lambda a, b, c: None)
    with pytest.raises(UsageError, match="name"):
        workflow(" ", only)


def test_a_replayed_value_equals_the_first(flow: Flow) -> None:
    @dataclass
    class Pair:
        left: int
        right: None = None

    seen: list[Any] = []

    async def handler(ctx: WorkflowContext) -> Any:
        values = [
            await ctx.step(step_key="tuple", execute=lambda: (1, (2, 3))),
            await ctx.step(step_key="none", execute=lambda: None),
            await ctx.step(step_key="nulls", execute=lambda: {"b": None, "a": [None]}),
            await ctx.step(step_key="order", execute=lambda: {"z": 1, "a": 2}),
            await ctx.step(step_key="pair", execute=lambda: Pair(1)),
            await ctx.step(step_key="big", execute=lambda: [2**70, 1e300, -0.0, "\ud800 é"]),
        ]
        seen.append(values)
        if len(seen) == 1:
            raise RuntimeError("half-way")
        return values

    flow.fails(handler, RuntimeError)
    assert flow.run(handler, resume=1) == seen[0] == seen[1]
    assert seen[0][:3] == [[1, [2, 3]], None, {"b": None, "a": [None]}]
    assert [list(value) for value in seen[0][2:4]] == [list(value) for value in seen[1][2:4]]
    assert seen[0][4] == {"left": 1, "right": None}


def test_a_resumed_run_is_given_every_digit_of_its_input_and_gives_those_of_its_output(flow: Flow) -> None:
    given, fails = {"seed": 10**30, "low": -(2**70)}, True

    async def handler(value: Any, ctx: WorkflowContext) -> Any:
        assert value == given
        if fails:
            raise RuntimeError("stop")
        return value

    flow.fails(handler, RuntimeError, given)
    fails = False
    assert flow.run(handler, resume=1) == given
    again = flow.run(handler, resume=1)  # complete: as recorded
    assert again == given
    assert type(again["seed"]) is int


def test_a_resumed_run_does_completed_steps_no_more(flow: Flow) -> None:
    calls: list[str] = []
    broken = True

    async def handler(given: Any, ctx: WorkflowContext) -> Any:
        async def work(name: str) -> str:
            calls.append(name)
            if name == "c" and broken:
                raise ValueError("c is broken")
            return name.upper()

        return [
            await ctx.step(step_key=name, input_value=[given, name], execute=lambda name=name: work(name))
            for name in "abcd"
        ]

    error = flow.fails(handler, ValueError, 7)
    assert str(error) == "c is broken"
    run = flow.store.run(1)
    assert run.status == "failed"
    assert run.error is not None
    assert "ValueError: c is broken" in run.error
    assert "in work" in run.error
    assert flow.steps() == {"a": "completed", "b": "completed", "c": "failed"}
    broken = False
    assert flow.run(handler, resume="last") == ["A", "B", "C", "D"]
    assert calls == ["a", "b", "c", "c", "d"]
    run = flow.store.run(1)
    assert (run.status, run.starts, run.input, run.error) == ("completed", 2, 7, None)
    assert "run.resumed" in flow.kinds()


def test_a_complete_run_gives_its_output_without_doing_anything(flow: Flow) -> None:
    calls: list[int] = []

    async def handler(ctx: WorkflowContext) -> Any:
        calls.append(1)
        return {"n": None}

    flow.run(handler)
    assert flow.run(handler, resume=1) == {"n": None}
    assert calls == [1]
    assert flow.kinds() == ["run.started", "run.completed"]


def test_a_resumed_run_keeps_its_input(flow: Flow) -> None:
    fail = True

    async def handler(given: Any, ctx: WorkflowContext) -> Any:
        if fail:
            raise RuntimeError
        return given

    flow.fails(handler, RuntimeError, {"n": 1})
    flow.fails(handler, UsageError, {"n": 2}, resume=1)
    fail = False
    assert flow.run(handler, {"n": 1}, resume=1) == {"n": 1}


def test_only_runs_of_the_same_workflow_are_resumed(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        raise RuntimeError

    flow.fails(handler, RuntimeError)
    flow.fails(handler, NotFoundError, resume=9)
    with pytest.raises(UsageError, match="not of the workflow 'other'"):
        asyncio.run(workflow("other", handler).run(workspace=flow.folder, resume=1))


def test_a_changed_input_fails_and_tells_the_difference_or_reruns(flow: Flow) -> None:
    limit = 10
    policy: Any = "fail"

    async def handler(ctx: WorkflowContext) -> Any:
        found = await ctx.step(
            step_key="load",
            input_value={"limit": limit, "model": None},
            execute=lambda: limit,
            on_input_change=policy,
        )
        if policy == "fail":
            raise RuntimeError
        return found

    flow.fails(handler, RuntimeError)
    limit = 20
    error = flow.fails(handler, InputChangedError, resume=1)
    assert "$.limit: 10 → 20" in str(error)
    assert "model" not in str(error).replace("model_", "")
    policy = "rerun"
    assert flow.run(handler, resume=1) == 20
    steps = flow.store.page_steps(1).items
    assert [(s.generation, s.output) for s in steps] == [(1, b"10"), (2, b"20")]


def test_failing_steps_are_retried_and_every_attempt_is_an_event(flow: Flow) -> None:
    attempts: list[float] = []

    async def handler(ctx: WorkflowContext) -> Any:
        async def flaky() -> str:
            attempts.append(asyncio.get_running_loop().time())
            await ctx.emit("tried", float(len(attempts)))
            if len(attempts) < 3:
                raise ConnectionError(f"attempt {len(attempts)}")
            return "ok"

        return await ctx.step(step_key="flaky", execute=flaky, retries=2, backoff=0.02)

    assert flow.run(handler) == "ok"
    assert attempts[1] - attempts[0] > 0.015
    assert attempts[2] - attempts[1] > 0.035, "the second pause is twice as long"
    told = [(e.kind, e.message) for e in flow.store.events(1)][1:-1]
    assert told == [
        ("step.started", "flaky"),
        ("step.failed", "flaky: ConnectionError: attempt 1"),
        ("step.started", "flaky, attempt 2: a retry"),
        ("step.failed", "flaky, attempt 2: ConnectionError: attempt 2"),
        ("step.started", "flaky, attempt 3: a retry"),
        ("step.completed", "flaky, attempt 3"),
    ]
    assert flow.points() == [("tried", 3.0)], "points of failed attempts do not count"


def test_retries_end_with_the_last_error(flow: Flow) -> None:
    calls: list[int] = []

    async def handler(ctx: WorkflowContext) -> Any:
        def broken() -> None:
            calls.append(1)
            raise KeyError(len(calls))

        await ctx.step(step_key="broken", execute=broken, retries=2, backoff=0)

    assert flow.fails(handler, KeyError).args == (3,)
    assert flow.store.page_steps(1).items[0].attempt == 3


def test_a_step_that_takes_too_long_fails_and_may_be_retried(flow: Flow) -> None:
    calls: list[int] = []

    async def handler(ctx: WorkflowContext) -> Any:
        async def slow() -> str:
            calls.append(1)
            await asyncio.sleep(600 if len(calls) < 2 else 0)
            return "in time"

        return await ctx.step(step_key="slow", execute=slow, timeout=seconds, retries=retries, backoff=0)

    retries, seconds = 0, 0.01
    error = flow.fails(handler, StepTimeoutError)
    assert isinstance(error, TimeoutError)
    assert "'slow' took longer than its timeout of 0.01 s" in str(error)
    calls.clear()
    retries, seconds = 1, 2.5  # of which the second attempt needs next to nothing
    assert flow.run(handler) == "in time"


def test_a_timeout_of_the_steps_own_is_an_ordinary_error(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        async def broken() -> None:
            raise TimeoutError("the database's own")

        await ctx.step(step_key="a", execute=broken, timeout=5)

    assert str(flow.fails(handler, TimeoutError)) == "the database's own"


def test_without_cache_a_step_is_done_every_time(flow: Flow) -> None:
    calls: list[int] = []

    async def handler(ctx: WorkflowContext) -> Any:
        await ctx.step(step_key="now", execute=lambda: calls.append(1), cache=False)
        if len(calls) == 1:
            raise RuntimeError
        return len(calls)

    flow.fails(handler, RuntimeError)
    assert flow.run(handler, resume=1) == 2


def test_two_steps_of_one_key_at_once_are_refused(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        async def slow() -> int:
            await asyncio.sleep(0.01)
            return 1

        await asyncio.gather(*(ctx.step(step_key="same", execute=slow) for _ in range(2)))

    flow.fails(handler, StepHeldError)


def test_many_steps_at_once_are_all_recorded(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        async def work(number: int) -> int:
            await asyncio.sleep(0.001 * (number % 3))
            await emit(ctx, "seen", number)
            return number

        done = await asyncio.gather(
            *(step(ctx, step_key=f"row-{n}", input_value=n, execute=lambda n=n: work(n)) for n in range(200))
        )
        return sum(done)

    assert flow.run(handler) == sum(range(200))
    assert set(flow.steps().values()) == {"completed"}
    assert sorted(value for _, value in flow.points()) == [float(n) for n in range(200)]
    points = flow.store.page_metrics(1).items
    assert all(point.step_id is not None for point in points)


def test_a_cancelled_workflow_leaves_interrupted_steps_and_nothing_running(flow: Flow) -> None:
    begun: list[str] = []

    async def handler(ctx: WorkflowContext) -> Any:
        async def slow(name: str) -> None:
            begun.append(name)
            await asyncio.sleep(30)

        await ctx.step(step_key="done", execute=lambda: 1)
        await asyncio.gather(*(ctx.step(step_key=n, execute=lambda n=n: slow(n)) for n in ("a", "b")))

    async def main() -> None:
        task = asyncio.create_task(workflow("my_eval", handler).run(workspace=flow.folder))  # type: ignore[arg-type]
        while len(begun) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert flow.steps() == {"done": "completed", "a": "interrupted", "b": "interrupted"}
    assert flow.store.run(1).status == "interrupted"
    assert flow.kinds()[-1] == "run.interrupted"


def test_steps_that_nobody_waits_for_are_stopped_with_the_run(flow: Flow) -> None:
    ended: list[str] = []

    async def handler(ctx: WorkflowContext) -> Any:
        async def slow() -> None:
            try:
                await asyncio.sleep(30)
            finally:
                ended.append("slow")

        async def broken() -> None:
            await asyncio.sleep(0.01)
            raise ValueError

        await asyncio.gather(
            ctx.step(step_key="slow", execute=slow), ctx.step(step_key="broken", execute=broken)
        )

    flow.fails(handler, ValueError)
    assert ended == ["slow"]
    assert flow.steps() == {"slow": "interrupted", "broken": "failed"}


def test_metrics_of_code_between_steps_are_not_doubled_by_a_resume(flow: Flow) -> None:
    fail = True

    async def handler(ctx: WorkflowContext) -> Any:
        async def in_step() -> int:
            await ctx.emit("inside", 1)
            return 1

        for number in range(3):
            await ctx.emit("between", number * (1 if fail else 10))
        await ctx.emit("tagged", 1, tags={"row": 1})
        await ctx.step(step_key="a", execute=in_step)
        if fail:
            raise RuntimeError
        await ctx.emit("accuracy", 0.5, "share")
        return None

    flow.fails(handler, RuntimeError)
    fail = False
    flow.run(handler, resume=1)
    assert sorted(flow.points()) == [
        ("accuracy", 0.5),
        ("between", 0.0),
        ("between", 10.0),
        ("between", 20.0),
        ("inside", 1.0),
        ("tagged", 1.0),
    ]


def test_metrics_that_are_not_numbers_are_refused(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        await ctx.emit("loss", float("nan"))

    assert "'loss' is nan" in str(flow.fails(handler, UsageError))
    assert flow.points() == []


def test_events_of_the_user_are_kept_with_their_facts(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        await ctx.event("sampling.done", "half", {"rows": (1, None)})
        await ctx.step(step_key="a", execute=lambda: ctx.event("in.step"))
        with pytest.raises(UsageError, match=r"run\. or step\."):
            await ctx.event("run.completed", "not so")

    flow.run(handler)
    events = {event.kind: event for event in flow.store.events(1)}
    assert (events["sampling.done"].message, events["sampling.done"].data) == ("half", {"rows": [1, None]})
    assert events["in.step"].step_id == flow.store.page_steps(1).items[0].id


def test_what_cannot_be_recorded_is_named(flow: Flow) -> None:
    async def bad_input(ctx: WorkflowContext) -> Any:
        await ctx.step(step_key="a", input_value={"when": {1}}, execute=lambda: 1)

    async def bad_output(ctx: WorkflowContext) -> Any:
        await ctx.step(step_key="a", execute=lambda: {"x": [object()]})

    async def bad_key(ctx: WorkflowContext) -> Any:
        await ctx.step(step_key="", execute=lambda: 1)

    async def bad_result(ctx: WorkflowContext) -> Any:
        return {1: 2}

    assert "input of step 'a' cannot be recorded: $.when is a set" in str(flow.fails(bad_input, UsageError))
    assert "output of step 'a' cannot be recorded: $.x[0]" in str(flow.fails(bad_output, UsageError))
    assert "step key" in str(flow.fails(bad_key, UsageError))
    error = flow.fails(bad_result, Exception)
    assert "output of workflow 'my_eval' cannot be recorded: $ has the key 1" in str(error)
    assert [run.status for run in flow.store.runs()] == ["failed"] * 4
    for wrong in ({"retries": -1}, {"timeout": 0}, {"on_input_change": "ask"}):

        async def handler(ctx: WorkflowContext, wrong: Any = wrong) -> Any:
            await ctx.step(step_key="a", execute=lambda: 1, **wrong)

        flow.fails(handler, UsageError)


def test_a_step_within_a_step_is_a_step_of_its_own(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        async def outer() -> Any:
            inner = await ctx.step(step_key="inner", execute=lambda: 1)
            await ctx.emit("outer", inner)
            return inner + 1

        return await ctx.step(step_key="outer", execute=outer)

    assert flow.run(handler) == 2
    steps = {found.key: found.id for found in flow.store.page_steps(1).items}
    assert flow.store.page_metrics(1).items[0].step_id == steps["outer"]


def test_a_changed_script_is_told_by_the_resume(flow: Flow, tmp_path: Path) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        raise RuntimeError

    flow.fails(handler, RuntimeError)
    manifest = flow.store.run(1).manifest
    entry = manifest["entry"]
    assert isinstance(entry, dict)
    flow.store.update_run(1, manifest={**manifest, "entry": {**entry, "sha256": "0" * 64}})
    flow.fails(handler, RuntimeError, resume=1)
    (resumed,) = [event for event in flow.store.events(1) if event.kind == "run.resumed"]
    assert isinstance(resumed.data, dict)
    assert resumed.data["code_changed"] == {
        "path": str(Path(__file__).resolve()),
        "before": "0" * 64,
        "now": entry["sha256"],
    }


def test_a_run_cannot_be_resumed_while_it_goes_on(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        with pytest.raises(RunOwnedError):
            await workflow("my_eval", handler).run(workspace=flow.folder, resume=ctx.run_id)
        return "once"

    assert flow.run(handler) == "once"


def test_the_client_of_a_workflow_works_without_a_server(flow: Flow) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        own = await ctx.client.get_run()
        assert (own.id, own.workflow_name, own.status) == (ctx.run_id, "my_eval", "running")
        assert (await ctx.client.health())["service"] == "benchwright"
        other = await ctx.client.create_run("child", {"n": 1})
        value = await ctx.client.run_step(
            run_id=other.id, step_key="a", input_value=None, execute=lambda: (1, 2)
        )
        await other.emit("m", 2.5)
        await ctx.client.set_run_output(other.id, {"v": value})
        await other.complete()
        child = await ctx.client.get_run(other.id)
        failed = await ctx.client.create_run("child")
        await failed.fail("no luck")
        return [child.status, child.output, child.input, (await ctx.client.get_run(failed.id)).error]

    assert flow.run(handler) == ["completed", {"v": [1, 2]}, {"n": 1}, "no luck"]
    assert flow.points(2) == [("m", 2.5)]


def test_records_on_a_network_file_system_are_warned_about(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        return 1

    monkeypatch.setattr(Workspace, "network_filesystem", lambda self: "nfs4")
    with pytest.warns(RuntimeWarning, match="network file system"):
        flow.run(handler)
    assert flow.kinds() == ["run.started", "warning", "run.completed"]
