"""Pages of samples: filters agree with the records, whatever was written, replaced, deleted or migrated in between."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing

import orjson
import pytest
from backends import forget_samples, sqlite_only
from hypothesis import HealthCheck, given, settings, strategies as st

from benchwright.core import StepValues, UsageError, step_key
from benchwright.store import (
    SampleFilter,
    SampleOrder,
    SampleSteps,
    Store,
    Workspace,
    open_store,
    place_of,
    verdict_of,
)
from benchwright.store._sample_filters import bucket_of, facet_of
from benchwright.store._statements import samples as sqlite_samples
from benchwright.store._statements.samples import METRIC_PAGE, PAGE
from stored_steps import stored_step

KINDS: list[dict[str, object]] = [
    {"o": "scored", "s": {"correct": True}},
    {"o": "scored", "s": {"f1": 0.5, "exact": False}},
    {"o": "scored", "s": {"f1": 0.5}},
    {"o": "unparsed", "s": {"acc": 0.0, "parsed": False}},
    {"o": "unparsed", "e": "no answer"},
    {"o": "request_failed", "e": "status 500"},
    {"o": "skipped"},
]


def record(index: int, repeat: int = 0, kind: int | None = None) -> StepValues:
    score = orjson.dumps(KINDS[(index * 3 + repeat if kind is None else kind) % len(KINDS)])
    return stored_step(step_key("score", index, repeat), b"h", b"row %d" % index, score, False, 1.0, 2.0)


def write(store: Store, run_id: int, rows: Sequence[StepValues]) -> None:
    async def main() -> None:
        writer = store.step_writer(run_id)
        writer.append(rows)
        await writer.close()

    asyncio.run(main())


def new_run(store: Store, *rows: StepValues) -> int:
    run = store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
    write(store, run.id, rows)
    return run.id


def paged(store: Store, run_id: int, where: SampleFilter, limit: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    after: int | None = None
    while True:
        page = store.page_samples(run_id, where, after=after, limit=limit)
        assert len(page.items) <= limit
        found += [(sample.sample, sample.repeat) for sample in page.items]
        if page.next is None:
            return found
        assert len(page.items) == limit
        after = page.next


def by_scan(store: Store, run_id: int, where: SampleFilter) -> list[tuple[int, int]]:
    """The same from every record, one by one."""
    found = []
    for index, repeat, _, output in store.scored(run_id):
        score = orjson.loads(output)
        fits = (
            where.outcome in (None, score["o"])
            and where.verdict in (None, verdict_of(score.get("s")))
            and where.scored in (None, "s" in score)
            and where.error in (None, "e" in score)
            and (where.metric is None or within(where, (score.get("s") or {}).get(where.metric)))
        )
        if fits:
            found.append((index, repeat))
    return found


def within(where: SampleFilter, value: object) -> bool:
    low, high = where.above, where.below
    if not isinstance(value, bool | int | float):
        return False
    return (low is None or value > low) and (high is None or value < high)


FILTERS = [
    SampleFilter(),
    SampleFilter(verdict="wrong"),
    SampleFilter(verdict="right"),
    SampleFilter(scored=False),
    SampleFilter(error=True),
    SampleFilter("unparsed"),
    SampleFilter("unparsed", "wrong"),
    SampleFilter("scored", scored=False),
    SampleFilter("truncated"),
    SampleFilter(metric="f1"),
    SampleFilter(metric="f1", below=0.5),
    SampleFilter(metric="f1", above=0.49, below=0.51),
    SampleFilter(metric="f1", above=0.5),
    SampleFilter(metric="correct", above=0.5),
    SampleFilter("unparsed", metric="acc", below=1),
    SampleFilter(verdict="wrong", metric="f1", above=0.2),
    SampleFilter(metric="elsewhere"),
]


@pytest.mark.parametrize("where", FILTERS, ids=str)
@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_pages_are_what_a_scan_of_all_records_finds(store: Store, where: SampleFilter, limit: int) -> None:
    new_run(store, *(record(index) for index in range(9)))
    rows = [record(index, repeat) for index in range(25) for repeat in (0, 1)]
    run_id = new_run(store, *reversed(rows))  # recorded in another order than that of the samples
    assert paged(store, run_id, where, limit) == by_scan(store, run_id, where)


ORDERS = [SampleOrder(by, back) for by in (None, "latency_s", "completion_tokens", "metric:f1", "metric:latency_s")
          for back in (False, True)]  # fmt: skip
SORTED_FILTERS = [
    SampleFilter(), SampleFilter(verdict="wrong"), SampleFilter(metric="f1", above=0.2, below=0.9), SampleFilter(rule="letter"),
    SampleFilter(column="topic", value="a"), SampleFilter(column="n", value="3"), SampleFilter(verdict="wrong", text="row 1"),
    *(SampleFilter(verdict=verdict, places=[place_of(index, 0) for index in (1, 3, 4, 9, 17, *range(25, 45), 99)]) for verdict in (None, "wrong")),
    SampleFilter(places=[]),
]  # fmt: skip


def figured(index: int, some: random.Random, *, apart: bool = False) -> list[StepValues]:
    """A sample with figures, some equal to others' and some missing; its call in the same record, or in one of its own."""
    scores: dict[str, object] = {"rule": some.choice(["letter", "number"]), "correct": some.random() < 0.5}
    if some.random() < 0.8:
        scores["f1"] = some.choice([0.0, -0.25, 0.5, 0.5, 1 / 3, some.random(), 1.0, 40.0])
    if some.random() < 0.3:
        scores["latency_s"] = some.random()
    reply: dict[str, object] = {
        "s": "answered",
        "t": f"row {index}",
        "l": some.choice([0.1, 0.2, some.random()]),
    }
    if some.random() < 0.7:
        reply["u"] = [some.randrange(9), some.randrange(4), "server"]
    row = orjson.dumps({"topic": some.choice("ab"), "n": [index % 4]})
    score = orjson.dumps({"o": "scored", "s": scores, "t": "x"})
    if apart:
        return [stored_step(step_key("call", index, 0), b"c", b"{}", orjson.dumps(reply), True, 1.0, 2.0),
                stored_step(step_key("score", index, 0), b"h", row, score, False, 1.0, 2.0)]  # fmt: skip
    return [
        stored_step(
            step_key("score", index, 0), b"h", row, score, True, 1.0, 2.0, b"c", b"{}", orjson.dumps(reply)
        )
    ]


