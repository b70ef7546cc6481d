"""[models.NAME]: no secret stays in a file, and nothing set is silently without effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.config import resolve_headers
from benchwright.config._files import read_config
from benchwright.core import ConfigError

SERVER = 'base_url = "http://h/v1"\nmodel = "m"\n'


def refusal(folder: Path, text: str) -> str:
    path = folder / "benchwright.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    return str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "sk-very-secret"',
        'apikey = "sk-very-secret"',
        'token = "sk-very-secret"',
        'api_key_env = "sk-very-secret"',
        'headers = { Authorization = "Bearer sk-very-secret" }',
    ],
)
def test_a_literal_secret_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    message = refusal(tmp_path, f"[models.m]\n{SERVER}{line}\n")
    assert "[models.m]" in message
    assert "MY_KEY" in message, "the cure is shown"
    assert "very-secret" not in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('[models.m]\nmodel = "m"', "[models.m] has no base_url"),
        (f'[models.m]\n{SERVER}type = "caht"', "Did you mean 'chat'?"),
        (f"[models.m]\n{SERVER}skill = 0.5", "only demo models have this"),
        ('[models.m]\ntype = "demo"\nbase_url = "http://h"', "has no server"),
        ('[models.m]\ntype = "demo"\nskill = 1.5', "expected a number from 0 to 1"),
        (f"[models.demo]\n{SERVER}", 'the name "demo" is kept'),
        (f"[models.m]\n{SERVER}headers = {{ X-Team = 3 }}", "X-Team is 3; expected a text"),
        (f"[models.m]\n{SERVER}headers = 'X: y'", "headers: 'X: y' is not a table"),
        (f"[models.m]\n{SERVER}extra_body = {{ day = 2024-01-01 }}", "date or time"),
        (f"[models.m]\n{SERVER}extra_body = {{ x = [inf] }}", "cannot be sent as JSON"),
        (f"[models.m]\n{SERVER}timeout = 0", "timeout: 0 is too small"),
        (f"[models.m]\n{SERVER}temprature = 0", "Did you mean 'temperature'?"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(tmp_path: Path, text: str, part: str) -> None:
    assert part in refusal(tmp_path, text)


def test_the_demo_model_itself_can_be_tuned(tmp_path: Path) -> None:
    path = tmp_path / "benchwright.toml"
    path.write_text('[models.demo]\ntype = "demo"\nskill = 1\n', encoding="utf-8")
    assert read_config(path).models["demo"].demo == {"skill": 1.0}


def test_headers_are_filled_from_the_environment_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "abc")
    assert resolve_headers({"api-key": "k ${TEAM_KEY}", "X": "$y"}) == {"api-key": "k abc", "X": "$y"}
    monkeypatch.delenv("TEAM_KEY")
    with pytest.raises(ConfigError, match="TEAM_KEY, which is not set"):
        resolve_headers({"api-key": "${TEAM_KEY}"})
