"""Named tokens: made once, kept as hashes, and taken away at once."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchwright import NotFoundError, UsageError
from benchwright.server import People
from benchwright.server._answers import Events
from benchwright.server._app import build_app
from benchwright.server._bodies import Empty
from benchwright.server._guard import Refusal
from benchwright.server._handlers import RestCall
from benchwright.server._keys import Keys
from benchwright.server._people import Access
from benchwright.server._routes import Route
from benchwright.server._state import ServerState
from benchwright.store import Workspace, open_store


def allowed(people: People, token: str) -> list[Access]:
    return [person.access for person in people.known if person.has(token)]


def test_a_token_is_kept_as_its_hash_and_works_until_it_is_taken_away(tmp_path: Path) -> None:
    people, server = People(Workspace(tmp_path)), People(Workspace(tmp_path))
    ann = people.add("ann", read_only=True)
    bob = people.add("bob", read_only=False)
    file = tmp_path / ".benchwright" / "tokens.json"
    assert ann not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [(each.name, each.read_only) for each in server.listed()] == [("ann", True), ("bob", False)]
    assert (allowed(server, ann), allowed(server, bob)) == ([Access.READ], [Access.FULL])
    assert allowed(server, server.listed()[0].digest) == []
    people.remove("ann")
    assert (allowed(server, ann), allowed(server, bob)) == ([], [Access.FULL])
    people.remove("bob")
    assert server.listed() == ()


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 65, "<b>", "a\n"])
def test_names_are_plain(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="not a name for a token"):
        People(Workspace(tmp_path)).add(name, read_only=False)


def test_a_name_is_given_once_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    people = People(Workspace(tmp_path))
    people.add("ann", read_only=False)
    with pytest.raises(UsageError, match="token rm ann"):
        people.add("ann", read_only=True)
    with pytest.raises(NotFoundError, match="ann"):
        people.remove("anm")


def test_a_damaged_file_lets_nobody_in(tmp_path: Path) -> None:
    people = People(Workspace(tmp_path))
    token = people.add("ann", read_only=False)
    (tmp_path / ".benchwright" / "tokens.json").write_text("{")
    assert allowed(people, token) == []
    with pytest.raises(UsageError, match="benchwright token add"):
        people.listed()


@pytest.mark.parametrize("read_only", [True, False])
def test_the_tabs_of_a_person_stop_with_the_token(tmp_path: Path, read_only: bool) -> None:
    people = People(Workspace(tmp_path))
    keys = Keys("token-of-all", people=People(Workspace(tmp_path)))
    own = {name: people.add(name, read_only=read_only) for name in ("ann", "bob")}
    tabs = {name: keys.exchange(token) for name, token in own.items()}
    for name, tab in tabs.items():
        assert tab.access == (Access.READ if read_only else Access.FULL)
        assert tab.token not in own.values()
        assert keys.exchange(own[name]) == tab
        keys.admit(f"Bearer {tab.token}", tab.access)
    if read_only:
        with pytest.raises(Refusal, match="only reads"):
            keys.admit(f"Bearer {tabs['ann'].token}", Access.FULL)
    people.remove("ann")
    people.add("ann", read_only=False)  # the name alone lets nobody in
    for token in (own["ann"], tabs["ann"].token):
        with pytest.raises(Refusal, match="token is wrong"):
            keys.admit(f"Bearer {token}", Access.READ)
        with pytest.raises(Refusal, match="did not give out"):
            keys.exchange(token)
    keys.admit(f"Bearer {tabs['bob'].token}", Access.READ)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_code_that_a_person_made_ends_with_the_token(tmp_path: Path, read_only: bool) -> None:
    people = People(Workspace(tmp_path))
    keys = Keys("token-of-all", people=People(Workspace(tmp_path)))
    ann = keys.admit(f"Bearer {people.add('ann', read_only=False)}", Access.FULL)
    assert ann is not None
    assert ann.name == "ann"
    asked = Access.READ if read_only else Access.FULL
    opened, unused = keys.new_code(asked, ann), keys.new_code(asked, ann)
    tab = keys.exchange(opened)
    assert tab.access == asked
    assert tab != keys.session(asked)
    assert keys.admit(f"Bearer {tab.token}", asked) == ann
    if read_only:
        with pytest.raises(Refusal, match="only reads"):
            keys.admit(f"Bearer {tab.token}", Access.FULL)
    people.remove("ann")
    with pytest.raises(Refusal, match="token is wrong"):
        keys.admit(f"Bearer {tab.token}", Access.READ)
    with pytest.raises(Refusal, match="was taken away"):
        keys.exchange(unused)


def test_a_tab_of_a_read_only_person_never_gets_more(tmp_path: Path) -> None:
    people = People(Workspace(tmp_path))
    keys = Keys("token-of-all", people=people)
    ann = keys.admit(f"Bearer {people.add('ann', read_only=True)}", Access.READ)
    for code in (keys.new_code(Access.FULL, ann), keys.new_code(Access.READ, ann)):
        with pytest.raises(Refusal, match="only reads"):
            keys.admit(f"Bearer {keys.exchange(code).token}", Access.FULL)


@pytest.mark.parametrize("writers", [2, 4])
def test_tokens_made_at_the_same_time_are_all_there(tmp_path: Path, writers: int) -> None:
    def add(writer: int) -> list[str]:
        people = People(Workspace(tmp_path))
        names = [f"w{writer}-{number}" for number in range(12)]
        return [name for name in names if people.add(name, read_only=False)]

    with ThreadPoolExecutor(writers) as pool:
        made = {name for names in pool.map(add, range(writers)) for name in names}
    assert {person.name for person in People(Workspace(tmp_path)).listed()} == made


_ADDS = """
import sys
from pathlib import Path
from benchwright.server import People
from benchwright.store import Workspace
people = People(Workspace(Path(sys.argv[1])))
for number in range(400):
    name = f"{sys.argv[2]}-{number}"
    people.add(name, read_only=True)
    print(name, flush=True)
