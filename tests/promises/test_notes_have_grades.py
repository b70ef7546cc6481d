"""Every note on every kind of run has one of three grades, and every door shows it with its grade: terminal, notebooks, JSON, REST, pages,
reports, workbooks, Markdown, JUnit, files."""

from __future__ import annotations

import http.client
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import openpyxl
import pytest
import yaml

from benchwright import runs as run_acts
from benchwright.cli import main
from benchwright.core import Note, NoteGrade, RunKind
from benchwright.reports import VERDICT_DOCUMENTS
from benchwright.reports.files.load import write_load_files
from benchwright.reports.files.run_files import write_run_files
from benchwright.reports.views import in_notebook
from benchwright.results import ComparisonOptions, kind_of, suite_table
from benchwright.results._run_folders import run_of_folder
from benchwright.runs._compare import compare_runs
from benchwright.server import ServerAddress, serving
from benchwright.server._answers import AnyJson, Json
from benchwright.server._routes import REST
from benchwright.store import Workspace, open_store
from every_kind import SUITE, Recorded, page_addresses, record, visit
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ADDED = {f"a {grade.value} <b>; of {grade.value} & more": grade.value for grade in NoteGrade}
"""A note of every grade, with marks that a door may take for its own."""
POLICY = {
    RunKind.BENCHMARK: "[[failures]]\nmax = 1.0\n",
    RunKind.LOAD: '[[load]]\nfigure = "error_share"\nmax = 1.0\n',
}


