"""What people meet on their first day: lists they can read, filters, hints that help, paths with a slip."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright import ScriptedEndpoint, run
from benchwright.cli import main
from benchwright.core import ConfigError, UsageError
from benchwright.demo import DemoSettings, demo_server

ROWS = "question,answer\n" + "".join(f"1+{n},{1 + n}\n" for n in range(4))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "q.csv").write_text(ROWS)
    return tmp_path


def answer(request: object) -> str:
    text = request.body["messages"][-1]["content"]  # type: ignore[attr-defined]
    return {"1+0": "1", "1+1": "it is 2", "1+2": "seven"}.get(text, "")


def test_a_list_says_in_words_how_samples_ended(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("q.csv", endpoint=ScriptedEndpoint(answer))
    run("q.csv", model="demo", limit=2)
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "all scored" in shown
    assert " 3 scored\n" in shown or " 3 scored " in shown
    assert " 1 empty" in shown
    assert "outcomes of samples: scored, unparsed, empty," in " ".join(shown.split())
    assert main(["list", "--json"]) == 0
    outcomes = [each["outcomes"] for each in json.loads(capsys.readouterr().out)["runs"]]
    assert [len(each) for each in outcomes] == [8, 8]


def shown_samples(capsys: pytest.CaptureFixture[str], *flags: str) -> list[int]:
    assert main(["show", "last", "--json", *flags]) == 0
    return [sample["sample_id"] for sample in json.loads(capsys.readouterr().out)["samples"]]


def test_samples_are_found_by_metric_and_by_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("q.csv", endpoint=ScriptedEndpoint(answer))
    assert shown_samples(capsys, "--where", "exact>0.5") == [0]
    assert shown_samples(capsys, "--where", "f1<1", "--where", "f1>0") == [1]
    assert shown_samples(capsys, "--text", "SEVEN") == [2]
    assert shown_samples(capsys, "--text", "1+", "--where", "contains > 0.5") == [0, 1]
    assert main(["show", "last", "--where", "f2<1"]) == 4
    assert "no metric 'f2'. It has: contains, " in capsys.readouterr().err
    assert main(["show", "last", "--where", "f1<x"]) == 2
    assert main(["show", "last", "--where", "f1<1", "--where", "exact<1"]) == 2
    assert "one metric, not f1 and exact" in capsys.readouterr().err


def test_rows_that_were_skipped_are_not_to_be_retried(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "bad.jsonl").open("w") as file:
        file.write('{"question": "1+1", "answer": "2"}\nnot JSON\n')
    main(["run", "bad.jsonl", "--model", "demo", "--skip-bad-rows", "--failure-threshold", "1"])
    shown = capsys.readouterr().out
    assert "skipped 1" in shown
    assert "--failed" in shown
    assert "--retry-failed" not in shown


def test_a_workspace_is_made_below_a_folder_that_is_there(folder: Path) -> None:
    assert run("q.csv", model="demo", workspace=folder / "new").status == "completed"
    with pytest.raises(UsageError, match=r"there is no folder .*missing\. Check the path"):
        run("q.csv", model="demo", workspace=folder / "missing" / "x")
    assert not (folder / "missing").exists()


def test_a_model_of_the_call_is_said_to_replace_those_of_a_suite(folder: Path) -> None:
    models = '["demo", {name = "other", type = "demo", skill = 0.2}]'
    (folder / "suite.toml").write_text(f'models = {models}\ndatasets = ["q.csv"]\n')
    found = run("suite.toml", model="demo")
    assert found.notes == ("demo was named for this call: the models of suite.toml are left out (other)",)
    assert len(found) == 1
    assert run("suite.toml").notes == ()


def test_a_misspelt_key_of_a_suite_is_named_with_its_entry(folder: Path) -> None:
    suite = folder / "suite.toml"
    suite.write_text('models = ["demo", {name = "m", base_urll = "http://h/v1"}]\ndatasets = ["q.csv"]\n')
    with pytest.raises(
        ConfigError, match=r"suite\.toml: models, entry 2 \(m\): base_urll is not known\. Did you"
    ):
        run("suite.toml")
    suite.write_text('models = ["demo"]\ndatasets = [{abbr = "mine", path = "q.csv", limt = 2}]\n')
    with pytest.raises(
        ConfigError, match=r"suite\.toml: datasets, entry 1 \(mine\): limt is not known\. Did you"
    ):
        run("suite.toml")


def test_a_streamed_run_tells_its_times_to_the_first_token(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with demo_server(DemoSettings()) as server:
        result = run("q.csv", model_url=server.url, model_id="demo", stream=True)
        plain = run("q.csv", model_url=server.url, model_id="demo")
    times = sorted(sample["ttft_s"] for sample in result.samples())
    told = result.to_json()["ttft_s"]
    assert isinstance(told, dict)
    assert told["count"] == 4
    assert told["mean"] == pytest.approx(sum(times) / 4)
    assert told["p50"] == pytest.approx((times[1] + times[2]) / 2)
    assert times[2] < float(str(told["p99"])) <= times[3]
    assert plain.to_json()["ttft_s"] is None
    assert main(["show", str(result.run_id)]) == 0
    assert "first token  mean " in capsys.readouterr().out
    assert main(["show", str(result.run_id), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ttft_s"] == told


def test_the_manifest_says_how_long_a_run_took(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run("q.csv", model="demo")
    manifest = json.loads((result.folder / "manifest.json").read_bytes())
    assert manifest["run"]["duration_s"] == result.to_json()["duration_s"] is not None
    assert main(["show", "last", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recorded"] is None


@pytest.mark.parametrize("flags", [[], ["--mode", "infer"]])
def test_a_run_without_scores_speaks_of_replies(
    folder: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    (folder / "open.csv").write_text("question\n1+1\n1+2\n" if not flags else ROWS)
    assert main(["run", "open.csv", "--model", "demo", *flags]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    rows = 4 if flags else 2
    assert f"outcomes all {rows} replied" in shown
    assert "These replies come from the demo model" in shown
    assert "scored 2" not in shown
    assert "These scores" not in shown
    (page,) = (folder / ".benchwright").glob("runs/*/report.html")
    assert f'["scored","replied",{rows}]' in page.read_text()
    assert main(["list"]) == 0
    assert "all replied" in capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    assert (
        json.loads(capsys.readouterr().out)["runs"][0]["outcomes"]["scored"] == rows
    )  # the record keeps its word


def test_a_note_on_examples_names_what_can_be_typed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "q.csv", "--model", "demo", "--num-fewshot", "2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "with --fewshot-dataset FILE, or leave rows for examples with --limit N" in shown
    assert "fewshot_dataset=" not in shown


CALLS = '{"question": "Paris?", "answer": [{"name": "weather", "arguments": {"city": "Paris"}}]}\n'


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (["run", "nope.csv"], "Data files in that folder: "),
        (["run", "empty/nope.csv"], "That folder has no data files"),
        (["list", "--failed"], "benchwright list has: "),
        (["gate", "last", "--policy", "drop.toml"], "the largest loss that is allowed is the margin: margin = 0.02"),
        (["gate", "last", "--policy", "value.toml"], "the limit is min or max: min = 0.8"),
        (["run", "calls.jsonl"], 'tools_field= and expected_calls_field="answer" (docs/tools.md'),
    ],
)  # fmt: skip
def test_a_refusal_names_what_to_do_next(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], cure: str
) -> None:
    (folder / "empty").mkdir()
    (folder / "calls.jsonl").write_text(CALLS)
    (folder / "drop.toml").write_text('[[regression]]\nmetric = "exact"\nmax_drop = 0.1\n')
    (folder / "value.toml").write_text('[[threshold]]\nmetric = "exact"\nvalue = 0.1\n')
    run("q.csv", model="demo")
    assert main(words) in (2, 4)
    assert cure in capsys.readouterr().err


def test_flags_of_show_that_exclude_each_other_say_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("q.csv", model="demo")
    assert main(["show", "last", "--wrong", "--failed"]) == 0
    assert "a failed sample has no verdict. Use --failed or --wrong alone" in capsys.readouterr().out


def test_filters_of_python_may_be_a_dict(folder: Path) -> None:
    wanted = {"question": ROWS.splitlines()[1].split(",")[0]}
    assert run("q.csv", model="demo", filters=wanted).summary.rows == 1
    with pytest.raises(UsageError, match=r"has no option 'n'\. docs/flags.md lists all of them"):
        run("q.csv", n=5)
