"""Rows of a workflow are samples like those of a benchmark: filters, pages, slices, search and exports tell what the workflow gave."""

from __future__ import annotations

import asyncio
import csv
import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

import warm
from benchwright import WorkflowContext, call_llm, workflow
from benchwright.core import UsageError
from benchwright.results import SampleList, SampleView, SearchPage, Slices, StoreSamples, kind_of
from benchwright.server import serving
from benchwright.store import SampleFilter, SampleOrder, Store, Workspace, open_store, verdict_of
from waiting import PATIENCE_S

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x00 =cmd|'/c calc'!A1 \ud800"
"""A text that a careless page, sheet or terminal would obey."""


class Given(NamedTuple):
    """What a workflow does with one row."""

    name: str
    row: dict[str, Any]
    scores: dict[str, Any] | None
    """None: it fails; empty: it is not scored."""
    response: str


def drawn(seed: int) -> list[Given]:
    """Rows of which some fail, some are not scored, some have only some scores, and some are copies of others."""
    chance = random.Random(seed)
    found: list[Given] = []
    for number in range(chance.randint(1, 40)):
        row = {"topic": chance.choice(["law", HOSTILE, "art"]), "n": number}
        if found and chance.random() < 0.2:
            row = chance.choice(found).row
        scores: dict[str, Any] | None = {"correct": chance.random() < 0.6}
        kind = chance.random()
        if kind < 0.2:
            scores = None
        elif kind < 0.3:
            scores = {}
        elif kind < 0.6:
            scores = {"correct": chance.random() < 0.6, "length": chance.choice([0, 1, 7.25, -3])}
        found.append(
            Given(f"row {number}{chance.choice(['', HOSTILE])}", row, scores, f"reply {number} {HOSTILE}")
        )
    return found


def performed(folder: Path | None, rows: list[Given]) -> None:
    async def one(ctx: WorkflowContext, given: Given) -> None:
        try:
            async with ctx.sample(given.name, given.row) as sample:
                asked = [{"role": "user", "content": f"question of {given.name}"}]
                await ctx.step(
                    step_key=f"ask/{given.name}",
                    input_value=asked,
                    execute=lambda: {"content": given.response, "prompt_tokens": 3, "completion_tokens": 4},
                )
                if given.scores is None:
                    raise ValueError(f"no answer: {HOSTILE}")
                if given.scores:
                    sample.score(**given.scores, response=given.response, target=HOSTILE)
        except ValueError:
            pass

    async def handler(ctx: WorkflowContext) -> None:
        await asyncio.gather(*(one(ctx, given) for given in rows))

    asyncio.run(workflow("rows", handler).run(workspace=folder))


def pages(store: Store, where: SampleFilter, order: SampleOrder | None = None) -> list[SampleView]:
    """All samples of run 1 that pass, page by page."""
    found: list[SampleView] = []
    after = None
    while True:
        page = StoreSamples(store, 1).page(where, after=after, limit=7, order=order)
        found += page.items
        if (after := page.next) is None:
            return found


def stored(text: str) -> str:
    """A text as a database keeps it."""
    return text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("seed", range(12))
