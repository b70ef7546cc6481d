"""Labels of people: in sheets and back, in the scores of a run, and in the calibration of its judge."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, calibrate_judge, judge_score, scorer
from benchwright.cli import main
from benchwright.core import DatasetError, ModelRequest, NotFoundError, UsageError
from benchwright.results import LabelList
from benchwright.runs import import_labels
from benchwright.store import Store, Workspace, open_store
from recording_server import recording

HOSTILE = "=1+1, <script>\u202e'\"\n-"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{n}+{n}", "answer": str(2 * n)} for n in range(1, 11)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def replied(request: ModelRequest) -> str:
    """The first five are right, the others are the row's number; the last is hidden in other words."""
    number = int(request.payload.split(b"+")[0].split(b'"')[-1])
    return str(2 * number) if number <= 5 else f"{number}" if number < 10 else "either 19 or 21"


def opened(folder: Path) -> Store:
    return open_store(Workspace(folder))


def label(folder: Path, run: int, sample: int, kind: str, value: str | None = None, who: str = "ann") -> None:
    with opened(folder) as store:
        store.add_label(LabelList.new(store, run, sample, 0, kind=kind, value=value, who=who))


def json_of(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_scores_follow_labels_and_say_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied))
    again = benchwright.run("q.jsonl", endpoint=ScriptedEndpoint("12"))
    assert run["normalised_exact"] == pytest.approx(0.5)
    with pytest.raises(UsageError, match="no label changes a score of run 1"):
        benchwright.rescore(1, labels=True)
    label(folder, 1, 0, "ambiguous")  # right
    label(folder, 1, 5, "ambiguous")  # wrong
    only_left_out = json_of(capsys, "show", "1")["labels"]
    assert (only_left_out["left_out"], only_left_out["low"], only_left_out["high"]) == (2, 0.5, 0.5)
    label(folder, 1, 6, "gold", "7")  # its reply is 7: now right
    label(folder, 1, 1, "gold", "5")  # was right: now wrong
    label(folder, 1, 7, "gold")  # wrong, and nobody knows what is right: left out
    label(folder, 1, 9, "extraction", "20")  # now right, but only this reply
    label(folder, 1, 2, "tag", "hard")
    effect = json_of(capsys, "show", "1")["labels"]
    assert (effect["samples"], effect["left_out"], effect["corrected"]) == (7, 3, 3)
    assert (effect["recorded"], effect["low"], effect["high"]) == (0.5, 3 / 7, 6 / 7)
    assert main(["show", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Labels would leave out 3 samples and correct 3 samples and move normalised_exact" in said
    found = benchwright.rescore(1, labels=True)
    assert (found["normalised_exact"], found.metrics["normalised_exact"].count) == (5 / 7, 7)
    assert effect["low"] <= found["normalised_exact"] <= effect["high"]
    assert found.summary.labels == {
        "left_out": {"ambiguous": 2, "gold": 1},
        "corrected": {"gold": 2, "extraction": 1},
    }
    assert found.summary.notes[0] == (
        "Scored with people's labels: 3 left out (ambiguous 2, gold 1), 3 corrected (gold 2, extraction 1)."
    )
    assert (found.summary.failed, found.summary.comparable, found.summary.evaluated) == (0, True, 10)
    samples = {row["sample_id"]: row for row in found.samples()}
    assert samples[9]["response"] == "either 19 or 21"  # what was replied stays
    assert samples[0]["scores"] == {"labelled": "left out: ambiguous"}
    assert "rescore 1 --labels" in json_of(capsys, "show", str(found.run_id))["command"]
    assert json_of(capsys, "show", str(found.run_id))["labels"]["text"] == ""  # nothing is left to move
    # In another run, the label about a reply changes nothing; those about rows do.
    other = benchwright.rescore(again.run_id, labels=True)
    assert other.summary.labels is not None
    assert other.summary.labels["corrected"] == {"gold": 2}


def test_a_resumed_rescoring_keeps_its_labels(folder: Path) -> None:
    benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied))
    label(folder, 1, 0, "ambiguous")
    first = benchwright.rescore(1, labels=True)
    label(folder, 1, 1, "ambiguous")  # after its start
    with opened(folder) as store:
        assert store.run(first.run_id).settings["labels"] == [
            [row, "ambiguous", None, None] for _, _, row in list(store.labelled(1))[:1]
        ]
    assert benchwright.resume(first.run_id).summary == first.summary


