"""benchwright.toml: found upwards, read strictly, refused with the cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.config import find_config
from benchwright.config._files import read_config
from benchwright.core import ConfigError


def write(folder: Path, text: str, name: str = "benchwright.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    path = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    message = str(caught.value)
    assert str(path) in message
    assert caught.value.exit_code == 2
    return message


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [run]
        limit-samples = 100
        parallelism = 8
        temperature = 1
        stop = "###"
        cache = false

        [models.local]
        base_url = "http://localhost:8000/v1"
        model = "my-model"
        api_key_env = "MY_KEY"
        timeout = 30
        stop = ["a", "b"]
        headers = { X-Team = "search", api-key = "${AZURE_KEY}" }
        extra_body = { chat_template_kwargs = { enable_thinking = false }, list = [1, "x"] }

        [models."weak.demo"]
        type = "demo"
        skill = 0.3
        seed = 7

        [benchmarks.capitals]
        file = "benches/geo.py:capitals"
        model = "local"
        dataset = "data/geo.jsonl"
        repeats = 3
        description = "Capitals of the world"

        [benchmarks.installed]
        file = "package.module:name"
        dataset = "hf://org/name?split=test"
        """,
    )
    config = read_config(path)
    assert config.run == {"limit": 100, "parallelism": 8, "temperature": 1.0, "stop": ["###"], "cache": False}
    local = config.models["local"]
    assert (local.type, local.base_url, local.model) == (None, "http://localhost:8000/v1", "my-model")
    assert (local.api_key_name, local.timeout, local.generation["stop"]) == ("MY_KEY", 30.0, ["a", "b"])
    assert local.headers == {"X-Team": "search", "api-key": "${AZURE_KEY}"}
    assert local.extra_body == {"chat_template_kwargs": {"enable_thinking": False}, "list": [1, "x"]}
    weak = config.models["weak.demo"]
    assert (weak.type, weak.base_url, weak.demo) == ("demo", None, {"skill": 0.3, "seed": 7})
    capitals = config.benchmarks["capitals"]
    assert capitals.file == f"{tmp_path}/benches/geo.py:capitals"
    assert capitals.model == "local"
    assert capitals.run == {"dataset": f"{tmp_path}/data/geo.jsonl", "repeats": 3}
    assert capitals.description == "Capitals of the world"
    installed = config.benchmarks["installed"]
    assert installed.file == "package.module:name"
    assert installed.run == {"dataset": "hf://org/name?split=test"}


def test_the_nearest_file_upwards_is_found(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    write(tmp_path, "[run]\nlimit = 1\n")
    found = find_config(deep)
    assert found is not None
    assert found.path == tmp_path / "benchwright.toml"
    write(tmp_path / "a", "[run]\nlimit = 2\n", ".benchwright.toml")
    found = find_config(deep)
    assert found is not None
    assert found.run == {"limit": 2}


def test_no_file_is_no_config(tmp_path: Path) -> None:
    (tmp_path / "benchwright.toml").mkdir()  # a folder of that name is not the file
    assert find_config(tmp_path) is None


def test_both_names_in_one_folder_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "")
    write(tmp_path, "", ".benchwright.toml")
    with pytest.raises(ConfigError, match=r"both benchwright\.toml and \.benchwright\.toml; keep one"):
        find_config(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# only a comment", "\ufeff[run]\nlimit = 1\n", "[run]\r\nlimit = 1\r\n"]
)
def test_empty_files_marks_and_line_endings_do_no_harm(tmp_path: Path, text: str) -> None:
    path = tmp_path / "benchwright.toml"
    path.write_bytes(text.encode())
    assert read_config(path).run in ({}, {"limit": 1})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[run]\nlimit = \n", ["not valid TOML", "line 2"]),
        ("[run]\nmodel = demo\n", ["not valid TOML", "Texts need quotes"]),
        ("[run]\n[run]\n", ["not valid TOML"]),
        ("[rnu]\n", ["[rnu] is not known", "Did you mean 'run'?", "[models.NAME]"]),
        ("run = 3", ["run is 3", "[run]"]),
        ("models = 3", ["models is 3"]),
        ("[[models]]\nx = 1", ["a list of tables", "[models]"]),
        ("[models]\nlocal = 'http://x'", ["models.local is 'http://x'", "[models.local]"]),
        ("[run]\nlimt = 3", ["[run] limt is not known", "Did you mean 'limit'", "temperature"]),
        ("[run]\nlimit = 0", ["[run] limit: 0 is too small; expected a whole number of 1 or more"]),
        ("[run]\nlimit = 1.5", ["limit: 1.5 is not a whole number"]),
        ("[run]\nlimit = true", ["limit: true is not a whole number"]),
        ("[run]\nlimit = '5'", ["limit: '5' is not a whole number"]),
        ("[run]\nlimit = 5\nlimit-samples = 6", ["sets limit twice", "limit-samples"]),
        ("[run]\ntemperature = nan", ["temperature: nan is not a number"]),
        ("[run]\ntop_p = -1", ["top_p: -1 is too small; expected a number from 0 to 1"]),
        ("[run]\nfailure_threshold = 5", ["5 is too large; expected a number from 0 to 1"]),
        ("[run]\ncache = 'no'", ["cache: 'no' is not true or false"]),
        ("[run]\nstop = [1]", ["stop: [1] is not a list of texts"]),
        ("[run]\nmodel = ' '", ["model: ' ' is not a text"]),
        ("[run]\nmodel_url = 'http://x'", ["[models.NAME] table"]),
        ("[run]\noutput_dir = 'out'", ["command line"]),
        ("[run]\ndataset = 'x.jsonl'", ["[benchmarks.NAME] table"]),
        ("[benchmarks.x]\nlimit = 3", ["[benchmarks.x] has no file", "my_bench.py"]),
        (
            "[benchmarks.x]\nfile = 'x.py'\nfewshot = 3",
            ["[benchmarks.x] fewshot is not known", "num_fewshot"],
        ),
    ],
)
def test_a_refusal_names_table_key_and_cure(tmp_path: Path, text: str, parts: list[str]) -> None:
    message = refusal(tmp_path, text)
    for part in parts:
        assert part in message


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "benchwright.toml"
    path.write_bytes(b"[run]\nmodel = '\xff\xfe'\n")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        read_config(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "missing.toml")
