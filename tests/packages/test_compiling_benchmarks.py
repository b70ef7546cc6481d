"""`benchwright compile`: what goes into a package, what is refused and why, and what is printed."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import load_benchmarks
from benchwright.cli import main
from benchwright.core import BenchmarkError
from benchwright.datasets import _fetchers

QUIZ = """
from benchwright import benchmark, scorer, ScorerInput

@benchmark(name="{name}", dataset={dataset!r}, prompt="How much is {{a}} + {{b}}?", target_field="sum"{more})
@scorer
def check(sample: ScorerInput):
    return {{"right": sample.target in sample.response}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = list(sys.path)
    monkeypatch.setattr(sys, "path", path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def quiz(
    file: str = "quiz.py", name: str = "sums", dataset: str = "sums.csv", more: str = "", before: str = ""
) -> Path:
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before + QUIZ.format(name=name, dataset=dataset, more=more), encoding="utf-8")
    if "://" not in dataset:
        data = path.parent / dataset.partition("?")[0]
        data.parent.mkdir(parents=True, exist_ok=True)
        data.write_text("a,b,sum\n1,2,3\n4,5,9\n", encoding="utf-8")
    return path


def compiled(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """What `compile … --json` prints."""
    found = main(["compile", *words, "--json"])
    shown = capsys.readouterr().out
    assert found == code, shown
    return dict(json.loads(shown))


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 1) -> str:
    return str(compiled(capsys, *words, code=code)["error"]["message"])


def wheel_of(made: dict[str, Any]) -> zipfile.ZipFile:
    return zipfile.ZipFile(made["wheel"])


def names(made: dict[str, Any]) -> set[str]:
    with wheel_of(made) as wheel:
        return {name for name in wheel.namelist() if ".dist-info/" not in name}


def test_the_wheel_is_complete_and_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    quiz(more=', requirements=["rich>=10", "surely-absent>=2; python_version < \'3\'"]')
    made = compiled(capsys, "quiz.py", "--no-install")
    first = Path(made["wheel"]).read_bytes()
    Path("sums.csv").touch()
    again = compiled(capsys, "quiz.py", "--no-install", "--install-dir", "other")
    assert Path(again["wheel"]).read_bytes() == first
    with wheel_of(made) as wheel:
        info = next(name for name in wheel.namelist() if name.endswith("/RECORD")).rpartition("/")[0]
        listed = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(f"{info}/RECORD").decode()))}
        assert set(listed) == set(wheel.namelist())
        for name in set(listed) - {f"{info}/RECORD"}:
            digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
            assert listed[name] == [f"sha256={digest}", str(len(wheel.read(name)))]
        metadata = wheel.read(f"{info}/METADATA").decode()
        assert (
            wheel.read(f"{info}/entry_points.txt").decode()
            == "[benchwright.benchmarks]\nsums = byob_quiz:sums\n"
        )
    assert "Name: byob-quiz\n" in metadata
    assert "Requires-Dist: benchwright>=" in metadata
    assert "Requires-Dist: rich>=10\n" in metadata
    assert 'Requires-Dist: surely-absent>=2; python_version < "3"\n' in metadata
    assert not [name for name in listed if name.endswith(".pth") or not name.startswith("byob_quiz")]
    Path("sums.csv").write_text("a,b,sum\n1,1,2\n")
    assert compiled(capsys, "quiz.py", "--no-install")["version"] != made["version"]