def test_filters_pages_slices_and_search_tell_what_the_workflow_gave(tmp_path: Path, seed: int) -> None:
    rows = drawn(seed)
    performed(tmp_path, rows)
    with open_store(Workspace(tmp_path)) as store:
        run = store.run(1)
        details: Any = kind_of(run).details(store, run)
        number = details.numbers
        assert sorted(number.values()) == list(range(len(rows))), "each row is one sample"
        given = {number[stored(each.name)]: each for each in rows}
        found = pages(store, SampleFilter())
        for view in found:
            each = given[view.sample_id]
            metadata = orjson.loads(view.metadata or b"")
            assert {name: metadata[name] for name in each.row} == {
                name: stored(value) if isinstance(value, str) else value for name, value in each.row.items()
            }
            assert view.scores == each.scores
            assert view.outcome == ("scored" if each.scores is not None else "scorer_failed")
            assert (view.error is None) == (each.scores is not None)
            said = orjson.loads(view.messages or b"")
            assert [(message["role"], message["content"]) for message in said] == [
                ("user", stored(f"question of {each.name}")),
                ("assistant", stored(each.response)),
            ]
            assert (view.prompt_tokens, view.completion_tokens) == (3, 4)

        def passing(where: SampleFilter, order: SampleOrder | None = None) -> list[int]:
            return [view.sample_id for view in pages(store, where, order)]

        def expected(passes: Any) -> list[int]:
            return [place for place in range(len(rows)) if passes(given[place].scores)]

        for verdict in ("right", "wrong"):
            assert passing(SampleFilter(verdict=verdict)) == expected(lambda s, v=verdict: verdict_of(s) == v)
        assert passing(SampleFilter(scored=False)) == expected(lambda s: s is None)
        assert passing(SampleFilter(metric="length", above=0.5)) == expected(
            lambda s: (s or {}).get("length", 0) > 0.5
        )
        assert passing(SampleFilter(text="REPLY 3 ")) == [
            place
            for place in given
            if place in number.values() and given[place].response.startswith("reply 3 ")
        ]
        ordered = [
            given[place].scores["length"] for place in passing(SampleFilter(), SampleOrder("metric:length"))
        ]  # type: ignore[index]
        assert ordered == sorted(
            each.scores["length"] for each in rows if each.scores and "length" in each.scores
        )
        assert len(passing(SampleFilter(), SampleOrder("completion_tokens"))) == len(rows)

        scores = details.to_json()["scores"]
        right = [each.scores["correct"] for each in rows if each.scores]
        assert set(scores) == {name for each in rows for name in each.scores or ()}
        if right:
            slices = Slices.of(store, run, "topic")
            assert (slices.metric, slices.whole.n, slices.whole.mean) == (
                "correct",
                len(right),
                sum(right) / len(right),
            )
            assert sum(each.n for each in slices.slices) == len(right)
            assert sum(each.failed for each in slices.slices) == sum(each.scores is None for each in rows)
            assert [scores["correct"][name] for name in ("value", "n", "ci_low", "ci_high")] == [
                slices.whole.mean,
                slices.whole.n,
                slices.whole.ci_low,
                slices.whole.ci_high,
            ]
            for part in slices.slices:
                assert len(passing(SampleFilter(column="topic", value=part.value))) == sum(
                    stored(each.row["topic"]) == part.value for each in rows
                )
        else:
            with pytest.raises(UsageError, match="has no scores to slice by topic"):
                Slices.of(store, run, "topic")
        hits = SearchPage.of(store, "question of row 0", limit=100)
        assert {hit.sample_id for hit in hits.samples} == {number[stored(rows[0].name)]}


def test_copies_of_a_row_are_one_row_of_the_interval(tmp_path: Path) -> None:
    """Ten copies of two rows tell as much as two rows, whatever the workflow calls them."""
    copies = [Given(f"{n}/{copy}", {"n": n}, {"correct": n == 0}, "") for n in range(2) for copy in range(10)]
    performed(tmp_path, copies)
    with open_store(Workspace(tmp_path)) as store:
        run = store.run(1)
        correct = kind_of(run).details(store, run).to_json()["scores"]["correct"]  # type: ignore[index,call-overload]
    assert (correct["n"], correct["too_few"]) == (20, True)
    assert correct["ci_high"] - correct["ci_low"] > 0.7, "twenty rows would have an interval of 0.4"


def test_a_row_keeps_its_number_when_it_is_done_again(tmp_path: Path) -> None:
    rows = drawn(3)
    rows[1] = rows[1]._replace(scores=None)
    fails = True

    async def handler(ctx: WorkflowContext) -> None:
        for place, given in enumerate(rows):
            async with ctx.sample(place, given.row) as sample:
                if place == 1 and fails:
                    raise ValueError("not yet")
                sample.score(correct=True, place=place)

    flow = workflow("w", handler)
    with pytest.raises(ValueError, match="not yet"):
        asyncio.run(flow.run(workspace=tmp_path))
    fails = False
    asyncio.run(flow.run(workspace=tmp_path, resume=1))
    with open_store(Workspace(tmp_path)) as store:
        found = pages(store, SampleFilter())
        assert [view.sample_id for view in found] == list(range(len(rows)))
        assert [view.scores for view in found] == [
            {"correct": True, "place": place} for place in range(len(rows))
        ]
        assert sum(store.sample_counts(1).values()) == len(rows)


def test_a_step_that_only_has_such_a_key_is_no_row(tmp_path: Path) -> None:
    async def handler(ctx: WorkflowContext) -> None:
        for place, given in enumerate(
            [None, [1], {"row": 1}, {"row": 1, "steps": 2}, {"row": {}, "steps": [], "scores": 3}]
        ):
            await ctx.step(step_key=f"sample/{place}", input_value=given, execute=lambda: 1)

    asyncio.run(workflow("w", handler).run(workspace=tmp_path))
    with open_store(Workspace(tmp_path)) as store:
        run = store.run(1)
        found: Any = kind_of(run).details(store, run).to_json()
        assert (found["rows"], found["scores"], store.count_steps(1, "score")) == ([], {}, 0)
        with pytest.raises(UsageError, match="workflow without rows"):
            kind_of(run).parts(store, run, SampleFilter(text="x"), None, 10, SampleOrder())


