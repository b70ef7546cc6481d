"""A bare file is enough: what the command line promises about files of questions, from the file to the verdict."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import warm
from recording_server import RecordingServer, recording
from waiting import PATIENCE_S, until, until_line

SAMPLES = {
    "test_mcq.jsonl": """\
{"question": "165+833+650+615=", "A": "2258", "B": "2263", "C": "2281", "answer": "B"}
{"question": "368+959+918+653+978=", "A": "3876", "B": "3878", "C": "3880", "answer": "A"}
{"question": "776+208+589+882+571+996+515+726=", "A": "5213", "B": "5263", "C": "5383", "answer": "B"}
{"question": "803+862+815+100+409+758+262+169=", "A": "4098", "B": "4128", "C": "4178", "answer": "C"}
""",
    "test_mcq.csv": """\
question,A,B,C,answer
127+545+588+620+556+199=,2632,2635,2645,B
735+603+102+335+605=,2376,2380,2410,B
506+346+920+451+910+142+659+850=,4766,4774,4784,C
504+811+870+445=,2615,2630,2750,B
""",
    "test_qa.jsonl": """\
{"question": "752+361+181+933+235+986=", "answer": "3448"}
{"question": "712+165+223+711=", "answer": "1811"}
{"question": "921+975+888+539=", "answer": "3323"}
{"question": "752+321+388+643+568+982+468+397=", "answer": "4519"}
""",
    "test_qa.csv": """\
