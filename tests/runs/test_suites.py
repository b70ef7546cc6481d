"""Suites from Python: which pairs there are, that all are checked first, run at once, and gone on with."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.config import RunOptions, SuiteOptions
from benchwright.core import (
    QUESTIONS,
    BenchmarkError,
    BenchwrightError,
    ConfigError,
    NotFoundError,
    UsageError,
    defined_settings,
)
from benchwright.runs import Suite, check_suite, rescore, resume, run, run_suite
from benchwright.runs._jobs import Ended
from benchwright.runs._suites.result import PairResult
from benchwright.runs._suites.suite import load_suite
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S

BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="echo", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def echo(sample):
    return {"right": sample.response == sample.target}
"""


class Server(ThreadingHTTPServer):
    """Answers the sum in the question; remembers what was asked, and how much at a time."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.models: list[str] = []
        self.pause_s = 0.0
        self.broken = False
        self.hold: Callable[[str, str], bool] = lambda model, question: False
        """Whether a reply has to wait: asked again whenever another request arrives."""
        self.at_once = self.most_at_once = 0
        self.lock = threading.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        assert isinstance(server, Server)
        question = body["messages"][-1]["content"]
        with server.lock:
            server.asked.append(question)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            server.models.append(body["model"])
            server.lock.notify_all()
            server.lock.wait_for(lambda: not server.hold(body["model"], question), PATIENCE_S)
        time.sleep(server.pause_s)
        with server.lock:
            server.at_once -= 1
        left, _, right = question.splitlines()[0].rstrip("=").partition("+")
        answer: dict[str, Any] = {"choices": [{"message": {"content": str(int(left) + int(right))}}]}
        payload = json.dumps({"error": "out of order"} if server.broken else answer).encode()
        self.send_response(500 if server.broken else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def write_sums(path: Path, rows: int, first: int = 0) -> None:
    lines = [json.dumps({"question": f"{n}+{n}=", "answer": str(2 * n)}) for n in range(first, first + rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_sums(tmp_path / "a.jsonl", 6)
    write_sums(tmp_path / "b.jsonl", 4, first=100)
    return tmp_path


def suite_file(folder: Path, text: str, name: str = "s.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def http(server: Server, name: str = "local", **more: Any) -> str:
    return json.dumps({"name": name, "base_url": server.url, "model": name, "retries": 0, **more})


def runs_of(folder: Path) -> list[Any]:
    store = open_store(Workspace(folder))
    try:
        return store.runs()
    finally:
        store.close()


def test_every_model_meets_every_dataset(folder: Path, server: Server) -> None:
    models = f"[{http(server, 'one')}, {http(server, 'two')}]"
    result = run_suite(suite_file(folder, f"models: {models}\ndatasets: [a.jsonl, b.jsonl]"))
    assert [(pair.model, pair.dataset) for pair in result] == [
        ("one", "a"), ("one", "b"), ("two", "a"), ("two", "b"),
    ]  # fmt: skip
    assert result.exit_code == 0
    assert result["two", "a"]["normalised_exact"] == 1.0
    assert len(server.asked) == 20
    assert [row.dataset for row in result.comparison.rows if row.headline] == ["a", "b"]
    first = result.comparison.rows[0]
    assert [(cell.model, cell.value, cell.evaluated, cell.failed) for cell in first.cells] == [
        ("one", 1.0, 6, 0),
        ("two", 1.0, 6, 0),
    ]
    with pytest.raises(NotFoundError, match="There are: one, a; one, b"):
        result["one", "c"]


def test_each_pair_is_a_run_like_any_other(folder: Path, server: Server) -> None:
    result = run_suite(suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]"))
    runs = runs_of(folder)
    assert [run.name for run in runs] == ["b", "a"]
    assert all((run.folder / "results.yml").is_file() for run in runs)
    again = resume(result.pairs[0].run_id)
    assert again.requests_sent == 0
    assert again.status == "completed"


def test_files_go_to_a_folder_per_pair(folder: Path, server: Server) -> None:
    text = f"models: [{http(server, 'org/model')}]\ndatasets: [a.jsonl, b.jsonl]"
    result = run_suite(suite_file(folder, text), output_dir="out")
    assert result.exit_code == 0
    assert [path.parent.name for path in sorted(folder.glob("out/org_model/*/results.yml"))] == ["a", "b"]


def test_a_table_of_settings_holds_for_one_dataset_and_options_for_all(folder: Path, server: Server) -> None:
    text = f"models: [{http(server)}]\ndatasets: [{{path: a.jsonl, limit: 2}}, b.jsonl]\nrun: {{limit: 3}}"
    result = run_suite(suite_file(folder, text))
    assert [pair.result.summary.rows for pair in result if pair.result] == [2, 3]
    result = run_suite("s.yaml", limit=1)
    assert [pair.result.summary.rows for pair in result if pair.result] == [1, 1]


def test_equal_entries_run_once_and_equal_names_of_different_things_are_told_apart(
    folder: Path, server: Server
) -> None:
    (folder / "more").mkdir()
    write_sums(folder / "more" / "a.jsonl", 2, first=50)
    text = f"models: [{http(server)}, {http(server)}]\ndatasets: [a.jsonl, more/a.jsonl, {{path: a.jsonl}}]"
    result = run_suite(suite_file(folder, text))
    assert [(pair.model, pair.dataset) for pair in result] == [("local", "a"), ("local", "a-2")]
    assert len(server.asked) == 8
    assert any("another dataset is called a; this one is a-2" in note for note in result.notes)


def test_one_file_under_two_settings_is_two_datasets(folder: Path, server: Server) -> None:
    text = f"models: [{http(server)}]\ndatasets: [{{path: a.jsonl, limit: 1}}, {{path: a.jsonl, limit: 2, name: all}}]"
    result = run_suite(suite_file(folder, text))
    assert [(pair.dataset, pair.result.summary.rows) for pair in result if pair.result] == [
        ("a", 1),
        ("all", 2),
    ]


def test_benchmarks_and_files_of_questions_stand_side_by_side(folder: Path, server: Server) -> None:
    (folder / "bench.py").write_text(BENCH, encoding="utf-8")
    write_sums(folder / "rows.jsonl", 3)
    (folder / "benchwright.toml").write_text('[benchmarks.short]\nfile = "bench.py:echo"\n', encoding="utf-8")
    text = f"models: [{http(server)}]\ndatasets: [a.jsonl, 'bench.py:echo', {{benchmark: short, name: named, limit: 1}}]"
    result = run_suite(suite_file(folder, text))
    assert [(pair.dataset, pair.result.summary.rows) for pair in result if pair.result] == [
        ("a", 6),
        ("echo", 3),
        ("named", 1),
    ]


def test_a_built_in_evaluation_stands_beside_a_file(folder: Path, server: Server) -> None:
    facts = [{"problem": f"{n}+1=", "answer": str(n + 1)} for n in range(3)]
    (folder / "facts.jsonl").write_text("\n".join(map(json.dumps, facts)), encoding="utf-8")
    text = f"models: [{http(server)}]\ndatasets: [a.jsonl, {{benchmark: simpleqa-verified, dataset: facts.jsonl}}]"
    result = run_suite(suite_file(folder, text))
    assert [(pair.dataset, pair.result.summary.rows) for pair in result if pair.result] == [
        ("a", 6),
        ("simpleqa_verified", 3),
    ]
    assert result.exit_code == 0
    assert result["local", "simpleqa_verified"]["similarity"] == 1.0
    assert [row.dataset for row in result.comparison.rows if row.headline] == ["a", "simpleqa_verified"]


def test_settings_of_question_files_pass_benchmarks_by_unless_they_are_their_own(
    folder: Path, server: Server
) -> None:
    (folder / "bench.py").write_text(BENCH, encoding="utf-8")
    write_sums(folder / "rows.jsonl", 3)
    text = f"models: [{http(server)}]\ndatasets: [a.jsonl, bench.py]\nrun: {{qa_metrics: [contains]}}"
    result = run_suite(suite_file(folder, text))
    assert result.exit_code == 0
    text = f"models: [{http(server)}]\ndatasets: [{{benchmark: bench.py, qa_metrics: [contains]}}]"
    with pytest.raises(UsageError, match="entry 1: qa_metrics: only files of questions"):
        run_suite(suite_file(folder, text))


PYTHON = """
from benchwright import benchmark, read_base, scorer

