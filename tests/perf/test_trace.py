"""Traces: rows are sent at the times that they say, and rows that say lengths get prompts of these lengths."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.perf.loads import load, plan_of
from tests.perf.stub_server import serving

import benchwright
from benchwright.core import DatasetError, UsageError
from benchwright.perf import LoadSettings, TracePrompts, TraceStamps, arrivals
from benchwright.perf._texts import TextMaker

MOONCAKE = [
    {"timestamp": 1000, "input_length": 700, "output_length": 5, "hash_ids": [1, 2]},
    {"timestamp": 1200, "input_length": 900, "output_length": 7, "hash_ids": [1, 3]},
    {"timestamp": 1100, "input_length": 1300, "output_length": 9, "hash_ids": [1, 3, 4]},
    {"timestamp": 3000, "input_length": 30, "output_length": 9, "hash_ids": [9]},
]


def written(folder: Path, rows: list[dict[str, Any]]) -> str:
    file = folder / "trace.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def perf(folder: Path, rows: list[dict[str, Any]], **how: Any) -> Any:
    return benchwright.perf(written(folder, rows), workspace=str(folder), **how)


def records(result: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(result.folder / "requests.parquet").to_pylist()


def test_a_speed_divides_the_times_of_a_trace() -> None:
    settings = LoadSettings(profile="trace", levels=(1.0, 4.0), requests=3, cooldown=1)
    assert list(arrivals(settings, 1, (0.0, 1.0, 2.0, 6.0, 8.0))) == [0.0, 0.25, 0.5, 1.5]


@pytest.mark.parametrize(
    ("unit", "value", "seconds"),
    [("ms", 1500, 1.5), ("ms", "1500", 1.5), ("s", 1.5, 1.5), ("us", 1_500_000, 1.5), ("ns", 1_500_000_000, 1.5),
     ("iso", "1970-01-01T00:00:01.5Z", 1.5), ("iso", "1970-01-01T01:00:01.5+01:00", 1.5)],
)  # fmt: skip
def test_stamps_are_read_in_their_unit(unit: str, value: Any, seconds: float) -> None:
    assert TraceStamps("at", unit).seconds({"at": value}) == pytest.approx(seconds)


def test_each_stage_sends_the_trace_from_its_start_by_all_workers() -> None:
    plan = plan_of(4)
    import msgspec

    plan = msgspec.structs.replace(plan, offsets=(0.0, 0.02, 0.04, 0.2))
    settings = LoadSettings(profile="trace", levels=(1.0, 2.0), requests=4, warmup=1, workers=2)

    async def work() -> tuple[Any, Any]:
        async with serving(events=1) as stub:
            return await load(stub.url, settings, plan)

    found, stages = asyncio.run(work())
    for stage, speed in zip(stages, (1.0, 2.0), strict=True):
        own = [record for record in found if record.stage == stage.stage and record.phase == "measured"]
        assert [record.row for record in own] == [0, 1, 2, 3]
        expected = [at / speed for at in (0.0, 0.02, 0.04, 0.2)]
        assert [record.planned - stage.started for record in own] == pytest.approx(expected)


def test_rows_are_sent_in_the_order_of_their_stamps_within_the_window(tmp_path: Path) -> None:
    rows = [{"question": f"{at}?", "ms": 5000 + at} for at in (400, 0, 900, 200)]
    result = perf(tmp_path, rows, trace_field="ms", trace_start=0.1, trace_end=0.5, trace_speed=4)
    found = records(result)
    assert [each["row"] for each in found] == [3, 0]
    assert found[1]["planned_s"] - found[0]["planned_s"] == pytest.approx(0.05)
    assert result.summary.stages[0].label == "4× speed"


def test_the_same_hash_ids_give_the_same_beginning_of_prompts() -> None:
    prompts = TracePrompts.of(None, 3, None)
    first, second, third, _ = (prompts.shape(row) for row in MOONCAKE)
    words = [row["question"].split() for row in (first, second, third)]
    assert [len(each) for each in words] == [700, 900, 1300]
    assert words[0][:512] == words[1][:512] == words[2][:512]
    assert words[1][512:] == words[2][512:900]
    assert words[0][512:] != words[1][512:700]
    assert first["max_tokens"] == 5
    assert len(prompts.shape({**MOONCAKE[0], "hash_ids": [1]})["question"].split()) == 700
    assert len(prompts.shape({"input_length": 40, "output_length": 1})["question"].split()) == 40


@pytest.mark.parametrize("joined", [-3, 2], ids=["fewer", "more"])
def test_exact_prompts_of_a_trace_count_as_a_whole(joined: int) -> None:
    """Tokens of three letters, and a tokenizer by which the joints of blocks cost tokens, or save some."""
    row = {"input_length": 1100, "output_length": 1, "hash_ids": [1, 2, 3]}
    blocks = [TextMaker(3, letters).text(512, f"block/{each}") for each in (1, 2)]
    joint = " ".join(blocks)

    def counter(text: str) -> int:
        return letters(text) + (joined if text.startswith(joint) else 0)

    prompts = TracePrompts(TextMaker(3, counter))
    prompt = prompts.shape(row)["question"]
    assert counter(prompt) == 1100
    assert prompt.startswith(blocks[0])
    other = prompts.shape({**row, "input_length": 1030, "hash_ids": [1, 2, 4]})["question"]
    assert counter(other) == 1030
    assert other.startswith(joint)


def letters(text: str) -> int:
    return -(-len(text) // 3)


def test_a_trace_of_lengths_is_sent_with_its_lengths(tmp_path: Path) -> None:
    result = perf(tmp_path, MOONCAKE, trace_speed=20, trace_end=1, exact_output=True)
    found = records(result)
    assert [each["requested_tokens"] for each in found] == [5, 9, 7]
    assert any(note.kind == "approximate_lengths" for note in result.summary.notes)
    assert result.view.settings.prompt_lengths == "approximate"


@pytest.mark.parametrize(
    ("change", "words"),
    [({"timestamp": None}, '"timestamp" is None; expected a number'),
     ({"timestamp": "soon"}, "expected a number"),
     ({"input_length": 0}, '"input_length" is 0; expected a whole number of tokens above 0'),
     ({"output_length": "x"}, '"output_length" is \'x\''),
     ({"hash_ids": "1,2"}, '"hash_ids" is \'1,2\'; expected a list of whole numbers')],
)  # fmt: skip
def test_a_bad_row_of_a_trace_is_named_with_its_line(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    rows = [*MOONCAKE[:2], {**MOONCAKE[2], **change}]
    with pytest.raises(DatasetError) as caught:
        perf(tmp_path, rows, profile="trace")
    assert words in str(caught.value)
    assert "trace.jsonl:3" in str(caught.value)


def test_a_missing_stamp_names_the_column_and_the_flag(tmp_path: Path) -> None:
    with pytest.raises(
        DatasetError, match=r'field "timestamp" is missing; the row has: question, time.*--trace-field'
    ):
        perf(tmp_path, [{"question": "?", "time": 1}], profile="trace")


@pytest.mark.parametrize(
    ("how", "words"),
    [({"profile": "trace", "rate": 3}, "leave --rate out"),
     ({"profile": "trace", "concurrency": 3}, "--max-concurrency"),
     ({"trace_speed": 2, "profile": "constant", "rate": 1}, "--trace-speed: for --profile trace, not constant"),
     ({"trace_start": 60}, "no row lies between --trace-start and --trace-end; the stamps span 2 s"),
     ({"tokenizer": "nowhere"}, "no such file")],
)  # fmt: skip
def test_options_that_make_no_trace_are_refused(tmp_path: Path, how: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        perf(tmp_path, MOONCAKE, **how)
