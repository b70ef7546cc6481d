"""Samples by page: a filter and a cursor in, a page out; the store and the folder of the run's files give the same pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from recorded_runs import SUMMARY, chat_call, every_kind_of_sample, score, write_run_files

from benchwright.core import ModelReply, Outcome, StepValues
from benchwright.reports.files import parquet, small_parquet
from benchwright.results import StoreSamples, _folder_pages
from benchwright.results._benchmarks import benchmark_samples
from benchwright.results._run_folders import FolderSamples
from benchwright.results._sample_columns import SampleView
from benchwright.results._samples import SamplePages
from benchwright.store import RunRecord, SampleFilter, Store

FILTERS = [
    SampleFilter(outcome, verdict, scored, error, metric, above, below, text)
    for outcome, verdict, scored, error, (metric, above, below), text in product(
        (None, Outcome.SCORED.value, Outcome.REQUEST_FAILED.value, Outcome.UNPARSED.value),
        (None, "right", "wrong"),
        (None, True, False),
        (None, False),
        ((None, None, None), ("correct", None, None), ("correct", 0.5, None), ("f1", None, 0.5), ("none", None, None)),
        (None, "capital", "PARIS"),
    )
]  # fmt: skip
"""Every combination of what a filter can say."""


def all_pages(samples: SamplePages, where: SampleFilter, limit: int) -> Iterator[SampleView]:
    """The samples of all pages; a cursor that stood still would never end."""
    after: int | None = None
    while True:
        page = samples.page(where, after=after, limit=limit)
        assert len(page.items) <= limit
        yield from page.items
        if page.next is None:
            return
        assert after is None or page.next > after
        after = page.next


def more_samples(rows: int) -> list[StepValues]:
    steps = []
    for row in range(10, 10 + rows):
        steps += [
            chat_call(
                row, 0, ModelReply("answered", "Paris" if row % 3 else "Rome"), f"the capital of {row}"
            ),
            score(row, 0, {"o": "scored", "s": {"correct": bool(row % 3), "f1": row % 7 / 7}, "t": "Paris"}),
        ]
    return steps


@pytest.fixture(params=["one row group", "many row groups"])
def places(
    store: Store,
    record: Callable[..., RunRecord],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[StoreSamples, FolderSamples]:
    if request.param == "many row groups":
        monkeypatch.setattr(small_parquet, "MOST_ROWS", 0)  # written by pyarrow
        monkeypatch.setattr(parquet, "GROUP_ROWS", 8)
    run = record([*every_kind_of_sample(), *more_samples(30)])
    write_run_files(store, run, SUMMARY)
    return StoreSamples(store, run.id), FolderSamples(run.folder)


@pytest.mark.parametrize("limit", [1, 7, 1000])
@pytest.mark.usefixtures("any_place")
def test_store_and_folder_give_the_same_pages(
    places: tuple[StoreSamples, FolderSamples], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_folder_pages, "MOST_SEARCHED", 5)
    stored, filed = places
    every = list(all_pages(stored, SampleFilter(), 1000))
    assert len(every) > 30
    for where in FILTERS[limit % 31 :: 31]:
        expected = list(all_pages(stored, where, limit))
        assert [view[:2] for view in expected] == sorted(view[:2] for view in expected)
        assert {view[:2] for view in expected} <= {view[:2] for view in every}
        assert list(all_pages(filed, where, limit)) == expected, where


def test_a_page_of_a_folder_reads_no_row_group_before_its_cursor(
    store: Store, record: Callable[..., RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setattr(small_parquet, "MOST_ROWS", 0)
    monkeypatch.setattr(parquet, "GROUP_ROWS", 8)
    run = record(more_samples(64))
    write_run_files(store, run, SUMMARY)
    read: list[int] = []
    whole = pq.ParquetFile.read_row_group

    def noted(self: pq.ParquetFile, group: int, **options: object) -> object:
        read.append(group)
        return whole(self, group, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", noted)
    page = FolderSamples(run.folder).page(SampleFilter(), after=(10 + 40) * 10_000, limit=3)
    assert [view.sample_id for view in page.items] == [51, 52, 53]
    assert set(read) == {5}


def test_the_list_of_a_command_goes_on_where_the_last_ended(
    store: Store, record: Callable[..., RunRecord]
) -> None:
    run = record(more_samples(9))
    where, seen, after = SampleFilter(verdict="right"), [], None
    while True:
        page = benchmark_samples(store, run, where, after, 2)
        told = page.to_json()
        seen += [sample.sample.sample_id for sample in page.samples]
        after = told["next"]
        if after is None:
            break
    assert seen == [10, 11, 13, 14, 16, 17]
