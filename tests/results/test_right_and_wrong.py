"""One rule says what is right and what is wrong, for every kind of scorer; lists, filters, counts, slices and exports follow it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.cli import main
from benchwright.core import UsageError
from benchwright.results import run_document
from benchwright.scorers import ScorerInput, judge_panel, judge_score
from benchwright.store import Workspace, open_store, verdict_of

JUDGE = {"judge": {"url": "demo"}}
WORDS = st.lists(
    st.sampled_from(["good", "fair", "bad", "poor", "C", "I"]), min_size=2, max_size=4, unique=True
)
WORTH = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0])


def judged(grade: str, **options: Any) -> dict[str, Any]:
    sample = ScorerInput("a reply", "a target", {}, config=JUDGE, ask=lambda call: f"Why.\nGRADE: {grade}")
    return judge_score(sample, **options)


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ({"correct": True}, "right"), ({"correct": 0}, "wrong"), ({"acc": 1.0}, "right"), ({"exact": False, "f1": 0.5}, "wrong"),
        ({"f1": 1.0}, None), ({"length": 0}, None), ({}, None), (None, None),
        ({"judge_score": 1.0, "judge_grade": "C"}, "right"), ({"judge": 0.0, "judge_grade": "I", "exact": True}, "wrong"),
        ({"exact": True, "judge": 0.0, "judge_grade": "I"}, "right"),  # the headline comes first
        ({"judge_score": 0.5, "judge_grade": "P"}, None), ({"judge_score": 0.5, "judge_grade": "C/I"}, None),
        ({"judge_score": 1.0, "judge_grade": "5"}, None), ({"judge_score": 1.0, "judge_grade": "1", "short": True}, None),
        ({"judge_score": 0.8, "judge_grade": "4", "judge_pass": True}, "right"),
        ({"judge_score": 1.0, "judge_grade": "C", "judges_agree": False}, "right"), ({"judges_agree": False}, None),
        ({"correct": False, "judge_score": 1.0, "judge_grade": "C"}, "wrong"),
    ],
)  # fmt: skip
def test_every_kind_of_score_has_one_verdict(scores: Any, verdict: str | None) -> None:
    assert verdict_of(scores) == verdict


@given(WORDS, st.data())
def test_a_scale_of_words_is_right_at_its_top_and_never_by_the_number_one(
    words: list[str], data: Any
) -> None:
    mapping = {word: data.draw(WORTH) for word in words}
    low, high = min(mapping.values()), max(mapping.values())
    for grade, worth in mapping.items():
        told = verdict_of(judged(grade, score_mapping=mapping))
        if len({*mapping.values()}) == 2 or (low, high) == (0.0, 1.0):
            assert told == ("right" if worth == high else "wrong" if worth == low else None)
        else:
            assert told is None


@given(st.sampled_from("12345"), st.sampled_from("12345"))
def test_a_pass_mark_decides_on_a_scale_of_numbers(grade: str, mark: str) -> None:
    assert verdict_of(judged(grade, template="likert_5")) is None
    by_grade = verdict_of(judged(grade, template="likert_5", pass_mark=mark))
    assert by_grade == verdict_of(judged(grade, template="likert_5", pass_mark=int(mark) / 5))
    assert by_grade == ("right" if grade >= mark else "wrong")


@pytest.mark.parametrize("mark", ["6", "good", 4])
def test_a_pass_mark_that_no_grade_reaches_is_refused(mark: Any) -> None:
    with pytest.raises(UsageError, match="pass_mark is"):
        judged("5", template="likert_5", pass_mark=mark)


def test_a_panel_passes_by_what_it_finds_together() -> None:
    replies = iter(["GRADE: 5", "GRADE: 2"])
    sample = ScorerInput(
        "a", "b", {}, config={**JUDGE, "judge_1": {"url": "demo"}}, ask=lambda call: next(replies)
    )
    found = judge_panel(sample, template="likert_5", aggregate="mean", pass_mark="4")
    assert (found["judge_score"], found["judge_pass"]) == (0.7, False)


BENCH = """
from benchwright import benchmark, judge_score, scorer

