"""What people type from the habit of other tools: one error, which names the cure and the next command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright import UsageError, run_suite
from benchwright.cli import main
from benchwright.cli._commands import COMMANDS
from benchwright.cli._habits import _COMMANDS, _KEYS, _SAME, meant_option
from benchwright.core import ConfigError

SECRET = "sk-1234567890abcdef"
CASES = [
    (["export", "2", "quiz.xlsx"], "benchwright export 2 -o quiz.xlsx"),
    (["export", "out.csv", "last"], "benchwright export last -o out.csv"),
    (["run", "q.csv", "--filter", "topic == 'medium'"], "Write --filter topic=medium"),
    (["run", "q.csv", "--filter", 'topic=="two words"'], "Write --filter 'topic=two words'"),
    (["run", "q.csv", "--filters", "topic = medium"], "Write --filter topic=medium"),
    (["run", "q.csv", "--filter", "topic: medium"], "Write --filter topic=medium"),
    (["run", "q.csv", "--filter", "topic is medium"], "Write --filter topic=medium"),
    (
        ["run", "q.csv", "--filter", "level >= 3"],
        "filters only compare for equality, as in --filter level=VALUE",
    ),
    (
        ["run", "q.csv", "--filter", "topic != 'x'"],
        "filters only compare for equality, as in --filter topic=VALUE",
    ),
    (["run", "q.csv", "--judge-template", "judge.txt"], "write judge_template in a table [benchmarks.NAME]"),
    (["rescore", "1", "--judge-prompt", "judge.txt"], "write judge_template in a table [benchmarks.NAME]"),
    (["run", "q.csv", "--criteria", "be strict"], "write criteria in a table [benchmarks.NAME]"),
    (
        ["run", "q.csv", "--qa-metrics", "judge", "--judge", '{"template": "x"}'],
        "write judge_template in a table [benchmarks.NAME]",
    ),
    (
        ["run", "q.csv", "--qa-metrics", "judge", "--judge", '{"score_mapping": {}}'],
        "judge_score(sample, score_mapping=…)",
    ),
    (["run", "a.csv", "b.csv"], "--datasets a.csv b.csv"),
    (["gate", "1", "2", "--policy", "p.toml"], "benchwright gate 1 --baseline 2"),
    (["show", "1", "2", "3"], "a run and at most one of its samples"),
    (["list", "5"], "benchwright show 5"),
    (["resume", "1", "2"], "benchwright resume 2"),
    (["run", "q.csv", "-n", "5"], "--limit"),
    (["run", "q.csv", "-n5"], "--limit"),
    (["run", "q.csv", "--n", "5"], "--limit"),
    (["run", "q.csv", "--num_samples=5"], "--limit"),
    (["perf", "q.csv", "-n", "5"], "--requests"),
    (["run", "q.csv", "-j", "5"], "--parallelism"),
    (["compare", "1", "2", "--html", "x.html"], "It is called --output here"),
    (["run", "q.csv", "-o", "out"], "--output-dir DIR"),
    (["run", "q.csv", "-v"], "--debug"),
    (["-v"], "benchwright --version"),
    (["--verbose"], "benchwright --version"),
    (["-n", "5"], "benchwright run TARGET --limit 5"),
    (["run", "q.csv", "--api-key", SECRET], "--api-key-name MY_KEY"),
    (["run", "--api_key=" + SECRET, "q.csv"], "--api-key-name MY_KEY"),
    (["perf", "q.csv", "--token", SECRET], "--api-key-name MY_KEY"),
    (["--api-key=" + SECRET], "--api-key-name MY_KEY"),
    (["run", "q.csv", "--model", "gpt-4o"], "--model openai:gpt-4o"),
    (["run", "q.csv", "--model", "openai/gpt-4o-mini"], "--model openai:gpt-4o-mini"),
    (["run", "q.csv", "--model", "opnai:gpt-4o"], "--model openai:gpt-4o"),
    (["run", "q.csv", "--model", "anthropc:claude-3"], "--model anthropic:claude-3"),
    (["run", "q.csv", "--model", "claude-sonnet-4"], "--model anthropic:claude-sonnet-4"),
    (["run", "q.csv", "--model", "gemini-2.0-flash"], "--model gemini:gemini-2.0-flash"),
    (["run", "q.csv", "--model", "llama"], "openai, anthropic, gemini"),
    (["run", "q.csv", "--qa-metrics", "exact_match"], "--evaluator exact_match"),
    (["run", "q.csv", "--qa-metrics", "gsm8k_answer"], "--evaluator gsm8k_answer"),
    (["run", "task.yaml"], "docs/moving.md"),
    (["run", "group.yaml"], "docs/moving.md"),
    (["gate", "1", "--policy", "none.toml"], "[[threshold]]"),
    (["eval", "q.csv"], "Type: benchwright run TARGET."),
    (["results"], "Type: benchwright show RUN."),
    (["delete", "1"], "Type: benchwright rm RUN."),
    (["ci", "q.csv"], "benchwright gate last --policy FILE (docs/ci.md)"),
    (["ls", "runs"], "benchwright list"),
    (["compare", "1"], "the following arguments are required: B\n"),
    (["run", "."], "name one of its files: group.yaml, q.csv, task.yaml."),
    (["run", "empty"], "name a file; none in it can be run."),
    (["run", "q.csv", "--prompt", "x"], "It is called --template here"),
    (["run", "q.csv", "--target-field", "x"], "It is called --output-column here"),
    (["run", "q.csv", "--response-field", "x"], "@benchmark(…, response_field=…), see docs/benchmarks.md"),
    (["run", "q.csv", "--tools-field", "x"], "@benchmark(…, tools_field=…)"),
    (["run", "q.csv", "--judge", "gpt-4o"], "--judge-model NAME, or --judge-url URL --judge-id ID"),
    (["run", "q.csv", "--model-url", "http://localhost:9/v1", "--model", "x"], "--model-id x"),
]


@pytest.mark.parametrize(("words", "cure"), CASES, ids=[" ".join(words) for words, _ in CASES])
def test_the_cure_is_named_in_one_error(
    words: list[str],
    cure: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text("question,answer\n1+1?,2\n")
    Path("task.yaml").write_text("task: t\ndataset_path: json\ndoc_to_text: '{{question}}'\n")
    Path("empty").mkdir()
    Path("group.yaml").write_text("group: g\ntask: [a, b]\n")
    assert main(words) in (2, 4)
    said = capsys.readouterr()
    assert said.err.count("error:") == 1
    assert cure in said.err
    assert SECRET not in said.out + said.err
    assert main([*words, "--json"]) in (2, 4)
    told = json.loads(capsys.readouterr().out)["error"]["message"]
    assert cure in told
    assert SECRET not in told


def test_no_habit_stands_for_two_things_and_every_flag_exists() -> None:
    theirs = [name for names in _SAME for name in names] + list(_KEYS)
    assert len(theirs) == len(set(theirs))
    words = [name for names in _COMMANDS for name in names]
    assert len(words) == len({*words, *COMMANDS}) - len(COMMANDS), "a command of ours needs no habit"
    assert {typed.split()[0] for typed in _COMMANDS.values()} <= {*COMMANDS, "--version"}
    for command in COMMANDS:
        assert meant_option("--nothing", f"benchwright {command}", ["--limit"]) is None


@pytest.mark.parametrize("given", [{}, {"models": ["demo"], "datasets": ["q.csv"]}, ["q.csv"], 3, None])
def test_a_suite_that_is_no_file_names_the_way(given: object) -> None:
    with pytest.raises((UsageError, ConfigError), match=r'run_suite\("suite.json"\)'):
        run_suite(given)  # type: ignore[arg-type]