with read_base():
    from neighbour import sum_datasets

@benchmark(name="own", dataset="rows.jsonl", prompt="{{question}}", target_field="answer")
@scorer
def own(sample):
    return {{"right": sample.response == sample.target}}

models = [dict(name="local", base_url="{url}", model="m", retries=0)]
datasets = [*sum_datasets, own, {{"path": "b.jsonl", "data_type": "qa", "infer_method": "gen"}}]
infer = dict(runner=None)
"""


def test_a_python_suite_lists_dicts_and_decorated_functions(folder: Path, server: Server) -> None:
    write_sums(folder / "rows.jsonl", 3)
    (folder / "neighbour.py").write_text(
        'sum_datasets = [{"path": "a.jsonl", "abbr": "sums"}]', encoding="utf-8"
    )
    result = run_suite(suite_file(folder, PYTHON.format(url=server.url), "suite.py"))
    assert [pair.dataset for pair in result] == ["sums", "own", "b"]
    assert result.exit_code == 0
    assert any("infer tells AISBench how to start tasks" in note for note in result.notes)
    resumed = resume(result.pairs[1].run_id)
    assert resumed.requests_sent == 0


def test_lists_whose_names_end_in_datasets_are_gathered(folder: Path) -> None:
    text = 'models = ["demo"]\na_datasets = [{"path": "a.jsonl"}]\nb_datasets = [{"path": "b.jsonl"}]\n'
    suite = load_suite(suite_file(folder, text, "suite.py"), cwd=folder)
    assert suite is not None
    assert [Path(str(dataset.target)).name for dataset in suite.datasets] == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize(
    ("text", "suite"),
    [
        (BENCH, False),
        (BENCH + "\ndatasets = 'not a list'\n", False),
        (BENCH + "\nmodels = ['demo']\n", False),
        ("datasets = []\nmodels = []\n", True),
        ("if True:\n    datasets = ['a.jsonl']\n", True),
        ("def f():\n    datasets = ['a.jsonl']\n", False),
    ],
)
def test_what_a_python_file_binds_decides_whether_it_is_a_suite(folder: Path, text: str, suite: bool) -> None:
    write_sums(folder / "rows.jsonl", 1)
    assert (load_suite(suite_file(folder, text, "file.py"), cwd=folder) is not None) is suite


def test_a_benchmark_file_is_not_run_to_find_out_that_it_is_no_suite(folder: Path) -> None:
    text = BENCH + "\nfrom pathlib import Path\nPath('ran').touch()\n"
    assert load_suite(suite_file(folder, text, "file.py"), cwd=folder) is None
    assert not (folder / "ran").exists()


def test_json_files_are_suites_only_with_a_list_of_datasets(folder: Path) -> None:
    assert (
        load_suite(suite_file(folder, '[{"question": "x", "answer": "y"}]', "rows.json"), cwd=folder) is None
    )
    assert load_suite(suite_file(folder, '{"datasets": ["a.jsonl"]}', "s.json"), cwd=folder) is not None
    assert load_suite("a.jsonl", cwd=folder) is None
    with pytest.raises(ConfigError, match="not a suite"):
        load_suite(suite_file(folder, "", "benchwright.toml"), cwd=folder)
    with pytest.raises(NotFoundError, match=r"there is no file missing\.toml"):
        load_suite("missing.toml", cwd=folder)


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("from mmengine.config import read_base", "from benchwright import read_base"),
        (
            "from ais_bench.benchmark.configs.models.vllm_api_general import models",
            "Write a model's name as a text",
        ),
    ],
)
def test_imports_of_another_tool_are_told_with_their_cure(folder: Path, line: str, cure: str) -> None:
    with pytest.raises(BenchmarkError, match=cure):
        load_suite(suite_file(folder, f"{line}\ndatasets = []\n", "suite.py"), cwd=folder)


def test_combinations_and_chosen_models(folder: Path, server: Server) -> None:
    text = f"""
