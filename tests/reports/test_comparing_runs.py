"""Two runs side by side: pairing, refusals, what counts as a difference."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright import ScriptedEndpoint, benchmark, compare, run
from benchwright.cli import main
from benchwright.core import ModelReply, NotFoundError, UsageError
from benchwright.reports._compare.pairing import pairs_of
from benchwright.sdk import RunOptions, rescore

ROWS = [{"q": f"question {k}", "target": "yes"} for k in range(12)]


def paired(sample):  # type: ignore[no-untyped-def]
    return {"correct": sample.response == sample.target, "length": len(sample.response)}


@benchmark(name="all rows", dataset=ROWS, prompt="{q}")
def every_row(sample):  # type: ignore[no-untyped-def]
    return paired(sample)


@benchmark(name="later rows", dataset=ROWS[3:], prompt="{q}")
def later_rows(sample):  # type: ignore[no-untyped-def]
    return paired(sample)


@benchmark(name="politely", dataset=ROWS, prompt="Please: {q}")
def politely(sample):  # type: ignore[no-untyped-def]
    return paired(sample)


def answering(right: int) -> ScriptedEndpoint:
    def reply(request) -> ModelReply:  # type: ignore[no-untyped-def]
        number = int(request.body["messages"][-1]["content"].split()[-1])
        return ModelReply("answered", "yes" if number < right else "no")

    return ScriptedEndpoint(reply)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_losses_are_counted_and_listed_first(here: Path) -> None:
    a = run(every_row, endpoint=answering(12))
    b = run(every_row, endpoint=answering(4))
    found = compare(a.run_id, b.run_id)
    correct = next(metric for metric in found.metrics if metric.name == "correct")
    assert correct.paired is not None
    assert (correct.paired.wins, correct.paired.losses, correct.paired.ties) == (0, 8, 4)
    assert correct.paired.p_value == pytest.approx(2 * 0.5**8)
    assert correct.direction == "down"
    assert found.differs
    assert found.regressed
    assert [change.step for change in found.changed] == [f"{k}/0" for k in range(4, 12)]
    assert found.both == 12


def test_equal_runs_do_not_differ(here: Path) -> None:
    a, b = (run(every_row, endpoint=answering(6)) for _ in range(2))
    found = compare(a.run_id, b.run_id)
    assert not found.differs
    assert not found.changed
    assert {metric.direction for metric in found.metrics} == {"same"}


def test_a_tolerance_hides_small_differences(here: Path) -> None:
    a = run(every_row, endpoint=answering(12))
    b = run(every_row, endpoint=answering(11))
    assert compare(a.run_id, b.run_id, metric="length").differs
    assert not compare(a.run_id, b.run_id, tolerance=1.0).differs


def test_other_data_are_refused_and_paired_by_content_when_forced(here: Path) -> None:
    a = run(every_row, endpoint=answering(12))
    b = run(later_rows, endpoint=answering(6))
    with pytest.raises(UsageError, match=r"read other data.*--force"):
        compare(a.run_id, b.run_id)
    found = compare(a.run_id, b.run_id, force=True)
    assert (found.both, found.only_a, found.only_b) == (9, 3, 0)
    correct = next(metric for metric in found.metrics if metric.name == "correct")
    assert correct.paired is not None
    assert (correct.paired.pairs, correct.paired.losses) == (9, 6)
    assert any("read other data" in text for text in found.warnings)


KINDS = [{"q": f"question {k}", "target": "yes", "kind": "xyz"[k % 3]} for k in range(12)]


@benchmark(name="kinds", dataset=[*KINDS, *KINDS[:3]], prompt="{q}")
def kinds(sample):  # type: ignore[no-untyped-def]
    return paired(sample)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ({}, {"filters": ["kind=y"]}, 5),
        ({"filters": ["kind=x"]}, {"filters": ["kind=y"]}, 0),
        ({"filters": ["kind=y"]}, {"limit": 4}, 1),
        ({"limit": 3}, {}, 3),
        ({"repeats": 2}, {"filters": ["kind=z"]}, 5),
    ],
)
def test_the_same_rows_are_paired_whatever_was_filtered_or_limited(
    here: Path, one: dict[str, Any], other: dict[str, Any], both: int
) -> None:
    a = run(kinds, endpoint=answering(6), **one)
    b = run(kinds, endpoint=answering(6), **other)
    for first, second in ((a, b), (b, a)):
        found = compare(first.run_id, second.run_id, force=True)
        assert found.both == both
        assert not found.changed, "every row has the same reply in both runs"
        correct = next(metric for metric in found.metrics if metric.name == "correct")
        if both:
            assert correct.paired is not None
            assert (correct.paired.wins, correct.paired.losses) == (0, 0)
        else:
            assert correct.paired is None


def test_a_rescored_part_of_a_run_is_compared_row_by_row(here: Path) -> None:
    (here / "rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in [*KINDS, *KINDS[:3]]), encoding="utf-8"
    )
    (here / "bench.py").write_text(
        "from benchwright import benchmark, scorer\n\n"
        '@benchmark(name="part", dataset="rows.jsonl", prompt="{q}")\n'
        "@scorer\ndef part(sample):\n"
        '    return {"correct": sample.response == sample.target}\n',
        encoding="utf-8",
    )
    a = run("bench.py", endpoint=answering(6))
    b = rescore(a.run_id, options=RunOptions(filters=("kind=y",)))
    found = compare(a.run_id, b.run_id)
    assert (found.both, found.only_a, found.only_b) == (5, 10, 0)
    assert not found.changed


@given(data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_pairs_are_rows_of_equal_content_and_each_is_paired_once(data: st.DataObject) -> None:
    rows = st.lists(st.tuples(st.sampled_from([b"x", b"y", b"z"]), st.integers(1, 2)), max_size=6)
    runs = {1: data.draw(rows), 2: data.draw(rows)}

    class Records:
        def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
            for index, (content, repeats) in enumerate(runs[run_id]):
                for repeat in range(repeats):
                    yield index, repeat, content, b"{}"

    found = list(pairs_of(Records(), 1, 2))  # type: ignore[arg-type]
    places: dict[int, Any] = {side: Counter() for side in (1, 2)}
    numbers: dict[int, Counter[bytes]] = {1: Counter(), 2: Counter()}
    nth: dict[tuple[int, int], tuple[bytes, int]] = {}
    for side, listed in runs.items():
        for index, (content, _) in enumerate(listed):
            nth[side, index] = content, numbers[side][content]
            numbers[side][content] += 1
    for a, b in found:
        for side, half in ((1, a), (2, b)):
            if half is not None:
                places[side][half.row, half.repeat] += 1
        if a is not None and b is not None:
            assert (nth[1, a.row], a.repeat) == (nth[2, b.row], b.repeat)
    for side, listed in runs.items():
        assert places[side] == Counter(
            (n, r) for n, (_, repeats) in enumerate(listed) for r in range(repeats)
        )
    shared = sum((numbers[1] & numbers[2]).values())
    assert len({(a.row, b.row) for a, b in found if a is not None and b is not None}) == shared


def test_another_prompt_is_refused(here: Path) -> None:
    a = run(every_row, endpoint=answering(12))
    b = run(politely, endpoint=answering(12))
    with pytest.raises(UsageError, match="asked or scored in another way"):
        compare(a.run_id, b.run_id)


def test_repeats_are_averaged_per_row(here: Path) -> None:
    a = run(every_row, endpoint=answering(12), repeats=2)
    b = run(every_row, endpoint=answering(3), repeats=2)
    correct = next(m for m in compare(a.run_id, b.run_id).metrics if m.name == "correct")
    assert correct.paired is not None
    assert (correct.paired.pairs, correct.paired.losses) == (12, 9)


def test_a_run_is_not_compared_with_itself_or_with_nothing(here: Path) -> None:
    a = run(every_row, endpoint=answering(12))
    with pytest.raises(UsageError, match="with itself"):
        compare(a.run_id, a.run_id)
    with pytest.raises(NotFoundError, match="no run '77'"):
        compare(a.run_id, 77)
    b = run(every_row, endpoint=answering(12))
    with pytest.raises(NotFoundError, match="Did you mean"):
        compare(a.run_id, b.run_id, metric="corect")


@pytest.mark.parametrize("columns", [80, 120])
def test_numbers_are_not_broken_in_a_narrow_terminal(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run(every_row, endpoint=answering(12))
    run(every_row, endpoint=answering(4))
    assert main(["compare", "1", "2"]) == 0
    shown = capsys.readouterr().out
    found = next(metric for metric in compare(1, 2).metrics if metric.name == "correct")
    assert found.paired is not None
    assert f"[{found.paired.ci_low:+.3f}, {found.paired.ci_high:+.3f}]" in shown
    assert max(map(len, shown.splitlines())) <= columns
    assert "look at one: benchwright show 2 4/0" in shown


def test_the_command_fails_only_when_told_to(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(every_row, endpoint=answering(12))
    run(every_row, endpoint=answering(11))
    assert main(["compare", "1", "2"]) == 0
    assert "they differ" in capsys.readouterr().out
    assert main(["compare", "1", "2", "--fail-on-diff"]) == 1
    assert main(["compare", "1", "2", "--fail-on", "regression"]) == 0  # one of twelve may be chance
    capsys.readouterr()
    assert main(["compare", "1", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["differs"] is True
    assert told["steps"] == [
        {"step": "11/0", "present": "both", "input": "same", "status": "same", "output": "differs"}
    ]
    paths = {found["path"] for found in told["output_differences"][0]["field_differences"]}
    assert paths == {"$.scores.correct", "$.scores.length"}
    assert told["metrics"][0]["paired"]["test"] in ("mcnemar", "wilcoxon")
