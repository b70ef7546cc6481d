"""Labels and trials in the store, on every driver: a label belongs to a row's content, and a person has one opinion on one thing."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from typing import Any

import orjson
import pytest
from backends import forget_samples, sqlite_only
from msgspec.structs import replace
from test_sample_pages import new_run

from benchwright.core import NotFoundError, UsageError, row_hash, step_key
from benchwright.store import (
    LABEL_KINDS,
    Label,
    SampleFilter,
    SampleOrder,
    Store,
    Trial,
    Workspace,
    open_store,
)
from stored_steps import stored_step

ROWS = [b'{"q":%d}' % number for number in range(5)]


def identity(number: int) -> str:
    return row_hash(ROWS[number]).hex()


def label(number: int = 0, kind: str = "ambiguous", value: str | None = None, **more: Any) -> Label:
    of_reply = LABEL_KINDS[kind].of_reply if kind in LABEL_KINDS else False
    known: dict[str, Any] = {
        "who": "ann", "created_at": 1.0, "run_id": 1, "sample_id": number, "repeat": 0, "reply": Label.reply_id("4") if of_reply else None,
    }  # fmt: skip
    return Label(row=identity(number), kind=kind, value=value, **{**known, **more})


def run_on(store: Store, order: list[int], repeats: int = 1) -> int:
    """A run on rows in some order; the f1 of a row is its number."""
    steps = [
        stored_step(
            step_key("score", place, repeat),
            row_hash(ROWS[number]),
            ROWS[number],
            orjson.dumps({"o": "scored", "s": {"correct": number % 2 == 0, "f1": float(number)}}),
            False,
            1.0,
            2.0,
        )
        for place, number in enumerate(order)
        for repeat in range(repeats)
    ]
    return new_run(store, *steps)


def test_the_page_offers_the_kinds_of_labels_that_there_are() -> None:
    code = (files("benchwright.reports") / "pages" / "app" / "labels.js").read_text(encoding="utf-8")
    offered = re.search(
        r"KINDS = (\[.*?\n\]);\nconst NEEDED = (\[.*?\]), SCORED = (\[.*?\])", code, re.DOTALL
    )
    assert offered is not None
    kinds, needed, scored = (orjson.loads(re.sub(r",\s*\]", "]", each)) for each in offered.groups())
    assert scored == [name for name, kind in LABEL_KINDS.items() if kind.scores]
    assert kinds == [[name, kind.words, kind.value or ""] for name, kind in LABEL_KINDS.items()]
    assert needed == [name for name, kind in LABEL_KINDS.items() if kind.needed]


VALUES = {
    "gold": None,
    "ambiguous": None,
    "extraction": "B",
    "judge": "C",
    "tag": "hard",
    "note": "<b>\u202e\ud800 & NUL",
}


@pytest.mark.parametrize("kind", LABEL_KINDS)
def test_a_label_comes_back_as_it_was_given(store: Store, kind: str) -> None:
    given = label(1, kind, VALUES[kind])
    kept = store.add_label(given)
    assert kept.id > 0
    expected = None if given.value is None else given.value.replace("\ud800", "?")
    assert replace(kept, id=0) == replace(given, value=expected)
    assert store.labels([identity(1)]) == [kept] == store.labels() == store.labels(kind=kind, who="ann")
    assert store.labels([identity(0)]) == store.labels([]) == store.labels(who="bob") == []
    assert store.remove_label(kept.id) == kept
    assert store.labels() == []
    with pytest.raises(NotFoundError):
        store.remove_label(kept.id)


@pytest.mark.parametrize("kind", LABEL_KINDS)
def test_a_person_has_one_opinion_and_several_tags(store: Store, kind: str) -> None:
    many, value = LABEL_KINDS[kind].many, VALUES[kind]
    first = store.add_label(label(0, kind, value))
    assert store.add_label(label(0, kind, value, created_at=9.0)) == first  # the same again changes nothing
    store.add_label(label(0, kind, value, who="bob"))
    assert len(store.labels()) == 2
    if LABEL_KINDS[kind].value is not None:
        store.add_label(label(0, kind, "another"))
        assert len(store.labels(who="ann")) == (2 if many else 1)
        assert store.labels(who="ann")[0].value == "another"
    if LABEL_KINDS[kind].of_reply:
        store.add_label(label(0, kind, value, reply=Label.reply_id("5")))
        assert len(store.labels(who="ann")) == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (label(0, "gild"), "Did you mean 'gold'"),
        (label(0, "ambiguous", "yes"), "has no value"),
        (label(0, "judge"), "needs a value: the grade"),
        (label(0, "tag", ""), "needs a value"),
        (label(0, "judge", "C", reply=None), "is about a reply"),
        (label(0, "note", "x" * 100_001), "100,001 characters"),
        (replace(label(0, "gold"), row=""), "could not be read"),
    ],
)
def test_what_is_no_label_is_refused(store: Store, wrong: Label, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        store.add_label(wrong)
    assert store.labels() == []


def test_labels_show_in_every_run_on_the_row_and_outlive_it(store: Store) -> None:
    one, other = run_on(store, [0, 1, 2]), run_on(store, [3, 2, 0], repeats=2)
    store.add_label(label(0, run_id=one))
    store.add_label(label(2, "tag", "hard", run_id=one))
    assert list(store.labelled(one)) == [(0, 0, identity(0)), (2, 0, identity(2))]
    assert [place[:2] for place in store.labelled(other)] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert [place[:2] for place in store.labelled(other, "tag")] == [(1, 0), (1, 1)]
    store.remove_run(one)
    assert len(store.labels()) == 2


def test_a_filter_by_labels_combines_with_every_other(store: Store) -> None:
    run = run_on(store, [0, 1, 2, 3, 4])
    for number in (1, 2, 4):
        store.add_label(label(number))
    store.add_label(label(3, "tag", "hard"))

    def found(order: SampleOrder | None = None, limit: int = 10, **where: Any) -> list[int]:
        rows: list[int] = []
        after: int | None = None
        while True:
            page = store.page_samples(run, SampleFilter(**where), after=after, limit=limit, order=order)
            rows += [sample.sample for sample in page.items]
            if page.next is None:
                return rows
            after = page.next

    for limit in (1, 2, 10):
        assert found(limit=limit, labelled="any") == [1, 2, 3, 4]
        assert found(limit=limit, labelled="ambiguous", verdict="right") == [2, 4]
        assert found(SampleOrder(None, True), limit, labelled="any") == [4, 3, 2, 1]
        assert found(SampleOrder("metric:f1", True), limit, labelled="ambiguous") == [4, 2, 1]
        assert found(SampleOrder("metric:f1"), limit, labelled="any", metric="f1", above=1.5) == [2, 3, 4]
        assert found(limit=limit, labelled="judge") == []
    with pytest.raises(UsageError, match="labelled is 'gild'"):
        SampleFilter(labelled="gild")


def test_pages_of_labels_meet_each_label_once(store: Store) -> None:
    numbers = [store.add_label(label(0, "tag", f"t{at}")).id for at in range(7)]
    seen: list[int] = []
    after: int | None = None
    while page := store.labels(after=after, limit=3):
        seen += [each.id for each in page]
        after = page[-1].id
    assert seen == sorted(numbers, reverse=True)


def test_trials_belong_to_a_sample_and_go_with_the_run(store: Store) -> None:
    run = run_on(store, [0, 1])
    known: dict[str, Any] = {"run_id": run, "sample_id": 1, "repeat": 0, "who": "ann", "created_at": 1.0}
    first = store.add_trial(Trial(**known, content={"response": "\ud800 5"}))
    second = store.add_trial(Trial(**known, content={"cost": 0.5}))
    assert (
        store.trials(run)
        == store.trials(run, (1, 0))
        == [second, replace(first, content={"response": "? 5"})]
    )
    assert store.trials(run, (0, 0)) == []
    store.remove_run(run)
    assert store.trials(run) == []


@sqlite_only
def test_a_read_only_store_of_an_earlier_version_has_no_labels(workspace: Workspace) -> None:
    import sqlite3
    from contextlib import closing

    with open_store(workspace) as opened:
        run = run_on(opened, [0, 1])
    with closing(sqlite3.connect(workspace.database)) as connection:
        connection.executescript("DROP TABLE labels; DROP TABLE trials; PRAGMA user_version = 8")
    with open_store(workspace, read_only=True) as opened:
        assert opened.labels() == opened.labels([identity(0)]) == opened.trials(run) == []
        assert list(opened.labelled(run)) == []
        assert opened.page_samples(run, SampleFilter(labelled="any")).items == []


def test_samples_with_labels_of_a_run_that_has_ended_follow_every_label_and_record(store: Store) -> None:
    some = random.Random(7)
    order = [0, 1, 2, 3, 4, 1]
    run_id = run_on(store, order)
    store.finish_run(run_id, "completed", summary={})
    given: dict[int, tuple[int, str]] = {}
    for turn in range(60):
        if given and some.random() < 0.45:
            number = some.choice([max(given), *given])
            store.remove_label(number)
            del given[number]
        else:
            row, kind = some.randrange(5), some.choice(["ambiguous", "tag"])
            number = (
                store.add_label(
                    label(row, kind, f"{turn}" if kind == "tag" else None, who=some.choice("ab"))
                ).id
                or 0
            )
            given = {each.id or 0: (int(each.sample_id), each.kind) for each in store.labels()}
            assert number in given
        if turn == 30:  # a record is lost
            forget_samples(store, run_id, [(5, 0)])
            order = order[:5]
        for wanted in (None, "tag"):
            rows = {row for row, kind in given.values() if wanted in (None, kind)}
            expected = [(place, 0, identity(row)) for place, row in enumerate(order) if row in rows]
            assert list(store.labelled(run_id, wanted)) == expected
