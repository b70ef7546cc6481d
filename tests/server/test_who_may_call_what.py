"""Who may call what: every route of the table, at each of its places, against every kind of caller that must be refused."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from benchwright import runs as run_acts
from benchwright.server import ServerAddress, ServerSettings, serving
from benchwright.server._answers import Events
from benchwright.server._app import build_app
from benchwright.server._guard import DATA_POLICY, PAGE_POLICY
from benchwright.server._keys import CODE_VALID_S, MOST_CODES, Keys
from benchwright.server._page_files import PAGE_FILES
from benchwright.server._people import Access, People
from benchwright.server._routes import API, PAGES, REST, ROUTES, Route
from benchwright.server._state import ServerState
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
}


class Answered(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> tuple[int, str]:
        error = json.loads(self.body)["error"]
        assert set(error) == {"code", "message", "hint", "retryable"}
        return self.status, error["code"]


class Asking:
    """Sends requests to one server."""

    def __init__(self, address: ServerAddress, keys: Keys) -> None:
        self.token, self.keys = address.token, keys
        self.reader = self.writer = self.gone = self.tab_of_gone = ""
        self._host = address.url.removeprefix("http://")

    def __call__(
        self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str
    ) -> Answered:
        connection = http.client.HTTPConnection(self._host, timeout=PATIENCE_S)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            # HTTPMessage joins nothing: a header that is there twice would let a browser choose.
            assert len(told) == len(answer.getheaders())
            # Whoever asks, and whatever is refused: no answer can be framed, stored or guessed at.
            assert told.items() >= HEADERS.items()
            assert "frame-ancestors 'none'" in told["content-security-policy"]
            stream = told.get("content-type", "").startswith(
                "text/event-stream"
            )  # it does not end: one event tells enough
            return Answered(answer.status, told, answer.readline() if stream else answer.read())
        finally:
            connection.close()


def _asking(folder: Path, *, open_reads: bool = False) -> Iterator[Asking]:
    with serving(Workspace(folder), ServerSettings(port=0, open_reads=open_reads), acts=run_acts) as (
        address,
        state,
    ):
        asking = Asking(address, state.keys)
        people = People(Workspace(folder))
        asking.reader = people.add("reader", read_only=True)
        asking.writer = people.add("writer", read_only=False)
        asking.gone = people.add("gone", read_only=False)
        asking.tab_of_gone = state.keys.exchange(asking.gone).token
        people.remove("gone")
        assert asking("POST", "/runs", {"workflow_name": "w"}, asking.token).status == 200
        yield asking


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    yield from _asking(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def ask_open(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    yield from _asking(tmp_path_factory.mktemp("open"), open_reads=True)


def place(route: Route) -> str:
    return re.sub(r"\{\w+\}", "1", route.path)


def sent_body(route: Route) -> Any:
    """A body that no route can use: what is refused for another reason is not refused for this one."""
    return None if route.method == "GET" else {"nonsense": 1}


def is_admitted(answer: Answered) -> bool:
    """Whether the request got as far as its handler: it was answered, or only its body was refused, or what it names is not there."""
    return answer.status == 200 or answer.code in ((422, "invalid"), (404, "not_found"))


EVERY = pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")


@EVERY
def test_without_a_token_only_open_routes_answer(ask: Asking, route: Route) -> None:
    used, unused = ask.keys.new_code(), ask.keys.new_code()
    ask.keys.exchange(used)
    wrong = [None, "", "wrong", ask.token[:-1], ask.token + "x", used, unused, API, ask.gone, ask.tab_of_gone]
    for token in wrong:
        answer = ask(route.method, place(route), sent_body(route), token)
        if route.needs is Access.OPEN:
            assert is_admitted(answer)
        else:
            assert answer.code == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"


@EVERY
def test_a_token_that_reads_does_nothing_else(ask: Asking, route: Route) -> None:
    for token in (ask.keys.session(Access.READ).token, ask.reader):
        refuses_changes(ask, route, token)


@EVERY
def test_tokens_for_everything_are_admitted_everywhere(ask: Asking, route: Route) -> None:
    for token in (ask.keys.session(Access.FULL).token, ask.writer):
        assert ask(route.method, place(route), sent_body(route), token).status not in (401, 403)


def refuses_changes(ask: Asking, route: Route, token: str) -> None:
    answer = ask(route.method, place(route), sent_body(route), token)
    if route.needs is Access.FULL:
        assert answer.code == (403, "read_only")
    else:
        assert is_admitted(answer)


@EVERY
def test_open_reads_open_what_reads_and_nothing_else(ask_open: Asking, route: Route) -> None:
    answer = ask_open(route.method, place(route), sent_body(route))
    if route.needs is Access.FULL:  # hub datasets too: they are read with the owner's own token
        assert answer.code == (401, "unauthorized")
    else:
        assert is_admitted(answer)


FOREIGN: dict[str, dict[str, str]] = {
    "another host": {"Host": "evil.example"},
    "another name for this machine": {"Host": "evil.localhost:80"},
    "another origin": {"Origin": "http://evil.example"},
    "another port's origin": {"Origin": "http://127.0.0.1:1"},
    "no origin to name": {"Origin": "null"},
    "a script of another site": {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "cors"},
    "a script of another port": {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
    "a form of another site": {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
    "a frame": {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
    "an embedded object": {"Sec_Fetch_Site": "none", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "object"},
}  # fmt: skip


@EVERY
def test_other_pages_are_refused_even_with_the_token(ask: Asking, route: Route) -> None:
    for who, headers in FOREIGN.items():
        answer = ask(route.method, place(route), sent_body(route), ask.token, **headers)
        assert answer.status == 403, who
        assert answer.code[1] in ("forbidden_host", "forbidden_origin", "framed"), who


FOREIGN_TO_A_TEAM: dict[str, dict[str, str]] = {
    "this machine": {"Host": "127.0.0.1"},
    "a name of this machine": {"Host": "localhost"},
    "another name": {"Host": "evil.test"},
    "a name below": {"Host": "evil.bench.test"},
    "another origin": {"Origin": "https://evil.test"},
    "its origin without TLS": {"Origin": "http://bench.test"},
    "another port's origin": {"Origin": "https://bench.test:1"},
    "a name that no proxy forwards": {"Host": "evil.test", "X-Forwarded-Host": "bench.test"},
    "an origin that no proxy forwards": {"Origin": "https://evil.test", "X-Forwarded-Host": "evil.test"},
    "a frame": {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The application of a server with a name of its own. Nothing listens: no file of TLS is read."""
    place = Workspace(tmp_path_factory.mktemp("team"))
    state = ServerState(open_store(place), Keys("token-of-all", people=People(place)))
    settings = ServerSettings(host="bench.test", tls_cert="cert.pem", tls_key="key.pem")
    with TestClient(build_app(state, settings), base_url="https://bench.test") as client:
        client.headers["Authorization"] = "Bearer token-of-all"
        yield client
    state.close()


