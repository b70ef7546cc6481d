"""What a gate says about runs: GO only with evidence, NO-GO beyond chance, INCONCLUSIVE for everything else."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from gate_runs import fewer_rows, gate_run, graded_rows, politely
from msgspec import structs
from rich.console import Console

import benchwright
from benchwright import NotFoundError, UsageError, Verdict, benchmark, bless
from benchwright.cli import main
from benchwright.core import ConfigError
from benchwright.reports import drawn
from benchwright.reports.files.verdict_documents import junit, markdown
from benchwright.results import Policy
from benchwright.runs import export_baseline


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(run: Any, baseline: Any = None, **tables: Any) -> Verdict:
    return benchwright.gate(run, policy=tables, baseline=baseline)


def words(verdict: Verdict) -> list[str]:
    return [row.verdict.value for row in verdict.rows[1:]]


def threshold(**keys: Any) -> dict[str, Any]:
    return {"metric": "correct", "bound": "lower", **keys}


def test_a_threshold_is_met_missed_or_open_by_its_interval() -> None:
    run = gate_run(range(40))  # 0.8 of 200, interval about 0.74 to 0.85
    found = judged(run, threshold=[threshold(min=0.7), threshold(min=0.9, failures_as_wrong=True)])
    assert words(found) == ["GO", "NO-GO"]
    assert found.exit_code == 1
    open_one = judged(run, threshold=[threshold(min=0.78)])
    assert words(open_one) == ["INCONCLUSIVE"]
    row = open_one.rows[1]
    assert row.n_needed is not None
    assert row.n_needed > 200
    assert "would decide with 80 % power" in row.reason
    assert judged(run, threshold=[threshold(min=0.78, bound="upper")]).verdict == "GO"
    assert judged(run, threshold=[threshold(min=0.81, bound="value")]).verdict == "NO-GO"


def test_a_long_reason_stands_below_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    found = judged(gate_run(range(40)), threshold=[threshold(min=0.7)])
    long = "word " * 30 + "end"
    rows = (found.rows[0], structs.replace(found.rows[1], reason=long))
    Console(width=400).print(drawn(structs.replace(found, rows=rows)))
    shown = capsys.readouterr().out.splitlines()
    assert f"{rows[1].rule}: {long}" in [line.rstrip() for line in shown]
    assert sum(line.rstrip().endswith("see below") for line in shown) == 1


def test_the_table_names_no_common_size_of_figures_with_different_units(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shares = judged(gate_run(range(60)), gate_run(), regression=[{"metric": "correct", "bound": "upper"}])
    first, row = shares.rows
    words = structs.replace(row, observed=12.5, interval=(10.0, 15.0), detectable=0.9, p=0.2, p_holm=0.2)
    for rows, named in (((first, row), True), ((first, words), False), ((first, row, words), False)):
        Console(width=200).print(drawn(structs.replace(shares, rows=rows)))
        shown = capsys.readouterr().out
        assert ("test would find a miss of" in shown) is named
        assert ("< 0.001" in shown) is (row in rows), "p is never shown as 0"


def test_the_interval_is_that_of_the_run_and_follows_the_level() -> None:
    run = gate_run(range(40))
    metric = run.summary.metrics["correct"]
    row = judged(run, threshold=[threshold(min=0.5)]).rows[1]
    assert row.interval == pytest.approx((metric.ci_low, metric.ci_high))
    wider = judged(run, threshold=[threshold(min=0.5, level=0.999)]).rows[1]
    assert wider.interval is not None
    assert row.interval is not None
    assert wider.interval[0] < row.interval[0]


def test_a_largest_value_is_held_by_the_upper_end() -> None:
    run = gate_run(range(40))
    found = judged(run, threshold=[{"metric": "wer", "max": 0.3, "bound": "upper"}])
    assert words(found) == ["GO"]
    assert words(judged(run, threshold=[{"metric": "wer", "max": 0.01, "bound": "upper"}])) == ["NO-GO"]


def test_slices_and_patterns_give_a_row_each_and_one_bad_slice_is_found() -> None:
    run = gate_run([k for k in range(200) if k % 5 == 1][:30])  # 30 of 40 in law are wrong
    found = judged(run, threshold=[threshold(min=0.6, slices="category")])
    assert words(found) == ["GO", "NO-GO", "GO", "GO", "GO"]
    assert found.rows[2].rule == "correct, category = law"
    assert found.tests == 5
    dynamic = judged(run, threshold=[{"metric": "acc_*", "min": 0.6, "bound": "lower"}])
    assert words(dynamic) == words(found)
    nested = judged(run, threshold=[threshold(min=0.6, slices="about.tier")])
    assert [row.rule for row in nested.rows[1:]] == ["correct, about.tier = 0", "correct, about.tier = 1"]


def test_a_regression_is_found_by_pairs_and_holm_counts_all_slices() -> None:
    before, after = gate_run(range(10)), gate_run(range(10, 40))
    rule = {"metric": "correct", "bound": "upper"}
    found = judged(after, before, regression=[rule])
    row = found.rows[1]
    assert row.verdict == "NO-GO"
    assert row.test == "McNemar's exact test"
    assert row.observed == pytest.approx(-0.1)
    assert row.p == pytest.approx(row.p_holm)
    sliced = judged(after, before, regression=[rule, {**rule, "slices": "category"}])
    assert sliced.tests == 6
    assert sliced.rows[1].p_holm == pytest.approx(6 * (row.p or 0))
    assert judged(before, after, regression=[rule]).verdict == "GO"


def test_no_worse_than_a_margin_must_be_shown_or_merely_not_refuted() -> None:
    before, after = gate_run(range(20)), gate_run(range(2, 22))
    shown = judged(after, before, regression=[{"metric": "correct", "bound": "lower", "margin": 0.1}])
    assert words(shown) == ["GO"]
    narrow = judged(after, before, regression=[{"metric": "correct", "bound": "lower", "margin": 0.005}])
    assert words(narrow) == ["INCONCLUSIVE"]
    blind = {"metric": "correct", "bound": "upper", "detect": 0.005}
    assert words(judged(after, before, regression=[blind])) == ["INCONCLUSIVE"]
    found = judged(after, before, regression=[{**blind, "detect": 0.2}]).rows[1]
    assert found.verdict == "GO"
    assert found.detectable is not None
    assert found.detectable < 0.2


def test_less_is_better_where_the_name_or_the_policy_says_so() -> None:
    before, after = gate_run(range(10)), gate_run(range(60))
    rule = {"metric": "wer", "bound": "upper"}
    assert words(judged(after, before, regression=[rule])) == ["NO-GO"]
    assert words(judged(after, before, regression=[{**rule, "lower_is_better": False}])) == ["GO"]
    percent = judged(
        after, before, regression=[{"metric": "correct", "bound": "value", "margin_percent": 30}]
    )
    assert words(percent) == ["GO"]


def test_failures_are_counted_by_outcome_and_a_mostly_failed_run_never_passes() -> None:
    run = gate_run(failing=range(6))
    found = judged(
        run,
        failures=[{"max": 0.05}, {"max": 0.01, "outcome": "request_failed"}, {"max": 0, "outcome": "empty"}],
    )
    assert words(found) == ["GO", "NO-GO", "GO"]
    assert found.rows[1].observed == pytest.approx(0.03)
    lost = gate_run(failing=range(60, 180))
    easy = judged(lost, threshold=[threshold(min=0.1)], gate={"max_failed": 1})
    assert words(easy) == ["GO"]
    assert easy.verdict == "INCONCLUSIVE"
    assert "too many for a GO" in easy.rows[0].reason


def test_a_mostly_failed_baseline_is_not_compared_with() -> None:
    baseline = gate_run(failing=range(60, 180), failure_threshold=1)
    assert baseline.summary.comparable
    row = judged(gate_run(), baseline, regression=[{"metric": "correct", "bound": "value"}]).rows[1]
    assert (row.verdict, row.evaluated) == ("INCONCLUSIVE", False)
    assert "120 of 200 samples of the baseline run 1 failed" in row.reason


def test_more_failures_than_the_run_allows_are_no_go_and_no_pass() -> None:
    run = gate_run(failing=range(60, 80))
    assert judged(run, threshold=[threshold(min=0.1)]).verdict == "INCONCLUSIVE"
    assert judged(run, threshold=[threshold(min=0.1)], gate={"max_failed": 0.2}).verdict == "GO"


def test_what_cannot_be_evaluated_is_never_go() -> None:
    run = gate_run()
    absent = judged(run, threshold=[{"metric": "corect", "min": 0.1, "bound": "value"}]).rows[1]
    assert (absent.verdict, absent.evaluated) == ("INCONCLUSIVE", False)
    assert "Did you mean 'correct'?" in absent.reason
    rule = {"metric": "correct", "bound": "value"}
    without = judged(run, regression=[rule])
    assert words(without) == ["INCONCLUSIVE"]
    assert "no baseline" in without.rows[1].reason
    assert without.rows[1].rule == "correct against the baseline"  # as where it can be judged
    assert words(judged(run, threshold=[threshold(min=0.1, slices="colour")])) == ["INCONCLUSIVE"]
    assert words(judged(run, usage=[{"figure": "cost", "max": 1}])) == ["INCONCLUSIVE"]
    assert words(judged(run, load=[{"figure": "goodput", "min": 1}])) == ["INCONCLUSIVE"]
    partial = gate_run(max_requests=50, cache=False)
    assert judged(partial, threshold=[threshold(min=0.1)]).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (lambda: gate_run(spec=politely), "prompted or scored in another way"),
        (lambda: gate_run(spec=fewer_rows), "read other data"),
        (lambda: gate_run(temperature=0.7), "temperature"),
    ],
)
def test_runs_of_other_data_prompts_or_settings_are_not_compared(other: Any, told: str) -> None:
    baseline = other()
    found = judged(gate_run(), baseline, regression=[{"metric": "correct", "bound": "value"}])
    assert words(found) == ["INCONCLUSIVE"]
    assert told in found.rows[1].reason


def test_settings_that_may_differ_are_named_in_the_notes() -> None:
    baseline, run = gate_run(temperature=0.7), gate_run()
    rule = {"metric": "correct", "bound": "value"}
    path = judged(run, baseline, regression=[rule]).rows[1].reason.partition("may_differ = [")[2].strip('"]')
    found = judged(run, baseline, regression=[rule], gate={"may_differ": [path]})
    assert found.verdict == "GO"
    assert any("differs from the baseline" in note.text for note in found.notes)


def test_what_changes_no_score_may_differ(here: Path) -> None:
    baseline = gate_run(cache=False)
    (here / "prices.toml").write_text(
        '[[price]]\nmodel = "*"\ninput = 1\noutput = 1\ncurrency = "USD"\nas_of = 2026-01-31\n'
    )
    found = judged(gate_run(), baseline, regression=[{"metric": "correct", "bound": "value"}])
    assert found.verdict == "GO"


def test_tokens_are_counted_for_the_run_and_for_a_sample() -> None:
    run = gate_run()
    rules = [
        {"figure": "total_tokens", "max": 2400},
        {"figure": "completion_tokens", "max": 1.5, "per": "sample"},
        {"figure": "prompt_tokens", "min": 2000, "max": 2000},
    ]
    assert words(judged(run, usage=rules)) == ["GO", "NO-GO", "GO", "GO"]


def test_the_command_exits_with_the_verdict(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate_run(range(40))
    policy = here / "policy.toml"
    codes = []
    for least in (0.7, 0.9, 0.78):
        policy.write_text(f'[[threshold]]\nmetric = "correct"\nmin = {least}\nbound = "lower"\n')
        codes.append(main(["gate", "last", "--policy", "policy.toml"]))
    assert codes == [0, 1, 3]
    shown = capsys.readouterr().out
    assert "NO-GO: run 1 (graded_rows), by policy.toml" in shown
    assert main(["gate", "7", "--policy", "policy.toml"]) == 4
    assert main(["gate", "last", "--policy", "none.toml"]) == 4


def test_a_run_and_itself_and_unknown_baselines_are_refused() -> None:
    run = gate_run()
    rule = {"metric": "correct", "bound": "value"}
    with pytest.raises(UsageError, match="compared with itself"):
        judged(run, run.run_id, regression=[rule])
    bless(run, name="main")
    with pytest.raises(NotFoundError, match="Did you mean 'main'"):
        judged(run, "mian", regression=[rule])


def test_wrong_arguments_of_python_are_named() -> None:
    call: Any = benchwright.gate
    with pytest.raises(UsageError, match=r"has no option 'polcy'\. Did you mean 'policy'"):
        call(1, policy={}, polcy={})
    with pytest.raises(UsageError, match="policy is 3; expected the path of a TOML file"):
        call(1, policy=3)
    with pytest.raises(UsageError, match=r"run is 1\.5"):
        call(1.5, policy={"failures": {"max": 1}})
    blessing: Any = bless
    with pytest.raises(UsageError, match="has no option 'nam'"):
        blessing(1, nam="x")


def test_cost_is_that_of_model_and_judges_and_needs_all_prices() -> None:
    from msgspec.structs import replace

    from benchwright.results._gates.claims import BenchmarkRun, claims_about
    from benchwright.results._gates.evidence import Evidence

    summary = gate_run().summary
    model = {"amount": 3.0, "currency": "USD", "coverage": 1.0, "right_answers": 100.0}
    judge = {"amount": 1.0, "currency": "USD", "coverage": 1.0}

    def found(cost: dict[str, Any] | None, **rule: Any) -> Any:
        policy = Policy.of({"usage": [{"figure": "cost", "max": 5, **rule}]}, "p")
        known = BenchmarkRun(replace(summary, cost=cost), Evidence())
        (claim,) = claims_about(policy.rules[0], known)
        return claim.problem or (claim.found and claim.found.value)

    assert found(model) == 3.0
    assert found({**model, "judges": {"j": judge}}) == 4.0
    assert found({**model, "judges": {"j": judge}}, figure="cost_per_right_answer") == 0.04
    assert found(model, per="sample") == 0.015
    assert "no price" in found(None)
    assert "no price of a judge" in found({**model, "judges": {"j": {**judge, "amount": None}}})
    assert "no count of tokens" in found({**model, "coverage": 0.5})
    assert "EUR and USD" in found({**model, "judges": {"j": {**judge, "currency": "EUR"}}})
    assert "the rule is in EUR" in found(model, currency="EUR")


@benchmark(name="far values", dataset=[{"q": f"row {k}", "target": k} for k in range(60)], prompt="{q}")
def far_values(sample: Any) -> dict[str, float]:
    return {"words": 4000.0 if sample.target == 7 else 10.0 + sample.target % 7}


def test_a_verdict_on_values_with_a_long_tail_says_that_it_is_less_certain() -> None:
    found = gate_run(spec=far_values)
    for rule, word in (
        ({"min": 5000, "bound": "upper"}, "NO-GO"),
        ({"max": 100_000, "bound": "upper"}, "GO"),
    ):
        row = judged(found, threshold=[{"metric": "words", **rule}]).rows[1]
        assert row.verdict.value == word
        assert "some values are far from the others" in row.reason
    even = judged(found, threshold=[{"metric": "words", "min": -100_000, "bound": "lower"}]).rows[1]
    assert (even.verdict.value, "far from" in even.reason) == ("GO", False), "its lower end is long enough"


@benchmark(
    name="copied rows",
    dataset=[{"q": f"question {k % 10}", "target": "yes"} for k in range(11)],
    prompt="{q}",
)
def copied_rows(sample: Any) -> dict[str, float]:
    return {"correct": sample.response == sample.target}


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_few_rows_may_miss_a_limit_but_never_meet_it_and_copies_are_told(bound: str) -> None:
    for wrong, word in ((range(8), "NO-GO"), ((), "INCONCLUSIVE")):
        found = judged(gate_run(wrong, spec=copied_rows), threshold=[threshold(min=0.9, bound=bound)])
        assert words(found) == [word]
        assert found.rows[1].n == 10
        assert any("1 row repeats the content of an earlier row" in note.text for note in found.notes)


def test_failures_count_as_wrong_only_where_zero_is_wrong_and_the_metric_was_due() -> None:
    baseline, run = (gate_run(failing=range(10), cache=False) for _ in range(2))
    for metric, why in (("acc_law", "only some samples have a value"), ("wer", "the best value of wer")):
        rule = {"metric": metric, "bound": "value", "failures_as_wrong": True}
        found = judged(run, baseline, threshold=[{**rule, "max": 1.0}], regression=[{**rule, "margin": 0.1}])
        assert words(found) == ["INCONCLUSIVE"] * 2
        assert all(why in row.reason for row in found.rows[1:])
        assert judged(run, threshold=[{**rule, "max": 1.0, "failures_as_wrong": False}]).verdict == "GO"


def test_a_gate_on_a_category_counts_the_failures_of_this_category(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "benchwright.toml").write_text(
        '[models.faulty]\ntype = "demo"\nerror_rate = 0.5\nmax_retries = 0\n'
    )
    before, after = (
        benchwright.run("bfclv3_ast", task="simple,multiple", model="faulty", cache=False) for _ in range(2)
    )
    for name in ("simple", "multiple"):
        rule = {"metric": name, "bound": "value", "failures_as_wrong": True}
        found = judged(after, threshold=[{**rule, "min": 0.0}])
        metric = after.summary.metrics[name]
        assert metric.with_failures_count is not None
        assert metric.with_failures_count > metric.count
        assert found.rows[1].observed == pytest.approx(metric.with_failures)
        assert found.rows[1].n == metric.with_failures_count
        (compared,) = (each for each in benchwright.compare(before, after).metrics if each.name == name)
        assert compared.failures_as_wrong is not None
        assert compared.failures_as_wrong.pairs == metric.with_failures_count


def test_the_most_common_failure_is_named_wherever_failures_decide() -> None:
    rules = {"failures": [{"max": 0.02}], "threshold": [threshold(min=0.1)]}
    down = judged(gate_run(failing=range(200), cache=False), **rules)
    assert "refused" in down.rows[0].reason
    some = judged(gate_run(failing=range(8)), **rules)
    assert "most common failure: refused" in [note.text for note in some.notes]
    assert not any("failure" in note.text for note in judged(gate_run(), **rules).notes)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"min": 50}, "correct are between 0 and 1: for 50 percent, write 0.5"),
        ({"min": 50, "bound": "lower"}, "for 50 percent, write 0.5"),
        ({"max": 95}, "for 95 percent, write 0.95"),
        ({"min": 80, "slices": "category"}, "for 80 percent, write 0.8"),
    ],
)
def test_a_limit_in_percent_of_a_metric_between_0_and_1_is_explained(rule: dict[str, Any], told: str) -> None:
    found = judged(gate_run(range(10)), threshold=[{"metric": "correct", "bound": "value", **rule}])
    assert all(told in row.reason for row in found.rows[1:])


def test_a_column_that_no_row_has_brings_near_names_and_the_list() -> None:
    reasons = [
        judged(gate_run(), threshold=[threshold(min=0.1, slices=column)]).rows[1].reason
        for column in ("categry", "tier")
    ]
    assert "Did you mean 'category'?" in reasons[0]
    assert all("Columns: q, target, category, about.tier" in reason for reason in reasons)


def test_a_verdict_says_when_its_run_ended() -> None:
    found = judged(gate_run(), threshold=[threshold(min=0.1)])
    assert found.ended_at is not None
    assert f"run 1 (ended {found.ended_at[:10]}" in markdown(found).replace("\\", "")
    assert found.ended_at in junit(found)
    old = structs.replace(found, ended_at=(datetime.now(UTC) - timedelta(days=3, hours=1)).isoformat())
    console = Console(width=100)
    with console.capture() as shown:
        console.print(drawn(old))
    second = shown.get().splitlines()[1]
    assert second.startswith("run 1 ended ")
    assert second.endswith("UTC, 3 days ago")


@pytest.mark.parametrize("place", ["file", "name", "default name", "folder against file"])
def test_a_run_is_not_compared_with_a_baseline_made_of_itself(here: Path, place: str) -> None:
    run = gate_run()
    rule = {"regression": [{"metric": "correct", "bound": "value"}]}
    if "file" in place:
        export_baseline(run, "base.jsonl")
    else:
        bless(run)
    baseline = {"file": "base.jsonl", "name": "graded_rows", "folder against file": "base.jsonl"}.get(place)
    meant: Any = run
    if place.startswith("folder"):
        shutil.copytree(run.folder, here / "elsewhere")
        meant = "elsewhere"
    found = benchwright.gate(meant, policy=rule, baseline=baseline)
    assert found.verdict == "INCONCLUSIVE"
    assert "made of this run" in found.rows[1].reason
    assert benchwright.gate(gate_run(), policy=rule, baseline=baseline).verdict == "GO"


def test_a_baseline_of_another_kind_of_model_is_named_with_its_cure() -> None:
    baseline = benchwright.run(graded_rows, model="demo", cache=False)
    found = judged(
        benchwright.run(
            graded_rows, model_url="http://127.0.0.1:9/v1", model_id="m", max_retries=0, cache=False
        ),
        baseline,
        regression=[{"metric": "correct", "bound": "value"}],
    )
    reason = found.rows[1].reason
    assert "another model (demo), this run with m. Export a new baseline" in reason
    assert "may_differ" not in reason


def test_a_folder_stands_for_the_run_whose_files_it_has(here: Path) -> None:
    """Records of the workspace outlive the folder, and another run's files may take its place."""
    good, bad = gate_run(output_dir="evaluation"), gate_run(range(150), output_dir="other")
    rule = {"threshold": [threshold(min=0.8)]}
    assert benchwright.gate("evaluation", policy=rule).verdict == "GO"
    shutil.rmtree("evaluation")
    with pytest.raises(NotFoundError, match=f"Run {good.run_id} wrote into it"):
        benchwright.gate("evaluation", policy=rule)
    shutil.copytree(bad.folder, "evaluation")
    assert benchwright.gate("evaluation", policy=rule).verdict == "NO-GO"
    assert benchwright.gate(good.run_id, policy=rule).verdict == "GO"


