"""Two runs side by side: pairing, refusals, what counts as a difference."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec.structs import replace

from benchwright import ScriptedEndpoint, benchmark, compare, resume, run
from benchwright.cli import main
from benchwright.config import RunOptions
from benchwright.core import ModelReply, NotFoundError, RequestFailure, TokenUsage, UsageError
from benchwright.results._clusters import Clusters, SampleTexts, ScoreColumns
from benchwright.results._metric_comparison import MetricComparison
from benchwright.results._pairing import pairs_of
from benchwright.runs import rescore
from benchwright.stats import PairedResult, same_score
from benchwright.store import Workspace, open_store

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


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_a_small_p_value_is_never_shown_as_0(
    here: Path, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for right in (12, 0):
        run(every_row, endpoint=answering(right))
    main(["compare", "1", "2"])
    shown = capsys.readouterr().out
    assert "p < 0.001" in " ".join(shown.split())
    assert len(re.findall(r"< ?0\.001", shown)) >= 2, "in the sentence and in the table"
    assert not re.search(r"\d\.?\d*e-\d|\bp = 0(\.0+)?\b", shown)
    assert compare(1, 2).metrics[0].paired.p_value == pytest.approx(2 * 0.5**12)  # type: ignore[union-attr]


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


def test_changes_that_are_not_listed_are_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(every_row, endpoint=answering(12))
    run(every_row, endpoint=answering(4))
    for limit, said in (("3", "only the first 3 of 8 are shown; more with --limit or --all"), ("8", "")):
        assert main(["compare", "1", "2", "--limit", limit]) == 0
        shown = capsys.readouterr().out
        assert ("only the first" in shown) == bool(said)
        assert said in shown
        assert main(["compare", "1", "2", "--limit", limit, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["samples"]["changed"] == 8


@pytest.mark.parametrize("one", [every_row, later_rows])
@pytest.mark.parametrize("other", [every_row, later_rows])
@pytest.mark.parametrize("repeats", [1, 2])
def test_samples_that_changed_from_another_run_are_those_that_compare_counts(
    here: Path, capsys: pytest.CaptureFixture[str], one: Any, other: Any, repeats: int
) -> None:
    a = run(one, endpoint=answering(12), repeats=repeats)
    b = run(other, endpoint=answering(6))
    for first, second in ((a, b), (b, a)):
        found = compare(first.run_id, second.run_id, force=True)
        flags = ["--changed-from", str(first.run_id), "--limit", "2"]
        listed, after = [], None
        while True:
            more = [] if after is None else ["--after", str(after)]
            assert main(["show", str(second.run_id), *flags, *more, "--json"]) == 0
            page = json.loads(capsys.readouterr().out)
            listed += [f"{sample['sample_id']}/{sample['repeat']}" for sample in page["samples"]]
            after = page["next"]
            if after is None:
                break
        assert listed == sorted((change.step for change in found.changed), key=lambda key: int(key[:-2]))
        assert len(listed) == found.changes > 0


def test_a_run_without_samples_has_none_that_changed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(every_row, endpoint=answering(12))
    with open_store(Workspace(here)) as store:
        store.create_run(kind="load", name="l", target="l", model="m", folder=None, settings={}, manifest={})
    assert main(["show", "1", "--changed-from", "2"]) == 2
    assert "run 2 (l) has no samples" in capsys.readouterr().err
    assert main(["show", "1", "--changed-from", "9"]) == 4


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
    with pytest.raises(UsageError, match=r"read other data.*force=True"):
        compare(a.run_id, b.run_id)
    found = compare(a.run_id, b.run_id, force=True)
    assert (found.both, found.only_a, found.only_b) == (9, 3, 0)
    correct = next(metric for metric in found.metrics if metric.name == "correct")
    assert correct.paired is not None
    assert (correct.paired.pairs, correct.paired.losses) == (9, 6)
    assert any("read other data" in note.text for note in found.notes)


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


def test_runs_without_a_common_row_are_not_comparable(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = (run(kinds, endpoint=answering(6), filters=[f"kind={kind}"]) for kind in "xy")
    comparison = compare(a.run_id, b.run_id)
    assert (comparison.both, comparison.comparable) == (0, False)
    assert any("no row is in both runs" in note.text for note in comparison.notes)
    assert main(["compare", str(a.run_id), str(b.run_id)]) == 3
    shown = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(" correct"))
    assert shown.split()[-3:] == ["–", "–", "–"], "a difference of other rows is none"


@pytest.mark.parametrize("elsewhere", [False, True])
def test_rows_are_the_same_whatever_the_order_of_their_keys(here: Path, elsewhere: bool) -> None:
    nested = [{**row, "about": {"k": k, "big": 10**20 + k}} for k, row in enumerate([*KINDS, *KINDS[:3]])]
    turned = [
        {**dict(reversed(row.items())), "about": {"big": 10**20 + k, "k": k}} for k, row in enumerate(nested)
    ]
    turned[4]["about"]["big"] += 1  # another row, by a digit that floats do not have
    sides = []
    for number, rows in enumerate((nested, turned[::-1])):
        (here / f"{number}").mkdir()
        data = here / f"{number}" / "rows.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        done = run(every_row, dataset=str(data), endpoint=answering(6 + number), repeats=2)
        sides.append(str(done.folder) if elsewhere else done.run_id)
    for first, second in (sides, sides[::-1]):
        found = compare(first, second, force=True)
        assert (found.both, found.only_a, found.only_b) == (28, 2, 2)
        assert {step.input for step in found.steps if step.present == "both"} == {"same"}


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
        def __init__(self, run_id: int) -> None:
            self.rows = runs[run_id]

        def scored(self) -> Iterator[tuple[int, int, bytes, bytes]]:
            for index, (content, repeats) in enumerate(self.rows):
                for repeat in range(repeats):
                    yield index, repeat, content, b'{"o":"scored"}'

        def row_texts(self) -> Iterator[tuple[int, bytes | None]]:
            for index, (content, repeats) in enumerate(self.rows):
                yield from [(index, b'["%s"]' % content)] * repeats

        def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], SampleTexts]:
            return {}

    clusters = Clusters()
    found = list(pairs_of(*(clusters.samples(Records(run_id), ScoreColumns()) for run_id in (1, 2))))
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
    with pytest.raises(UsageError, match="prompted or scored in another way"):
        compare(a.run_id, b.run_id)


def test_the_setting_by_which_a_rescored_run_differs_is_named(here: Path) -> None:
    Path("quiz.csv").write_text("question,A,B,answer\n1+1=,1,2,B\n", encoding="utf-8")
    a = run("quiz.csv", model="demo")
    b = rescore(a.run_id, options=RunOptions(mcq_fallback="levenshtein"))
    with pytest.raises(
        UsageError, match=r"prompted or scored in another way \(mcq_fallback none → levenshtein\)\."
    ):
        compare(a.run_id, b.run_id)
    assert "(mcq_fallback none → levenshtein)" in compare(a.run_id, b.run_id, force=True).notes[0].text


def test_runs_of_two_ranges_are_compared_by_the_rows_in_both(here: Path) -> None:
    rows = "".join(f"{k}+1=,{k + 1},{k},A\n" for k in range(10))
    Path("quiz.csv").write_text(f"question,A,B,answer\n{rows}", encoding="utf-8")
    ranges: list[str | None] = ["[0:6]", "[3:9]", None, "4"]
    runs = [run("quiz.csv", model="demo", test_range=each).run_id for each in ranges]
    assert [compare(runs[0], other).both for other in runs[1:3]] == [3, 6]
    found = compare(runs[2], runs[3])
    assert (found.both, found.only_a, found.only_b) == (4, 6, 0)
    assert not any("in another way" in note.text or "other data" in note.text for note in found.notes)


@pytest.mark.parametrize("repeats", [(1, 3), (3, 1), (2, 3)])
def test_every_repeat_counts_where_their_numbers_differ(here: Path, repeats: tuple[int, int]) -> None:
    asked: Counter[int] = Counter()

    def reply(request) -> ModelReply:  # type: ignore[no-untyped-def]
        number = int(request.body["messages"][-1]["content"].split()[-1])
        asked[number] += 1
        return ModelReply("answered", "yes" if asked[number] % 3 else "no")

    sides = []
    for count in repeats:
        asked.clear()
        sides.append(run(every_row, endpoint=ScriptedEndpoint(reply), repeats=count, cache=False).run_id)
    correct = next(m for m in compare(*sides).metrics if m.name == "correct")
    assert correct.paired is not None
    means = [sum(k % 3 > 0 for k in range(1, count + 1)) / count for count in repeats]
    assert (correct.paired.mean_a, correct.paired.mean_b) == (
        pytest.approx(means[0]),
        pytest.approx(means[1]),
    )
    assert correct.paired.pairs == 12


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


@pytest.mark.parametrize("columns", [60, 80, 120])
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
    assert "look at one: benchwright show 2 4/0" in " ".join(shown.split())
    assert {"metric", "correct", "p"} <= set(shown.split()), "no column is left out"


@benchmark(name="long names", dataset=ROWS * 100, prompt="{q}")
def long_names(sample):  # type: ignore[no-untyped-def]
    return {"fallback_accuracy_of_all_the_rows": sample.response == sample.target}


@pytest.mark.parametrize(
    ("columns", "broken", "stacked"), [(150, False, False), (120, True, False), (80, True, True)]
)
def test_a_long_name_is_broken_before_numbers_are(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    broken: bool,
    stacked: bool,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run(long_names, endpoint=answering(12))
    run(long_names, endpoint=answering(4))
    assert main(["compare", "1", "2"]) == 0
    shown = capsys.readouterr().out.splitlines()
    (line,) = (line for line in shown if line.startswith(" fallback"))
    assert ("fallback_accuracy_of_all_the_rows" not in line) == broken
    assert ("[" not in line) == stacked, "value and interval share a line where there is room"
    assert max(map(len, shown)) <= columns


def test_the_command_fails_only_when_told_to(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(every_row, endpoint=answering(12))
    run(every_row, endpoint=answering(11))
    assert main(["compare", "1", "2"]) == 0
    assert (
        "Run 2 vs. run 1: 1 of 12 samples changed; no significant difference in correct (down 0.0833)"
        in " ".join(capsys.readouterr().out.split())
    )
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


def failing(right: int, failed: range) -> ScriptedEndpoint:
    def reply(request) -> ModelReply:  # type: ignore[no-untyped-def]
        number = int(request.body["messages"][-1]["content"].split()[-1])
        if number in failed:
            return ModelReply("failed", failure=RequestFailure("http", "no", http_status=400))
        return ModelReply("answered", "yes" if number < right else "no")

    return ScriptedEndpoint(reply)


def test_failures_count_as_wrong_in_a_second_test_and_the_runs_are_not_comparable(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(every_row, endpoint=answering(12))
    run(every_row, endpoint=failing(12, range(4, 12)))
    found = compare(1, 2)
    correct = next(metric for metric in found.metrics if metric.name == "correct")
    assert correct.paired is not None
    assert correct.failures_as_wrong is not None
    assert (correct.paired.pairs, correct.paired.difference) == (4, 0.0)
    assert correct.direction == "same", "no paired sample differs"
    wrong = correct.failures_as_wrong
    assert (wrong.pairs, wrong.losses, wrong.difference) == (12, 8, pytest.approx(-8 / 12))
    assert not found.comparable
    assert main(["compare", "1", "2"]) == 3
    shown = capsys.readouterr().out
    assert "as wrong" in shown
    assert "request_failed" in shown
    assert main(["compare", "1", "2", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["run_b"]["outcomes"]["request_failed"] == 8
    assert told["metrics"][0]["paired_failures_as_wrong"]["losses"] == 8
    assert (told["comparable"], told["exit_code"]) == (False, 3)


def test_failures_are_never_the_best_score_of_a_metric_where_less_is_better(here: Path) -> None:
    run(every_row, endpoint=answering(12))
    run(every_row, endpoint=failing(12, range(4, 12)))
    found = compare(1, 2, lower_is_better=["correct"])
    correct = next(metric for metric in found.metrics if metric.name == "correct")
    assert correct.lower_is_better
    assert correct.failures_as_wrong is None


def test_samples_that_fail_in_both_runs_are_wrong_in_both(here: Path) -> None:
    run(every_row, endpoint=failing(12, range(2)))
    run(every_row, endpoint=failing(6, range(2)))
    correct = next(metric for metric in compare(1, 2).metrics if metric.name == "correct")
    assert correct.failures_as_wrong is not None
    assert (correct.failures_as_wrong.pairs, correct.failures_as_wrong.ties) == (12, 6)


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ({"temperature": 0.7}, "$.generation.temperature"),
        ({"max_tokens": 9}, "$.generation.max_tokens"),
        ({"extra_body": {"min_p": 0.1}}, "$.generation.extra_body"),
        ({"seed": 7}, "$.generation.seed"),
        ({"repeats": 2}, "$.repeats"),
        ({"stop": ["\n"]}, "$.generation.stop"),
    ],
)
def test_whatever_was_asked_differently_is_said(
    here: Path, capsys: pytest.CaptureFixture[str], setting: dict[str, object], path: str
) -> None:
    run(every_row, endpoint=answering(6))
    run(every_row, endpoint=answering(6), **setting)  # type: ignore[arg-type]
    found = compare(1, 2)
    differences = found.inputs["differences"]
    assert isinstance(differences, list)
    assert path in [str(each["path"])[: len(path)] for each in differences]  # type: ignore[index,call-overload]
    main(["compare", "1", "2"])
    shown = capsys.readouterr().out
    first = shown.split("\n\n")[0].strip()
    assert first.startswith("Run 2 vs. run 1: ")
    assert "the same results\n" not in shown
    assert f"different settings: {path.removeprefix('$.')}" in " ".join(shown.split())


def test_what_changes_no_result_is_not_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(every_row, endpoint=answering(6), parallelism=2, max_requests=100)
    run(every_row, endpoint=answering(6), parallelism=3, output_dir="elsewhere")
    assert compare(1, 2).inputs["same"]
    main(["compare", "1", "2"])
    assert "Run 2 vs. run 1: the same results\n" in capsys.readouterr().out


def test_the_model_type_that_was_used_is_compared_and_not_the_requested_one(here: Path) -> None:
    run(every_row, endpoint=ScriptedEndpoint("yes"))
    run(every_row, endpoint=ScriptedEndpoint("yes"), model_type="chat")
    run(every_row, endpoint=ScriptedEndpoint("yes"), model_type="completions")
    assert compare(1, 2).inputs["same"]
    differences = compare(2, 3).inputs["differences"]
    assert differences == [{"path": "$.endpoint.type", "run_a": "chat", "run_b": "completions"}]


def test_other_rows_times_repeats_are_noticed(here: Path) -> None:
    run(every_row, endpoint=answering(6))
    run(every_row, endpoint=answering(6), limit=6, repeats=2)
    (warning,) = (note.text for note in compare(1, 2).notes if "covers" in note.text)
    assert "run 1 covers 12 rows × 1 repeat, run 2 6 rows × 2 repeats" in warning


@benchmark(name="slices", dataset=ROWS, prompt="{q}")
def slices(sample):  # type: ignore[no-untyped-def]
    number = int(sample.metadata["q"].split()[-1])
    right = sample.response == sample.target
    return {"correct": right, **{f"slice_{k}": right for k in range(9) if number >= k}}


def test_many_metrics_are_corrected_by_holms_rule(here: Path) -> None:
    run(slices, endpoint=answering(12))
    run(slices, endpoint=answering(6))
    metrics = compare(1, 2).metrics
    correct = next(metric for metric in metrics if metric.name == "correct")
    assert correct.paired is not None
    assert correct.paired.p_value == pytest.approx(2 * 0.5**6)
    assert len(metrics) == 10
    assert correct.p_adjusted == pytest.approx(9 * 2 * 0.5**6), "slice_0 has the pairs of correct"
    assert not any(metric.significant for metric in metrics)
    assert not compare(1, 2).regressed
    (alone,) = compare(1, 2, metric="correct").metrics
    assert alone.significant


@benchmark(name="copies", dataset=ROWS, prompt="{q}")
def copies(sample):  # type: ignore[no-untyped-def]
    right = sample.response == sample.target
    return {"correct": right, "copy": right, "parsed": True, "level": 0.25}


def test_copies_share_a_test_and_metrics_that_do_not_differ_have_none(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(copies, endpoint=answering(3))
    run(copies, endpoint=answering(12))
    found = compare(1, 2)
    metrics = {metric.name: metric for metric in found.metrics}
    p_value = 2 * 0.5**9
    assert metrics["correct"].p_adjusted == metrics["copy"].p_adjusted == pytest.approx(p_value)
    assert metrics["parsed"].p_adjusted is metrics["level"].p_adjusted is None
    assert found.tests == 1
    assert main(["compare", "1", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tests"], told["tests_failures_as_wrong"]) == (1, 0)
    values = {metric["name"]: metric["paired"]["p_value"] for metric in told["metrics"]}
    assert (values["correct"], values["parsed"]) == (pytest.approx(p_value), None)
    assert main(["compare", "1", "2"]) == 0
    shown = capsys.readouterr().out
    assert "is corrected" not in shown
    assert "same figures as correct: copy" in shown
    assert "no difference: level " in shown
    assert not [line for line in shown.splitlines() if line.startswith((" parsed", " copy"))]
    assert re.search(r"^ +3/0 .*question 3$", shown, re.MULTILINE), "the question is beside the flip"


@benchmark(name="mirrored", dataset=ROWS, prompt="{q}")
def mirrored(sample):  # type: ignore[no-untyped-def]
    right = sample.response == sample.target
    level = 0.7 if right else 0.3
    return {"correct": right, "error_rate": not right, "level": level, "distance": 1 - level}


def test_a_metric_and_its_complement_are_one_test(here: Path) -> None:
    run(mirrored, endpoint=answering(3))
    run(mirrored, endpoint=answering(12))
    found = compare(1, 2)
    metrics = {metric.name: metric for metric in found.metrics}
    assert found.tests == 2, "one of shares, one of levels: no more for the mirrored ones"
    for one, other in (("correct", "error_rate"), ("level", "distance")):
        assert metrics[one].p_adjusted == metrics[other].p_adjusted
        assert {metrics[one].direction, metrics[other].direction} == {"up", "down"}


def test_chance_is_a_constant_of_the_data(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"question {n},x{n},y{n},z{n},{'ABC'[n % 3]}" for n in range(30)]
    (here / "q.csv").write_text("\n".join(["question,A,B,C,answer", *lines]) + "\n")

    def letters(letter: str) -> ScriptedEndpoint:
        def reply(request) -> ModelReply:  # type: ignore[no-untyped-def]
            if "question 7" in str(request.body["messages"]):
                return ModelReply("failed", failure=RequestFailure("http", "no", http_status=400))
            return ModelReply("answered", letter)

        return ScriptedEndpoint(reply)

    first = run("q.csv", endpoint=letters("A"))
    run("q.csv", endpoint=letters("B"))
    chance = first.metrics["chance"]
    assert (chance.value, chance.interval) == (pytest.approx(1 / 3), "constant")
    assert chance.ci_low is chance.ci_high is chance.with_failures is None
    assert first.metrics["accuracy"].with_failures is not None
    text = next(here.glob(".benchwright/runs/0001-*/results.yml")).read_text()
    score = yaml.safe_load(text)["results"]["tasks"]["q"]["metrics"]["pass@1"]["scores"]["chance"]
    assert (score["interval"], sorted(score["stats"])) == (
        "constant",
        ["count", "max", "mean", "min", "stddev"],
    )
    found = next(metric for metric in compare(1, 2).metrics if metric.name == "chance")
    assert (found.paired, found.failures_as_wrong, found.p_adjusted) == (None, None, None)
    main(["compare", "1", "2"])
    assert re.search(r"no difference: chance 0\.3333", capsys.readouterr().out)
    main(["show", "1"])
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  chance"))
    assert row.split() == ["chance", "0.3333", "–", "30", "–", "–"]


def test_equal_values_are_not_called_too_few(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @benchmark(
        name="fives", dataset=[{"q": f"question {n}", "target": "yes"} for n in range(30)], prompt="{q}"
    )
    def fives(sample):  # type: ignore[no-untyped-def]
        return {"points": 5.0}

    run(fives, endpoint=answering(12))
    run(fives, endpoint=answering(12), limit=10)
    for number, words in ((1, "all equal"), (2, "too few")):
        main(["show", str(number)])
        (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  points"))
        assert words in row


def test_equal_differences_of_other_rows_are_another_test(here: Path) -> None:
    @benchmark(name="halves", dataset=ROWS, prompt="{q}")
    def halves(sample):  # type: ignore[no-untyped-def]
        half = "low" if int(sample.metadata["q"].split()[-1]) < 6 else "high"
        return {half: sample.response == sample.target}

    run(halves, endpoint=answering(0))
    run(halves, endpoint=answering(12))
    assert compare(1, 2).tests == 2


def test_lines_with_failures_as_wrong_are_corrected_and_p_decides(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run(slices, endpoint=failing(6, range(11, 12)))
    run(slices, endpoint=failing(10, range(10, 12)))
    found = compare(1, 2)
    correct = found.metrics[0]
    assert (correct.name, correct.failures_as_wrong is not None) == ("correct", True)
    wrong = correct.failures_as_wrong
    assert wrong is not None
    assert (wrong.wins, wrong.losses, wrong.p_value) == (4, 0, 0.125)
    assert wrong.ci_low is not None
    assert wrong.ci_low > 0
    tests = found.tests_failures_as_wrong
    assert correct.p_adjusted_failures_as_wrong == pytest.approx(min(1.0, tests * 0.125))
    main(["compare", "1", "2", "--json"])
    told = json.loads(capsys.readouterr().out)["metrics"][0]
    assert told["p_adjusted_failures_as_wrong"] == correct.p_adjusted_failures_as_wrong
    main(["compare", "1", "2"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "if an interval excludes 0 but p is 0.05 or more, p decides" in shown
    assert f"(for {tests} with failures as wrong) by Holm's method" in shown


def test_less_is_better_where_the_name_or_the_user_says_so(here: Path) -> None:
    @benchmark(name="errors", dataset=ROWS, prompt="{q}", lower_is_better=["edits"])
    def errors(sample):  # type: ignore[no-untyped-def]
        wrong = float(sample.response != sample.target)
        return {"wer": wrong, "edits": wrong, "strange": wrong}

    first = run(errors, endpoint=answering(2))
    run(errors, endpoint=answering(12))
    assert first.summary.lower_is_better == ["edits", "wer"]
    better = {metric.name: metric for metric in compare(1, 2).metrics}
    assert {name: metric.direction for name, metric in better.items()} == dict.fromkeys(better, "down")
    assert {name: metric.worse for name, metric in better.items()} == {
        "wer": False,
        "edits": False,
        "strange": True,
    }
    assert compare(1, 2).regressed
    assert not compare(1, 2, lower_is_better=["strange"]).regressed
    assert compare(2, 1, lower_is_better=["strange"]).regressed
    assert main(["compare", "1", "2", "--fail-on", "regression", "--lower-is-better", "strange"]) == 0


def test_a_failure_is_no_perfect_error_rate(here: Path) -> None:
    @benchmark(name="rates", dataset=ROWS, prompt="{q}")
    def rates(sample):  # type: ignore[no-untyped-def]
        return {"correct": True, "error_rate": 0.5}

    metrics = run(rates, endpoint=failing(12, range(6))).metrics
    assert metrics["correct"].with_failures == 0.5
    assert metrics["error_rate"].with_failures is None


def test_a_changed_module_that_the_scorer_imports_is_noticed(here: Path) -> None:
    (here / "bench.py").write_text(
        "from benchwright import benchmark\n"
        "@benchmark(name='b', dataset=[{'q': 'question 1', 'target': 'yes'}] * 3, prompt='{q}')\n"
        "def score(sample):\n"
        "    from rules.reading import right\n"
        "    return {'correct': right(sample.response)}\n"
    )
    (here / "rules").mkdir()
    (here / "rules" / "__init__.py").write_text("")
    reading = here / "rules" / "reading.py"
    reading.write_text("from . import words\ndef right(text):\n    return text == words.YES\n")
    (here / "rules" / "words.py").write_text("YES = 'yes'\n")
    (here / "unrelated.py").write_text("x = 1\n")
    run("bench.py", endpoint=answering(6), max_requests=1, parallelism=1)
    run("bench.py", endpoint=answering(6))
    manifest = json.loads(next(here.glob(".benchwright/runs/0002-*/manifest.json")).read_text())
    assert list(manifest["benchmark"]["modules"]) == [
        "rules/__init__.py",
        "rules/reading.py",
        "rules/words.py",
    ]
    (here / "unrelated.py").write_text("x = 2\n")
    (here / "rules" / "words.py").write_text("YES = 'no'\n")
    run("bench.py", endpoint=answering(6))
    with pytest.raises(UsageError, match=r"imported other code \(rules/words.py\)"):
        compare(2, 3)
    with pytest.raises(UsageError, match=r"rules/words.py, which the benchmark imports or reads, changed"):
        resume(1, endpoint=answering(6))


def test_part_of_the_tokens_is_no_total(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def reply(request) -> ModelReply:  # type: ignore[no-untyped-def]
        number = int(request.body["messages"][-1]["content"].split()[-1])
        return ModelReply("answered", "yes", usage=TokenUsage(10, 2) if number < 5 else None)

    result = run(every_row, endpoint=ScriptedEndpoint(reply))
    assert result.summary.prompt_tokens is None
    assert result.summary.partly_counted == {
        "samples": 5, "of": 12, "prompt_tokens": 50, "completion_tokens": 10,
    }  # fmt: skip
    assert main(["show", "1"]) == 0
    assert "in 5 of 12 samples" in " ".join(capsys.readouterr().out.split())
    text = next(here.glob(".benchwright/runs/0001-*/results.yml")).read_text()
    assert "partly_counted" in text
    complete = run(every_row, endpoint=answering(12))
    assert complete.summary.partly_counted is None


def test_settings_of_one_kind_of_endpoint_are_named_and_not_listed_as_unset(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n")
    run("q.csv", model="demo")
    run("q.csv", endpoint=ScriptedEndpoint(lambda request: "2"))
    capsys.readouterr()
    assert main(["compare", "1", "2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "model.skill 0.7" not in shown
    assert re.search(r"set only in run 1: [\w., ]*model\.skill, ", shown)


def test_another_model_behind_the_same_name_is_noted(here: Path) -> None:
    from msgspec.structs import replace

    from benchwright.results import ComparisonOptions, FoundRun
    from benchwright.results._comparing import compare_benchmarks
    from benchwright.store import Workspace, open_store

    for _ in range(2):
        run(every_row, endpoint=answering(4))
    with open_store(Workspace(here)) as store:
        runs = [
            replace(
                store.run(number),
                manifest={**store.run(number).manifest, "servers": {"u m": {"served": [name]}}},
            )
            for number, name in ((1, "old"), (2, "new"))
        ]
        found = compare_benchmarks(*(FoundRun.of(each, store) for each in runs), ComparisonOptions())
        assert "the servers listed other models: old and new" in [note.text for note in found.notes]
        assert found.inputs["same"], "where the servers are is not a setting"
        again = FoundRun.of(runs[0], store), FoundRun.of(replace(runs[0], id=2), store)
        assert not compare_benchmarks(*again, ComparisonOptions()).notes


@benchmark(name="steady", dataset=[{"q": f"question {k}"} for k in range(30)], prompt="{q}")
def steady(sample: Any) -> dict[str, float]:
    return {"correct": sample.response == "yes"}


@pytest.mark.parametrize("repeats", [(1, 4), (4, 1), (2, 3)])
def test_the_headline_never_calls_samples_the_same_whose_rows_differ(
    here: Path, repeats: tuple[int, int]
) -> None:
    """Only the first repeats have a partner: they may be the same where the means of the rows are not."""

    def wrong_later(request: Any) -> ModelReply:
        return ModelReply("answered", "no" if request.repeat else "yes", usage=TokenUsage(1, 1))

    for count in repeats:
        run(steady, endpoint=ScriptedEndpoint(wrong_later), repeats=count)
    sentence = compare(1, 2).sentence
    assert "are the same" not in sentence
    better, worse = (0, 30) if repeats[0] < repeats[1] else (30, 0)
    assert sentence.startswith(f"{better} rows better, {worse} worse, 0 the same; correct is significantly")


def _paired(low: float, high: float, p_value: float) -> MetricComparison:
    found = PairedResult.of([0.0, 0.5] * 20, [0.5, 0.5] * 20)
    result = replace(found, ci_low=low, ci_high=high, p_value=p_value)
    return MetricComparison("x", None, None, result, False, "up", False, p_adjusted=p_value)


@given(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.floats(0, 1))
def test_an_interval_and_a_p_value_that_disagree_are_explained(
    one: float, other: float, p_value: float
) -> None:
    metric = _paired(min(one, other), max(one, other), p_value)
    includes = min(one, other) <= 0 <= max(one, other)
    told = [
        significant
        for significant in (False, True)
        if metric.test_contradicts_interval(significant=significant)
    ]
    assert told == ([p_value < 0.05] if includes == (p_value < 0.05) else [])


@given(st.floats(-1, 1))
def test_an_end_of_an_interval_looks_like_zero_only_if_it_is(end: float) -> None:
    assert (float(MetricComparison.end(end)) == 0) == same_score(end, 0.0)
    assert not MetricComparison.end(end).startswith("-0.000") or float(MetricComparison.end(end)) < 0
