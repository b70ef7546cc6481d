"""Crashes and traps of bring-your-own-benchmark runs elsewhere, item by item: ours say what is wrong before they send."""

from __future__ import annotations

import json
import socket
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.byob.eval_command import run_eval

from benchwright import (
    BenchmarkError,
    BenchwrightError,
    DatasetError,
    ScriptedEndpoint,
    load_dataset,
    resume,
    run,
)
from benchwright.cli import main
from benchwright.core import EchoedTokens
from benchwright.endpoints._likelihood import continuation_likelihood
from recording_server import Refusal, recording

Write = Callable[..., Path]


@pytest.mark.parametrize("prompt", ["prompt.jinja", "{nothing} {q}", "{} {q}"])
def test_item_18_prompts_that_cannot_be_filled_in_are_refused(bench: Write, here: Path, prompt: str) -> None:
    (here / "prompt.jinja").write_text("{{ nothing }} {{ q }}")
    endpoint = ScriptedEndpoint("x")
    with pytest.raises(BenchwrightError, match=r"nothing|\{\}"):
        run(str(bench(prompt)), endpoint=endpoint)
    assert not endpoint.requests


def test_item_19_a_scorer_of_two_parameters_is_given_two(bench: Write) -> None:
    path = bench(extra={"level": 3}, score="{'correct': config['level'] == 3}")
    path.write_text(path.read_text().replace("check(sample: ScorerInput)", "check(sample, config)"))
    assert run(str(path), endpoint=ScriptedEndpoint("x"))["correct"] == 1.0
    path.write_text(path.read_text().replace("check(sample, config)", "check(sample, config, third)"))
    endpoint = ScriptedEndpoint("x")
    with pytest.raises(BenchmarkError, match="third"):
        run(str(path), endpoint=endpoint)
    assert not endpoint.requests


def test_item_20_a_score_that_is_none_costs_its_sample_only_and_nothing_is_lost(bench: Write) -> None:
    endpoint = ScriptedEndpoint("answer 0")
    path = str(bench(score="{'correct': 1} if sample.target == 'answer 0' else 'a text'"))
    result = run(path, endpoint=endpoint, max_requests=2, parallelism=1)
    assert result.summary.partial
    again = resume(result, endpoint=endpoint, max_requests=9)
    assert (again.summary.outcomes["scored"], again.summary.outcomes["scorer_failed"]) == (1, 3)
    assert len(endpoint.requests) == 4, "what is on record is not requested again"


def test_item_21_an_installed_client_changes_nothing(
    bench: Write, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "openai.py").write_text("raise RuntimeError('nobody asked for this')\n")
    monkeypatch.syspath_prepend(here)
    monkeypatch.delitem(sys.modules, "openai", raising=False)  # other tests compare with it
    with recording("x") as server:
        run(str(bench()), model_url=server.url, model_id="m", parallelism=4, top_p=0.5)
        assert [body["top_p"] for body in server.bodies] == [0.5] * 4
        assert all("authorization" not in request.headers for request in server.received)
    assert "openai" not in sys.modules