"""


def test_a_killed_token_add_loses_no_token_and_leaves_no_lock(tmp_path: Path) -> None:
    told: set[str] = set()
    writers = [
        subprocess.Popen([sys.executable, "-c", _ADDS, str(tmp_path), f"w{number}"], stdout=subprocess.PIPE, text=True)
        for number in range(4)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        told.add(writer.stdout.readline().strip())  # it is at work now
        writer.kill()
        told.update(writer.stdout.read().split("\n")[:-1])  # whole lines only
        writer.stdout.close()
        writer.wait()
    people = People(Workspace(tmp_path))
    people.add("after", read_only=True)
    assert told < {person.name for person in people.listed()}


def test_a_stream_ends_when_its_token_is_taken_away(tmp_path: Path) -> None:
    people = People(Workspace(tmp_path))
    token = people.add("ann", read_only=True)
    going = asyncio.Event()

    async def ticks(state: ServerState, call: RestCall) -> AsyncIterator[bytes]:
        async def each() -> AsyncIterator[bytes]:
            yield b"data: 1\n\n"
            people.remove("ann")
            yield b"data: 2\n\n"
            going.set()

        return each()

    async def read() -> bytes:
        state = ServerState(
            open_store(Workspace(tmp_path)), Keys("token-of-all", people=People(Workspace(tmp_path)))
        )
        app = build_app(state, routes=[Route("GET", "/ticks", Access.READ, ticks, Events(Empty))])
        sent: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))

        headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {state.keys.exchange(token).token}".encode())]  # fmt: skip
        scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": "/ticks", "raw_path": b"/ticks", "query_string": b"", "headers": headers, "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "asgi": {"version": "3.0", "spec_version": "2.4"}}  # fmt: skip
        try:
            await app(scope, receive, send)
        finally:
            state.close()
        return b"".join(sent)

    assert asyncio.run(asyncio.wait_for(read(), 60)) == b"data: 1\n\n"
    assert not going.is_set()
