"""Whatever a suite, its models, the configuration and the flags say: what arrives at the server is what the manual says.

The expected requests are computed here from the tables that were written, not with the code under test.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from benchwright import compare
from benchwright.config import RunOptions, SuiteOptions
from benchwright.core import UsageError
from benchwright.runs import check_suite, run_suite
from benchwright.runs._suites.suite import load_suite
from recording_server import Received, RecordingServer, recording

BENCHMARKS = """
from benchwright import benchmark, scorer

@benchmark(name="plain", dataset="rows.jsonl", prompt="{question}?", target_field="answer")
@scorer
def plain(sample):
    return {"right": sample.response == sample.target}

@benchmark(name="own_system", dataset="rows.jsonl", prompt="Say {question}", system_prompt="of the benchmark",
           target_field="answer")
@scorer
def own_system(sample):
    return {"right": sample.response == sample.target}
"""
PROMPTS = {"plain": "{question}?", "own_system": "Say {question}"}
ROWS = [{"question": f"q{number}", "answer": "fine"} for number in range(3)]
HEADERS = ("x-team", "x-org")


@pytest.fixture(scope="module")
def recorder() -> Iterator[RecordingServer]:
    with recording("fine") as running:
        yield running


def optional(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=values)


BODY = optional(top_k=st.integers(1, 3), min_p=st.sampled_from([0.1, 0.2]), temperature=st.just(0.7))
GENERATION: dict[str, st.SearchStrategy[Any]] = {
    "temperature": st.sampled_from([0.0, 0.5, 1.0]),
    "top_p": st.sampled_from([0.5, 0.9]),
    "max_tokens": st.integers(1, 3),
    "seed": st.integers(0, 2),
    "stop": st.sampled_from([["END"], ["a", "b"]]),
    "extra_body": BODY,
}
TEAMS = st.sampled_from(["red", "blue"])
RUN = optional(**GENERATION, limit=st.integers(1, 3), repeats=st.integers(1, 2))
MODEL = st.fixed_dictionaries(
    {"model": st.sampled_from(["same", "other"])},
    optional={
        **GENERATION,
        "system": st.sampled_from(["Be brief.", "Be kind."]),
        "type": st.sampled_from(["chat", "completions"]),
        "headers": st.fixed_dictionaries({}, optional={"X-Team": TEAMS, "X-Org": TEAMS}),
    },
)
FLAGS = st.fixed_dictionaries(
    {},
    optional={
        **GENERATION,
        "limit": st.integers(1, 3),
        "headers": st.fixed_dictionaries({}, optional={"x-team": TEAMS}),
    },
)


def first_given(name: str, *tables: Mapping[str, Any]) -> Any:
    return next((table[name] for table in tables if table.get(name) is not None), None)


def expected_requests(
    model: Mapping[str, Any], dataset: str, run: Mapping[str, Any], layers: list[Mapping[str, Any]]
) -> tuple[str, list[dict[str, Any]]]:
    """A text that stands for the pair's settings, and all requests of one model on one dataset. `layers` has the
    tables that may say something, the first before the others; the model comes last."""
    tables = [*layers, model]
    body: dict[str, Any] = {"temperature": 0.0, "max_tokens": 4096, "top_p": 1.0}
    for name in ("temperature", "max_tokens", "top_p", "seed", "stop"):
        value = first_given(name, *tables)
        if value is not None:
            body[name] = value
    declared = dict(body)  # recorded as given, although further fields of the body may replace it
    for table in reversed(tables):
        body |= table.get("extra_body", {})
    headers = {name.lower(): [value] for name, value in model.get("headers", {}).items()}
    headers |= {name.lower(): [value] for name, value in (layers[0].get("headers") or {}).items()}
    system = "of the benchmark" if dataset == "own_system" else model.get("system")
    limit, repeats = first_given("limit", *layers), first_given("repeats", *layers) or 1
    requests: list[dict[str, Any]] = []
    for row in ROWS[:limit]:
        text = PROMPTS[dataset].format(**row)
        if model.get("type") == "completions":
            asked: dict[str, Any] = {"prompt": text if system is None else f"{system}\n{text}"}
            path = "/v1/completions"
        else:
            said = [] if system is None else [{"role": "system", "content": system}]
            asked = {"messages": [*said, {"role": "user", "content": text}]}
            path = "/v1/chat/completions"
        sent = {"path": path, "headers": headers, "body": {"model": model["model"], **asked, **body}}
        requests += [sent] * repeats
    whole = [
        model["model"],
        model.get("type"),
        model.get("system"),
        headers,
        declared,
        body,
        dataset,
        limit,
        repeats,
    ]
    return json.dumps(whole, sort_keys=True), requests


def toml(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{" + ", ".join(f"{name} = {toml(each)}" for name, each in value.items()) + "}"


def as_documented(request: Received) -> dict[str, Any]:
    headers = {name: values for name, values in request.headers.items() if name in HEADERS}
    return {"path": request.path, "headers": headers, "body": request.body}


def counted(requests: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(request, sort_keys=True) for request in requests)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an example takes long: not shrunk
)  # fmt: skip
@given(
    models=st.lists(MODEL, min_size=1, max_size=3),
    datasets=st.lists(st.tuples(st.sampled_from(["plain", "own_system"]), RUN), min_size=1, max_size=2),
    configured=RUN,
    suite=RUN,
    flags=FLAGS,
)
def test_every_request_of_a_suite_is_the_documented_one(
    recorder: RecordingServer,
    models: list[dict[str, Any]],
    datasets: list[tuple[str, dict[str, Any]]],
    configured: dict[str, Any],
    suite: dict[str, Any],
    flags: dict[str, Any],
) -> None:
    url = recorder.url
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder = Path(name)
        (folder / "bench.py").write_text(BENCHMARKS, encoding="utf-8")
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
        (folder / "benchwright.toml").write_text(f"run = {toml(configured)}", encoding="utf-8")
        tables = {
            "models": [
                {"name": f"m{number}", "base_url": url, "retries": 0, **model}
                for number, model in enumerate(models)
            ],
            "datasets": [{"benchmark": f"bench.py:{dataset}", **run} for dataset, run in datasets],
            "run": suite,
        }
        (folder / "suite.yaml").write_text(yaml.safe_dump(tables), encoding="utf-8")
        recorder.take()
        result = run_suite("suite.yaml", cache=False, **flags)
        received = [as_documented(request) for request in recorder.take()]
        expected: dict[str, list[dict[str, Any]]] = {}
        for model in models:
            for dataset, run in datasets:
                same, requests = expected_requests(model, dataset, run, [flags, run, suite, configured])
                expected[same] = requests  # what would measure the same is measured once
        assert counted(received) == counted([each for requests in expected.values() for each in requests])
        for pair in result:
            assert pair.result is not None
            recorded = yaml.safe_load((pair.result.folder / "run_config.yml").read_text(encoding="utf-8"))
            model = models[int(pair.model.removeprefix("m"))]
            own = recorded["settings"]["asked"].endswith(":own_system")
            assert recorded["config"]["params"]["extra"].get("system") == (
                None if own else model.get("system")
            ), "as sent"


def two_models(recorder: RecordingServer, first: str | None, second: str) -> str:
    url = recorder.url
    models = [
        {"name": "one", "base_url": url, "model": "m", "retries": 0},
        {"name": "two", "base_url": url, "model": "m", "retries": 0, "system": second},
    ]
    if first is not None:
        models[0]["system"] = first
    return yaml.safe_dump({"models": models, "datasets": ["bench.py:plain"], "work_dir": "out"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.py").write_text(BENCHMARKS, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("first", ["Be brief.", None])
def test_each_model_has_its_own_system_message_even_with_equal_ids(
    recorder: RecordingServer, folder: Path, first: str | None
) -> None:
    (folder / "suite.yaml").write_text(two_models(recorder, first, "Be kind."), encoding="utf-8")
    recorder.take()
    result = run_suite("suite.yaml")
    systems = Counter(
        message["content"] if message["role"] == "system" else None
        for message in (request.body["messages"][0] for request in recorder.take())
    )
    assert systems == {first: 3, "Be kind.": 3}, "and no model is answered from the other's replies"
    hashes = {
        json.loads((pair.result.folder / "manifest.json").read_text())["benchmark"]["prompt_hash"]
        for pair in result
        if pair.result is not None
    }
    assert len(hashes) == 2


@pytest.mark.parametrize(("dataset", "differs"), [("plain", ["$.system"]), ("own_system", [])])
def test_models_with_other_system_messages_are_compared_and_the_messages_that_were_sent_listed(
    recorder: RecordingServer, folder: Path, dataset: str, differs: list[str]
) -> None:
    written = two_models(recorder, "Be brief.", "Be kind.").replace("bench.py:plain", f"bench.py:{dataset}")
    (folder / "suite.yaml").write_text(written, encoding="utf-8")
    one, two = (pair.result for pair in run_suite("suite.yaml"))
    assert one is not None
    assert two is not None
    inputs = compare(one.run_id, two.run_id).inputs
    assert [found["path"] for found in inputs["differences"]] == differs
    assert (inputs["same"], bool(differs)) in ((True, False), (False, True))


def test_a_check_of_a_suite_shows_what_each_model_is_asked(recorder: RecordingServer, folder: Path) -> None:
    (folder / "suite.yaml").write_text(two_models(recorder, "Be brief.", "Be kind."), encoding="utf-8")
    suite = load_suite("suite.yaml", cwd=folder)
    assert suite is not None
    checked = check_suite(suite, RunOptions(), SuiteOptions())
    shown = [str(pair.report.samples[0]) for pair in checked.pairs]
    assert ["Be brief." in text for text in shown] == [True, False]
    assert ["Be kind." in text for text in shown] == [False, True]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"system": "Be rude."}, "system was Be kind., is Be rude. now"),
        ({"stream": True}, "stream was False, is True now"),
        ({"temperature": 0.5}, "temperature was 0.0, is 0.5 now"),
    ],
)
def test_a_run_is_not_resumed_with_other_settings_of_its_model(
    recorder: RecordingServer, folder: Path, change: dict[str, Any], told: str
) -> None:
    written = yaml.safe_load(two_models(recorder, None, "Be kind."))
    (folder / "suite.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    run_suite("suite.yaml")
    written["models"][1] |= change
    (folder / "suite.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    recorder.take()
    with pytest.raises(UsageError, match="is another experiment") as error:
        run_suite("suite.yaml", reuse="")
    assert told in str(error.value)
    assert not recorder.take()


def test_evaluations_of_function_calling_send_the_system_message_of_each_model(
    recorder: RecordingServer, folder: Path
) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    said: list[list[dict[str, str]]] = [
        [{"role": "user", "content": "hi"}],
        [{"role": "system", "content": "of the row"}, {"role": "user", "content": "hi"}],
    ]
    calls = [
        {"messages": each, "tools": [tool], "tool_calls_ground_truth": [{"name": "f", "arguments": {}}]}
        for each in said
    ]
    (folder / "calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in calls), encoding="utf-8")
    suite = yaml.safe_load(two_models(recorder, None, "Be kind."))
    suite["datasets"] = [
        {"benchmark": name, "tool_data": "calls.jsonl"} for name in ("bfcl_simple", "bfcl_simple_prompting")
    ]
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    recorder.take()
    result = run_suite("suite.yaml", cache=False)
    sent = Counter(
        (
            "tools" in request.body,
            message["content"].split("\n\n")[-1] if message["role"] == "system" else None,
        )
        for request in recorder.take()
        for message in request.body["messages"][:1]
    )
    assert sent[True, None] == 1
    for native in (True, False):
        assert (sent[native, "Be kind."], sent[native, "of the row"]) == (1, 2)
    recorded = [
        yaml.safe_load((pair.result.folder / "run_config.yml").read_text(encoding="utf-8"))
        for pair in result
        if pair.result is not None
    ]
    systems = [each["config"]["params"]["extra"].get("system") for each in recorded]
    assert sorted(map(str, systems)) == ["Be kind.", "Be kind.", "None", "None"]