def figure_by_scan(sample: SampleSteps, by: str) -> float | None:
    scores, reply = orjson.loads(sample.score)["s"], orjson.loads(sample.call_output or b"{}")
    if by.startswith("metric:"):
        return scores.get(by.removeprefix("metric:"))
    return reply.get("l") if by == "latency_s" else (reply.get("u") or [None, None])[1]


def sorted_by_scan(store: Store, run_id: int, where: SampleFilter, order: SampleOrder) -> list[int]:
    found = []
    for sample in store.samples(run_id):
        scores, row = orjson.loads(sample.score)["s"], orjson.loads(sample.score_input or b"")
        value = 0.0 if order.by is None else figure_by_scan(sample, order.by)
        fits = (
            where.verdict in (None, verdict_of(scores))
            and (where.metric is None or within(where, scores.get(where.metric)))
            and where.rule in (None, scores["rule"])
            and (where.column is None or where.value in map(str, row[where.column]))
            and (where.text is None or f"row {sample.sample}".startswith(where.text))
            and (where.places is None or place_of(sample.sample, sample.repeat) in where.places)
        )
        if fits and value is not None:
            found.append((value, sample.sample))
    return [index for _, index in sorted(found, reverse=order.descending)]


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_every_order_is_that_of_a_scan_whatever_was_replaced(store: Store, order: SampleOrder) -> None:
    some = random.Random(str(order))
    run_id = new_run(
        store, *(step for index in range(60) for step in figured(index, some, apart=index % 9 == 0))
    )
    for _ in range(2):
        for where in SORTED_FILTERS:
            found, after = [], None
            while True:
                page = store.page_samples(run_id, where, after=after, limit=7, order=order)
                found += [sample.sample for sample in page.items]
                after = page.next
                if after is None:
                    break
            assert found == sorted_by_scan(store, run_id, where, order), where
        forget_samples(store, run_id, [(index, 0) for index in (3, 9, 31, 59, 60)])
        write(store, run_id, [step for index in (9, 31, 60) for step in figured(index, some)])


