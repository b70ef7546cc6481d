"""Commands, files and rows of the published pages, letter by letter: only the program, hosts and places are others."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwright.cli import main
from recording_server import RecordingServer, recording

QUICK_START = r"""
    benchwright run_eval \
        --eval_type bfclv3_ast \
        --model_id meta/llama-3.1-70b-instruct \
        --model_url https://integrate.api.nvidia.com/v1/chat/completions \
        --model_type chat \
        --api_key_name MY_API_KEY \
        --output_dir /workspace/results
"""
PLAIN = r"""
benchwright run_eval \
    --eval_type bfclv3_ast \
    --model_id my_model \
    --model_type chat \
    --model_url http://localhost:8000 \
    --output_dir ./evaluation_results
"""
WITH_KEY = r"""
benchwright run_eval \
    --eval_type bfclv3_ast \
    --model_id my_model \
    --model_type chat \
    --model_url http://localhost:8000 \
    --api_key_name MY_API_KEY \
    --output_dir ./evaluation_results
"""
DRY_RUN = r"""
benchwright run_eval \
    --eval_type bfclv3_ast \
    --model_id my_model \
    --model_type chat \
    --model_url http://localhost:8000 \
    --output_dir .evaluation_results \
    --dry_run
"""
RUN_CONFIG = """
config:
  type: bfclv3_ast
  params:
    parallelism: 50
    limit_samples: 20
target:
  api_endpoint:
    model_id: meta/llama-3.1-8b-instruct
    type: chat
    url: https://integrate.api.nvidia.com/v1/chat/completions
    api_key_name: NVIDIA_API_KEY
"""
NATIVE_CONFIG = """
config:
  type: bfclv3
  params:
    task: simple
    extra:
      custom_dataset:
        path: /path/to/your/native_data_directory
        format: native
"""
OPENAI_CONFIG = """
config:
  type: bfclv3
  params:
    task: simple
    extra:
      custom_dataset:
        path: /path/to/your/data.jsonl
        format: openai
        data_template_path: /path/to/your/data_template.json
"""
NATIVE_QUESTION = """{
  "id": "simple_0",
  "question": [
    [
      {
        "role": "user",
        "content": "Find the area of a triangle with a base of 10 units and height of 5 units."
      }
    ]
  ],
  "function": [
    {
      "name": "calculate_triangle_area",
      "description": "Calculate the area of a triangle given its base and height.",
      "parameters": {
        "type": "dict",
        "properties": {
          "base": {
            "type": "integer",
            "description": "The base of the triangle."
          },
          "height": {
            "type": "integer",
            "description": "The height of the triangle."
          },
          "unit": {
            "type": "string",
            "description": "The unit of measure (defaults to 'units' if not specified)"
          }
        },
        "required": ["base", "height"]
      }
    }
  ]
}
"""
NATIVE_ANSWER = """{
 "id": "simple_0",
 "ground_truth": [
   {
     "calculate_triangle_area": {
       "base": [10],
       "height": [5],
       "unit": ["units", ""]
     }
   }
 ]
}
"""
OPENAI_ROW = """{
  "messages": [
    [
      {
        "role": "user",
        "content": "Calculate the factorial of 5 using math functions."
      }
    ]
  ],
  "tools": [
    {
      "type": "function",
      "function": {
        "name": "math.factorial",
        "description": "Calculate the factorial of a given number.",
        "parameters": {
          "type": "dict",
          "properties": {
            "number": {
              "type": "integer",
              "description": "The number for which factorial needs to be calculated."
            }
          },
          "required": ["number"]
        }
      }
    }
  ],
  "tool_calls_ground_truth": [
    {
      "math.factorial": {
        "number": [5]
      }
    }
  ]
}
"""
DATA_TEMPLATE = """{
  "messages": "{{ item.user_input | tojson }}",
  "tools": "{{ item.function | tojson }}",
  "tool_calls_ground_truth": "{{ item.reference | tojson }}"
}
"""
ENDPOINT = ["--model_id", "m", "--model_type", "chat", "--output_dir", "out", "--model_url"]
"""What the pages' files of custom datasets leave to flags."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_API_KEY", "your_api_key_here")
    monkeypatch.setenv("NVIDIA_API_KEY", "nvapi-of-this-test")
    return tmp_path


def here(text: str, server: RecordingServer, folder: Path) -> str:
    """The text with hosts and places that are there."""
    for published, ours in (
        ("https://integrate.api.nvidia.com/v1", server.url),
        ("http://localhost:8000", server.url.removesuffix("/v1")),
        ("/workspace", str(folder)),
        ("/path/to/your", str(folder)),
    ):
        text = text.replace(published, ours)
    return text


def words(command: str) -> list[str]:
    return shlex.split(command.replace("\\\n", " "))[1:]


def scores(results: Path) -> dict[str, Any]:
    (task,) = yaml.safe_load(results.read_text(encoding="utf-8"))["results"]["tasks"].values()
    found: dict[str, Any] = task["metrics"]["pass@1"]["scores"]
    return found


