"""`run_eval` and `run --config` against a recording server: what must arrive, arrives; and what a dry run leaves behind."""

from __future__ import annotations

import json
import re
import shlex
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchwright
from benchwright.cli import main
from benchwright.demo import DemoSettings
from recording_server import RecordingServer, Refusal, recording
from waiting import PATIENCE_S

BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="my-qa", dataset="data.jsonl", prompt="Q: {question}", target_field="answer", num_fewshot=1,
           extra={"offset": 0, "weights": {"a": 1, "b": 2}})
@scorer
def check(sample):
    return {"correct": sample.response == sample.target, "offset": sample.config["offset"], **sample.config["weights"]}

@benchmark(name="ranked", dataset="data.jsonl", prompt="Q: {question}", choices=["A", "B"], endpoint_type="completions_logprob")
@scorer
def ranked(sample):
    return {"correct": 1}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    table = '[benchmarks.my_qa]\nfile = "bench.py:my_qa"\nmax_retries = 0\n[benchmarks.ranked]\nfile = "bench.py:ranked"\n'
    (tmp_path / "benchwright.toml").write_text(table, encoding="utf-8")
    for name, count in (("data.jsonl", 4), ("other data.jsonl", 6)):
        rows = [json.dumps({"question": f"{name} {n}", "answer": "B"}) for n in range(count)]
        (tmp_path / name).write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def write(name: str, document: Any) -> str:
    Path(name).write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return name


def endpoint(server: RecordingServer, **more: Any) -> dict[str, Any]:
    return {"api_endpoint": {"model_id": "m", "type": "chat", "url": server.url, **more}}


def config(server: RecordingServer, params: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "config": {"type": "my_qa", "output_dir": "out", "params": params or {}},
        "target": endpoint(server, **more),
    }


def typed(line: str) -> list[str]:
    """A command of a manual as the program gets it."""
    return shlex.split(line.replace("\\\n", " "))[1:]


def test_the_command_of_the_published_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seed 003, with another program and a server that is there; the URL has no path, as on that page."""
    monkeypatch.setenv("MY_API_KEY", "your_api_key_here")
    with recording("[]") as server:
        bare = server.url.removesuffix("/v1")
        code = main(
            typed(f"""benchwright run_eval \\
            --eval_type bfclv3_ast \\
            --model_id my_model \\
            --model_type chat \\
            --model_url {bare} \\
            --api_key_name MY_API_KEY \\
            --output_dir ./evaluation_results \\
            --overrides 'config.params.task=simple,config.params.limit_samples=2'""")
        )
    assert code == 0, capsys.readouterr()
    assert len(server.received) == 2
    for request in server.received:
        assert request.path == "/v1/chat/completions"
        assert request.headers["authorization"] == ["Bearer your_api_key_here"]
        assert request.body["model"] == "my_model"
        assert request.body["tools"]
    results = (folder / "evaluation_results" / "results.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(results)["config"]["type"] == "bfcl.bfclv3_ast"
    everything = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(b"your_api_key_here" in content for content in everything)


def test_the_file_of_the_published_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seed 003: parallelism, limit, and a URL with its path."""
    monkeypatch.setenv("NVIDIA_API_KEY", "nvapi-secret-of-mine")
    with recording("[]") as server:
        text = f"""
config:
  type: bfclv3_ast
  params:
    parallelism: 50
    limit_samples: 1
    task: simple
target:
  api_endpoint:
    model_id: meta/llama-3.1-8b-instruct
    type: chat
    url: {server.url}/chat/completions
    api_key_name: NVIDIA_API_KEY
"""
        Path("run.yaml").write_text(text, encoding="utf-8")
        assert main(["run_eval", "--run_config", "run.yaml", "--output_dir", "out"]) == 0, capsys.readouterr()
    (request,) = server.received
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "meta/llama-3.1-8b-instruct"
    recorded = yaml.safe_load(Path("out/run_config.yml").read_text(encoding="utf-8"))
    assert recorded["config"]["params"]["parallelism"] == 50