@EVERY
def test_a_server_for_a_team_answers_to_its_own_name_only(team: TestClient, route: Route) -> None:
    for who, headers in FOREIGN_TO_A_TEAM.items():
        answer = team.request(route.method, place(route), json=sent_body(route), headers=headers)
        assert answer.status_code == 403, who
        assert answer.json()["error"]["code"] in ("forbidden_host", "forbidden_origin", "framed"), who
        assert answer.headers["x-frame-options"] == "DENY"
    if isinstance(route.answer, Events):
        return  # it would not end here
    own = {"Host": "Bench.test:8765", "Origin": "https://Bench.test:8765", "X-Forwarded-Host": "evil.test"}
    assert team.request(route.method, place(route), json=sent_body(route), headers=own).status_code != 403
    nobody = team.request(route.method, place(route), json=sent_body(route), headers={"Authorization": ""})
    assert (nobody.status_code == 401) is (route.needs is not Access.OPEN)


@EVERY
def test_a_link_on_another_site_opens_pages_only(ask: Asking, route: Route) -> None:
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    answer = ask(route.method, place(route), sent_body(route), ask.token, **link)
    assert (answer.status == 403) is not route.answer.navigable
    if route.answer.navigable:
        assert route.needs is Access.OPEN


@EVERY
def test_every_answer_has_its_headers(ask: Asking, route: Route) -> None:
    policy = PAGE_POLICY if route.answer.navigable else DATA_POLICY
    for token, expected in (
        (ask.token, policy),
        (None, policy if route.needs is Access.OPEN else DATA_POLICY),
    ):
        answer = ask(route.method, place(route), sent_body(route), token)
        assert answer.headers.items() >= HEADERS.items()
        refused = answer.status != 200
        assert answer.headers["content-security-policy"] == (DATA_POLICY if refused else expected)
        assert "set-cookie" not in answer.headers
        if not refused:
            assert answer.headers["content-type"].partition(";")[0] == route.answer.media_type


@pytest.mark.parametrize("policy", [PAGE_POLICY, DATA_POLICY])
def test_policies_are_strict(policy: str) -> None:
    assert policy.startswith("default-src 'none'; ")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


@EVERY
def test_what_changes_something_is_not_called_by_get(ask: Asking, route: Route) -> None:
    """A route that only a full token may call, or that gives a token out, answers no GET and no HEAD."""
    reads = {known.path for known in ROUTES if known.method == "GET" and known.needs is not Access.FULL}
    if route.method == "GET":
        assert route.needs is not Access.FULL
        assert route.body is None
        return
    if route.path in reads:
        return  # the same place has a route that reads: it takes these requests
    for method in ("GET", "HEAD"):
        answer = ask(method, place(route), None, ask.token)
        assert answer.status == 405
        assert answer.headers["allow"] == "POST"


