"""A system message is a text or a file, wherever it is given: it is sent as it is written, to every kind of evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from recording_server import RecordingServer, recording

SAYS = "You know {subject}: {{100}}%.\n"
BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="plain", dataset="rows.jsonl", prompt="{question}?", target_field="answer")
@scorer
def plain(sample):
    return {"right": sample.response == sample.target}
"""


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    row = {"question": "q", "answer": "fine", "subject": "maths"}
    Path("rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    Path("bench.py").write_text(BENCH, encoding="utf-8")
    Path("says.txt").write_text(SAYS, encoding="utf-8")
    with recording(lambda body: "fine") as running:
        yield running


def sent(recorder: RecordingServer) -> list[str]:
    (received,) = recorder.take()
    return [said["content"] for said in received.body["messages"] if said["role"] == "system"]


@pytest.mark.parametrize("target", ["rows.jsonl", "bench.py"])
@pytest.mark.parametrize("given", [SAYS, "says.txt"])
@pytest.mark.parametrize("place", ["flag", "model", "run"])
def test_a_text_or_a_file(
    recorder: RecordingServer, capsys: pytest.CaptureFixture[str], target: str, given: str, place: str
) -> None:
    model = f'[models.mine]\nbase_url = "{recorder.url}"\nmodel = "m"\n'
    said = f"system = {json.dumps(given)}\n"
    tables = {"flag": model, "model": model + said, "run": f"{model}[run]\n{said}"}
    Path("benchwright.toml").write_text(tables[place], encoding="utf-8")
    flags = [f"--system={given}"] if place == "flag" else []
    assert main(["run", target, "--model=mine", *flags, "--json"]) == 0
    assert sent(recorder) == [SAYS]
    (note,) = (
        note
        for note in json.loads(capsys.readouterr().out)["results"][0]["summary"]["notes"]
        if "system" in note
    )
    assert note.startswith("the system message contains {subject} and is sent as it is written")
    main(["check", target, "--model=mine", *flags])
    assert "the system message contains {subject}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("target", ["rows.jsonl", "bench.py"])
def test_a_file_that_is_not_there_is_an_error_before_anything_is_sent(
    recorder: RecordingServer, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    assert main(["run", target, "--model-url", recorder.url, "--model-id=m", "--system=said.txt"]) == 2
    assert "--system: there is no file said.txt in" in capsys.readouterr().err
    assert not recorder.take()


def test_in_a_suite_it_may_be_a_turn_of_the_template_and_a_file_next_to_the_suite(
    recorder: RecordingServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [{"role": "SYSTEM", "prompt": SAYS}, {"role": "HUMAN", "prompt": "{question}"}]
    entries: list[dict[str, Any]] = [{"template": {"round": turns}}, {"system": "says.txt"}]
    Path("elsewhere").mkdir()
    for number, entry in enumerate(entries):
        suite = {
            "models": [{"name": "mine", "base_url": recorder.url, "model": "m"}],
            "datasets": [{"path": "rows.jsonl", **entry}],
        }
        Path(f"suite{number}.yaml").write_text(json.dumps(suite), encoding="utf-8")
        monkeypatch.chdir("elsewhere")
        code = main(["run", f"../suite{number}.yaml", "--no-cache"])
        assert code == 0, capsys.readouterr()
        assert sent(recorder) == [SAYS]
        monkeypatch.chdir("..")
    entries[0]["system"] = "No."
    suite["datasets"] = [{"path": "rows.jsonl", **entries[0]}]
    Path("both.yaml").write_text(json.dumps(suite), encoding="utf-8")
    assert main(["run", "both.yaml"]) == 2
    assert "has a SYSTEM turn and system; keep one of them" in capsys.readouterr().err
    assert not recorder.take()
