"""Run configurations in YAML: which option each key sets, which layer wins, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from benchwright.config import (
    BY_NAME,
    KEY_OF,
    RUN_CONFIG_KEYS,
    RUN_SETTINGS,
    ConfigValue,
    RunConfig,
    RunConfigs,
    RunOptions,
)
from benchwright.config._config_layers import merged
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


def config_file(folder: Path, document: Any, name: str = "run.yaml") -> Path:
    file = folder / name
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file


def merged_run_config(file: Path | None, flags: dict[str, Any], overrides: str | None) -> RunConfig:
    """The one configuration of a file."""
    (found,) = RunConfigs.read(file, flags, overrides).configs
    return found


def of_params(params: dict[str, Any]) -> dict[str, Any]:
    return {"config": {"type": "x", "params": params}}


def test_every_setting_of_a_run_has_one_key() -> None:
    assert {setting.name for setting in RUN_SETTINGS} == {*KEY_OF, "extra"}
    assert {name for name in RUN_CONFIG_KEYS.values() if name} <= set(BY_NAME)
    assert len(set(KEY_OF.values())) == len(KEY_OF)


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
    origins = {value.key: (value.layer, value.source) for value in found.explained()}
    assert origins["config.params.limit_samples"] == ("overrides", "--overrides")
    assert origins["target.api_endpoint.model_id"] == ("flags", "--model-id")
    assert origins["config.params.parallelism"] == ("run config", str(tmp_path / "run.yaml"))


def test_the_task_of_another_benchmark_is_its_name(tmp_path: Path) -> None:
    document = {"config": {"type": "byob_my_qa.my_qa", "params": {"task": "my_qa"}}}
    assert merged_run_config(config_file(tmp_path, document), {}, None).options == {}


def test_siblings_of_an_overridden_key_survive(tmp_path: Path) -> None:
    """`config.params.extra.dataset.path` of seed 000: keys next to it and next to its table stay."""
    extra = {
        "dataset": {"path": "a.jsonl", "num_fewshot": 5},
        "extra_body": {"top_k": 5, "min_p": 0.1},
        "own": {"a": 1, "b": 2},
    }
    found = RunConfigs.read(
        config_file(tmp_path, of_params({"extra": extra})), {}, None,
        ["config.params.extra.dataset.path=b.jsonl", "config.params.extra.extra_body.top_k=7", "config.params.extra.own.b=3"],
    ).configs[0]  # fmt: skip
    assert found.options == {"dataset": "b.jsonl", "num_fewshot": 5, "extra_body": {"top_k": 7, "min_p": 0.1}}
    assert found.extra == {"own": {"a": 1, "b": 3}}


def test_tables_that_are_typed_are_merged_with_those_of_the_file(tmp_path: Path) -> None:
    adapter = {"use_caching": False, "max_logged_requests": 2}
    document = of_params({"extra": {"extra_body": {"top_k": 5}, "own": {"a": 1}}})
    document["target"] = {"api_endpoint": {"headers": {"X-A": "1", "X-B": "2"}, "adapter_config": adapter}}
    flags = {
        "extra_body": {"min_p": 0.1}, "headers": ["X-B=3"], "extra": {"own": {"b": 2}}, "pipeline": {"use_caching": True},
    }  # fmt: skip
    found = merged_run_config(config_file(tmp_path, document), flags, None)
    assert found.options == {"extra_body": {"top_k": 5, "min_p": 0.1}, "headers": {"X-A": "1", "X-B": "3"}}
    assert found.extra == {"own": {"a": 1, "b": 2}}
    assert found.adapter_config == {"use_caching": True}  # the steps are one value, as elsewhere
    steps = [{"name": "caching"}]
    assert merged_run_config(tmp_path / "run.yaml", {"pipeline": steps}, None).adapter_config == steps


def test_zero_examples_can_be_forced_in_every_way(tmp_path: Path) -> None:
    zero = of_params({"extra": {"dataset": {"num_fewshot": 0}}})
    five = config_file(tmp_path, of_params({"extra": {"dataset": {"num_fewshot": 5}}}), "five.yaml")
    key = "config.params.extra.dataset.num_fewshot=0"
    for found in (
        RunConfigs.read(config_file(tmp_path, zero), {}),
        RunConfigs.read(five, {"num_fewshot": 0}),
        RunConfigs.read(five, {}, key),
        RunConfigs.read(five, {}, None, [key]),
    ):
        assert found.configs[0].options["num_fewshot"] == 0


def test_item_30_settings_that_had_no_key_have_one(tmp_path: Path) -> None:
    params = {
        "max_retries": 7, "timeout": 9,
        "extra": {"retry_backoff": 2, "fail_on_skip": True, "fewshot_seed": 3, "n_repeats": 2, "timeout_per_sample": 30,
                  "stop": ["END", "\n\n"], "cache": False},
    }  # fmt: skip
    endpoint = {"headers": {"X-Team": "search"}, "verify": False}
    document = {**of_params(params), "target": {"api_endpoint": endpoint}}
    options = RunOptions.from_keywords(merged_run_config(config_file(tmp_path, document), {}, None).options)
    assert (options.max_retries, options.request_timeout, options.retry_backoff) == (7, 9.0, 2.0)
    assert (options.max_failures, options.fewshot_seed, options.repeats) == (0, 3, 2)
    assert (options.timeout_per_sample, options.cache, options.stop) == (30.0, False, ("END", "\n\n"))
    assert (options.headers, options.verify) == ({"X-Team": "search"}, False)


def test_item_24_a_share_of_the_rows_is_one_and_nothing_is_refused(tmp_path: Path) -> None:
    found = merged_run_config(config_file(tmp_path, of_params({"limit_samples": 0.25})), {}, None)
    assert (found.share, "limit" in found.options) == (0.25, False)
    again = merged_run_config(tmp_path / "run.yaml", {}, "config.params.limit_samples=null")
    assert (again.share, again.options) == (None, {})


def test_item_29_lists_tables_and_nulls_reach_their_keys(tmp_path: Path) -> None:
    file = config_file(tmp_path, of_params({"temperature": 0.7, "extra": {"stop": ["a"]}}))
    found = merged_run_config(
        file,
        {},
        "config.params.extra.stop=['x, y', z], config.params.temperature=null, config.params.task=[a, b]",
    )
    assert found.options == {"stop": ["x, y", "z"], "task": "a,b"}
    assert merged_run_config(file, {}, "config.params.extra=null").options == {"temperature": 0.7}
    assert merged_run_config(file, {}, "config.params.extra={}").options["stop"] == ["a"]


def test_metadata_and_the_pipeline_are_passed_on_as_they_stand(tmp_path: Path) -> None:
    adapter = {"use_caching": False, "params_to_add": {"a.b": [1, {"c": 2}]}, "interceptors": []}
    document = {
        **of_params({}), "metadata": {"launcher": {"version": "1.0"}, "tags": []},
        "target": {"api_endpoint": {"adapter_config": adapter}},
    }  # fmt: skip
    found = merged_run_config(
        config_file(tmp_path, document), {}, "target.api_endpoint.adapter_config.use_caching=true"
    )
    assert found.metadata == document["metadata"]
    assert found.adapter_config == {**adapter, "use_caching": True}
    assert merged_run_config(config_file(tmp_path, of_params({})), {}, None).adapter_config is None


def test_what_an_earlier_run_recorded_sets_nothing_and_is_noted(tmp_path: Path) -> None:
    document = {**of_params({}), "command": "rm -rf /", "framework_name": "byob_x", "pkg_name": "x"}
    document["config"]["supported_endpoint_types"] = ["chat"]
    found = RunConfigs.read(config_file(tmp_path, document), {})
    assert found.configs[0].options == {}
    (note,) = found.notes
    assert note.endswith("without effect: command, framework_name, pkg_name, config.supported_endpoint_types")


def test_whether_samples_are_saved_is_a_setting_of_the_run(tmp_path: Path) -> None:
    config = config_file(tmp_path, of_params({"extra": {"save_predictions": False}}))
    found = RunConfigs.read(config, {})
    assert (found.configs[0].options, found.notes) == ({"save_predictions": False}, ())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "contains nothing; a run configuration has the keys config and target"),
        ("- a", "contains a list; a run configuration has"),
        ("config: {type: x}\nconfig: {type: y}", "run.yaml:2: the key 'config' appears twice"),
        ("config: {type: [x}", "not valid YAML: line 1"),
        (
            "models: [demo]\ndatasets: [a.csv]",
            "is a suite of models and datasets; start it with: benchwright run",
        ),
    ],
)
def test_files_that_are_no_run_configuration(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=reason):
        RunConfigs.read(tmp_path / "run.yaml", {})


@pytest.mark.parametrize(
    ("document", "overrides", "reason"),
    [
        (of_params({"limit_sample": 1}), None, "limit_sample is not known. Did you mean 'limit_samples'"),
        (of_params({"foo": 1}), None, "params.foo is not known. Known in config.params: extra, limit_samples, max_new_tokens"),
        (of_params({"max_tokens": 1}), None, "max_tokens is not known. Did you mean 'max_new_tokens'"),
        ({"config": {"type": "x", "temprature": 1}}, None, "Did you mean 'config.params.temperature'"),
        ({"confg": {"type": "x"}}, None, "confg.type is not known. Did you mean 'config'"),
        (of_params({"extra": {"dataset": {"pth": "a"}}}), None, "dataset.pth is not known. Did you mean 'path'"),
        (of_params({"extra": {"custom_dataset": {"formt": "a"}}}), None, "Did you mean 'format'"),
        (of_params({"extra": {"dataset": "a.jsonl"}}), None, "extra.dataset is 'a.jsonl'; expected a table"),
        ({"config": {"type": "x", "params": 5}}, None, "config.params is 5; expected a table"),
        (of_params({"temperature": {"low": 1}}), None, "config.params.temperature takes one value"),
        (of_params({"temperature": "hot"}), None, "'hot' is not a number"),
        (of_params({"parallelism": 0}), None, "0 is too small; expected a whole number of 1 or more"),
        (of_params({"limit_samples": 0}), None, "would evaluate nothing"),
        (of_params({"limit_samples": 1.5}), None, "a share of them between 0 and 1"),
        (of_params({"limit_samples": -1}), None, "is -1; expected a number of rows"),
        (of_params({"timeout": 1, "request_timeout": 2}), None, "sets config.params.request_timeout twice"),
        ({**of_params({}), "target": {"api_endpoint": {"model_id": 7}}}, None, "Put it in quotes"),
        (of_params({}), "target.api_endpoint.type=embedding", "returns vectors and no text"),
        (of_params({}), "target.api_endpoint.api_key=sk-1", "keys are not kept in files"),
        ({"target": {"api_endpoint": {"headers": {"X-Key": 12345678}}}}, None, r"api_endpoint\.headers\.X-Key is not a text"),
        ({"target": {"api_endpoint": {"extra_body": {"top_k": 5}}}}, None, "Did you mean 'config.params.extra.extra_body'"),
        ({"target": {"api_endpoint": {"model_id": "m"}}}, None, "no evaluation is named"),
        ({"config": {"type": "x"}, "adapter": {"a": 1}}, None, "adapter.a is not known"),
        ({"config": {"type": ["x"]}}, None, "config.type is .*expected a text"),
        ({"config": {"type": "x"}}, "config.params.limit_samples", "has no '='"),
        ({"config": {"type": "x"}}, "config.param.top_p=1", "--overrides: config.param.top_p is not known"),
        ({"config": {"type": "x", "output_dir": "???"}}, None, "a value that is still to be given"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, document: Any, overrides: str | None, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as raised:
        merged_run_config(config_file(tmp_path, document), {}, overrides)
    assert "sk-1" not in str(raised.value)
    assert "12345678" not in str(raised.value)


def test_a_complete_configuration_names_folder_and_model(tmp_path: Path) -> None:
    given_so_far: dict[str, Any] = {"eval_type": "x"}
    for name, value, sentence in (
        ("output_dir", "out", "config.output_dir is missing: give --output_dir DIR"),
        ("model_url", "http://h", "target.api_endpoint.url is missing: give --model_url"),
        ("model_id", "m", "target.api_endpoint.model_id is missing: give --model_id"),
        ("model_type", "chat", "target.api_endpoint.type is missing: give --model_type"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            merged_run_config(None, given_so_far, None).check_complete()
        given_so_far[name] = value
    merged_run_config(None, given_so_far, None).check_complete()


_KEYS = [("a",), ("b", "c"), ("b", "d"), ("b", "e", "f")]
_NAMES = ("framework", "task", "run config", "flags", "overrides")


@given(
    st.lists(st.dictionaries(st.sampled_from(_KEYS), st.none() | st.integers(0, 9)), min_size=5, max_size=5)
)
def test_of_every_key_the_last_layer_that_sets_it_wins(
    tables: list[dict[tuple[str, ...], int | None]],
) -> None:
    """Nulls of the two lowest layers say nothing; above, a null brings their value back."""
    found = merged(
        ConfigValue(key, value, name, name)  # type: ignore[arg-type]
        for number, (name, table) in enumerate(zip(_NAMES, tables, strict=True))
        for key, value in table.items()
        if number > 1 or value is not None
    )
    for key in _KEYS:
        expected = default = None
        origin = ""
        for number, table in enumerate(tables):
            if table.get(key) is not None:
                expected, origin = table[key], _NAMES[number]
                default = (expected, origin) if number < 2 else default
            elif number > 1 and key in table:
                expected, origin = default or (None, "")
        value = found.get(key)
        assert (None, "") if value is None else (value.value, value.layer) == (expected, origin)
        assert (value is None) == (expected is None)


def test_tables_of_thousands_are_merged_without_a_search_for_each_key() -> None:
    """10,000 keys on 10,000: a search for each takes minutes."""
    tables = [{("a", "b", str(n)): n + added for n in range(10_000)} for added in (0, 1)]
    below = [ConfigValue(key, value, "run config", "x") for key, value in tables[0].items()]
    above = [ConfigValue(key, value, "flags", "y") for key, value in tables[1].items()]
    assert {path: value.value for path, value in merged([*below, *above]).items()} == tables[1]
    assert not merged([*below, ConfigValue(("a",), None, "flags", "y")])