question,answer
123+147+874+850+915+163+291+604=,3967
149+646+241+898+822+386=,3142
332+424+582+962+735+798+653+214=,4700
649+215+412+495+220+738+989+452=,4170
""",
}
LENGTHS = """\
question,A,B,C,answer,max_tokens
127+545+588+620+556+199=,2632,2635,2645,B,512
735+603+102+335+605=,2376,2380,2410,B,1024
506+346+920+451+910+142+659+850=,4766,4774,4784,C,
504+811+870+445=,2615,2630,2750,B,0
"""


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with recording() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in SAMPLES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm.run(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, env=dict(os.environ),
    )  # fmt: skip


def summary_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.stdout, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    found: dict[str, Any] = result["summary"]
    return found


def samples_of(folder: Path, run: int) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    (place,) = (folder / ".benchwright" / "runs").glob(f"{run:04d}-*")
    rows: list[dict[str, Any]] = pq.read_table(place / "samples.parquet").to_pylist()
    return rows


@pytest.mark.parametrize("style", ["benchwright", "aisbench"])
@pytest.mark.parametrize("name", list(SAMPLES))
def test_a_perfect_model_scores_everything(folder: Path, name: str, style: str) -> None:
    done = command(folder, "run", name, "--demo-skill", "1", "--prompt-style", style, "--json")
    assert done.returncode == 0, done.stderr
    summary = summary_of(done)
    headline = "accuracy" if "mcq" in name else "normalised_exact"
    assert summary["headline"] == headline
    assert summary["metrics"][headline]["value"] == 1.0
    assert summary["outcomes"]["scored"] == 4


@pytest.mark.parametrize("name", list(SAMPLES))
def test_a_model_that_answers_nothing_scores_zero_with_every_sample_empty(
    folder: Path, server: RecordingServer, name: str
) -> None:
    server.reply = lambda body: ""
    done = command(folder, "run", name, *server.model, "--json")
    assert done.returncode == 0, done.stderr
    summary = summary_of(done)
    assert summary["outcomes"]["empty"] == 4
    assert summary["metrics"][summary["headline"]]["value"] == 0.0
    assert summary["metrics"][summary["headline"]]["count"] == 4


def test_one_command_prints_a_verdict_with_what_must_stand_beside_it(folder: Path) -> None:
    done = command(folder, "run", "test_mcq.csv", "--demo-skill", "1")
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "Strict accuracy: 100.0 %" in done.stdout
    assert "Chance level: 33.3 %." in done.stdout
    assert "demo model" in done.stdout
    results = yaml.safe_load((folder / ".benchwright/runs/0001-test_mcq/results.yml").read_text())
    assert results["config"]["type"] == "mcq.test_mcq"


def test_the_effect_of_guessing_is_printed_beside_the_strict_figure(
    folder: Path, server: RecordingServer
) -> None:
    rows = "".join(f"q{n},Amsterdam,Rotterdam,A\n" for n in range(4))
    (folder / "towns.csv").write_text(f"question,A,B,answer\n{rows}", encoding="utf-8")
    server.reply = lambda body: "Amsterdm" if "q0" in body["messages"][0]["content"] else "A"
    done = command(folder, "run", "towns.csv", *server.model)
    said = " ".join(done.stdout.split())  # a narrow terminal breaks the line
    assert "With the nearest-option fallback: 100.0 %, 25.0 points gained by guessing." in said
    assert samples_of(folder, 1)[0]["outcome"] == "unparsed"
    guessed = command(folder, "run", "towns.csv", *server.model, "--mcq-fallback", "levenshtein", "--json")
    metrics = summary_of(guessed)["metrics"]
    assert (metrics["accuracy"]["value"], metrics["accuracy_strict"]["value"]) == (1.0, 0.75)


def test_lengths_of_rows_arrive_as_whole_numbers(folder: Path, server: RecordingServer) -> None:
    (folder / "f.csv").write_text(LENGTHS, encoding="utf-8")
    done = command(folder, "run", "f.csv", *server.model, "--max-tokens", "77", "--parallelism", "1")
    assert done.returncode == 0, done.stderr
    assert [body["max_tokens"] for body in server.bodies] == [512, 1024, 77, 77]
    assert all(type(body["max_tokens"]) is int for body in server.bodies)


def test_data_without_answers_run_and_are_recorded(folder: Path, server: RecordingServer) -> None:
    (folder / "f.jsonl").write_text('{"question": "Who?", "source": "page 3"}\n', encoding="utf-8")
    done = command(folder, "run", "f.jsonl", *server.model)
    assert done.returncode == 0, done.stderr
    assert "the data have no answers" in done.stdout
    (sample,) = samples_of(folder, 1)
    assert (sample["response"], sample["outcome"]) == ("B", "scored")
    assert json.loads(sample["metadata"])["source"] == "page 3"


def test_answers_may_be_texts_and_columns_may_be_more(folder: Path) -> None:
    text = SAMPLES["test_mcq.csv"].replace("2645,B", "2645,2635").replace("C,answer", "C,answer,level")
    lines = text.splitlines()
    text = "\r\n".join([lines[0], *(f"{line},hard" for line in lines[1:]), "", ""])
    (folder / "f.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
    done = command(folder, "run", "f.csv.gz", "--demo-skill", "1", "--json")
    assert summary_of(done)["metrics"]["accuracy"]["value"] == 1.0, done.stderr
    assert json.loads(samples_of(folder, 1)[0]["metadata"])["level"] == "hard"


def test_a_row_of_ten_megabytes_is_asked(folder: Path, server: RecordingServer) -> None:
    (folder / "f.csv").write_text(f"question,A,B,answer\n{'x' * 10_000_000},1,2,B\n", encoding="utf-8")
    done = command(folder, "run", "f.csv", *server.model, "--json")
    assert summary_of(done)["metrics"]["accuracy"]["value"] == 1.0, done.stderr
    assert len(server.bodies[0]["messages"][0]["content"]) > 10_000_000


def test_twenty_six_options_and_duplicate_questions(folder: Path, server: RecordingServer) -> None:
    options = {chr(65 + n): f"option number {n}" for n in range(26)}
    rows = [{"question": "Which?", **options, "answer": "Z"}] * 3
    (folder / "f.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    server.reply = lambda body: "Z"
    done = command(folder, "run", "f.jsonl", *server.model, "--json")
    metrics = summary_of(done)["metrics"]
    assert (metrics["accuracy"]["value"], metrics["accuracy"]["count"]) == (1.0, 3)
    assert "Z) option number 25" in server.bodies[0]["messages"][0]["content"]


def test_every_bad_row_is_named_before_anything_is_sent(folder: Path, server: RecordingServer) -> None:
    text = "question,A,B,C,answer\nfine,1,2,3,A\n,1,2,3,A\nx,1,,3,A\ny,1,2,3,E\nz,1,2,3\n"
    (folder / "f.csv").write_text(text, encoding="utf-8")
    done = command(folder, "run", "f.csv", *server.model)
    assert done.returncode == 2
    for told in ('f.csv:3: missing "question"', "f.csv:4: options A, C have a gap", "f.csv:6: 4 cells"):
        assert told in done.stderr
    assert 'f.csv:5: answer "E" is not one of A-C' in done.stderr
    assert server.bodies == []
    skipping = command(folder, "run", "f.csv", *server.model, "--skip-bad-rows", "--json")
    assert summary_of(skipping)["outcomes"]["skipped"] == 4
    assert len(server.bodies) == 1


def test_validate_lists_bad_rows_and_what_the_file_holds(folder: Path) -> None:
    good = command(folder, "validate", "test_mcq.csv")
    assert good.returncode == 0, good.stderr
    assert good.stdout == "test_mcq.csv: mcq, 4 rows with 3 options (A-C), all with answers: ready\n"
    (folder / "f.csv").write_text("question,A,B,answer\nq,1,2,E\n", encoding="utf-8")
    bad = command(folder, "validate", "f.csv", "--json")
    assert bad.returncode == 2
    report = json.loads(bad.stdout)
    assert (report["data_type"], report["bad_total"], report["exit_code"]) == ("mcq", 1, 2)
    assert report["bad_rows"][0] == {
        "source": "f.csv", "line": 2, "field": "answer", "reason": 'answer "E" is not one of A-B',
    }  # fmt: skip
    assert not (folder / ".benchwright").exists()


def test_check_shows_type_prompt_options_and_gold(folder: Path) -> None:
    done = command(folder, "check", "test_mcq.jsonl")
    assert done.returncode == 0, done.stderr
    for told in ("mcq, 3 options (A-C)", "4 of 4 score as right (accuracy)", "A) 2258", "165+833+650+615="):
        assert told in done.stdout


def test_the_long_names_of_the_settings_work(folder: Path) -> None:
    words = [
        "--custom-dataset-data-type",
        "mcq",
        "--custom_dataset_infer_method",
        "gen",
        "--num-prompts",
        "2",
    ]
    done = command(folder, "run", "test_mcq.csv", *words, "--demo-skill", "1", "--json")
    assert summary_of(done)["rows"] == 2, done.stderr
    wrong = command(folder, "run", "test_mcq.csv", "--infer-method", "ppl")
    assert wrong.returncode == 2
    assert "expected one of gen" in wrong.stderr


BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="sums", dataset="test_qa.csv", prompt="{question}", target_field="answer")
@scorer
def check(sample):
    return {"correct": sample.response == sample.target}
"""


