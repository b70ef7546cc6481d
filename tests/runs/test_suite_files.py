"""Suite files: what they may hold, in which formats, and how a slip is told with its place and its cure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchwright import read_base
from benchwright.config import RUN_SETTINGS
from benchwright.core import ConfigError, NotFoundError
from benchwright.runs import Suite
from benchwright.runs._suites.entries import QUESTION_KEYS
from benchwright.runs._suites.suite import read_suite, suite_of

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcq.csv").write_text("question,A,B,answer\n1+1=,2,3,A\n", encoding="utf-8")
    (tmp_path / "qa.jsonl").write_text('{"question": "1+1=", "answer": "2"}\n', encoding="utf-8")

    def written(name: str, text: str) -> Path:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return written


def read(path: Path) -> Suite:
    return read_suite(path, cwd=Path.cwd())


TOML = """
models = ["demo", {name = "local", base_url = "http://127.0.0.1:8000/v1", model = "m", concurrency = 4}]
datasets = [
  {path = "mcq.csv", data_type = "mcq", infer_method = "gen", limit = 3},
  {path = "qa.jsonl", name = "sums", human_prompt = "{question}", test_range = "[0:1]"},
]
[run]
temperature = 0.5
max_num_workers = 2
"""
YAML = """
models: [demo, {name: local, base_url: "http://127.0.0.1:8000/v1", model: m, concurrency: 4}]
datasets:
  - {path: mcq.csv, data_type: mcq, infer_method: gen, limit: 3}
  - {path: qa.jsonl, name: sums, human_prompt: "{question}", test_range: "[0:1]"}
