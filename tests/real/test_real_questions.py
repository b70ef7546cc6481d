"""A real model answers a file of forty questions; the numbers are reproduced from the exported samples by hand."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import llama_server
import pytest
import yaml

QUESTIONS = Path(__file__).with_name("forty_questions.csv")
BENCHWRIGHT = str(Path(sys.executable).with_name("benchwright"))


def command(folder: Path, *words: str) -> dict[str, object]:
    done = subprocess.run(
        [BENCHWRIGHT, *words, "--json"], cwd=folder, capture_output=True, text=True, timeout=3600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, object] = json.loads(done.stdout)
    return told


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The run; its server is gone when the tests look at it."""
    folder = tmp_path_factory.mktemp("real")
    with llama_server.serving() as url:
        told = command(
            folder, "run", str(QUESTIONS), "--model-url", url, "--model-id", "smollm2-135m", "--max-tokens", "24",
            "--parallelism", "2", "--stream", "--request-timeout", "3600",
        )  # fmt: skip
    return folder, told["results"][0]  # type: ignore[index]


def exported(folder: Path) -> list[dict[str, object]]:
    done = subprocess.run(
        [BENCHWRIGHT, "export", "last", "-o", "-"], cwd=folder, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_accuracy_is_reproduced_from_the_exported_samples(answered: tuple[Path, dict[str, object]]) -> None:
    folder, result = answered
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        gold = [row["answer"] for row in csv.DictReader(file)]
    samples = exported(folder)
    assert len(samples) == len(gold) == 40
    right = read = 0
    for sample, letter in zip(samples, gold, strict=True):
        scores, reply = sample["scores"], str(sample["prediction"])
        assert sample["gold"] == letter
        found = scores["extracted"]  # type: ignore[index]
        if found is None:
            continue
        read += 1
        right += found == letter
        start, end = map(int, scores["span"].split(":"))  # type: ignore[index]
        assert reply[start:end], (reply, scores)
        # By eye: the last "answer is B" means B, and without one what begins with "B)", whatever our rules are called.
        stated = re.findall(r"answer is:? \(?([A-D])\b", reply)
        opening = re.match(r"\s*([A-D])[).]", reply)
        plain = stated[-1] if stated else opening[1] if opening else found
        assert found == plain, (reply, scores)
    metrics = result["summary"]["metrics"]  # type: ignore[index]
    assert metrics["accuracy"]["value"] == pytest.approx(right / 40)
    assert metrics["extraction_rate"]["value"] == pytest.approx(read / 40)
    assert metrics["chance"]["value"] == pytest.approx(0.25)
    document = yaml.safe_load((Path(str(result["folder"])) / "results.yml").read_text(encoding="utf-8"))
    (task,) = document["results"]["tasks"].values()
    assert task["metrics"]["pass@1"]["scores"]["accuracy"]["value"] == pytest.approx(right / 40)


def test_streamed_replies_have_times_and_tokens(answered: tuple[Path, dict[str, object]]) -> None:
    folder, _ = answered
    for sample in exported(folder):
        assert 0 < sample["ttft_s"] <= sample["latency_s"]  # type: ignore[operator]
        assert sample["completion_tokens"] > 0  # type: ignore[operator]


def test_scoring_again_needs_no_server(answered: tuple[Path, dict[str, object]]) -> None:
    folder, result = answered
    again = command(folder, "rescore", str(result["run_id"]), "--mcq-fallback", "aisbench")["results"][0]  # type: ignore[index]
    assert again["requests_sent"] == 0
    first = result["summary"]["metrics"]["accuracy_strict"]["value"]  # type: ignore[index]
    assert again["summary"]["metrics"]["accuracy_strict"]["value"] == first