def test_settings_of_question_files_are_refused_where_they_would_do_nothing(folder: Path) -> None:
    (folder / "bench.py").write_text(BENCH, encoding="utf-8")
    for words, named in (
        (["bench.py", "--prompt-style", "aisbench"], "--prompt-style: only files of questions"),
        (["test_mcq.csv", "--qa-metric", "f1"], "--qa-metrics: only qa files"),
        (["test_qa.csv", "--mcq-fallback", "levenshtein"], "--mcq-fallback: only mcq files"),
        (["test_qa.csv", "--judge-url", "http://127.0.0.1:9", "--judge-id", "j"], "nothing asks it"),
        (["test_qa.csv", "--dataset", "test_qa.jsonl"], "is already the data"),
    ):
        done = command(folder, "run", *words)
        assert done.returncode == 2, words
        assert named in done.stderr


def test_a_file_of_questions_has_a_name_and_defaults_in_the_configuration(folder: Path) -> None:
    data = folder / "data"
    data.mkdir()
    (data / "sums.csv").write_text(SAMPLES["test_mcq.csv"], encoding="utf-8")
    (folder / "ask.txt").write_text("Choose.\n{question}\n{options}", encoding="utf-8")
    (folder / "bench.py").write_text(BENCH, encoding="utf-8")
    (folder / "benchwright.toml").write_text(
        '[run]\ndemo_skill = 1\nmcq_fallback = "levenshtein"\n'
        '[benchmarks.algebra]\nfile = "data/sums.csv"\ntemplate = "ask.txt"\n'
        '[benchmarks.plain]\nfile = "test_qa.csv"\n'
        '[benchmarks.code]\nfile = "bench.py"\n',
        encoding="utf-8",
    )
    for name in ("algebra", "plain", "code"):
        done = command(data, "run", name, "--json")
        assert done.returncode == 0, done.stderr
    shown = command(folder, "show", "algebra", "0").stdout
    assert "Choose." in shown
    assert "algebra" in command(folder, "ls").stdout