def test_counts_are_those_of_the_records(store: Store) -> None:
    run_id = new_run(store, *(record(index) for index in range(30)))

    def counted() -> Counter[str]:
        return Counter({facet.to_text(): count for facet, count in store.sample_counts(run_id).items()})

    assert counted() == Counter(facet_of(output) for *_, output in store.scored(run_id))
    forget_samples(store, run_id, [(4, 0), (29, 0)])
    write(store, run_id, [record(4, kind=0)])
    assert counted() == Counter(facet_of(output) for *_, output in store.scored(run_id))


def test_a_filter_by_column_needs_its_value_and_an_order_a_figure() -> None:
    with pytest.raises(UsageError, match="needs the column and its value"):
        SampleFilter(column="topic")
    with pytest.raises(UsageError, match="cannot be sorted by 'length'; sort by latency_s"):
        SampleOrder("length")


def test_a_page_has_the_calls_of_its_samples(store: Store) -> None:
    together = stored_step(
        step_key("score", 1, 0),
        b"h",
        b"row 1",
        b'{"o":"scored"}',
        True,
        1.0,
        2.0,
        b"call",
        b"asked",
        b"reply",
    )
    apart = [
        stored_step(
            step_key("call", 0, 0, f"t00{turn}"), b"h", b"asked %d" % turn, b"reply %d" % turn, True, 1.0, 2.0
        )
        for turn in (1, 2)
    ]
    run_id = new_run(store, *apart, record(0), together, record(2))
    assert store.page_samples(run_id).items == list(store.samples(run_id))


def test_what_changes_under_the_index_is_not_served_from_it(store: Store) -> None:
    run_id = new_run(store, *(record(index, kind=1) for index in range(6)))
    wrong, failed = SampleFilter(verdict="wrong"), SampleFilter(scored=False)
    assert len(paged(store, run_id, wrong, 2)) == 6
    forget_samples(store, run_id, [(5, 0), (2, 0)])  # the newest record too: its number is given out again
    assert paged(store, run_id, wrong, 2) == [(0, 0), (1, 0), (3, 0), (4, 0)]
    write(store, run_id, [record(2, kind=5), record(5, kind=1)])
    assert paged(store, run_id, wrong, 2) == [(0, 0), (1, 0), (3, 0), (4, 0), (5, 0)]
    assert paged(store, run_id, failed, 2) == [(2, 0)]
    other = new_run(store, record(0, kind=1))
    store.remove_run(run_id)
    assert paged(store, other, wrong, 2) == [(0, 0)]
    assert paged(store, run_id, wrong, 2) == []


def test_a_page_while_the_run_goes_on_has_what_is_recorded_so_far(store: Store) -> None:
    run_id = new_run(store, record(3, kind=1))
    assert paged(store, run_id, SampleFilter(verdict="wrong"), 5) == [(3, 0)]
    write(store, run_id, [record(1, kind=1)])
    assert paged(store, run_id, SampleFilter(verdict="wrong"), 5) == [(1, 0), (3, 0)]


@pytest.mark.parametrize("order", [SampleOrder("metric:f1"), SampleOrder("latency_s", True)], ids=str)
def test_an_order_that_is_indexed_in_pieces_is_that_of_a_scan_whatever_is_written_between(
    store: Store, order: SampleOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_samples, "_ROWS_AT_ONCE", 7)
    some = random.Random(str(order))
    run_id = new_run(store, *(step for index in range(20, 50) for step in figured(index, some)))
    reached: list[tuple[int, int]] = []
    for turn in range(40):
        page = store.page_samples(run_id, order=order, limit=100, patience_s=0)
        if page.indexed is None:
            break
        assert not page.items
        reached.append(page.indexed)
        if turn == 1:  # before and after the place that it has reached
            write(store, run_id, [step for index in (3, 60) for step in figured(index, some)])
        if turn == 3:  # row numbers are given out again
            forget_samples(store, run_id, [(60, 0), (24, 0)])
            write(store, run_id, figured(24, some))
    assert reached[:2] == [(7, 30), (14, 30)]
    expected = sorted_by_scan(store, run_id, SampleFilter(), order)
    assert [sample.sample for sample in page.items] == expected
    assert store.page_samples(run_id, order=order, limit=100, patience_s=0).items == page.items


