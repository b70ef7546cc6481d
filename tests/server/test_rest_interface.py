"""The REST interface: runs, steps, metrics and events over real HTTP."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import warm
from benchwright import runs as run_acts
from benchwright.core import step_key
from benchwright.server import ServerAddress, ServerSettings, serving
from benchwright.server._routes import ROUTES, Route, openapi_document
from benchwright.server._serving import _bind
from benchwright.store import Store, Workspace, open_store
from stored_steps import stored_step
from waiting import PATIENCE_S


class Client:
    """A few lines of HTTP, as any language has them."""

    def __init__(self, address: ServerAddress) -> None:
        self.token = address.token
        self.host = address.url.removeprefix("http://")

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = "",
        headers: dict[str, str] | None = None,
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE_S)
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token or self.token}"
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, sent)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        yield Client(address)


def code_of(answer: tuple[int, Any]) -> tuple[int, str]:
    error = answer[1]["error"]
    assert set(error) == {"code", "message", "hint", "retryable"}
    return answer[0], error["code"]


def test_a_run_from_begin_to_end(client: Client) -> None:
    status, health = client("GET", "/health")
    assert (status, health["service"], health["pid"]) == (200, "benchwright", os.getpid())
    _, created = client("POST", "/runs", {"workflow_name": "wf", "input": '{"a":null}'})
    run = created["run_id"]
    begin = {"run_id": run, "step_key": "s", "input_hash": "h1", "input": '{"x":1}'}
    _, decision = client("POST", "/steps/begin", begin)
    assert decision["decision"] == "run"
    assert client("POST", "/steps/complete", {"step_id": decision["step_id"], "output": '{"y":null}'}) == (
        200,
        {},
    )
    _, again = client("POST", "/steps/begin", begin)
    assert (again["decision"], again["output"]) == ("reuse", '{"y":null}')
    assert (
        client("POST", f"/runs/{run}/metrics", {"metric_name": "acc", "metric_value": 0.5, "step_key": "s"})[
            0
        ]
        == 200
    )
    assert client("POST", f"/runs/{run}/events", {"type": "note", "message": "hi", "data": [1]})[0] == 200
    assert client("POST", f"/runs/{run}/output", {"output": "[1]"}) == (200, {})
    assert client("POST", f"/runs/{run}/complete") == (200, {})
    assert client("POST", f"/runs/{run}/complete") == (200, {})  # said twice
    _, told = client("GET", f"/runs/{run}")
    assert (told["status"], told["input"], told["output"]) == ("completed", '{"a":null}', "[1]")
    assert told["started_at"].endswith("Z")
    _, steps = client("GET", f"/runs/{run}/steps")
    assert [(s["step_key"], s["status"], s["input"]) for s in steps["steps"]] == [
        ("s", "completed", '{"x":1}')
    ]
    _, metrics = client("GET", f"/runs/{run}/metrics")
    assert metrics["metrics"][0]["step_id"] == steps["steps"][0]["id"]
    _, events = client("GET", f"/runs/{run}/events")
    assert "note" in [event["type"] for event in events["events"]]
    assert code_of(client("POST", f"/runs/{run}/output", {"output": "2"})) == (409, "run_closed")


def test_samples_come_by_page_and_filter(tmp_path: Path) -> None:
    async def write(store: Store, run_id: int) -> None:
        writer = store.step_writer(run_id)
        records = [
            b'{"o":"scored","t":"4","s":{"right":%s}}' % (b"true" if row % 2 else b"false")
            for row in range(6)
        ]
        steps = [
            stored_step(step_key("score", row, 0), b"h", b"{}", each, False, 1.0, 2.0)
            for row, each in enumerate(records)
        ]
        await writer.append(steps)
        await writer.close()

    with open_store(Workspace(tmp_path)) as store:
        run = store.create_run(name="b", target="b", model="m", folder=None, settings={}, manifest={}).id
        asyncio.run(write(store, run))
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        client = Client(address)
        seen, after = [], ""
        while after is not None:
            _, page = client("GET", f"/runs/{run}/samples?verdict=wrong&limit=2{after and f'&after={after}'}")
            seen += [(sample["sample_id"], sample["scores"]) for sample in page["samples"]]
            after = page["next"]
        assert seen == [(row, {"right": False}) for row in (0, 2, 4)]
        _, page = client("GET", f"/runs/{run}/samples?metric=right&above=0.5&scored=true")
        assert [sample["sample_id"] for sample in page["samples"]] == [1, 3, 5]
        assert code_of(client("GET", f"/runs/{run}/samples?metric=right&below=much")) == (422, "invalid")
        assert client("GET", f"/runs/{run}/samples?below=1")[0] == 422
        assert client("GET", "/runs/99/samples")[0] == 404


def test_pages_go_on_where_the_last_ended(client: Client) -> None:
    runs = [client("POST", "/runs", {"workflow_name": f"w{k}"})[1]["run_id"] for k in range(5)]
    seen, after = [], ""
    while True:
        _, page = client("GET", f"/runs?limit=2{after}")
        seen += [run["id"] for run in page["runs"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == runs[::-1]


def test_a_changed_input_is_a_conflict_that_shows_the_difference(client: Client) -> None:
    run = client("POST", "/runs", {"workflow_name": "wf"})[1]["run_id"]
    first = {"run_id": run, "step_key": "s", "input_hash": "a" * 64, "input": '{"n":1}'}
    step = client("POST", "/steps/begin", first)[1]["step_id"]
    client("POST", "/steps/complete", {"step_id": step, "output": "1"})
    answer = client("POST", "/steps/begin", {**first, "input_hash": "b" * 64, "input": '{"n":2}'})
    assert code_of(answer) == (409, "input_changed")
    assert "n" in answer[1]["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/runs/77", None, (404, "not_found")),
        ("GET", "/runs/x", None, (422, "invalid")),
        ("GET", "/runs?limit=0", None, (422, "invalid")),
        ("GET", "/runs?limit=5000", None, (422, "invalid")),
        ("GET", "/runs?kind=odd", None, (422, "invalid")),
        ("GET", "/nothing", None, (404, "not_found")),
        ("DELETE", "/runs", None, (405, "method")),
        ("POST", "/runs", b"{", (400, "malformed")),
        ("POST", "/runs", b"", (400, "no_body")),
        ("POST", "/runs", b"[1]", (422, "invalid")),
        ("POST", "/runs", {"workflow_name": ""}, (422, "invalid")),
        ("POST", "/runs", {"workflow_name": "w", "input": "{"}, (422, "not_json")),
        ("POST", "/runs/77/complete", {}, (404, "not_found")),
        ("POST", "/runs/77/metrics", {"metric_name": "m", "metric_value": 1}, (404, "not_found")),
        ("POST", "/steps/complete", {"step_id": 9, "output": "1"}, (404, "not_found")),
        ("POST", "/steps/begin", {"run_id": 77, "step_key": "s", "input_hash": "h"}, (404, "not_found")),
        ("POST", "/dataset/init", {"source": "/etc/passwd"}, (422, "invalid")),
        ("POST", "/datasets/batch", {"source": "hf://a/b", "offset": 0, "limit": 0}, (422, "invalid")),
    ],
)
def test_refusals_have_one_shape(
    client: Client, method: str, path: str, body: Any, expected: tuple[int, str]
) -> None:
    assert code_of(client(method, path, body)) == expected


BODIES = [
    (route, place)
    for route in ROUTES
    if route.body is not None
    for place in (re.sub(r"\{\w+\}", "1", route.path),)
]


@pytest.mark.parametrize(
    ("route", "place"), BODIES, ids=[f"{route.method} {place}" for route, place in BODIES]
)
def test_unknown_fields_are_refused_with_the_near_name(client: Client, route: Route, place: str) -> None:
    assert route.body is not None
    for field in (*route.body.__struct_fields__, "x"):
        answer = client(route.method, place, {f"{field}s": 1})
        assert code_of(answer) == (422, "invalid")
        message = answer[1]["error"]["message"]
        assert f"{field}s: there is no such field" in message
        assert field == "x" or f"Did you mean '{field}'" in message


@pytest.mark.parametrize(
    ("route", "place"), BODIES, ids=[f"{route.method} {place}" for route, place in BODIES]
)
def test_a_value_of_another_type_is_refused_with_its_field(client: Client, route: Route, place: str) -> None:
    assert route.body is not None
    for field in msgspec.structs.fields(route.body):
        if field.type is not Any:
            answer = client(route.method, place, f'{{"{field.encode_name}": [[]]}}'.encode())
            assert code_of(answer) == (422, "invalid")
            assert field.encode_name in answer[1]["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8765"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_web_pages_cannot_drive_it(client: Client, headers: dict[str, str]) -> None:
    for method, path, body in (("GET", "/runs", None), ("POST", "/runs", {"workflow_name": "w"})):
        assert client(method, path, body, headers=headers)[0] == 403
    assert client("GET", "/runs")[1]["runs"] == []


def test_large_and_packed_bodies(tmp_path: Path) -> None:
    with serving(Workspace(tmp_path), ServerSettings(port=0, max_body=200_000), acts=run_acts) as (
        address,
        _,
    ):
        client = Client(address)
        run = client("POST", "/runs", {"workflow_name": "w"})[1]["run_id"]
        fits = json.dumps({"output": json.dumps("x" * 150_000)}).encode()
        assert client("POST", f"/runs/{run}/output", fits)[0] == 200
        packed = gzip.compress(fits)
        assert client("POST", f"/runs/{run}/output", packed, headers={"Content-Encoding": "gzip"})[0] == 200
        answer = client("POST", f"/runs/{run}/output", b"x" * 300_000)
        assert code_of(answer) == (413, "too_large")
        assert "200000 bytes" in answer[1]["error"]["message"]
        bomb = gzip.compress(b" " * 50_000_000)
        answer = client("POST", f"/runs/{run}/output", bomb, headers={"Content-Encoding": "gzip"})
        assert code_of(answer) == (413, "too_large")
        answer = client("POST", f"/runs/{run}/output", b"not gzip", headers={"Content-Encoding": "gzip"})
        assert code_of(answer) == (400, "bad_gzip")
        answer = client("POST", f"/runs/{run}/output", fits, headers={"Content-Encoding": "br"})
        assert code_of(answer) == (415, "encoding")


def test_the_next_server_goes_on_with_runs_of_one_that_died(tmp_path: Path) -> None:
    (tmp_path / ".benchwright").mkdir()
    server = _started(tmp_path)
    client, process = server
    run = client("POST", "/runs", {"workflow_name": "w"})[1]["run_id"]
    begin = {"run_id": run, "step_key": "s", "input_hash": "h"}
    step = client("POST", "/steps/begin", begin)[1]["step_id"]
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE_S)
    _close(process)
    client, process = _started(tmp_path)
    try:
        assert client("GET", f"/runs/{run}")[1]["status"] == "interrupted"
        answer = client("POST", "/steps/begin", begin)[1]
        assert (answer["decision"], answer["step_id"], answer["attempt"]) == ("run", step, 2)
        stale = client("POST", "/steps/complete", {"step_id": step, "output": "1", "attempt": 1})
        assert code_of(stale) == (409, "stale_attempt")
        assert client("POST", "/steps/complete", {"step_id": step, "output": "1", "attempt": 2}) == (200, {})
        assert client("POST", f"/runs/{run}/complete") == (200, {})
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        _close(process)
    assert not (tmp_path / ".benchwright" / "server.json").exists()


def _close(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    process.stdout.close()


def _started(folder: Path) -> tuple[Client, subprocess.Popen[str]]:
    process = warm.Popen(
        [sys.executable, "-m", "benchwright", "serve", "--port", "0", "--json", "--workspace", str(folder)],
        stdout=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    assert process.stdout is not None
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, "the server ended while starting"
        text += line
    told = json.loads(text)
    return Client(ServerAddress(told["url"], told["token"])), process


def test_the_token_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    _, process = _started(tmp_path)
    try:
        record = tmp_path / ".benchwright" / "server.json"
        assert record.stat().st_mode & 0o077 == 0
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
        _close(process)


def test_the_description_names_every_route() -> None:
    document = openapi_document()
    assert document["openapi"].startswith("3.1")
    for path in ("/health", "/dataset/init", "/datasets/init", "/datasets/batch", "/dataset/batch", "/steps/begin",
                 "/runs/{run_id}/events"):  # fmt: skip
        assert path in document["paths"]
    assert document["paths"]["/runs"]["post"]["security"] == [{"token": []}]
    assert document["paths"]["/runs"]["get"]["security"] == [{"token": []}]


def test_the_clients_of_workflows_speak_it(client: Client) -> None:
    from benchwright import BenchwrightClient, workflow

    async def handler(input_value: Any, ctx: Any) -> Any:
        doubled = await ctx.step(
            step_key="double", execute=lambda: input_value["n"] * 2, input_value=input_value
        )
        await ctx.emit("doubled", doubled)
        await ctx.event("told", "yes")
        return {"doubled": doubled, "none": None}

    async def main() -> None:
        async with BenchwrightClient(base_url=f"http://{client.host}", token=client.token) as rest:
            run = await rest.create_run("wf", {"n": 4})
            value = await rest.run_step(
                run_id=run.id, step_key="s", input_value=1, execute=lambda: {"a": None}
            )
            assert value == {"a": None}
            await rest.set_run_output(run.id, [1, None])
            await rest.complete_run(run.id)
            assert (await rest.get_run(run.id)).output == [1, None]

    asyncio.run(main())
    environment = {"BENCHWRIGHT_BASE_URL": f"http://{client.host}", "BENCHWRIGHT_TOKEN": client.token}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        assert asyncio.run(workflow("wf", handler).run({"n": 4})) == {"doubled": 8, "none": None}
    runs = client("GET", "/runs?name=wf")[1]["runs"]
    assert [run["status"] for run in runs] == ["completed", "completed"]


@pytest.mark.slow
def test_schemathesis_finds_no_server_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "HF_HUB_OFFLINE", "1"
    )  # no hub: one that cannot be reached is a 502, which is a server's error
    with serving(Workspace(tmp_path), acts=run_acts) as (address, _):
        done = subprocess.run(
            [str(Path(sys.executable).with_name("schemathesis")), "run", f"{address.url}/openapi.json",
             "-H", f"Authorization: Bearer {address.token}", "--max-examples", "6", "--phases", "coverage,fuzzing",
             "--exclude-path", "/live",  # a stream that does not end
             "--exclude-checks", "positive_data_acceptance", "--request-timeout", str(PATIENCE_S), "--no-color", "--seed", "7"],
            capture_output=True, text=True, timeout=3 * PATIENCE_S, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-500:]}"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1e999"])
def test_numbers_that_are_not_finite_are_refused_with_their_place(client: Client, number: str) -> None:
    run = client("POST", "/runs", {"workflow_name": "wf"})[1]["run_id"]
    point = f'{{"metric_name": "m", "metric_value": {number}}}'.encode()
    answer = client("POST", f"/runs/{run}/metrics", point)
    assert code_of(answer) == (422, "invalid")
    assert "$.metric_value" in answer[1]["error"]["message"]
    event = f'{{"type": "t", "data": {{"x": [{number}]}}}}'.encode()
    assert code_of(client("POST", f"/runs/{run}/events", event)) == (422, "invalid")


def test_long_numbers_and_half_characters_are_told_as_recorded(client: Client) -> None:
    text = '{"n":1000000000000000000000000000000}'
    run = client("POST", "/runs", {"workflow_name": "wf", "input": text})[1]["run_id"]
    client("POST", f"/runs/{run}/events", {"type": "t", "data": {"n": "10"}})
    client("POST", f"/runs/{run}/complete", {"output": text})
    told = client("GET", f"/runs/{run}")[1]
    assert (told["input"], told["output"]) == (text, text)


@pytest.mark.parametrize(
    "path", ["/runs", "/steps/begin", "/steps/complete", "/runs/1/events", "/runs/1/metrics"]
)
def test_a_body_that_breaks_off_anywhere_is_malformed(client: Client, path: str) -> None:
    """Wherever it ends: also after a field that is wrong by itself."""
    for body in (
        b'{"none": [1, "two"], "type": 3}',
        b'{"workflow_name": 5, "step_key": {"a": null}, "none": true}',
    ):
        for end in range(1, len(body)):
            assert code_of(client("POST", path, body[:end])) == (400, "malformed"), body[:end]
        assert code_of(client("POST", path, body)) == (422, "invalid")


def test_replies_are_sent_at_once() -> None:
    """Without this option, the second of two small pieces waits for the client's acknowledgement, which takes 40 ms."""

    async def main() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def connected(_: object, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            found.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with _bind(ServerSettings(port=0), None) as bound:
            async with await asyncio.start_server(connected, sock=bound):
                _, writer = await asyncio.open_connection(*bound.getsockname())
                writer.close()
                return await found

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize("depth", [2_000, 100_000])
@pytest.mark.parametrize("path", ["/runs", "/steps/begin", "/runs/1/events", "/runs/1/metrics"])
def test_bodies_that_are_nested_too_deeply_are_refused_and_the_server_lives(
    client: Client, path: str, depth: int
) -> None:
    client("POST", "/runs", {"workflow_name": "wf"})
    for body in ("[" * depth + "]" * depth, '{"data":' * depth + "1" + "}" * depth):
        status, _ = code_of(client("POST", path, body.encode()))
        assert 400 <= status < 500
    assert client("GET", "/health")[0] == 200