_CHANGING = """
from benchwright import benchmark, scorer
{imports}
@benchmark(name="changing", dataset="rows.jsonl", prompt={prompt}, target_field="a")
@scorer
def check(sample):
    return {{"correct": float({score})}}
"""
_BEFORE = {"imports": "", "prompt": '"{q}"', "score": "sample.target in sample.response"}


@pytest.mark.parametrize(
    ("now", "allowed"),
    [
        ({"prompt": '"Briefly: {q}"'}, True),
        ({"imports": 'ASK = "Please: {q}"', "prompt": "ASK"}, False),  # more than the text has changed
        ({"score": "len(sample.response) > 3"}, False),
        ({"prompt": '"Briefly: {q}"', "score": "len(sample.response) > 3"}, False),
    ],
)
def test_a_changed_prompt_can_be_allowed_and_a_changed_scorer_cannot(
    now: dict[str, str], allowed: bool, here: Path
) -> None:
    found, reason = _judged_after(_BEFORE, _BEFORE | now, here)
    assert (found.rows[1].verdict.value == "GO") is allowed
    assert ("differs from the baseline: prompt" in [note.text for note in found.notes]) is allowed
    assert ('may_differ = ["prompt"]' in reason) is allowed, "the reason names the key"


@pytest.mark.parametrize(("used", "allowed"), [("", True), (" + len(ASK) * 0", False)])
def test_the_text_of_a_prompt_may_be_in_a_variable_that_no_scorer_reads(
    used: str, allowed: bool, here: Path
) -> None:
    first = {**_BEFORE, "imports": 'ASK = "{q}"', "prompt": "ASK", "score": _BEFORE["score"] + used}
    found, _ = _judged_after(first, {**first, "imports": 'ASK = "Please: {q}"'}, here)
    assert (found.rows[1].verdict.value == "GO") is allowed


