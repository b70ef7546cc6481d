"""Model entries in the manner of other tools mean here what they mean there, and say what they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright.config import PROFILES, ModelConfig
from benchwright.config._files import read_config
from benchwright.core import ConfigError

WHERE = "suite.py: models, entry 1"

TEMPLATE: dict[str, Any] = {
    "attr": "service", "type": "VLLMCustomAPIChat", "abbr": "vllm-api-stream-chat", "path": "", "model": "",
    "stream": True, "request_rate": 0, "use_timestamp": False, "traffic_cfg": {}, "retry": 2, "api_key": "",
    "host_ip": "localhost", "host_port": 8080, "url": "", "max_out_len": 512, "batch_size": 3,
    "trust_remote_code": False,
    "generation_kwargs": {
        "temperature": 0.01, "top_p": 0.9, "seed": 7, "stop": ["\n"], "ignore_eos": False, "num_return_sequences": 4,
    },
}  # fmt: skip


def refusal(**values: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        ModelConfig.from_entry(WHERE, values)
    assert str(caught.value).startswith(WHERE)
    return str(caught.value)


def test_a_template_of_theirs_is_read_with_its_meaning() -> None:
    model = ModelConfig.from_entry(WHERE, TEMPLATE)
    assert model.notes == (), "what is switched off or left open needs no remark"
    assert (model.name, model.model, model.base_url) == (
        "vllm-api-stream-chat",
        None,
        "http://localhost:8080",
    )
    assert (model.profile, model.api, model.type, model.generation["stream"]) == (
        "vllm_api_general_chat",
        "openai",
        "chat",
        True,
    )
    assert (model.generation["max_tokens"], model.max_concurrency, model.retries, model.repeats) == (
        512,
        3,
        1,
        4,
    )
    assert [model.generation[name] for name in ("temperature", "top_p", "seed", "stop")] == [
        0.01,
        0.9,
        7,
        ["\n"],
    ]
    assert model.extra_body == {"ignore_eos": False}


@pytest.mark.parametrize(
    ("written", "profile"),
    [
        ("VLLMCustomAPI", "vllm_api_general"),
        ("VLLMCustomAPIStream", "vllm_api_general_stream"),
        ("ais_bench.benchmark.models.VLLMCustomAPIChat", "vllm_api_general_chat"),
        ("VLLMCustomAPIChatStream", "vllm_api_stream_chat"),
        ("MindieStreamApi", "mindie_stream_api_general"),
        ("TGICustomAPI", "tgi_api_general"),
        ("TGICustomAPIStream", "tgi_stream_api_general"),
        ("TritonCustomAPI", "triton_api_general"),
        (type("TritonCustomAPIStream", (), {}), "triton_stream_api_general"),
    ],
)
def test_classes_stand_for_profiles(written: object, profile: str) -> None:
    model = ModelConfig.from_entry(WHERE, {"type": written, "model_name": "m"})
    assert (model.profile, model.name) == (profile, "m")
    assert (model.api, model.type, model.generation["stream"]) == (
        PROFILES[profile].api, PROFILES[profile].type, PROFILES[profile].stream,
    )  # fmt: skip


def test_what_is_switched_off_or_left_open_is_not_worth_a_word() -> None:
    model = ModelConfig.from_entry(WHERE, {**TEMPLATE, "model": "", "rpm_verbose": False, "verbose": False})
    assert (model.model, model.notes) == (None, ())


def test_what_has_no_effect_is_said() -> None:
    model = ModelConfig.from_entry(
        WHERE,
        {
            **TEMPLATE,
            "path": "/weights/tokenizer",
            "trust_remote_code": True,
            "verbose": True,
            "rpm_verbose": True,
            "pred_postprocessor": {"type": print},
            "meta_template": {"round": []},
        },
    )
    told = {note.partition(" ")[0] for note in model.notes}
    assert told == {
        "path",
        "trust_remote_code",
        "verbose",
        "rpm_verbose",
        "pred_postprocessor",
        "meta_template",
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"retry": 0}, "would send nothing"),
        ({"retry": "2"}, "not a number of attempts"),
        ({"request_rate": "fast"}, "is not a rate"),
        ({"request_rate": 2, "traffic_cfg": {"burstyness": 1}}, "Did you mean 'burstiness'"),
        ({"request_rate": 2, "traffic_cfg": {"burstiness": -1}}, "0 or more"),
        ({"request_rate": 2, "traffic_cfg": {"ramp_up_strategy": "linear"}}, "ramp_up_start_rps"),
        ({"query_per_second": 2}, "requests_per_minute"),
        ({"api_key": "sk-very-secret"}, 'api_key_name = "MY_KEY"'),
        ({"attr": "local"}, "only services"),
        ({"generation_kwargs": {"temperature": 0.1}, "temperature": 0.2}, "sets temperature twice"),
        ({"generation_kwargs": {"max_new_tokens": 5}}, "sets max_tokens twice"),
        ({"generation_kwargs": {"num_return_sequences": 0}}, "repeats"),
        ({"generation_kwargs": [1]}, "not a table"),
        ({"generation_kwargs": {"lora_data_map_file": "x"}}, "adapters"),
        ({"genertion_kwargs": {}}, "Did you mean 'generation_kwargs'"),
        ({"batch_sise": 3}, "Did you mean 'batch_size'"),
        ({"type": "VLLMCustomAPIChatt"}, "is not known"),
        ({"url": "http://h", "host_ip": "10.0.0.1"}, "keep one"),
        ({"host_port": 70000}, "too large"),
        ({"name": "other"}, "keep one"),
        ({"host_ip": "http://h"}, "is a URL"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_reason(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ModelConfig.from_entry(WHERE, {**TEMPLATE, **change})
    assert words in str(caught.value)
    assert "very-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "load"),
    [
        ({"request_rate": 0.0005, "traffic_cfg": {"burstiness": 2}}, {}),
        ({"request_rate": 2.5}, {"profile": "poisson", "rate": [2.5], "max_concurrency": 3}),
        ({"request_rate": 2, "traffic_cfg": {"burstiness": 0}}, {"profile": "constant", "rate": [2], "max_concurrency": 3}),
        ({"request_rate": 2, "traffic_cfg": {"burstiness": 0.5}},
         {"profile": "gamma", "burstiness": 0.5, "rate": [2], "max_concurrency": 3}),
        ({"request_rate": 1, "traffic_cfg": {"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 9}},
         {"profile": "ramp", "ramp": "linear", "rate": [1, 9], "max_concurrency": 3}),
        ({"use_timestamp": True, "request_rate": 5}, {"profile": "trace"}),
    ],
)  # fmt: skip
def test_a_models_own_load_is_for_load_tests(change: dict[str, Any], load: dict[str, Any]) -> None:
    assert ModelConfig.from_entry(WHERE, {**TEMPLATE, **change}).load == load


@pytest.mark.parametrize("name", ["hf_chat_model", "vllm_offline_vl", "HuggingFacewithChatTemplate"])
def test_models_in_this_process_are_refused_with_a_way_out(name: str) -> None:
    with pytest.raises(ConfigError, match="Start a server"):
        ModelConfig.from_entry(WHERE, {"type": name, "abbr": "x"})
    with pytest.raises(ConfigError, match="Start a server"):
        ModelConfig.from_entry(WHERE, {"profile": name, "abbr": "x"})


@pytest.mark.parametrize(
    ("values", "url"),
    [
        ({}, "http://localhost:8080"),
        ({"host_ip": "10.0.0.7", "host_port": 1025}, "http://10.0.0.7:1025"),
        ({"host_ip": "fe80::1", "host_port": 1025, "enable_ssl": True}, "https://[fe80::1]:1025"),
        ({"host_ip": "[::1]"}, "http://[::1]:8080"),
        ({"url": "10.0.0.7:9000/v1"}, "http://10.0.0.7:9000/v1"),
        ({"url": "10.0.0.7:9000", "enable_ssl": True}, "https://10.0.0.7:9000"),
        ({"base_url": "https://h/v1", "host_ip": "localhost", "host_port": 8080}, "https://h/v1"),
    ],
)
def test_addresses(values: dict[str, Any], url: str) -> None:
    assert ModelConfig.from_entry(WHERE, {"profile": "tgi_api_general", **values}).base_url == url


def test_names_are_taken_from_what_there_is() -> None:
    def named(**values: Any) -> str:
        return ModelConfig.from_entry(WHERE, values).name

    assert named(profile="tgi_api_general", name="a", model="m") == "a"
    assert named(profile="tgi_api_general", abbr="b", model="m") == "b"
    assert named(profile="tgi_api_general", model="m") == "m"
    assert named(profile="tgi_api_general") == "tgi_api_general"
    assert named(type="TGICustomAPI") == "tgi_api_general"
    assert "has no name" in refusal(base_url="http://h")


def test_tables_of_the_configuration_file_take_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "benchwright.toml"
    path.write_text(
        '[models.triton]\nprofile = "triton_stream_api_general"\nmodel_name = "llama"\nhost-port = 8000\nstream = false\n'
        'retry = 1\nbatch_size = 2\nmax_out_len = 9\n[models.tgi]\nbase_url = "http://h:1"\napi = "tgi"\n',
        encoding="utf-8",
    )
    models = read_config(path).models
    triton = models["triton"]
    assert (triton.api, triton.model, triton.base_url, triton.generation["stream"]) == (
        "triton", "llama", "http://localhost:8000", False,
    )  # fmt: skip
    assert (triton.retries, triton.max_concurrency, triton.generation["max_tokens"]) == (0, 2, 9)
    assert (models["tgi"].api, models["tgi"].model) == ("tgi", None)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('profile = "tgi_api_generl"', "Did you mean 'tgi_api_general'"),
        ('profile = "tgi_api_general"\napi = "openai"', "leave api out"),
        ('base_url = "http://h"\napi = "tgii"', "Did you mean 'tgi'"),
        ('api = "tgi"', "has no base_url"),
    ],
)
def test_tables_that_cannot_be_meant(tmp_path: Path, lines: str, words: str) -> None:
    path = tmp_path / "benchwright.toml"
    path.write_text(f"[models.m]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert words in str(caught.value)
