"""Tools of `call_llm`, and `run_agent`: what the model is offered, what it gets back, and what a resumed run does not repeat."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from benchwright import AgentResult, LLMError, UsageError, WorkflowContext, call_llm, run_agent, workflow
from benchwright.demo import DemoServer, DemoSettings, demo_server
from benchwright.workflows._llm_tools import tool_of
from recording_server import RecordingServer, recording

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "agent" / "agent.py"


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[DemoServer]:
    monkeypatch.chdir(tmp_path)
    with demo_server(DemoSettings(skill=1.0)) as server:
        yield server


def weather(
    city: str, days: int = 1, unit: Literal["C", "F"] = "C", stations: list[str] | None = None
) -> str:
    """Weather of a city."""
    return f"{days} days of sun in {city}, in °{unit}"


def test_a_function_is_described_by_its_signature() -> None:
    assert tool_of(weather) == {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "unit": {"type": "string", "enum": ["C", "F"]},
                    "stations": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["city"],
            },
        },
    }
    assert tool_of(tool_of(weather)) == tool_of(weather)


def test_a_model_calls_the_offered_function(demo: DemoServer) -> None:
    ask = [{"role": "user", "content": "What is the weather in Paris?"}]
    reply = asyncio.run(call_llm("openai", "demo", ask, base_url=demo.url, tools=[weather], temperature=0))
    (call,) = reply["tool_calls"]
    assert (call["name"], call["arguments"], call["error"]) == ("weather", {"city": "Paris"}, None)
    assert call["id"]
    assert reply["finish_reason"] == "tool_calls"
    without = asyncio.run(
        call_llm("openai", "demo", ask, base_url=demo.url, tools=[weather], tool_choice="none", temperature=0)
    )
    assert without["tool_calls"] == []


def anything(*names: str) -> str:
    """Takes what a model cannot fill."""
    return ""


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ("weather", "a list of functions"),
        ([7], "is not a tool"),
        ([{"name": "f"}], "is not a tool"),
        ([lambda city: city], "has no name"),
        ([anything], "a model cannot fill"),
        ([weather, weather], "two tools are called 'weather'"),
    ],
)
def test_what_is_no_tool_is_refused(demo: DemoServer, tools: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        asyncio.run(
            call_llm("openai", "demo", [{"role": "user", "content": "x"}], base_url=demo.url, tools=tools)
        )


def test_a_choice_without_tools_is_refused(demo: DemoServer) -> None:
    with pytest.raises(UsageError, match="give tools"):
        asyncio.run(call_llm("demo", None, [{"role": "user", "content": "x"}], tool_choice="auto"))


def calling(*calls: tuple[str, str]) -> dict[str, Any]:
    sent = [
        {"id": f"id-{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    return {"content": None, "tool_calls": sent}


def script(*answers: Any) -> Any:
    """A model that gives these answers in the order of a conversation's replies."""
    return lambda body: answers[sum(message["role"] == "assistant" for message in body["messages"])]


CARRIED_OUT: list[tuple[str, Any]] = []


def add(a: int, b: int) -> int:
    """Add two numbers."""
    CARRIED_OUT.append(("add", (a, b)))
    return a + b


async def divide(a: float, b: float) -> float:
    """Divide two numbers."""
    CARRIED_OUT.append(("divide", (a, b)))
    return a / b


def agent(server: RecordingServer, tmp_path: Path, resume: int | None = None, **options: Any) -> AgentResult:
    async def handler(ctx: WorkflowContext) -> Any:
        return await run_agent(
            ctx, "openai", "m", [{"role": "user", "content": "Work it out."}], tools=[add, divide],
            base_url=server.url, **options,
        )  # fmt: skip

    result: Any = asyncio.run(workflow("agent", handler).run(workspace=tmp_path, resume=resume))
    return result


@pytest.fixture(autouse=True)
def _nothing_yet() -> None:
    CARRIED_OUT.clear()


def test_calls_are_carried_out_and_their_results_go_back(tmp_path: Path) -> None:
    first = calling(
        ("add", '{"a": 1, "b": 2}'), ("divide", '{"a": 1, "b": 0}'), ("multiply", "{}"), ("add", "{broken")
    )
    with recording(script(first, calling(("add", '{"a": 3}')), "It is 3.")) as server:
        result = agent(server, tmp_path)
    assert (result["content"], result["model_calls"], result["tool_calls"], result["stopped"]) == (
        "It is 3.",
        3,
        5,
        False,
    )
    assert CARRIED_OUT == [("add", (1, 2)), ("divide", (1, 0))]
    results = [message for message in server.bodies[1]["messages"] if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in results] == ["id-0", "id-1", "id-2", "id-3"]
    added, divided, unknown, broken = (message["content"] for message in results)
    assert added == "3"
    assert "ZeroDivisionError" in divided
    assert "there is not a tool 'multiply'; there are add, divide" in unknown
    assert "not JSON" in broken
    assert "missing a required argument" in server.bodies[2]["messages"][-1]["content"]
    assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["add", "divide"]


def test_a_model_that_never_answers_is_stopped(tmp_path: Path) -> None:
    with recording(lambda body: calling(("add", '{"a": 1, "b": 1}'))) as server:
        result = agent(server, tmp_path, max_steps=3)
    assert (result["stopped"], result["model_calls"], len(server.bodies)) == (True, 3, 3)


def test_a_resumed_agent_neither_asks_nor_acts_twice(tmp_path: Path) -> None:
    calls = [calling(("add", '{"a": 1, "b": 2}')), calling(("divide", '{"a": 6, "b": 2}'))]
    broken = [False]

    def reply(body: dict[str, Any]) -> Any:
        replies = sum(message["role"] == "assistant" for message in body["messages"])
        if replies == 2 and not broken[0]:
            broken[0] = True
            return {"content": 7}  # no reply at all: the run fails here
        return calls[replies] if replies < 2 else "It is 3."

    with recording(reply) as server:
        with pytest.raises(LLMError):
            agent(server, tmp_path, retries=0)
        asked = len(server.bodies)
        result = agent(server, tmp_path, resume=1)
        assert len(server.bodies) == asked + 1
    assert result["content"] == "It is 3."
    assert [name for name, _ in CARRIED_OUT] == ["add", "divide"]


def test_the_example_runs_and_its_steps_are_recorded(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "3 steps" in done.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "benchwright", "show", "1", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    output = json.loads(shown.stdout)["run"]["output"]
    assert '"pieces":4' in str(output)