@pytest.mark.parametrize("ending", ["csv", "xlsx", "jsonl"])
def test_a_sheet_comes_back_as_it_was_written(
    folder: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied))
    for who in ("ann", "bob"):
        label(folder, 1, 3, "gold", "=2*4", who)
        label(folder, 1, 3, "note", HOSTILE, who)
        label(folder, 1, 3, "tag", "a, b", who)
        label(folder, 1, 3, "tag", "c", who)
    label(folder, 1, 4, "extraction", "+10")
    label(folder, 1, 5, "ambiguous")
    with opened(folder) as store:
        before = store.labels()
    sheet = f"labels.{ending}"
    assert json_of(capsys, "labels", "1", "--export", sheet) == {"file": sheet, "lines": 11}
    counts = json_of(capsys, "labels", "1", "--import", sheet)
    assert counts == {"file": sheet, "added": 0, "changed": 0, "removed": 0, "unchanged": len(before)}
    with opened(folder) as store:
        assert store.labels() == before
        for each in before:
            store.remove_label(each.id)
    counts = json_of(capsys, "labels", "1", "--import", sheet)
    assert counts["added"] == len(before)
    with opened(folder) as store:
        keys = {(each.row, each.kind, each.value, each.reply, each.who) for each in store.labels()}
    assert keys == {(each.row, each.kind, each.value, each.reply, each.who) for each in before}
    listed = json_of(capsys, "labels", "1")
    assert len(listed["labels"]) == len(before)
    assert main(["labels", "1"]) == 0
    assert "\u202e" not in capsys.readouterr().out


def written(*rows: dict[str, Any]) -> str:
    with Path("mine.csv").open("w", newline="", encoding="utf-8") as file:
        names = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    return "mine.csv"


def test_a_dash_takes_ones_own_label_away(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied))
    label(folder, 1, 3, "ambiguous")
    label(folder, 1, 3, "ambiguous", who="bob")
    empty = written({"sample_id": 3, "ambiguous": "", "who": "ann"})
    assert json_of(capsys, "labels", "1", "--import", empty)["removed"] == 0
    taken = written({"sample_id": 3, "ambiguous": "-", "who": "ann"})
    assert json_of(capsys, "labels", "1", "--import", taken)["removed"] == 1
    with opened(folder) as store:
        assert [each.who for each in store.labels()] == ["bob"]


def test_a_dash_beside_labels_of_others_leaves_them_unchanged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied))
    for who in ("ann", "bob", "eve"):
        label(folder, 1, 3, "ambiguous", who=who)
    sheet = written(
        {"sample_id": 3, "ambiguous": "-", "who": "ann"},
        {"sample_id": 3, "ambiguous": "yes", "who": "bob"},
        {"sample_id": 2, "ambiguous": "yes", "who": "bob"},
    )
    found = json_of(capsys, "labels", "1", "--import", sheet)
    assert [found[name] for name in ("removed", "unchanged", "added")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"sample_id": 99, "ambiguous": "yes"}, "mine.csv:3: run 1 has no sample 99, repeat 0"),
        ({"sample_id": "x", "ambiguous": "yes"}, "mine.csv:3: field 'sample_id' is 'x'; expected the number"),
        ({"sample_id": 1, "ambiguous": "perhaps"}, "mine.csv:3: field 'ambiguous' is 'perhaps'; write yes"),
        ({"sample_id": 1, "ambiguous": "yes", "row_id": "00"}, "mine.csv:3: field 'row_id': sample 1 of run 1 is another row"),
        ({"sample_id": 1, "gold_wrong": "no", "right_target": "4"}, "mine.csv:3: field 'right_target' is '4', and"),
        ({"sample_id": 1, "tags": '["a"'}, "mine.csv:3: field 'tags' is not a list"),
        ({"sample_id": 0, "note": "other"}, "mine.csv:3: field 'note' is 'other', and mine.csv:2 says 'one'"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_nothing_is_imported(folder: Path, row: dict[str, Any], said: str) -> None:
    benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied))
    file = written({"sample_id": 0, "note": "one"}, row)
    with opened(folder) as store:
        with pytest.raises(DatasetError) as caught:
            import_labels(store, store.run(1), file, "ann")
        assert said in str(caught.value)
        assert "Nothing was imported" in str(caught.value)
        assert store.labels() == []


