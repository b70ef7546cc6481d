"""From a judged run to a decision: the demo model as judge, labels in the judge's grades, a verdict on the judge, and what differs between judges."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import benchwright
from benchwright import calibrate_judge, runs as run_acts
from benchwright.cli import main
from benchwright.runs._run_grades import scale_of, stated_grades
from benchwright.server import serving
from benchwright.store import Workspace
from waiting import PATIENCE_S

ROWS = [{"question": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(8)]
BENCH = """
from benchwright import benchmark, judge_score, scorer

@benchmark(name="own", dataset="q.jsonl", prompt="{{question}}", target_field="answer", judge={judge})
@scorer
def graded(sample):
    return judge_score(sample, template="Reference answer:\\n{{reference}}\\n\\nAnswer to grade:\\n{{response}}\\n\\nGRADE: {grades}",
                       score_mapping={mapping})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def judged(folder: Path, **options: Any) -> None:
    """A run whose judge is the demo model."""
    benchwright.run("q.jsonl", qa_metrics=["judge"], judge_model="demo", **options)


def written(file: str, grades: str, mapping: dict[str, float], **judge: Any) -> str:
    Path(file).write_text(BENCH.format(judge={"url": "demo", **judge}, grades=grades, mapping=mapping))
    return file


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main([*words]) != 0
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("q.jsonl", "--qa-metrics", "judge", "--judge-model", "demo"),
        ("q.jsonl", "--qa-metrics", "judge", "--judge-url", "demo"),
        ("q.jsonl", "--qa-metrics", "judge", "--judge-url", "demo", "--judge-id", "my-judge"),
        ("own.py",),
        ("own.py", "--judge", '{"model_id": "other"}'),
    ],
)
def test_the_demo_model_judges_wherever_a_judge_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    written("own.py", "C or I", {"C": 1, "I": 0})
    assert main(["run", *words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert found["summary"]["outcomes"]["scored"] == len(ROWS)
    assert any("is the demo model; its grades" in note for note in found["summary"]["notes"])


def test_the_address_demo_of_a_model_is_cured_by_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = error_of(capsys, "run", "q.jsonl", "--model-url", "demo", "--model-id", "x")
    assert "--model demo" in said
    assert "http://demo" not in said


GRADED = {"C or I": {"C": 1, "I": 0}, "GOOD, FAIR or BAD": {"GOOD": 1, "FAIR": 0.5, "BAD": 0}, "a digit from 1 to 3": {"1": 0, "2": 0.5, "3": 1}}  # fmt: skip


@pytest.mark.parametrize(("grades", "mapping"), GRADED.items())
def test_a_label_that_is_no_grade_of_the_judge_is_refused_everywhere(
    folder: Path, capsys: pytest.CaptureFixture[str], grades: str, mapping: dict[str, float]
) -> None:
    """Every grade may be given in any case, also one that the judge did not give; no other word."""
    assert main(["run", written("own.py", grades, mapping), "--quiet"]) == 0
    lines = ["sample_id,label", *(f"{n},{grade.lower()}" for n, grade in enumerate(mapping))]
    Path("mine.csv").write_text("\n".join(lines))
    assert main(["labels", "1", "--import", "mine.csv"]) == 0
    Path("bad.csv").write_text("\n".join([*lines, "5,Corect", "6,9"]))
    said = error_of(capsys, "labels", "1", "--import", "bad.csv")
    for line, value in ((len(lines) + 1, "Corect"), (len(lines) + 2, "9")):
        assert f"bad.csv:{line}: field 'label': '{value}' is not a grade of the judge of run 1" in said
    assert all(grade in said for grade in mapping)
    assert "Nothing was imported." in said
    with serving(Workspace(folder), acts=run_acts) as (address, _):
        head = {"Authorization": f"Bearer {address.token}", "Content-Type": "application/json"}

        def asked(verb: str, path: str, body: Any = None) -> tuple[int, Any]:
            connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
            with closing(connection):
                connection.request(verb, path, None if body is None else json.dumps(body), head)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())

        status, refused = asked(
            "POST", "/api/runs/1/samples/5/0/labels", {"kind": "judge", "value": "Corect"}
        )
        assert status == 422
        assert "is not a grade of the judge of run 1" in json.dumps(refused)
        status, sample = asked("GET", "/api/runs/1/samples/5/0")
        assert sorted(sample["grades"]) == sorted(mapping)
        first = next(iter(mapping))
        status, kept = asked(
            "POST", "/api/runs/1/samples/5/0/labels", {"kind": "judge", "value": first.lower()}
        )
        assert (status, kept["value"]) == (200, first)
        status, page = asked(
            "GET",
            f"/api/runs/1/samples?column=judge_grade&value={sample['grade']}&columns=sample_id,grade,verdict,reason",
        )
        assert {each["grade"] for each in page["samples"]} == {sample["grade"]}
        assert all(each["reason"] for each in page["samples"])


@given(st.dictionaries(st.sampled_from(["good", "fair", "bad", "5", "C"]), st.floats(0, 1), min_size=1))
def test_a_scale_has_every_grade_that_was_given(worth: dict[str, float]) -> None:
    assert {*scale_of(worth, stated_grades("good, fair or bad"))} >= worth.keys()


def test_a_judged_run_says_whether_people_checked_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(folder)
    capsys.readouterr()
    main(["show", "1", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["judged"]["labelled"] == 0
    assert "labels 1 --export" in found["judged"]["text"]
    main(["show", "1", "--samples", "--json"])
    samples = json.loads(capsys.readouterr().out)["samples"]
    wrong = {"C": "I", "I": "C"}
    lines = [
        f"{each['sample_id']},{each['grade'] if n else wrong[each['grade']]}"
        for n, each in enumerate(samples)
    ]
    Path("mine.csv").write_text("\n".join(["sample_id,label", *lines]))
    assert main(["labels", "1", "--import", "mine.csv"]) == 0
    capsys.readouterr()
    main(["show", "1", "--json"])
    counts = json.loads(capsys.readouterr().out)["judged"]
    assert (counts["graded"], counts["labelled"], counts["agreed"]) == (8, 8, 7)
    assert main(["judge-calibrate", "--labels", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sentence"].startswith(
        "The judge agrees with people in 7 of 8 labelled replies (0.88, 95 % interval "
    )
    assert (told["verdict"], "too few labels" in told["sentence"]) == ("unclear", True)
    assert main(["judge-calibrate", "--labels", "1"]) == 0
    assert " ".join(capsys.readouterr().out.split()).startswith(told["sentence"])


@pytest.mark.parametrize(
    ("pairs", "verdict", "words"),
    [
        ("CC " * 60 + "II " * 50 + "CI " * 3 + "IC " * 2, "good", "good enough to compare models by"),
        ("CC " * 60 + "II " * 50 + "IC " * 12, "good", "though too kind by 0.10"),
        ("CC " * 30 + "II " * 30 + "CI " * 30 + "IC " * 30, "poor", "not good enough to decide by"),
        ("CC " * 20 + "II " * 14 + "CI " * 3 + "IC " * 3, "unclear", "labelled rows would tell"),
        ("CC " * 10 + "II " * 10 + "CI " * 5 + "IC " * 5, "unclear", "not shown to be better than chance"),
        ("CC " * 30, "unclear", "one grade throughout"),
        ("CC " * 5 + "II " * 5, "unclear", "too few labels"),
    ],
)
def test_a_calibration_begins_with_a_verdict(pairs: str, verdict: str, words: str) -> None:
    found = calibrate_judge([{"label": pair[0], "grade": pair[1]} for pair in pairs.split()])
    assert (found.verdict, words in found.sentence) == (verdict, True), found.sentence
    equal = sum(pair[0] == pair[1] for pair in pairs.split())
    assert f"{equal} of {len(pairs.split())} labelled replies" in found.sentence


def test_judges_that_differ_are_named_with_both_values(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = GRADED["C or I"]
    for options in ({}, {"model_id": "strong", "temperature": 0.5}):
        assert main(["run", written("own.py", "C or I", binary, **options), "--quiet"]) == 0
    assert main(["run", written("own.py", "GOOD, FAIR or BAD", GRADED["GOOD, FAIR or BAD"]), "--quiet"]) == 0
    said = error_of(capsys, "compare", "1", "2")
    assert "judge.model_id demo → strong, judge.temperature 0.0 → 0.5" in said
    assert "--force" in said
    assert "have judges with other grades (" in error_of(capsys, "compare", "1", "3")
    assert main(["compare", "1", "2", "--force"]) == 0
    judged(folder)
    judged_by_other = {"qa_metrics": ["judge"], "judge_url": "demo", "judge_id": "strong"}
    benchwright.run("q.jsonl", **judged_by_other)
    assert "judge.model_id not set → strong" in error_of(capsys, "compare", "4", "5")
