"""Conversations under load: one slot each, turns in sequence, think time, and each turn on record."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from tests.perf.loads import Loaded, load
from tests.perf.stub_server import Stub, serving

import benchwright
from benchwright.core import DatasetError, ModelRequest, UsageError, encode_json
from benchwright.perf import (
    LoadSettings,
    LoadSummary,
    RequestOutcome,
    RequestPlan,
    Requests,
    parse_think_time,
    summarise,
)
from benchwright.perf._conversations import Conversation, Turn
from benchwright.perf._plan import PlannedRequest, planned_request


def talk(row: int, *later: Turn) -> PlannedRequest:
    body: dict[str, Any] = {
        "model": "stub",
        "messages": [{"role": "user", "content": f"row {row}"}],
        "stream": True,
    }
    entry = planned_request(ModelRequest("chat", body, encode_json(body)), row)
    return PlannedRequest(entry.request, row, entry.prompt_hash, None, Conversation(later))


def plan(count: int = 3, **turn: Any) -> RequestPlan:
    """Conversations of three turns."""
    later = [Turn(f"turn {number}", f"data {number}", **turn) for number in (2, 3)]
    return RequestPlan(tuple(talk(row, *later) for row in range(count)), stride=3)


def run(settings: LoadSettings, what: RequestPlan, **how: Any) -> tuple[list[Any], list[Any], Stub]:
    async def work() -> tuple[list[Any], list[Any], Stub]:
        async with serving(events=1, **how) as stub:
            records, stages = await load(stub.url, settings, what)
            return records, stages, stub

    return asyncio.run(work())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_slot_carries_a_conversation_from_turn_to_turn(workers: int) -> None:
    settings = LoadSettings(levels=(2.0,), requests=5, turn_mode="every", workers=workers)
    records, (stage,), stub = run(settings, plan())
    assert [(r.conversation, r.turn, r.row) for r in records] == [
        (c, t, c % 3) for c in range(5) for t in range(3)
    ]
    assert [r.number for r in records] == list(range(15))
    assert stage.offered == 15
    assert stub.most_open <= 2
    for number in range(5):
        own = [record for record in records if record.conversation == number]
        assert all(before.ended <= after.sent for before, after in itertools.pairwise(own))
    said = [
        [m["content"] for m in truth.body["messages"]]
        for truth in stub.log
        if len(truth.body["messages"]) == 5
    ]
    assert ["row 0", "word ", "turn 2", "word ", "turn 3"] in said


def test_replies_of_the_data_enter_the_history_where_that_is_asked_for() -> None:
    _, _, stub = run(LoadSettings(requests=1, turn_mode="every_with_gt"), plan())
    assert [m["content"] for m in stub.log[-1].body["messages"]] == [
        "row 0",
        "data 2",
        "turn 2",
        "data 3",
        "turn 3",
    ]


def test_users_think_as_long_as_the_row_or_the_test_says() -> None:
    records, _, _ = run(LoadSettings(requests=1, turn_mode="every", think_time="40ms"), plan())
    assert [b.sent - a.ended >= 0.04 for a, b in itertools.pairwise(records)] == [True, True]
    records, _, _ = run(LoadSettings(requests=1, turn_mode="every", think_time="1min"), plan(delay_s=0.0))
    assert len(records) == 3


def test_a_schedule_starts_conversations_and_later_turns_are_due_after_the_reply() -> None:
    settings = LoadSettings(
        profile="constant", levels=(50.0,), requests=4, turn_mode="every", think_time="20ms"
    )
    records, (stage,), _ = run(settings, plan(), first_s=0.01)
    first = [record.planned - stage.started for record in records if record.turn == 0]
    assert first == pytest.approx([0.0, 0.02, 0.04, 0.06])
    for before, after in itertools.pairwise(records):
        if before.conversation == after.conversation:
            assert after.planned == pytest.approx(before.ended + 0.02)


def test_a_failed_turn_ends_its_conversation_and_leaves_the_others_on_record() -> None:
    records, _, stub = run(LoadSettings(requests=2, turn_mode="every"), plan(), fail_every=2)
    assert len(stub.log) == 4
    assert [r.outcome for r in records] == [
        RequestOutcome.OK,
        RequestOutcome.HTTP_5XX,
        RequestOutcome.NOT_SENT,
    ] * 2
    assert records[2].error == "turn 2 of the conversation failed"


def test_ctrl_c_wakes_users_who_think() -> None:
    async def work() -> Loaded:
        async with serving(events=1) as stub:
            settings = LoadSettings(levels=(2.0,), requests=9, turn_mode="every", think_time="10min")
            loaded = Loaded(stub.url, settings, plan())
            running = asyncio.create_task(loaded.run())
            while len(loaded.records) < 2:
                await asyncio.sleep(0)
            loaded.test.stop()
            await running
            return loaded

    loaded = asyncio.run(work())
    assert [record.turn for record in loaded.records] == [0, 0]
    assert loaded.test.cause == "interrupt"


def test_time_up_sends_no_further_turn() -> None:
    settings = LoadSettings(levels=(1.0,), seconds=0.3, turn_mode="every", think_time="10min")
    records, (stage,), _ = run(settings, plan())
    assert [record.turn for record in records] == [0]
    assert stage.stopped_by == "seconds"


@pytest.mark.parametrize(
    ("text", "mean"),
    [("2s", 2.0), ("500ms", 0.5), ("1.5", 1.5), ("exponential:2s", 2.0), ("uniform:1s,3s", 2.0), ("lognormal:2s,1s", 2.0),
     ("normal:2s,0.1s", 2.0)],
)  # fmt: skip
def test_think_times_have_their_mean_and_depend_on_the_key_alone(text: str, mean: float) -> None:
    law = parse_think_time(text)
    drawn = [law(f"0/{number}/1") for number in range(2000)]
    assert sum(drawn) / len(drawn) == pytest.approx(mean, rel=0.08)
    assert drawn[:9] == [parse_think_time(text)(f"0/{number}/1") for number in range(9)]


@pytest.mark.parametrize(
    "text", ["soon", "uniform:3s,1s", "exponential:0s", "poisson:1s", "uniform:1s", "2h", "-1s"]
)
def test_a_think_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--think-time"):
        parse_think_time(text)


ROWS = [
    {"turns": ["a?", "b?"], "delay_ms": [0, 30], "max_tokens": [4, 8]},
    {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "c?"}, {"role": "assistant", "content": "d"},
                  {"role": "user", "content": "e?", "delay_ms": 20}]},
    {"conversations": [{"from": "human", "value": "f?"}, {"from": "gpt", "value": "g"}, {"from": "human", "value": "h?"}]},
]  # fmt: skip


def perf(folder: Path, rows: list[dict[str, Any]], **how: Any) -> Any:
    file = folder / "talks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return benchwright.perf(str(file), workspace=str(folder), **how)


def test_a_file_of_conversations_is_loaded_and_summed_up_by_turn(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    result = perf(tmp_path, ROWS, concurrency=2, conversations=6)
    table = pq.read_table(result.folder / "requests.parquet").to_pylist()
    assert [(each["conversation"], each["turn"]) for each in table] == [
        (c, t) for c in range(6) for t in range(2)
    ]
    assert [each["requested_tokens"] for each in table[:2]] == [4, 8]
    (stage,) = result.summary.stages
    assert [(group.label, group.sent) for group in stage.turns] == [("turn 1", 6), ("turn 2", 6)]
    first = [each["first_token_s"] - each["sent_s"] for each in table if each["turn"] == 0]
    assert stage.turns[0].metrics["ttft_ms"].mean == pytest.approx(1000 * sum(first) / 6, abs=0.001)
    stored = json.loads((result.folder / "summary.json").read_text(encoding="utf-8"))
    assert stored["stages"][0]["by_turn"][1]["sent"] == 6
    assert "turn of the conversation" in (result.folder / "report.html").read_text(encoding="utf-8")
    assert LoadSummary.from_json(result.summary.to_json()) == result.summary
    with_data = perf(tmp_path, ROWS[1:], turn_mode="last")
    assert [group.label for group in with_data.summary.stages[0].turns] == ["turn 2"]


@pytest.mark.parametrize(
    ("row", "how", "words"),
    [(ROWS[0], {"turn_mode": "last"}, 'talks.jsonl:4: --turn-mode last sends the replies of the data, and "turns" lacks'),
     ({"turns": ["a"], "delay_ms": [1, 2]}, {}, 'talks.jsonl:4: "delay_ms" has 2 values for 1 user turns'),
     ({"turns": ["a"], "delay_ms": -1}, {}, '"delay_ms" is -1; expected milliseconds'),
     ({"turns": [7]}, {}, 'turn 1 of "turns" is not a text'),
     ({"messages": [{"role": "assistant", "content": "x"}]}, {}, "holds no turn of a user")],
)  # fmt: skip
def test_a_row_that_is_no_conversation_is_named(tmp_path: Path, row: Any, how: Any, words: str) -> None:
    rows = [ROWS[1], ROWS[1], ROWS[1], row]
    with pytest.raises(DatasetError) as caught:
        perf(tmp_path, rows, **how)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "how", "words"),
    [(ROWS, {"requests": 3}, "give --conversations instead"),
     ([{"question": "?"}], {"think_time": "1s"}, "--think-time: for rows that are conversations")],
)  # fmt: skip
def test_counts_are_of_one_thing(tmp_path: Path, rows: Any, how: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        perf(tmp_path, rows, **how)


def test_benchmarks_with_turns_and_functions_converse_under_load(tmp_path: Path) -> None:
    file = tmp_path / "bench.py"
    file.write_text(
        'from benchwright import benchmark, scorer\n'
        'rows = [{"q": "1+1=", "more": ["2+2=", "3+3="]}]\n'
        'def following(messages, row):\n'
        '    return row["more"][0] if len(messages) < 4 else None\n'
        '@benchmark(name="fixed", dataset=rows, prompt="{q}", turns_field="more")\n'
        '@scorer\n'
        'def one(sample):\n    return {"x": 1.0}\n'
        '@benchmark(name="live", dataset=rows, prompt="{q}", next_turn=following)\n'
        '@scorer\n'
        'def two(sample):\n    return {"x": 1.0}\n',
        encoding="utf-8",
    )  # fmt: skip
    fixed, live = benchwright.perf(str(file), workspace=str(tmp_path), conversations=2, concurrency=1)
    assert [group.sent for group in fixed.summary.stages[0].turns] == [2, 2, 2]
    assert [group.sent for group in live.summary.stages[0].turns] == [2, 2]
    with pytest.raises(UsageError, match="--workers: the benchmark's next_turn"):
        benchwright.perf(f"{file}:live", workspace=str(tmp_path), workers=2)


def test_groups_are_recomputed_from_records() -> None:
    settings = LoadSettings(levels=(2.0,), requests=4, turn_mode="every")
    records, stages, _ = run(settings, plan(), fail_every=4)
    (stage,) = summarise(Requests.of(records), settings, stages).stages
    assert sum(group.sent for group in stage.turns) == stage.counts.sent
    assert sum(group.failed for group in stage.turns) == stage.counts.failed
    assert sum(group.not_sent for group in stage.turns) == stage.counts.not_sent
