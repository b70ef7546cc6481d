"""Refusals name fields: who sends requests has no command line, so no message tells them to give a flag."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

import msgspec
import pytest
from starlette.testclient import TestClient
from test_pages_in_a_browser import folder

import benchwright
from benchwright import runs as run_acts
from benchwright.core import BenchwrightError, UsageError
from benchwright.server._app import build_app
from benchwright.server._guard import in_fields, refusal_of
from benchwright.server._keys import Keys
from benchwright.server._routes import REST, Route
from benchwright.server._state import ServerState
from benchwright.store import Workspace, open_store

__all__ = ["folder"]

PACKAGE = Path(benchwright.__file__).parent
ROOMS = (
    "core",
    "store",
    "datasets",
    "results",
    "runs",
    "workflows",
    "engine",
    "endpoints",
    "scorers",
    "config",
)
"""Rooms whose errors the server can answer with."""
COMMAND = re.compile(r"`[^`]*`|\b(?:benchwright|python) \S.*?(?=[,;)]|\. |\.?$)", re.DOTALL)
"""A command that is written out, which a person can run."""
FLAG = re.compile(r"(?<![\w-])--[a-z]")


def flags_in(text: str) -> list[str]:
    return FLAG.findall(COMMAND.sub("", text))


def messages(folder: Path) -> Iterator[tuple[str, str]]:
    """Every message with a flag that code in a folder raises, with a letter in place of what is filled in."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or node.exc is None:
                continue
            for part in ast.walk(node.exc):
                if isinstance(part, ast.JoinedStr):
                    text = "".join(str(v.value) if isinstance(v, ast.Constant) else "X" for v in part.values)
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    text = part.value
                else:
                    continue
                if FLAG.search(text):
                    yield f"{path.parent.name}/{path.name}:{part.lineno}", text


def test_every_message_of_the_rooms_loses_its_flags_at_the_door() -> None:
    found = [(where, text) for room in ROOMS for where, text in messages(PACKAGE / room)]
    assert len(found) > 100
    for where, text in found:
        assert not flags_in(refusal_of(UsageError(text)).message), where


def test_the_server_writes_no_flag_itself() -> None:
    """But for what it says before it listens, which is for the person at the terminal."""
    before = {"server/_settings.py", "server/_serving.py"}
    for where, text in messages(PACKAGE / "server"):
        assert where.partition(":")[0] in before or not flags_in(text), where


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add --force", "add force"),
        ("Choose one with --as NAME", "Choose one with name"),
        (
            "Give it another name: --as quiz-load, or --force",
            "Give it another name: name quiz-load, or force",
        ),
        ("choose another --workspace.", "choose another workspace."),
        ("--accept-cached takes it", "accept_cached takes it"),
        ("see: benchwright show 7 --steps", "see: benchwright show 7 --steps"),
        ("run `benchwright serve --new-code` with --force", "run `benchwright serve --new-code` with force"),
        ("the name is '--force'", "the name is '--force'"),
        ("the judge's --template and the run's --name", "the judge's template and the run's name"),
        ("a -- b --- c a--b", "a -- b --- c a--b"),
    ],
)
def test_flags_become_fields(text: str, said: str) -> None:
    assert in_fields(text) == said


def test_errors_keep_their_status() -> None:
    assert (refusal_of(UsageError("--x")).status, refusal_of(BenchwrightError("--x")).code) == (
        422,
        "refused",
    )


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    state = ServerState(open_store(Workspace(folder)), Keys("token-of-all"), run_acts)
    with TestClient(build_app(state), base_url="http://127.0.0.1") as client:
        client.headers["Authorization"] = "Bearer token-of-all"
        yield client
    state.close()


NUMBERS = ("1", "3", "5", "6", "999", "nine")
"""Runs of every kind, one that goes on, one that is not there, and what is no number."""
TEXTS = ("", "x", "question", "1,2", "1,3", "3,5", "1,5")


def places(route: Route) -> Iterator[str]:
    names = re.findall(r"\{\w+\}", route.path)
    for number in NUMBERS if names else ("",):
        path = route.path
        for at, name in enumerate(names):
            path = path.replace(name, number if at == 0 else "0" if at == 1 else "1")
        yield path


def bodies(route: Route) -> Iterator[Any]:
    """A body with each field in turn set to what is wrong or odd, the others to something plain."""
    yield from (None, [], {}, {"nonsense": 1})
    if route.body is None:
        return
    fields = msgspec.structs.fields(route.body)
    plain = {field.encode_name: plain_value(field.type) for field in fields}
    yield plain
    for field, value in itertools.product(fields, ("", "last", "../x", -1, True, None, {})):
        yield plain | {field.encode_name: value}


def plain_value(kind: Any) -> Any:
    kinds = {type(kind), *map(type, get_args(kind))}
    for known, value in ((str, "x"), (bool, False), (int, 1), (float, 1.0), (dict, {})):
        if kind is known or known in get_args(kind) or known in kinds:
            return value
    return "x"


SLOW = {"/live"}  # it does not end
AWAY = {"/runs/{run_id}/continue"}  # it starts a process
LAST = ("/cancel", "/remove")


@pytest.mark.parametrize(
    "route",
    sorted(REST, key=lambda route: route.path.endswith(LAST)),
    ids=lambda route: f"{route.method} {route.path}",
)
def test_no_answer_of_a_route_names_a_flag(client: TestClient, route: Route) -> None:
    if route.path in SLOW | AWAY:
        return
    for path in places(route):
        if route.method == "POST":
            answers = (client.post(path, json=body) for body in bodies(route))
        else:
            asked = [(query.name, value) for query in route.query for value in (*TEXTS, *query.choices)]
            answers = (client.get(f"{path}?{urlencode([pair])}") for pair in [*asked, ("limit", "1")])
        for answer in answers:
            if answer.status_code == 200:
                continue
            error = answer.json()["error"]
            assert error["code"] != "internal", (path, error)
            assert not flags_in(f"{error['message']}\n{error['hint']}"), (path, error)
