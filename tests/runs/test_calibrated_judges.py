"""A judge against human labels: from a file, from a run, by asking it; and what is wrong with labels is named."""

from __future__ import annotations

import json
import os
import re
import signal
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, calibrate_judge, judge_score, scorer
from benchwright.cli import main
from benchwright.core import BenchwrightError, DatasetError, NotFoundError, UsageError
from benchwright.scorers._judge_templates import JudgeTemplateError
from recording_server import recording


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


_NUMBERS = count()
"""For names of benchmarks."""


def written(rows: list[dict[str, Any]]) -> str:
    Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "labels.jsonl"


def rows_of(**counts: int) -> list[dict[str, Any]]:
    """Rows by the human's grade and the judge's: CI=5 is five that the human calls C and the judge I."""
    return [{"label": key[0], "grade": key[1]} for key, count in counts.items() for _ in range(count)]


def test_labels_and_grades_of_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(CC=20, CI=5, IC=10, II=15) + [{"grade": "C"}] * 60 + [{"grade": "I"}] * 40
    assert main(["judge-calibrate", written(rows), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["labelled"], found["judged"], found["accuracy"]) == (50, 150, 0.7)
    assert found["kappa"]["value"] == pytest.approx(0.4)
    assert found["kappa"]["ci_low"] < 0.4 < found["kappa"]["ci_high"]
    # Categories from the lowest score up; rows are the humans'.
    assert found["confusion"]["categories"] == ["I", "C"]
    assert found["confusion"]["counts"] == [[15, 10], [5, 20]]
    assert found["bias"]["difference"] == pytest.approx(0.1)
    assert (found["sensitivity"], found["specificity"]) == (0.8, 0.6)
    assert found["judge_score"] == 0.6
    powered, by_rates = found["corrected"]
    assert (powered["method"], by_rates["method"]) == ("prediction_powered", "rogan_gladen")
    assert by_rates["value"] == pytest.approx((0.6 + 0.6 - 1) / (0.8 + 0.6 - 1))
    assert powered["ci_low"] < powered["value"] < powered["ci_high"]
    assert main(["judge-calibrate", "labels.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert "0.400 (" in shown
    assert "+0.1000" in shown
    assert "human \\ judge" in shown


def test_a_scale_gets_weights(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"label": human, "grade": judge} for human, judge in [(1, 2), (2, 2), (3, 4), (5, 5), (4, 4)] * 6]
    found = calibrate_judge(rows)
    assert found.agreement.weights == "quadratic"
    assert found.scores["2"] == 0.4
    assert found.bias.difference == pytest.approx(0.08)
    assert [each.method for each in found.corrected] == ["prediction_powered"]
    plain = calibrate_judge(rows, weights="none").agreement.kappa
    assert found.agreement.kappa is not None
    assert plain is not None
    assert found.agreement.kappa > plain


def judged(url: str) -> Any:
    data = [{"question": f"q{n}", "answer": "B"} for n in range(30)]

    @benchmark(
        name="graded",
        dataset=data,
        prompt="{question}",
        target_field="answer",
        judge={"url": url, "model_id": "j"},
    )
    @scorer
    def graded(sample: ScorerInput) -> dict[str, Any]:
        return judge_score(sample)

    return graded


def kind(body: dict[str, Any]) -> str:
    """A judge that fails two of three."""
    return (
        "GRADE: I"
        if any(f"q{n}\n" in body["messages"][0]["content"] for n in range(0, 30, 3))
        else "GRADE: C"
    )


def test_labels_of_a_run_by_sample(folder: Path) -> None:
    with recording(kind) as server:
        result = benchwright.run(judged(server.url), endpoint=ScriptedEndpoint("x"), workspace=folder)
    # Of the first 24, humans call every second one right.
    labels = [{"sample_id": n, "label": n % 2 == 0} for n in range(24)]
    found = calibrate_judge(labels, run=result, workspace=folder)
    assert (found.labelled, found.judged) == (24, 30)
    assert found.agreement.confusion == ((4, 8), (4, 8))
    assert found.judge_score == pytest.approx(20 / 30)
    assert any("better than chance" in note.text for note in found.notes)
    assert [each.method for each in found.corrected] == ["prediction_powered"]
    assert found.corrected[0].value == pytest.approx(0.5, abs=0.01)
    assert main(["judge-calibrate", written(labels), "--run", "last"]) == 0
    with pytest.raises(DatasetError, match=r"labels.jsonl:2: the run has no sample 99"):
        calibrate_judge(written([labels[0], {"sample_id": 99, "label": "C"}]), run="last")
    with pytest.raises(DatasetError, match=r"labels.jsonl:2: sample 0 already has a label"):
        calibrate_judge(written([labels[0], labels[0]]), run="last")
    with pytest.raises(DatasetError, match=r"labels.jsonl:1: the row has no 'sample_id'"):
        calibrate_judge(written([{"label": "C"}]), run="last")
    with pytest.raises(NotFoundError, match=r"no 'judge_grad'.*Did you mean 'judge_grade'"):
        calibrate_judge(labels, run="last", grade_field="judge_grad")


def graded_by(grades: dict[str, float], repeats: int = 1) -> Any:
    """A run whose judge gives the rows these grades in turn, each worth what is listed."""
    number = next(_NUMBERS)

    @benchmark(
        name=f"own scale {number}",
        dataset=[{"question": f"q{n}", "grade": list(grades)[n % len(grades)]} for n in range(60)],
        prompt="{question}",
        judge={"url": "http://127.0.0.1:9/v1", "model_id": "j"},
    )
    @scorer
    def own_scale(sample: ScorerInput) -> dict[str, Any]:
        said = ScorerInput(
            "x",
            "",
            sample.metadata,
            config=sample.config,
            ask=lambda call: f"GRADE: {sample.metadata['grade']}",
        )
        return judge_score(said, template="Rate it: {response}", score_mapping=grades)

    return benchwright.run(own_scale, endpoint=ScriptedEndpoint("x"), repeats=repeats, cache=False)


@pytest.mark.parametrize(
    "grades",
    [
        {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0, "5": 5.0},
        {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0},
        {"1": 0.2, "2": 0.4, "3": 0.6, "4": 0.8, "5": 1.0},
        {"1.0": 1.0, "0.0": 0.0},
        {"C": 100.0, "I": 0.0},
        {"good": 1.0, "bad": 0.0},
        {"SAFE": 0.0, "UNSAFE": 1.0},
    ],
)
def test_labels_of_a_run_are_worth_what_its_grades_are_worth(grades: dict[str, float]) -> None:
    result = graded_by(grades)
    names = [name.removesuffix(".0") for name in grades]
    labels = [{"sample_id": n, "label": names[n % len(names)]} for n in range(40)]
    found = calibrate_judge(labels, run=result)
    assert found.agreement.agreed == 1.0
    assert found.bias.difference == 0.0, "the judge agrees with every label"
    assert found.judge_score == pytest.approx(sum(grades.values()) / len(grades))
    assert found.corrected[0].value == pytest.approx(found.judge_score, abs=0.1 * max(grades.values()))
    doubled = {name: 2 * score for name, score in zip(names, grades.values(), strict=True)}
    again = calibrate_judge(labels, run=result, score_mapping=doubled)
    assert again.bias.difference == 0.0
    assert again.judge_score == pytest.approx(2 * found.judge_score)


def test_scores_that_are_given_must_cover_the_grades_of_the_run() -> None:
    result = graded_by({"C": 1.0, "P": 0.5, "I": 0.0})
    labels = [{"sample_id": n, "label": "CPI"[n % 3]} for n in range(30)]
    labels_of_two = [each for each in labels if each["label"] != "P"]
    with pytest.raises(UsageError, match=r"the run has the grades P, .* add these to --score-mapping"):
        calibrate_judge(labels_of_two, run=result, score_mapping={"C": 10, "I": 0})
    assert calibrate_judge(labels_of_two, run=result, template="binary_qa").scores["P"] == 0.5
    with pytest.raises(UsageError, match='No score is defined for the grade "excellent"'):
        calibrate_judge([*labels_of_two, {"sample_id": 1, "label": "excellent"}], run=result)


def graded_rows(copies: int = 1, repeats: int = 1) -> Any:
    """A run of 40 rows; the judge calls two of three right, whatever the repeat."""
    number = next(_NUMBERS)

    @benchmark(
        name=f"copied rows {number}",
        dataset=[{"question": f"q{n}", "max_tokens": 10 + copy} for n in range(40) for copy in range(copies)],
        prompt="{question}",
        judge={"url": "http://127.0.0.1:9/v1", "model_id": "j"},
    )
    @scorer
    def copied_rows(sample: ScorerInput) -> dict[str, Any]:
        grade = "I" if int(sample.metadata["question"][1:]) % 3 == 0 else "C"
        said = ScorerInput("x", "", sample.metadata, config=sample.config, ask=lambda call: f"GRADE: {grade}")
        return judge_score(said)

    return benchwright.run(copied_rows, endpoint=ScriptedEndpoint("x"), repeats=repeats, cache=False)


def human(row: int) -> str:
    return "CI"[row % 7 in (0, 3)]


def figures(found: Any) -> dict[str, Any]:
    """All figures and words that copies must not change, by their paths."""
    whole = found.to_json()
    leaves = {name: whole[name] for name in ("labelled_rows", "judged_rows", "accuracy", "judge_score")}
    leaves |= {name: whole[name] for name in ("sensitivity", "specificity")}
    tables = {"kappa": whole["kappa"], "bias": whole["bias"]} | {
        each["method"]: each for each in whole["corrected"]
    }
    numbers = {
        f"{name}.{key}": value
        for name, table in tables.items()
        for key, value in table.items()
        if isinstance(value, float)
    }
    return leaves | numbers


@pytest.mark.parametrize(("copies", "repeats"), [(4, 1), (1, 4), (2, 3)])
def test_copies_and_repeats_of_a_row_count_once(copies: int, repeats: int) -> None:
    once = calibrate_judge([{"sample_id": n, "label": human(n)} for n in range(24)], run=graded_rows())
    labels = [
        {"sample_id": row, "repeat": repeat, "label": human(row // copies)}
        for row in range(24 * copies)
        for repeat in range(repeats)
    ]
    found = calibrate_judge(labels, run=graded_rows(copies, repeats))
    assert (found.labelled, found.judged) == (24 * copies * repeats, 40 * copies * repeats)
    assert (found.labelled_rows, found.judged_rows) == (24, 40)
    assert figures(found) == pytest.approx(figures(once), rel=1e-9)
    as_file = [
        {
            "question": f"q{row}",
            "label": human(row) if row < 24 else None,
            "grade": "I" if row % 3 == 0 else "C",
        }
        for row in range(40)
        for _ in range(copies * repeats)
    ]
    assert figures(calibrate_judge(as_file)) == pytest.approx(figures(once), rel=1e-9)


def test_a_row_with_more_labels_than_others_counts_no_more() -> None:
    rows = [{"question": "a", "label": "C", "grade": "I"}] * 30
    rows += [{"question": f"q{n}", "label": "CI"[n % 2], "grade": "CI"[n % 2]} for n in range(30)]
    found = calibrate_judge(rows)
    assert (found.labelled, found.labelled_rows) == (60, 31)
    assert found.agreement.agreed == pytest.approx(30 / 31)
    assert found.bias.difference == pytest.approx(-1 / 31)
    assert found.sensitivity == pytest.approx(15 / 16)


def test_only_some_repeats_may_be_labelled() -> None:
    """The labels of a row are compared with the grades of the same samples."""
    result = graded_rows(repeats=3)
    every = [{"sample_id": n, "repeat": n % 3, "label": human(n)} for n in range(24)]
    found = calibrate_judge(every, run=result)
    once = calibrate_judge([{"sample_id": n, "label": human(n)} for n in range(24)], run=result)
    assert (found.labelled, found.labelled_rows, found.judged, found.judged_rows) == (24, 24, 120, 40)
    assert found.to_json() == once.to_json()
    with pytest.raises(DatasetError, match=r"label 24: sample 1/1 already has a label"):
        calibrate_judge([*every, every[1]], run=result)


def test_one_question_for_all_replies_does_not_make_them_one_row() -> None:
    rows = [
        {"question": "Polite?", "response": f"r{n}", "label": "CI"[n % 2], "grade": "CI"[n % 3 == 0]}
        for n in range(30)
    ]
    assert calibrate_judge(rows).labelled_rows == 30


def test_the_table_says_how_many_rows_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"question": f"q{n}", "label": "CI"[n % 2], "grade": "CI"[n % 3 == 0]} for n in range(6) for _ in "ab"
    ]
    assert main(["judge-calibrate", written(rows)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "judge against 12 labels of 6 rows; 12 samples of 6 rows judged" in shown
    assert "With fewer than 20 labelled rows, the 95 % intervals are unreliable." in shown


def test_a_judge_grades_the_labelled_rows_now(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"question": f"q{n}", "response": "x", "target": "B", "label": "C" if n % 3 else "I"}
        for n in range(30)
    ]
    with recording(kind) as server:
        judge = json.dumps({"url": server.url, "model_id": "j"})
        assert main(["judge-calibrate", written(rows), "--judge", judge]) == 0
        assert len(server.received) == 30
        found = calibrate_judge("labels.jsonl", judge={"url": server.url, "model_id": "j"})
        assert len(server.received) == 30  # recorded the first time
    assert found.agreement.kappa == 1.0
    assert found.agreement.ci_low is not None
    assert found.agreement.ci_low < 0.95
    assert found.corrected[0].value == pytest.approx(2 / 3)
    capsys.readouterr()
    assert main(["show", "last", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["target"] == "judge_calibrate"  # no file defines it


def test_an_interrupted_judge_gives_no_figures_and_is_asked_for_the_rest_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    labels = written(
        [{"question": f"q{n}", "response": "a", "target": "a", "label": "CI"[n % 2]} for n in range(24)]
    )
    interrupted = []

    def grade(body: dict[str, Any]) -> str:
        if not interrupted:
            interrupted.append(True)
            os.kill(os.getpid(), signal.SIGINT)
        return "GRADE: C"

    with recording(grade) as server:
        words = ["judge-calibrate", labels, "--judge", json.dumps({"url": server.url, "model_id": "j"})]
        assert main(words) == 130
        said = capsys.readouterr()
        assert (said.out, "of 24 rows" in said.err) == ("", True)
        assert len(server.received) < 24
        assert main(words) == 0
        assert len(server.received) == 24


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [{"label": "C", "grade": "C"}, {"label": "maybe", "grade": "C"}],
            'No score is defined for the grades? .*"maybe"',
        ),
        ([{"label": "C"}], "labels.jsonl:1: field 'grade' is missing .the row has label"),
        ([{"grade": "C"}], "labels.jsonl: no row has the field 'label'. The rows have: grade"),
        ([{"grade": "C", "label": None}], "no row has both a label and a grade"),
        ([], "has no rows|empty"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(
    rows: list[dict[str, Any]], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge-calibrate", written(rows)]) == 2
    assert re.search(says, " ".join(capsys.readouterr().err.split()))


def test_a_misspelt_field_of_labels_is_named_with_those_that_are_there() -> None:
    with pytest.raises(
        DatasetError, match=r"no row has the field 'lable'. Did you mean 'label'.* grade, label"
    ):
        calibrate_judge([{"grade": "C", "label": "C"}], label_field="lable")


def test_a_label_off_the_scale_is_named_with_its_line() -> None:
    rows = [{"label": "C", "grade": "C"}, {"label": "maybe", "grade": "C"}]
    with pytest.raises(DatasetError, match=r"labels.jsonl:2: field 'label' is 'maybe'; expected one of C, I"):
        calibrate_judge(written(rows), template="binary_qa")
    mapped = calibrate_judge(written(rows), score_mapping={"C": 1, "maybe": 0.5, "I": 0})
    assert mapped.bias.mean_a == 0.75


def test_a_judge_that_does_not_answer_is_named_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with recording() as server:
        judge = json.dumps({"url": server.url, "model_id": "j", "max_retries": 0})
    assert main(["judge-calibrate", written([{"response": "x", "label": "C"}]), "--judge", judge]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "the judge graded no row: " in said
    assert "cannot connect to" in said
    assert "benchwright show 1 --failed" in said


@pytest.mark.parametrize("worth", ["x", None, True, [1], float("nan")])
def test_a_grade_is_worth_a_number(worth: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mapping = json.dumps({"C": 1, "I": worth})
    assert main(["judge-calibrate", written(rows_of(CC=1)), "--score-mapping", mapping]) == 2
    assert f"score_mapping: 'I' is {worth!r}; expected the number" in capsys.readouterr().err


def test_wrong_options_are_refused() -> None:
    with pytest.raises(UsageError, match="give only one"):
        calibrate_judge([], run=1, judge={})
    with pytest.raises(UsageError, match="Did you mean 'linear'"):
        calibrate_judge([], weights="liner")
    assert main(["judge-calibrate", "labels.jsonl", "--judge", "{"]) == 2


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("nan", 'No score is defined for the grades? .*"nan"'),
        ("inf", 'No score is defined for the grades? .*"inf"'),
        ("1e400", 'No score is defined for the grades? .*"1e400"'),
        (["1"], r"field 'label' is \['1'\]; expected a text or a number"),
        ({"C": 1}, "expected a text or a number"),
    ],
)
def test_labels_that_are_no_number_and_no_grade_end_at_once(label: Any, words: str) -> None:
    with pytest.raises(BenchwrightError, match=words):
        calibrate_judge([{"label": label, "grade": "1"}])


def test_kappa_of_a_single_grade_is_not_shown_as_certain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge-calibrate", written(rows_of(CC=30, CI=10))]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"kappa +–", shown)
    assert "one of the two gave a single grade throughout, so κ is not informative" in " ".join(shown.split())


def test_grades_may_be_written_in_small_letters() -> None:
    found = calibrate_judge([{"label": " c ", "grade": "C"}, {"label": "I", "grade": "i"}])
    assert found.agreement.agreed == 1.0


ASKED = [{"question": "q", "response": "blue", "target": "red", "label": "I"}] * 2


def test_a_template_may_be_in_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rubric.txt").write_text(
        "Is {response} the same as {reference}? End with GRADE: C or GRADE: I."
    )
    with recording("GRADE: I") as server:
        judge = json.dumps({"url": server.url, "model_id": "j"})
        command = ["judge-calibrate", written(ASKED), "--judge", judge, "--template"]
        assert main([*command, "rubric.txt", "--score-mapping", '{"C": 1, "I": 0}']) == 0
        assert server.bodies[0]["messages"][-1]["content"].startswith("Is blue the same as red?")
        asked = len(server.bodies)
        (folder / "empty.md").write_text("Grade the reply.")
        for given, code, words in (
            ("missing.txt", 4, "--template missing.txt: there is no such file"),
            ("empty.md", 2, "it has no {response}"),
            ("Grade it, please.", 2, "it has no {response}"),
            ("Compare {reference} and {answer}", 2, "it has no {response}"),
            ("binary_quiz", 2, "unknown judge template 'binary_quiz'"),
        ):
            capsys.readouterr()
            assert main([*command, given]) == code
            assert words in " ".join(capsys.readouterr().err.split())
        assert len(server.bodies) == asked


def test_a_template_without_placeholders_is_refused_wherever_a_judge_is_asked() -> None:
    sample = ScorerInput(
        "x", "y", {}, config={"judge": {"url": "http://x", "model_id": "j"}}, ask=lambda call: "GRADE: C"
    )
    with pytest.raises(
        JudgeTemplateError, match=r"no placeholder such as {response}.*not the name of a file"
    ):
        judge_score(sample, template="rubric.txt", score_mapping={"C": 1.0})


def test_an_exported_table_with_labels_is_read_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = graded_by({"C": 1.0, "I": 0.0})
    assert main(["export", str(result.run_id), "-o", "samples.csv"]) == 0
    lines = (folder / "samples.csv").read_text().splitlines()
    (folder / "labelled.csv").write_text(
        "\n".join([f"{lines[0]},label", *(f"{line},C" for line in lines[1:])])
    )
    for source in ({"run": result}, {}):
        found = calibrate_judge("labelled.csv", **source)
        assert found.labelled == len(lines) - 1


def test_grades_without_a_score_are_named_with_the_flag_to_paste() -> None:
    rows = [{"label": "good", "grade": "bad"}, {"label": "bad", "grade": "good"}]
    with pytest.raises(UsageError) as caught:
        calibrate_judge(rows)
    assert str(caught.value).startswith(
        'No score is defined for the grades "bad" and "good" (label 0). Define all scores with '
    )
    assert """--score-mapping '{"bad": 0, "good": 1}'""" in str(caught.value)


VOCABULARIES: tuple[tuple[str, ...], ...] = (
    ("I", "C"), ("no", "yes"), ("0", "1"), ("falsch", "richtig"), ("bad", "good"), ("1", "2", "3", "4", "5"), ("zzz", "aaa"),
)  # fmt: skip
"""Words of grades, the worst first."""


def _worth(words: tuple[str, ...]) -> dict[str, float]:
    return {word: place / (len(words) - 1) for place, word in enumerate(words)}


@pytest.mark.parametrize("source", ["file", "run"])
@pytest.mark.parametrize("grades", VOCABULARIES, ids="-".join)
@pytest.mark.parametrize("labels", VOCABULARIES, ids="-".join)
def test_words_of_the_same_worth_agree_whoever_uses_them(
    labels: tuple[str, ...], grades: tuple[str, ...], source: str
) -> None:
    """With any two vocabularies, with a mapping and without: the true figures, or a refusal. Never 0 % in silence."""
    # The judge agrees on three of four; it errs by calling the worst the best, and the best the worst.
    truth = [(n % 2, n % 2 if n % 4 < 3 else 1 - n % 2) for n in range(60)]
    ends = [(labels[0], labels[-1]), (grades[0], grades[-1])]
    rows = [
        {"sample_id": n, "label": ends[0][human], "grade": ends[1][judge]}
        for n, (human, judge) in enumerate(truth)
    ]
    of_run: dict[str, Any] = {}
    if source == "run":
        of_run = {"run": graded_in_turn([str(row["grade"]) for row in rows], _worth(grades))}
        rows = [{"sample_id": row["sample_id"], "label": row["label"]} for row in rows]
    clash = any(_worth(labels)[word] != _worth(grades)[word] for word in set(labels) & set(grades))
    for mapping in (None, {**_worth(labels), **_worth(grades)}, _worth(labels)):
        known = mapping is not None and (source == "run" or mapping.keys() >= {*ends[0], *ends[1]})
        found = None
        with nullcontext() if known and not clash else suppress(BenchwrightError):
            found = calibrate_judge(rows, score_mapping=mapping, **of_run)
        if found is None:  # refused
            continue
        assert found.agreement.agreed == pytest.approx(0.75), mapping
        assert found.agreement.kappa == pytest.approx(0.5, abs=0.01)
        assert len(found.agreement.categories) == 2


def graded_in_turn(said: list[str], worth: dict[str, float]) -> Any:
    """A run whose judge says these grades, row by row."""

    @benchmark(
        name=f"in turn {next(_NUMBERS)}",
        dataset=[{"question": f"q{n}", "grade": grade} for n, grade in enumerate(said)],
        prompt="{question}",
        judge={"url": "http://127.0.0.1:9/v1", "model_id": "j"},
    )
    @scorer
    def in_turn(sample: ScorerInput) -> dict[str, Any]:
        asked = ScorerInput("x", "", sample.metadata, config=sample.config, ask=lambda call: f"GRADE: {sample.metadata['grade']}")  # fmt: skip
        return judge_score(asked, template="Rate it: {response}", score_mapping=worth)

    return benchwright.run(in_turn, endpoint=ScriptedEndpoint("x"), cache=False)


def test_labels_that_never_agree_are_noted_or_refused() -> None:
    rows = rows_of(CI=40)
    assert "no label agrees with its grade" in calibrate_judge(rows).notes[0].text
    apart = [{"label": "ab"[n % 2], "grade": "CI"[n % 2]} for n in range(40)]
    with pytest.raises(
        UsageError, match=r"no label has the score of any grade \(labels a 5, b 4; grades C 1, I 0\)"
    ):
        calibrate_judge(apart, score_mapping={"a": 5, "b": 4, "C": 1, "I": 0})


@pytest.mark.parametrize("words", [("gut", "schlecht"), ("Correct", "I"), ("blau", "grün"), ("aaa", "good")])
def test_the_mapping_to_paste_guesses_no_number(words: tuple[str, str]) -> None:
    """Only words that mean the same to everybody get a number; the order of the alphabet is none."""
    rows = [{"label": words[n % 2], "grade": words[n % 2]} for n in range(4)]
    with pytest.raises(UsageError) as caught:
        calibrate_judge(rows)
    known = {"gut": "1", "schlecht": "0", "Correct": "1", "I": "0", "good": "1"}
    listed = ", ".join(f'"{word}": {known.get(word, "…")}' for word in words)
    assert f"--score-mapping '{{{listed}}}'" in str(caught.value)


def test_labels_that_are_not_there_end_like_a_target_that_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written(rows_of(CC=2))
    assert main(["judge-calibrate", "lables.jsonl"]) == 4
    assert "labels.jsonl" in capsys.readouterr().err, "the near name"


def test_a_calibration_without_an_answer_is_explained_wherever_its_run_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [{"question": f"q{n}", "response": "r", "target": "t", "label": "C"} for n in range(3)]
    judge = json.dumps({"url": "http://127.0.0.1:9/v1", "model_id": "j", "max_retries": 0})
    assert main(["judge-calibrate", written(rows), "--judge", judge]) == 1
    written([{"sample_id": n, "label": "C"} for n in range(3)])
    capsys.readouterr()
    assert main(["judge-calibrate", "labels.jsonl", "--run", "1"]) == 4
    told = capsys.readouterr().err
    assert "run 1 has no grades: none of its 3 samples has a score" in told
    assert "benchwright show 1 --failed" in told
    assert main(["resume", "1"]) == 2
    told = capsys.readouterr().err
    assert "judge-calibrate --judge. Give that command again" in told
    assert "notebook" not in told
