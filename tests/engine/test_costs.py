"""A run knows what it costs, by a file of prices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.engine.priced_runs import BENCH, PRICES, enter, run_json

import benchwright
from benchwright.cli import main
from benchwright.engine._cost import RunPrices, run_cost
from recording_server import recording


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch)


def test_cost_of_a_run_and_of_a_right_answer_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        code, found = run_json(capsys, "run", "sums.py", *server.model)
    assert code == 0
    cost = found["results"][0]["summary"]["cost"]
    assert (cost["amount"], cost["currency"], cost["as_of"]) == (60.0, "USD", "2026-01-31")
    assert (cost["right_answers"], cost["per_right_answer"], cost["coverage"]) == (6.0, 10.0, 1.0)
    assert (cost["source"], cost["judges"]) == ("prices.toml", None)
    (listed,) = run_json(capsys, "list")[1]["runs"]
    assert listed["cost"] == cost == run_json(capsys, "show", "last")[1]["run"]["cost"]
    written = yaml.safe_load((Path(listed["folder"]) / "results.yml").read_text())
    assert written["results"]["tasks"]["sums"]["cost"]["amount"] == 60.0
    main(["show", "last"])
    assert "60.00 USD, 10.00 USD per right answer (prices of 2026-01-31)" in capsys.readouterr().out


def test_a_price_that_changes_later_does_not_change_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        run_json(capsys, "run", "sums.py", *server.model, "--max-requests", "4")
        Path("prices.toml").write_text(PRICES.replace("1000000", "9000000"))
        _, found = run_json(capsys, "resume", "last")
    assert found["results"][0]["summary"]["cost"]["amount"] == 60.0


def test_the_judges_cost_is_apart(capsys: pytest.CaptureFixture[str]) -> None:
    with recording(lambda body: "GRADE: C" if body["model"] == "j" else "B") as server:
        Path("judged.py").write_text(
            BENCH.replace('name="sums"', f'name="judged", judge={{"url": "{server.url}", "model_id": "j"}}')
            .replace("def right", "def graded")
            .replace('{"correct": sample.response == sample.target}', "judge_score(sample)")
            .replace("import benchmark,", "import benchmark, judge_score,")
        )
        Path("prices.toml").write_text(PRICES + PRICES.replace('"m"', '"j"').replace("2000000", "1000000"))
        _, found = run_json(capsys, "run", "judged.py", *server.model)
    cost = found["results"][0]["summary"]["cost"]
    assert (cost["amount"], cost["judges"]["j"]["amount"]) == (60.0, 48.0)
    Path("prices.toml").write_text(PRICES)
    assert main(["run", "judged.py", *server.model, "--max-cost", "5"]) == 2
    assert "no price is known for j" in capsys.readouterr().err


PANEL = """
from benchwright import benchmark, judge_panel, scorer


@benchmark(
    name="panel", dataset=[{"q": str(n), "target": "B"} for n in range(12)], prompt="{q}",
    judge={"url": "ONE", "model_id": "j"}, judge_1={"url": "OTHER", "model_id": "j"},
)
@scorer
def graded(sample):
    return judge_panel(sample)
