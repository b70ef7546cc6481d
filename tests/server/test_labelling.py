"""Labelling, grading blindly and asking again: over REST, and in Chromium with the keyboard alone."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, judge_score, runs as run_acts, scorer
from benchwright.server import People, ServerAddress, serving
from benchwright.store import Workspace, open_store
from browser import driven
from recording_server import recording
from waiting import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = "<img src=x onerror=alert(1)>\u202egnp. \"'&amp; </script>"
MODEL = "secret-model-name"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the demo model on the same rows, and one with a judge."""
    place = tmp_path_factory.mktemp("labelled")
    rows = [{"question": f"What is {n}+{n}?", "answer": str(2 * n)} for n in range(1, 9)]
    (place / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "prices.toml").write_text(
        '[[price]]\nmodel = "demo"\ninput = 1000000.0\noutput = 1000000.0\ncurrency = "EUR"\nas_of = 2026-11-01\n'
    )
    data = [{"question": f"Is q{n} polite?", "answer": "yes"} for n in range(6)]

    def grade(body: dict[str, Any]) -> str:
        return f"It greets.\nGRADE: {'C' if 'q1' in body['messages'][0]['content'] else 'I'}"

    with pytest.MonkeyPatch.context() as patch, recording(grade) as server:
        patch.chdir(place)

        @benchmark(name=place.name, dataset=data, prompt="{question}", target_field="answer", judge={"url": server.url, "model_id": "j"})  # fmt: skip
        @scorer
        def polite(sample: ScorerInput) -> dict[str, Any]:
            return judge_score(sample)

        benchwright.run("q.jsonl")
        benchwright.run("q.jsonl", demo_skill=0.0)
        benchwright.run(polite, endpoint=ScriptedEndpoint("Good morning!"), model_id=MODEL)
    return place


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[ServerAddress]:
    with serving(Workspace(folder), acts=run_acts) as (found, _):
        yield found


@pytest.fixture(autouse=True)
def no_labels(folder: Path) -> None:
    with open_store(Workspace(folder)) as store:
        for label in store.labels():
            store.remove_label(label.id)


class Client:
    """Asks the server, with a token."""

    def __init__(self, address: ServerAddress, token: str | None = None) -> None:
        self._address, self._token = address, token or address.token

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self._address.url.removeprefix("http://"), timeout=PATIENCE_S)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, f"/api{path}", sent, {"Authorization": f"Bearer {self._token}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


SAMPLE = "/runs/1/samples/2/0"


def test_a_label_is_given_seen_in_every_run_listed_filtered_and_removed(
    address: ServerAddress, folder: Path
) -> None:
    people = People(Workspace(folder))
    ann = Client(address, people.add("ann", read_only=False))
    ask = Client(address)
    status, given = ann("POST", f"{SAMPLE}/labels", {"kind": "gold", "value": HOSTILE})
    assert (status, given["who"], given["value"], given["words"]) == (200, "ann", HOSTILE, "gold is wrong")
    assert ann("POST", f"{SAMPLE}/labels", {"kind": "gold", "value": HOSTILE})[1] == given
    assert ask("POST", f"{SAMPLE}/labels", {"kind": "extraction", "value": "6"})[0] == 200
    for run in (1, 2):
        labels = ask("GET", f"/runs/{run}/samples/2/0")[1]["labels"]
        assert [label["kind"] for label in labels] == ["extraction", "gold"]
        assert [label["applies"] for label in labels] == [run == 1, True]  # the other reply is another one
        found = ask("GET", f"/runs/{run}/samples?labelled=gold")[1]["samples"]
        assert [sample["sample_id"] for sample in found] == [2]
    listed = ask("GET", "/labels?kind=gold&who=ann&run=2&q=IMG")[1]
    assert [label["id"] for label in listed["labels"]] == [given["id"]]
    assert ask("GET", "/labels?run=3")[1]["labels"] == []
    assert len(ask("GET", "/labels?limit=1")[1]["labels"]) == 1
    assert "Labels would" in ask("GET", "/runs/1/details")[1]["labels"]["text"]
    status, effect = ask("POST", "/runs/1/labels/effect", {})
    assert (status, effect["effect"]["unknown"]) == (200, ""), effect
    assert effect["effect"]["exact"]["count"] > 0
    assert "→" in effect["text"]
    assert ask("POST", f"/labels/{given['id']}/remove", {})[0] == 200
    assert ask("POST", f"/labels/{given['id']}/remove", {})[0] == 404
    people.remove("ann")


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        (SAMPLE, {"kind": "gild"}, 422, "kind"),
        (SAMPLE, {"kind": "ambiguous", "value": "x"}, 422, "has no value"),
        (SAMPLE, {"kind": "judge"}, 422, "needs a value"),
        (SAMPLE, {"kind": "tag", "valu": "x"}, 422, "Did you mean 'value'"),
        ("/runs/1/samples/99/0", {"kind": "ambiguous"}, 404, "no sample 99/0"),
        ("/runs/99/samples/0/0", {"kind": "ambiguous"}, 404, "99"),
    ],
)
def test_what_is_no_label_is_refused(
    address: ServerAddress, path: str, body: Any, status: int, said: str
) -> None:
    answered, refused = Client(address)("POST", f"{path}/labels", body)
    assert (answered, said in refused["error"]["message"]) == (status, True)
    assert Client(address)("GET", "/labels")[1]["labels"] == []