run: {temperature: 0.5, max_num_workers: 2}
"""


def as_json(text: str) -> str:
    import tomllib

    return json.dumps(tomllib.loads(text))


@pytest.mark.parametrize(
    ("name", "text"), [("s.toml", TOML), ("s.yaml", YAML), ("s.yml", YAML), ("s.json", as_json(TOML))]
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_format_says_the_same(write: Write, name: str, text: str, mark: str) -> None:
    suite = read(write(name, mark + text))
    assert [model.name for model in suite.models] == ["demo", "local"]
    assert suite.models[0].config is None
    local = suite.models[1].config
    assert local is not None
    assert (local.base_url, local.model, local.max_concurrency) == ("http://127.0.0.1:8000/v1", "m", 4)
    first, second = suite.datasets
    assert Path(str(first.target)) == Path.cwd() / "mcq.csv"
    assert first.run == {"data_type": "mcq", "infer_method": "gen", "limit": 3}
    assert second.name == "sums"
    assert second.questions == {"human_prompt": "{question}"}
    assert second.run == {"test_range": "[0:1]"}
    assert suite.run == {"temperature": 0.5}
    assert suite.settings == {"max_num_workers": 2}
    assert suite.pairs is None


def test_crlf_and_lists_of_tables_are_toml_too(write: Write) -> None:
    text = '[[models]]\r\nname = "demo"\r\n[[datasets]]\r\npath = "mcq.csv"\r\n'
    suite = read(write("s.toml", text))
    assert [model.name for model in suite.models] == ["demo"]
    assert len(suite.datasets) == 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("datasets: [{path: mcq.csv, lmit: 3}]", ["s.yaml: datasets, entry 1", "lmit is not known", "Did you mean 'limit'"]),
        ("datasets: [mcq.csv, {path: qa.jsonl, data_typ: qa}]", ["entry 2", "data_typ", "Did you mean 'data_type'"]),
        ("datasets: [{pth: mcq.csv}]", ["entry 1", "Did you mean 'path'", "benchmark ="]),
        ("datasets: [{path: mcq.csv, limit: many}]", ["limit", "'many' is not a whole number"]),
        ("datasets: [{path: mcq.csv, limit: 0}]", ["0 is too small"]),
        ("datasets: [{path: mcq.csv, benchmark: x}]", ["path", "benchmark", "keep one"]),
        ("datasets: [{path: mcq.csv, name: a, abbr: b}]", ["name and abbr"]),
        ("datasets: [{path: mcq.csv, limit: 1, num_prompts: 2}]", ["sets limit twice"]),
        ("datasets: [{benchmark: bench, human_prompt: x}]", ["human_prompt is not known"]),
        ("datasets: [{type: X, reader_cfg: {}}]", ["AISBench", '"path": "questions.jsonl"']),
        ("datasets: [17]", ["entry 1 is 17", "path ="]),
        ("datasets: mcq.csv", ["datasets is 'mcq.csv'", "expected a list"]),
        ("datasets: [mcq.csv]\nmodels: {local: {}}", ["models is a table", "expected a list"]),
        ("datasets: [mcq.csv]\nmodels: [{base_url: 'http://h'}]", ["models, entry 1"]),
        ("datasets: [mcq.csv]\nmodels: [{name: a, base_url: 'http://h', model: m, concurency: 3}]", ["concurency"]),
        ("datasets: [mcq.csv]\nmodel: [demo]", ["model is not known", "Did you mean 'models'"]),
        ("datasets: [mcq.csv]\nrun: {limt: 3}", ["s.yaml: run: limt is not known", "'limit'"]),
        ("datasets: [mcq.csv]\nrun: {model: demo}", ["model is not known"]),
        ("datasets: [mcq.csv]\nrun: {mode: perf}", ["load test", "benchwright perf"]),
        ("datasets: [mcq.csv]\nrun: {mode: evl}", ["evl is not known", "'eval'"]),
        ("datasets: [mcq.csv]\nsummarizer: default_perf", ["load tests", "example, headline"]),
        ("datasets: [mcq.csv]\nwork_dir: a\nrun: {work_dir: b}", ["work_dir is at the top and under run"]),
        ("limit: 3", ["limit is not known"]),
        ("run: {limit: 3}", ["neither models nor datasets"]),
        ("- mcq.csv", ["contains a list"]),
        ("", ["contains nothing"]),
        ("datasets: [", ["is not valid YAML: line 1"]),
        ("models: [{name: a}\ndatasets: 3", ["is not valid YAML: line 2, column 1: expected ',' or ']'"]),
    ],
)  # fmt: skip
def test_slips_are_told_with_place_and_cure(write: Write, text: str, parts: list[str]) -> None:
    path = write("s.yaml", text)
    with pytest.raises(ConfigError) as refused:
        read(path)
    for part in parts:
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("s.yaml", "models: [demo]\ndatasets: [mcq.csv]\nmodels: [other]\n", "s.yaml:3"),
        ("s.yaml", "datasets:\n  - {path: mcq.csv, limit: 1, limit: 2}\n", "s.yaml:2"),
        ("s.json", '{"datasets": [], "datasets": []}', "s.json"),
        ("s.toml", "datasets = []\ndatasets = []\n", "s.toml"),
    ],
)
def test_a_key_that_stands_twice_is_refused(write: Write, name: str, text: str, place: str) -> None:
    path = write(name, text)
    with pytest.raises(ConfigError, match=r"twice|overwrite") as refused:
        read(path)
    assert place in str(refused.value)


def test_a_key_that_only_holds_values_for_others_is_none_of_the_suite(write: Write) -> None:
    text = "x-a: &a {limit: 3}\ncommon: &c {path: mcq.csv, <<: *a}\ndatasets: [*c]\n"
    (dataset,) = read(write("s.yaml", text)).datasets
    assert Path(str(dataset.target)).name == "mcq.csv"
    with pytest.raises(ConfigError, match="common is not known"):
        read(write("s.yaml", "common: {path: mcq.csv}\ndatasets: [mcq.csv]\n"))


def test_yaml_makes_no_objects(write: Write) -> None:
    path = write("s.yaml", "datasets: [!!python/object/apply:os.getcwd []]")
    with pytest.raises(ConfigError, match="could not determine a constructor"):
        read(path)


def test_a_file_is_looked_for_beside_the_suite_first(write: Write) -> None:
    write("suites/mcq.csv", "question,A,B,answer\n2+2=,4,5,A\n")
    suite = read(write("suites/s.yaml", "datasets: [{path: mcq.csv}, {path: qa.jsonl}]"))
    here = Path.cwd()
    assert [str(dataset.target) for dataset in suite.datasets] == [
        str(here / "suites" / "mcq.csv"),
        str(here / "qa.jsonl"),
    ]
    (note,) = suite.notes
    assert "qa.jsonl is not next to s.yaml; the run uses the one in the current folder" in note


def test_a_missing_file_is_told_with_near_names_and_both_places(write: Write) -> None:
    path = write("suites/s.yaml", "datasets: [{path: mqc.csv}]")
    write("suites/mcq.csv", "question\n")
    with pytest.raises(NotFoundError, match=r"neither next to s\.yaml nor in the current folder.*'mcq\.csv'"):
        read(path)


def test_addresses_stay_as_they_are(write: Write) -> None:
    suite = read(write("s.yaml", "datasets: ['hf://org/name?split=test', {path: 'hf://org/other'}]"))
    assert [dataset.target for dataset in suite.datasets] == ["hf://org/name?split=test", "hf://org/other"]


def test_names_of_benchmarks_and_modules_are_not_taken_for_files(write: Write) -> None:
    suite = read(write("s.yaml", "datasets: [my_bench, package.module, {benchmark: 'package.module:name'}]"))
    assert [dataset.target for dataset in suite.datasets] == [
        "my_bench",
        "package.module",
        "package.module:name",
    ]


def test_other_files_of_an_entry_are_found_beside_the_suite(write: Write) -> None:
    write("suites/mcq.csv", "question,A,B,answer\n")
    write("suites/plan.meta.json", "{}")
    suite = read(write("suites/s.yaml", "datasets: [{path: mcq.csv, meta_path: plan.meta.json}]"))
    assert suite.datasets[0].run["meta_path"] == str(Path.cwd() / "suites" / "plan.meta.json")


def test_spellings_of_other_tools_are_understood(write: Write) -> None:
    entry = {
        "path": "qa.jsonl", "abbr": "sums", "test_range": 0.5, "evaluator": {"type": "exact"},
        "template": {"round": [{"role": "HUMAN", "prompt": "{question}"}]}, "input_columns": ["question"],
    }  # fmt: skip
    suite = read(write("s.json", json.dumps({"datasets": [entry]})))
    (dataset,) = suite.datasets
    assert dataset.name == "sums"
    assert dataset.run == {"test_range": "0.5", "evaluator": "exact", "input_columns": ["question"]}
    assert dataset.questions == {"template": {"round": [{"role": "HUMAN", "prompt": "{question}"}]}}


def test_repeats_of_other_tools_are_understood(write: Write) -> None:
    table = '{"path": "qa.jsonl", "n": 4, "k": 2}'
    (dataset,) = read(write("suite.json", f'{{"datasets": [{table}]}}')).datasets
    assert dataset.run == {"repeats": 4, "pass_k": [2]}
    both = '{"path": "qa.jsonl", "n": 4, "repeats": 2}'
    with pytest.raises(ConfigError, match="n is not known"):
        read(write("both.json", f'{{"datasets": [{both}]}}'))
    with pytest.raises(ConfigError, match="repeats"):
        read(write("none.json", '{"datasets": [{"path": "qa.jsonl", "n": 0}]}'))


def test_combinations_say_who_meets_whom(write: Write) -> None:
    text = """
