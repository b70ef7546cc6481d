"""A package that was compiled here, installed from its wheel where nothing else is, run there, and removed without a trace."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from empty_machine import Machine

from benchwright.cli import main
from benchwright.demo import DemoSettings, demo_server

pytestmark = pytest.mark.slow

BENCH = """
from benchwright import benchmark, scorer, ScorerInput
from benchwright.scorers import multiple_choice_acc
from wording import plain

@benchmark(name="My Sums", dataset="data/sums.csv", prompt="How much is {a} + {b}?", target_field="sum")
@scorer
def sums(sample: ScorerInput):
    return {"right": plain(sample.target) in plain(sample.response)}

@benchmark(name="pick", dataset="data/pick.jsonl", prompt="{q}", target_field="gold", choices=[" 2", " 3"],
           endpoint_type="completions_logprob")
@scorer
def pick(sample: ScorerInput):
    return multiple_choice_acc(sample)
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"))


def write_quiz(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "quiz.py").write_text(BENCH)
    (folder / "wording.py").write_text("def plain(text): return str(text).strip()\n")
    (folder / "data" / "sums.csv").write_bytes("\ufeffa,b,sum\n1,2,3\n4,5,9\n".encode())
    rows = [{"q": "1+1=", "gold": " 2"}, {"q": "1+2=", "gold": " 3"}]
    (folder / "data" / "pick.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_wheel_runs_on_an_empty_machine_and_leaves_no_trace(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_quiz(tmp_path / "here")
    monkeypatch.chdir(source)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(["compile", "quiz.py", "--no-install", "--install-dir", str(tmp_path / "wheels")]) == 0
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(source)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    before = machine.files()
    (wheel,) = (tmp_path / "wheels").iterdir()
    machine.pip("install", str(wheel))
    listed = json.loads(machine.benchwright("ls", "--json", cwd=elsewhere).stdout)["evaluations"]
    own = [(one["name"], one["problem"]) for one in listed if one["source"] == "byob-quiz"]
    assert own == [("my_sums", None), ("pick", None)]
    with demo_server(DemoSettings(skill=1.0)) as server:
        words = ["--model_id", "demo", "--model_url", server.url]
        for name, kind in (("byob_quiz.my_sums", "chat"), ("pick", "completions_logprob")):
            machine.benchwright(
                "run_eval",
                "--eval_type",
                name,
                "--model_type",
                kind,
                "--output_dir",
                name,
                *words,
                cwd=elsewhere,
            )
    shown = machine.benchwright("run", "byob_my_sums.my_sums", "--demo-skill", "1", "--json", cwd=elsewhere)
    (result,) = json.loads(shown.stdout)["results"]
    assert result["summary"]["metrics"]["right"]["value"] == 1.0
    machine.pip("uninstall", "--yes", "byob-quiz")
    assert machine.files() == before


def test_item_22_compile_installs_one_package_and_nothing_that_runs_when_python_starts(
    machine: Machine, tmp_path: Path
) -> None:
    source = write_quiz(tmp_path / "here")
    before = machine.files()
    shown = machine.benchwright("compile", "quiz.py", cwd=source).stdout
    assert "remove it with: pip uninstall byob-quiz" in shown
    (site, dist_info), new = (machine.site.name, "dist-info"), machine.files() - before
    assert all(f"{site}/byob_quiz" in path for path in new)
    assert any(dist_info in path for path in new)
    assert machine.python("-c", "pass", cwd=tmp_path).stderr == ""
    (source / "quiz.py").write_text(BENCH.replace('name="pick"', 'name="choose"'))
    machine.benchwright("compile", "quiz.py", cwd=source)
    (listed,) = json.loads(machine.benchwright("compile", "--list", "--json", cwd=tmp_path).stdout)[
        "packages"
    ]
    assert listed["benchmarks"] == ["byob_quiz.my_sums", "byob_quiz.choose"]
    machine.pip("uninstall", "--yes", "byob-quiz")
    assert machine.files() == before


def test_a_wheel_in_a_folder_whose_name_pip_would_take_for_a_requirement(
    machine: Machine, tmp_path: Path
) -> None:
    source = write_quiz(tmp_path / "here; there [x] @#")
    before = machine.files()
    shown = machine.benchwright(
        "compile", "quiz.py", "--no-install", "--install-dir", "a;b", cwd=source
    ).stdout
    machine.pip(*shlex.split(shown.partition("install it with: ")[2].splitlines()[0])[1:])
    machine.pip("uninstall", "-y", "byob-quiz")
    machine.benchwright("compile", "quiz.py", "--install-dir", "c;d", cwd=source)
    listed = machine.benchwright("compile", "--list", cwd=tmp_path).stdout
    assert "byob_quiz.my_sums" in listed
    machine.pip("uninstall", "-y", "byob-quiz")
    assert machine.files() == before