def test_a_token_that_reads_cannot_label_or_ask(address: ServerAddress, folder: Path) -> None:
    people = People(Workspace(folder))
    reader = Client(address, people.add("reader", read_only=True))
    for path, body in (("labels", {"kind": "ambiguous"}), ("trials", {"body": "{}"})):
        assert reader("POST", f"{SAMPLE}/{path}", body)[0] == 403
    assert reader("GET", "/labels")[0] == 200
    people.remove("reader")


def test_blind_samples_tell_neither_model_nor_grade(address: ServerAddress) -> None:
    ask = Client(address)
    status, found = ask("GET", "/blind?runs=3&seed=4")
    assert (status, found["grades"], found["graded"]) == (200, ["C", "I"], 6)
    assert not any(word in json.dumps(found) for word in (MODEL, "greets", "judge", 'polite": '))
    order = [sample["sample_id"] for sample in found["samples"]]
    assert sorted(order) == list(range(6))
    assert [sample["sample_id"] for sample in ask("GET", "/blind?runs=3&seed=4")[1]["samples"]] == order
    assert any(
        [each["sample_id"] for each in ask("GET", f"/blind?runs=3&seed={seed}")[1]["samples"]] != order
        for seed in range(5, 9)
    )
    assert ask("GET", "/agreement?runs=3")[1] == {"runs": {"3": None}}
    ask("POST", "/runs/3/samples/1/0/labels", {"kind": "judge", "value": "C"})
    agreed = ask("GET", "/agreement?runs=3")[1]["runs"]["3"]
    assert (agreed["labelled"], agreed["accuracy"]) == (1, 1.0)
    assert ask("GET", "/blind?runs=1")[0] == 404
    assert ask("GET", "/blind?runs=x")[0] == 422


def test_asking_again_is_recorded_with_its_cost_and_changes_no_run(address: ServerAddress) -> None:
    ask = Client(address)
    before = ask("GET", "/runs/1/details")[1]["summary"]
    sent = ask("GET", SAMPLE)[1]["requests"][0]["body"]
    changed = sent.replace("3+3", "4+4")
    status, trial = ask("POST", f"{SAMPLE}/trials", {"body": changed})
    assert (status, trial["body"], trial["outcome"]) == (200, changed, "scored")
    assert trial["cost"]["amount"] == trial["prompt_tokens"] + trial["completion_tokens"]
    shown = ask("GET", SAMPLE)[1]
    assert shown["trials"] == [trial]
    assert shown["requests"][0]["body"] == sent
    assert ask("GET", "/runs/1/details")[1]["summary"] == before
    for body, said in (
        ("no", "not JSON"), ("[]", "not a JSON object"), (sent.replace('"demo"', '"other"'), "'model' is 'other'"),
    ):  # fmt: skip
        answered, refused = ask("POST", f"{SAMPLE}/trials", {"body": body})
        assert (answered, said in refused["error"]["message"]) == (422, True)
    assert (
        "script"
        in ask("POST", "/runs/3/samples/0/0/trials", {"body": '{"model": "m"}'})[1]["error"]["message"]
    )