ROWS = [{"question": f"What is {n} + {n}?", "answer": str(2 * n), "parity": "even" if n % 2 == 0 else "odd"} for n in range(12)]

def made(name, **options):
    @benchmark(name=name, dataset=ROWS, prompt="{question}", target_field="answer", judge={"url": "demo"})
    @scorer
    def graded(sample):
        return judge_score(sample, **options)
    return graded

words = made("words")
parts = made("parts", template="binary_qa_partial")
scale = made("scale", template="likert_5")
passing = made("passing", template="likert_5", pass_mark="4")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("graded")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path("bench.py").write_text(BENCH)
        for name in ("words", "parts", "scale", "passing"):
            assert main(["run", f"bench.py:{name}", "--quiet", "--demo-skill", "0.5"]) == 0
    return place


@pytest.fixture
def out(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(folder)

    def printed(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main([*words]) == code
        found = capsys.readouterr()
        return " ".join((found.out + found.err).split()) if "--json" not in words else found.out

    return printed


@pytest.mark.parametrize("run", ["1", "2", "3", "4"])
def test_filters_counts_pages_and_exports_say_the_same(out: Any, folder: Path, run: str) -> None:
    samples = json.loads(out("show", run, "--samples", "--json"))["samples"]
    assert [each["verdict"] for each in samples] == [verdict_of(each["scores"]) for each in samples]
    assert [each["grade"] for each in samples] == [each["scores"]["judge_grade"] for each in samples]
    assert all(
        "agrees with the reference" in each["reason"] and "GRADE" not in each["reason"] for each in samples
    )
    counts = Counter(each["verdict"] or "scored" for each in samples)
    listed = json.loads(out("show", run, "--wrong", "--json"))
    assert len(listed["samples"]) == counts["wrong"]
    with open_store(Workspace(folder)) as store:
        document: Any = run_document(store, store.run(int(run)))
        assert {name: n for name, n in document["page"]["counts"].items() if n} == counts
    for grade, number in Counter(each["grade"] for each in samples).items():
        for column in ("judge_grade", "grade"):
            found = json.loads(out("show", run, "--where", f"{column}={grade}", "--json"))["samples"]
            assert [each["grade"] for each in found] == [grade] * number
    slices = json.loads(out("show", run, "--by", "judge_grade", "--json"))["slices"]
    assert {each["value"]: each["rows"] for each in slices} == Counter(each["grade"] for each in samples)
    for format in ("jsonl", "csv"):
        assert main(["export", run, "-o", f"{run}.{format}"]) == 0
        text = (folder / f"{run}.{format}").read_text()
        rows = (
            list(map(json.loads, text.splitlines()))
            if format == "jsonl"
            else [*csv.DictReader(io.StringIO(text))]
        )
        for each, row in zip(samples, rows, strict=True):
            assert (row["grade"], row["verdict"] or None, row["reason"]) == (
                each["grade"],
                each["verdict"],
                each["reason"],
            )


def test_a_scale_without_a_pass_mark_is_said_to_be_one_and_sorted(out: Any) -> None:
    said = out("show", "3", "--wrong")
    assert "No sample is right or wrong: judge_score is a scale without a pass mark" in said
    assert "benchwright show 3 --sort judge_score" in said
    for more, back in ((), False), (("--descending",), True):
        found = json.loads(out("show", "3", "--sort", "judge_score", *more, "--json"))["samples"]
        values = [each["scores"]["judge_score"] for each in found]
        assert values == sorted(values, reverse=back)
        assert len(values) == 12
    assert "pass mark" not in out("show", "4", "--wrong")


def test_lists_show_grade_reason_and_what_they_are_sorted_by(out: Any) -> None:
    listed = out("show", "1", "--samples", "--limit", "2", "--sort", "judge_score")
    for heading in ("judge_score", "grade", "judge's reason"):
        assert heading in listed


def test_an_unknown_column_or_metric_is_named(out: Any) -> None:
    assert "Did you mean 'parity'?" in out("show", "1", "--where", "parit=even", code=4)
    assert len(json.loads(out("show", "1", "--where", "parity=even", "--json"))["samples"]) == 6
    assert "Did you mean 'judge_score'?" in out("show", "1", "--sort", "judge_scor", code=4)