"""


@pytest.mark.parametrize("other", ["7000000", "1000000", None])
def test_one_model_at_two_servers_has_a_cost_only_at_one_price(
    other: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording("GRADE: C") as server, recording("GRADE: C") as elsewhere:
        Path("panel.py").write_text(PANEL.replace("ONE", server.url).replace("OTHER", elsewhere.url))
        own = PRICES.replace('"m"', '"j"').replace("2000000", "1000000")
        files = [PRICES, own.replace("input", f'url = "{server.url}"\ninput', 1)]
        if other is not None:
            files.append(own.replace("1000000", other).replace("input", f'url = "{elsewhere.url}"\ninput', 1))
        Path("prices.toml").write_text("".join(files))
        _, found = run_json(capsys, "run", "panel.py", *server.model)
        summary = found["results"][0]["summary"]
        verdict = benchwright.gate("last", policy={"usage": [{"figure": "cost", "max": 10_000}]})
        _, checked = run_json(capsys, "check", "panel.py", *server.model)
        limited = main(["run", "panel.py", *server.model, "--max-cost", "1", "--max-tokens", "10"])
    noted = any("their servers have different prices" in note for note in summary["notes"])
    estimate = checked["checks"][0]["cost"]["judges"]["j"]
    if other == "1000000":
        assert summary["cost"]["judges"]["j"]["amount"] == 2 * 12 * 4.0
        assert (verdict.verdict, noted) == ("GO", False)
        assert estimate["prompts"] is not None
    else:
        assert summary["cost"]["judges"] is None
        assert (verdict.verdict, noted) == ("INCONCLUSIVE", True)
        assert estimate["prompts"] is None
        assert limited == 2
        assert "Use one server, or one price, for each model" in " ".join(capsys.readouterr().err.split())


def cost_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    _, found = run_json(capsys, *words)
    cost: dict[str, Any] = found["results"][0]["summary"]["cost"]
    return cost


def counted(body: dict[str, Any]) -> dict[str, Any]:
    """7 prompt tokens and as many more as the question says, two of them from the cache; 3 completion tokens."""
    prompt = 7 + int(body["messages"][-1]["content"])
    return {"prompt_tokens": prompt, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}


def test_the_amount_is_exact_to_the_last_digit(capsys: pytest.CaptureFixture[str]) -> None:
    Path("prices.toml").write_text(
        PRICES.replace("1000000", "0.1\ncached_input = 0.07", 1).replace("2000000", "0.3")
    )
    with recording("B") as server:
        server.usage = counted
        cost = cost_of(capsys, "run", "sums.py", *server.model)
    prompt, completion, cached = sum(7 + n for n in range(12)), 12 * 3, 12 * 2
    exact = (
        (prompt - cached) * Decimal("0.1") + cached * Decimal("0.07") + completion * Decimal("0.3")
    ) / 10**6
    assert Decimal(repr(cost["amount"])) == exact == Decimal("0.00002508")


def test_replies_that_nobody_counted_are_left_out_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        server.usage = lambda body: counted(body) if int(body["messages"][-1]["content"]) < 9 else None
        cost = cost_of(capsys, "run", "sums.py", *server.model)
        assert cost["amount"] == sum(7 + n for n in range(9)) + 9 * 3 * 2.0
        assert (cost["coverage"], cost["per_right_answer"]) == (0.75, None)
        main(["show", "last"])
        assert "only 75 % of the replies have a count of tokens" in " ".join(capsys.readouterr().out.split())
        server.usage = lambda body: None
        cost = cost_of(capsys, "run", "sums.py", *server.model, "--no-cache")
    assert (cost["amount"], cost["spent"], cost["coverage"]) == (None, None, 0.0)
    main(["show", "last"])
    assert "not known: no reply has a count of tokens" in capsys.readouterr().out


def test_replies_of_earlier_runs_cost_but_are_not_spent_again(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        cost = cost_of(capsys, "run", "sums.py", *server.model, "--limit", "4")
        assert (cost["amount"], cost["spent"]) == (20.0, 20.0)
        # Stopped and resumed: what was taken over in the first start counts in the second as well.
        cost = cost_of(capsys, "run", "sums.py", *server.model, "--max-requests", "3")
        assert (cost["amount"], cost["spent"]) == (35.0, 15.0)
        cost = cost_of(capsys, "resume", "last")
        assert (cost["amount"], cost["spent"]) == (60.0, 40.0)
        main(["show", "last"])
        shown = " ".join(capsys.readouterr().out.split())
        assert "40.00 USD spent by this run, as the other replies came from earlier ones" in shown
        cost = cost_of(capsys, "rescore", "last")
    assert (cost["amount"], cost["spent"]) == (60.0, 0.0)
    assert len(server.received) == 12


def test_without_a_price_nobody_looks_at_the_calls() -> None:
    def calls() -> Iterator[Any]:
        raise AssertionError("read")
        yield

    assert run_cost(None, RunPrices(None, {}), calls()) is None  # type: ignore[arg-type]


def test_a_note_says_that_a_price_is_old_or_of_the_future(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        for year, says in (
            ("2020", "days before the run: check it"),
            ("2999", "which is after the run: check it"),
        ):
            Path("prices.toml").write_text(PRICES.replace("2026", year))
            _, found = run_json(capsys, "run", "sums.py", *server.model)
            notes = found["results"][0]["summary"]["notes"]
            assert any(
                f"the price of m in prices.toml dates from {year}-01-31" in note and says in note
                for note in notes
            )
        Path("prices.toml").write_text(PRICES.replace("2026-01-31", str(datetime.now(UTC).date())))
        _, found = run_json(capsys, "run", "sums.py", *server.model)
    assert not any("price" in note for note in found["results"][0]["summary"]["notes"])


def test_a_gate_judges_cost_and_cost_per_right_answer(capsys: pytest.CaptureFixture[str]) -> None:
    def verdicts(**limits: float) -> list[str]:
        rules = "".join(f'[[usage]]\nfigure = "{name}"\nmax = {most}\n' for name, most in limits.items())
        Path("policy.toml").write_text(rules)
        rows = run_json(capsys, "gate", "last", "--policy", "policy.toml")[1]["rows"]
        return [row["verdict"] for row in rows[1:]]

    with recording("B") as server:
        assert main(["run", "sums.py", *server.model, "--quiet"]) == 0
        assert verdicts(cost=60, cost_per_right_answer=10) == ["GO", "GO"]
        assert verdicts(cost=59.9, cost_per_right_answer=9.9) == ["NO-GO", "NO-GO"]
        server.usage = lambda body: counted(body) if int(body["messages"][-1]["content"]) < 9 else None
        assert main(["run", "sums.py", *server.model, "--no-cache", "--quiet"]) == 0
        assert verdicts(cost=1e9, cost_per_right_answer=1e9) == ["INCONCLUSIVE", "INCONCLUSIVE"]


def test_load_tests_say_what_1000_requests_cost(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sums.py", "--requests", "8", "--concurrency", "2", "--warmup", "0", "--no-stream")
    with recording("B") as server:
        _, found = run_json(capsys, "perf", *words, "--model-url", server.url, "--model-id", "m")
        cost = found["results"][0]["summary"]["cost"]
        assert (cost["amount"], cost["per_1000_requests"], cost["coverage"]) == (40.0, 5000.0, 1.0)
        assert run_json(capsys, "list")[1]["runs"][0]["cost"] == cost
        main(["show", "last"])
        assert "40.00 USD, 5,000.00 USD per 1,000 requests (prices of 2026-01-31)" in capsys.readouterr().out
        Path("other.toml").write_text(PRICES.replace('"m"', '"other"'))
        more = ("--prices", "other.toml", "--model-url", server.url, "--model-id", "m")
        _, found = run_json(capsys, "perf", *words, *more)
        assert found["results"][0]["summary"]["cost"] is None


def test_comparisons_show_both_costs(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        for limit in ("12", "6"):
            assert main(["run", "sums.py", *server.model, "--limit", limit, "--no-cache", "--quiet"]) == 0
    _, found = run_json(capsys, "compare", "1", "2")
    assert [found[side]["cost"]["amount"] for side in ("run_a", "run_b")] == [60.0, 30.0]
    main(["compare", "1", "2"])
    shown = capsys.readouterr().out
    assert "60.00 USD" in shown
    assert "30.00 USD" in shown


def test_init_writes_prices_that_work_as_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    Path("prices.toml").unlink()
    assert main(["init", "--prices"]) == 0
    assert "wrote prices.toml" in capsys.readouterr().out
    cost = cost_of(capsys, "run", "sums.py", "--limit", "2")
    assert (cost["currency"], cost["source"], cost["as_of"]) == (
        "USD",
        "an example",
        str(datetime.now(UTC).date()),
    )
    assert main(["init", "--prices"]) == 2
    assert "already has prices.toml; nothing was written" in capsys.readouterr().err


def test_check_estimates_the_cost(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        words = ("check", "sums.py", *server.model, "--max-tokens", "10", "--repeats", "2")
        _, found = run_json(capsys, *words)
        (report,) = found["checks"]
        cost = report["cost"]
        assert cost["prompts"] == 2.0 * report["prompt_tokens_estimate"]
        assert cost["at_most"] == cost["prompts"] + 2 * 12 * 10 * 2.0
        main(list(words))
    assert "prices of 2026-01-31" in capsys.readouterr().out
    assert server.received == []


ESTIMATED = """
from benchwright import benchmark, judge_panel, scorer