class Noted(NamedTuple):
    """A run, a suite or a comparison with its notes."""

    title: str
    words: tuple[str, ...]
    """Its name on the command line."""
    page: str
    """The address of its page."""
    notes: list[Note]
    view: Any


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Runs of every kind, each with notes of all grades that its record can hold, and files that were written then."""
    found = record(tmp_path_factory.mktemp("noted"))
    with open_store(Workspace(found.folder)) as store:
        for run in store.runs():
            if run.kind == RunKind.WORKFLOW:
                continue  # its events are its notes
            summary: dict[str, Any] = dict(run.summary or {})
            if run.kind == RunKind.LOAD:
                more = [{"kind": grade, "text": text, "grade": grade} for text, grade in ADDED.items()]
                summary["notes"] = [*summary["notes"], *more]
            else:
                summary["notes"] = [*summary["notes"], *ADDED]
                summary["note_grades"] = {
                    **summary["note_grades"],
                    **{text: grade for text, grade in ADDED.items() if grade != NoteGrade.CAUTION},
                }
            store.finish_run(run.id, "completed", summary=summary)
            row, run = kind_of(run), store.run(run.id)
            if row.samples is not None:
                details, samples = row.samples(store, run)
                assert details.result is not None
                write_run_files(details, samples, details.result)
            else:
                assert row.requests is not None
                write_load_files(row.details(store, run), row.requests(store, run.id))  # type: ignore[arg-type]
    return found


@pytest.fixture(scope="module")
def noted(recorded: Recorded) -> list[Noted]:
    """Everything that has notes: a run of every kind, the comparison of two of each, and the suite."""
    addresses = page_addresses(recorded)
    pages = [page for places in addresses.values() for page in places]
    found = []
    with open_store(Workspace(recorded.folder)) as store:
        for place, (kind, runs) in enumerate(recorded.runs.items()):
            run = store.run(runs[0])
            view: Any = kind_of(run).details(store, run)
            told = [Note("", note["text"], note["grade"]) for note in view.to_json()["notes"]]
            (page,) = [
                each for each in pages if re.fullmatch(rf"/\w+/{run.id}", each) and "gates" not in each
            ]
            found.append(Noted(kind, (str(run.id),), page, told, view))
            both = compare_runs(runs, ComparisonOptions(force=True), store=store)
            found.append(
                Noted(
                    f"{kind}, compared",
                    tuple(map(str, runs)),
                    addresses["Comparison"][place],
                    both.notes,
                    both,
                )
            )
        table = suite_table(store, SUITE)
        found.append(Noted("suite", (SUITE,), addresses["Suite"][0], list(table.notes), table))
    return found


@pytest.fixture(autouse=True)
def _here(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recorded.folder)
    monkeypatch.setenv("COLUMNS", "2000")


def said(*words: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed):
        main([*words])
    return printed.getvalue()


def test_every_kind_has_notes_and_runs_have_all_grades(noted: list[Noted]) -> None:
    for each in noted:
        grades = {note.grade for note in each.notes}
        assert grades <= set(NoteGrade), each.title
        assert each.notes, each.title
        if each.title in (RunKind.BENCHMARK, RunKind.LOAD, "suite"):
            assert grades == set(NoteGrade), each.title
            assert all(
                any(text in note.text and note.grade == grade for note in each.notes)
                for text, grade in ADDED.items()
            )


def test_on_the_terminal_and_in_notebooks(noted: list[Noted]) -> None:
    for each in noted:
        if each.title == "suite":
            continue  # what has run shows it, and test_in_files
        command = ["show", *each.words] if len(each.words) == 1 else ["compare", *each.words, "--force"]
        printed = said(*command)
        for note in each.notes:
            if getattr(each.view, "sentence", "") and note.text in each.view.sentence:
                continue  # it is the first thing that is said
            assert re.search(rf"^{note.label}:? +{re.escape(note.text)}$", printed, re.MULTILINE), (
                each.title,
                note,
            )
        labels = {note.label for note in each.notes}
        assert len(labels) == len({note.grade for note in each.notes}), "grades have words of their own"
        if hasattr(each.view, "_repr_html_"):
            shown = re.sub(
                "<[^>]+>",
                " ",
                in_notebook(each.view).replace("&lt;", "‹").replace("&amp;", "&").replace("&gt;", "›"),
            )
            for note in each.notes:
                assert note.text.replace("<", "‹").replace(">", "›") in shown, (each.title, note)


def ungraded(document: Any, path: str = "") -> Iterator[str]:
    """The places of notes without a grade. A list of texts has the grades next to it, for all that are no cautions."""
    if isinstance(document, list):
        for place, value in enumerate(document):
            yield from ungraded(value, f"{path}[{place}]")
    if not isinstance(document, dict):
        return
    for key, value in document.items():
        if key == "notes" and isinstance(value, list) and value and not path.endswith("manifest"):
            known = document.get("note_grades") or {}
            for note in value:
                text, grade = (
                    (note["text"], note.get("grade"))
                    if isinstance(note, dict)
                    else (note, known.get(note, "caution"))
                )
                expected = {grade for added, grade in ADDED.items() if added in text}
                if grade not in set(NoteGrade) or (expected and grade not in expected):
                    yield f"{path}.notes: {note}"
        yield from ungraded(value, f"{path}.{key}")


def test_as_json(noted: list[Noted]) -> None:
    for each in noted:
        if each.title != "suite":
            words = ["show", *each.words] if len(each.words) == 1 else ["compare", *each.words, "--force"]
            document = json.loads(said(*words, "--json"))
            assert document["notes"] == [{"grade": note.grade, "text": note.text} for note in each.notes], (
                each.title
            )
            assert list(ungraded(document)) == []
    assert list(ungraded(json.loads(said("list", "--json")))) == []


@pytest.fixture(scope="module")
def address(recorded: Recorded) -> Iterator[ServerAddress]:
    with serving(Workspace(recorded.folder), acts=run_acts) as (found, _):
        yield found


def test_over_rest(noted: list[Noted], address: ServerAddress) -> None:
    """Whatever route has notes, they have grades; and for each thing, one route has all of its notes."""
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    for each in noted:
        complete = False
        for route in REST:
            if route.method != "GET" or not isinstance(route.answer, Json | AnyJson):
                continue
            query = f"?name={SUITE}" if each.title == "suite" else f"?runs={','.join(each.words)}&force=true"
            connection.request(
                "GET",
                "/api" + re.sub(r"\{\w+\}", each.words[0], route.path) + query,
                headers={"Authorization": f"Bearer {address.token}"},
            )
            answer = connection.getresponse()
            document = json.loads(answer.read())
            assert list(ungraded(document)) == [], route.path
            told = document.get("notes") if isinstance(document, dict) else None
            complete |= told == [{"grade": note.grade, "text": note.text} for note in each.notes]
        assert complete, each.title
    connection.close()


SHOWN = """all => all.map(e => [e.querySelector("b").getAttribute("aria-label"), e.querySelector("span").textContent])"""


def assert_on_page(page: Page, each: Noted) -> None:
    page.evaluate("document.querySelectorAll('main details').forEach(e => e.open = true)")
    shown = page.eval_on_selector_all("main .verdicts li", SHOWN)
    for note in each.notes:
        assert [note.grade, note.text] in shown, (each.title, note, page.inner_text("main")[:500])


def test_on_pages_and_in_reports(
    noted: list[Noted], address: ServerAddress, chromium: Browser, tmp_path: Path
) -> None:
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    page.goto(address.open_url)
    page.wait_for_selector("main[aria-busy=false]")
    for each in noted:
        visit(page, each.page)
        assert_on_page(page, each)
    for place, each in enumerate(noted):
        path = tmp_path / f"{place}.html"
        said("report", *each.words, *(["--force"] if len(each.words) > 1 else []), "-o", str(path))
        page.goto(path.as_uri())
        page.wait_for_selector("main h1")
        assert_on_page(page, each)
    page.close()


def test_in_workbooks_and_markdown(noted: list[Noted], tmp_path: Path) -> None:
    for each in noted:
        forced = ["--force"] if len(each.words) > 1 else []
        if (
            each.title != f"{RunKind.LOAD}, compared"
        ):  # whose figures belong to levels: no workbook is written
            said("export", *each.words, *forced, "-o", str(tmp_path / "book.xlsx"))
            rows = {
                tuple(map(str, row))
                for sheet in openpyxl.load_workbook(tmp_path / "book.xlsx")
                for row in sheet.iter_rows(values_only=True)
            }
            for note in each.notes:
                assert any(note.grade in row and note.text in row for row in rows), (each.title, note)
        if forced:
            said("compare", *each.words, *forced, "-o", str(tmp_path / "both.md"))
            plain = re.sub(r"\\(.)", r"\1", (tmp_path / "both.md").read_text(encoding="utf-8"))
            assert all(note.text in plain for note in each.notes), each.title


def test_by_gates(noted: list[Noted], tmp_path: Path) -> None:
    for each in noted:
        if each.title not in POLICY:
            continue
        (tmp_path / "policy.toml").write_text(POLICY[RunKind(each.title)], encoding="utf-8")
        command = ["gate", *each.words, "--policy", str(tmp_path / "policy.toml")]
        files = {name: tmp_path / f"verdict.{name}" for name in VERDICT_DOCUMENTS}
        document = json.loads(said(*command, *(f"--{name}={path}" for name, path in files.items()), "--json"))
        told = [(note["grade"], note["text"]) for note in document["notes"]]
        printed = said(*command)
        read: dict[str, Callable[[str], str]] = {
            "junit": lambda text: "\n".join(
                part.text or "" for part in ElementTree.fromstring(text).iter("system-out")
            ),  # our own file
            "markdown": lambda text: re.sub(r"\\(.)", r"\1", text),
        }
        for text, grade in ADDED.items():
            assert (grade, text) in told
            word = Note("", text, grade).label
            assert f"{word}: {text}\n" in printed
            for name, path in files.items():
                assert f"{word}: {text}" in read[name](path.read_text(encoding="utf-8")), name


def test_in_files(recorded: Recorded) -> None:
    """Whatever file of a run has a note, has its grade: JSON and YAML by their fields, texts by a word before it."""
    seen = set()
    places = [place for folder in (Path(".benchwright/runs"), Path("outputs")) for place in folder.rglob("*")]
    for path in places:
        if path.suffix in (".json", ".yml"):
            text = path.read_text(encoding="utf-8")
            assert (
                list(ungraded(json.loads(text) if path.suffix == ".json" else yaml.safe_load(text))) == []
            ), path
            seen.update(
                {path.name}
                if any(json.dumps(added)[1:-1] in text or added in text for added in ADDED)
                else ()
            )
    assert {"results.yml", "summary.json"} <= seen


def test_a_run_that_is_read_from_its_folder_keeps_the_grades(recorded: Recorded) -> None:
    folders = [
        next(Path(".benchwright/runs").glob(f"{run:04d}-*")) for run in recorded.runs[RunKind.BENCHMARK]
    ]
    for folder in folders:
        grades: Any = (run_of_folder(1, folder).summary or {})["note_grades"]
        assert {text: grades.get(text, NoteGrade.CAUTION) for text in ADDED} == ADDED
