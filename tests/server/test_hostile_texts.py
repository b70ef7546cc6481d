"""Hostile texts in every text of every kind of run: no page runs them, no terminal obeys them, no spreadsheet, Markdown or LaTeX takes them for
its own, and REST answers with JSON."""

from __future__ import annotations

import csv
import http.client
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import openpyxl
import pytest
from test_kind_pages import VERDICT, check_document

import benchwright
from benchwright import ScriptedEndpoint, runs as run_acts
from benchwright.cli import main
from benchwright.cli._commands import EXPORT_FORMATS
from benchwright.core import RunKind, printable
from benchwright.reports.files.comparison import COMPARISON_FORMATS
from benchwright.results import kind_of
from benchwright.server import ServerAddress, serving
from benchwright.server._answers import Events
from benchwright.server._routes import REST
from benchwright.store import LABEL_KINDS, Workspace, open_store
from every_kind import SUITE, Recorded, json_texts, page_addresses, record, visit
from hostile_store import HOSTILE, PWNED, poison
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONG = "x" * 1_000_000
BROKEN = "half a pair \ud800 and \x00"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def asked(address: ServerAddress, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request(
            method,
            f"/api{path}",
            None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {address.token}"},
        )
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Runs of every kind with labels, tags and trials, all of whose texts were made hostile; and a run with a long reply and a broken one."""
    found = record(tmp_path_factory.mktemp("hostile"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found.folder)
        Path("odd.jsonl").write_text(
            json.dumps({"question": f"long {LONG}", "answer": "1"})
            + "\n"
            + json.dumps({"question": "and\x00then?", "answer": "2"})
            + "\n"
        )
        replies = iter([LONG, BROKEN])
        benchwright.run("odd.jsonl", endpoint=ScriptedEndpoint(lambda request: next(replies)), parallelism=1)
    with serving(Workspace(found.folder), acts=run_acts) as (address, _):
        for run in (found.runs[RunKind.BENCHMARK][0], found.judged):
            for kind in LABEL_KINDS:
                asked(
                    address,
                    "POST",
                    f"/runs/{run}/samples/0/0/labels",
                    {"kind": kind, "value": "1" if kind == "judge" else "a value"},
                )
            assert asked(address, "POST", f"/runs/{run}/tag", {"tags": {"team": "red"}})[0] == 200
    expected = {
        ("runs", "name", ""),
        ("labels", "value", ""),
        ("labels", "who", ""),
        ("steps", "call_output", ".t"),
    }
    assert expected <= poison(found.folder)
    with open_store(Workspace(found.folder)) as store:
        for run in store.runs():  # whose records can still be read
            assert not run.damage
            document = kind_of(run).details(store, run).to_json()
            assert any(HOSTILE in text for _, text in json_texts(document) if isinstance(text, str)), run.id
    return found


@pytest.fixture(autouse=True)
def _here(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recorded.folder)


@pytest.fixture(scope="module")
def address(recorded: Recorded) -> Iterator[ServerAddress]:
    with serving(Workspace(recorded.folder), acts=run_acts) as (found, _):
        verdict = json.loads(json.dumps(VERDICT.to_json()))
        assert (
            asked(
                found,
                "POST",
                "/handed",
                {"page": "/data?target=questions.csv", "document": check_document("questions.csv")},
            )[0]
            == 200
        )
        for run in (*recorded.runs[RunKind.BENCHMARK], recorded.judged):
            assert asked(found, "POST", "/handed", {"page": f"/gates/{run}", "document": verdict})[0] == 200
        yield found


def numbers() -> list[str]:
    with open_store(Workspace(Path.cwd())) as store:
        return [str(run.id) for run in store.runs()]


HARM = f"""() => [
    globalThis.pwned === undefined ? null : "a text was run as a script",
    ...[...document.querySelectorAll("script:not([src])")].filter((each) => each.textContent.startsWith({json.dumps(PWNED)})).map(() => "a text is a script"),
    ...[...document.querySelectorAll("*")].flatMap((each) => [...each.attributes].filter(({{ name }}) => name.startsWith("on")).map(({{ name }}) => `${{each.tagName}} has ${{name}}`)),
    ...[...document.querySelectorAll("[href], [src]")].map((each) => each.getAttribute("href") ?? each.getAttribute("src")).filter((place) => !/^(#|\\/pages\\/|data:image\\/|pages\\/)/.test(place)),
    /[\\u202a-\\u202e\\u2066-\\u2069\\x1b]/.test(document.body.innerText) ? "a mark reaches the page" : null,
].filter(Boolean)"""


def test_one_module_makes_texts_of_pages() -> None:
    """It makes marks that turn or hide text visible; what is put into a page by another way would not be."""
    for file in (files("benchwright") / "reports" / "pages" / "app").iterdir():
        source = file.read_text(encoding="utf-8")
        found = re.findall(
            r"\.(?:textContent|innerText|innerHTML|outerHTML)\s*=(?!=)|insertAdjacent\w+|createTextNode\((?!printable\()|document\.write",
            source,
        )
        assert found == ([".textContent ="] if file.name == "dom.js" else []), file.name


def test_on_pages_and_in_reports(
    recorded: Recorded, address: ServerAddress, chromium: Browser, tmp_path: Path
) -> None:
    logged: list[str] = []
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    where = ""
    page.on("console", lambda said: logged.append(f"{where}: {said.text}"))
    page.on("pageerror", lambda error: logged.append(f"{where}: {error}"))
    page.on("dialog", lambda dialog: logged.append(f"{where}: {dialog.message}"))
    page.goto(address.open_url)
    page.wait_for_selector("main[aria-busy=false]")
    topic = quote(f"topic {HOSTILE}", safe="")
    addresses = page_addresses(recorded, suite=f"{HOSTILE} {SUITE}", name=f"{HOSTILE} questions")
    odd = numbers()[0]
    places = [each.replace("by=topic", f"by={topic}") for pages in addresses.values() for each in pages]
    for where in [
        *places,
        f"/runs/{odd}",
        f"/runs/{odd}/samples",
        f"/runs/{odd}/samples/0/0",
        f"/runs/{odd}/samples/1/0",
    ]:
        visit(page, where)
        assert page.evaluate(HARM) == [], where
        if where.split("/")[1] not in ("search", "blind", "labels", "data"):
            assert "<img src=x onerror=" in page.inner_text("main"), f"{where} shows no hostile text"
        assert "could not be loaded" not in page.inner_text("main h1"), (
            f"{where}: {page.inner_text('main')[:500]}"
        )
    for number, words in enumerate(
        [
            *([each] for each in numbers()),
            *(list(map(str, pair)) for pair in recorded.runs.values()),
            [f"{HOSTILE} {SUITE}"],
        ]
    ):
        where = f"report of {words}"
        said(
            "report", *words, *(["--force"] if len(words) > 1 else []), "-o", str(tmp_path / f"{number}.html")
        )
        page.goto((tmp_path / f"{number}.html").as_uri())
        page.wait_for_selector("main h1")
        assert page.evaluate(HARM) == [], where
    page.close()
    assert [line for line in logged if "/api/live" not in line] == []


def test_over_rest(recorded: Recorded, address: ServerAddress) -> None:
    for run in numbers():
        for route in REST:
            if route.method != "GET" or isinstance(route.answer, Events):
                continue
            path = re.sub(r"\{run_id\}", run, route.path)
            queries = {
                "runs": f"{run},{run}",
                "by": f"topic {HOSTILE}",
                "name": f"{HOSTILE} {SUITE}",
                "q": HOSTILE[:40],
                "page": f"/gates/{run}",
                "force": "true",
            }
            chosen = "&".join(
                f"{each.name}={quote(queries[each.name], safe='')}"
                for each in route.query
                if each.name in queries
            )
            status, _ = asked(address, "GET", f"{re.sub(r'{[a-z_]+}', '0', path)}?{chosen}")
            assert status in (200, 400, 404, 422), (path, status)


def said(*words: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        main([*words])
    return out.getvalue() + err.getvalue()


def test_on_the_terminal(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [["list"], ["labels", "last"]]
    for run in numbers():
        commands += [
            ["show", run],
            ["show", run, "0"],
            ["show", run, "--failed"],
            ["show", run, "--steps"],
            ["show", run, "--events"],
            ["labels", run],
            ["show", run, "--by", f"topic {HOSTILE}"],
        ]
    commands += [["compare", *map(str, pair), "--force"] for pair in recorded.runs.values()]
    monkeypatch.setenv("COLUMNS", "100")
    for words in commands:
        printed = said(*words)
        assert not FORBIDDEN.search(printed), (words, FORBIDDEN.search(printed))
        if words[0] == "compare":
            assert "[boldred]x[/]" in re.sub(r"\s", "", printed), f"{words}: and no markup is read into it"
        assert json.loads(said(*words, "--json")) is not None, words


def cells(path: Path) -> list[Any]:
    if path.suffix == ".xlsx":
        return [cell for sheet in openpyxl.load_workbook(path) for row in sheet.iter_rows() for cell in row]
    with path.open(newline="", encoding="utf-8") as file:
        return [cell for row in csv.reader(file) for cell in row]


def test_in_exports(recorded: Recorded, tmp_path: Path) -> None:
    alone = [[run] for run in numbers()] + [[f"{HOSTILE} {SUITE}"]]
    wanted = [(words, f".{ending}") for words in alone for ending in EXPORT_FORMATS]
    wanted += [
        ([*map(str, pair), "--force"], ending)
        for pair in recorded.runs.values()
        for ending in (*COMPARISON_FORMATS, ".xlsx")
    ]
    written = set()
    for number, (words, ending) in enumerate(wanted):
        path = tmp_path / f"{number}{ending}"
        command = "compare" if "--force" in words else "export"
        said(command, *words, "-o", str(path))
        if not path.exists():
            continue  # some kinds have no such file
        written.add((command, ending))
        if ending == ".csv":
            assert not [cell for cell in cells(path) if cell.lstrip()[:1] in ("=", "+", "@")], words
        elif ending == ".xlsx":
            assert not [cell for cell in cells(path) if cell.data_type == "f"], words
        elif ending == ".md":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"(?<!\\)<(script|img)", text), words
            assert not re.search(r"(?<!\\)\]\(javascript", text), words
            assert not FORBIDDEN.search(text), words
        elif ending == ".tex":
            text = path.read_text(encoding="utf-8")
            assert "\\input" not in text, words
            assert not re.search(r"(?<!\\)%", text), words
        elif ending == ".jsonl":
            assert all(
                json.loads(line) is not None for line in path.read_text(encoding="utf-8").split("\n") if line
            )
    assert written >= {("export", f".{ending}") for ending in EXPORT_FORMATS} | {
        ("compare", ending) for ending in (*COMPARISON_FORMATS, ".xlsx")
    }
    assert printable(HOSTILE) != HOSTILE