@sqlite_only
def test_read_only_workspaces_without_an_index_give_the_same_pages(workspace: Workspace) -> None:
    with open_store(workspace) as store:
        run_id = new_run(store, *(record(index) for index in range(20)))
        expected = {where: by_scan(store, run_id, where) for where in FILTERS}
    with closing(sqlite3.connect(workspace.database)) as connection:  # as if nobody had looked at a page
        connection.execute("DELETE FROM sample_metrics")
        connection.execute("DELETE FROM sample_index")
        connection.execute("DELETE FROM marks WHERE name = 'samples' OR name LIKE 'figures/%'")
        connection.commit()
    for read_only in (True, False, True):
        with open_store(workspace, read_only=read_only) as store:
            assert {where: paged(store, run_id, where, 3) for where in FILTERS} == expected
    with open_store(workspace) as store:
        store.claim_run(run_id)
        write(store, run_id, [record(30, kind=1)])
    with open_store(workspace, read_only=True) as store:  # not yet in the index
        assert paged(store, run_id, SampleFilter(verdict="wrong"), 3)[-1] == (30, 0)


@sqlite_only
def test_a_filtered_page_reads_no_more_than_its_samples(workspace: Workspace) -> None:
    with open_store(workspace) as store:
        run_id = new_run(store, *(record(index, kind=index // 1000) for index in range(2000)))
        store.index_samples()
        assert len(store.page_samples(run_id, SampleFilter(verdict="wrong"), limit=50).items) == 50
        plan = store._connection.execute(  # type: ignore[attr-defined]
            "EXPLAIN QUERY PLAN " + PAGE.format(table="sample_index"),
            (run_id, "scored/wrong/s", "score/", 51),
        ).fetchall()
    steps = " ".join(str(row[3]) for row in plan)
    assert "SEARCH i USING PRIMARY KEY (run_id=? AND facet=? AND key>?)" in steps
    assert "SEARCH s USING INDEX steps_by_key (run_id=? AND key=?)" in steps
    assert "TEMP B-TREE" not in steps


@sqlite_only
def test_a_page_by_metric_reads_no_more_than_its_samples(workspace: Workspace) -> None:
    with open_store(workspace) as store:
        run_id = new_run(store, *(record(index, kind=index // 1000) for index in range(2000)))
        where = SampleFilter(metric="f1", below=0.7)
        assert len(store.page_samples(run_id, where, limit=50).items) == 50
        values = (run_id, "f1", "scored/wrong/s", bucket_of(0.5), 0.0, 0.7, "score/", 51)
        plan = store._connection.execute(  # type: ignore[attr-defined]
            "EXPLAIN QUERY PLAN " + METRIC_PAGE.format(table="sample_metrics"), values
        ).fetchall()
    steps = " ".join(str(row[3]) for row in plan)
    assert "SEARCH i USING PRIMARY KEY (run_id=? AND name=? AND facet=? AND bucket=? AND key>?)" in steps
    assert "SEARCH s USING INDEX steps_by_key (run_id=? AND key=?)" in steps
    assert "TEMP B-TREE" not in steps


@given(st.lists(st.floats(-1e15, 1e15) | st.floats(-1, 1) | st.just(5e-324), min_size=2, max_size=9))
def test_buckets_are_in_the_order_of_values(values: list[float]) -> None:
    values.sort()
    assert [bucket_of(value) for value in values] == sorted(bucket_of(value) for value in values)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    values=st.lists(st.floats(-3, 3) | st.sampled_from([0.0, 0.5, 1.0]), max_size=12),
    above=st.none() | st.floats(-3, 3),
    below=st.none() | st.floats(-3, 3),
)
def test_pages_by_metric_agree_with_a_scan(
    store: Store, values: list[float], above: float | None, below: float | None
) -> None:
    rows = [
        stored_step(
            step_key("score", n, 0),
            b"h",
            None,
            orjson.dumps({"o": "scored", "s": {"x": value}}),
            False,
            1.0,
            2.0,
        )
        for n, value in enumerate(values)
    ]
    run_id = new_run(store, *rows)
    where = SampleFilter(metric="x", above=above, below=below)
    assert paged(store, run_id, where, 3) == by_scan(store, run_id, where)


def spoken(index: int, *, target: object = "x", prompt: str = "", reply: str = "") -> StepValues:
    body = orjson.dumps({"model": "hidden", "messages": [{"role": "user", "content": prompt}]})
    answer = orjson.dumps({"s": "answered", "t": reply})
    score = orjson.dumps({"o": "scored", "t": target, "s": {"correct": index % 2 == 0}})
    return stored_step(step_key("score", index, 0), b"h", b"{}", score, True, 1.0, 2.0, b"c", body, answer)


def test_a_text_is_found_in_prompt_reply_and_target(store: Store) -> None:
    run_id = new_run(
        store,
        spoken(0, prompt='Where is "Zürich"?'),
        spoken(1, reply="In ZÜRICH, of course.\n"),
        spoken(2, target=["Bern", {"also": "zürich"}]),
        spoken(3, prompt="hidden elsewhere", reply="correct"),
        spoken(4),
    )
    assert paged(store, run_id, SampleFilter(text="zürich"), 1) == [(0, 0), (1, 0), (2, 0)]
    assert paged(store, run_id, SampleFilter(text='"zürich"'), 5) == [(0, 0)]
    assert paged(store, run_id, SampleFilter(text="course.\n"), 5) == [(1, 0)]
    assert paged(store, run_id, SampleFilter(text="ZüRICH", verdict="wrong"), 5) == [(1, 0)]
    assert paged(store, run_id, SampleFilter(text="hidden"), 5) == [(3, 0)], "names of models are no prompts"
    assert paged(store, run_id, SampleFilter(text="correct"), 5) == [(3, 0)], (
        "names of metrics are no replies"
    )


@sqlite_only
def test_the_search_for_a_text_stops_and_says_where_to_go_on(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_samples, "_MOST_SEARCHED", 400)
    with open_store(workspace) as store:
        run_id = new_run(store, *(spoken(n, reply="needle" if n in (3, 950) else "hay") for n in range(1000)))
        seen, after, pages = [], None, 0
        while True:
            page = store.page_samples(run_id, SampleFilter(text="needle"), after=after, limit=10)
            seen += [sample.sample for sample in page.items]
            pages += 1
            if page.next is None:
                break
            after = page.next
    assert (seen, pages) == ([3, 950], 3)


def test_a_filter_by_value_names_its_metric() -> None:
    with pytest.raises(UsageError, match="name of a metric"):
        SampleFilter(below=0.5)


@pytest.mark.parametrize("few", [0, 1_000])
@pytest.mark.parametrize("descending", [False, True])
def test_chosen_places_are_sorted_alike_by_either_plan(
    store: Store, monkeypatch: pytest.MonkeyPatch, few: int, descending: bool
) -> None:
    monkeypatch.setattr(sqlite_samples, "_FEW", few)
    run_id = new_run(store, *(record(index) for index in range(40)))
    other = [place_of(index, 0) for index in range(0, 40, 3)]
    for chosen in ([place_of(index, 0) for index in range(0, 40, 2)], other):
        found, after = [], None
        while True:
            order = SampleOrder("metric:f1", descending)
            page = store.page_samples(run_id, SampleFilter(places=chosen), order=order, after=after, limit=2)
            found += [place_of(*each[:2]) for each in page.items]
            after = page.next
            if after is None:
                break
        values = {place: orjson.loads(record(place // 10_000)[3] or b"{}").get("s") or {} for place in chosen}
        scored = [place for place in chosen if "f1" in values[place]]
        assert found == sorted(scored, key=lambda place: (values[place]["f1"], place), reverse=descending)


def test_the_same_row_is_found_under_any_number(store: Store) -> None:
    def rows(order: Sequence[int], kind: int) -> list[StepValues]:
        return [
            stored_step(
                step_key("score", at, repeat),
                b"%016d" % row,
                b"row %d" % row,
                orjson.dumps(KINDS[kind]),
                False,
                1.0,
                2.0,
            )
            for at, row in enumerate(order)
            for repeat in range(2)
        ]

    first = new_run(store, *rows(range(5), 0))
    second = new_run(store, *rows([3, 1, 4, 0, 9], 1))
    third = new_run(store, *rows(range(5), 1))
    places: dict[int, list[tuple[int, int, int]]] = {row: [] for row in range(5)}
    for row in places:
        found, unread = store.same_row(first, row, 1)
        places[row] = [(run, sample.sample, sample.repeat) for run, sample in found]
        assert unread == 0
    elsewhere = {3: 0, 1: 1, 4: 2, 0: 3}
    assert places == {
        row: [(third, row, 1), *([(second, elsewhere[row], 1)] if row in elsewhere else [])] for row in places
    }
    assert store.differing(second, first) is None, "they have other rows"
    changed = store.differing(third, first)
    assert changed is not None
    assert [(*each[:2],) for each in changed] == [(row, repeat) for row in range(5) for repeat in range(2)]
    assert store.differing(first, first) == []