def test_item_24_no_rows_are_refused_and_a_share_is_one(
    bench: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    bench()
    with recording("x") as server:
        assert run_eval(server.url, "--overrides", "config.params.limit_samples=0") == 2
        assert "limit_samples" in capsys.readouterr().err
        assert run_eval(server.url, "--overrides", "config.params.limit_samples=0.5") == 0
        assert len(server.received) == 2


def test_item_25_data_are_looked_for_next_to_the_benchmark(
    bench: Write, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench()
    (here / "elsewhere").mkdir()
    (here / "elsewhere/rows.jsonl").write_text('{"q": "decoy", "a": "no"}\n')
    monkeypatch.chdir(here / "elsewhere")
    endpoint = ScriptedEndpoint("x")
    run(str(path), endpoint=endpoint)
    assert "decoy" not in str([request.body for request in endpoint.requests])


def test_item_26_files_are_read_as_people_write_them_and_errors_name_the_line(here: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [{"q": "1", "a": "2"}]
    (here / "bom.csv").write_bytes(b"\xef\xbb\xbfq,a\n1,2\n")
    (here / "bom.jsonl").write_bytes(b'\xef\xbb\xbf{"q": "1", "a": "2"}\n')
    (here / "array.json").write_text(json.dumps(rows, indent=2))
    pq.write_table(pa.Table.from_pylist(rows), here / "rows.parquet")
    for name in ("bom.csv", "bom.jsonl", "array.json", "rows.parquet"):
        assert list(load_dataset(str(here / name))) == rows
    (here / "bad.jsonl").write_text('{"q": 1}\n{"q": \n')
    (here / "surplus.csv").write_text("q,a\n1,2,3\n")
    for name, place in (("bad.jsonl", "2"), ("surplus.csv", "2")):
        with pytest.raises(DatasetError, match=rf"{name}\D*{place}"):
            list(load_dataset(str(here / name)))


def test_item_28_times_are_times_and_add_up(bench: Write) -> None:
    bench()
    with recording("x") as server:
        assert run_eval(server.url) == 0
    found = json.loads(Path("out/eval_factory_metrics.json").read_text())["evaluation"]
    began, ended = (datetime.fromisoformat(found[name]) for name in ("start_time", "end_time"))
    assert (ended - began).total_seconds() == pytest.approx(found["runtime_seconds"], abs=1e-3)
    parts = [found[f"{part}_time_seconds"] for part in ("startup", "inference", "scoring")]
    assert all(part > 0 for part in parts)
    assert sum(parts) == pytest.approx(found["runtime_seconds"], abs=1e-3)


def test_item_29_overrides_carry_lists_nulls_and_commas(
    bench: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    bench()
    with recording("x") as server:
        stop = 'config.params.extra.stop=["a, b", c]'
        assert (
            run_eval(
                server.url, "--overrides", f"{stop},config.params.top_p=null,config.params.limit_samples=1"
            )
            == 0
        )
        (body,) = server.bodies
        assert body["stop"] == ["a, b", "c"]
        assert run_eval(server.url, "--overrides", "config.params.limit_samples") == 2
        assert "limit_samples" in capsys.readouterr().err
        assert len(server.received) == 1


def test_item_30_settings_are_reached_from_run_eval(bench: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Retries, their waits, the seed of the examples, and that no failure is allowed: not only recorded, but at work."""
    bench(num_fewshot=1, fewshot_template="{q} {a}")
    failed: Counter[str] = Counter()

    def twice(body: dict[str, Any]) -> str:
        asked = str(body["messages"][-1]["content"]).rpartition("question ")[2]
        failed[asked] += 1
        if failed[asked] <= 2:
            raise Refusal("busy", 503)
        return "x"

    shown: list[list[str]] = []
    extra = "config.params.extra"
    for seed in (1, 2, 1):
        with recording(twice) as server:
            words = f"config.params.max_retries=2,{extra}.retry_backoff=0.001,{extra}.fewshot_seed={seed}"
            assert run_eval(server.url, "--overrides", words) == 0
            assert len(server.received) == 12
            shown.append(sorted({str(content) for content in server.contents}))
        failed.clear()
    assert shown[0] == shown[2] != shown[1]
    with recording(twice) as server:
        words = f"config.params.max_retries=0,config.params.parallelism=1,{extra}.fail_on_skip=true"
        assert run_eval(server.url, "--overrides", words) == 1
        assert len(server.received) == 1, "the first failure ends the run"


def test_item_31_nothing_is_sent_but_to_the_model(bench: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[Any] = []
    connect = socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda own, address: (reached.append(address), connect(own, address))[1]
    )
    monkeypatch.setitem(sys.modules, "uvloop", None)  # it connects without Python
    bench()
    with recording("x") as server:
        assert run_eval(server.url) == 0
        assert {address[1] for address in reached} == {server.server_port}


def test_item_32_generated_tokens_do_not_count_and_shared_ones_are_told() -> None:
    tokens, values = ["2+2", "=", "4", "."], [None, -1.0, -0.25, -7.0]
    echoed = EchoedTokens(tokens, values, [0, 3, 4, 5], [])
    assert continuation_likelihood(echoed, "2+2=", "4").logprob == -0.25
    merged = continuation_likelihood(EchoedTokens(["In", " Paris"], [None, -1.0], [0, 2], []), "In ", "Paris")
    assert merged.logprob == -1.0
    assert merged.straddling


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("confg: {type: sums}\n", "confg"),
        ("config: {type: sums, params: {extra: {dataset: {pth: x}}}}\n", "path"),
        ("config: {type: sums}\n", "output_dir"),
        ("config: [1\n", "run.yaml"),
    ],
)
def test_item_33_a_wrong_configuration_is_a_sentence(
    bench: Write, here: Path, capsys: pytest.CaptureFixture[str], document: str, told: str
) -> None:
    bench()
    (here / "run.yaml").write_text(document)
    assert main(["run_eval", "--run_config", "run.yaml"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert told in error
    assert "Traceback" not in error
    assert not (here / "out").exists()
