"""What judges take is counted apart: requests, tokens, failures, questions asked again, and how far they agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, judge_panel, judge_score, scorer
from benchwright.cli import main
from benchwright.results._figures import judge_lines
from recording_server import Refusal, recording

ROWS = [{"question": f"q{n}", "answer": str(n)} for n in range(8)]


def is_row(body: dict[str, Any], *numbers: int) -> bool:
    """Whether a judge is asked about one of these rows."""
    return any(f"q{number}\n" in body["messages"][0]["content"] for number in numbers)


def judged(name: str, **judges: dict[str, Any]) -> Any:
    several = len(judges) > 1
    tables = {key: {"max_retries": 0, **table} for key, table in judges.items()}

    @benchmark(name=name, dataset=ROWS, prompt="{question}", target_field="answer", **tables)
    @scorer
    def graded(sample: ScorerInput) -> dict[str, Any]:
        return judge_panel(sample) if several else judge_score(sample)

    return graded


def test_tokens_failures_and_repeated_questions_are_the_judges_own(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str:
        if is_row(body, 5):
            return "I would rather not say."  # however often
        if is_row(body, 2) and len(body["messages"]) == 1:
            return "hm"
        if is_row(body, 6):
            raise Refusal("out of order")
        return "GRADE: C"

    with recording(reply) as server:
        bench = judged("figures", judge={"url": server.url, "model_id": "j"})
        result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    requests = len(ROWS) + 1 + 2
    figures = result.summary.judges["j"]
    assert figures["requests"] == requests == len(server.received)
    assert (figures["failed"], figures["asked_again"], figures["uncounted"]) == (1, 3, 0)
    assert figures["prompt_tokens"] == 3 * (requests - 1)
    assert figures["completion_tokens"] == requests - 1
    assert result.summary.reasons == {"judge_unparsed": 1, "judge_failed": 1}
    assert result.summary.outcomes["scorer_failed"] == 2
    assert result["judge_score"] == 1.0
    written = yaml.safe_load((result.folder / "results.yml").read_text())
    assert written["results"]["tasks"]["figures"]["judges"]["j"] == figures
    (line,) = judge_lines(result.summary)
    assert "11 requests, 1 failed, 3 to ask again; 30 prompt, 10 completion tokens" in line


def test_a_refused_schema_is_learned_once_and_the_grades_are_read_from_words(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str:
        if "response_format" in body:
            raise Refusal("response_format json_schema is not supported")
        return "GRADE: C"

    with recording(reply) as server:
        bench = judged("schema", judge={"url": server.url, "model_id": "j", "structured": True})
        result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path, parallelism=1)
    assert result["judge_score"] == 1.0
    assert sum("response_format" in body for body in server.bodies) == 1
    assert any("the JSON schema of verdicts" in note for note in result.summary.notes)


def test_several_judges_and_how_far_they_agree(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str:
        strict = body["model"] == "strict"
        return "GRADE: I" if is_row(body, 0, 1, 2, *((3, 4) if strict else ())) else "GRADE: C"

    with recording(reply) as server:
        bench = judged(
            "panel",
            judge={"url": server.url, "model_id": "kind"},
            judge_1={"url": server.url, "model_id": "strict"},
        )
        result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    summary = result.summary
    assert summary.metrics["judges_agree"].value == 0.75
    # 3 agree on I, 3 on C, 2 differ: observed 0.75, by chance (3·5 + 5·3) / 64.
    assert summary.derived["judge_kappa"] == pytest.approx((0.75 - 30 / 64) / (1 - 30 / 64))
    assert {name: figures["requests"] for name, figures in summary.judges.items()} == {"kind": 8, "strict": 8}
    assert judge_lines(summary)[-1] == "the judges disagree on 25.0 % of 8 samples, κ 0.53"
    assert summary.metrics["score_of_judge"].value == 5 / 8
    assert summary.metrics["judge_score"].value == 4 / 8  # ties count as a half


BENCH = """
from benchwright import benchmark, judge_score, scorer


@benchmark(name="by_flag", dataset=[{"question": "q", "target": "t"}], prompt="{question}",
           judge={"url": "http://127.0.0.1:9/v1", "model_id": "nobody", "temperature": 0.7, "max_retries": 0})
@scorer
def graded(sample):
    return judge_score(sample)
"""


def test_a_run_may_name_another_judge_than_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "by_flag.py").write_text(BENCH)
    with recording("GRADE: C") as server:
        judge = json.dumps({"url": server.url, "model_id": "other", "max_tokens": 99})
        assert main(["run", "by_flag.py", "--judge", judge, "--json", "--quiet"]) == 0
        (body,) = server.bodies
        assert (body["model"], body["max_tokens"], body["temperature"]) == ("other", 99, 0.7)
        summary = json.loads(capsys.readouterr().out)["results"][0]["summary"]
        assert summary["judges"]["other"]["requests"] == 1
        again = json.dumps({"url": server.url, "model_id": "third"})
        assert main(["rescore", "last", "--judge", again, "--quiet"]) == 0
        assert server.bodies[-1]["model"] == "third"
        extra = json.dumps({"judge": {"url": server.url, "max_tokens": 7}})
        assert main(["run", "by_flag.py", "--extra", extra, "--no-cache", "--quiet"]) == 0
        assert (server.bodies[-1]["model"], server.bodies[-1]["max_tokens"]) == ("nobody", 7)
    assert main(["run", "by_flag.py", "--judge", '{"modle_id": "x"}']) == 2
    assert "Did you mean 'model_id'" in capsys.readouterr().err