@EVERY
def test_reading_changes_nothing(ask: Asking, route: Route) -> None:
    if route.method != "GET":
        return
    code = ask.keys.new_code()
    before = ask("GET", "/runs/1", None, ask.token).body, ask("GET", "/runs/1/events", None, ask.token).body
    ask("GET", f"{place(route)}?code={code}", None, ask.token)
    after = ask("GET", "/runs/1", None, ask.token).body, ask("GET", "/runs/1/events", None, ask.token).body
    assert before == after
    assert ask("POST", "/api/token", {"code": code}).status == 200  # the code is still good


def test_what_is_open_has_no_data_and_what_writes_needs_everything() -> None:
    """Routes that need less than others of their method, one by one: a new one is a decision."""
    less = {
        (route.method, route.path)
        for route in ROUTES
        if route.needs < (Access.READ if route.method == "GET" else Access.FULL)
    }
    files = {("GET", f"/pages/{name}") for name in PAGE_FILES}
    assert less == {("GET", "/"), *files, ("POST", "/token"), ("POST", f"{API}/token")}


def test_places_that_no_route_has_are_hidden_without_the_token(ask: Asking) -> None:
    for method, path in (("GET", "/nothing"), ("GET", "/pages/../_app.py"), ("GET", "/pages/index.html"), ("GET", "/pages/%2e%2e/_app.py"), ("DELETE", "/"), ("DELETE", "/runs")):  # fmt: skip
        assert ask(method, path).code == (401, "unauthorized")
        assert ask(method, path, None, ask.token).status in (404, 405)


def test_rest_routes_have_two_places_and_pages_one() -> None:
    paths = [(route.method, route.path) for route in ROUTES]
    assert len(set(paths)) == len(paths) == 2 * len(REST) + len(PAGES)
    for route in REST:
        assert {(route.method, route.path), (route.method, API + route.path)} <= set(paths)
    assert {f"/pages/{name}" for name in PAGE_FILES} | {"/"} == {route.path for route in PAGES}


def test_pages_have_nothing_inline() -> None:
    from benchwright.reports.pages.report import APP
    from benchwright.server._page_files import SHELL

    for path in APP.iterdir():
        text = path.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=", "cookie", "localStorage", "https://"):  # fmt: skip
            assert word not in text, f"{path.name}: {word}"
        if (
            path.name == SHELL
        ):  # the other shell is that of files, whose policy names its script and its styles
            assert "<style" not in text
            assert text.count("<script") == text.count('<script type="module" src=')


class TestCodes:
    """A code works once, for ten minutes, on the server that gave it out."""

    def test_once(self, ask: Asking) -> None:
        code = json.loads(ask("POST", "/api/codes", None, ask.token).body)["code"]
        told = ask("POST", "/api/token", {"code": code})
        assert json.loads(told.body) == {"token": ask.keys.session(Access.FULL).token, "read_only": False}
        assert ask("POST", "/api/token", {"code": code}).code == (401, "used_code")
        assert ask("POST", "/token", {"code": "x"}).code == (401, "unknown_code")
        assert ask("GET", "/api/runs", None, ask.keys.session(Access.READ).token).status == 200

    def test_for_reading_only(self, ask: Asking) -> None:
        made = json.loads(ask("POST", "/api/codes", {"read_only": True}, ask.token).body)
        told = json.loads(ask("POST", "/api/token", {"code": made["code"]}).body)
        assert told == {"token": ask.keys.session(Access.READ).token, "read_only": True}

    def test_the_token_of_a_person_lets_a_tab_in_as_often_as_it_is_given(self, ask: Asking) -> None:
        for _ in range(2):
            told = json.loads(ask("POST", "/api/token", {"code": ask.reader}).body)
            assert told == {"token": ask.keys.exchange(ask.reader).token, "read_only": True}
        assert not json.loads(ask("POST", "/api/token", {"code": ask.writer}).body)["read_only"]

    def test_late(self, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
        code = ask.keys.new_code()
        now = ask.keys._now
        monkeypatch.setattr(ask.keys, "_now", lambda: now() + CODE_VALID_S)
        assert ask("POST", "/api/token", {"code": code}).code == (401, "expired_code")

    def test_ten_minutes(self) -> None:
        now = [0.0]
        keys = Keys("token-of-all", now=lambda: now[0])
        early, late = keys.new_code(), keys.new_code()
        now[0] = CODE_VALID_S - 0.001
        assert keys.exchange(early) == keys.session(Access.FULL)
        now[0] = CODE_VALID_S
        with pytest.raises(Exception, match="older than 10 minutes"):
            keys.exchange(late)
        with pytest.raises(Exception, match="used before"):
            keys.exchange(late)

    def test_each_start_has_its_own(self) -> None:
        one, other = Keys("token-of-all"), Keys("token-of-all")
        assert one.session(Access.READ) != other.session(Access.READ)
        with pytest.raises(Exception, match="did not give out"):
            other.exchange(one.new_code())

    def test_codes_that_nobody_uses_take_no_room(self) -> None:
        keys = Keys("token-of-all")
        codes = [keys.new_code() for _ in range(MOST_CODES + 1)]
        assert len(keys._codes) == MOST_CODES
        assert keys.exchange(codes[-1]) == keys.session(Access.FULL)
