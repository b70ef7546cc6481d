"""YAML as people write it into run configurations: tables taken over, odd keys, and texts and values that cannot be sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright.config import RunConfig, RunConfigs
from benchwright.core import ConfigError


def read(folder: Path, params: str, *pairs: str, more: str = "", name: str = "run.yaml") -> RunConfig:
    text = f"config:\n  type: x\n  params: {params}\ntarget:\n  api_endpoint: {{model_id: m{more}}}\n"
    (folder / name).write_text(text, encoding="utf-8")
    return RunConfigs.read(folder / name, {}, None, pairs).configs[0]


@pytest.mark.parametrize(
    ("params", "options"),
    [
        ("{<<: {temperature: 0.5, top_p: 0.1}, temperature: 0.2}", {"temperature": 0.2, "top_p": 0.1}),
        ("{<<: [{top_p: 0.1}, {top_p: 0.2, temperature: 1}]}", {"temperature": 1.0, "top_p": 0.1}),
        ("{parallelism: 010, stream: 1}", None),
        ("{parallelism: 0x10, request_timeout: 1:30}", {"parallelism": 16, "request_timeout": 90.0}),
        ("{extra: {cache: no, fewshot_strict: on}}", {"cache": False, "fewshot_strict": True}),
        ("{extra: {extra_body: {logit_bias: {50256: -100}}}}", {"extra_body": {"logit_bias": {"50256": -100}}}),
        (r'{extra: {stop: ["\ud83c\udfaf", "\U0001F3AF"]}}', {"stop": ["🎯", "🎯"]}),
    ],
)  # fmt: skip
def test_what_is_read(tmp_path: Path, params: str, options: dict[str, Any] | None) -> None:
    if options is None:
        with pytest.raises(ConfigError, match="stream"):
            read(tmp_path, params)
    else:
        assert read(tmp_path, params).options == {"model_id": "m", **options}


def test_a_table_of_another_task_is_taken_over_but_for_what_is_changed(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("""
evaluation:
  nemo_evaluator_config: &all
    config: {params: &shared {temperature: 0.2, top_p: 0.5, extra: {dataset: &data {num_fewshot: 2}}}}
  tasks:
    - name: a
      nemo_evaluator_config: {config: {params: {<<: *shared, temperature: 0.8}}}
    - name: b
      nemo_evaluator_config: *all
    - name: c
      nemo_evaluator_config: {config: {params: {extra: {dataset: {<<: *data, path: rows.csv}}}}}