def test_the_keyboard_labels_grades_and_asks(address: ServerAddress) -> None:
    logged: list[str] = []
    with driven() as browser:
        context = browser.new_context()
        kept = {"benchwright.token": address.token, "benchwright.token.read_only": "false"}
        lines = "".join(f"sessionStorage.setItem({json.dumps(k)}, {json.dumps(v)});" for k, v in kept.items())
        context.add_init_script(lines)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda said: logged.append(said.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("dialog", lambda dialog: logged.append(dialog.message))

        def go(hash_: str) -> Page:
            page.goto(f"{address.url}/{hash_}")
            page.wait_for_selector("main[aria-busy='false']")
            return page

        go("#/runs/1/samples/2/0")
        page.keyboard.press("l")
        page.wait_for_selector("#label-kind:focus")
        page.keyboard.type("note")
        page.keyboard.press("Tab")
        page.keyboard.type(HOSTILE.replace("\u202e", ""))
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-label]")
        assert page.inner_text("[data-label] .label-value") == HOSTILE.replace("\u202e", "")
        page.wait_for_selector("#label:focus")  # the focus is back
        page.keyboard.press("l")
        page.wait_for_selector("#label-kind:focus")
        page.keyboard.type("right grade")
        page.keyboard.press("Escape")
        page.wait_for_selector("#label:focus")
        go("#/runs/2/samples/2/0")
        assert page.inner_text("[data-json='labels.0.words']") == "note"
        go("#/labels?kind=note")
        assert page.locator("tr[data-label]").count() == 1
        assert "onerror" in page.inner_text("tr[data-label] .clip")
        go("#/runs/1/samples?labelled=any")
        assert page.locator("tr[data-sample]").count() == 1
        go("#/blind?runs=3&seed=4")
        assert MODEL not in page.inner_text("main")
        assert "GRADE" not in page.inner_text("main")
        for number in range(6):
            page.wait_for_selector(f"main .about:has-text('Reply {number + 1} of 6')")
            page.keyboard.press("1" if number % 2 else "2")
        page.wait_for_selector("text=Agreement so far")
        assert "of 6 labelled replies" in page.inner_text("[data-json='runs.3.sentence']")
        go("#/runs/3/samples/1/0")
        assert "judge 1: grade C" in page.inner_text("main")
        assert "It greets." in page.inner_text("main")
        page.keyboard.press("l")  # a judged sample offers the judge's grades, each with its key
        page.wait_for_selector("#label-kind:focus")
        assert page.locator(".label-form [data-grade]").all_inner_texts() == ["C (1)", "I (2)"]
        page.keyboard.press("2")
        page.wait_for_selector("text=Labelled: right grade")
        assert page.inner_text("[data-label] .label-value") == "I"
        go("#/runs/3")
        page.wait_for_selector("[data-json='runs.3.sentence']")
        assert "Grade more replies blindly" in page.inner_text("main")
        go("#/runs/3/samples?verdict=wrong")
        assert page.locator("tr[data-sample].wrong").count() == 5
        assert page.locator("tr[data-sample] td:has-text('It greets.')").count() == 5
        go("#/runs/1/samples/3/0")
        page.focus("summary:has-text('Send this request again')")
        page.keyboard.press("Enter")
        page.focus("#ask")
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-trial]")
    assert logged == []
