"""`report.html` of a benchmark run: everything is on it, nothing on it is markup of a model's, and a browser shows it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from recorded_runs import SETTINGS, SUMMARY, chat_call, every_kind_of_sample, score, write_run_files

from benchwright.core import JsonObject, ModelReply, Outcome, RunFile, RunSummary, StepValues, open_artifacts
from benchwright.results import _run_page as of_pages
from benchwright.results._run_page import MOST_SHOWN, ChosenSamples
from benchwright.store import RunRecord, Store, verdict_of
from browser import document_of

Record = Callable[..., RunRecord]
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"><!-- <script> \u2028 \x00 \x1b[2J 'ü' ]]>"


class Elements(HTMLParser):
    """The elements of a page with their texts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self._goes_on = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._goes_on = tag == "wbr"  # a place where a long word may be broken
        if tag not in ("meta", "img", "input", "wbr"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._goes_on:
            self.texts[-1] = (self.texts[-1][0], self.texts[-1][1] + data)
        elif self._open:
            self.texts.append((self._open[-1], data))
        self._goes_on = False

    def inside(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]


def page_of(store: Store, run: RunRecord, summary: RunSummary = SUMMARY) -> str:
    write_run_files(store, run, summary)
    return open_artifacts(run.folder).read(RunFile.REPORT).decode()


def in_a_file(page: str, folder: Path) -> Path:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    return file


def data_of(page: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert len(found) == 1
    content: dict[str, Any] = json.loads(found[0])
    return content


@pytest.mark.usefixtures("any_place")
def test_a_page_has_every_figure_and_every_sample(store: Store, record: Record) -> None:
    page = page_of(store, record(every_kind_of_sample()))
    (sentence,) = Elements(page).inside("h1")
    data = data_of(page)
    assert {row["name"]: row["value"] for row in data["metrics"]} == {
        name: metric.value for name, metric in SUMMARY.metrics.items()
    }
    assert data["outcomes"] == [
        [outcome.value, outcome.value, SUMMARY.outcomes[outcome.value]] for outcome in Outcome
    ]
    assert sentence.startswith("my_qa on my-model, 7 rows: correct 0.6000 (95 % interval ")
    assert sentence.endswith("not comparable with other runs")
    assert SUMMARY.notes[0] in [note["text"] for note in data["notes"]]
    assert [sample["sample_id"] for sample in data["samples"]] == [0, 1, 2, 3, 4, 5, 6]
    assert data["counts"] == {"right": 3, "wrong": 2, "failed": 2}
    kinds = {sample["sample_id"]: sample["kind"] for sample in data["samples"]}
    assert kinds == {0: "right", 1: "wrong", 2: "right", 3: "failed", 4: "failed", 5: "wrong", 6: "right"}
    first = data["samples"][0]
    assert (first["prompt"], first["response"], first["target"]) == ("question 0", "yes", "yes")
    assert json.loads(first["metadata"]) == {"question": "question 0", "answer": 0}


def test_no_secret_is_on_a_page(store: Store, record: Record) -> None:
    text = page_of(store, record(every_kind_of_sample()))
    assert "sk-in-url" not in text
    assert "sk-in-header" not in text
    assert "MY_KEY" in text


def hostile_steps() -> list[StepValues]:
    reply = ModelReply("answered", HOSTILE, HOSTILE)
    return [
        chat_call(0, 0, reply, HOSTILE),
        score(0, 0, {"o": "scored", "s": {"correct": False, HOSTILE: 1.0}, "t": HOSTILE}, {HOSTILE: HOSTILE}),
        score(1, 0, {"o": "skipped", "t": None, "e": HOSTILE}),
    ]


def hostile_run(store: Store, record: Record) -> RunRecord:
    metrics = {**SUMMARY.metrics, HOSTILE: SUMMARY.metrics["correct"]}
    summary = replace(SUMMARY, metrics=metrics, notes=[HOSTILE], reasons={HOSTILE: 1})
    settings: JsonObject = {**SETTINGS, "model": {**SETTINGS["model"], "model_id": HOSTILE}}  # type: ignore[dict-item]
    return record(hostile_steps(), settings=settings, summary=summary)


def test_nothing_of_a_model_becomes_markup(store: Store, record: Record) -> None:
    page = page_of(store, hostile_run(store, record))
    found = Elements(page)
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in found.tags]
    (sample, _) = data_of(page)["samples"]
    assert sample["response"] == sample["target"] == HOSTILE
    assert json.loads(sample["metadata"]) == {HOSTILE: HOSTILE}


def test_the_policy_of_a_page_admits_its_own_script_only(store: Store, record: Record) -> None:
    found = Elements(page_of(store, record(every_kind_of_sample())))
    (policy,) = [str(given["content"]) for _, given in found.tags if given.get("http-equiv")]
    script = found.inside("script")[-1]
    assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    linked = [given for _, given in found.tags if given.keys() & {"src", "href", "srcset", "action"}]
    assert not linked, "a page opens without network"


@pytest.mark.usefixtures("any_place")
@pytest.mark.parametrize("report", [{"enabled": False}, {"report_types": ["json"]}])
def test_a_step_of_the_pipeline_may_leave_the_page_out(
    store: Store, record: Record, report: JsonObject
) -> None:
    steps: JsonObject = {"interceptors": [{"name": "post_eval_report", "config": report}]}
    run = record(every_kind_of_sample(), settings={**SETTINGS, "steps": steps})
    assert RunFile.REPORT not in write_run_files(store, run, SUMMARY)
    assert not open_artifacts(run.folder).exists(RunFile.REPORT)


@pytest.mark.usefixtures("any_place")
def test_a_run_without_saved_samples_has_none_on_its_page(store: Store, record: Record) -> None:
    run = record(every_kind_of_sample(), settings={**SETTINGS, "save_predictions": False})
    data = data_of(page_of(store, run))
    assert (data["samples"], data["counts"]) == ([], {})


def columns_of(count: int, scores: Callable[[int], dict[str, Any] | None], text: str = "t") -> dict[str, Any]:
    from benchwright.results._sample_columns import COLUMNS
    from benchwright.store import verdict_of

    found: dict[str, Any] = {name: [None] * count for name in COLUMNS}
    found |= {"sample_id": list(range(count)), "repeat": [0] * count, "response": [text] * count}
    found["scores"] = [scores(number) for number in range(count)]
    found["verdict"] = list(map(verdict_of, found["scores"]))
    found["metadata"] = [b'{"a": 1}'] * count
    return found


def test_a_large_run_shows_the_first_samples_of_each_group_and_counts_all() -> None:
    kinds: list[dict[str, Any] | None] = [{"correct": True}, {"correct": False}, None, {"f1": 0.5}]
    chosen = ChosenSamples()
    for _ in range(40):
        chosen.add(columns_of(100, lambda number: kinds[number % 4]))
    assert chosen.counts == {"right": 1000, "wrong": 1000, "failed": 1000, "scored": 1000}
    shown = [record["kind"] for record in chosen.records]
    assert {group: shown.count(group) for group in MOST_SHOWN} == MOST_SHOWN


def test_long_texts_are_cut_and_a_page_stays_small() -> None:
    chosen = ChosenSamples()
    for _ in range(100):
        chosen.add(columns_of(100, lambda _: {"correct": False}, "x" * 30_000))
    assert chosen.counts == {"wrong": 10_000}
    sizes = [len(record["response"]) for record in chosen.records]
    assert sum(sizes[:-1]) < of_pages._MOST_BYTES, "the last one may exceed it"
    assert chosen.records[0]["response"].endswith("… (30,000 characters)")
    assert all(verdict_of(record["scores"]) == "wrong" for record in chosen.records)


def test_no_column_hides_the_kind_of_a_sample() -> None:
    kinds: list[dict[str, Any] | None] = [{"correct": True}, {"correct": False}, None, {"f1": 0.5}]
    columns = columns_of(8, lambda number: kinds[number % 4])
    columns = {
        name: ["x"] * 8 if values[0] is None and name not in ("scores", "verdict") else values
        for name, values in columns.items()
    }
    chosen = ChosenSamples()
    chosen.add(columns)
    assert Counter(record["kind"] for record in chosen.records) == chosen.counts
    assert {record["group"] for record in chosen.records} == {"x"}, "the category stays"


def test_a_stopped_run_says_so_once_and_the_worst_first(store: Store, record: Record) -> None:
    run = record(every_kind_of_sample())
    graded = replace(SUMMARY, notes=["for information", "careful", "partial"])
    graded = replace(graded, note_grades={"for information": "information", "partial": "problem"})
    store.finish_run(run.id, "interrupted", summary=graded.to_json(), error="interrupted")
    data = data_of(page_of(store, store.run(run.id), graded))
    assert "interrupted" in data["about"]
    assert data["notes"] == [
        {"grade": "problem", "text": "partial"},
        {"grade": "caution", "text": "careful"},
        {"grade": "information", "text": "for information"},
    ]


def test_a_run_without_scores_has_none_to_compare(store: Store, record: Record) -> None:
    unscored = replace(SUMMARY, metrics={}, derived={}, comparable=True, failed=0)
    run = record(every_kind_of_sample(), summary=unscored)
    page = page_of(store, run, unscored)
    assert '<h1 class="">my_qa on my-model, 7 rows: no sample gave a score</h1>' in page


DIALOGUE = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "first turn"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "add", "arguments": '{"a": 1}'}}],
    },
    {"role": "tool", "content": "2"},
    {"role": "assistant", "content": "second reply"},
]


