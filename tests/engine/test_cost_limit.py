"""Runs stop before they may cost more than `--max-cost` allows."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.engine.priced_runs import PRICES, enter, run_json

from benchwright.cli import main
from benchwright.config import Price
from benchwright.core import ModelReply, ModelRequest as Request, RequestFailure, TokenUsage, encode_json
from benchwright.engine._cost_limit import CostMeter, MeteredEndpoint, cost_bound, reply_cost
from benchwright.engine._group import RunGroup
from benchwright.engine._stop import Budget, Stop
from recording_server import recording

# One unit a prompt token, two a completion token: a reply of the recording server (3 and 1) costs 5.
PRICE = Price("m", 1e6, 2e6, "USD", "2026-01-31", "prices.toml")


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch)


def test_a_limit_below_the_first_request_leaves_no_cost_on_record(capsys: pytest.CaptureFixture[str]) -> None:
    with recording("B") as server:
        assert (
            main(["run", "sums.py", *server.model, "--max-tokens", "10", "--max-cost", "1", "--quiet"]) == 1
        )
        assert server.received == []
    shown = " ".join(capsys.readouterr().out.split())
    assert "not known: no reply has a count of tokens (prices of 2026-01-31)" in shown
    assert "stopped by --max-cost 1 USD: a single request may cost up to 1" in shown
    assert "spent 0" not in shown, "one thing is said of what it cost"


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
        limit = 172 - 5 * sent  # above the bound, by at most 12
        code, found = run_json(capsys, "resume", "last", "--max-cost", str(limit))
        assert (code, sent < len(server.received) < 12) == (3, True)
        again = f"--max-cost {limit} USD, counted from the resume on; earlier starts spent {5 * sent} USD"
        assert found["results"][0]["stopped_because"] == f"stopped by {again}"
        assert found["results"][0]["summary"]["cost"]["spent"] == 5.0 * len(server.received)
        code, found = run_json(capsys, "resume", "last", "--max-requests", "1")
        assert (
            "stopped by --max-requests 1, counted from the resume on"
            in found["results"][0]["stopped_because"]
        ), (code, len(server.received), found)
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


LIMIT = 4000.0


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
        meter, stop = CostMeter(), Stop(Budget(max_cost=LIMIT))
        endpoint = Endpoint(meter, seed)
        metered = MeteredEndpoint(endpoint, PRICE, meter, LIMIT, stop)  # type: ignore[arg-type]

        async def worker() -> None:
            while (reply := await metered.send(request())).failure is None:
                pass
            assert reply.failure.kind == "budget"

        await asyncio.gather(*(worker() for _ in range(8)))
        return meter, endpoint, stop

    meter, endpoint, stop = asyncio.run(all_of_it())
    assert endpoint.most <= LIMIT
    assert meter.spent <= LIMIT
    # It stops only once not even one more request fits.
    assert meter.spent + cost_bound(PRICE, request()) > LIMIT
    assert stop.cause == "budget"


def test_what_a_reply_cost_where_nobody_counted() -> None:
    sent, bound = request(), 1000.0
    assert reply_cost(PRICE, sent, ModelReply("answered", "äb"), bound) == len(sent.payload) + 2 * 3
    refused = ModelReply("failed", failure=RequestFailure("rate_limited", "429", 429))
    assert reply_cost(PRICE, sent, refused, bound) == 0.0
    late = ModelReply("failed", failure=RequestFailure("timeout", "no reply in time"))
    assert reply_cost(PRICE, sent, late, bound) == bound
    cut = ModelReply("failed", failure=RequestFailure("budget", "the run's time is up"))
    assert reply_cost(PRICE, sent, cut, bound) == bound
    unsent = ModelReply("failed", failure=RequestFailure("budget", "not sent"), attempts=0)
    assert reply_cost(PRICE, sent, unsent, bound) == 0.0
    assert cost_bound(PRICE, request()) == len(request().payload) + 20.0
    dearer = Price("m", 1e6, 2e6, "USD", "2026-01-31", "prices.toml", cached_input=3e6)
    assert cost_bound(dearer, request()) == 3 * len(request().payload) + 20.0


@pytest.mark.parametrize(("attempts", "charged"), [(0, False), (1, True)])
def test_attempts_that_a_deadline_cut_off_may_be_charged(attempts: int, charged: bool) -> None:
    class Cut:
        async def send(self, request: Request) -> ModelReply:
            return ModelReply("failed", failure=RequestFailure("budget", "time is up"), attempts=attempts)

    meter, bound = CostMeter(), cost_bound(PRICE, request())
    metered = MeteredEndpoint(Cut(), PRICE, meter, LIMIT, Stop(Budget(max_cost=LIMIT)))  # type: ignore[arg-type]
    asyncio.run(metered.send(request()))
    assert meter.spent == (bound if charged else 0.0)


def test_the_larger_of_two_lengths_counts() -> None:
    body: dict[str, Any] = {**request().body, "max_completion_tokens": 4000}
    for lengths in (body, {**body, "max_tokens": 4000, "max_completion_tokens": 10}):
        found = Request("chat", lengths, encode_json(lengths))
        assert cost_bound(PRICE, found) == len(found.payload) + 2.0 * 4000


def test_currencies_have_meters_of_their_own() -> None:
    group = RunGroup()
    assert group.cost_meter("USD") is group.cost_meter("USD") is not group.cost_meter("EUR")


def test_a_server_never_holds_more_than_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """By its own books: what it was sent and has not answered may cost all that is allowed, the rest what was counted."""
    lock, dice = threading.Lock(), Random(5)
    books = {"open": 0.0, "spent": 0.0, "most": 0.0}
    limit = 700.0

    def answer(body: dict[str, Any]) -> str:
        bound = len(encode_json(body)) + 2.0 * body["max_tokens"]
        with lock:
            books["open"] += bound
            books["most"] = max(books["most"], books["open"] + books["spent"])
            body["bound"] = bound
        return "B"

    def usage(body: dict[str, Any]) -> dict[str, Any]:
        with lock:
            tokens = {"prompt_tokens": dice.randint(1, 60), "completion_tokens": dice.randint(0, 10)}
            books["open"] -= body["bound"]
            books["spent"] += tokens["prompt_tokens"] + 2 * tokens["completion_tokens"]
        return tokens

    with recording(answer) as server:
        server.usage = usage
        flags = ("--max-tokens", "10", "--max-cost", str(limit), "--parallelism", "4", "--repeats", "4")
        code, found = run_json(capsys, "run", "sums.py", *server.model, *flags)
    assert code == 3
    assert 2 <= len(server.received) < 48
    assert books["most"] <= limit
    assert found["results"][0]["summary"]["cost"]["amount"] == books["spent"] <= limit


def test_attempts_without_a_reply_count_as_if_they_were_charged(capsys: pytest.CaptureFixture[str]) -> None:
    def answer(body: dict[str, Any]) -> str:
        if len(server.received) > 1:
            raise RuntimeError("hangs up")
        return "B"

    with recording(answer) as server:
        flags = ("--max-tokens", "10", "--parallelism", "1", "--max-retries", "9", "--retry-backoff", "0.001")
        code, found = run_json(capsys, "run", "sums.py", *server.model, *flags, "--max-cost", "400")
    result = found["results"][0]
    assert code == 3
    assert "stopped by --max-cost" in result["stopped_because"]
    # A bound is about 130: after the reply, which cost 5, three attempts fit and a fourth does not.
    assert len(server.received) == 1 + 3
    assert result["summary"]["failed"] == 0  # what was not asked again is left for a resume


JUDGED = """
from benchwright import benchmark, judge_score, scorer


