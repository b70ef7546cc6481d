"""A secret in any part of a URL, in any place that takes a URL: refused or hidden, and written nowhere."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from quoted_secrets import everything_in

from benchwright.cli import main
from benchwright.core import key_in_url, public_url, url_owner
from benchwright.core._secrets import forget_secrets

SECRETS = {
    "a key of a service": "sk-proj-a8Jd92kdQ0",
    "hexadecimal": "9f86d081884c7d659a2feaa0c55ad015",
    "letters and digits": "T0B1C2D3E4F5G6H7",
    "a signed token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN",
    "an id": "3b241101-e2bb-4255-8caf-4136c566a962",
    "with odd characters": "Zk93+ab/77Qx=1a2b3c",
}
QUERIES = [
    "k",
    "session",
    "sid",
    "id",
    "x",
    "q",
    "user",
    "key",
    "api_key",
    "sig",
    "access-code",
    "version",
    "model",
]
PARTS = {
    "user name": "http://{s}@host.example/v1",
    "password": "http://me:{s}@host.example:8000/v1",
    "port": "http://host.example:{s}/v1",
    "password without a host": "http://me:{s}",
    "first segment": "http://host.example/{s}/v1",
    "last segment": "http://host.example/v1/{s}",
    "after a word": "http://host.example/v1/token/{s}/chat/completions",
    "parameter of a segment": "http://host.example/v1;key={s}/chat",
    "segment that is a parameter": "http://host.example/v1/session={s}",
    "query without a name": "http://host.example/v1?{s}",
    "fragment": "http://host.example/v1#{s}",
    "parameter in the fragment": "http://host.example/v1#a=1&k={s}",
    "fragment after a query": "http://host.example/v1?version=2#{s}",
    "two parameters in one": "http://host.example/v1?version=2;k={s}",
    **{
        f"parameter {name}": f"http://host.example/v1?api-version=2024-06-01&{name}={{s}}" for name in QUERIES
    },
}
CASES = list(itertools.product(PARTS, SECRETS, [False, True]))


def written(part: str, secret: str, encoded: bool) -> str:
    text = "".join(f"%{byte:02X}" for byte in secret.encode()) if encoded else quote(secret, safe="+=")
    return PARTS[part].replace("{s}", text)


@pytest.mark.parametrize("part", PARTS)
def test_secrets_in_all_parts_are_noticed_and_masked(part: str) -> None:
    for kind, secret in SECRETS.items():
        for encoded in (False, True):
            url = written(part, secret, encoded)
            shown = public_url(url)
            spelled = url.partition("://")[2]
            assert not any(spelled[at : at + 8] in shown for at in _places(url, secret, encoded)), (
                kind,
                shown,
            )
            noticed = key_in_url(url) or url_owner(url)
            assert noticed or part in ("port", "password without a host"), (kind, url)
            assert secret not in str(key_in_url(url))


def _places(url: str, secret: str, encoded: bool) -> list[int]:
    text = "".join(f"%{byte:02X}" for byte in secret.encode()) if encoded else quote(secret, safe="+=")
    start = url.partition("://")[2].index(text)
    return list(range(start, start + len(text) - 8))


def commands(url: str) -> dict[str, list[str]]:
    """Every place that takes the URL of a server."""
    model = ["--model-id", "m"]
    Path("benchwright.toml").write_text(f'[models.mine]\nbase_url = {json.dumps(url)}\nmodel = "m"\n')
    Path("suite.json").write_text(
        json.dumps({"models": [{"name": "a", "url": url, "model_id": "m"}], "datasets": ["quiz.jsonl"]})
    )
    run = {
        "config": {"type": "quiz.jsonl"},
        "target": {"api_endpoint": {"url": url, "model_id": "m", "type": "chat"}},
    }
    Path("run.yaml").write_text(json.dumps(run))
    judge = json.dumps({"url": url, "model_id": "j"})
    return {
        "run": ["run", "quiz.jsonl", "--model-url", url, *model],
        "run, debug": ["run", "quiz.jsonl", "--model-url", url, *model, "--debug", "--json"],
        "check": ["check", "quiz.jsonl", "--model-url", url, *model],
        "perf": ["perf", "quiz.jsonl", "--model-url", url, *model, "--requests", "1"],
        "perf, second": [
            "perf",
            "quiz.jsonl",
            "--model-url",
            "http://127.0.0.1:9/v1",
            url,
            *model,
            "--requests",
            "1",
        ],
        "judge": [
            "run",
            "quiz.jsonl",
            "--model",
            "demo",
            "--qa-metrics",
            "judge",
            "--judge-url",
            url,
            "--judge-id",
            "j",
        ],
        "configured": ["run", "quiz.jsonl", "--model", "mine"],
        "listed": ["ls", "--models"],
        "suite": ["run", "suite.json"],
        "run config": ["run_eval", "--run-config", "run.yaml"],
        "explained": ["run_eval", "--run-config", "run.yaml", "--explain-config"],
        "calibrated": ["judge-calibrate", "labelled.jsonl", "--judge", judge],
    }


@pytest.mark.parametrize("part", PARTS)
def test_no_command_shows_or_writes_them(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    typed = tmp_path / "typed"
    typed.mkdir()
    monkeypatch.chdir(typed)
    Path("quiz.jsonl").write_text('{"question": "1+1?", "answer": "2"}\n')
    Path("labelled.jsonl").write_text('{"question": "q", "response": "r", "target": "t", "label": "C"}\n')
    secrets = list(SECRETS.values())
    names = list(commands("http://h"))
    for number, name in enumerate(names):
        secret = secrets[(number + len(part)) % len(secrets)]
        url = written(part, secret, encoded=bool(number % 2))
        words = commands(url)[name]
        forget_secrets()
        code = main(
            [*words, "--workspace", str(tmp_path / "work")]
            if name not in ("listed", "explained", "calibrated")
            else words
        )
        said = capfd.readouterr()
        text = url.partition("://")[2]
        places = _places(url, secret, bool(number % 2))
        assert not any(text[at : at + 8] in said.out + said.err for at in places), (name, url, said)
        assert code == 2 or name in ("listed", "explained", "judge"), (name, url, said)
        for file, content in everything_in(tmp_path):
            if Path(file).name not in ("benchwright.toml", "suite.json", "run.yaml"):  # what the user wrote
                assert not any(text[at : at + 8] in content for at in places), (name, file)


@pytest.mark.parametrize("part", [part for part in PARTS if part not in ("port", "password without a host")])
def test_the_address_of_a_hub_too(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    url = written(part, SECRETS["a key of a service"], False)
    for variable in ("HF_ENDPOINT", "HF_DATASETS_SERVER"):
        monkeypatch.setenv(variable, url)
        assert main(["run", "hf://a/b"]) == 2
        said = capfd.readouterr()
        assert variable in said.err
        assert "a8Jd92kd" not in said.out + said.err
        monkeypatch.delenv(variable)


def test_parameters_of_a_path_are_read_as_those_of_a_query() -> None:
    assert key_in_url("http://host.example/v1;key=hunter-two/chat") == "a part of its path"
    assert public_url("http://host.example/api/v1;key=hunter-two") == "http://host.example/api/…"
    assert key_in_url("http://host.example/v1;version=2/chat") is None