""")
    found = [each.options for each in RunConfigs.read(tmp_path / "run.yaml", {}).configs]
    assert [each["temperature"] for each in found] == [0.8, 0.2, 0.2]
    assert [each["top_p"] for each in found] == [0.5] * 3
    assert (found[2]["dataset"], found[2]["num_fewshot"]) == ("rows.csv", 2)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ("{on: 1}", r"run.yaml:3: the key on is true in YAML, and not a text; put it into quotes"),
        ("{extra: {weights: {~: 1}}}", "the key ~ is null in YAML"),
        ("{extra: {weights: {010: 1}}}", "the key 010 is 8 in YAML"),
        ("{extra: {weights: {1: 1, '1': 2}}}", "the key '1' appears twice"),
        ("{<<: {on: 1}}", "run.yaml:3: the key True is true in YAML"),
        ("{<<: 5}", "expected a mapping"),
        ("{top_p: 0.1, top_p: 0.2, <<: {top_p: 0.3}}", "the key 'top_p' appears twice"),
        ("{extra: {extra_body: {x: [.nan]}}}", "extra_body.x: nan cannot be sent as JSON"),
        ("{extra: {extra_body: {x: -9223372036854775809}}}", "extra_body.x: an integer beyond 64 bits cannot be sent"),
        ("{extra: {extra_body: {x: 2024-01-01}}}", "2024-01-01 is a date or time.* write it as a text in quotes"),
        ("{extra: {extra_body: {x: !!binary aGk=}}}", "a value of type bytes"),
        (r'{extra: {extra_body: {x: "\ud800"}}}', r"extra_body.x: '\\ud800' has half a character"),
        (r'{extra: {stop: ["\udfaf"]}}', "half a character"),
        (r'{extra: {dataset: {path: "a\0b"}}}', r"dataset.path: 'a\\x00b' has the character"),
        ("{extra: {dataset: {path: 2024-01-01}}}", "is not a text. Put it in quotes"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_or_sent(tmp_path: Path, params: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read(tmp_path, params)


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (r'target.api_endpoint.model_id="\ud800"', "-o: target.api_endpoint.model_id: .*half a character"),
        (r'config.output_dir="a\0"', "-o: config.output_dir: .*has the character"),
        ("config.params.extra.extra_body={on: 1}", "-o: the key on is true in YAML"),
        ("config.params.extra.extra_body.x=.inf", "-o: config.params.extra.extra_body.x: inf cannot be sent"),
    ],
)
def test_overrides_are_held_to_the_same(tmp_path: Path, pair: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read(tmp_path, "{}", pair)
    assert read(tmp_path, "{}", r'target.api_endpoint.model_id="\ud83c\udfaf"').options["model_id"] == "🎯"
    assert read(tmp_path, "{}", "target.api_endpoint.model_id=on: off").options["model_id"] == "on: off"


@pytest.mark.parametrize(
    "value",
    [
        "[2024-01-01]",
        "{a: 2024-01-01T10:00:00Z}",
        "!!set {a}",
        "!!binary aGVsbG8=",
        ".nan",
        "[{b: -.inf}]",
        "18446744073709551616",
    ],
)
def test_a_benchmarks_own_settings_are_what_a_record_can_hold(tmp_path: Path, value: str) -> None:
    """A resumed run takes them from its record, and must give its scorers the same values."""
    with pytest.raises(ConfigError, match=r"config\.params\.extra\.own(\.a)?: .*JSON"):
        read(tmp_path, f"{{extra: {{own: {value}}}}}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x-common: &c {temperature: 0.25}\nconfig: {type: b, params: {<<: *c}}", None),
        ("x-common: {whatever: 1}\nconfig: {type: b, params: {temperature: 0.25}}", None),
        ("common: &c {temperature: 0.25}\nconfig: {type: b, params: {<<: *c}}", None),
        ("common: {a: &a 0.25, b: 5}\nconfig: {type: b, params: {temperature: *a}}", None),
        ("x-one: &a {temperature: 0.5}\ntwo: &b {<<: *a, temperature: 0.25}\nconfig: {type: b, params: *b}", None),
        ("evaluation: {tasks: [{name: b, nemo_evaluator_config: {config: {params: *c}}}]}\n", "undefined alias"),
        ("x-c: &c {temperature: 0.25}\nevaluation: {tasks: [{name: b, nemo_evaluator_config: {config: {params: *c}}}]}", None),
        ("c: &c {temperature: 0.25}\nevaluation: {tasks: [{name: b, nemo_evaluator_config: {config: {params: *c}}}]}", None),
        ("common: {temperature: 0.25}\nconfig: {type: b}", "common.temperature is not known"),
        ("confg: &c {temperature: 0.25}\nconfig: {type: b, params: *c}", "confg.temperature is not known"),
        ("config: {type: b, x-note: 1}", "config.x-note is not known"),
        ("xcommon: 1\nconfig: {type: b}", "xcommon is not known"),
    ],
)  # fmt: skip
def test_a_key_that_only_holds_values_for_others_is_none_of_the_configuration(
    tmp_path: Path, text: str, reason: str | None
) -> None:
    """As in compose files: `x-…`, or a key that aliases refer to, but not one that is nearly a known key."""
    file = tmp_path / "r.yaml"
    file.write_text(text, encoding="utf-8")
    if reason is None:
        assert RunConfigs.read(file, {}).configs[0].options == {"temperature": 0.25}
        return
    with pytest.raises(ConfigError, match=reason):
        RunConfigs.read(file, {})