models: [{http(server, "one")}, {http(server, "two")}]
datasets: [a.jsonl, b.jsonl]
model_dataset_combinations: [{{models: [one], datasets: [a, b]}}, {{models: [two], datasets: [b]}}]
run: {{limit: 1}}
"""
    result = run_suite(suite_file(folder, text))
    assert [(pair.model, pair.dataset) for pair in result] == [("one", "a"), ("one", "b"), ("two", "b")]
    result = run_suite("s.yaml", models=("two", "demo"))
    assert [(pair.model, pair.dataset) for pair in result] == [("two", "b"), ("demo", "a"), ("demo", "b")]
    result = run_suite("s.yaml", model_url=server.url, model_id="other")
    assert [(pair.model, pair.dataset) for pair in result] == [("other", "a"), ("other", "b")]
    with pytest.raises(UsageError, match="no model named 'tow'"):
        run_suite("s.yaml", models="tow")


def test_nothing_is_sent_before_every_pair_is_known_to_work(folder: Path, server: Server) -> None:
    (folder / "bad.csv").write_text("question,A,B,answer\n1+1=,2,3,E\n", encoding="utf-8")
    (folder / "worse.csv").write_text("question,A,B,answer\n,2,3,A\n", encoding="utf-8")
    text = f"models: [{http(server)}]\ndatasets: [a.jsonl, bad.csv, worse.csv]"
    with pytest.raises(BenchwrightError) as refused:
        run_suite(suite_file(folder, text))
    for part in ("bad on local", "worse on local", "Nothing was sent"):
        assert part in str(refused.value)
    assert server.asked == []
    assert runs_of(folder) == []


def test_a_dead_model_does_not_stop_the_others(folder: Path, server: Server) -> None:
    dead = json.dumps({"name": "dead", "base_url": "http://127.0.0.1:9/v1", "model": "m", "retries": 0})
    result = run_suite(suite_file(folder, f"models: [{dead}, {http(server)}]\ndatasets: [a.jsonl, b.jsonl]"))
    assert [pair.exit_code for pair in result] == [1, 1, 0, 0]
    assert result.exit_code == 1
    cells = result.comparison.rows[0].cells
    assert cells[0].marks == ("failed",)
    assert (cells[1].value, cells[1].marks) == (1.0, ())


def test_a_pair_that_cannot_go_on_does_not_stop_the_others(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.runs import _benchmark_work

    whole = _benchmark_work.write_run_config

    def breaking(details: Any) -> Path:
        if details.run.name == "a":
            raise OSError("the disk is full")
        return whole(details)

    monkeypatch.setattr(_benchmark_work, "write_run_config", breaking)
    result = run_suite(suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]"))
    assert [pair.exit_code for pair in result] == [1, 0]
    assert "the disk is full" in result.pairs[0].error
    assert [run.status for run in runs_of(folder)] == ["completed", "failed"]
    assert result.to_json()["results"][0]["error"] == "OSError: the disk is full"  # type: ignore[index,call-overload]


def test_several_runs_are_under_way_at_once(folder: Path, server: Server) -> None:
    # Neither run gets a reply before the other one has asked: one after the other, they would wait for ever.
    server.hold = lambda model, question: len(set(server.models)) < 2
    text = (
        f"models: [{http(server, 'one')}, {http(server, 'two')}]\ndatasets: [a.jsonl]\nrun: {{cache: false}}"
    )
    result = run_suite(suite_file(folder, text), max_num_workers=2)
    assert result.exit_code == 0
    assert [pair.result.summary.evaluated for pair in result if pair.result] == [6, 6]
    assert sorted(server.models) == ["one"] * 6 + ["two"] * 6


def test_runs_at_once_keep_the_limit_of_their_model_together(folder: Path, server: Server) -> None:
    # One reply of the first dataset waits for the second to ask, which must not wait for the end of the first.
    server.hold = lambda model, question: (
        question.startswith("5+5") and not any(q[3:4] == "+" for q in server.asked)
    )
    text = f"models: [{http(server, concurrency=3)}]\ndatasets: [a.jsonl, b.jsonl]"
    result = run_suite(suite_file(folder, text), merge_ds=True)
    assert result.exit_code == 0
    assert server.most_at_once <= 3
    assert [pair.result.summary.evaluated for pair in result if pair.result] == [6, 4]


def test_warm_ups_are_sent_and_not_counted(folder: Path, server: Server) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [b.jsonl]")
    result = run_suite("s.yaml", num_warmups=6)
    assert len(server.asked) == 10
    (pair,) = result
    assert pair.result is not None
    assert (pair.result.requests_sent, pair.result.summary.evaluated) == (4, 4)
    assert resume(pair.run_id).status == "completed"
    assert len(server.asked) == 10, "a complete run needs no warm server"


def test_warm_ups_that_all_fail_end_the_run_with_the_servers_words(folder: Path, server: Server) -> None:
    server.broken = True
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [b.jsonl]")
    result = run_suite("s.yaml", num_warmups=2)
    assert len(server.asked) == 2
    assert result.exit_code == 1
    assert "all 2 warm-up requests failed" in result.pairs[0].error
    assert "out of order" in result.pairs[0].error
    assert runs_of(folder)[0].status == "failed"


def test_a_work_folder_is_gone_on_with(folder: Path, server: Server) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]\nwork_dir: out")
    first = run_suite("s.yaml", max_requests=3, parallelism=1)
    assert first.exit_code == 3
    assert [pair.result.summary.evaluated for pair in first if pair.result] == [3, 3]
    assert first.work_folder is not None
    again = run_suite("s.yaml", reuse="", parallelism=1)
    assert again.exit_code == 0
    assert again.work_folder == first.work_folder
    assert [pair.run_id for pair in again] == [pair.run_id for pair in first]
    assert len(server.asked) == 10
    assert len(set(server.asked)) == 10


def test_a_pair_starts_at_its_turn_and_a_finished_one_keeps_its_end(folder: Path, server: Server) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]\nwork_dir: out")
    server.pause_s = 0.02
    run_suite("s.yaml", parallelism=1)
    second, first = before = runs_of(folder)
    assert second.created_at >= first.finished_at
    run_suite("s.yaml", reuse="", parallelism=1)
    for old, new in zip(before, runs_of(folder), strict=True):
        assert (new.created_at, new.finished_at, new.worked, new.starts) == (
            old.created_at,
            old.finished_at,
            old.worked,
            1,
        )


def test_going_on_asks_what_failed_again_and_new_pairs_for_the_first_time(
    folder: Path, server: Server
) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl]\nwork_dir: out")
    server.broken = True
    assert run_suite("s.yaml").exit_code == 1
    server.broken = False
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]\nwork_dir: out")
    asked = len(server.asked)
    again = run_suite("s.yaml", reuse="")
    assert again.exit_code == 0
    assert len(server.asked) - asked == 10
    assert again["local", "a"]["normalised_exact"] == 1.0


def test_a_run_is_not_gone_on_with_as_another_experiment(folder: Path, server: Server) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl]\nwork_dir: out")
    run_suite("s.yaml", limit=2)
    with pytest.raises(
        UsageError, match=r"run 1 \(a on local\) is another experiment: limit was 2, is 3 now"
    ):
        run_suite("s.yaml", limit=3, reuse="")
    with pytest.raises(UsageError, match=r"temperature was 0\.0, is 1\.0 now"):
        run_suite("s.yaml", limit=2, temperature=1.0, reuse="")
    with pytest.raises(UsageError, match=r"qa_metrics was .*numeric.* now.*mode='eval' reuse"):
        run_suite("s.yaml", limit=2, qa_metrics="numeric", reuse="")
    assert runs_of(folder)[0].status == "completed"


def test_asking_and_scoring_can_be_two_commands(folder: Path, server: Server) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]\nwork_dir: out")
    asked = run_suite("s.yaml", mode="infer")
    assert asked.exit_code == 0
    assert all(pair.result is not None and not pair.result.metrics for pair in asked)
    assert len(server.asked) == 10
    scored = run_suite("s.yaml", mode="eval", reuse="")
    assert scored["local", "b"]["normalised_exact"] == 1.0
    other = run_suite("s.yaml", mode="eval", reuse="", qa_metrics="numeric")
    assert other.comparison.rows[0].metric == "numeric"
    shown = run_suite("s.yaml", mode="viz", reuse="")
    assert shown.comparison == other.comparison
    assert len(server.asked) == 10, "scoring and showing ask nothing"


def test_going_on_with_what_was_only_asked_scores_it(folder: Path, server: Server) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]\nwork_dir: out")
    run_suite("s.yaml", mode="infer", max_requests=3, parallelism=1)
    ended = []
    result = run_suite(
        "s.yaml",
        RunOptions(parallelism=1),
        SuiteOptions(reuse=""),
        finished=lambda pair: ended.append(pair.dataset),
    )
    assert result["local", "a"]["normalised_exact"] == 1.0
    assert len(server.asked) == 10
    assert ended == ["a", "b"], "each pair is reported once"


def test_rules_of_one_type_go_to_the_pairs_that_take_them(folder: Path, server: Server) -> None:
    (folder / "m.csv").write_text("question,A,B,answer\n1+1=,1,2,B\n", encoding="utf-8")
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, m.csv]\nwork_dir: out")
    run_suite("s.yaml")
    asked = len(server.asked)
    result = run_suite(Suite(path=folder), mode="eval", reuse="", work_dir="out", mcq_fallback="aisbench")
    names = {pair.dataset: pair.result.summary.metrics.keys() for pair in result if pair.result is not None}
    assert ("accuracy" in names["m"], "normalised_exact" in names["a"]) == (True, True)
    (scored,) = [
        run
        for run in runs_of(folder)
        if (defined_settings(run.settings, QUESTIONS) or {})["mcq_fallback"] == "aisbench"
    ]
    assert scored.settings["benchmark"] == "m"
    assert len(server.asked) == asked
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl, b.jsonl]\nwork_dir: out2")
    run_suite("s.yaml")
    with pytest.raises(UsageError, match=r"^mcq_fallback: none of the datasets takes this"):
        run_suite(Suite(path=folder), mode="eval", reuse="", work_dir="out2", mcq_fallback="aisbench")


def test_scoring_needs_something_that_was_asked(folder: Path, server: Server) -> None:
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [a.jsonl]\nwork_dir: out")
    with pytest.raises(UsageError, match=r"^mode='eval' works on what an earlier command recorded"):
        run_suite("s.yaml", mode="eval")
    with pytest.raises(NotFoundError, match="no work folder to reuse"):
        run_suite("s.yaml", mode="eval", reuse="")
    run_suite("s.yaml", mode="infer")
    suite_file(folder, f"models: [{http(server)}]\ndatasets: [b.jsonl]\nwork_dir: out")
    with pytest.raises(NotFoundError, match="no replies of b on local"):
        run_suite("s.yaml", mode="eval", reuse="")


def test_checking_sends_nothing_and_looks_at_each_dataset_once(folder: Path, server: Server) -> None:
    models = f"[{http(server, 'one')}, {http(server, 'two')}]"
    suite = load_suite(suite_file(folder, f"models: {models}\ndatasets: [a.jsonl, b.jsonl]"), cwd=folder)
    assert suite is not None
    found = check_suite(suite, RunOptions(), SuiteOptions())
    assert [(pair.model, pair.dataset, pair.report.rows) for pair in found.pairs] == [
        ("one", "a", 6), ("one", "b", 4), ("two", "a", 6), ("two", "b", 4),
    ]  # fmt: skip
    assert found.pairs[0].report is found.pairs[2].report
    assert server.asked == []


def test_rows_that_a_suite_skips_do_not_keep_it_from_running(folder: Path, server: Server) -> None:
    (folder / "bad.csv").write_text("question,A,B,answer\n1+1=,2,3,E\n1+2=,3,4,A\n", encoding="utf-8")
    entry = "{path: bad.csv, skip_bad_rows: true}"
    suite = load_suite(
        suite_file(folder, f"models: [{http(server)}]\ndatasets: [{entry}, bad.csv]"), cwd=folder
    )
    assert suite is not None
    assert [pair.ready for pair in check_suite(suite, RunOptions(), SuiteOptions()).pairs] == [True, False]


def test_unknown_words_are_refused(folder: Path) -> None:
    suite_file(folder, "models: [demo]\ndatasets: [a.jsonl]")
    with pytest.raises(UsageError, match=r"max_num_wrokers.*max_num_workers"):
        run_suite("s.yaml", max_num_wrokers=2)
    with pytest.raises(UsageError, match="expected 1 or more"):
        run_suite("s.yaml", max_num_workers=0)
    with pytest.raises(ConfigError, match="no list of datasets"):
        run_suite("a.jsonl")
    first = run("s.yaml")
    with pytest.raises(UsageError, match=r"run_suite\('s.yaml'\)"):
        rescore(first.pairs[0].run_id, target="s.yaml")
    with pytest.raises(ConfigError, match="has no datasets"):
        run_suite(suite_file(folder, "models: [demo]"))


def test_rows_are_looked_at_once_for_all_models(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.benchmarks import _rows

    passes = []
    whole = _rows.scan_rows
    monkeypatch.setattr(_rows, "scan_rows", lambda *words, **more: passes.append(1) or whole(*words, **more))
    models = ", ".join(http(server, name) for name in ("one", "two", "three"))
    result = run_suite(
        suite_file(folder, f"models: [{models}]\ndatasets: [a.jsonl, {{path: a.jsonl, limit: 1, name: b}}]"),
        max_num_workers=3,
    )
    assert len(passes) == 2
    assert [pair.result.summary.evaluated for pair in result if pair.result] == [6, 1, 6, 1, 6, 1]
    manifests = {run.manifest["endpoint"]["fingerprint"] for run in runs_of(folder)}
    assert len(manifests) == 3, "each run knows its own model"


def test_a_key_that_is_missing_for_one_model_is_told_before_anything_is_sent(
    folder: Path, server: Server
) -> None:
    models = f"{http(server)}, {http(server, 'secret', api_key_name='NO_SUCH_KEY_HERE')}"
    with pytest.raises(BenchwrightError, match="NO_SUCH_KEY_HERE"):
        run_suite(suite_file(folder, f"models: [{models}]\ndatasets: [a.jsonl]"))
    assert server.asked == []
    assert runs_of(folder) == []


def test_a_pair_that_never_began_did_not_fail() -> None:
    def pair(ended: Ended) -> PairResult:
        return PairResult("local", "qa", 3, ended.result, ended.problem, ended.exit_code)

    never = pair(Ended("qa on local", 3))
    assert never.not_begun
    assert (never.to_json()["status"], never.exit_code) == ("not begun", 130)
    failed = pair(Ended("qa on local", 3, error=UsageError("no")))
    assert (failed.to_json()["status"], failed.error, failed.exit_code) == ("failed", "no", 2)


def test_the_title_of_a_run_has_the_name_that_the_suite_gives_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.csv").write_text("question,A,B,answer\n1+1=,1,2,B\n", encoding="utf-8")
    models = [{"name": "steady", "type": "demo"}]
    (tmp_path / "suite.yaml").write_text(
        json.dumps({"models": models, "datasets": ["quiz.csv"]}), encoding="utf-8"
    )
    run_suite("suite.yaml")
    assert main(["show", "1"]) == 0
    assert "quiz on steady (demo), 1 row:" in capsys.readouterr().out
