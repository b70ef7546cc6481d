"""Folders and files that have the name of an evaluation or a run: the known name is meant."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.core import Registry, normalise_name
from benchwright.demo import DemoSettings, demo_server

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": f"What is {k} + 1?", "target": str(k + 1)} for k in range(8)], prompt="{q}")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    Path("bench.py").write_text(BENCH)
    Path("benchwright.toml").write_text('[benchmarks.my_qa]\nfile = "bench.py"\n')
    return tmp_path


def again_and_again(*words: str) -> None:
    """The same command twice, then the run that it made, with folders and files of its names around."""
    assert main([*words]) == 0
    for name in ("last", "sums", "latest"):
        Path(name).mkdir(exist_ok=True)
    assert main([*words]) == 0
    for command in (["resume", "last"], ["rescore", "last"], ["show", "last"]):
        assert main(command) == 0, command


@pytest.mark.parametrize("name", ["bfclv2_ast", "my_qa", "byob_my_qa.my_qa", "bfcl.simple"])
def test_an_output_folder_with_the_name_of_the_evaluation_hides_nothing(name: str) -> None:
    with demo_server(DemoSettings()) as server:
        again_and_again(
            "run_eval", "--eval_type", name, "--model_id", "demo", "--model_type", "chat", "--model_url", server.url,
            "--output_dir", name,
        )  # fmt: skip


@pytest.mark.parametrize("target", ["my_qa", "bench", "bench:sums", "bfclv2_ast"])
def test_a_folder_with_the_name_of_a_target_hides_nothing(target: str) -> None:
    place = target.partition(":")[0]
    Path(place).mkdir()
    again_and_again("run", target, "--quiet", "--output-dir", place, "--overwrite")


def test_an_installed_benchmark_is_found_beside_a_folder_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchwright.benchmarks import load_benchmarks

    (spec,) = load_benchmarks("bench.py", cwd=Path.cwd())
    find: Any = lambda self, name: (spec,) if name == "installed" else None  # noqa: E731
    monkeypatch.setattr(Registry, "find", find)
    Path("installed").mkdir()
    assert load_benchmarks("installed", cwd=Path.cwd()) == [spec]


def test_files_with_the_name_of_a_run_are_no_baselines() -> None:
    assert main(["run", "bench.py", "--quiet"]) == 0
    assert main(["run", "bench.py", "--quiet", "--no-cache"]) == 0
    for name in ("last", "sums"):
        Path(name).write_text("something else")
    Path("policy.toml").write_text('[[regression]]\nmetric = "correct"\nbound = "upper"\n')
    assert main(["compare", "1", "last"]) == 0
    assert main(["compare", "1", "sums"]) == 0
    assert main(["gate", "1", "--policy", "policy.toml", "--baseline", "last"]) in (0, 3)


def test_a_folder_that_names_nothing_is_called_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results").mkdir()
    assert main(["run", "results"]) == 4
    assert "results is a folder" in capsys.readouterr().err


NAMES = {
    "Prüfung Größe.csv": "prüfung_größe",
    "Été – 2ème essai.csv": "été_2ème_essai",
    "Łódź_Żółć.csv": "łódź_żółć",
    "Вопросы №3.csv": "вопросы_3",
    "Ερωτήσεις.csv": "ερωτήσεις",
    "问题 (一).csv": "问题_一",
    "質問ーバツ.csv": "質問ーバツ",
    "질문.csv": "질문",
    "أسئلة ١٢.csv": "أسئلة_١٢",
    "שאלות.csv": "שאלות",
    "प्रश्न पत्र.csv": "प्रश्न_पत्र",
    "คำถาม.csv": "คำถาม",
    "Câu hỏi.csv": "câu_hỏi",
    "ԱԲԳ.csv": "աբգ",
    "კითხვები.csv": "კითხვები",
    "ጥያቄ.csv": "ጥያቄ",
    "😀😀.csv": "questions",
    "plain-Name_2.csv": "plain_name_2",
}
"""Names of files in many scripts, and those of their runs."""


@pytest.mark.parametrize(("file", "name"), NAMES.items())
def test_letters_of_any_script_stay_in_the_names_of_runs(file: str, name: str) -> None:
    decomposed = unicodedata.normalize("NFD", Path(file).stem)  # as some file systems give it
    for spelling in (Path(file).stem, decomposed, name):
        assert (normalise_name(spelling, any_script=True) or "questions") == name
    long = normalise_name(Path(file).stem * 30, any_script=True)
    assert len(f"0001-{long}".encode()) < 255


def test_the_folder_and_the_commands_have_the_letters_of_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    for number, (file, name) in enumerate(list(NAMES.items())[::5], 1):
        Path(file).write_text("question,A,B,answer\n1+1=,1,2,B\n", encoding="utf-8")
        assert main(["run", file, "--model", "demo", "--quiet"]) == 0
        assert Path(f".benchwright/runs/{number:04}-{name}/results.yml").is_file()
        assert main(["show", name]) == 0
        assert name in capsys.readouterr().out
