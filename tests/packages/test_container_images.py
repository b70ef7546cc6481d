"""`compile --containerize`: a complete build folder, and docker called with the right words where it answers."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from test_compiling_benchmarks import quiz

from benchwright.cli import main

DOCKER = """#!{python}
import json, sys
if sys.argv[1] == "version" and not {answers}:
    sys.exit("Cannot connect to the Docker daemon. Is it running?")
with open("docker.jsonl", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    quiz()
    return tmp_path


def install_docker(monkeypatch: pytest.MonkeyPatch, *, answers: bool) -> None:
    """No daemon runs where tests run; the program here records how it is called."""
    place = Path("bin").resolve()
    place.mkdir()
    program = place / "docker"
    program.write_text(DOCKER.format(python=sys.executable, answers=answers))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(place))


def calls() -> list[list[str]]:
    return [json.loads(line) for line in Path("docker.jsonl").read_text().splitlines()][1:]


def compiled(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["compile", "quiz.py", "--containerize", *words, "--json"]) == code
    return dict(json.loads(capsys.readouterr().out))


def test_the_build_folder_is_complete(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    made = compiled(capsys)
    assert (made["built"], made["problem"]) == (False, "docker is not installed")
    image = Path(made["folder"])
    assert image == Path("dist/byob_quiz-image")
    assert (image / "code/quiz.py").read_bytes() == Path("quiz.py").read_bytes()
    assert (image / "data/sums.csv").read_bytes() == Path("sums.csv").read_bytes()
    assert json.loads((image / "metadata/package.json").read_text())["package"] == "byob_quiz"
    recipe = (image / "Containerfile").read_text()
    assert "FROM python:3.12-slim\n" in recipe
    assert "RUN benchwright check sums --allow-failing-gold --quiet\n" in recipe
    for line in recipe.splitlines():
        if line.startswith("COPY "):
            assert any((image / line.split()[1]).iterdir()), line
    (wheel,) = (image / "packages/benchmarks").iterdir()
    with zipfile.ZipFile(wheel) as file:
        (packaged,) = json.loads(file.read("byob_quiz/package.json"))["benchmarks"]
        assert packaged["replaced"] == {"dataset": "/opt/byob/data/sums.csv"}
        assert "byob_quiz/content/sums.csv" not in file.namelist(), "the image holds its data once"
    (own,) = (image / "packages/benchwright").iterdir()
    with zipfile.ZipFile(own) as file:
        assert {"benchwright/cli/_main.py", "benchwright/cli/__init__.py"} <= set(file.namelist())
    assert compiled(capsys)["folder"] == str(image), "a second call writes it again"


def test_docker_builds_tags_and_pushes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install_docker(monkeypatch, answers=True)
    made = compiled(
        capsys, "--tag", "quiz:2", "--platform", "linux/arm64", "--base-image", "local/python:3.11", "--push", "host:5000/quiz"
    )  # fmt: skip
    image = made["folder"]
    recipe = f"{image}/Containerfile"
    assert calls() == [
        ["build", "--platform", "linux/arm64", "-f", recipe, "-t", "quiz:2-linux-arm64", image],
        ["tag", "quiz:2-linux-arm64", "host:5000/quiz:latest-linux-arm64"],
        ["push", "host:5000/quiz:latest-linux-arm64"],
    ]
    assert (made["built"], made["pushed"]) == (True, "host:5000/quiz:latest-linux-arm64")
    assert "FROM local/python:3.11\n" in Path(recipe).read_text()


def test_remote_data_is_fetched_with_a_token_that_stays_out_of_the_image(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install_docker(monkeypatch, answers=True)
    monkeypatch.setenv("HF_TOKEN", "hf_surelysecret")
    quiz(dataset="hf://org/sums?split=test")
    image = Path(compiled(capsys)["folder"])
    assert calls()[0][1:3] == ["--secret", "id=hf_token,env=HF_TOKEN"]
    recipe = (image / "Containerfile").read_text()
    mount = "--mount=type=secret,id=hf_token HF_TOKEN_PATH=/run/secrets/hf_token"
    assert f"RUN {mount} benchwright check sums" in recipe
    assert not [path for path in image.rglob("*") if path.is_file() and b"surelysecret" in path.read_bytes()]


def test_what_cannot_be_pushed_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install_docker(monkeypatch, answers=False)
    message = compiled(capsys, "--push", "host/quiz", code=1)["error"]["message"]
    assert "docker does not answer: Cannot connect to the Docker daemon; host/quiz was not pushed." in message
    assert main(["compile", "quiz.py", "--containerize"]) == 0
    assert "Cannot connect to the Docker daemon. Build it with: docker" in capsys.readouterr().out
    assert (Path("dist/byob_quiz-image") / "Containerfile").is_file()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--tag", "a b"], "expected the name of an image"),
        (["--base-image", "x\nRUN true"], "expected the name of an image"),
        (["--platform", "linux/amd64,linux/arm64"], "expected one platform"),
        (["--reference-data"], "an image contains its data"),
    ],
)
def test_wrong_names_of_images(capsys: pytest.CaptureFixture[str], words: list[str], expected: str) -> None:
    assert expected in compiled(capsys, *words, code=2)["error"]["message"]
    assert not Path("dist").exists()