@pytest.mark.parametrize(
    "command", [["run_eval", "--run_config"], ["run", "--config"], ["run", "--run-config"]]
)
def test_every_parameter_and_header_arrives(folder: Path, command: list[str]) -> None:
    params = {
        "limit_samples": 1, "max_new_tokens": 77, "temperature": 0.25, "top_p": 0.5, "max_retries": 0,
        "extra": {"n_repeats": 2, "seed": 11, "stop": ["END", "x, y"], "extra_body": {"top_k": 5, "nested": {"a": [1]}}},
    }  # fmt: skip
    with recording("B") as server:
        document = config(server, params, headers={"X-Team": "search; rm -rf"}, stream=False)
        assert (
            main([*command, write("run.yml", document), "-o", "config.params.extra.extra_body.min_p=0.1"])
            == 0
        )
    assert len(server.received) == 2
    for request in server.received:
        assert request.headers["x-team"] == ["search; rm -rf"]
        assert {name: request.body[name] for name in ("max_tokens", "temperature", "top_p", "seed", "stop")} == {
            "max_tokens": 77, "temperature": 0.25, "top_p": 0.5, "seed": 11, "stop": ["END", "x, y"],
        }  # fmt: skip
        assert (request.body["top_k"], request.body["min_p"], request.body["nested"]) == (5, 0.1, {"a": [1]})


def test_data_and_examples_can_be_changed_by_file_override_and_flag(folder: Path) -> None:
    """Seed 000: `extra.dataset.path` and `.num_fewshot`, the latter 0 against a benchmark that declares 1."""
    key = "config.params.extra.dataset"
    dataset = {"dataset": {"path": "other data.jsonl", "num_fewshot": 0}}
    with recording("B") as server:
        plain = write("plain.yaml", config(server, {"limit_samples": 1, "extra": {"cache": False}}))
        changed = write(
            "changed.yaml", config(server, {"limit_samples": 1, "extra": dataset | {"cache": False}})
        )
        ways: list[list[str]] = [
            ["run_eval", "--run_config", changed],
            ["run_eval", "--run_config", plain, "--overrides", f"{key}.path='other data.jsonl',{key}.num_fewshot=0"],
            ["run_eval", "--run_config", plain, "--dataset", "other data.jsonl", "--num-fewshot", "0"],
            ["run", "--config", plain, "-o", f"{key}.path=other data.jsonl", "-o", f"++{key}.num_fewshot=0", "--overwrite"],
            ["run", "--config", plain, "--dataset", "other data.jsonl", "--num_fewshot", "0", "--overwrite"],
        ]  # fmt: skip
        for words in ways:
            assert main(words) == 0
            assert [request.body["messages"] for request in server.take()] == [
                [{"role": "user", "content": "Q: other data.jsonl 0"}]
            ]
        assert main(["run_eval", "--run_config", plain]) == 0
        (request,) = server.received
        assert request.body["messages"][-1]["content"].count("Q: data.jsonl") == 2  # the example, and the row


@pytest.mark.parametrize("ending", ["", "/v1", "/v1/", "/v1/chat/completions"])
def test_item_2_a_url_works_with_and_without_its_path(folder: Path, ending: str) -> None:
    with recording("B") as server:
        url = server.url.removesuffix("/v1") + ending
        assert main(["run_eval", "--run_config", write("r.yaml", config(server, url=url))]) == 0
    assert {request.path for request in server.received} == {"/v1/chat/completions"}


def test_item_24_a_share_of_the_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server, {"limit_samples": 0.3}))
        assert main(["run_eval", "--run_config", file]) == 0
        assert len(server.take()) == 2  # of 4, rounded up
        assert main(["run_eval", "--run_config", file, "--dataset", "other data.jsonl"]) == 0
        assert len(server.take()) == 2  # of 6
        assert main(["run_eval", "--run_config", file, "-o", "config.params.limit_samples=0"]) == 2
        assert "would evaluate nothing" in capsys.readouterr().err
        assert server.received == []