@benchmark(
    name="judged", dataset=[{"q": str(n), "target": "4"} for n in range(12)], prompt="{q}",
    judge={"url": "URL", "model_id": "j", "max_new_tokens": 20, "max_retries": 0},
)
@scorer
def graded(sample):
    return judge_score(sample)
"""


def judged(url: str) -> None:
    """A benchmark whose judge is at the server of the model, and prices of both."""
    Path("judged.py").write_text(JUDGED.replace("URL", url))
    Path("prices.toml").write_text(PRICES + PRICES.replace('"m"', '"j"'))


@pytest.mark.parametrize("limit", [620, 2340, 2400, 4720, 40_000])
@pytest.mark.parametrize("parallelism", [1, 4, 12])
def test_every_reply_that_was_bought_is_also_judged(
    capsys: pytest.CaptureFixture[str], limit: int, parallelism: int
) -> None:
    with recording(lambda body: "GRADE: C" if body["model"] == "j" else "4") as server:
        judged(server.url)
        words = ["--max-tokens", "10", "--max-cost", str(limit), "--parallelism", str(parallelism)]
        code, found = run_json(capsys, "run", "judged.py", *server.model, *words)
        asked = [body["model"] for body in server.bodies]
    summary = found["results"][0]["summary"]
    bought, judgements = asked.count("m"), asked.count("j")
    assert bought == judgements == summary["outcomes"]["scored"]
    if limit == 620:  # enough for a few replies, but not to judge one
        assert bought == 0
        assert "a single sample, with its judges, may cost up to" in found["results"][0]["stopped_because"]
        return
    assert bought
    cost = summary["cost"]
    assert cost["amount"] + cost["judges"]["j"]["amount"] == 5.0 * (bought + judgements) <= limit
    if bought < 12:
        assert code == 3
        note = (
            f"spent {5 * (bought + judgements)} USD of --max-cost {limit}, replies without a score included"
        )
        assert note in summary["notes"]


def test_a_limit_that_no_judged_sample_fits_is_refused_at_the_start(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with recording("4") as server:
        judged(server.url)
        command = ["run", "judged.py", *server.model, "--max-tokens", "10"]
        assert main([*command, "--max-cost", "59"]) == 2
        assert (
            "the longest replies of the model and its judges to one sample cost 60" in capsys.readouterr().err
        )
        Path("prices.toml").write_text(PRICES)
        assert main([*command, "--max-cost", "5000"]) == 2
        assert "no price is known for j" in capsys.readouterr().err
        assert server.received == []
