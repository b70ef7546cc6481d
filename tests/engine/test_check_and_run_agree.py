"""What `check` calls ready can start, and what a run refuses `check` reports, in the same words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.core import BenchwrightError
from benchwright.runs import check

BENCH = """
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import contains

@benchmark(name="qa", dataset="rows.jsonl", prompt="{{question}}"{more})
@scorer
def score(sample: ScorerInput) -> dict:
    return contains(sample)
"""

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.chdir(tmp_path)

    def written(more: str, rows: list[dict[str, Any]]) -> Path:
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "rows.jsonl").write_text(lines, encoding="utf-8")
        path = tmp_path / "bench.py"
        path.write_text(BENCH.format(more=more), encoding="utf-8")
        return path

    return written


def both_refuse(bench: Path, *parts: str, **options: Any) -> None:
    (report,) = check(bench, **options)
    assert not report.ok
    told = "\n".join([*report.errors, *map(str, report.bad_rows)])
    script = ScriptedEndpoint(lambda request: "x")
    given: dict[str, Any] = {} if "model_url" in options else {"endpoint": script}
    with pytest.raises(BenchwrightError) as raised:
        benchwright.run(bench, workspace=bench.parent, **given, **options)
    assert raised.value.exit_code == 2
    assert script.requests == []
    for part in parts:
        assert part in told
        assert part in str(raised.value)


def both_go_on(bench: Path, note: str) -> None:
    (report,) = check(bench)
    assert report.ok
    assert any(note in warning for warning in report.warnings)
    result = benchwright.run(bench, workspace=bench.parent, endpoint=ScriptedEndpoint(lambda request: "x"))
    assert result.exit_code == 0
    assert any(note in told for told in result.summary.notes)


def test_a_named_target_that_no_row_has_is_refused(make: Make) -> None:
    bench = make(', target_field="gold"', [{"question": "a", "label": "b"}] * 3)
    both_refuse(bench, 'no row has the field "gold"', 'target_field="')


def test_a_benchmark_may_do_without_the_default_target(make: Make) -> None:
    both_go_on(make("", [{"question": "a", "label": "b"}] * 3), 'no row has the field "target"')


def test_a_column_that_is_nearly_the_default_target_is_told(make: Make) -> None:
    both_go_on(make("", [{"question": "a", "targets": "b"}] * 3), 'Did you mean "targets"?')


def test_a_key_that_is_not_set_is_told_before_the_run(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    bench = make("", [{"question": "a", "target": "b"}])
    model = {"model_url": "http://127.0.0.1:9/v1", "model_id": "m", "api_key_name": "NO_SUCH_KEY"}
    both_refuse(bench, "export NO_SUCH_KEY=…", **model)
    monkeypatch.setenv("NO_SUCH_KEY", "k")
    assert check(bench, **model)[0].ok


def test_a_judges_key_that_is_not_set_is_told_before_the_run(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    judge = {"url": "http://127.0.0.1:9/v1", "model_id": "j", "api_key": "NO_SUCH_KEY"}
    bench = make(f", extra={{'judge': {judge}}}", [{"question": "a", "target": "b"}])
    both_refuse(bench, "export NO_SUCH_KEY=…")
    monkeypatch.setenv("NO_SUCH_KEY", "k")
    assert check(bench)[0].ok


RANKS = ', endpoint_type="completions_logprob", choices_field="options"'


def test_an_empty_candidate_is_a_bad_row_with_its_line(make: Make) -> None:
    good = {"question": "a", "options": [" x", " y"], "target": 0}
    bench = make(RANKS, [good, {**good, "options": [" x", "", " y"]}, good])
    both_refuse(bench, 'rows.jsonl:2: candidate 2 of 3 in "options" is empty', "give it a text")
    (report,) = check(bench)
    assert [(bad.line, bad.field) for bad in report.bad_rows] == [(2, "options")]
    result = benchwright.run(bench, workspace=bench.parent, skip_bad_rows=True)
    assert result.summary.outcomes["skipped"] == 1
    assert result.summary.outcomes["scored"] == 2


def test_an_empty_fixed_candidate_is_told_with_its_place(make: Make) -> None:
    more = ', endpoint_type="completions_logprob", choices=[" x", ""]'
    bench = make(more, [{"question": "a", "target": 0}])
    both_refuse(bench, 'candidate 2 of 2 in "choices" is empty', "choices= in @benchmark")
