"""Models by profile: every kind of server is asked in its own words, from the command's flags to the scores."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

import benchwright
from benchwright import ScorerInput, benchmark, scorer
from benchwright.config import PROFILES, RunOptions
from benchwright.core import ConfigError, UsageError
from benchwright.demo import DemoServer, DemoSettings, demo_server
from benchwright.engine._models import ChosenModel
from benchwright.store import Workspace, open_store

ROWS = [{"question": f"What is {n} + 2?", "answer": str(n + 2)} for n in range(6)]


@benchmark(
    name="sums", dataset=ROWS, prompt="{question}", target_field="answer", system_prompt="Only the number."
)
@scorer
def sums(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": sample.response.strip() == sample.target}


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with demo_server(DemoSettings(skill=1.0, model_id="served-model", itl_ms=1)) as running:
        yield running


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings_of(folder: Path, run_id: int) -> dict[str, Any]:
    store = open_store(Workspace(folder))
    try:
        return dict(store.run(run_id).settings)
    finally:
        store.close()


@pytest.mark.parametrize("name", PROFILES)
def test_profile_runs_against_its_kind_of_server(server: DemoServer, folder: Path, name: str) -> None:
    profile = PROFILES[name]
    named = {"model_id": "served-model"} if profile.api == "triton" else {}
    before = server.stats()
    result = benchwright.run(
        sums, model=name, host_ip=server.host, host_port=server.port, max_tokens=64, **named
    )
    after = server.stats()
    assert result.summary.outcomes["scored"] == 6
    assert result["correct"] == 1.0
    assert result.model == "served-model"
    assert after["answered"] - before["answered"] == 6  # type: ignore[operator]
    assert after["streams"] - before["streams"] == (6 if profile.stream else 0)  # type: ignore[operator]
    config = yaml.safe_load((result.folder / "run_config.yml").read_text(encoding="utf-8"))
    assert ("--api" in str(config)) == (profile.api != "openai"), (
        "the recorded command starts the same evaluation"
    )
    model = settings_of(folder, result.run_id)["model"]
    assert (model["api"], model["model_id"]) == (profile.api, "served-model"), "frozen with the run"


def test_stream_of_a_profile_can_be_switched(server: DemoServer) -> None:
    before = server.stats()["streams"]
    benchwright.run(sums, model="tgi_stream_api_general", model_url=server.url, stream=False)
    assert server.stats()["streams"] == before
    benchwright.run(sums, model="tgi_api_general", model_url=server.url, stream=True)
    assert server.stats()["streams"] == before + 6  # type: ignore[operator]


def test_replies_of_different_wire_formats_are_not_mixed_up(server: DemoServer) -> None:
    kwargs: dict[str, Any] = {"model_url": server.url, "max_tokens": 31, "model_id": "m"}
    first = benchwright.run(sums, model="vllm_api_general", **kwargs)
    other = benchwright.run(sums, model="tgi_api_general", **kwargs)
    again = benchwright.run(sums, model="tgi_api_general", **kwargs)
    assert (first.from_cache, other.from_cache, again.from_cache) == (0, 0, 6)


def test_resume_does_not_ask_for_the_model_again(server: DemoServer) -> None:
    stopped = benchwright.run(
        sums,
        model="mindie_stream_api_general",
        model_url=server.url,
        max_requests=2,
        parallelism=1,
        cache=False,
    )
    before = server.stats()["requests"]
    result = benchwright.resume(stopped.run_id, target=sums)
    assert result.summary.outcomes["scored"] == 6
    assert server.stats()["requests"] == before + 4  # type: ignore[operator]


def test_a_profile_in_the_configuration_gets_its_address_by_flag(server: DemoServer, folder: Path) -> None:
    (folder / "benchwright.toml").write_text('[run]\nmodel = "tgi_api_general"\n', encoding="utf-8")
    result = benchwright.run(sums, model_url=server.url)
    assert settings_of(folder, result.run_id)["model"]["api"] == "tgi"


def test_configured_model_with_foreign_keys_says_what_has_no_effect(server: DemoServer, folder: Path) -> None:
    (folder / "benchwright.toml").write_text(
        f'[models.tgi]\ntype = "TGICustomAPI"\nurl = "{server.url}"\npath = "/weights"\n'
        "generation_kwargs = { num_return_sequences = 2, do_sample = true, temperature = 0.5 }\n",
        encoding="utf-8",
    )
    result = benchwright.run(sums, model="tgi", cache=False)
    assert any(note.startswith("path has no effect") for note in result.summary.notes)
    assert result.summary.repeats == 2
    assert benchwright.run(sums, model="tgi", repeats=1, cache=False).summary.repeats == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "tgi_api_generl"}, "Did you mean 'tgi_api_general'"),
        ({"model": "hf_chat_model"}, "Start a server"),
        ({"model": "vllm_offline_vl"}, "Start a server"),
        ({"model": "triton_api_general"}, "model_id=NAME"),
        ({"model": "tgi_api_general", "api": "openai"}, "speaks tgi"),
        ({"model": "tgi_api_general", "model_url": "http://h", "host_port": 9}, "leave host_ip"),
        ({"model": "tgi_api_general", "model_type": "chat", "model_id": "m"}, "takes one text"),
        ({"model": "tgi_api_general", "model_type": "completions_logprob", "model_id": "m"}, "nothing was sent"),
        ({"model": "openai_responses", "model_id": "m", "stop": "x"}, "no stop texts"),
        ({"model": "demo", "model_url": "http://h"}, "has no address"),
        ({"model": "demo", "headers": {"X-A": "b"}}, "headers is for"),
        ({"api": "tgi"}, "api is for"),
        ({"model_url": "http://h", "model_id": "m", "api": "tgii"}, "Did you mean 'tgi'"),
        ({"model_url": "http://h", "model_id": "m", "headers": ["X-Api-Key=abc"]}, "looks like a secret"),
        ({"model_url": "http://h", "model_id": "m", "headers": ["abc"]}, "NAME=VALUE"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises((UsageError, ConfigError), match=words) as caught:
        benchwright.run(sums, **options)
    assert "abc" not in str(caught.value)


class Lists(BaseHTTPRequestHandler):
    """Answers GET with what the test wants, and writes down what was asked."""

    answers: ClassVar[dict[str, tuple[int, Any]]] = {}
    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        status, body = self.answers.get(self.path, (404, {"detail": "Not Found"}))
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def lists() -> Iterator[tuple[str, type[Lists]]]:
    handler = type("OwnLists", (Lists,), {"answers": {}, "seen": []})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}", handler
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


def model_id_of(**options: Any) -> str:
    return ChosenModel.of(RunOptions.from_keywords(options), None).endpoint.model_id


@pytest.mark.parametrize(
    ("profile", "path", "body"),
    [
        ("vllm_api_general_chat", "/v1/models", {"data": [{"id": "first"}, {"id": "second"}]}),
        ("vllm_api_general_chat", "/models", {"data": [{"id": "first"}]}),
        ("openai_responses", "/v1/models", {"data": [{"id": ""}, {"id": "first"}]}),
        ("mindie_stream_api_general", "/v1/models", {"data": [{"id": "first"}]}),
        ("tgi_api_general", "/v1/models", {"data": [{"id": "first"}]}),
        ("tgi_api_general", "/info", {"model_id": "first", "version": "3.0"}),
    ],
)
def test_first_model_of_the_server_is_taken(lists: Any, profile: str, path: str, body: Any) -> None:
    url, handler = lists
    handler.answers[path] = (200, body)
    assert model_id_of(model=profile, model_url=url) == "first"


def test_an_address_alone_finds_the_only_model(lists: Any) -> None:
    url, handler = lists
    handler.answers["/v1/models"] = (200, {"data": [{"id": "org/only"}]})
    assert model_id_of(model_url=url) == "org/only"
    assert model_id_of(model_url=f"{url}/v1/chat/completions") == "org/only"


def test_an_address_alone_does_not_choose_among_several(lists: Any) -> None:
    url, handler = lists
    handler.answers["/v1/models"] = (200, {"data": [{"id": f"m{n}"} for n in range(25)]})
    with pytest.raises(UsageError) as caught:
        model_id_of(model_url=url)
    assert "the server has 25 models: m0, m1, " in str(caught.value)
    assert "and 5 more" in str(caught.value)
    assert "--model-id m0" in str(caught.value)


def test_key_is_sent_with_the_question_which_model(lists: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url, handler = lists
    monkeypatch.setenv("LIST_KEY", "sk-very-secret-key")
    handler.answers["/v1/models"] = (401, {"error": {"message": "bad key sk-very-secret-key"}})
    with pytest.raises(ConfigError) as caught:
        model_id_of(model="vllm_api_general", model_url=url, api_key_name="LIST_KEY")
    assert handler.seen[0] == ("/v1/models", "Bearer sk-very-secret-key")
    assert "bad key [redacted]. Check the key in the environment variable LIST_KEY" in str(caught.value)
    with pytest.raises(ConfigError, match="variable that contains the key: --api-key-name NAME"):
        model_id_of(model="vllm_api_general", model_url=url)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, {"detail": "Not Found"}), "/v1/models says 404: Not Found"),
        ((200, {"data": []}), "lists no models"),
        ((200, {"data": [{"name": "x"}]}), "lists no models"),
        ((200, b"<html><title>Hi</title></html>"), "lists no models"),
        ((200, []), "lists no models"),
    ],
)
def test_server_that_does_not_tell_is_a_clear_error(lists: Any, answer: tuple[int, Any], words: str) -> None:
    url, handler = lists
    handler.answers["/v1/models"] = answer
    with pytest.raises(ConfigError) as caught:
        model_id_of(model="vllm_api_general", model_url=url)
    assert words in str(caught.value)
    assert "--model-id NAME" in str(caught.value)


@pytest.mark.parametrize(
    "profile", ["mindie_stream_api_general", "tgi_api_general", "tgi_stream_api_general"]
)
def test_formats_that_send_no_name_need_none(lists: Any, profile: str) -> None:
    url, _ = lists
    assert model_id_of(model=profile, model_url=url) == profile


def test_server_that_is_not_there_is_a_clear_error_and_check_asks_nothing(lists: Any) -> None:
    with pytest.raises(ConfigError, match=r"list of models could not be read: .*Is the server running"):
        model_id_of(model="vllm_api_general", model_url="http://127.0.0.1:9")
    assert benchwright.check(sums, model="vllm_api_general", model_url="http://127.0.0.1:9")
    url, handler = lists
    benchwright.check(sums, model="tgi_api_general", model_url=url)
    assert handler.seen == []


def test_described_server_of_another_format_needs_no_model_name(lists: Any) -> None:
    url, handler = lists
    handler.answers["/info"] = (200, {"model_id": "first"})
    assert model_id_of(api="tgi", model_url=url) == "first"


def test_triton_url_may_name_the_model() -> None:
    url = "http://127.0.0.1:9/v2/models/llama/generate"
    assert model_id_of(model="triton_api_general", model_url=url) == "llama"


def test_headers_of_flags_are_sent_and_filled_from_the_environment(
    lists: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", "abc")
    options = RunOptions.from_keywords(
        {
            "model_url": "http://127.0.0.1:9",
            "model_id": "m",
            "headers": ["X-Team=a=b", "X-Api-Key=${TEAM_KEY}"],
        }
    )
    endpoint = ChosenModel.of(options, None).endpoint
    assert endpoint.headers == {"X-Team": "a=b", "X-Api-Key": "${TEAM_KEY}"}  # type: ignore[union-attr]


def test_a_benchmark_that_ranks_is_refused_before_anything_is_sent(server: DemoServer) -> None:
    @benchmark(
        name="ranked", dataset=ROWS, prompt="{question}", target_field="answer", choices=["a", "b"],
        endpoint_type="completions_logprob",
    )  # fmt: skip
    @scorer
    def ranked(sample: ScorerInput) -> dict[str, Any]:
        return {"correct": True}

    before = server.stats()["requests"]
    with pytest.raises(ConfigError, match="log-probabilities"):
        benchwright.run(ranked, model="tgi_api_general", model_url=server.url, model_id="m")
    with pytest.raises(ConfigError, match="log-probabilities"):
        benchwright.check(ranked, model="tgi_api_general", model_url=server.url, model_id="m")
    assert server.stats()["requests"] == before


@pytest.mark.parametrize(
    ("lines", "words"),
    [('api = "tgi"\nmodel = "m"', "speaks tgi"), ('profile = "vllm_api_general_chat"', "names no model")],
)
def test_judges_are_models_of_the_chat_route(folder: Path, lines: str, words: str) -> None:
    (folder / "benchwright.toml").write_text(
        f'[models.judge]\nbase_url = "http://127.0.0.1:9"\n{lines}\n', encoding="utf-8"
    )
    (folder / "qa.csv").write_text("question,answer\n1+1?,2\n", encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        benchwright.run("qa.csv", qa_metrics="judge", judge_model="judge")