def test_item_24_a_share_of_each_category_of_function_calling(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = "simple,multiple,java"
    whole, part = (
        benchwright.check("bfclv3_ast", task=tasks, limit_share=share)[0].rows for share in (None, 0.01)
    )
    assert whole > part == 3, "one row of each category"
    Path("r.yaml").write_text(
        f"config: {{type: bfclv3_ast, output_dir: out, params: {{limit_samples: 0.4, task: '{tasks}'}}}}\n"
        "target: {api_endpoint: {model: demo}}\n"
    )
    assert main(["run", "--config", "r.yaml", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    found = yaml.safe_load(Path("out/results.yml").read_text())
    assert found["config"]["params"]["limit_samples"] == 0.4
    assert "--limit-share 0.4" in found["command"]
    assert part < result["summary"]["evaluated"] < whole
    assert main(["run", "--config", "out/run_config.yml", "--output-dir", "again", "--json"]) == 0
    (again,) = json.loads(capsys.readouterr().out)["results"]
    assert again["summary"]["evaluated"] == result["summary"]["evaluated"]
    assert main(["run", "my_bench.py", "--limit-share", "0.4"]) in (2, 4)


def test_item_27_types_of_models_are_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server))
        for kind, words in (("completions", []), ("chat", ["--eval_type", "byob_ranked.ranked"])):
            assert main(["run_eval", "--run_config", file, "--model_type", kind, *words]) == 2
            name, supported = ("ranked", "completions_logprob") if words else ("my-qa", "chat")
            said = capsys.readouterr().err
            assert f"The benchmark '{name}' does not support the model type '{kind}'." in said
            assert f"The benchmark supports '['{supported}']'" in said
        assert main(["run_eval", "--run_config", file, "--model_type", "embedding"]) == 2
        assert "returns vectors and no text" in capsys.readouterr().err
        assert (
            main(["run_eval", "--run_config", file, "--eval_type", "byob_my_qa.my_qa"]) == 0
        )  # the long name
    assert {request.path for request in server.received} == {"/v1/chat/completions"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--eval_type", "a.b.c"], "expected NAME or FRAMEWORK.NAME"),
        (["--eval_type", "nope.my_task"], "there is no framework 'nope'"),
        (["--eval_type", "bfcl.simpel"], "bfcl has no evaluation or category 'simpel'"),
        (["--eval_type", "my_qaa"], "Did you mean 'my_qa'"),
        (["-o", "config.params.extra.ofset=1"], "Did you mean 'offset'"),
        (["-o", "config.params.extra.fewshot_seeed=1"], "Did you mean 'fewshot_seed'"),
        (["-o", "config.params.extra.dataset.choices=[A]"], "another choices than the benchmark"),
        (["--api_key_name", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"),
        (["-o", "config.params.task=simple"], "config.params.task: only function-calling evaluations"),
        (["-o", "config.type=suite.yaml"], "start it with: benchwright run"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_sent(
    folder: Path, words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("suite.yaml", {"models": ["demo"], "datasets": ["data.jsonl"]})
    with recording("B") as server:
        assert main(["run_eval", "--run_config", write("r.yaml", config(server)), *words]) in (2, 4)
    assert reason in capsys.readouterr().err
    assert server.received == []


def test_item_33_a_configuration_error_is_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run_eval", "--eval_type", "my_qa"]) == 2
    assert capsys.readouterr().err.startswith("error: config.output_dir is missing: give --output_dir DIR")


def test_a_key_of_another_table_below_extra_is_named_where_it_belongs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server))
        for name, key in (("stream", "target.api_endpoint.stream"), ("top_p", "config.params.top_p")):
            assert main(["run_eval", "--run_config", file, "-o", f"config.params.extra.{name}=1"]) == 2
            assert f"Did you mean '{key}'?" in capsys.readouterr().err
    assert not server.received


def test_what_a_benchmark_declares_itself_reaches_its_scorer(folder: Path) -> None:
    with recording("B") as server:
        document = config(server, {"extra": {"offset": 7, "weights": {"b": 3}}})
        assert main(["run_eval", "--run_config", write("r.yaml", document)]) == 0
    found = yaml.safe_load(Path("out/results.yml").read_text(encoding="utf-8"))["results"]["tasks"]["my_qa"][
        "metrics"
    ]
    scores = found["pass@1"]["scores"]
    assert [scores[name]["value"] for name in ("offset", "a", "b")] == [7, 1, 3]
    again = benchwright.rescore("last", extra={"offset": 9})
    assert again["offset"] == 9


AWKWARD = (
    "m; touch PWNED #",
    "$(touch PWNED)",
    "`touch PWNED`",
    "a b",
    "it's",
    "x,y",
    "{{config.type}}",
    "${HOME}",
    "模型🎯",
)


@pytest.mark.parametrize("value", AWKWARD)
def test_shell_characters_and_templates_are_data(
    folder: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server, {"limit_samples": 1, "extra": {"cache": False}}))
        document = config(server, {"limit_samples": 1, "extra": {"cache": False}}, model_id=value)
        document["config"]["output_dir"] = place = f"out {value.replace('/', '_')}"
        for words in (
            ["run_eval", "--run_config", file, "--model_id", value, "--output_dir", place],
            ["run_eval", "--run_config", write("in_file.yaml", document)],
            ["run", "--config", file, "-o", f"target.api_endpoint.model_id={value}", "--overwrite"],
        ):
            assert main(words) == 0
        assert [request.body["model"] for request in server.received] == [value] * 3
        capsys.readouterr()
        assert main(["run_eval", "--run_config", "in_file.yaml", "--dry_run", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["configs"]
    assert shown["config"]["target"]["api_endpoint"]["model_id"] == value
    rendered = shlex.split(shown["command"])
    assert rendered[rendered.index("--model-id") + 1] == value
    assert (folder / place / "results.yml").is_file()
    assert not list(folder.rglob("PWNED"))


@pytest.mark.parametrize("words", [["--dry_run"], ["--explain-config"], ["--explain-config", "--json"]])
@pytest.mark.parametrize("command", ["run_eval", "run"])
def test_a_dry_run_creates_nothing_and_sends_nothing(
    folder: Path,
    command: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setenv("MY_KEY", "sk-very-secret-value")
    with recording("B") as server:
        file = write("r.yaml", config(server, api_key_name="MY_KEY"))
        tasks = {"tasks": ["my_qa", {"name": "bfclv3_ast"}]}
        launcher = write(
            "l.yaml", {"execution": {"output_dir": "o"}, "target": endpoint(server), "evaluation": tasks}
        )
        before = sorted(folder.rglob("*"))
        for config_file in (file, launcher):
            place = ["--workspace", str(folder / "w")] if command == "run" else []
            assert main([command, "--config", config_file, *place, *words]) == 0
        printed = capsys.readouterr().out
    assert sorted(folder.rglob("*")) == before
    assert server.received == []
    assert "sk-very-secret-value" not in printed
    assert "MY_KEY" in printed


def test_a_dry_run_of_a_broken_dataset_creates_nothing_either(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    words = [
        "--eval_type",
        "bfclv3_ast",
        "--model_id",
        "m",
        "--model_type",
        "chat",
        "--model_url",
        "http://h/v1",
    ]
    data = "config.params.extra.custom_dataset={path: data.jsonl, format: openai},config.params.task=simple"
    assert main(["run_eval", *words, "--output_dir", "out", "--overrides", data, "--dry_run"]) == 2
    assert "data.jsonl:1" in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


def test_a_dry_run_prints_the_complete_configuration(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server, {"temperature": 0.5}))
        assert main(["run_eval", "--run_config", file, "--dry_run", "--num-fewshot", "3"]) == 0
    printed = capsys.readouterr().out
    head, _, rest = printed.partition("Rendered command:")
    document = yaml.safe_load(head.removeprefix("Rendered config:\n"))
    assert document["framework_name"] == "byob_my_qa"
    assert document["command"] == rest.strip()
    assert document["config"]["supported_endpoint_types"] == ["chat"]
    params = document["config"]["params"]
    assert (params["temperature"], params["max_new_tokens"], params["max_retries"]) == (0.5, 4096, 0)
    assert params["limit_samples"] is None
    assert params["extra"]["dataset"] == {"path": str(folder / "data.jsonl"), "num_fewshot": 3}
    assert main(typed(document["command"] + " --dry-run")) == 0  # the command is one


def test_every_one_of_several_overrides_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server))
        words = [f"--overrides=config.params.{pair}" for pair in ("top_p=0.5", "temperature=0.25")]
        assert main(["run_eval", "--run_config", file, *words, "--dry_run"]) == 0
    document = yaml.safe_load(capsys.readouterr().out.partition("Rendered command:")[0].partition(":\n")[2])
    assert (document["config"]["params"]["top_p"], document["config"]["params"]["temperature"]) == (0.5, 0.25)


def test_a_dry_run_of_several_tasks_prints_a_configuration_of_each(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording("B") as server:
        assert main(["run_eval", "--run_config", launcher(server, ["my_qa", "bfclv3_ast"]), "--dry_run"]) == 0
    parts = re.findall(r"Rendered config of \S+:\n(.*?)Rendered command", capsys.readouterr().out, re.DOTALL)
    assert [yaml.safe_load(part)["config"]["type"] for part in parts] == ["my_qa", "bfclv3_ast"]


def test_what_a_dry_run_prints_is_the_same_configuration(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    params = {
        "limit_samples": 2,
        "extra": {"offset": 3, "stop": ["a, b"], "extra_body": {"top_k": 5}, "fewshot_seed": 7},
    }
    with recording("B") as server:
        words = ["run_eval", "--dry_run", "--json", "--run_config"]
        assert main([*words, write("r.yaml", config(server, params, headers={"X-A": "$HOME"}))]) == 0
        (first,) = json.loads(capsys.readouterr().out)["configs"]
        assert main([*words, write("again.yaml", first["config"])]) == 0
    (second,) = json.loads(capsys.readouterr().out)["configs"]
    assert {**first["config"], "command": ""} == {**second["config"], "command": ""}


def test_item_25_the_folder_of_the_benchmark_decides_and_not_where_it_is_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "data.jsonl").write_text('{"question": "decoy", "answer": "B"}', encoding="utf-8")
    with recording("B") as server:
        document = config(
            server, {"limit_samples": 1, "extra": {"dataset": {"num_fewshot": 0}, "cache": False}}
        )
        file = Path(write("r.yaml", document)).resolve()
        for place in (folder, folder / "elsewhere"):
            monkeypatch.chdir(place)
            assert (
                main(["run_eval", "--run_config", str(file), "--eval_type", "my_qa", "--output_dir", "out"])
                == 0
            )
    assert server.contents == ["Q: data.jsonl 0"] * 2


@pytest.mark.parametrize("launcher", [False, True], ids=["run config", "launcher's file"])
def test_files_next_to_the_configuration_are_found_from_another_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], launcher: bool
) -> None:
    """Unless the current folder has them. What is typed, and the folder of results, start at the current folder."""
    (folder / "mine.jsonl").write_text('{"question": "mine", "answer": "B"}', encoding="utf-8")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    params = {"extra": {"dataset": {"path": "mine.jsonl", "num_fewshot": 0}, "cache": False}}
    with recording("B") as server:
        document = config(server, params)
        document["config"]["type"] = "bench.py:my_qa"
        if launcher:
            task = {"name": "bench.py:my_qa", "nemo_evaluator_config": {"config": {"params": params}}}
            document = {"target": document["target"], "evaluation": {"tasks": [task]}}
            document["execution"] = {"output_dir": "out"}
        write("../r.yaml", document)
        assert main(["run", "--config", "../r.yaml", "-q"]) == 0
        noted = capsys.readouterr().err
        for name in ("bench.py:my_qa", "mine.jsonl"):
            assert (
                f"r.yaml: {name} is not in the current folder; the run uses the one next to r.yaml" in noted
            )
        Path("mine.jsonl").write_text('{"question": "nearer", "answer": "B"}', encoding="utf-8")
        assert main(["run", "--config", "../r.yaml", "-q", "--overwrite"]) == 0
        assert main(["run", "--config", "../r.yaml", "-q", "--dataset", "data.jsonl"]) == 2
    assert server.contents == ["Q: mine", "Q: nearer"]
    assert list(Path("out").rglob("results.yml"))


def test_origins_of_all_five_layers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server, {"temperature": 0.5, "parallelism": 5, "top_p": 0.1}))
        words = ["--parallelism", "6", "-o", "config.params.parallelism=7", "-o", "config.params.top_p=null"]
        assert main(["run", "--config", file, "--explain-config", "--json", "--limit", "3", *words]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["configs"]
    found = {value["key"]: value for value in shown["values"]}
    layers = {name.rpartition(".")[2]: (value["layer"], value["source"]) for name, value in found.items()}
    assert layers["max_new_tokens"] == layers["top_p"] == ("framework", "default")
    assert layers["max_retries"] == ("task", "benchwright.toml")
    assert layers["num_fewshot"] == ("task", "bench.py:4")
    assert layers["temperature"] == ("run config", "r.yaml")
    assert layers["limit_samples"] == ("flags", "--limit")
    assert layers["parallelism"] == ("overrides", "-o")
    over = [(value["value"], value["layer"]) for value in found["config.params.parallelism"]["over"]]
    assert over == [(6, "flags"), (5, "run config"), (16, "framework")]


@pytest.mark.parametrize("name", ["my_qa", "bench.py:my_qa"])
def test_the_recorded_configuration_starts_the_same_run(folder: Path, name: str) -> None:
    if name != "my_qa":
        (folder / "benchwright.toml").unlink()  # only the file has it then
    params = {
        "limit_samples": 2,
        "temperature": 0.5,
        "extra": {"offset": 3, "fewshot_seed": 5, "cache": False},
    }
    with recording("B") as server:
        file = write("r.yaml", config(server, params))
        assert main(["run_eval", "--eval_type", name, "--run_config", file]) == 0
        first = [request.body for request in server.take()]
        words = ["--output_dir", "again", "-o", "config.params.extra.cache=false"]
        assert main(["run_eval", "--run_config", "out/run_config.yml", *words]) == 0
        assert sorted(map(str, first)) == sorted(str(request.body) for request in server.received)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question": "2 + 2?", "answer": "4"}, ["--qa-metrics", "exact,f1", "--template", "Q: {question}"]),
        ({"question": "2 + 2?", "A": "4", "B": "5", "answer": "A"}, ["--demo-skill", "0.25"]),
        ({"question": "2 + 2?", "A": "4", "B": "5", "answer": "A"}, ["--model", "random"]),
    ],
)
def test_the_recorded_configuration_of_questions_on_a_demo_model_starts_the_same_run(
    folder: Path, row: dict[str, str], words: list[str]
) -> None:
    Path("q.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (folder / "q").mkdir()  # the last part of the type `qa.q`
    assert main(["run", "q.jsonl", "--output-dir", "first", *words]) == 0
    assert main(["run", "--config", "first/run_config.yml", "--output-dir", "again"]) == 0
    first, again = (
        yaml.safe_load(Path(name, "run_config.yml").read_text(encoding="utf-8"))
        for name in ("first", "again")
    )
    assert first["target"] == again["target"]
    assert first["config"]["params"] == again["config"]["params"]
    assert first["settings"]["definition"] == again["settings"]["definition"]
    assert first["command"] == again["command"].replace(" --model-type chat", "")


def test_a_recorded_demo_model_with_settings_of_its_own_must_be_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "demo://demo?skill=0.7&seed=4&version=2"
    document = {"config": {"type": "my_qa"}, "target": {"api_endpoint": {"url": url, "model_id": "demo"}}}
    file = write("r.yaml", document)
    assert main(["run", "--config", file]) == 2
    assert "--model NAME" in capsys.readouterr().err
    assert main(["run", "--config", file, "--model", "demo", "--dry-run"]) == 0


@pytest.mark.parametrize(
    "settings", [DemoSettings(), DemoSettings(skill=0.4), DemoSettings(model_id="random", by_chance=True)]
)
def test_a_recorded_demo_model_is_found_by_its_url(folder: Path, settings: DemoSettings) -> None:
    endpoint = {"url": settings.fingerprint(), "model_id": settings.model_id}
    file = write("r.yaml", {"config": {"type": "my_qa"}, "target": {"api_endpoint": endpoint}})
    assert main(["run", "--config", file, "--dry-run"]) == 0


def test_a_second_run_configuration_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run_eval", "--run-config", "a.yaml", "--config", "b.yaml"]) == 2
    assert "--config b.yaml: a.yaml is already named" in capsys.readouterr().err


def test_replaced_files_are_named_then_and_later(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        for name, limit in (("first.yml", 1), ("second.yml", 2)):
            assert (
                main(
                    ["run_eval", "-q", "--run_config", write(name, config(server, {"limit_samples": limit}))]
                )
                == 0
            )
    shown = capsys.readouterr()
    assert shown.err.count("replace") == 1
    assert "out: this run will replace the files of run 1 (my_qa)" in shown.err
    for run, own in (("1", False), ("2", True)):
        assert main(["show", run]) == 0
        text = capsys.readouterr().out
        assert ("results.yml" in text, "now the files of run 2 (my_qa)" in text) == (own, not own)


@pytest.mark.parametrize(
    ("flag", "key"),
    [
        ("--limit_samples", "config.params.limit_samples"),
        ("--n-repeats", "config.params.extra.n_repeats"),
        ("--header", "target.api_endpoint.headers"),
    ],
)
def test_a_setting_without_a_flag_here_is_named_by_its_key(
    folder: Path, capsys: pytest.CaptureFixture[str], flag: str, key: str
) -> None:
    assert main(["run_eval", "--eval-type", "my_qa", flag, "3"]) == 2
    assert f"run has it, benchwright run_eval does not. Write -o {key}=VALUE" in capsys.readouterr().err


def test_the_help_says_what_is_required(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run_eval", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "write the run's files here (default: config.output_dir; one of them is required)" in shown
    assert "in the workspace" not in shown


def test_the_files_that_it_adds_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        assert main(["run", "--config", write("r.yaml", config(server)), "--limit", "1"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("files"))
    for name in ("results.yml", "eval_factory_metrics.json", "report.json", "report.html"):
        assert Path("out", name).is_file(), name
        assert name in line


@pytest.mark.parametrize("count", ["0", "-1"])
def test_no_tasks_at_once_are_refused(folder: Path, capsys: pytest.CaptureFixture[str], count: str) -> None:
    assert main(["run", "--config", "a.yaml", f"--parallel-tasks={count}"]) == 2
    assert f"--parallel-tasks: {count} is too small" in capsys.readouterr().err


def test_a_setting_that_a_new_model_refuses_is_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As learned for `run`: the server's error names the setting, the other requests go without it."""
    refused = ("max_tokens", "temperature")

    def answer(body: dict[str, Any]) -> str:
        name = next((name for name in refused if name in body), None)
        words = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
        if name is not None:
            raise Refusal(f"Unsupported parameter: '{name}' is not supported with this model.{words}")
        return "B"

    with recording(answer) as server:
        file = write("r.yaml", config(server, {"parallelism": 1, "max_new_tokens": 9}))
        assert main(["run_eval", "--run_config", file]) == 0, capsys.readouterr()
    assert len(server.bodies) == 2 + 4  # each is refused once
    assert all(body["max_completion_tokens"] == 9 for body in server.bodies[2:])
    assert not any(name in body for body in server.bodies[2:] for name in refused)
    assert "refuses temperature" in capsys.readouterr().out


def launcher(server: RecordingServer, tasks: Any, **execution: Any) -> str:
    document = {
        "defaults": [{"execution": "local"}, {"deployment": "none"}, "_self_"],
        "execution": {"output_dir": "all of them", **execution},
        "target": endpoint(server, api_key_name="MY_KEY"),
        "evaluation": {"nemo_evaluator_config": {"config": {"params": {"limit_samples": 1}}}, "tasks": tasks},
    }
    return write("my_config.yaml", document)


@pytest.mark.parametrize("words", [[], ["--parallel-tasks"], ["--parallel-tasks", "2"]])
def test_the_commands_of_the_launcher(
    folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seed 000, with another program: overrides of one task of several. One that fails stops no other."""
    monkeypatch.setenv("MY_KEY", "sk-very-secret-value")
    tasks = [
        {"name": "my_qa"},
        {"name": "byob_my_qa.my_qa"},
        {"name": "bfclv3_ast", "overrides": {"config.params.task": "simple"}},
    ]
    with recording("B") as server:
        file = launcher(server, tasks)
        code = main(
            typed(f"""benchwright run --config {file} \
          -o 'evaluation.tasks.my_qa.nemo_evaluator_config.config.params.extra.dataset.path=other data.jsonl' \
          -o 'evaluation.tasks.my_qa.nemo_evaluator_config.config.params.extra.dataset.num_fewshot=0' \
          -o '++evaluation.tasks.byob_my_qa.my_qa.nemo_evaluator_config.config.params.extra.dataset.path=missing.jsonl' \
        """)
            + words
        )
    said = capsys.readouterr()
    assert code == 2  # the worst of all
    contents = [str(body["messages"][-1]["content"]) for body in server.bodies]
    assert len(contents) == 2
    assert "Q: other data.jsonl 0" in contents
    assert all(
        request.headers["authorization"] == ["Bearer sk-very-secret-value"] for request in server.received
    )
    assert "the defaults list is ignored" in said.err
    assert "error: byob_my_qa.my_qa: Dataset file not found" in said.err
    lines = [line.split() for line in said.out.splitlines()]
    assert [line[0] for line in lines if "completed" in line and "run" in line and line[0][-1] != ":"] == [
        "my_qa",
        "bfclv3_ast",
    ]
    for task in ("my_qa", "bfclv3_ast"):
        assert (folder / "all of them" / task / "results.yml").is_file()
    assert not any(b"very-secret" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_tasks_as_json_and_their_exit_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "k" * 12)

    def answer(body: dict[str, Any]) -> str:
        if body["model"] != "m":
            raise Refusal("no such model")
        return "B"

    with recording(answer) as server:
        bad = {"nemo_evaluator_config": {"target": {"api_endpoint": {"model_id": "other"}}}}
        file = launcher(server, {"my_qa": bad, "bfcl.simple": None}, mode="parallel")
        assert main(["run", "--config", file, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(task["task"], task["exit_code"]) for task in found["tasks"]] == [
        ("my_qa", 1),
        ("bfcl.simple", 0),
    ]
    assert found["tasks"][1]["result"]["model"] == "m"


def test_parallel_tasks_are_under_way_together(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "k" * 12)
    both = threading.Barrier(2)  # nobody is answered before both have asked

    def answer(body: dict[str, Any]) -> str:
        both.wait(PATIENCE_S)
        return "B"

    with recording(answer) as server:
        file = launcher(server, ["my_qa", "byob_my_qa.my_qa"])
        assert main(["run", "--config", file, "--parallel-tasks", "--no-cache"]) == 0, capsys.readouterr()
    assert len(server.received) == 2


def test_a_run_configuration_as_target_is_told_from_a_suite(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording("B") as server:
        assert main(["run", write("r.yaml", config(server))]) == 2
    assert "start it with: benchwright run --config r.yaml" in capsys.readouterr().err


def test_flags_of_run_configurations_need_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["-o", "config.params.top_p=1"], ["--explain-config"], ["--parallel-tasks"]):
        assert main(["run", "my_qa", *words]) == 2
        assert "name one with --config FILE" in capsys.readouterr().err
    with recording("B") as server:
        file = write("r.yaml", config(server))
        assert main(["run", "--config", file, "--parallel-tasks"]) == 2
        assert "evaluation.tasks" in capsys.readouterr().err
        assert main(["run", "--config", file, "--models", "demo"]) == 2
        assert "--models: only for suites" in capsys.readouterr().err


def test_a_key_in_a_header_is_refused_and_not_repeated(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording("B") as server:
        file = write("r.yaml", config(server, headers={"Authorization": "Bearer sk-very-secret"}))
        for words in ([], ["--dry_run"], ["--explain-config"]):
            assert main(["run_eval", "--run_config", file, *words]) == 2
            said = capsys.readouterr()
            assert "Authorization" in said.err
            assert "sk-very-secret" not in said.err + said.out
    assert server.received == []


def test_a_run_that_changes_a_benchmarks_settings_resumes_with_them(folder: Path) -> None:
    with recording("B") as server:
        document = config(server, {"parallelism": 1, "extra": {"offset": 7, "max_requests": 2}})
        assert main(["run_eval", "--run_config", write("r.yaml", document)]) in (0, 1, 3)
        assert main(["resume", "last", "--max-requests", "9"]) == 0
    assert len(server.received) == 4
    result = yaml.safe_load(Path("out/results.yml").read_text(encoding="utf-8"))
    assert result["results"]["tasks"]["my_qa"]["metrics"]["pass@1"]["scores"]["offset"]["value"] == 7


def test_what_is_explained_is_what_is_sent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toml = folder / "benchwright.toml"
    toml.write_text(
        toml.read_text(encoding="utf-8").replace("max_retries", "temperature = 0.1\nmax_retries", 1),
        encoding="utf-8",
    )
    key = "config.params.temperature"
    with recording("B") as server:
        base = {"limit_samples": 1, "extra": {"cache": False}}
        plain, own = (
            write("plain.yaml", config(server, base)),
            write("own.yaml", config(server, {**base, "temperature": 0.2})),
        )
        for words, expected in (
            ([plain], 0.1),
            ([own], 0.2),
            ([own, "--temperature", "0.3"], 0.3),
            ([own, "--temperature", "0.3", "-o", f"{key}=0.4"], 0.4),
            ([own, "--temperature", "0.3", "-o", f"{key}=null"], 0.1),
            ([own, "--overrides", f"{key}=0.4", "-o", f"{key}=0.5"], 0.5),
        ):
            assert main(["run", "--config", *words, "--explain-config", "--json"]) == 0
            (shown,) = json.loads(capsys.readouterr().out)["configs"]
            assert [value["value"] for value in shown["values"] if value["key"] == key] == [expected]
            assert main(["run", "--config", *words, "--overwrite"]) == 0
            capsys.readouterr()
            assert [request.body["temperature"] for request in server.take()] == [expected]
