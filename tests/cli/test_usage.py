"""Wrong words get the cure and exit code 2; right ones mean what they say."""

from __future__ import annotations

import doctest
import json
import re
import sys
from argparse import Namespace

import pytest

from benchwright import __version__
from benchwright.cli import _main, main
from benchwright.cli._commands import COMMANDS
from benchwright.cli._flags import run_options
from benchwright.cli._main import normalise
from benchwright.cli._parser import Parser
from benchwright.cli._run import configure
from benchwright.config import RUN_SETTINGS, RunOptions
from benchwright.core import _errors, worst_exit_code


def parsed(*words: str) -> Namespace:
    parser = Parser("run", "run TARGET", "evaluate")
    configure(parser)
    arguments = parser.parse(normalise(words))
    assert isinstance(arguments, Namespace)
    return arguments


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    shown = capsys.readouterr().out
    for command in COMMANDS.values():
        assert f"  {command.usage} " in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: benchwright {name}" in shown
    assert f"example:\n  benchwright {name}" in shown
    assert "--json" in shown
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("name", ["run", "check"])
def test_help_shows_the_frequent_flags_and_help_all_every_flag(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    short = capsys.readouterr().out
    assert main([name, "--help-all"]) == 0
    full = capsys.readouterr().out
    options, _, appendix = full.partition("\naliases:\n")
    options = options.partition("\nexample:\n")[0]
    for setting in RUN_SETTINGS:
        first, *aliases = setting.flags
        listed = re.compile(rf"(?m)^  {first}[ ,]")
        assert bool(listed.search(short)) == setting.frequent, first
        assert listed.search(full), first
        for alias in aliases:
            assert not re.search(rf"(?m)^  .*{alias}(?![\w-])", options), alias
            assert re.search(rf"(?m)^  {first} .*{alias}(?![\w-])", appendix), alias
    assert f"more options: benchwright {name} --help-all" in short
    assert 10 <= sum(setting.frequent for setting in RUN_SETTINGS) <= 14


def test_help_all_of_commands_without_more_options_is_their_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--help-all"]) == 0
    every = capsys.readouterr().out
    assert main(["list", "--help"]) == 0
    assert capsys.readouterr().out == every


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{__version__}\n"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["rnu", "x.py"], ["unknown command 'rnu'", "Did you mean 'run'?"]),
        ([__file__, "--dry-run"], ["unknown command", "It is a file", "benchwright compile"]),
        (["--limit", "3"], ["--limit belongs to a command", "benchwright run --limit"]),
        (["run"], ["nothing to evaluate", "benchwright run test.csv", "--custom-dataset-path FILE"]),
        (["run", "a.py", "--limt", "3"], ["unknown option --limt", "'--limit'", "benchwright run --help"]),
        (["run", "a.py", "--max_tokns=3"], ["unknown option --max-tokns", "'--max-tokens'"]),
        (["run", "a.py", "b.py"], ["unexpected argument 'b.py'"]),
        (
            ["run", "a.py", "--limit", "0"],
            ["--limit", "0 is too small; expected a whole number of 1 or more"],
        ),
        (["run", "a.py", "--limit", "-1"], ["-1 is too small"]),
        (["run", "a.py", "--limit", "ten"], ["'ten' is not a whole number"]),
        (["run", "a.py", "--limit"], ["--limit", "expected one argument"]),
        (["run", "a.py", "--repeats", "1.5"], ["'1.5' is not a whole number"]),
        (["run", "a.py", "--parallelism", "0"], ["--parallelism", "too small"]),
        (["run", "a.py", "--top-p", "2"], ["2 is too large; expected a number from 0 to 1"]),
        (["run", "a.py", "--temperature", "hot"], ["'hot' is not a number"]),
        (["run", "a.py", "--failure-threshold", "5"], ["5 is too large"]),
        (["run", "a.py", "--model-type", "caht"], ["'caht' is not known", "Did you mean 'chat'?"]),
        (["run", "a.py", "--extra-body", "[1]"], ["is not a table"]),
        (["run", "a.py", "--lim", "3"], ["unknown option --lim", "'--limit'"]),
        (["list", "--limit", "0"], ["0 is too small"]),
        (["simulate", "--port", "99999"], ["99999 is too large"]),
        (["simulate", "--skill", "2"], ["2 is too large"]),
        (["simulate", "--faults", "htlm"], ["unknown fault kind 'htlm'", "Did you mean 'html'?"]),
    ],
)
def test_wrong_words_are_refused_with_the_cure(
    words: list[str], parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    for part in parts:
        assert part in shown.err


def test_errors_are_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "a.py", "--limit", "0", "--json"]) == 2
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["exit_code"] == 2
    assert report["error"]["type"] == "UsageError"
    assert "0 is too small" in report["error"]["message"]
    assert shown.err == ""