def _judged_after(first: dict[str, str], now: dict[str, str], here: Path) -> tuple[Verdict, str]:
    """The verdict with the prompt allowed to differ, and the reason of the one without."""
    (here / "rows.jsonl").write_text(
        "".join(f'{{"q": "What is {k} + 1?", "a": "{k + 1}"}}\n' for k in range(30))
    )
    runs = []
    for number, parts in enumerate((first, now)):
        (here / f"v{number}").mkdir()
        (here / f"v{number}" / "rows.jsonl").write_bytes((here / "rows.jsonl").read_bytes())
        (here / f"v{number}" / "bench.py").write_text(_CHANGING.format(**parts))
        runs.append(benchwright.run(str(here / f"v{number}" / "bench.py"), demo_skill=1.0))
    rule = {"metric": "correct", "bound": "upper"}
    barred = judged(runs[1], runs[0], regression=[rule]).rows[1]
    assert barred.verdict.value == "INCONCLUSIVE"
    return judged(runs[1], runs[0], regression=[rule], gate={"may_differ": ["prompt"]}), barred.reason


@pytest.mark.parametrize(
    ("name", "near"),
    [("promt", "prompt"), ("generation.temprature", "generation.temperature"), ("scorer", "")],
)
def test_names_that_may_differ_are_settings(name: str, near: str) -> None:
    run = gate_run()
    with pytest.raises(ConfigError, match=f"may_differ: '{name}' is no setting.*{near}"):
        judged(
            run, gate_run(), regression=[{"metric": "correct", "bound": "value"}], gate={"may_differ": [name]}
        )
    judged(
        run,
        gate_run(),
        regression=[{"metric": "correct", "bound": "value"}],
        gate={"may_differ": ["model.skill", "temperature"]},
    )