def test_rows_of_a_workflow_on_a_server_are_samples_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Workspace(tmp_path)) as (address, _):
        monkeypatch.setenv("BENCHWRIGHT_BASE_URL", address.url)
        monkeypatch.setenv("BENCHWRIGHT_TOKEN", address.token)
        rows = drawn(5)
        performed(None, rows)
    with open_store(Workspace(tmp_path)) as store:
        assert len(pages(store, SampleFilter())) == len(rows)
        assert len(pages(store, SampleFilter(scored=False))) == sum(each.scores is None for each in rows)


def test_a_model_that_gives_no_reply_is_a_failed_request(tmp_path: Path) -> None:
    async def handler(ctx: WorkflowContext) -> None:
        async with ctx.sample("a", {"q": 1}):
            await call_llm(
                "openai", "m", [{"role": "user", "content": "x"}], base_url="http://127.0.0.1:9", retries=0
            )

    with pytest.raises(Exception, match="no usable reply"):
        asyncio.run(workflow("w", handler).run(workspace=tmp_path))
    with open_store(Workspace(tmp_path)) as store:
        (view,) = pages(store, SampleFilter())
    assert (view.outcome, view.scores) == ("request_failed", None)
    assert "no usable reply" in (view.error or "")


def test_commands_list_slice_and_export_rows(tmp_path: Path) -> None:
    rows = drawn(1)
    performed(tmp_path, rows)

    def command(*words: str) -> str:
        done = warm.run(
            [sys.executable, "-m", "benchwright", *words, "--workspace", str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    wrong = [each for each in rows if each.scores and not each.scores["correct"]]
    listed = orjson.loads(command("show", "1", "--wrong", "--json"))["samples"]
    assert len(listed) == len(wrong)
    told = orjson.loads(command("show", "1", "--text", "reply 2 ", "--json"))["samples"]
    assert len(told) == 1
    one = (
        orjson.loads(command("show", "1", stored(rows[0].name).replace("\x00", ""), "--json"))
        if "\x00" not in rows[0].name
        else None
    )
    assert one is None or one["samples"][0]["metadata"]["n"] == rows[0].row["n"]
    assert "topic" in command("show", "1", "--by", "topic")
    assert f"{len(rows)} rows" in command("show", "1")
    again = orjson.loads(command("show", "1", "--changed-from", "1", "--json"))
    assert again["samples"] == [], "rows, of which none changed from themselves, and not steps"
    exported = orjson.loads(command("export", "1", "-o", "w.csv", "--json"))
    assert (exported["samples"], exported["steps"]) == (len(rows), len(rows))
    assert Path(exported["steps_file"]).name == "w-steps.csv"
    with Path(tmp_path, "w.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["score.correct"] for line in lines] == [
        "" if view.scores is None or "correct" not in view.scores else str(int(view.scores["correct"]))
        for view in _views(tmp_path)
    ]
    command("export", "1", "-o", "w.jsonl")
    assert len(Path(tmp_path, "w.jsonl").read_text().splitlines()) == len(rows)
    assert orjson.loads(command("export", "1", "-o", "w.parquet", "--json"))["samples"] == len(rows)
    command("export", "1", "-o", "w.xlsx")
    from openpyxl import load_workbook

    book = load_workbook(tmp_path / "w.xlsx", read_only=True)
    assert book.sheetnames == ["summary", "samples", "steps"]
    assert sum(1 for _ in book["samples"].iter_rows()) == len(rows) + 1
    command("report", "1", "-o", "w.html")
    page = Path(tmp_path, "w.html").read_text()
    assert "<img src=x" not in page
    assert "question of row 0" in page


def _views(folder: Path) -> list[SampleView]:
    with open_store(Workspace(folder)) as store:
        return pages(store, SampleFilter())


def test_the_agent_of_the_examples_has_its_conversation_in_its_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import runpy

    example = Path(__file__).resolve().parents[2] / "examples" / "agent" / "agent_rows.py"
    monkeypatch.chdir(tmp_path)
    handler = runpy.run_path(str(example))["handler"]
    asyncio.run(workflow("agent_rows", handler).run({}, workspace=tmp_path))
    with open_store(Workspace(tmp_path)) as store:
        found = kind_of(store.run(1)).part(store, store.run(1), "desk")
        assert isinstance(found, SampleList)
        view = found.samples[0].sample
    said = orjson.loads(view.messages or b"")
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant"]
    assert said[1]["tool_calls"][0]["function"] == {"name": "stock_of_item", "arguments": '{"item":"desk"}'}
    assert said[-1]["content"] == view.response