@pytest.mark.slow
def test_a_browser_shows_dialogues_whole_and_integers_exactly(
    store: Store, record: Record, tmp_path: Path
) -> None:
    page = page_of(store, record(every_kind_of_sample()))
    columns = columns_of(2, lambda number: {} if number else {"correct": False})
    columns |= {
        "prompt": ["first turn"] * 2,
        "messages": [json.dumps(DIALOGUE).encode(), None],
        "group": ["java", None],
    }
    columns["calls"] = [None] * 2
    columns["calls"][0] = b'[{"add":{"id":1234567890123456789,"text":"{[,:\\"]}","none":[]}}]'
    chosen = ChosenSamples()
    chosen.add(columns)
    data = {**data_of(page), "samples": chosen.records, "counts": dict(chosen.counts)}
    before, start, rest = page.partition('id="data">')
    page = before + start + json.dumps(data) + rest[rest.index("</script>") :]
    found = Elements(document_of(in_a_file(page, tmp_path), tmp_path))
    assert '[user] first turn\n[assistant] add({"a": 1})\n[tool] 2\n[assistant] second reply' in found.inside(
        "pre"
    )
    lines = [
        "[", "  {", '    "add": {', '      "id": 1234567890123456789,', '      "text": "{[,:\\"]}",', '      "none": []',
        "    }", "  }", "]",
    ]  # fmt: skip
    assert "\n".join(lines) in found.inside("pre")
    assert "java" in found.inside("span")
    assert found.inside("button")[:2] == ["wrong 1", "neither right nor wrong 1"]


