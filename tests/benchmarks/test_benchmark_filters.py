"""Filters: which rows of a dataset a benchmark keeps, and what is said when none is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright import benchmark
from benchwright.benchmarks import BenchmarkSpec, CheckReport, RowSettings, load_benchmarks
from benchwright.benchmarks._prompts import build_prompts
from benchwright.benchmarks._scan import scan_rows
from benchwright.core import BenchmarkError
from benchwright.datasets import Filter, open_dataset

FILE = """
from benchwright import benchmark, scorer
ROWS = [{"frage": f"question {i}", "sprache": "hi" if i < 3 else "en", "level": i % 2} for i in range(10)]

@benchmark("b", ROWS, "{q}", field_mapping={"frage": "q", "sprache": "lang"}, FILTERS)
@scorer
def s(sample):
    return {"correct": True}
"""


def spec_with(tmp_path: Path, filters: str) -> BenchmarkSpec:
    (tmp_path / "b.py").write_text(FILE.replace("FILTERS", f"filters={filters}"))
    return load_benchmarks("b.py", cwd=tmp_path)[0]


def test_rows_are_kept_by_the_names_in_the_data_compared_as_text(tmp_path: Path) -> None:
    spec = spec_with(tmp_path, '{"sprache": "hi", "level": 0}')
    assert spec.filters == (Filter("sprache", "hi"), Filter("level", "0"))
    report = CheckReport.of(spec)
    assert (report.rows, report.errors, report.unused_fields) == (2, (), ())
    assert report.samples[1].messages[0]["content"] == "question 2"
    assert CheckReport.of(spec, RowSettings(limit=1)).rows == 1
    assert spec_with(tmp_path, "None").filters == ()


@pytest.mark.parametrize(
    ("filters", "parts"),
    [
        (
            '{"sprache": "hii"}',
            [
                "b.py:",
                'matches the filter "sprache=hii"',
                '"en" (7), "hi" (3)',
                "Did you mean 'hi'?",
            ],
        ),
        (
            '{"level": 1, "sprache": "fr"}',
            ["sprache=fr", "5 rows that pass the filters before it", '"en" (4)'],
        ),
        (
            '{"lang": "hi"}',
            ["column 'lang', which no row has; there are: frage, sprache, level", "called 'sprache' before"],
        ),
        ('{"lvel": 1}', ["column 'lvel', which no row has", "Did you mean 'level'?"]),
        ('{"frage": "x"}', ['"question 5" (1), …']),
    ],
)
@pytest.mark.parametrize("shots", [0, 2])
def test_filters_that_leave_no_row_say_what_there_is(
    tmp_path: Path, filters: str, parts: list[str], shots: int
) -> None:
    report = CheckReport.of(spec_with(tmp_path, filters), RowSettings(num_fewshot=shots, fewshot_strict=True))
    assert not report.ok
    (error,) = report.errors
    for part in parts:
        assert part in error


def test_a_scan_without_rows_blames_the_filters_only_where_they_are_to_blame(tmp_path: Path) -> None:
    spec = spec_with(tmp_path, '{"sprache": "xx"}')
    reader = open_dataset(spec.dataset, filters=spec.filters)
    with pytest.raises(BenchmarkError, match=r"no row of .* matches the filter"):
        scan_rows(spec, reader, build_prompts(spec))
    empty = BenchmarkSpec(
        name="e", key="e", dataset=[], prompt="{q}", scorer=print, filters=(Filter("sprache", "hi"),)
    )
    assert CheckReport.of(empty).errors == ("the dataset has no rows",)


@pytest.mark.parametrize(
    ("filters", "part"),
    [
        (["lang"], "filters is list; give a dict"),
        ({"lang": ["hi", "en"]}, r"filters\['lang'\] is .*give one value"),
        ({1: "hi"}, "names the field 1"),
    ],
)
def test_what_is_no_filter_is_refused_at_once(filters: Any, part: str) -> None:
    with pytest.raises(BenchmarkError, match=part):
        benchmark("b", [], "{q}", filters=filters)
