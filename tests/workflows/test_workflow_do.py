"""`ctx.do`: a function and its arguments as a step; and the token by which a service knows a step again."""

from __future__ import annotations

import asyncio
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from benchwright import WorkflowContext, workflow
from benchwright.core import UsageError
from benchwright.results._workflows import step_views
from benchwright.store import Workspace, open_store
from benchwright.workflows import _client as client
from waiting import kept_port

CALLS: list[Any] = []
TOKENS: list[str] = []


def in_a_loop(test: Any) -> Any:
    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))

    return run


def double(n: int, *, plus: int = 0) -> int:
    CALLS.append(n)
    return 2 * n + plus


async def waits(ctx_name: str) -> str:
    await asyncio.sleep(0)
    return ctx_name.upper()


@pytest.fixture(autouse=True)
def empty() -> None:
    CALLS.clear()
    TOKENS.clear()


def steps(place: Path, run_id: int = 1) -> dict[str, Any]:
    store = open_store(Workspace(place))
    try:
        return {view.step.key: view.to_json() for view in step_views(store, run_id)}
    finally:
        store.close()


@in_a_loop
async def test_loops_need_no_closures_and_a_resume_calls_nothing_again(tmp_path: Path) -> None:
    broken = True

    async def handler(ctx: WorkflowContext) -> list[int]:
        results = [await ctx.do(double, n) for n in (1, 2, 2, 3)]
        results += await asyncio.gather(*(ctx.do(double, n, plus=1) for n in (2, 2)))
        assert await ctx.do(waits, "a") == "A"
        if broken:
            raise ValueError("not yet")
        return results

    flow = workflow("loops", handler)
    with pytest.raises(ValueError, match="not yet"):
        await flow.run(workspace=tmp_path)
    assert CALLS == [1, 2, 2, 3, 2, 2]
    broken = False
    assert await flow.run(workspace=tmp_path, resume=1) == [2, 4, 4, 6, 5, 5]
    assert len(CALLS) == 6
    keys = list(steps(tmp_path))
    assert len(keys) == 7
    assert all(key.startswith(("test_workflow_do.double(", "test_workflow_do.waits(")) for key in keys)
    assert keys[2] == f"{keys[1]}#2"


@in_a_loop
async def test_what_has_no_name_or_no_json_is_refused(tmp_path: Path) -> None:
    async def unnamed(ctx: WorkflowContext) -> None:
        await ctx.do(lambda: 1)

    async def unrecorded(ctx: WorkflowContext) -> None:
        await ctx.do(double, object())

    with pytest.raises(UsageError, match="a lambda has none"):
        await workflow("unnamed", unnamed).run(workspace=tmp_path)
    with pytest.raises(UsageError, match=r"the arguments of test_workflow_do\.double cannot be recorded"):
        await workflow("unrecorded", unrecorded).run(workspace=tmp_path)


@in_a_loop
async def test_a_token_is_the_same_in_every_attempt_and_in_no_other_step(tmp_path: Path) -> None:
    async def handler(ctx: WorkflowContext) -> None:
        def charge() -> None:
            TOKENS.append(ctx.idempotency_token)
            if len(TOKENS) < 3:
                raise ValueError("again")

        with pytest.raises(UsageError, match="inside one"):
            _ = ctx.idempotency_token
        await ctx.step(step_key="charge", execute=charge, input_value=1, retries=1, backoff=0)
        await ctx.step(step_key="other", execute=charge, input_value=1)

    flow = workflow("pays", handler)
    with pytest.raises(ValueError, match="again"):
        await flow.run(workspace=tmp_path)
    await flow.run(workspace=tmp_path, resume=1)
    await flow.run(workspace=tmp_path)
    first, second, resumed, other, *another = TOKENS
    assert first == second == resumed
    assert len({first, other, *another}) == 4


@in_a_loop
async def test_superseded_outputs_are_shown(tmp_path: Path) -> None:
    value = 1

    async def handler(ctx: WorkflowContext) -> None:
        await ctx.step(step_key="s", execute=lambda: value, input_value=value, on_input_change="rerun")
        if value == 1:
            raise ValueError("stop")

    flow = workflow("again", handler)
    with pytest.raises(ValueError, match="stop"):
        await flow.run(workspace=tmp_path)
    value = 2
    await flow.run(workspace=tmp_path, resume=1)
    shown = steps(tmp_path)["s"]
    assert shown["output"] == 2
    assert [(old["generation"], old["input"], old["output"]) for old in shown["superseded"]] == [(1, 1, 1)]


@in_a_loop
async def test_a_jump_of_the_clock_does_not_make_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    real = time.time

    async def handler(ctx: WorkflowContext) -> None:
        monkeypatch.setattr(time, "time", lambda: real() + 48 * 3600)

    await workflow("jump", handler).run(workspace=tmp_path)
    store = open_store(Workspace(tmp_path))
    run = store.run(1)
    store.close()
    assert run.finished_at is not None
    assert 0 <= run.finished_at - run.created_at < 3600


@in_a_loop
async def test_a_server_that_is_restarted_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_PAUSES_S", (0.05,) * 200)
    with kept_port() as port:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"POST /events ")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
            await writer.drain()
            writer.close()

        session = client.ReqwestSession()

        async def post() -> int:
            url = f"http://127.0.0.1:{port}/events"
            return (await session.request("POST", url, headers={}, body=None, again=False)).status

        waiting = asyncio.create_task(post())
        await asyncio.sleep(0)
        server = await asyncio.start_server(answer, "127.0.0.1", port)
        assert await waiting == 200
        server.close()
        await server.wait_closed()
        waiting = asyncio.create_task(
            post()
        )  # what must not be sent twice is sent on a connection of its own
        await asyncio.sleep(0)
        server = await asyncio.start_server(answer, "127.0.0.1", port)
        assert await waiting == 200
        server.close()
        await server.wait_closed()
        await session.close()
