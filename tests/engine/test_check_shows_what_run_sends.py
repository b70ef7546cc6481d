"""`check` and `run` take rows and requests from one place: what `check` shows is what a server receives first."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.benchmarks import AskableRows, RowSettings, load_benchmarks
from benchwright.core import STRATEGIES, EchoedTokens, ModelReply, ModelRequest
from benchwright.runs import check

BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="b", dataset="rows.jsonl", target_field="answer", {parameters})
@scorer
def score(sample):
    return {{"right": str(sample.target) in sample.response}}
"""
FORMS = {
    "generate": 'prompt="{question}"',
    "system": 'prompt="Q: {question}", system_prompt="Speak {lang}."',
    "completions": 'prompt="{question}", endpoint_type="completions"',
    "rank": 'prompt="{question}", choices=[" A", " B"], endpoint_type="completions_logprob"',
    "ranked_field": 'prompt="{question}", choices_field="options", endpoint_type="completions_logprob"',
    "converse": 'prompt="{question}", turns_field="turns"',
    "converse_only": 'prompt="", turns_field="turns"',
    "score_only": 'prompt="{question}", response_field="answer"',
}
QUESTIONS = {"mcq": ("A", "B"), "qa": ()}


def row_of(number: int) -> dict[str, Any]:
    return {
        "question": f"What is {number}?",
        "answer": f"answer {number}",
        "lang": ["en", "de"][number % 2],
        "options": [f" {number}", f" {number + 1}", " x"],
        "turns": [f"first {number}", "second"],
    }


def echo(request: ModelRequest) -> str | ModelReply:
    """The text of a request; with made-up log-probabilities where they are requested."""
    if not request.body.get("echo"):
        return "yes"
    text = str(request.body["prompt"])
    tokens = list(text)
    logprobs = [None, *(-0.5 - ord(token) % 7 for token in tokens[1:])]
    return ModelReply("answered", text, echoed=EchoedTokens(tokens, logprobs, list(range(len(tokens))), []))


@pytest.fixture(autouse=True)
def no_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script's log-probabilities are made up, so that no echo could be verified."""
    from benchwright.endpoints import EchoProfile

    async def trusted(endpoint: object, model: str) -> EchoProfile:
        return EchoProfile(max_tokens=0, drops_generated=False)

    monkeypatch.setattr("benchwright.endpoints.EchoProfile.learned", trusted)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, chdir(name):
        yield Path(name)


def sent_by_run(target: str, place: Path, **options: Any) -> list[dict[str, Any]]:
    script = ScriptedEndpoint(echo)
    benchwright.run(target, workspace=place, endpoint=script, parallelism=1, **options)
    return [dict(request.body) for request in script.requests]


def shown_by_check(target: str, **options: Any) -> list[list[dict[str, Any]]]:
    (report,) = check(target, model="demo", **options)
    assert report.ok, report.errors
    return [[{**request.body, "model": ""} for request in sample.requests] for sample in report.samples]


def assert_shown_is_sent(
    shown: list[list[dict[str, Any]]], sent: list[dict[str, Any]], repeats: int, turns: int = 1
) -> None:
    received = iter([{**body, "model": ""} for body in sent])
    for bodies in shown:
        for _ in range(repeats):
            for body in bodies:
                assert next(received) == body
                for _ in range(turns - 1):
                    next(received)  # holds the reply to the first turn


@given(
    form=st.sampled_from(sorted(FORMS)),
    rows=st.integers(4, 7),
    shots=st.integers(0, 2),
    seed=st.integers(0, 3),
    repeats=st.integers(1, 2),
    limit=st.sampled_from([None, 2, 3]),
    filters=st.sampled_from([(), ("lang=en",)]),
    max_tokens=st.sampled_from([None, 7]),
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)  # fmt: skip
def test_of_a_benchmark_in_python(
    form: str, rows: int, shots: int, seed: int, repeats: int, **chosen: Any
) -> None:
    options = {name: value for name, value in chosen.items() if value}
    with tempfile.TemporaryDirectory() as name, chdir(name):
        place = Path(name)
        (place / "rows.jsonl").write_text("".join(json.dumps(row_of(n)) + "\n" for n in range(rows)))
        (place / "bench.py").write_text(BENCH.format(parameters=FORMS[form]))
        options |= {"num_fewshot": shots, "fewshot_seed": seed, "repeats": repeats}
        sent = sent_by_run("bench.py", place, **options)
        turns = {"converse": 3, "converse_only": 2}.get(form, 1)
        assert_shown_is_sent(shown_by_check("bench.py", **options), sent, repeats, turns)
        assert bool(sent) == (form != "score_only")


@pytest.mark.parametrize("infer", [{}, {"infer_method": "logprob"}])
@pytest.mark.parametrize("family", sorted(QUESTIONS))
def test_of_a_file_of_questions(folder: Path, family: str, infer: dict[str, Any]) -> None:
    if family == "qa" and infer:
        pytest.skip("only multiple choice is ranked")
    rows = [
        {"question": f"Is it {n}?", **dict.fromkeys(QUESTIONS[family], f"option {n}"), "answer": "A"}
        for n in range(5)
    ]
    (folder / f"{family}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"limit": 3, "num_fewshot": 1, **infer}
    sent = sent_by_run(f"{family}.jsonl", folder, **options)
    assert len(sent) >= 3
    assert_shown_is_sent(shown_by_check(f"{family}.jsonl", **options), sent, 1)


def test_rows_are_given_in_order_with_their_requests_and_nothing_is_sent(folder: Path) -> None:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row_of(n)) + "\n" for n in range(6)))
    (folder / "bench.py").write_text(BENCH.format(parameters=FORMS["rank"]))
    (spec,) = load_benchmarks("bench.py", cwd=folder)
    rows = AskableRows.of(spec, RowSettings(filters=(("lang", "de"),), limit=2, repeats=2))
    assert [(index, repeat, row["question"]) for index, repeat, row in rows] == [
        (0, 0, "What is 1?"),
        (0, 1, "What is 1?"),
        (1, 0, "What is 3?"),
        (1, 1, "What is 3?"),
    ]
    _, _, first = next(iter(rows))
    requests = rows.requests(first, repeat=1)
    assert [request.body["prompt"] for request in requests] == ["What is 1? A", "What is 1? B"]
    assert [request.repeat for request in requests] == [1, 1]
    assert [each.body["max_tokens"] for each in rows.but(echo_tokens=1).requests(first)] == [1, 1]


def test_every_declared_strategy_has_its_class() -> None:
    from benchwright.benchmarks._strategies import _CLAIMS

    assert set(_CLAIMS) == set(STRATEGIES)
