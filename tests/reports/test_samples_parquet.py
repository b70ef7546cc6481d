"""samples.parquet: one row per sample and repeat, typed columns, flat memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest
from recorded_runs import SETTINGS, SUMMARY, chat_call, score, write_run_files

from benchwright.core import ModelReply, encode_json, open_artifacts, step_key
from benchwright.reports.files import parquet
from benchwright.results import RunSamples
from benchwright.store import RunRecord, Store
from stored_steps import stored_step

Record = Callable[..., RunRecord]

pytestmark = pytest.mark.usefixtures("any_place")


def written(store: Store, run: RunRecord) -> list[dict[str, object]]:
    write_run_files(store, run, SUMMARY)
    with open_artifacts(run.folder).open("samples.parquet") as file:
        rows: list[dict[str, object]] = pq.read_table(file).to_pylist()
    return rows


def test_every_kind_of_sample_has_its_row(store: Store, record: Record) -> None:
    rows = written(store, record())
    assert [row["sample_id"] for row in rows] == list(range(7))
    outcomes = ["scored", "scored", "scored", "request_failed", "skipped", "unparsed", "scored"]
    assert [row["outcome"] for row in rows] == outcomes
    first = rows[0]
    assert first["prompt"] == "question 0"
    assert first["system"] == "Be brief."
    assert orjson.loads(str(first["messages"]))[1] == {"role": "user", "content": "question 0"}
    assert (first["response"], first["target"], first["score.correct"]) == ("yes", "yes", 1.0)
    assert orjson.loads(str(first["scores"])) == {"correct": True, "label": "x"}
    assert (first["prompt_tokens"], first["completion_tokens"]) == (10, 2)
    assert (first["latency_s"], first["started_at"], first["attempts"]) == (0.25, 1700000000.5, 1)
    assert orjson.loads(str(first["metadata"])) == {"question": "question 0", "answer": 0}
    second = rows[1]
    assert (second["reasoning"], second["finish_reason"]) == ("first I thought", "stop")
    assert (second["ttft_s"], second["attempts"], second["target"]) == (0.1, 3, "1")
    assert (second["score.correct"], second["score.words_[bold]"]) == (0.0, 0.2)
    assert rows[2]["target"] == '["a","b"]'
    assert (rows[3]["response"], rows[3]["error"], rows[3]["scores"]) == (
        None,
        "no answer within 120 s",
        None,
    )
    assert (rows[3]["score.correct"], rows[3]["attempts"]) == (None, 4)
    assert (rows[4]["prompt"], rows[4]["response"], rows[4]["latency_s"]) == (None, None, None)
    assert (rows[6]["prompt"], rows[6]["response"], rows[6]["attempts"]) == ("rendered", "given", None)
    assert "choices" not in first


def test_ranked_choices_have_their_columns(store: Store, record: Record) -> None:
    steps = []
    for number, choice in enumerate([" A", " B"]):
        body = encode_json({"model": "m", "prompt": f"Q: 1?{choice}", "echo": True})
        reply = encode_json({"s": "answered", "t": "", "at": 1.0, "l": 0.5})
        steps.append(stored_step(step_key("call", 0, 0, f"c{number:03d}"), b"h", body, reply, True, 1.0, 2.0))
    ranking = {
        "_choices": [" A", " B"],
        "_choices_logprobs": [-2.5, None],
        "_choices_is_greedy": [True, False],
    }
    steps.append(
        score(0, 0, {"o": "scored", "s": {"correct": 1}, "t": "A", "r": " A", "u": [9, 0], **ranking})
    )
    row = written(store, record(steps))[0]
    assert row["prompt"] == "Q: 1?", "the choice is not part of the prompt"
    assert row["choices"] == [" A", " B"]
    assert row["choices_logprobs"] == [-2.5, None]
    assert row["choices_is_greedy"] == [True, False]
    assert (row["response"], row["prompt_tokens"]) == (" A", 9)


def test_a_ranking_run_has_choice_columns_even_when_all_failed(store: Store, record: Record) -> None:
    settings = {**SETTINGS, "model_type": "completions_logprob"}
    row = written(
        store, record([score(0, 0, {"o": "request_failed", "t": "A", "e": "503"})], settings=settings)
    )[0]
    assert row["choices"] is None


def test_a_conversation_is_kept_whole(store: Store, record: Record) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    steps = [
        chat_call(0, 0, ModelReply("answered", "yo")),
        score(0, 0, {"o": "scored", "s": {}, "t": 1, "conversation": talk}),
    ]
    assert orjson.loads(str(written(store, record(steps))[0]["messages"])) == talk


def test_repeats_are_rows_of_their_own(store: Store, record: Record) -> None:
    steps = [
        score(i, r, {"o": "scored", "s": {"correct": 1}, "t": 1, "r": "x"})
        for i in range(3)
        for r in range(2)
    ]
    rows = written(store, record(steps))
    assert [(row["sample_id"], row["repeat"]) for row in rows] == [(i, r) for i in range(3) for r in range(2)]


def test_a_run_without_samples_gives_an_empty_file(store: Store, record: Record) -> None:
    assert written(store, record([])) == []


@pytest.mark.parametrize(("rows", "size", "groups"), [(4, 10**9, 3), (10**9, 400, 5), (10**9, 10**9, 1)])
def test_rows_are_written_in_groups_bounded_by_count_and_size(
    tmp_path: Path,
    store: Store,
    record: Record,
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    size: int,
    groups: int,
) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", rows)
    monkeypatch.setattr(parquet, "GROUP_BYTES", size)
    steps = [score(i, 0, {"o": "scored", "s": {}, "t": 1, "r": "x" * 220}) for i in range(10)]
    path = tmp_path / "samples.parquet"
    with path.open("wb") as file:
        assert parquet.write_samples(file, RunSamples(store, record(steps)), []) == 10
    found = pq.ParquetFile(path)
    assert found.metadata.num_row_groups == groups
    assert found.read().column("sample_id").to_pylist() == list(range(10))


def test_texts_of_any_script_and_size_come_back(store: Store, record: Record) -> None:
    huge = "ß🙂" * 400_000
    texts = ["", "plain", "zwölf 😀 \0 \u2028", huge, "after"]
    steps = []
    for index, text in enumerate(texts):
        steps.append(chat_call(index, 0, ModelReply("answered", text, text), prompt=f"{text}?"))
        steps.append(score(index, 0, {"o": "scored", "s": {text[:9] or "-": 1}, "t": text}, {"q": text}))
    rows = written(store, record(steps))
    assert [row["response"] for row in rows] == [row["target"] for row in rows] == texts
    assert [row["reasoning"] for row in rows] == [text or None for text in texts]
    assert [row["prompt"] for row in rows] == [f"{text}?" for text in texts]
    assert [orjson.loads(str(row["metadata"])) for row in rows] == [{"q": text} for text in texts]
    assert [orjson.loads(str(row["messages"]))[1]["content"] for row in rows] == [
        f"{text}?" for text in texts
    ]
    assert [orjson.loads(str(row["scores"])) for row in rows] == [{text[:9] or "-": 1} for text in texts]


def test_numbers_among_texts_have_their_column(store: Store, record: Record) -> None:
    given = [
        {"correct": True},
        {"correct": "unsure"},
        {"correct": 0.25},
        {"correct": None},
        None,
        {"correct": 3},
    ]
    steps = [score(i, 0, {"o": "scored", "s": scores, "t": 1, "r": "x"}) for i, scores in enumerate(given)]
    rows = written(store, record(steps))
    assert [row["score.correct"] for row in rows] == [1.0, None, 0.25, None, None, 3.0]
    assert [row["score.words_[bold]"] for row in rows] == [None] * 6
    assert [None if row["scores"] is None else orjson.loads(str(row["scores"])) for row in rows] == given