ROWS = [{"q": "What is it?", "target": "B", "c": [" A", " B"], "t": ["one", "two?", "three"], "z": "\u4e8c" * 8}] * 3
JUDGE = {"url": "http://127.0.0.1:1/v1", "model_id": "grader", "max_tokens": 7, "api_key": None}

@benchmark(name="ranked", dataset=ROWS, prompt="{q}", endpoint_type="completions_logprob", choices_field="c")
@scorer
def ranked(sample):
    return {"acc": 1.0}

@benchmark(name="talks", dataset=ROWS, prompt="", turns_field="t")
@scorer
def talks(sample):
    return {"acc": 1.0}

@benchmark(name="wide", dataset=ROWS, prompt="{z}")
@scorer
def wide(sample):
    return {"acc": 1.0}

@benchmark(name="graded", dataset=ROWS, prompt="{q}", judge=JUDGE, judge_1={**JUDGE, "model_id": "second"})
@scorer
def graded(sample):
    return judge_panel(sample, template="binary_qa", criteria="right?")
"""

PRICE = """
[[price]]
model = "{}"
input = 1000000
output = 1000000
currency = "XTS"
as_of = 2026-01-31
"""
KEYS = ("currency", "as_of", "source", "prompts", "at_most", "doubt")


def estimates(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    Path("estimated.py").write_text(ESTIMATED)
    _, found = run_json(capsys, "check", "estimated.py", "--max-tokens", "10", *words)
    return {
        report["key"]: (report["cost"] or {}) | {"tokens": report["prompt_tokens_estimate"]}
        for report in found["checks"]
    }


def test_estimates_know_how_each_kind_of_benchmark_asks(capsys: pytest.CaptureFixture[str]) -> None:
    """One price for a token of either kind, so that costs are tokens."""
    Path("prices.toml").write_text(PRICE.format("*"))
    found = estimates(capsys)
    ranked, talks, wide, graded = (found[name] for name in ("ranked", "talks", "wide", "graded"))
    assert ranked["prompts"] == ranked["tokens"]
    assert ranked["at_most"] - ranked["prompts"] == 3 * 2 * 1, "a ranked candidate is not generated"
    assert talks["at_most"] - talks["prompts"] == 3 * (3 * 10 + (1 + 2) * 10), "replies are sent again"
    assert wide["tokens"] == 3 * 8 * 3 / 4, "tokens of other scripts are shorter"
    assert (graded["at_most"] - graded["prompts"], list(graded["judges"])) == (3 * 10, ["grader", "second"])
    for judge in graded["judges"].values():
        assert judge["requests"] == 3
        assert judge["prompts"] > 3 * 50, "its template is part of each question"
        assert judge["at_most"] - judge["prompts"] == 3 * (10 + 7), "a reply to judge, and a verdict"
    assert graded["assumes"] == [
        "4 characters a token",
        "replies of at most 10 tokens",
        "no reply from earlier runs",
    ]


def test_estimates_of_judges_follow_the_run_and_say_what_is_not_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("prices.toml").write_text(PRICE.format("third"))
    override = ["--judge", '{"judge_1": {"model_id": "third"}}']
    graded = estimates(capsys, *override, "--repeats", "2")["graded"]
    assert graded["prompts"] is None
    assert graded["judges"]["grader"] == {"requests": 6, **dict.fromkeys(KEYS)}
    assert graded["judges"]["third"]["requests"] == 6
    assert main(["check", "estimated.py:graded", *override]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "grader (judge): not known, because it has no price; about 3 requests" in shown
    assert "third (judge): from " in shown


def test_a_run_configuration_with_several_judges_is_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    Path("prices.toml").write_text(PRICE.format("*"))
    estimates(capsys)
    Path("run.yaml").write_text(
        "config: {type: 'estimated.py:graded', params: {extra: {judge: {model_id: third}, judge_1: {max_tokens: 9}}}}\n"
        "target: {api_endpoint: {url: 'http://127.0.0.1:1/v1', model_id: m, type: chat}}\n"
    )
    _, found = run_json(capsys, "check", "--config", "run.yaml", "-o", "config.params.max_new_tokens=10")
    judges = found["checks"][0]["cost"]["judges"]
    assert {name: judge["requests"] for name, judge in judges.items()} == {"third": 3, "second": 3}
    assert judges["second"]["at_most"] - judges["second"]["prompts"] == 3 * (10 + 9)


def test_pages_say_what_runs_cost_and_by_which_prices(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        assert main(["run", "sums.py", *server.model, "--report", "run_eval", "--output-dir", "out"]) == 0
        assert main(["perf", "sums.py", *server.model[:4], "--requests", "12", "--output-dir", "load"]) in (
            0,
            3,
        )
        Path("suite.toml").write_text(
            f'models = [{{name = "m", base_url = "{server.url}", model = "m"}}]\ndatasets = [{{benchmark = "sums.py"}}]\n'
        )
        assert main(["run", "suite.toml", "--work-dir", "work"]) == 0
    (summary,) = Path("work").rglob("*.html")
    right = "60.00 USD, 10.00 USD per right answer (prices of 2026-01-31)"
    assert right in Path("out/report.html").read_text()
    assert right in summary.read_text()
    page = Path("load/report.html").read_text()
    assert "cost of 1,000 requests" in page
    assert "60.00 USD for this test; prices of 2026-01-31" in page
    shown = benchwright.run("sums.py", model_url=server.url, model_id="m")._repr_html_()
    assert f"<td>cost</td><td>{right}" in shown
