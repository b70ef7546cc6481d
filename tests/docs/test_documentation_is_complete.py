"""The manual has a place for everything a user can type or read, and for nothing that is not there."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
import yaml
from page_blocks import blocks_of
from settings_tables import GROUPS, PAGES, rendered

import benchwright
import warm
from benchwright import benchmark
from benchwright.bridges._aisbench_entries import MODEL_KEYS
from benchwright.cli._commands import COMMANDS
from benchwright.cli._main import normalise
from benchwright.cli._parser import Parser
from benchwright.config import PROFILES, RUN_SETTINGS, ConfigFile, RunOptions
from benchwright.config._files import read_config
from benchwright.core import WIRE_FORMATS, ConfigError, FailureKind, Outcome, RunFile, WireFormat
from benchwright.core._plugins import EXTENSION_POINTS
from benchwright.demo import DemoSettings, fault_mix
from benchwright.results import RunResult, SampleView
from benchwright.scorers import JudgeConfig, ScorerInput, judge_score
from benchwright.scorers._judge_templates import TEMPLATES
from benchwright.scorers._named import SCORERS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EVERYWHERE = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *DOCS.glob("*.md")]
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
OURS = re.compile(r"`(benchwright [^`\n]+)`")
"""A command of ours in a sentence or a table."""
NOT_OURS = {
    "--jinja",  # of llama.cpp
    "--chat-template-file",
    "--interrupt",  # of llama-cpp-python, as the pattern reads them
    "--logits",
    "--kv",
    "--write",
    "--help",
    "--version",
    "--resume",
    "--only",
    "--no-deps",
    "--no-index",
    "--target",
    "--no-cache-dir",
    "--no-build-isolation",
    "--parallel",
}
"""Flags of `benchwright` itself, of scripts, of pip and of servers."""


def page(name: str) -> str:
    """The text of a page without its fenced blocks."""
    return re.sub(r"(?ms)^```.*?^```$", "", (DOCS / f"{name}.md").read_text(encoding="utf-8"))


def sections(name: str) -> dict[str, str]:
    """Text below each heading, deeper headings included."""
    text = page(name)
    heads = list(re.finditer(r"(?m)^(#+) (.+)$", text))
    found = {}
    for number, head in enumerate(heads):
        level = len(head[1])
        end = next((h.start() for h in heads[number + 1 :] if len(h[1]) <= level), len(text))
        found[head[2].strip("`")] = text[head.start() : end]
    return found


def table_rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def named(text: str) -> set[str]:
    """Everything in backticks, in tables and in sentences."""
    return set(re.findall(r"`([^`]+)`", text))


def first_column(text: str) -> set[str]:
    """Names in backticks in the first cell of table rows."""
    return {name for row in table_rows(text) for name in named(row[0])}


def parser_of(command: str) -> Parser:
    parser = Parser(command, COMMANDS[command].usage, COMMANDS[command].summary)
    importlib.import_module(f"benchwright.cli.{COMMANDS[command].module}").configure(parser)
    return parser


def flags_of(command: str) -> set[str]:
    return {
        flag for flag in parser_of(command)._option_string_actions if flag not in ("-h", "--help", "--json")
    }


def command_pages() -> dict[str, str]:
    """Where the table of all commands says that each is described."""
    cells = [row[0] for row in table_rows(sections("running")["All commands"])][1:]
    links = [re.fullmatch(r"\[`([\w-]+).*`\]\((?:(\w+)\.md)?#\1\)", cell) for cell in cells]
    return {link[1]: link[2] or "running" for link in links if link is not None}


def test_every_command_is_listed_in_the_order_of_the_help() -> None:
    assert list(command_pages()) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_command_has_a_section_that_names_its_flags(command: str) -> None:
    text = sections(command_pages()[command])[command]
    if command in ("run", "check", "perf"):
        text += sections("flags")["The flags of run and check"]
    shown = {flag for name in named(text) for flag in FLAG.findall(name)} | named(text)
    assert sorted(flags_of(command) - shown) == []


def test_tables_of_settings_are_those_of_the_declaration() -> None:
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert rendered(text) == text, "run: make docs"
    assert {setting.group for setting in RUN_SETTINGS} == set(GROUPS)


def settings_in(section: str) -> set[str]:
    """Names, under which files and Python know them, of the settings in a table of flags."""
    rows = table_rows(sections("flags")[section])
    return {flag[2:].replace("-", "_") for row in rows for flag in FLAG.findall(row[0])}


def test_no_page_names_a_flag_that_does_not_exist() -> None:
    known = {flag for command in COMMANDS for flag in parser_of(command)._option_string_actions} | NOT_OURS
    for path in EVERYWHERE:
        if path.stem == "moving":  # it names flags of other tools; ours are parsed by the test below
            continue
        for flag in FLAG.findall(path.read_text(encoding="utf-8")):
            if flag != "--limt":  # a mistake that is shown on purpose
                assert flag in known, f"{path.name} names {flag}"


@pytest.mark.parametrize("name", ["moving", "recipes"])
def test_commands_in_sentences_and_tables_can_be_typed(name: str) -> None:
    commands = OURS.findall(page(name))
    assert commands
    for command in commands:
        _, name, *words = normalise(shlex.split(command))
        parser_of(name).parse(words)  # raises UsageError for a flag or a value that is wrong


def test_simulate_flags_have_their_defaults() -> None:
    rows = {flag: row for row in table_rows(page("rehearsing")) for flag in FLAG.findall(row[0])}
    assert sorted(flags_of("simulate") - set(rows)) == []
    demo = DemoSettings()
    for name in ("skill", "ttft_ms", "itl_ms", "error_rate", "seed", "model_id"):
        default = getattr(demo, name)
        shown = rows[f"--{name.replace('_', '-')}"][1].strip("`")
        assert shown == (default if isinstance(default, str) else f"{default:g}")
    assert fault_mix(rows["--faults"][1].strip("`")) == demo.faults


def test_exit_codes_are_those_of_the_program() -> None:
    from benchwright.core import _errors
    from benchwright.core._errors import WORST_FIRST

    documented = {int(row[0]) for row in table_rows(sections("running")["Exit codes"]) if row[0].isdigit()}
    raised = {
        kind.exit_code
        for _, kind in inspect.getmembers(_errors, inspect.isclass)
        if hasattr(kind, "exit_code")
    }
    assert documented == {*WORST_FIRST} == raised | {0, 3, 130}


def test_every_parameter_of_benchmark_is_documented_with_its_default() -> None:
    rows = {
        row[0].strip("`"): row[1].strip("`")
        for row in table_rows(sections("benchmarks")["The parameters of `@benchmark"])
    }
    for name, parameter in inspect.signature(benchmark).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            assert f"**{name}" in rows
            continue
        default = "required"
        if parameter.default is not parameter.empty:
            default = (
                json.dumps(parameter.default)
                if isinstance(parameter.default, str)
                else repr(parameter.default)
            )
        assert rows[name] == default
    assert len(rows) == len(inspect.signature(benchmark).parameters) + 1  # and the head of the table


def test_every_scorer_is_documented() -> None:
    parts = sections("scorers")
    twelve = first_column(parts["The twelve"])
    assert len(twelve) == 12
    variants = {name for row in table_rows(parts["The same without the traps"]) for name in named(row[1])}
    further = first_column(page("scorers"))
    assert twelve | (variants - {"corpus_bleu"}) <= set(SCORERS) <= twelve | variants | further | {"mcq"}
    offered = {name for name in importlib.import_module("benchwright.scorers").__all__ if name[0].islower()}
    assert sorted(offered - {name.partition("(")[0] for name in named(page("scorers"))}) == []


def test_metrics_of_the_twelve_are_the_documented_ones() -> None:
    row = {"retrieved": ["a"], "relevant": ["a"], "_choices": [" a"], "_choices_logprobs": [-1.0]}
    for cells in table_rows(sections("scorers")["The twelve"]):
        for name in named(cells[0]):
            given = set(SCORERS[name].scorer(ScorerInput("a", "a", row)))
            told = named(cells[1])
            if "…" in cells[1]:
                told = {f"bleu_{n}" for n in range(1, 5)}
            assert given == told, name


def test_judges_are_documented() -> None:
    judges = sections("scorers")["Judges"]
    assert set(JudgeConfig.__struct_fields__) <= first_column(judges)
    parameters = set(inspect.signature(judge_score).parameters) - {"sample", "template_kwargs"}
    assert parameters <= first_column(judges)
    scores = {cells[0].strip("`"): cells[1] for cells in table_rows(judges)}
    for name, template in TEMPLATES.items():
        for score in template.scores.values():
            assert str(score) in scores[name]
    assert set(ScorerInput.__struct_fields__) - {"ask"} <= first_column(page("scorers"))


def test_profiles_and_wire_formats_are_documented() -> None:
    rows = {
        name: [cell.strip("`") for cell in cells[1:]]
        for cells in table_rows(sections("endpoints")["Profiles"])
        for name in named(cells[0])
    }
    assert rows == {p.name: [p.api, p.type, "yes" if p.stream else "no"] for p in PROFILES.values()}
    assert set(WIRE_FORMATS) <= first_column(sections("endpoints")["Wire formats"])
    foreign = first_column(sections("configuration")["Models"])
    assert set(MODEL_KEYS) - {"query_per_second"} <= foreign


def test_extension_points_are_documented_as_they_are_declared() -> None:
    parts = sections("plugins")
    assert list(table_rows(parts["The kinds"]))[1:] == [
        [f"`{point.group}`", point.entry, point.used_by] for point in EXTENSION_POINTS
    ]
    assert set(WireFormat.__struct_fields__) == first_column(parts["What each kind must do"])


def known_keys(tmp_path: Path, table: str) -> set[str]:
    """What the configuration itself says it knows, in a table with a key it does not know."""
    path = tmp_path / ConfigFile.names[0]
    path.write_text(f"{table}\nno_such_setting_at_all = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_config(path)
    return set(str(refused.value).rpartition("Known: ")[2].split(", "))


@pytest.mark.parametrize(
    ("table", "section", "elsewhere"),
    [
        ("[run]", "[run]", set()),
        ("[models.x]", "Models", set()),
        ('[models.x]\ntype = "demo"', "Models", {"type"}),
        ("[benchmarks.x]", "Benchmarks", {"model"}),
    ],
)
def test_every_setting_is_documented(tmp_path: Path, table: str, section: str, elsewhere: set[str]) -> None:
    documented = first_column(sections("configuration")[section])
    documented |= settings_in("Generation" if section == "Models" else "The flags of run and check")
    assert sorted(known_keys(tmp_path, table) - documented - elsewhere) == []


def test_settings_that_do_not_stand_in_the_run_table_are_named_there(tmp_path: Path) -> None:
    elsewhere = {setting.name for setting in RUN_SETTINGS} - known_keys(tmp_path, "[run]")
    text = sections("configuration")["[run]"]
    told = named(text[text.index("`model_url`") :])
    assert elsewhere <= told <= elsewhere | {"[models.NAME]", "[benchmarks.NAME]"}


def test_every_column_of_the_samples_is_documented() -> None:
    documented = first_column(sections("results")["samples.parquet"])
    assert set(SampleView._fields) | {"score.<metric>"} == documented


def test_every_file_and_outcome_is_documented() -> None:
    assert set(RunFile) <= first_column(page("results"))
    assert {outcome.value for outcome in Outcome} == first_column(sections("results")["Outcomes"])
    kinds = {name for row in table_rows(sections("failures")["Kinds of failure"]) for name in named(row[1])}
    assert set(get_args(FailureKind)) - kinds == {"budget"}
    assert DemoSettings().faults.keys() <= first_column(page("rehearsing"))


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that the page on results shows."""
    folder = tmp_path_factory.mktemp("results")
    for words in (["init", "."], ["run", "my_bench.py", "--repeats", "3", "--temperature", "1", "--quiet"]):
        warm.run([sys.executable, "-m", "benchwright", *words], cwd=folder, check=True, capture_output=True)
    (found,) = (folder / ".benchwright" / "runs").iterdir()
    return found