def test_imports_templates_and_included_files_come_along(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tools").mkdir()
    Path("tools/__init__.py").write_text("from tools.deep import clean\n")
    Path("tools/deep.py").write_text("def clean(x): return x\n")
    Path("tools/unused.py").write_text("1 / 0\n")
    Path("sys_prompt.txt").write_text("Be brief.")
    Path("needs.txt").write_text("rich>=10\n")
    Path("words.txt").write_text("one two\n")
    before = "from pathlib import Path\nfrom tools import clean\n"
    before += "WORDS = (Path(__file__).parent / 'words.txt').read_text()\n"
    quiz(more=', system_prompt="sys_prompt.txt", requirements="needs.txt"', before=before)
    message = refused(capsys, "quiz.py", "--no-install")
    assert "works in its folder, and not in its package" in message
    assert "words.txt" in message
    assert "--include PATH" in message
    assert not Path("dist").exists()
    for name in (".git/config", "env/pyvenv.cfg", "old.whl"):
        Path("words", name).parent.mkdir(parents=True, exist_ok=True)
        Path("words", name).write_text("")
    made = compiled(capsys, "quiz.py", "--no-install", "--include", "words.txt", "--include", "words", code=4)
    assert "--include words: there is no file" in made["error"]["message"]
    made = compiled(capsys, "quiz.py", "--no-install", "--include", "words.txt")
    inside = {name.removeprefix("byob_quiz/") for name in names(made)}
    expected = {
        "quiz.py",
        "sums.csv",
        "tools/__init__.py",
        "tools/deep.py",
        "sys_prompt.txt",
        "needs.txt",
        "words.txt",
    }
    assert inside == {f"content/{name}" for name in expected} | {"__init__.py", "package.json"}


def test_files_outside_of_the_folder_are_found_in_the_package(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz("code/quiz.py", dataset="../data/sums.csv?encoding=utf-8")
    Path("prompt.txt").write_text("{a} and {b}?")
    absolute = str(folder / "data" / "sums.csv")
    more = QUIZ.format(name="again", dataset=absolute, more=', system_prompt="../prompt.txt"')
    with Path("code/quiz.py").open("a") as file:
        file.write(more.replace("def check", "def check_again"))
    made = compiled(capsys, "code/quiz.py", "--no-install")
    with wheel_of(made) as wheel:
        wheel.extractall("installed")
    Path("data").rename("gone")
    Path("code").rename("code_gone")
    Path("prompt.txt").unlink()
    monkeypatch.syspath_prepend(str(folder / "installed"))
    (spec,) = load_benchmarks("sums", cwd=folder)
    assert (spec.base_dir / str(spec.dataset).partition("?")[0]).read_text().startswith("a,b,sum")
    assert str(spec.dataset).endswith("?encoding=utf-8")
    (spec,) = load_benchmarks("byob_quiz.again", cwd=folder)
    assert (spec.base_dir / str(spec.system_prompt)).read_text() == "{a} and {b}?"
    assert not Path(str(spec.dataset)).is_absolute()


def test_large_data_can_stay_where_it_is(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    quiz()
    message = refused(capsys, "quiz.py", "--no-install", "--max-data", "0.00001")
    assert "0.0 MB of data and code" in message
    assert "--reference-data" in message
    made = compiled(capsys, "quiz.py", "--no-install", "--reference-data")
    assert "byob_quiz/content/sums.csv" not in names(made)
    with wheel_of(made) as wheel:
        (packaged,) = json.loads(wheel.read("byob_quiz/package.json"))["benchmarks"]
    assert packaged["replaced"] == {"dataset": str(folder / "sums.csv")}


def test_remote_data_stays_a_reference(capsys: pytest.CaptureFixture[str]) -> None:
    quiz(dataset="hf://org/sums?split=test")
    assert main(["compile", "quiz.py", "--no-install"]) == 0
    shown = capsys.readouterr()
    assert "data of sums is fetched when it runs, and was not checked" in shown.err
    (made,) = json.loads(main_json(capsys, "compile", "--list", "--install-dir", "dist"))["packages"]
    assert (made["benchmarks"], made["installed"]) == (["byob_quiz.sums"], False)


def main_json(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words, "--json"]) == 0
    return capsys.readouterr().out


def test_item_23_dry_run_counts_records_and_checks_prompts(capsys: pytest.CaptureFixture[str]) -> None:
    """Headers and line breaks in cells are no records; an unknown field of the prompt fails the dry run."""
    quiz(name="My Sums!", more=', requirements=["rich>=10"]')
    Path("sums.csv").write_bytes(b'\xef\xbb\xbfa,b,sum\n"1\n",2,3\n4,5,9\n7,"8\n\n",15\n')
    assert main(["compile", "quiz.py", "--dry-run"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for fact in ("name My Sums! normalised my_sums", "dataset sums.csv", "records 3", "requires rich>=10"):
        assert fact in shown
    Path("quiz.py").write_text(Path("quiz.py").read_text().replace("{b}", "{bee}"))
    message = refused(capsys, "quiz.py", "--dry-run")
    assert message.startswith("VALIDATION FAILED: my_sums: ")
    assert "bee" in message
    assert refused(capsys, "quiz.py") == message, "what the dry run refuses is not installed"
    found = compiled(capsys, "quiz.py", "--dry-run", code=1)
    assert (found["benchmarks"][0]["records"], found["checks"][0]["bad_total"]) == (3, 3)
    assert sorted(path.name for path in Path().iterdir()) == ["quiz.py", "sums.csv"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def broken(:\n", "quiz.py:1: invalid syntax"),
        ("import surely_not_here\n", "quiz.py:1: ModuleNotFoundError: No module named 'surely_not_here'; install it"),
        ("x = 1\n", "quiz.py defines no benchmark; decorate a scorer with @benchmark"),
        ("raise SystemExit(3)\n", "quiz.py:1: SystemExit: 3; guard what ends the program"),
        (QUIZ.format(name="sums", dataset="none.csv", more=""), "dataset of sums: Dataset file not found"),
        (QUIZ.format(name="sums", dataset="sums.csv", more=', requirements=["-r x.txt"]'), "'-r x.txt' cannot be declared"),
        (QUIZ.format(name="pubmedqa", dataset="sums.csv", more=""), "pubmedqa is the name of a built-in evaluation"),
    ],
)  # fmt: skip
def test_modules_that_cannot_be_packaged(
    capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    quiz()
    Path("quiz.py").write_text(text)
    assert expected in refused(capsys, "quiz.py")
    assert expected in refused(capsys, "quiz.py", "--dry-run")


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    quiz()
    assert "name the file of benchmarks" in refused(capsys, code=2)
    assert "there is no file quizz.py. Did you mean 'quiz.py'?" in refused(capsys, "quizz.py", code=4)
    assert "add --containerize" in refused(capsys, "quiz.py", "--tag", "x", code=2)
    assert "leave out :sums" in refused(capsys, "quiz.py:sums")
    assert "Python cannot import a package of this name" in refused(
        capsys, "quiz.py", "--name", "json", code=2
    )
    assert "there is no file" in refused(capsys, "quiz.py", "--include", "none.txt", code=4)


@pytest.mark.parametrize(
    ("file", "package"),
    [("my-bench 2.py", "byob-my-bench-2"), ("数学.py", "byob-sums"), ("json.py", "byob-json"), (f"{'a' * 49}_b.py", f"byob-{'a' * 49}")],
)  # fmt: skip
def test_awkward_names(capsys: pytest.CaptureFixture[str], file: str, package: str) -> None:
    quiz(file, dataset="dätä, 1.csv")
    made = compiled(capsys, file, "--no-install")
    assert made["package"] == package
    assert f"{package.replace('-', '_')}/content/dätä, 1.csv" in names(made)


def test_commands_name_the_right_model_type(capsys: pytest.CaptureFixture[str]) -> None:
    quiz(more=', choices=[" 3", " 9"], endpoint_type="completions_logprob"')
    assert main(["compile", "quiz.py", "--no-install", "--allow-failing-gold"]) == 0
    shown = capsys.readouterr().out
    assert (
        "run_eval --eval_type sums --model_id MODEL --model_url URL --model_type completions_logprob" in shown
    )
    assert "pip install dist/byob_quiz-" in shown


def test_unmet_requirements(capsys: pytest.CaptureFixture[str]) -> None:
    quiz(more=', requirements=["surely-not-installed>=2", "pytest>=1000"]')
    message = refused(capsys, "quiz.py", "--no-install", "--check-requirements")
    assert "required packages are not installed: surely-not-installed>=2" in message
    assert "pytest>=1000 (installed: " in message
    assert not Path("dist").exists()
    assert main(["compile", "quiz.py", "--no-install"]) == 0
    assert "pytest>=1000 (installed: " in capsys.readouterr().err


def test_modules_in_packages(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    quiz("suite/bench.py", before="from .parts import NAME\n")
    Path("suite/__init__.py").write_text("")
    Path("suite/parts.py").write_text("NAME = 'x'\n")
    made = compiled(capsys, "suite.bench", "--no-install")
    assert {"byob_bench/content/suite/parts.py", "byob_bench/content/suite/sums.csv"} <= names(made)


def test_item_27_the_type_of_model_is_checked_and_short_names_are_taken(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz()
    with wheel_of(compiled(capsys, "quiz.py", "--no-install")) as wheel:
        wheel.extractall("installed")
    Path("quiz.py").unlink()
    monkeypatch.syspath_prepend(str(folder / "installed"))
    words = ["--model_id", "m", "--model_url", "http://127.0.0.1:9/v1", "--output_dir", "out", "--dry_run"]
    for name in ("sums", "byob_quiz.sums", "byob-quiz.sums", "byob_sums.sums"):
        assert main(["run_eval", "--eval_type", name, "--model_type", "chat", *words]) == 0
        assert "task: sums" in capsys.readouterr().out
    assert main(["run_eval", "--eval_type", "byob_quiz.sums", "--model_type", "completions", *words]) == 2
    assert "does not support the model type 'completions'" in capsys.readouterr().err
    assert main(["run_eval", "--eval_type", "byob_quiz.sum", "--model_type", "chat", *words]) == 4
    assert "byob_quiz has no benchmark 'sum'. Did you mean 'sums'?" in capsys.readouterr().err


def test_a_name_that_two_packages_offer_needs_the_package(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        quiz(f"{name}/quiz.py", more=f", extra={{'from': '{name}'}}")
        made = compiled(capsys, f"{name}/quiz.py", "--no-install", "--name", name)
        with wheel_of(made) as wheel:
            wheel.extractall("installed")
    monkeypatch.syspath_prepend(str(folder / "installed"))
    assert [load_benchmarks(f"{name}.sums", cwd=folder)[0].config["from"] for name in ("two", "one")] == [
        "two",
        "one",
    ]
    with pytest.raises(BenchmarkError, match="offered twice"):
        load_benchmarks("sums", cwd=folder)
    quiz()
    assert "one already offers a benchmark sums" in refused(capsys, "quiz.py")
    quiz(name="other")
    assert "one is installed with other benchmarks (sums)" in refused(capsys, "quiz.py", "--name", "one")
    for flag in ("--force", "--no-install"):
        assert "Python already has a package rich" in refused(capsys, "quiz.py", "--name", "rich", flag)


def test_datasets_of_registered_fetchers_stay_references(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_fetchers, "_fetchers", list(_fetchers._fetchers))
    before = "from benchwright import register_fetcher\nfrom pathlib import Path\n"
    before += "class Tables:\n    def supports(self, uri): return uri.startswith('table:')\n"
    before += "    def fetch(self, uri, cache_dir=None): return Path(__file__).parent / 'rows.csv'\n"
    quiz(dataset="table:sums", before=f"{before}register_fetcher(Tables())\n")
    Path("table:sums").rename("rows.csv")
    assert "rows.csv" in refused(capsys, "quiz.py", "--no-install")
    made = compiled(capsys, "quiz.py", "--no-install", "--include", "rows.csv")
    assert "byob_quiz/content/rows.csv" in names(made)
