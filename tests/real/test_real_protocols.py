"""Two real servers, each over its routes, streamed and whole, one request at a time and eight."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llama_server
import pyarrow.parquet as pq
import pytest
import transformers_server

import benchwright
from benchwright.endpoints import EchoRefusedError


class Served(NamedTuple):
    url: str
    model: str


@pytest.fixture(scope="module", params=["llama.cpp", "transformers"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if request.param == "llama.cpp":
        with llama_server.serving() as url:
            yield Served(url, "smollm2-135m")
    else:
        folder = transformers_server.model(tmp_path_factory.mktemp("model"))
        with transformers_server.serving(folder) as url:
            yield Served(url, str(folder))


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "sums.jsonl"
    rows = [{"question": f"What is {a}+{a + 1}?", "answer": str(2 * a + 1)} for a in range(8)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def samples(result: benchwright.RunResult) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(result.folder / "samples.parquet").to_pylist()
    return rows


PATIENT = {"request_timeout": 3600}
"""Servers of real models answer one request after the other. On a busy machine the eighth waits for minutes, and a request
that is given up after the usual two minutes is sent again: it would look as if the server had cut it."""

ROUTES: list[dict[str, str]] = [{"model_type": "chat"}, {"model_type": "completions"}, {"api": "responses"}]


@pytest.mark.parametrize("route", ROUTES, ids=["chat", "completions", "responses"])
def test_every_way_of_asking_gives_the_same_replies(
    served: Served, questions: Path, tmp_path: Path, route: dict[str, str]
) -> None:
    seen = []
    for stream, parallelism in ((False, 1), (True, 1), (True, 8)):
        result = benchwright.run(
            questions, model_url=served.url, model_id=served.model, workspace=tmp_path, cache=False,
            stream=stream, parallelism=parallelism, max_tokens=8, temperature=0.0, seed=7, **route, **PATIENT,
        )  # fmt: skip
        rows = samples(result)
        # Without a chat template this small model often ends at once.
        assert not [row for row in rows if row["outcome"] not in ("scored", "empty")]
        assert all(row["completion_tokens"] for row in rows)
        # llama.cpp announces that it keeps connections, and closes each one after a stream. What is sent meanwhile is lost
        # and sent again. The client learns it; nothing else may be asked for twice.
        lost = sum(row["attempts"] - 1 for row in rows)
        assert lost <= (2 if stream and served.model == "smollm2-135m" else 0)
        assert result.requests_sent == len(rows) + lost
        seen.append([row["finish_reason"] for row in rows])
        assert route.get("model_type") == "completions" or "length" in seen[-1]
    assert seen[0] == seen[1]


def test_replies_hold_no_stop_text(served: Served, questions: Path, tmp_path: Path) -> None:
    for stream in (False, True):
        result = benchwright.run(
            questions, model_url=served.url, model_id=served.model, workspace=tmp_path, cache=False,
            stream=stream, limit=3, max_tokens=24, stop=["+", "is"], **PATIENT,
        )  # fmt: skip
        replies = [str(row["response"]) for row in samples(result)]
        assert not any("+" in reply or "is" in reply for reply in replies), replies


def test_ranking_is_refused_with_the_reason(served: Served, tmp_path: Path) -> None:
    bench = Path(__file__).parents[2] / "examples" / "choices" / "bench.py"
    with pytest.raises(EchoRefusedError, match=r"ignores `echo`|gives no log-probabilities"):
        benchwright.run(bench, model_url=served.url, model_id=served.model, workspace=tmp_path, **PATIENT)


def test_prompts_beyond_the_context_are_counted(questions: Path, tmp_path: Path) -> None:
    """llama.cpp only: `transformers serve` has no limit of its own."""
    with questions.open("a", encoding="utf-8") as rows:
        rows.write(json.dumps({"question": "word " * 3000 + "What is 1+1?", "answer": "2"}) + "\n")
    with llama_server.serving() as url:
        for stream in (False, True):
            result = benchwright.run(
                questions, model_url=url, model_id="smollm2-135m", workspace=tmp_path, cache=False,
                stream=stream, max_tokens=4, **PATIENT,
            )  # fmt: skip
            assert result.summary.outcomes["request_failed"] == 1
            assert any("longer than the model's context" in note for note in result.summary.notes)
