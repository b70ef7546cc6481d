"""Run configurations in YAML: which option each key sets, who wins, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwright.config import BY_NAME, RUN_CONFIG_KEYS, RunOptions, merged_run_config
from benchwright.core import ConfigError

NATIVE: dict[str, Any] = {
    "config": {
        "type": "bfclv3",
        "params": {
            "task": "simple",
            "extra": {
                "custom_dataset": {"path": "/data/mine", "format": "native", "data_template_path": None}
            },
        },
    }
}


def config_file(folder: Path, document: Any) -> Path:
    file = folder / "run.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file


def test_every_key_sets_an_option_of_runs() -> None:
    assert {name for name in RUN_CONFIG_KEYS.values() if name} <= set(BY_NAME)


def test_a_custom_dataset_of_a_function_calling_evaluation(tmp_path: Path) -> None:
    found = merged_run_config(config_file(tmp_path, NATIVE), {}, None)
    assert found.target == "bfclv3"
    assert found.options == {"task": "simple", "tool_data": "/data/mine", "tool_data_format": "native"}
    assert RunOptions.from_keywords(found.options).tool_data_format == "native"
    assert found.as_document()["config"]["params"]["extra"]["custom_dataset"]["path"] == "/data/mine"


def test_overrides_win_over_flags_and_flags_over_the_file(tmp_path: Path) -> None:
    document = {
        "config": {
            "type": "bfcl.bfclv3_ast",
            "params": {"limit_samples": 20, "temperature": 0.2, "parallelism": 50},
        },
        "target": {
            "api_endpoint": {"model_id": "file", "url": "http://file/v1", "type": "chat", "stream": None}
        },
    }
    flags = {"model_id": "flag", "model_url": None, "output_dir": "out"}
    above = "config.params.limit_samples=5, config.params.task='simple,java', config.params.temperature=null"
    found = merged_run_config(config_file(tmp_path, document), flags, above)
    assert found.target == "bfcl.bfclv3_ast"
    assert found.options == {
        "limit": 5, "task": "simple,java", "parallelism": 50, "model_id": "flag", "model_url": "http://file/v1",
        "model_type": "chat", "output_dir": "out",
    }  # fmt: skip


def test_the_task_of_another_benchmark_is_its_name(tmp_path: Path) -> None:
    document = {"config": {"type": "byob_my_qa.my_qa", "params": {"task": "my_qa"}}}
    assert merged_run_config(config_file(tmp_path, document), {}, None).options == {}


@pytest.mark.parametrize(
    ("document", "overrides", "reason"),
    [
        (
            {"config": {"type": "x", "params": {"limit_sample": 1}}},
            None,
            "config.params.limit_sample is not known. Did you mean 'limit_samples'",
        ),
        ({"config": {"type": "x", "params": {"limit_samples": 1.5}}}, None, "a share of them"),
        ({"config": {"type": "x", "params": {"limit_samples": 0}}}, None, "would evaluate nothing"),
        ({"target": {"api_endpoint": {"model_id": "m"}}}, None, "no evaluation is named"),
        ({"config": {"type": "x"}, "adapter": {"a": 1}}, None, "adapter.a is not known"),
        ({"config": {"type": "x"}}, "config.params.limit_samples", "has no '='"),
        ({"config": {"type": "x"}}, "config.param.top_p=1", "--overrides: config.param.top_p is not known"),
    ],
)
def test_what_is_refused(tmp_path: Path, document: Any, overrides: str | None, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        merged_run_config(config_file(tmp_path, document), {}, overrides)
