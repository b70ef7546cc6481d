"""Every way to write a model's URL leads to the same place."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchwright.core import WIRE_FORMATS, ConfigError, redact
from benchwright.endpoints import EndpointSettings
from benchwright.endpoints._addresses import parse_address


@pytest.mark.parametrize(
    "url",
    [
        "http://h:8000",
        "http://h:8000/",
        "http://h:8000/v1",
        "http://h:8000/v1/",
        "http://h:8000/v1/chat/completions",
        "http://h:8000/v1/chat/completions/",
        "http://h:8000/v1/completions",
        "HTTP://H:8000/v1",
        " http://h:8000/v1\n",
    ],
)
def test_spellings_of_one_address(url: str) -> None:
    address = parse_address(url)
    assert address.url_of("/chat/completions") == "http://h:8000/v1/chat/completions"
    assert address.url_of("/completions") == "http://h:8000/v1/completions"
    assert EndpointSettings(url=url, model_id="m").fingerprint() == "http://h:8000/v1 m"


@pytest.mark.parametrize(
    ("url", "chat_url"),
    [
        ("https://h", "https://h/v1/chat/completions"),
        ("https://h:443/api/v3", "https://h/api/v3/chat/completions"),
        ("http://h:80", "http://h/v1/chat/completions"),
        ("http://[::1]:9/v1", "http://[::1]:9/v1/chat/completions"),
        ("http://h/chat/completions", "http://h/chat/completions"),
        ("http://h/my model/v1", "http://h/my%20model/v1/chat/completions"),
        ("http://h/v1?q=a b&model=é%20<x>", "http://h/v1/chat/completions?q=a%20b&model=%C3%A9%20%3Cx%3E"),
        ("http://h/v1?v=2024-06-01/x:y,z?", "http://h/v1/chat/completions?v=2024-06-01/x:y,z?"),
        ("http://h/v1?api-version=2", "http://h/v1/chat/completions?api-version=2"),
    ],
)
def test_other_paths_ports_and_queries(url: str, chat_url: str) -> None:
    assert parse_address(url).url_of("/chat/completions") == chat_url


def test_only_a_bare_host_is_guessed_about() -> None:
    assert parse_address("http://h").guessed
    assert (
        parse_address("http://h").without_guess().url_of("/chat/completions") == "http://h/chat/completions"
    )
    assert not parse_address("http://h/v1").guessed
    assert not parse_address("http://h/chat/completions").guessed


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "is empty"),
        ("localhost:8000/v1", "Write http://localhost:8000/v1"),
        ("ftp://h/v1", "ftp://"),
        ("http://", "names no host"),
        ("http://h:eighty", "cannot be read"),
        ("http://me:hunter2@h/v1", "--api-key-name"),
    ],
)
def test_wrong_addresses_name_the_cure(url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        EndpointSettings(url=url, model_id="m")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model_id": ""}, "--model-id"),
        ({"model_type": "chatt"}, "'chat'"),
        ({"request_timeout_s": 0}, "request_timeout_s"),
        ({"sample_timeout_s": -1}, "sample_timeout_s"),
        ({"max_retries": -1}, "max_retries"),
        ({"parallelism": 0}, "parallelism"),
        ({"retry_backoff_s": -0.1}, "retry_backoff_s"),
        ({"proxy": "http://me:hunter2@p:1"}, "HTTPS_PROXY"),
        ({"headers": {"X\r\nY": "1"}}, "header name"),
        ({"headers": {"X": "1\r\nY: 2"}}, "header 'X'"),
    ],
)
def test_wrong_settings_are_refused_on_creation(settings: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        EndpointSettings(**{"url": "http://h", "model_id": "m", **settings})  # type: ignore[arg-type]


def test_sample_budget_follows_timeout_and_retries() -> None:
    assert EndpointSettings(url="http://h", model_id="m").sample_budget_s == 480
    assert EndpointSettings(url="http://h", model_id="m", sample_timeout_s=9).sample_budget_s == 9


def test_fingerprint_tells_endpoints_apart_and_holds_no_secret() -> None:
    def fingerprint(url: str = "http://h", **more: object) -> str:
        return EndpointSettings(**{"url": url, "model_id": "m", **more}).fingerprint()  # type: ignore[arg-type]

    different = {
        fingerprint(),
        fingerprint("http://g"),
        fingerprint(model_id="n"),
        fingerprint(headers={"X-Tier": "a"}),
    }
    assert len(different) == 4
    assert fingerprint(headers={"x-tier": "a"}) == fingerprint(headers={"X-Tier": "a"})
    secret = fingerprint("http://h/v1?api-version=2", headers={"Api-Key": "s3cr3t-value"})
    assert "s3cr3t" not in secret
    assert secret == "http://h/v1?api-version=2 m api-key=…"


@pytest.mark.parametrize(
    "url",
    [
        "https://h/v1?api_key=s3cr3t",
        "https://h/v1?api-version=2&Access%54oken=s3cr3t",
        "https://h/v1?s3cr3t-key",
        "https://h/v1#key=s3cr3t",
    ],
)
def test_secret_in_the_query_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match=r"--api-key-name.*--header.*\$\{MY_KEY\}") as caught:
        EndpointSettings(url=url, model_id="m")
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["h/v1?key=s3cr3t", "ftp://h?key=s3cr3t", "http://?key=s3cr3t", "http://me:s3cr3t@h:x", "me:s3cr3t@h/v1"],
)
def test_unreadable_address_is_told_without_what_may_be_secret(url: str) -> None:
    with pytest.raises(ConfigError, match="model URL") as caught:
        EndpointSettings(url=url, model_id="m")
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("api", "url", "route", "asked"),
    [
        ("tgi", "http://h:8080", "/generate", "http://h:8080/generate"),
        ("tgi", "http://h:8080/v1", "/generate", "http://h:8080/generate"),
        ("tgi", "http://h:8080/generate_stream", "/generate", "http://h:8080/generate"),
        ("tgi", "https://h/tgi/generate?x=1", "/generate", "https://h/tgi/generate?x=1"),
        ("mindie", "http://h:1025/infer/", "/infer", "http://h:1025/infer"),
        ("responses", "http://h", "/responses", "http://h/v1/responses"),
        ("responses", "http://h/v1/responses", "/responses", "http://h/v1/responses"),
        ("responses", "http://h/v1/chat/completions", "/responses", "http://h/v1/responses"),
    ],
)
def test_routes_of_other_wire_formats(api: str, url: str, route: str, asked: str) -> None:
    assert parse_address(url, api).url_of(route) == asked


def test_only_formats_below_v1_are_guessed_about() -> None:
    assert parse_address("http://h", "responses").guessed
    assert not parse_address("http://h", "tgi").guessed


def test_wire_format_is_part_of_the_fingerprint_unless_it_is_openai() -> None:
    plain = EndpointSettings(url="http://h:1/v1", model_id="m")
    other = EndpointSettings(url="http://h:1/v1", model_id="m", api="tgi")
    assert plain.fingerprint() == "http://h:1/v1 m"
    assert other.fingerprint() == "http://h:1 m api=tgi"


def test_triton_url_with_another_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="names the model 'llama'"):
        EndpointSettings(url="http://h/v2/models/llama/generate", model_id="gpt", api="triton")


@pytest.mark.parametrize("api", [api for api, wire in WIRE_FORMATS.items() if not wire.ranks_choices])
def test_ranking_choices_is_refused_on_other_wire_formats(api: str) -> None:
    with pytest.raises(ConfigError, match="nothing was sent"):
        EndpointSettings(url="http://h", model_id="m", api=api).type_for("completions_logprob")


def test_conversations_are_refused_where_one_text_is_taken() -> None:
    with pytest.raises(ConfigError, match="takes one text"):
        EndpointSettings(url="http://h", model_id="m", api="tgi").type_for("chat", conversation=True)
    assert (
        EndpointSettings(url="http://h", model_id="m", api="responses").type_for("chat", conversation=True)
        == "chat"
    )


@pytest.mark.parametrize("takes_tools", [True, False])
def test_tools_are_refused_before_sending_where_a_format_does_not_take_them(
    takes_tools: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = replace(WIRE_FORMATS["openai"], takes_tools=takes_tools)
    monkeypatch.setitem(WIRE_FORMATS, "openai", declared)  # type: ignore[arg-type]
    settings = EndpointSettings(url="http://h", model_id="m")
    assert settings.type_for("chat") == "chat"
    if takes_tools:
        assert settings.type_for("chat", tools=True) == "chat"
        return
    with pytest.raises(ConfigError, match="--no-native-calling"):
        settings.type_for("chat", tools=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://h/openai/deployments/gpt-4o-mini-2024-07-18/chat/completions?api-version=2024-12-01-preview",
        "https://h/v1/projects/123456789012/locations/us-central1/publishers/google/models/gemini-2.0-flash-001",
        "https://h/v2/models/Meta-Llama-3.1-70B-Instruct-AWQ-INT4-0f3a9b2c7d5e/generate",
        "https://h/serve/Qwen2VL72BInstruct/v1",
        "https://h/mixtral8x7b/v1",
        "https://h/v1?stream=true&timeout=30&region=eu-west-1&model=gpt-4o&n=1&flag",
        "http://h/token/v1",
        "https://h/v1/${ACCOUNT}/openai?session=${SESSION}",
    ],
)
def test_urls_of_servers_as_people_have_them_are_accepted(url: str) -> None:
    assert EndpointSettings(url=url, model_id="m", api="openai").address.public.startswith("http")


def test_variables_in_a_url_are_sent_and_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCOUNT", "0f3a9b2c7d5e/0f3a")
    monkeypatch.setenv("SESSION", "s e&s=1")
    settings = EndpointSettings(url="https://h/v1/${ACCOUNT}/openai?session=${SESSION}", model_id="m")
    assert settings.address.public == "https://h/v1/${ACCOUNT}/openai?session=${SESSION}"
    assert settings.fingerprint() == "https://h/v1/${ACCOUNT}/openai?session=${SESSION} m"
    sent = "https://h/v1/0f3a9b2c7d5e%2F0f3a/openai/chat/completions?session=s%20e%26s%3D1"
    assert settings.address.url_of("/chat/completions") == sent
    assert "0f3a" not in repr(settings)
    assert "0f3a9b2c7d5e" not in redact("the server said 0f3a9b2c7d5e/0f3a")
    monkeypatch.delenv("SESSION")
    with pytest.raises(ConfigError, match=r"needs the environment variable SESSION.*export SESSION"):
        settings.check_secrets()
    with pytest.raises(ConfigError, match="in its host"):
        EndpointSettings(url="https://${HOST}/v1", model_id="m")