@pytest.mark.parametrize(
    ("command", "results", "model", "key"),
    [
        (QUICK_START, "results", "meta/llama-3.1-70b-instruct", "Bearer your_api_key_here"),
        (PLAIN, "evaluation_results", "my_model", None),
        (WITH_KEY, "evaluation_results", "my_model", "Bearer your_api_key_here"),
    ],
)
def test_commands(folder: Path, command: str, results: str, model: str, key: str | None) -> None:
    with recording("[]") as server:
        assert main(words(here(command, server, folder))) == 0
    assert len(server.bodies) == 57, "the rows that ship with the program, and turns of some"
    for request in server.received:
        assert request.path == "/v1/chat/completions"
        assert request.headers.get("authorization") == (key and [key])
        assert (request.body["model"], bool(request.body["tools"])) == (model, True)
    assert scores(folder / results / "results.yml")["irrelevance"]["value"] == 1.0


def test_listing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert {"bfclv2", "bfclv2_ast", "bfclv3", "bfclv3_ast"} <= set(listed)


def test_dry_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording("[]") as server:
        assert main(words(here(DRY_RUN, server, folder))) == 0
    head, _, command = capsys.readouterr().out.partition("\nRendered command:\n")
    document = yaml.safe_load(head.removeprefix("Rendered config:"))
    params = document["config"]["params"]
    assert (params["task"], params["limit_samples"], document["config"]["type"]) == (
        "multi_turn,ast",
        None,
        "bfclv3_ast",
    )
    assert document["config"]["output_dir"] == ".evaluation_results"
    assert {name: document["target"]["api_endpoint"][name] for name in ("api_key_name", "model_id", "stream", "type")} == {
        "api_key_name": None, "model_id": "my_model", "stream": None, "type": "chat"}  # fmt: skip
    assert "my_model" in shlex.split(command)
    assert (list(folder.iterdir()), server.received) == ([], [])


@pytest.mark.parametrize("door", [["run_eval", "--run_config"], ["run", "--config"]])
def test_run_configuration(folder: Path, door: list[str]) -> None:
    with recording("[]") as server:
        Path("run.yaml").write_text(here(RUN_CONFIG, server, folder), encoding="utf-8")
        assert main([*door, "run.yaml", "--output_dir", "out"]) == 0
    assert len(server.bodies) == 57, "20 of each category are more than there are"
    assert {request.body["model"] for request in server.received} == {"meta/llama-3.1-8b-instruct"}
    assert {tuple(request.headers["authorization"]) for request in server.received} == {
        ("Bearer nvapi-of-this-test",)
    }
    params = yaml.safe_load(Path("out/run_config.yml").read_text(encoding="utf-8"))["config"]["params"]
    assert (params["parallelism"], params["limit_samples"]) == (50, 20)


@pytest.mark.parametrize("in_one_line", [False, True], ids=["as printed", "one object a line"])
def test_native_dataset(folder: Path, in_one_line: bool) -> None:
    place = folder / "native_data_directory"
    for name, row in (
        ("BFCL_v3_simple.json", NATIVE_QUESTION),
        ("possible_answer/BFCL_v3_simple.json", NATIVE_ANSWER),
    ):
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(json.loads(row)) + "\n" if in_one_line else row, encoding="utf-8")
    with recording("[calculate_triangle_area(base=10, height=5)]") as server:
        Path("run.yaml").write_text(here(NATIVE_CONFIG, server, folder), encoding="utf-8")
        assert main(["run_eval", "--run_config", "run.yaml", *ENDPOINT, server.url]) == 0
    (body,) = server.bodies
    assert body["messages"][-1] == json.loads(NATIVE_QUESTION)["question"][0][0]
    assert "calculate_triangle_area" in body["messages"][0]["content"]
    assert scores(Path("out/results.yml"))["simple"]["value"] == 1.0


@pytest.mark.parametrize("template", [False, True])
def test_openai_dataset(folder: Path, template: bool) -> None:
    row = json.loads(OPENAI_ROW)
    other = dict(zip(("user_input", "function", "reference"), row.values(), strict=True))
    (folder / "data.jsonl").write_text(json.dumps(other) if template else OPENAI_ROW, encoding="utf-8")
    (folder / "data_template.json").write_text(DATA_TEMPLATE, encoding="utf-8")
    with recording("[math.factorial(number=5)]") as server:
        lines = here(OPENAI_CONFIG, server, folder).splitlines(keepends=True)
        text = "".join(line for line in lines if template or "data_template_path" not in line)
        Path("run.yaml").write_text(text, encoding="utf-8")
        assert main(["run_eval", "--run_config", "run.yaml", *ENDPOINT, server.url]) == 0
    (body,) = server.bodies
    assert body["messages"][-1] == row["messages"][0][0]
    assert scores(Path("out/results.yml"))["simple"]["value"] == 1.0