models: [demo, {name: other, type: demo, skill: 0.2}]
datasets: [{path: mcq.csv}, {path: qa.jsonl, name: sums}]
model_dataset_combinations:
  - {models: [demo], datasets: [mcq, sums]}
  - {models: [other, demo], datasets: [sums]}
"""
    assert read(write("s.yaml", text)).pairs == ((0, 0), (0, 1), (1, 1))
    with pytest.raises(ConfigError, match=r"entry 1: models: 'dmo' is not in the list above.*'demo'"):
        read(write("s.yaml", text.replace("models: [demo], d", "models: [dmo], d")))
    with pytest.raises(ConfigError, match="expected the keys models and datasets"):
        read(write("s.yaml", text.replace("{models: [demo], datasets: [mcq, sums]}", "{models: [demo]}")))


def test_combinations_may_hold_the_entries_themselves(write: Write) -> None:
    model, data = {"name": "a", "type": "demo"}, {"path": "mcq.csv"}
    document = {
        "models": ["demo", model],
        "datasets": [data],
        "model_dataset_combinations": [{"models": [model], "datasets": [data]}],
    }
    suite = suite_of(Path("s.py"), document, cwd=Path.cwd())
    assert suite.pairs == ((1, 0),)


def test_paths_of_results_start_at_the_file(write: Write) -> None:
    suite = read(write("suites/s.yaml", "datasets: []\nwork_dir: out"))
    assert suite.settings["work_dir"] == str(Path("suites") / "out")


def test_what_only_suites_say_is_no_setting_of_runs() -> None:
    names = {name for setting in RUN_SETTINGS for name in (setting.name, *setting.aliases)}
    assert set(QUESTION_KEYS) - names == {"bot_prompt", "human_prompt"}


def test_read_base_does_nothing() -> None:
    with read_base():
        value = 1
    assert value == 1


def test_aliases_that_multiply_are_refused_before_they_are_written_out(tmp_path: Path) -> None:
    lines = [
        "models: [demo]",
        "datasets: [q.csv]",
        "run:",
        "  extra_body:",
        "    a0: &a0 [x, x, x, x, x, x, x, x, x]",
    ]
    lines += [f"    a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path = tmp_path / "suite.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ConfigError, match="more than 1,000,000 values"):
        read_suite(path, cwd=tmp_path)
