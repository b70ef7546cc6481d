"""Ranking by log-likelihood against a real model: the values of an independent oracle, or a refusal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import local_model
import pyarrow.parquet as pq
import pytest

import benchwright
from benchwright.endpoints import EchoRefusedError

EXAMPLE = Path(__file__).parents[2] / "examples" / "choices"
AWKWARD = [
    {"question": "Die Hauptstadt von Österreich heißt", "choices": [" Wien", " Zürich", " São Paulo", " 東京"], "answer": "Wien"},
    {"question": "😀 means", "choices": [" happy", " sad 😢", " naïve café"], "answer": "happy"},
    {"question": "2 + 2 =", "choices": [" 4", " 5", "  four", "\n4"], "answer": "4"},
]  # fmt: skip


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    plain = (EXAMPLE / "capitals.jsonl").read_text(encoding="utf-8")
    path.write_text(plain + "".join(json.dumps(row) + "\n" for row in AWKWARD), encoding="utf-8")
    return path


def test_likelihoods_are_those_of_the_model_itself(rows: Path, tmp_path: Path) -> None:
    oracle = Path(__file__).with_name("oracle.py")
    command = [local_model.python(), oracle, local_model.weights(), rows]
    expected = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with local_model.serving(9931, aligned=True) as url:
        result = benchwright.run(
            EXAMPLE / "bench.py", dataset=str(rows), model_url=url, model_id="smollm2", workspace=tmp_path,
            parallelism=2,
        )  # fmt: skip
    assert result.summary.outcomes["scored"] == len(expected) == 13
    samples = pq.read_table(result.folder / "samples.parquet").to_pylist()
    for sample, wanted in zip(samples, expected, strict=True):
        assert sample["choices_logprobs"] == pytest.approx([value for value, _ in wanted], abs=1e-4)
        assert sample["choices_is_greedy"] == [greedy for _, greedy in wanted]


def test_a_server_with_shifted_log_probabilities_is_refused(rows: Path, tmp_path: Path) -> None:
    with (
        local_model.serving(9932, aligned=False) as url,
        pytest.raises(EchoRefusedError, match="add_bos_token"),
    ):
        benchwright.run(
            EXAMPLE / "bench.py", dataset=str(rows), model_url=url, model_id="smollm2", workspace=tmp_path
        )
