"""Judges are asked through the run: durable, cached, and never a silent zero."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, judge_score, scorer
from benchwright.core import ConfigError
from benchwright.demo import DemoSettings, demo_server, fault_mix
from benchwright.scorers import JudgeFailedError
from benchwright.store import Workspace, open_store

ROWS = [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(12)]


def judged(name: str, url: str, **judge: Any) -> Any:
    @benchmark(
        name=name,
        dataset=ROWS,
        prompt="{question}",
        target_field="answer",
        judge={"url": url, "model_id": "demo", "max_retries": 0, **judge},
    )
    @scorer
    def graded(sample: ScorerInput) -> dict[str, Any]:
        return judge_score(sample)

    return graded


def test_judges_grade_and_every_grade_is_recorded(tmp_path: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        bench = judged("judged", server.url)
        endpoint = ScriptedEndpoint([row["answer"] for row in ROWS])
        result = benchwright.run(bench, endpoint=endpoint, workspace=tmp_path, parallelism=1)
        assert result["judge_score"] == 1.0
        assert result.summary.outcomes["scored"] == len(ROWS)
        asked = server.stats()["requests"]
        again = benchwright.resume(result.run_id, target=bench, workspace=tmp_path, endpoint=endpoint)
        assert server.stats()["requests"] == asked == len(ROWS)
        assert again.summary == result.summary
    store = open_store(Workspace(tmp_path))
    assert store.count_steps(result.run_id, "judge") == len(ROWS)
    store.close()


def test_a_failing_judge_is_a_failed_scorer_not_a_zero(tmp_path: Path) -> None:
    broken = DemoSettings(error_rate=1.0, faults=fault_mix("server_error"))
    with demo_server(broken) as server:
        result = benchwright.run(
            judged("broken", server.url), endpoint=ScriptedEndpoint("x"), workspace=tmp_path
        )
    assert result.summary.outcomes["scorer_failed"] == len(ROWS)
    assert result.metrics == {}
    assert result.exit_code == 1
    assert "judge" in result.first_failure


@pytest.mark.parametrize(("judge", "run", "attempts"), [(None, 0, 1), (None, 1, 2), (0, 2, 1), (1, None, 2)])
def test_a_judge_without_a_number_of_retries_has_that_of_the_run(
    tmp_path: Path, judge: int | None, run: int | None, attempts: int
) -> None:
    broken = DemoSettings(error_rate=1.0, faults=fault_mix("server_error"))
    with demo_server(broken) as server:
        bench = judged(f"retries {judge} {run}", server.url, max_retries=judge)
        endpoint = ScriptedEndpoint("x")
        result = benchwright.run(bench, endpoint=endpoint, workspace=tmp_path, max_retries=run, limit=3)
        assert server.stats()["requests"] == 3 * attempts
    assert result.summary.outcomes["scorer_failed"] == 3


@pytest.mark.parametrize("reply", ["[" * 5000 + "]" * 5000, '{"grade":' * 5000 + '"x"' + "}" * 5000])
def test_a_judges_reply_that_is_nested_too_deeply_fails_its_sample_only(tmp_path: Path, reply: str) -> None:
    answer = json.dumps({"choices": [{"message": {"content": reply}, "finish_reason": "stop"}]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            bench = judged(f"deep {ord(reply[0])}", f"http://127.0.0.1:{server.server_port}/v1")
            result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
        finally:
            server.shutdown()
            thread.join()
    assert result.summary.outcomes["scorer_failed"] == len(ROWS)
    assert result.metrics == {}


def test_a_judge_that_reaches_its_longest_reply_is_named_with_the_cure(tmp_path: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        bench = judged("cut off", server.url, max_new_tokens=2, parse_retries=0)
        result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    assert result.summary.reasons == {"judge_unparsed": len(ROWS)}
    assert "Raise max_new_tokens of the judge" in result.first_failure


def test_when_only_the_judge_failed_the_models_reply_is_kept(tmp_path: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        bench = judged("later", server.url)
        dead = judged("later dead", "http://127.0.0.1:9/v1", request_timeout=1)
        endpoint = ScriptedEndpoint([row["answer"] for row in ROWS])
        failed = benchwright.run(dead, endpoint=endpoint, workspace=tmp_path, parallelism=1)
        assert failed.summary.outcomes["scorer_failed"] == len(ROWS)
        silent = ScriptedEndpoint("must not be asked")
        result = benchwright.resume(
            failed.run_id,
            target=bench,
            workspace=tmp_path,
            endpoint=silent,
            retry_failed=True,
            allow_changed=True,
        )
    assert silent.requests == []
    assert result["judge_score"] == 1.0


def test_an_unset_judge_key_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    endpoint = ScriptedEndpoint("x")
    with pytest.raises(ConfigError, match="NO_SUCH_KEY"):
        benchwright.run(
            judged("keyless", "http://127.0.0.1:9/v1", api_key="NO_SUCH_KEY"),
            endpoint=endpoint,
            workspace=tmp_path,
        )
    assert endpoint.requests == []


def test_outside_a_run_a_judge_is_asked_directly() -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        sample = ScorerInput(
            "Paris",
            "Paris",
            {"question": "Capital?"},
            config={"judge": {"url": server.url, "model_id": "demo"}},
        )
        assert judge_score(sample) == {"judge_score": 1.0, "judge_grade": "C"}


def test_outside_a_run_a_dead_judge_raises() -> None:
    config = {"judge": {"url": "http://127.0.0.1:9/v1", "model_id": "m", "max_retries": 0}}
    with pytest.raises(JudgeFailedError, match="the judge gave no reply"):
        judge_score(ScorerInput("a", "b", {}, config=config))


def test_judges_of_one_model_at_several_servers_share_their_notes(tmp_path: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as one, demo_server(DemoSettings(skill=1.0)) as other:

        @benchmark(
            name="twice",
            dataset=ROWS,
            prompt="{question}",
            target_field="answer",
            judge={"url": one.url, "model_id": "demo"},
            judge_1={"url": other.url, "model_id": "demo"},
        )
        @scorer
        def twice(sample: ScorerInput) -> dict[str, Any]:
            return benchwright.judge_panel(sample)

        result = benchwright.run(twice, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    notes = result.summary.notes
    assert any('the judge "demo" is the demo model' in note for note in notes)
    assert len(notes) == len(set(notes))