def test_an_interrupted_run_of_a_bare_file_goes_on_with_the_same_settings(
    folder: Path, server: RecordingServer
) -> None:
    rows = "".join(f"q{n},1,2,B\n" for n in range(60))
    (folder / "f.csv").write_text(f"question,A,B,answer\n{rows}", encoding="utf-8")
    (folder / "ask.txt").write_text("Pick: {question} {options}", encoding="utf-8")

    release = threading.Event()

    def slow(body: dict[str, Any]) -> str:
        if len(server.bodies) >= 12:
            release.wait(PATIENCE_S)
        return "B"

    server.reply = slow
    words = ["run", "f.csv", *server.model, "--parallelism", "4", "--template", "ask.txt"]
    child = warm.Popen(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(lambda: len(server.bodies) >= 12)
    child.send_signal(signal.SIGINT)
    until_line(child, "interrupted; Ctrl-C stops at once")
    release.set()
    child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130
    sent = len(server.bodies)
    assert sent < 60
    server.reply = lambda body: "B"
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    done = command(elsewhere, "resume", "1", "--workspace", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    assert summary_of(done)["metrics"]["accuracy"]["count"] == 60
    asked = sorted(body["messages"][0]["content"] for body in server.bodies)
    assert asked == sorted(f"Pick: q{n} A) 1\nB) 2" for n in range(60)), "all asked once, with the template"


def test_a_run_does_not_go_on_with_other_rows_or_another_template(
    folder: Path, server: RecordingServer
) -> None:
    (folder / "ask.txt").write_text("{question} {options}", encoding="utf-8")
    words = ["--template", "ask.txt", "--max-requests", "2", "--parallelism", "1"]
    command(folder, "run", "test_mcq.csv", *server.model, *words)
    assert len(server.bodies) == 2
    (folder / "ask.txt").write_text("{question}? {options}", encoding="utf-8")
    changed = command(folder, "resume", "1")
    assert changed.returncode == 2
    assert "the benchmark has changed" in changed.stderr
    (folder / "ask.txt").write_text("{question} {options}", encoding="utf-8")
    (folder / "test_mcq.csv").write_text(SAMPLES["test_mcq.csv"] + "1+1=,1,2,3,B\n", encoding="utf-8")
    changed = command(folder, "resume", "1")
    assert changed.returncode == 2
    assert "the dataset has changed" in changed.stderr
    assert len(server.bodies) == 2


def test_a_missing_file_exits_4_with_near_names(folder: Path) -> None:
    done = command(folder, "run", "test_mqc.csv")
    assert done.returncode == 4
    assert "test_mcq.csv" in done.stderr


def peak_kb(folder: Path, *words: str) -> int:
    """Largest resident set of one command, from the kernel."""
    child = warm.Popen([sys.executable, "-m", "benchwright", *words], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return used.ru_maxrss


def test_a_hundred_thousand_rows_are_checked_in_flat_memory(folder: Path) -> None:
    for count in (1_000, 100_000):
        rows = "".join(f"{n}+{n}=,{2 * n},{2 * n + 1},{n},A\n" for n in range(count))
        (folder / f"f{count}.csv").write_text(f"question,A,B,C,answer\n{rows}", encoding="utf-8")
    few, many = (peak_kb(folder, "check", f"f{count}.csv") for count in (1_000, 100_000))
    assert many - few < 60_000
