"""[benchmarks.NAME] tables of every type, files of another tool, and models by provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.config import (
    BuiltinBenchmark,
    ConfigFile,
    ModelConfig,
    NoCodeBenchmark,
    find_config,
)
from benchwright.config._files import read_config
from benchwright.core import ConfigError

STYLE = 'style = { type = "exact_match", golden_column = "answer" }\n'
PLAIN = f'type = "custom_nocode"\ndataset = "rows.csv"\nprompt = "{{{{ row.q }}}}"\n{STYLE}'
CHOICE = """\
type = "custom_nocode"
dataset = { name = "org/data", config_name = "main", split = "test", revision = "v1" }
prompt_template_file = "prompts/ask.j2"
metrics = ["f1", { name = "confusion", show = "all" }]
max_workers = 3
[benchmarks.x.style]
type = "multiple_choice"
choices = { columns = ["a", "b"] }
choice_labels = ["A", "B"]
answer = { index_column = "right", index_base = 1 }
shuffle = { seed_column = "id" }
"""


def config(folder: Path, text: str, name: str = "benchwright.toml") -> ConfigFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_config(path)


def refusal(folder: Path, text: str, name: str = "benchwright.toml") -> str:
    with pytest.raises(ConfigError) as caught:
        config(folder, text, name)
    return str(caught.value)


def test_a_described_evaluation_is_read_with_paths_relative_to_the_file(tmp_path: Path) -> None:
    entry = config(tmp_path, f"[benchmarks.x]\n{CHOICE}").benchmarks["x"]
    nocode = entry.nocode
    assert nocode is not None
    assert nocode.choices is not None
    assert nocode.dataset == "hf://org/data?config=main&split=test&revision=v1"
    assert nocode.prompt_file == str(tmp_path / "prompts/ask.j2"), "not looked for before it is used"
    assert entry.run == {"parallelism": 3}
    assert nocode.choices.algorithm == "sha256"
    assert (nocode.choices.answer, nocode.choices.index_base) == ("index", 1)
    assert nocode.metrics == (("f1", "json"), ("confusion", "all"))
    assert NoCodeBenchmark.from_json(nocode.to_json()) == nocode


@pytest.mark.parametrize(
    ("dataset", "found"),
    [
        ('"rows.csv"', "{folder}/rows.csv"),
        ('{ name = "./data" }', "{folder}/data"),
        ('{ name = "hf://org/data" }', "hf://org/data"),
        ('{ name = "org/data", split = "test" }', "hf://org/data?split=test"),
        ('{ name = "hf://org/data?split=test", revision = "a b" }', "hf://org/data?split=test&revision=a+b"),
    ],
)
def test_a_dataset_is_a_file_or_a_name_of_the_hub(tmp_path: Path, dataset: str, found: str) -> None:
    text = PLAIN.replace('"rows.csv"', dataset)
    nocode = config(tmp_path, f"[benchmarks.x]\n{text}").benchmarks["x"].nocode
    assert nocode is not None
    assert Path(nocode.dataset) == Path(found.format(folder=tmp_path))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (PLAIN.replace('"rows.csv"', '{ name = "rows.csv", split = "test" }'), "only datasets of the hub have split"),
        (PLAIN.replace('"rows.csv"', '{ name = "a b" }'), "nor the name of a hub dataset"),
        (PLAIN.replace('"rows.csv"', '{ split = "test" }'), "dataset has no name"),
        (PLAIN + 'prompt_template_file = "p"', "expected exactly one of them"),
        (PLAIN.replace('prompt = "{{ row.q }}"\n', ""), "has none of prompt_template_file, prompt and messages"),
        (PLAIN + "limit = 0", "limit: 0 is too small"),
        (PLAIN + "max_workers = 0", "0 is too small"),
        (PLAIN + "promt = 1", "Did you mean 'prompt'"),
        (PLAIN + "samples = 3", "write it as limit"),
        (PLAIN + 'metrics = ["f1"]', "f1 is for multiple choice"),
        (PLAIN + 'on_row_error = "ignore"', "expected one of fail, skip, count_wrong"),
        (PLAIN + 'grader = "numerc"', "Did you mean 'numeric'?"),
        (PLAIN + 'grader = "embedding"', "there is no embedding model here"),
        (PLAIN + 'grader = { type = "contains", tolerance = 1 }', "tolerance: only numeric take this"),
        (PLAIN + 'grader = "llm_judge"', "needs one judge"),
        (PLAIN + 'grader = "python"', "has no function"),
        (PLAIN + 'normalize = ["case"]', "Known: casefold, punctuation, space, articles"),
        (PLAIN + 'fewshot = { dataset = "x.csv" }', "has no count"),
        (PLAIN + 'model = { type = "acme:m" }', "provider 'acme' is not known"),
        (PLAIN.replace(STYLE, ""), "style is missing"),
        (PLAIN.replace(STYLE, 'style = { type = "exact_match" }'), "has no golden_column"),
        (CHOICE.replace('"A", "B"', '"A", "a"'), "names a label twice"),
        (CHOICE.replace('"A", "B"', '"A", "B", "C"'), "names 2 columns and choice_labels 3"),
        (CHOICE.replace('"f1", {', '"f1", "f1", {'), "names f1 twice"),
        (CHOICE.replace('show = "all"', 'show = "text"'), "expected json or all"),
        (CHOICE.replace('{ index_column = "right", index_base = 1 }', '{ correct_choice_column = "c" }'),
         "'c' is not one of the columns"),
        (CHOICE.replace('{ index_column = "right", index_base = 1 }', '{ label_column = "l", index_base = 1 }'),
         "only an index_column is counted"),
        (CHOICE.replace('seed_column = "id"', 'seed_column = "id", algorithm = "md5"'), "one of sha256, siphash13"),
        ('type = "custom_code"', "has no command"),
        ('type = "custom_code"\ncommand = []', "has no command"),
        ('type = "custom_code"\ncommand = "python x.py"', "as a list, without a shell"),
        ('type = "custom_code"\ncommand = ["x"]\nmodel = "m"', "gets its model from input"),
        ('type = "custom_cod"', "Did you mean 'custom_code'?"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_run_is_refused(tmp_path: Path, text: str, part: str) -> None:
    message = refusal(tmp_path, f"[benchmarks.x]\n{text}")
    assert "[benchmarks.x]" in message
    assert part in message


def test_messages_end_with_the_user(tmp_path: Path) -> None:
    text = PLAIN.replace('prompt = "{{ row.q }}"', 'messages = [{ role = "user", content = "a" }, '
                         '{ role = "assistant", content = "b" }]')  # fmt: skip
    assert "expected the user's" in refusal(tmp_path, f"[benchmarks.x]\n{text}")


def test_a_program_keeps_its_command_input_and_folder(tmp_path: Path) -> None:
    text = '[benchmarks.x]\ntype = "custom_code"\ncommand = ["python", "e.py"]\ninput = { limit = 3, deep = { a = [1] } }\n'
    program = config(tmp_path, text).benchmarks["x"]
    assert program.command == ("python", "e.py")
    assert program.input == {"limit": 3, "deep": {"a": [1]}}
    assert program.folder == tmp_path


def test_a_file_of_the_other_tool_is_found_upwards_and_its_own_tables_passed_over(tmp_path: Path) -> None:
    text = (
        '[registry]\nurl = "x"\n[benchmarks.pubmedqa]\ndataset = "hf://a/b"\nsamples = 4\nmodel = "random"\n'
    )
    config(tmp_path, text, "quantiles.toml")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    found = find_config(below)
    assert found is not None
    entry = found.benchmarks["pubmedqa"]
    assert entry.builtin == BuiltinBenchmark("pubmedqa", "hf://a/b")
    assert (entry.type, entry.run, entry.model) == ("builtin", {"limit": 4}, "random")


@pytest.mark.parametrize("other", [".benchwright.toml", "quantiles.toml", ".quantiles.toml"])
def test_two_configuration_files_in_one_folder_are_refused_by_name(tmp_path: Path, other: str) -> None:
    (tmp_path / "benchwright.toml").touch()
    (tmp_path / other).touch()
    with pytest.raises(ConfigError) as caught:
        find_config(tmp_path)
    assert "benchwright.toml" in str(caught.value)
    assert other in str(caught.value)


def test_in_our_own_file_a_table_without_type_names_a_file(tmp_path: Path) -> None:
    assert "has no file" in refusal(tmp_path, '[benchmarks.pubmedqa]\nmodel = "random"\n')
    assert "[other] is not known" in refusal(tmp_path, "[other]\nx = 1\n")


def test_a_model_described_in_a_benchmark_is_known_by_a_name_of_its_own(tmp_path: Path) -> None:
    text = (
        f'[benchmarks.x]\n{PLAIN}model = {{ type = "openai:m", temperature = 0.5, system = "Be brief." }}\n'
    )
    found = config(tmp_path, text)
    name = found.benchmarks["x"].model
    assert name == "openai:m (x)"
    model = found.models[name]
    assert (model.provider, model.model, model.generation["temperature"], model.system) == (
        "openai",
        "m",
        0.5,
        "Be brief.",
    )


@pytest.mark.parametrize(
    ("value", "url", "key", "model"),
    [
        ("openai:gpt-x", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-x"),
        ("openai:ft:a:b", "https://api.openai.com/v1", "OPENAI_API_KEY", "ft:a:b"),
        ("anthropic:c", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "c"),
        ("gemini:g", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", "g"),
        ("cloudflare_ai_gateway:@cf/m/x", "https://gateway.ai.cloudflare.com/v1/acc/gate/compat", "CLOUDFLARE_API_KEY",
         "workers-ai/@cf/m/x"),
    ],
)  # fmt: skip
def test_a_providers_model_has_its_address_and_key_when_it_is_used(
    value: str, url: str, key: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "acc")
    monkeypatch.setenv("CLOUDFLARE_GATEWAY_ID", "gate")
    named = ModelConfig.of_provider(value)
    assert named is not None
    used = named.at_provider()
    assert (used.base_url, used.api_key_name, used.model) == (url, key, model)


def test_the_environment_of_a_provider_is_not_looked_at_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLOUDFLARE_ACCOUNT_ID", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    found = config(tmp_path, '[models.cf]\ntype = "cloudflare_ai_gateway:m"\n[models.o]\ntype = "openai:m"\n')
    with pytest.raises(ConfigError, match="export CLOUDFLARE_ACCOUNT_ID"):
        found.models["cf"].at_provider()
    assert found.models["o"].at_provider().base_url == "http://localhost:1/v1"


def test_a_random_model_answers_by_chance_and_says_so(tmp_path: Path) -> None:
    found = config(tmp_path, '[models.r]\ntype = "random"\nseed = 4\n')
    assert found.models["r"].type == "demo"
    assert found.models["r"].demo == {"seed": 4, "by_chance": True, "model_id": "random"}
    assert "at random" in found.models["r"].notes[0]
    named = ModelConfig.of_provider("random_label")
    assert named is not None
    assert named.type == "demo"
