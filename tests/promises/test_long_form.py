"""The documented long form, word for word after the program's name, against servers that speak the formats."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import warm
from benchwright.demo import DemoServer, DemoSettings, demo_server
from waiting import PATIENCE_S, until, until_line

MCQ = """\
question,A,B,C,answer
127+545+588+620+556+199=,2632,2635,2645,B
735+603+102+335+605=,2376,2380,2410,B
506+346+920+451+910+142+659+850=,4766,4774,4784,C
504+811+870+445=,2615,2630,2750,B
"""
QA = """\
{"question": "752+361+181+933+235+986=", "answer": "3448"}
{"question": "712+165+223+711=", "answer": "1811"}
{"question": "921+975+888+539=", "answer": "3323"}
{"question": "752+321+388+643+568+982+468+397=", "answer": "4519"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "xxx").mkdir()
    (tmp_path / "xxx" / "test_mcq.csv").write_text(MCQ, encoding="utf-8")
    (tmp_path / "xxx" / "test_qa.jsonl").write_text(QA, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def perfect() -> Iterator[DemoServer]:
    with demo_server(DemoSettings(skill=1.0)) as server:
        yield server


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm.run(
        [sys.executable, "-m", "benchwright", "run", *words],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


def printed(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads(done.stdout)
    return shape


def configured(folder: Path, server: DemoServer, *names: str) -> None:
    """Profiles at the address of a server, as a user writes it down once."""
    url = server.url.removesuffix("/v1")
    tables = [f'[models.{name}]\nprofile = "{name}"\nbase_url = "{url}"\n' for name in names]
    (folder / "benchwright.toml").write_text("\n".join(tables), encoding="utf-8")


def test_the_guides_first_command(folder: Path, perfect: DemoServer) -> None:
    configured(folder, perfect, "vllm_api_general")
    done = command(
        folder,
        "--models", "vllm_api_general",
        "--custom-dataset-path", "xxx/test_mcq.csv",
        "--custom-dataset-data-type", "mcq",
        "--mode", "all",
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (result,) = printed(done)["results"]
    assert (result["suite_model"], result["suite_dataset"]) == ("vllm_api_general", "test_mcq")
    assert result["summary"]["metrics"]["accuracy"]["value"] == 1.0


def test_the_guides_second_command(folder: Path, perfect: DemoServer) -> None:
    configured(folder, perfect, "mindie_stream_api_general")
    done = command(
        folder,
        "--models", "mindie_stream_api_general",
        "--custom-dataset-path", "xxx/test_qa.jsonl",
        "--custom-dataset-data-type", "qa",
        "--custom-dataset-infer-method", "gen",
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (result,) = printed(done)["results"]
    assert result["summary"]["metrics"]["numeric"]["value"] == 1.0


def test_several_models_and_files_with_an_address_on_the_command_line(
    folder: Path, perfect: DemoServer
) -> None:
    done = command(
        folder,
        "--models", "vllm_api_general_chat", "vllm_api_stream_chat",
        "--model-url", perfect.url.removesuffix("/v1"),
        "--custom-dataset-path", "xxx/test_mcq.csv", "xxx/test_qa.jsonl",
        "--max-num-workers", "2", "--num-prompts", "2", "--work-dir", "out",
        "--dump-eval-details", "--dump-extract-rate", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shape = printed(done)
    assert [(r["suite_model"], r["suite_dataset"]) for r in shape["results"]] == [
        ("vllm_api_general_chat", "test_mcq"),
        ("vllm_api_general_chat", "test_qa"),
        ("vllm_api_stream_chat", "test_mcq"),
        ("vllm_api_stream_chat", "test_qa"),
    ]
    headlines = [row for row in shape["comparison"] if row["headline"]]
    assert [(row["dataset"], len(row["cells"])) for row in headlines] == [("test_mcq", 2), ("test_qa", 2)]
    work = folder / shape["work_folder"]
    results = json.loads((work / "results" / "vllm_api_general_chat" / "test_mcq.json").read_text())
    assert len(results["details"]) == 2
    assert results["extract_rate"] == 100.0


def test_asking_now_and_scoring_later_by_command(folder: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        configured(folder, server, "vllm_api_general_chat")
        words = ["--models", "vllm_api_general_chat", "--custom-dataset-path", "xxx/test_mcq.csv", "--json"]
        asked = command(folder, *words, "--mode", "infer")
    assert asked.returncode == 0, asked.stderr
    assert printed(asked)["results"][0]["summary"]["metrics"] == {}
    # The server is gone: whatever asked it now would fail.
    scored = command(folder, "--mode", "eval", "--reuse", "--json")
    assert scored.returncode == 0, scored.stderr
    (row,) = [row for row in printed(scored)["comparison"] if row["headline"]]
    assert (row["metric"], row["cells"][0]["value"]) == ("accuracy", 1.0)
    shown = command(folder, "-m", "viz", "-r")
    assert shown.returncode == 0, shown.stderr
    assert "accuracy" in shown.stdout
    summaries = list(folder.glob("outputs/default/*/summary/summary_*.txt"))
    assert summaries


def test_a_plain_run_writes_a_work_folder_only_when_told(folder: Path) -> None:
    assert command(folder, "xxx/test_mcq.csv", "--quiet").returncode == 0
    assert not (folder / "outputs").exists()
    done = command(folder, "xxx/test_mcq.csv", "-w", "out", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "accuracy_strict" in done.stdout, "one run is shown in full"
    assert list(folder.glob("out/*/predictions/demo/test_mcq.jsonl"))


def test_infer_works_for_a_plain_target_too(folder: Path) -> None:
    done = command(folder, "xxx/test_mcq.csv", "--mode", "infer", "--json")
    assert done.returncode == 0, done.stderr
    shape = printed(done)
    assert "suite" not in shape
    assert shape["results"][0]["summary"]["unscored"]


@pytest.mark.parametrize(
    ("words", "code", "parts"),
    [
        ([], 2, ["nothing to evaluate", "--custom-dataset-path FILE"]),
        (["--models", "demo"], 2, ["--models names models, but no data"]),
        (["--models", "demo", "xxx/test_mcq.csv"], 2, ["read as a model; write it first"]),
        (["xxx/test_mcq.csv", "--custom-dataset-path", "xxx/test_qa.jsonl"], 2, ["both say what to evaluate"]),
        (["xxx/test_mcq.csv", "--datasets", "xxx/test_qa.jsonl"], 2, ["--datasets", "both say"]),
        (["--custom-dataset-path", "xxx/nothing.csv"], 4, ["--custom-dataset-path", "xxx/nothing.csv"]),
        (["--models", "dmo", "--custom-dataset-path", "xxx/test_mcq.csv"], 2, ["no model named 'dmo'", "'demo'"]),
        (["xxx/test_mcq.csv", "--mode", "infer_judge"], 2, ["a judge is asked while scoring"]),
        (["xxx/test_mcq.csv", "--mode", "evl"], 2, ["evl is not known", "'eval'"]),
        (["xxx/test_mcq.csv", "--mode", "eval"], 2, ["add --reuse"]),
        (["xxx/test_mcq.csv", "--mode", "viz", "--reuse"], 4, ["no run of xxx/test_mcq.csv", "--mode infer"]),
        (["xxx/test_mcq.csv", "--summarizer", "default_perf"], 2, ["belongs to load tests"]),
        (["xxx/test_mcq.csv", "--summarizer", "exmaple"], 2, ["'example'"]),
        (["--datasets", "xxx/test_mcq.csv", "--config-dir", "nowhere"], 4, ["no folder nowhere"]),
        (["--custom-dataset-path", "xxx/test_mcq.csv", "xxx/test_qa.jsonl", "--meta-path", "m.json"], 2,
         ["--custom-dataset-meta-path belongs to one file"]),
        (["--custom-dataset-path", "xxx/test_mcq.csv", "--custom-dataset-data-type", "qq"], 2, ["'qq' is not known"]),
        (["--search"], 2, ["give some with --models or --datasets"]),
    ],
)  # fmt: skip
def test_wrong_words_are_told_with_their_cure(
    folder: Path, words: list[str], code: int, parts: list[str]
) -> None:
    done = command(folder, *words)
    assert done.returncode == code, done.stderr
    for part in parts:
        assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "outputs").exists()


def test_a_dry_run_lists_tasks_and_sends_nothing(folder: Path) -> None:
    done = command(
        folder, "--models", "vllm_api_general_chat", "demo",
        "--custom-dataset-path", "xxx/test_mcq.csv", "xxx/test_qa.jsonl", "--dry-run",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ready") == 4
    assert not (folder / ".benchwright").exists()
    (folder / "xxx" / "test_mcq.csv").write_text(MCQ.replace(",B\n", ",X\n", 1), encoding="utf-8")
    done = command(folder, "--custom-dataset-path", "xxx/test_mcq.csv", "xxx/test_qa.jsonl", "--dry-run")
    assert done.returncode == 2
    assert "cannot be run" in done.stdout
    assert "test_mcq.csv:2" in done.stdout


def test_a_suite_is_checked_by_changing_one_word(folder: Path) -> None:
    (folder / "suite.yaml").write_text(
        "models: [demo]\ndatasets: [{path: xxx/test_mcq.csv}, {path: xxx/test_qa.jsonl}]\n", encoding="utf-8"
    )
    done = warm.run(
        [sys.executable, "-m", "benchwright", "check", "suite.yaml", "--json"],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [(c["suite_model"], c["suite_dataset"], c["ok"], c["rows"]) for c in printed(done)["checks"]] == [
        ("demo", "test_mcq", True, 4),
        ("demo", "test_qa", True, 4),
    ]
    assert not (folder / ".benchwright").exists()


def test_names_are_searched_in_their_order(folder: Path) -> None:
    (folder / "configs" / "models").mkdir(parents=True)
    (folder / "configs" / "datasets").mkdir()
    (folder / "configs" / "models" / "mine.py").write_text(
        'models = [dict(abbr="mine", type="demo", skill=1.0)]', encoding="utf-8"
    )
    (folder / "configs" / "datasets" / "sums.yaml").write_text(
        "path: ../../xxx/test_qa.jsonl\n", encoding="utf-8"
    )
    (folder / "benchwright.toml").write_text('[models.toml]\ntype = "demo"\n', encoding="utf-8")
    words = ["--models", "mine", "toml", "tgi_api_general", "demo", "--datasets", "sums", "xxx/test_mcq.csv"]
    done = command(folder, *words, "--search", "--json")
    assert done.returncode == 0, done.stderr
    sources = {found["name"]: found["source"] for found in printed(done)["found"]}
    assert sources["mine"].endswith("configs/models/mine.py")
    assert "[models.toml]" in sources["toml"]
    assert sources["tgi_api_general"] == "built-in profile"
    assert sources["demo"] == "embedded demo model"
    assert sources["sums"].endswith("configs/datasets/sums.yaml")
    done = command(folder, "--models", "mine", "toml", "--datasets", "sums", "--json")
    assert [(r["suite_model"], r["suite_dataset"]) for r in printed(done)["results"]] == [
        ("mine", "sums"),
        ("toml", "sums"),
    ]
    assert command(folder, "--models", "nobody", "--search").returncode == 4


def test_debug_shows_stages_and_failures_instead_of_a_bar(folder: Path) -> None:
    done = command(
        folder, "xxx/test_qa.jsonl", "--debug", "--max-retries", "0",
        "--model-url", "http://127.0.0.1:9/v1", "--model-id", "m",
    )  # fmt: skip
    assert done.returncode == 1
    assert "test_qa: asking 4 samples" in done.stderr
    assert done.stderr.count("test_qa: failed: row ") == 4


class SlowServer(ThreadingHTTPServer):
    """Answers when it is released."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SlowHandler)
        self.released = threading.Event()
        self.asked: list[str] = []

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class SlowHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        assert isinstance(server, SlowServer)
        server.asked.append(body["messages"][-1]["content"])
        server.released.wait(PATIENCE_S)
        payload = json.dumps({"choices": [{"message": {"content": "1"}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def slow() -> Iterator[SlowServer]:
    server = SlowServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_ctrl_c_stops_all_runs_and_reuse_goes_on_with_them(folder: Path, slow: SlowServer) -> None:
    words = [
        "--models", "demo_of_mine", "--custom-dataset-path", "xxx/test_mcq.csv", "xxx/test_qa.jsonl", "xxx/third.jsonl",
        "--max-num-workers", "2", "--parallelism", "2", "--json",
    ]  # fmt: skip
    (folder / "xxx" / "third.jsonl").write_text(QA.replace("+", "-"), encoding="utf-8")
    table = f'[models.demo_of_mine]\nbase_url = "http://127.0.0.1:{slow.server_port}/v1"\nmodel = "m"\n'
    (folder / "benchwright.toml").write_text(table, encoding="utf-8")
    child = warm.Popen(
        [sys.executable, "-m", "benchwright", "run", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    until(lambda: len(slow.asked) >= 2)
    child.send_signal(signal.SIGINT)
    until_line(child, "interrupted; Ctrl-C stops at once")
    slow.released.set()
    out, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, err
    assert "Traceback" not in err
    first = json.loads(out)
    assert [result["exit_code"] for result in first["results"]] == [130, 130, 130]
    asked_before = len(slow.asked)
    assert asked_before == 2, "what was in flight is finished, and nothing else is begun"

    done = command(folder, *words, "--reuse")
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert again["work_folder"] == first["work_folder"]
    assert [result["run_id"] for result in again["results"]] == [
        result["run_id"] for result in first["results"]
    ]
    assert [result["summary"]["evaluated"] for result in again["results"]] == [4, 4, 4]
    assert len(slow.asked) == 12, "nothing was asked twice"


def test_ctrl_c_twice_stops_several_runs_at_once(folder: Path, slow: SlowServer) -> None:
    child = warm.Popen(
        [
            sys.executable, "-m", "benchwright", "run", "--custom-dataset-path", "xxx/test_mcq.csv", "xxx/test_qa.jsonl",
            "--model-url", f"http://127.0.0.1:{slow.server_port}/v1", "--model-id", "m", "--merge-ds",
        ],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(lambda: len(slow.asked) >= 8)
    child.send_signal(signal.SIGINT)
    until_line(child, "interrupted; Ctrl-C stops at once")
    assert child.poll() is None, "the first waits for what is in flight"
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130
    assert "Traceback" not in err


def test_a_killed_suite_is_gone_on_with(folder: Path, slow: SlowServer) -> None:
    words = [
        "--custom-dataset-path", "xxx/test_mcq.csv", "xxx/test_qa.jsonl",
        "--model-url", f"http://127.0.0.1:{slow.server_port}/v1", "--model-id", "m",
        "--max-num-workers", "2", "--parallelism", "2", "--quiet", "--json",
    ]  # fmt: skip
    child = warm.Popen(
        [sys.executable, "-m", "benchwright", "run", *words],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: len(slow.asked) >= 2)
    child.kill()
    child.wait()
    slow.released.set()
    done = command(folder, "--reuse", "--json")
    assert done.returncode == 0, done.stderr
    shape = printed(done)
    assert [(r["suite_dataset"], r["summary"]["evaluated"]) for r in shape["results"]] == [
        ("test_mcq", 4),
        ("test_qa", 4),
    ]
    assert 8 <= len(slow.asked) <= 10, "only what was in flight is asked again"
