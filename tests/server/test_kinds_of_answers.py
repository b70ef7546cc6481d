"""What a route can answer with: one row and one function for each kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from starlette.testclient import TestClient

from benchwright.core import NotFoundError
from benchwright.server._answers import AnswerKind, AnyJson, Bytes, Events, HtmlPage, Json, Listed, encoded
from benchwright.server._app import build_app
from benchwright.server._bodies import RecordForm
from benchwright.server._guard import DATA_POLICY, PAGE_POLICY
from benchwright.server._keys import Access, Keys
from benchwright.server._routes import Route
from benchwright.server._state import ServerState
from benchwright.store import Page, Workspace, open_store


class Tick(Struct):
    n: int


async def ticks(state: Any, call: Any) -> AsyncIterator[Tick]:
    async def each() -> AsyncIterator[Tick]:
        for n in range(2):
            yield Tick(n)
            await asyncio.sleep(0)
        raise NotFoundError("the run is gone")

    return each()


async def one(state: Any, call: Any) -> Tick:
    return Tick(1)


class Record(Struct):
    key: str
    created_at: float
    output: bytes | None = None


FORM = RecordForm("RecordBody", "A record.", Record, "key=step_key output created_at")


async def records(state: Any, call: Any) -> Page[Record]:
    return Page([Record("a", 0.0, b"[1]"), Record("b", 0.5)], 2)


async def document(state: Any, call: Any) -> dict[str, Any]:
    return {"n": 1, "half": "\ud800"}


async def picture(state: Any, call: Any) -> bytes:
    return b"\x89PNG"


async def shell(state: Any, call: Any) -> bytes:
    return b"<!doctype html>"


ROWS = (
    Route("GET", "/json", Access.OPEN, one, Json(Tick)),
    Route("GET", "/list", Access.OPEN, records, Listed("RecordPage", "Records.", "records", FORM)),
    Route("GET", "/document", Access.OPEN, document, AnyJson()),
    Route("GET", "/bytes", Access.OPEN, picture, Bytes("image/png")),
    Route("GET", "/page", Access.OPEN, shell, HtmlPage()),
    Route("GET", "/events", Access.OPEN, ticks, Events(Tick)),
)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    state = ServerState(open_store(Workspace(tmp_path)), Keys("token-of-all"))
    with closing(state):
        yield TestClient(build_app(state, routes=ROWS), base_url="http://localhost")


GONE = b'{"error":{"code":"not_found","message":"the run is gone","hint":null,"retryable":false}}'


@pytest.mark.parametrize(
    ("path", "kind", "policy", "body"),
    [
        ("/json", "application/json", DATA_POLICY, b'{"n":1}'),
        ("/list", "application/json", DATA_POLICY,
         b'{"records":[{"step_key":"a","output":"[1]","created_at":"1970-01-01T00:00:00.000000Z"},'
         b'{"step_key":"b","output":null,"created_at":"1970-01-01T00:00:00.500000Z"}],"next":2}'),
        ("/document", "application/json", DATA_POLICY, rb'{"n":1,"half":"\ud800"}'),
        ("/bytes", "image/png", DATA_POLICY, b"\x89PNG"),
        ("/page", "text/html", PAGE_POLICY, b"<!doctype html>"),
        ("/events", "text/event-stream", DATA_POLICY, b'data: {"n":0}\n\ndata: {"n":1}\n\nevent: error\ndata: ' + GONE + b"\n\n"),
    ],
)  # fmt: skip
def test_a_kind_of_answer(client: TestClient, path: str, kind: str, policy: str, body: bytes) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert answer.headers["content-security-policy"] == policy
    assert answer.content == body


def test_every_kind_is_shown_here() -> None:
    assert {type(row.answer) for row in ROWS} == set(AnswerKind.__subclasses__())


class Told(Struct):
    value: Any


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\ud800", rb'"\ud800"'),
        (10**30, b"1" + b"0" * 30),
        (float("nan"), b"null"),
        ({"a": None}, b'{"a":null}'),
    ],
)
def test_values_that_are_hard_to_write(value: Any, text: bytes) -> None:
    assert encoded(Told(value)) == b'{"value":' + text + b"}"


def test_every_file_of_the_pages_is_in_the_wheel() -> None:
    from hatchling.builders.wheel import WheelBuilder

    from benchwright.reports.pages.report import APP
    from benchwright.server import _page_files

    root = Path(__file__).parents[2]
    packed = {Path(file.distribution_path) for file in WheelBuilder(str(root)).recurse_included_files()}
    files = {path.relative_to(root / "src") for path in APP.iterdir()}
    assert {path.name for path in files} >= {_page_files.SHELL, *_page_files.PAGE_FILES}
    assert files <= packed
