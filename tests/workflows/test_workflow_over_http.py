"""Workflows whose record is on a server: the same outcomes as in the workspace, also when answers are lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_stub import Stub, rest_stub

from benchwright import ApiError, BenchwrightClient, StepParams, WorkflowContext, WorkflowError, workflow
from benchwright.core import UsageError
from benchwright.workflows._client import HttpAnswer
from waiting import PATIENCE_S, until_in_loop

VARIABLES = ("RUN_ID", "WORKFLOW_NAME", "INPUT", "WORKSPACE", "BASE_URL", "TOKEN", "LEASE")


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    for name in VARIABLES:
        monkeypatch.delenv(f"BENCHWRIGHT_{name}", raising=False)
        monkeypatch.delenv(f"QUANTILES_{name}", raising=False)
    with rest_stub(tmp_path) as stub:
        monkeypatch.setenv("BENCHWRIGHT_BASE_URL", stub.url + "/")
        yield stub


async def handler(given: Any, ctx: WorkflowContext) -> Any:
    async def work(number: int) -> Any:
        await ctx.emit("inside", number)
        return (number, None)

    pairs = [
        await ctx.step(step_key=f"s{n}", input_value={"n": n}, execute=lambda n=n: work(n))
        for n in range(given["steps"])
    ]
    await ctx.emit("total", sum(pair[0] for pair in pairs), "points", tags={"k": "v"})
    await ctx.event("done", "all of it", {"n": 1})
    if given.get("fail"):
        raise ValueError("as asked")
    return pairs


def run(given: Any) -> Any:
    return asyncio.run(workflow("my_eval", handler).run(given))


def test_a_standalone_workflow_makes_and_ends_its_run_on_the_server(stub: Stub) -> None:
    assert run({"steps": 2}) == [[0, None], [1, None]]
    record = stub.store.run(1)
    assert (record.status, record.input, record.output) == (
        "completed",
        {"steps": 2},
        [[0, None], [1, None]],
    )
    points = stub.store.page_metrics(1).items
    assert [(p.name, p.value, p.unit, p.tags, p.step_id is None) for p in points] == [
        ("inside", 0.0, None, None, False),
        ("inside", 1.0, None, None, False),
        ("total", 1.0, "points", {"k": "v"}, True),
    ]
    assert [e.data for e in stub.store.events(1) if e.kind == "done"] == [{"n": 1}]
    assert stub.paths()[:2] == ["GET /health", "POST /runs"]
    assert stub.paths()[-2:] == ["POST /runs/1/output", "POST /runs/1/complete"]


def test_a_failing_workflow_is_failed_on_the_server(stub: Stub) -> None:
    with pytest.raises(ValueError, match="as asked"):
        run({"steps": 1, "fail": True})
    record = stub.store.run(1)
    assert record.status == "failed"
    assert record.error is not None
    assert record.error.endswith("ValueError: as asked\n")


def test_a_managed_run_is_given_its_input_and_ended_by_its_manager(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answer("POST", "/runs", {"workflow_name": "my_eval", "input": '{"steps":1}'})
    monkeypatch.setenv("BENCHWRIGHT_RUN_ID", "1")
    monkeypatch.setenv("BENCHWRIGHT_INPUT", '{"steps": 1}')
    monkeypatch.setenv("BENCHWRIGHT_TOKEN", "secret")
    assert run({"ignored": True}) == [[0, None]]
    assert stub.authorization == {"Bearer secret"}
    record = stub.store.run(1)
    assert (record.status, record.output) == ("running", [[0, None]])
    assert "POST /runs/1/complete" not in stub.paths()


def test_lost_answers_change_nothing(stub: Stub) -> None:
    stub.lose_answers_to = {
        "/steps/begin": 2,
        "/steps/complete": 2,
        "/runs/1/metrics": 1,
        "/runs/1/output": 1,
        "/runs/1/complete": 1,
    }
    assert run({"steps": 3}) == [[0, None], [1, None], [2, None]]
    assert stub.store.workflow_step_counts(1) == {"completed": 3}
    assert all(step.attempt == 1 for step in stub.store.page_steps(1).items)
    assert len(stub.store.page_metrics(1).items) == 4
    assert stub.store.run(1).status == "completed"


def test_a_cancelled_workflow_says_so(stub: Stub) -> None:
    begun: list[str] = []

    async def execute() -> None:
        begun.append("slow")
        await asyncio.sleep(PATIENCE_S)

    async def slow(ctx: WorkflowContext) -> Any:
        await ctx.step(step_key="slow", execute=execute)

    async def main() -> None:
        task = asyncio.create_task(workflow("slow", slow).run())  # type: ignore[arg-type]
        await until_in_loop(lambda: begun, "the step")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert stub.store.run(1).status == "interrupted"
    assert stub.store.workflow_step_counts(1) == {"interrupted": 1}


def test_the_client_speaks_every_route(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with BenchwrightClient() as client:
            assert client.base_url == stub.url
            assert await client.health() == {}
            made = await client.create_run("my_eval", {"a": None})
            assert await made.step(StepParams("k", lambda: (1, 2), {"x": 1})) == [1, 2]
            assert (
                await client.run_step(
                    run_id=made.id, step_key="k", input_value={"x": 1}, execute=lambda: [][0]
                )
            ) == [1, 2], "the recorded output, without executing"
            await made.emit("m", 0.5, "share")
            await client.set_run_output(made.id, {"n": [None]})
            await made.complete()
            monkeypatch.setenv("BENCHWRIGHT_RUN_ID", str(made.id))
            record = await client.get_run()
            assert (record.id, record.workflow_name, record.status) == (1, "my_eval", "completed")
            assert (record.input, record.output) == ({"a": None}, {"n": [None]})
            other = await client.create_run("other")
            await other.fail("no luck")
            assert (await client.get_run(other.id)).error == "no luck"

    asyncio.run(main())


@pytest.mark.parametrize("flat", [False, True])
def test_refusals_tell_what_the_server_said(stub: Stub, flat: bool) -> None:
    stub.flat_errors = flat

    async def main() -> None:
        async with BenchwrightClient() as client:
            with pytest.raises(ApiError, match="no run '9'") as missing:
                await client.get_run(9)
            assert (missing.value.status, missing.value.code) == (404, None if flat else "not_found")
            made = await client.create_run("my_eval")
            step: dict[str, Any] = {"run_id": made.id, "step_key": "a", "execute": lambda: 1}
            await client.run_step(**step, input_value={"n": 1})
            with pytest.raises(ApiError, match=r"\$\.n: 1 → 2") as changed:
                await client.run_step(**step, input_value={"n": 2})
            assert (changed.value.status, changed.value.code) == (409, None if flat else "input_changed")
            with pytest.raises(UsageError, match="finite"):
                await workflow("x", nan).run()

    async def nan(ctx: WorkflowContext) -> None:
        await ctx.emit("loss", float("nan"))

    asyncio.run(main())


class Answers:
    """A session that answers from a list."""

    def __init__(self, *answers: HttpAnswer) -> None:
        self.answers = list(answers)
        self.closed = False

    async def request(self, method: str, url: str, **_: Any) -> HttpAnswer:
        return self.answers.pop(0)

    async def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (HttpAnswer(500, b'{"error": "chain of causes"}'), "chain of causes"),
        (HttpAnswer(502, b"<html>bad gateway"), "<html>bad gateway"),
        (HttpAnswer(503, b""), "HTTP 503"),
        (HttpAnswer(400, b"[1]"), "[1]"),
        (HttpAnswer(200, b"<html>"), "not a JSON object"),
        (HttpAnswer(409, b'{"error": {"code": "x", "message": "m", "hint": "h", "retryable": true}}'), "m h"),
    ],
)
def test_every_kind_of_refusal_becomes_one_error(answer: HttpAnswer, told: str) -> None:
    session = Answers(answer)
    client = BenchwrightClient(base_url="http://x/", session=session)

    async def main() -> None:
        with pytest.raises(ApiError) as caught:
            await client.health()
        assert told in str(caught.value)
        assert isinstance(caught.value, WorkflowError)
        await client.close()

    asyncio.run(main())
    assert not session.closed, "a session that was brought along belongs to who brought it"


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.workflows._client._PAUSES_S", (0.01,))

    async def main() -> None:
        async with BenchwrightClient(base_url="http://127.0.0.1:9") as client:
            with pytest.raises(ApiError, match=r"127\.0\.0\.1:9.*benchwright serve") as caught:
                await client.health()
            assert caught.value.retryable
            assert "{" not in str(caught.value), "the cause in words, not the library's record of it"
            monkeypatch.delenv("BENCHWRIGHT_RUN_ID", raising=False)
            with pytest.raises(WorkflowError, match="BENCHWRIGHT_RUN_ID"):
                await client.get_run()
            monkeypatch.setenv("BENCHWRIGHT_RUN_ID", "seven")
            with pytest.raises(UsageError, match="'seven'"):
                await client.get_run()

    asyncio.run(main())