def test_every_run_option_has_its_flag_and_its_place_in_the_file() -> None:
    asked_by_mode = {"infer_only"}  # --mode infer
    assert sorted({setting.name for setting in RUN_SETTINGS} | asked_by_mode) == sorted(
        RunOptions.__struct_fields__
    )


def test_sampling_settings_can_be_left_out_by_flag(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("temperature", "top_p", "max_tokens", "seed")
    options = run_options(parsed("x.py", *(f"--{name}=none" for name in names), "--stop", "none"))
    assert [getattr(options, name) for name in names] == ["none"] * 4
    assert options.stop == ("none",)
    assert main(["run", "a.py", "--temperature", "nothing"]) == 2
    assert "or none to leave it out" in capsys.readouterr().err


def test_dashes_and_underscores_are_alike_in_names_but_not_in_values() -> None:
    words = ["my_bench.py", "--max_new_tokens=5", "--model_id", "my_model", "--stop=--a_b", "--no_cache"]
    options = run_options(parsed(*words))
    assert (options.max_tokens, options.model_id, options.stop, options.cache) == (
        5,
        "my_model",
        ("--a_b",),
        False,
    )
    assert normalise(["run", "--", "--a_b"]) == ["run", "--", "--a_b"]


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("--limit-samples", "limit"),
        ("--n-repeats", "repeats"),
        ("--concurrency", "parallelism"),
        ("--max-new-tokens", "max_tokens"),
    ],
)
def test_aliases_of_a_flag_mean_the_same(flag: str, name: str) -> None:
    assert getattr(run_options(parsed("x.py", flag, "7")), name) == 7


def test_flags_become_options() -> None:
    words = [
        "--temperature",
        "0.5",
        "x.py",
        "--stop",
        "a",
        "--stop",
        "b",
        "--stream",
        "--extra-body",
        '{"k": [1]}',
    ]
    arguments = parsed(*words, "--workspace", "w", "--seed", "-3")
    assert arguments.target == "x.py"
    options = run_options(arguments)
    assert (options.temperature, options.stop, options.stream) == (0.5, ("a", "b"), True)
    assert options.extra_body == {"k": [1]}
    assert str(options.workspace) == "w"
    assert options.seed == -3
    assert options.limit is None, "what is not typed stays open for the configuration file"


@pytest.mark.parametrize(
    ("codes", "expected"), [([0, 3], 3), ([3, 1], 1), ([1, 130], 130), ([0, 0], 0), ([], 0)]
)
def test_the_worst_of_several_results_decides(codes: list[int], expected: int) -> None:
    assert worst_exit_code(codes) == expected


def test_an_unexpected_error_is_one_line_and_a_hint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(words: object, output: object) -> int:
        raise RuntimeError("the roof fell in")

    monkeypatch.setattr(_main, "_execute", break_down)
    monkeypatch.delenv("BENCHWRIGHT_DEBUG", raising=False)
    assert main(["ls"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error: RuntimeError: the roof fell in\n")
    assert "BENCHWRIGHT_DEBUG=1" in shown
    assert "Traceback" not in shown
    monkeypatch.setenv("BENCHWRIGHT_DEBUG", "1")
    assert main(["ls"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(words: object, output: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(_main, "_execute", interrupted)
    assert main(["ls"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"


@pytest.mark.parametrize("module", [_main, _errors])
def test_examples_in_the_documentation_are_true(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_serving_without_its_packages_says_how_to_get_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "starlette"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("benchwright.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert main(["serve"]) == 2
    assert "pip install 'benchwright[server]'" in capsys.readouterr().err
