"""A run knows what it costs, and stops before it may cost more than it is allowed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from benchwright.cli import main
from benchwright.config import Price
from benchwright.core import ModelReply, RequestFailure, TokenUsage, encode_json
from benchwright.core import ModelRequest as Request
from benchwright.engine._cost import CostMeter, MeteredEndpoint, cost_bound, reply_cost
from benchwright.engine._stop import Budget, Stop
from recording_server import recording

# One unit a prompt token, two a completion token: a reply of the recording server (3 and 1) costs 5.
PRICE = Price("m", 1e6, 2e6, "USD", "2026-01-31", "prices.toml")
PRICES = """
[[price]]
model = "m"
input = 1000000
output = 2000000
currency = "USD"
as_of = 2026-01-31
"""
BENCH = """
from benchwright import benchmark, scorer


@benchmark(name="sums", dataset=[{"q": str(n), "target": "B" if n % 2 else "C"} for n in range(12)], prompt="{q}")
@scorer
def right(sample):
    return {"correct": sample.response == sample.target}
"""


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.py").write_text(BENCH)
    (tmp_path / "prices.toml").write_text(PRICES)


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*words, "--json", *(["--quiet"] if words[0] in ("run", "resume") else [])])
    return code, json.loads(capsys.readouterr().out)


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


def test_max_cost_stops_in_time_and_resume_continues(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        # A body has about 110 bytes and may bring 10 tokens: its bound is about 130, its cost 5.
        code, found = run_json(
            capsys, "run", "sums.py", *server.model, "--max-tokens", "10", "--max-cost", "160"
        )
        sent = len(server.received)
        result = found["results"][0]
        assert code == 3
        assert "stopped by --max-cost 160 USD" in result["stopped_because"]
        assert 1 <= sent < 12
        assert result["summary"]["cost"]["amount"] == 5.0 * sent <= 160
        code, found = run_json(capsys, "resume", "last")
        assert code == 0
        assert len(server.received) == 12
        assert found["results"][0]["summary"]["cost"]["amount"] == 60.0


def test_a_missing_price_is_an_error_before_anything_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    Path("prices.toml").write_text(PRICES.replace('"m"', '"other"'))
    with recording("B") as server:
        for command in ("run", "check"):
            assert main([command, "sums.py", *server.model, "--max-cost", "5"]) == 2
            shown = capsys.readouterr()
            assert "no price is known for m" in " ".join((shown.out + shown.err).split())
        Path("prices.toml").write_text(PRICES)
        assert main(["run", "sums.py", *server.model, "--max-cost", "5", "--max-tokens", "none"]) == 2
        assert "give --max-tokens" in capsys.readouterr().err
    assert server.received == []


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


def test_one_limit_holds_for_all_runs_of_a_suite(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": f"q{n}", "answer": "B"} for n in range(8)]
    Path("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("prices.toml").write_text(PRICES.replace('"m"', '"m*"'))
    with recording("B") as server:
        assert main(["run", "q.jsonl", *server.model, "--max-tokens", "10", "--quiet"]) == 0
        bound = max(len(encode_json(request.body)) for request in server.take()) + 1 + 2 * 10
        models = "".join(
            f'[[models]]\nname = "{name}"\nurl = "{server.url}"\nmodel = "{name}"\n' for name in ("m1", "m2")
        )
        Path("suite.toml").write_text(f'{models}[[datasets]]\npath = "q.jsonl"\n')
        limit = str(bound + 55)  # enough for the eight requests of one model, and for four more
        flags = ("--max-tokens", "10", "--max-cost", limit, "--parallelism", "1", "--quiet")
        assert main(["run", "suite.toml", *flags]) == 3
    assert 8 < len(server.received) < 16
    assert f"stopped by --max-cost {limit} USD" in capsys.readouterr().out


class Endpoint:
    """Replies that cost any share of what they might; keeps the most that was ever at stake."""

    def __init__(self, meter: CostMeter, seed: int) -> None:
        self.dice = Random(seed)
        self.meter = meter
        self.sent = 0
        self.open = 0.0
        self.most = 0.0

    async def send(self, request: Request) -> ModelReply:
        self.sent += 1
        bound = cost_bound(PRICE, request)
        self.open += bound
        self.most = max(self.most, self.meter.spent + self.open)
        for _ in range(self.dice.randrange(4)):
            await asyncio.sleep(0)
        self.open -= bound
        prompt = self.dice.randint(1, len(request.payload))
        return ModelReply("answered", "x", usage=TokenUsage(prompt, self.dice.randint(0, 10)))


def request(size: int = 40) -> Request:
    body: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "user", "content": "x" * size}],
        "max_tokens": 10,
    }
    return Request("chat", body, encode_json(body))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_spent_and_what_is_in_flight_never_exceed_the_limit(seed: int) -> None:
    async def all_of_it() -> tuple[CostMeter, Endpoint, Stop]:
        meter, stop = CostMeter(4000.0), Stop(Budget(max_cost=4000.0))
        endpoint = Endpoint(meter, seed)
        metered = MeteredEndpoint(endpoint, PRICE, meter, stop)  # type: ignore[arg-type]

        async def worker() -> None:
            while (reply := await metered.send(request())).failure is None:
                pass
            assert reply.failure.kind == "budget"

        await asyncio.gather(*(worker() for _ in range(8)))
        return meter, endpoint, stop

    meter, endpoint, stop = asyncio.run(all_of_it())
    assert endpoint.most <= meter.limit
    assert meter.spent <= meter.limit
    # It stops only once not even one more request fits.
    assert meter.spent + cost_bound(PRICE, request()) > meter.limit
    assert stop.cause == "budget"


def test_what_a_reply_cost_where_nobody_counted() -> None:
    sent, bound = request(), 1000.0
    assert reply_cost(PRICE, sent, ModelReply("answered", "äb"), bound) == len(sent.payload) + 2 * 3
    refused = ModelReply("failed", failure=RequestFailure("rate_limited", "429", 429))
    assert reply_cost(PRICE, sent, refused, bound) == 0.0
    late = ModelReply("failed", failure=RequestFailure("timeout", "no reply in time"))
    assert reply_cost(PRICE, sent, late, bound) == bound
