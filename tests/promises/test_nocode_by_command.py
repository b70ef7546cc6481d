"""Evaluations without code, from the table to the verdict: what the command line promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import warm
from benchwright.demo import DemoSettings, demo_server
from waiting import PATIENCE_S

CONFIG = """\
[models.local]
base_url = "{url}/v1"
model = "demo"
requests_per_minute = 60000
system = "Be exact."

[benchmarks.sums]
type = "custom_nocode"
dataset = {{ name = "data/sums.csv" }}
prompt_template_file = "ask.j2"
model = "local"
max_workers = 2
metrics = ["f1", "confusion"]
style = {{ type = "multiple_choice", choices = {{ columns = ["right", "wrong"] }}, choice_labels = ["A", "B"], answer = {{ correct_choice_column = "right" }}, shuffle = {{ seed_column = "id" }} }}
"""
PROMPT = """\
What is {{ row.question }}?
{% for choice in choices %}
{{ choice.label }}) {{ choice.text }}
{%- endfor %}

Reply with the letter of the correct option only.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "data").mkdir()
    (tmp_path / "below").mkdir()
    rows = [f"r{k},{k} + {k + 3},{2 * k + 3},{2 * k + 5}" for k in range(8)]
    text = "\r\n".join(["id,question,right,wrong", *rows, ""])
    (tmp_path / "data" / "sums.csv").write_text("\ufeff" + text, encoding="utf-8", newline="")
    (tmp_path / "ask.j2").write_text(PROMPT, encoding="utf-8")
    with demo_server(DemoSettings(skill=1.0)) as server:
        (tmp_path / "quantiles.toml").write_text(
            CONFIG.format(url=server.url.removesuffix("/v1")), encoding="utf-8"
        )
        yield tmp_path


def command(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWRIGHT")}
    return warm.run(
        [sys.executable, "-m", "benchwright", *words],
        cwd=cwd, capture_output=True, text=True, env=environment, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def printed(cwd: Path, *words: str) -> Any:
    done = command(cwd, *words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_table_is_checked_run_and_shown_from_any_folder_below(folder: Path) -> None:
    below = folder / "below"
    assert "ready" in command(below, "check", "sums").stdout
    (result,) = printed(below, "run", "sums")["results"]
    summary = result["summary"]
    assert summary["metrics"]["accuracy"]["value"] == 1.0
    assert summary["derived"]["macro_f1"] == 1.0
    assert any("shuffled by id (sha256)" in note for note in summary["notes"])
    shown = command(below, "show", "last", "0").stdout
    assert "Be exact." in shown, "the model's system message was sent"


def test_a_run_that_was_stopped_goes_on_with_what_it_began(folder: Path) -> None:
    done = command(folder, "run", "sums", "--max-requests", "3", "--json")
    assert json.loads(done.stdout)["results"][0]["summary"]["partial"]
    (folder / "ask.j2").write_text("{{ row.question }}", encoding="utf-8")
    resumed = printed(folder, "resume", "last")
    summary = resumed["results"][0]["summary"] if "results" in resumed else resumed["summary"]
    assert (summary["evaluated"], summary["metrics"]["accuracy"]["value"]) == (8, 1.0)


def test_input_on_the_command_line(folder: Path) -> None:
    (result,) = printed(folder, "run", "sums", "--input", '{"limit": 2, "model": "random"}')["results"]
    assert (result["model"], result["summary"]["rows"]) == ("random", 2)
    assert any("random: answers at random" in note for note in result["summary"]["notes"])
    for given, part in [
        ('{"shuffle": 1}', "cannot be changed"),
        ("[1]", "is not a table"),
        ("{", "--input"),
    ]:
        refused = command(folder, "run", "sums", "--input", given)
        assert refused.returncode == 2
        assert part in refused.stderr


def test_built_in_evaluations_are_listed_and_their_data_can_be_ones_own(folder: Path) -> None:
    names = {entry["name"]: entry["kind"] for entry in printed(folder, "ls")["evaluations"]}
    assert names["sums"] == "config"
    assert {names[name] for name in ("pubmedqa", "simpleqa-verified", "financebench")} == {"builtin"}
    (folder / "facts.jsonl").write_text('{"question": "2 + 2?", "answer": "4"}\n', encoding="utf-8")
    given = json.dumps({"dataset": "facts.jsonl", "model": "local", "metric": "levenshtein"})
    (result,) = printed(folder, "run", "financebench", "--input", given)["results"]
    assert result["summary"]["headline"] == "similarity"


def test_the_same_seed_and_prompt_give_the_same_answers(folder: Path) -> None:
    model = json.dumps({"model": "random"})
    first, second = (
        printed(folder, "run", "sums", "--input", model, "--no-cache")["results"][0]["summary"]
        for _ in range(2)
    )
    assert first == second