@pytest.mark.slow
def test_a_browser_shows_every_part_of_the_page(store: Store, record: Record, tmp_path: Path) -> None:
    page = page_of(store, record(every_kind_of_sample()))
    found = Elements(document_of(in_a_file(page, tmp_path), tmp_path))
    headings = found.inside("h2")
    assert headings == [
        "Notes",
        "Outcomes",
        "Scores",
        "Usage",
        "Samples",
        "Distributions",
        "What was sent",
        "Settings",
    ]
    cells = found.inside("td")
    for name, metric in SUMMARY.metrics.items():
        assert name in cells
        assert f"{metric.value:,.4f}" in cells
    assert "wrong 2" in found.inside("button")
    texts = found.inside("pre")
    assert "question 1" in texts, "the wrong samples are shown first"
    assert "question 0" not in texts
    assert [tag for tag, _ in found.tags].count("article") == 2
    assert SUMMARY.notes[0] in found.inside("span")


@pytest.mark.slow
def test_a_browser_shows_hostile_texts_as_texts(store: Store, record: Record, tmp_path: Path) -> None:
    found = Elements(document_of(in_a_file(page_of(store, hostile_run(store, record)), tmp_path), tmp_path))
    assert "img" not in [tag for tag, _ in found.tags]
    assert found.inside("title")[0] != "taken"
    assert any("onerror" in text for text in found.inside("pre"))
