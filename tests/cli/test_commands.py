"""The commands from start to end, on the demo model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import warm
from benchwright.cli import main
from benchwright.core import DEMO_NOTE, RunFile
from waiting import PATIENCE_S, until_delivered

BENCHWRIGHT = [sys.executable, "-m", "benchwright"]

BROKEN = """\
from benchwright import benchmark, scorer

@benchmark(name="broken", dataset="qa.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample):
    raise RuntimeError("no scale at hand")
"""


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with the starter, entered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["init"]) == 0
    capsys.readouterr()
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command; its exit code and what it printed."""

    def run(*words: str) -> tuple[int, str]:
        code = main(list(words))
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run


@pytest.fixture
def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command with --json; nothing else may be on standard output."""

    def run(*words: str) -> Any:
        main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    return run


def test_the_starter_runs_as_it_is(starter: Path, said: Any) -> None:
    code, shown = said("run", "my_bench.py")
    assert code == 0
    assert "my_bench on demo, 12 rows: correct " in shown
    assert "all 12 scored" in shown
    assert DEMO_NOTE in shown
    folder = starter / ".benchwright" / "runs" / "0001-my_bench"
    assert sorted(path.name for path in folder.iterdir()) == sorted(RunFile)


def test_the_demo_model_answers_some_but_not_all(starter: Path, json_of: Any) -> None:
    value = json_of("run", "my_bench")["results"][0]["summary"]["metrics"]["correct"]["value"]
    assert 0 < value < 1


def test_ls_names_what_can_be_run(starter: Path, said: Any, json_of: Any) -> None:
    code, shown = said("ls")
    assert code == 0
    assert "my_bench.py:my_bench" in shown
    names = [evaluation["name"] for evaluation in json_of("ls")["evaluations"]]
    assert "my_bench" in names


def test_ls_reports_a_benchmark_that_cannot_be_loaded(starter: Path, said: Any) -> None:
    (starter / "bad.py").write_text("from benchwright import benchmark\n@benchmark(\n")
    code, shown = said("ls")
    assert code == 0
    assert "cannot be run" in shown
    assert "my_bench.py:my_bench" in shown


def test_check_finds_out_without_a_run(starter: Path, said: Any, json_of: Any) -> None:
    code, shown = said("check", "my_bench.py")
    assert code == 0
    assert "my_bench on qa.jsonl: ready" in shown
    assert "12 of 12 score as right" in shown
    assert "What is 43 + 11?" in shown
    assert said("run", "my_bench.py", "--dry-run") == (code, shown)
    assert said("check", "my_bench.py", "--quiet") == (0, "")
    assert json_of("check", "my_bench.py")["checks"][0]["ok"] is True
    assert not (starter / ".benchwright").exists()


def test_check_tells_why_gold_answers_were_not_tried(starter: Path, said: Any) -> None:
    (starter / "slip.py").write_text(
        "from benchwright import benchmark\n"
        "ROWS = [{'country': f'c{n}', 'target': 'x'} for n in range(4)]\n"
        "@benchmark(name='slip', dataset=ROWS, prompt='{contry}')\n"
        "def slip(sample):\n"
        "    return {'correct': sample.response == sample.target}\n"
    )
    code, shown = said("check", "slip.py")
    assert code == 2
    assert "gold answers  not tried: no row can be sent\n" in shown
    assert "… and 1 more bad row\n" in shown


def test_check_labels_gold_answers_on_all_of_which_the_scorer_fails(starter: Path, said: Any) -> None:
    (starter / "failing.py").write_text(
        "from benchwright import benchmark\n"
        "ROWS = [{'q': f'{n}?', 'target': str(n), 'continent': 'Asia'} for n in range(3)]\n"
        "@benchmark(name='failing', dataset=ROWS, prompt='{q}')\n"
        "def failing(sample):\n"
        "    return {'correct': sample.metadata['continent'] == sample.metadata['absent']}\n"
    )
    code, shown = said("check", "failing.py")
    assert code != 0
    lines = [line.strip() for line in shown.splitlines()]
    first = lines.index("gold answers  0 of 3 score as right, the scorer fails on 3")
    assert lines[first + 1].startswith("a model that is always right would get 0")
    assert lines[first - 1] == "unused        continent (not in the prompt; the scorer may use it)"


@pytest.mark.parametrize(("rows", "only"), [(50, ""), (300, "; only the first 50 of 300 rows were tried")])
def test_check_counts_gold_answers_on_which_the_scorer_fails(
    starter: Path, said: Any, json_of: Any, rows: int, only: str
) -> None:
    (starter / "failing.py").write_text(
        "from benchwright import benchmark\n"
        f"ROWS = [{{'q': f'{{n}}?', 'target': str(n)}} for n in range({rows})]\n"
        "@benchmark(name='failing', dataset=ROWS, prompt='{q}')\n"
        "def failing(sample):\n"
        "    if int(sample.target) < 21:\n"
        "        raise ValueError('no')\n"
        "    return {'correct': sample.response == sample.target}\n"
    )
    code, shown = said("check", "failing.py")
    assert code == 0
    told = " ".join(shown.split())
    assert f"29 of 50 score as right (correct), the scorer fails on 21{only}" in told
    assert ("only the first" in told) == bool(only)
    assert "the scorer fails on the gold answers of 21 rows" in told
    assert json_of("check", "failing.py")["checks"][0]["gold"]["looked_at"] == 50


def test_check_refuses_what_could_not_run(starter: Path, said: Any, json_of: Any) -> None:
    (starter / "qa.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}\n{"qestion": "2 + 2?"}\n')
    code, shown = said("check", "my_bench.py")
    assert code == 2
    assert "cannot be run" in shown
    assert "qa.jsonl:2" in shown
    report = json_of("check", "my_bench.py")
    assert (report["exit_code"], report["checks"][0]["bad_total"]) == (2, 1)


def test_runs_are_listed_newest_first(starter: Path, said: Any, json_of: Any) -> None:
    assert said("list") == (0, "no runs yet; start one with: benchwright run TARGET\n")
    assert json_of("list") == {"runs": []}
    assert not (starter / ".benchwright").exists(), "looking creates nothing"
    said("run", "my_bench", "--limit", "3")
    said("run", "my_bench", "--limit", "4")
    assert [run["evaluated"] for run in json_of("list")["runs"]] == [4, 3]
    assert [run["id"] for run in json_of("list", "--limit", "1")["runs"]] == [2]
    assert json_of("list", "--name", "other")["runs"] == []
    assert json_of("list", "--status", "failed")["runs"] == []
    code, shown = said("list", "--limit", "1")
    assert code == 0
    assert "completed" in shown
    assert "1 older runs are not shown" in shown


def test_a_run_and_a_sample_are_shown(starter: Path, said: Any, json_of: Any) -> None:
    said("run", "my_bench", "--limit", "3", "--repeats", "2")
    code, shown = said("show", "last")
    assert code == 0
    assert "3 rows × 2 repeats" in shown
    assert "run.finished" in shown
    code, shown = said("show", "my_bench", "1")
    assert code == 0
    assert "sample 1, repeat 0" in shown
    assert "sample 1, repeat 1" in shown
    assert "What is 8 - 6?" in shown
    assert [s["repeat"] for s in json_of("show", "last", "1/1")["samples"]] == [1]
    assert json_of("show", "--json", "last")["run"]["id"] == 1
    assert said("show", "last", "--failed") == (0, "every sample has a score\n")
    assert json_of("show", "last", "--failed")["samples"] == []


@pytest.mark.parametrize(
    "words", [["show", "7"], ["show", "last", "99"], ["show", "last", "x"], ["resume", "other"]]
)
def test_what_is_not_there_is_exit_code_4(starter: Path, said: Any, words: list[str]) -> None:
    assert said(*words)[0] == 4
    said("run", "my_bench", "--limit", "1")
    code, shown = said(*words)
    assert code == 4
    assert shown.startswith("error: ")


def test_a_stopped_run_goes_on(starter: Path, said: Any, json_of: Any) -> None:
    stopped = json_of("run", "my_bench", "--max-requests", "5")
    assert stopped["exit_code"] == 3
    assert stopped["results"][0]["summary"]["partial"] is True
    code, shown = said("resume", "last")
    assert code == 0
    assert "all 12 scored" in shown
    assert json_of("resume", "last")["results"][0]["requests_sent"] == 0, "a complete run asks nothing again"


def test_a_resumed_run_writes_the_same_results(starter: Path, said: Any) -> None:
    said("run", "my_bench", "--output-dir", "out", "--no-cache")
    undisturbed = (starter / "out" / "results.yml").read_bytes()
    said("run", "my_bench", "--output-dir", "out", "--no-cache", "--max-requests", "5", "--overwrite")
    assert (starter / "out" / "results.yml").read_bytes() != undisturbed
    said("resume", "last")
    assert (starter / "out" / "results.yml").read_bytes() == undisturbed


def test_a_run_in_which_everything_fails_is_exit_code_1(starter: Path, said: Any) -> None:
    (starter / "broken.py").write_text(BROKEN)
    code, shown = said("run", "broken.py")
    assert code == 1
    assert "no sample gave a score" in shown
    assert "no scale at hand" in shown
    assert "scorer_failed 12" in shown
    code, shown = said("show", "last", "--failed", "--limit", "2")
    assert shown.count("scorer_failed") == 2
    assert said("list", "--status", "failed")[0] == 0


def test_several_benchmarks_in_a_file_all_run_and_the_worst_decides(starter: Path, json_of: Any) -> None:
    text = (starter / "my_bench.py").read_text()
    (starter / "both.py").write_text(text + BROKEN.replace("def check", "def check_broken"))
    report = json_of("run", "both.py")
    assert [result["name"] for result in report["results"]] == ["my_bench", "broken"]
    assert [result["exit_code"] for result in report["results"]] == [0, 1]
    assert report["exit_code"] == 1


def test_a_missing_target_is_named(starter: Path, said: Any) -> None:
    code, shown = said("run", "my_bnch.py")
    assert code == 4
    assert "my_bnch.py" in shown


def test_bad_data_stops_before_a_request(starter: Path, said: Any, json_of: Any) -> None:
    with (starter / "qa.jsonl").open("a") as file:
        file.write("not json\n")
    code, shown = said("run", "my_bench")
    assert code == 2
    assert "qa.jsonl:13" in shown
    assert json_of("run", "my_bench")["error"]["type"] == "DatasetError"
    assert said("run", "my_bench", "--skip-bad-rows")[0] in (0, 3)


def test_a_closed_pipe_is_quiet_and_keeps_the_exit_code(starter: Path) -> None:
    command = sys.executable + ' -m benchwright "$@" | true; exit ${PIPESTATUS[0]}'
    for words, code in (
        ("--help", 0),
        ("list", 0),
        # Quiet, as a run that takes long tells on standard error how far it is.
        ("run my_bench --json -q", 0),
        ("run my_bench --no-cache --max-requests 1 -q", 3),
    ):
        done = subprocess.run(
            ["bash", "-c", command, "bash", *words.split()], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (code, ""), words


def test_an_interrupted_run_is_130_and_goes_on(starter: Path, json_of: Any) -> None:
    (starter / "slow.py").write_text(
        "import os, time\nfrom benchwright import benchmark, scorer\n"
        '@benchmark(name="slow", dataset="qa.jsonl", prompt="{question}", target_field="answer")\n'
        "@scorer\ndef check(sample):\n    print('scoring', flush=True)\n    while not os.path.exists('go'):\n        time.sleep(0.01)\n    return {'correct': True}\n"
    )
    words = [*BENCHWRIGHT, "run", "slow.py", "--parallelism", "1"]
    with warm.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        until_delivered(process.pid, signal.SIGINT)
        (starter / "go").touch()
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "benchwright resume 1" in out
    assert json_of("list")["runs"][0]["status"] == "interrupted"


def test_simulate_serves_the_demo_model(starter: Path, json_of: Any) -> None:
    words = [*BENCHWRIGHT, "simulate", "--port", "0", "--skill", "1", "--model-id", "rehearsal", "--json"]
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    with warm.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        ready = json.loads("".join(server.stdout.readline() for _ in range(4)))
        assert ready["model_id"] == "rehearsal"
        with urlopen(ready["url"] + "/models", timeout=PATIENCE_S) as reply:
            assert reply.status == 200
        report = json_of("run", "my_bench", "--model-url", ready["url"], "--model-id", "rehearsal")
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=PATIENCE_S) == 0
        assert server.stderr is not None
        assert server.stderr.read() == ""
    assert report["results"][0]["demo"] is True
    assert report["results"][0]["summary"]["metrics"]["correct"]["value"] == 1.0


def test_check_shows_long_rows_without_their_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text(f"question,answer\nbegins {'x' * 3_000_000} ends,2\n")
    main(["check", "q.csv", "--json"])
    (report,) = json.loads(text := capsys.readouterr().out)["checks"]
    assert len(text) < 50_000
    assert report["samples"][0]["messages"][0]["content"].startswith("begins xxx")
    (request,) = report["samples"][0]["requests"]
    assert request["route"] == "chat"
    assert request["body"]["messages"] == report["samples"][0]["messages"]
    main(["check", "q.csv"])
    shown = capsys.readouterr().out
    assert len(shown) < 50_000
    assert "characters are not shown here" in shown
    assert "begins" in shown
    assert "ends" in shown