def test_results_file_on_the_page_is_the_real_one(finished_run: Path) -> None:
    (shown,) = (block for block in blocks_of(DOCS / "results.md") if block.language == "yaml")
    assert yaml.safe_load(shown.text) == yaml.safe_load((finished_run / "results.yml").read_text())


def test_keys_of_manifest_and_run_config_are_documented(finished_run: Path) -> None:
    manifest = json.loads((finished_run / "manifest.json").read_text())
    documented = sections("results")["manifest.json"]
    assert set(manifest) <= first_column(documented)
    for name, value in manifest.items():
        if isinstance(value, dict) and name != "versions":
            assert set(value) <= named(documented), name
    config = yaml.safe_load((finished_run / "run_config.yml").read_text())
    assert set(config) <= named(sections("results")["run_config.yml"])


@pytest.mark.parametrize(
    ("words", "row", "inside"),
    [
        (["ls"], "ls", "evaluations"),
        (["ls", "--models"], "ls --models", "models"),
        (["ls", "--plugins"], "ls --plugins", "plugins"),
        (["check", "my_bench.py"], "check", "checks"),
        (["run", "my_bench.py"], "run", "results"),
        (["list"], "list", "runs"),
        (["show", "1"], "show RUN", None),
        (["show", "1", "0"], "show RUN SAMPLE", None),
        (["show", "99"], "any error", "error"),
    ],
)
def test_json_shapes_are_documented(
    finished_run: Path, words: list[str], row: str, inside: str | None
) -> None:
    done = warm.run(
        [sys.executable, "-m", "benchwright", *words, "--json"],
        cwd=finished_run.parents[2], check=False, capture_output=True, text=True,
    )  # fmt: skip
    printed = json.loads(done.stdout)
    rows = {
        key: cells[1]
        for cells in table_rows(sections("json")["By command"])
        for key in (named(cells[0]) or {cells[0]})
    }
    keys = set(printed)
    if inside is not None:
        value = printed[inside]
        keys |= set(value[0] if isinstance(value, list) and value else value)
    documented = named(rows[row])
    if "results.md#a-run-as-json" in rows[row]:
        documented |= named(sections("results")["A run as JSON"])
    assert sorted(keys - documented) == []


def test_summary_and_metric_fields_are_documented() -> None:
    from benchwright.core import MetricSummary, RunSummary

    text = named(sections("json")["The summary of a run"])
    assert {*RunSummary.__struct_fields__, *MetricSummary.__struct_fields__} <= text


def test_python_names_options_and_results_are_documented() -> None:
    text = page("python")
    assert set(benchwright.__all__) == first_column(text[: text.index("## run")])
    options = set(RunOptions.__struct_fields__) - settings_in("The flags of run and check")
    assert options <= named(sections("python")["Options"])
    properties = {name for name, value in vars(RunResult).items() if isinstance(value, property)}
    assert first_column(sections("python")["RunResult"]) == {*RunResult.__struct_fields__, *properties}


def test_import_table_is_the_one_that_is_enforced() -> None:
    enforced = runpy.run_path(str(ROOT / "tests" / "test_house.py"))["MAY_IMPORT"]
    rows = {
        cells[0].strip("`"): cells[2]
        for cells in table_rows(sections("internals")["Rooms"])
        if "`" in cells[0]
    }
    assert list(rows) == list(enforced)
    for room, allowed in rows.items():
        assert re.findall(r"[a-z]+", allowed) == enforced[room].split(), room