@pytest.mark.parametrize(
    "words", [["--export", "x.txt"], ["--export", "a.csv", "--import", "b.csv"], ["--who", "ann"]]
)
def test_wrong_flags_are_refused(folder: Path, words: list[str]) -> None:
    benchwright.run("q.jsonl", endpoint=ScriptedEndpoint(replied))
    assert main(["labels", "1", *words]) == 2
    assert main(["labels", "1", "--import", "none.csv"]) == 4


def judged(url: str, name: str) -> Any:
    data = [{"question": f"q{n}?", "answer": "B"} for n in range(30)]

    @benchmark(
        name=name, dataset=data, prompt="{question}", target_field="answer", judge={"url": url, "model_id": "j"}
    )  # fmt: skip
    @scorer
    def graded(sample: ScorerInput) -> dict[str, Any]:
        return judge_score(sample)

    return graded


def grade(body: dict[str, Any]) -> str:
    wrong = any(f"q{n}?" in body["messages"][0]["content"] for n in range(0, 30, 3))
    return f"Because of the {'word' if wrong else 'number'}.\nGRADE: {'I' if wrong else 'C'}"


def test_every_way_of_labelling_a_judge_gives_the_same_figures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording(grade) as server:
        run = benchwright.run(judged(server.url, "graded"), endpoint=ScriptedEndpoint("x")).run_id
    with pytest.raises(NotFoundError, match="no reply of run 1 has a label"):
        calibrate_judge(run=run)
    human = {n: "C" if n % 2 else "I" for n in range(24)}
    # 1. a column added to what `export` wrote
    assert main(["export", str(run), "-o", "samples.csv"]) == 0
    with Path("samples.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = human.get(int(row["sample_id"]), "")
    sheet = written(*rows)
    by_export = json_of(capsys, "judge-calibrate", sheet, "--run", str(run))
    # 2. the same sheet, imported
    assert json_of(capsys, "labels", str(run), "--import", sheet)["added"] == 24
    by_import = json_of(capsys, "judge-calibrate", "--labels", str(run))
    # 3. given one by one, as the page does
    with opened(folder) as store:
        for each in store.labels():
            store.remove_label(each.id)
    for number, given in human.items():
        label(folder, run, number, "judge", given)
    by_page = json_of(capsys, "judge-calibrate", "--labels", str(run), "--disagreements")
    differ = by_page.pop("disagreements")
    # 4. the sheet of labels, straight to calibration
    assert main(["labels", str(run), "--export", "graded.xlsx"]) == 0
    by_sheet = json_of(capsys, "judge-calibrate", "graded.xlsx", "--run", str(run))
    by_file = json_of(capsys, "judge-calibrate", "graded.xlsx")  # its own grades
    assert by_export == by_import == by_page == by_sheet
    assert (by_export["labelled"], by_export["judged"], by_export["accuracy"]) == (
        24,
        30,
        by_file["accuracy"],
    )
    assert differ
    assert all(
        each["label"] != each["grade"] and f"q{each['sample_id']}?" == each["prompt"] for each in differ
    )
    assert {each["reason"].split("\n")[0] for each in differ} == {
        "Because of the word.",
        "Because of the number.",
    }
    assert main(["judge-calibrate", "--labels", str(run), "--disagreements"]) == 0
    assert f"{len(differ)} disagreements" in capsys.readouterr().out
    assert main(["judge-calibrate", "graded.xlsx", "--labels", str(run)]) == 2
    assert main(["judge-calibrate"]) == 2


def test_people_who_disagree_are_noted_and_the_newest_counts(folder: Path) -> None:
    with recording(grade) as server:
        run = benchwright.run(judged(server.url, "disputed"), endpoint=ScriptedEndpoint("x")).run_id
    label(folder, run, 1, "judge", "I")
    label(folder, run, 1, "judge", "C", "bob")
    found = calibrate_judge(run=run)
    assert (found.labelled, found.agreement.agreed) == (1, 1.0)
    assert "people gave 1 reply different grades; the newest counts" in [note.text for note in found.notes]
