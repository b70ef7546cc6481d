"""What is a secret by its name, and how values that are one are found in any spelling."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import orjson
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from benchwright.core import (
    REDACTED,
    Redactor,
    doubtful_secrets,
    is_secret_name,
    known_secrets,
    public_url,
    redact,
    remember_secret,
    secret_within,
    url_owner,
)

KEY = "sk-Very/Secret+0123456789="

SECRET_NAMES = [
    "X-Signature", "X-Api-Key", "apikey", "Authorization", "X-Auth", "Proxy-Authorization", "cookie", "Set-Cookie",
    "sig", "code", "pass", "pwd", "passwd", "password", "passphrase", "X-Amz-Credential", "X-Amz-Security-Token",
    "client_secret", "accessKeyId", "Ocp-Apim-Subscription-Key", "x-functions-key", "PRIVATE-TOKEN", "key", "bearer",
]  # fmt: skip
PLAIN_NAMES = [
    "X-Team", "max_tokens", "author", "version", "api-version", "tokenizer", "stop_token_ids", "prompt_cache_key",
    "keyboard", "monkey", "compass", "top_k", "eos_token", "passage", "language_code",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_that_hold_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_names_that_do_not(name: str) -> None:
    assert not is_secret_name(name)


def spellings(key: str) -> dict[str, str]:
    """How others may write a key."""
    found = {
        "plain": key,
        "upper case": key.upper(),
        "in a URL": quote(key),
        "in a URL, throughout": quote(key, safe=""),
        "every character in a URL": "".join(f"%{ord(c):02X}" for c in key),
        "in JSON": json.dumps(key)[1:-1],
        "in JSON with slashes": json.dumps(key)[1:-1].replace("/", "\\/"),
        "in escapes": "".join(f"\\u{ord(c):04x}" for c in key),
        "in JSON in JSON": json.dumps(json.dumps(key)),
        "entities": html.escape(key),
        "decimal entities": "".join(f"&#{ord(c)};" for c in key),
        "hexadecimal entities": "".join(f"&#x{ord(c):x};" for c in key),
        "repr": repr(key),
        "hexadecimal": key.encode().hex(),
        "upper hexadecimal": key.encode().hex(":").upper(),
        "broken in two": f"{key[: len(key) // 2]}\n    {key[len(key) // 2 :]}",
        "spaced": " ".join(key),
        "its beginning": key[:12],
        "its end": key[-12:],
    }
    for before in ("", "u", "u:"):
        whole = f"{before}{key}".encode()
        found[f"base64 behind {len(before)}"] = base64.b64encode(whole).decode()
        found[f"base64 before others, behind {len(before)}"] = base64.urlsafe_b64encode(
            whole + b"!\xffx"
        ).decode()
    return found


@pytest.mark.parametrize("spelling", spellings(KEY))
def test_a_secret_is_found_in_every_spelling(spelling: str) -> None:
    redactor = Redactor([KEY])
    text = spellings(KEY)[spelling]
    for around in (text, f"Invalid key {text}. Find yours at …", f"<{text}>"):
        cleaned = redactor.clean(around)
        assert REDACTED in cleaned
        # Of the whole spelling hardly anything is left: base64 shares characters with its neighbours.
        assert len(cleaned) - len(REDACTED) <= len(around) - len(text) + 10
        stored = redactor.clean_json(orjson.dumps({"t": around, "n": [around, 1]}))
        assert orjson.loads(stored) == {
            "t": redactor.clean_record(around),
            "n": [redactor.clean_record(around), 1],
        }


@given(
    key=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60),
    before=st.text(max_size=20),
    after=st.text(max_size=20),
)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_no_key_of_any_characters_is_left(key: str, before: str, after: str) -> None:
    redactor = Redactor([key])
    for name in (
        "plain",
        "in a URL, throughout",
        "in JSON",
        "entities",
        "in escapes",
        "hexadecimal",
        "base64 behind 0",
    ):
        text = before + spellings(key)[name] + after
        assert spellings(key)[name].rstrip("=")[:-1] not in redactor.clean(text), name
        if name == "plain":
            assert key.encode() not in redactor.clean_json(orjson.dumps([text]))


def test_records_without_a_secret_are_the_same_object() -> None:
    body = b'{"a": "caf\\u00e9 \\/ sk-Very"}'
    assert Redactor([KEY]).clean_json(body) is body


def test_a_secret_in_pieces_of_a_list_is_found() -> None:
    tokens = ["sk", "-Very", "/Sec", "ret+", "0123", "4567", "89="]
    assert Redactor([KEY]).clean_value({"tokens": tokens, "logprobs": [0.5] * 7}) == {
        "tokens": [REDACTED] * 7,
        "logprobs": [0.5] * 7,
    }


def test_short_values_are_removed_from_messages_only_and_as_whole_words() -> None:
    redactor = Redactor(["EMPTY"])
    assert redactor.clean_json(b'{"content": "the set is EMPTY"}') == b'{"content": "the set is EMPTY"}'
    assert redactor.clean("bad key EMPTY, not EMPTYING") == "bad key [redacted], not EMPTYING"


def test_names_and_states_of_records_stay_whatever_the_key() -> None:
    record = orjson.dumps({"s": "answered", "t": "answered", "conversation": []})
    kept = Redactor(["answered", "conversation"]).clean_json(record, keep=("s",))
    assert orjson.loads(kept) == {"s": "answered", "t": REDACTED, "conversation": []}


def test_numbers_of_any_length_survive() -> None:
    record = b'{"n":123456789012345678901234567890,"t":"' + KEY.encode() + b'"}'
    assert Redactor([KEY]).clean_json(record) == b'{"n":123456789012345678901234567890,"t":"[redacted]"}'


def test_the_word_before_a_token_is_no_secret() -> None:
    remember_secret(f"Bearer {KEY}", "MY_KEY")
    assert redact(f"Bearer {KEY} and the Bearer scheme") == "Bearer [redacted] and the Bearer scheme"


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("localhost", "plain word"),
        ("not-needed", "plain word"),
        ("12345678", "plain word"),
        ("EMPTY", "5 characters"),
    ],
)
def test_values_that_are_hard_to_tell_from_honest_words_are_named(value: str, word: str) -> None:
    remember_secret(value, "MY_KEY")
    remember_secret("s0me-0ther-word", "OTHER")
    (note,) = doubtful_secrets(["MY_KEY", "OTHER"])
    assert word in note
    assert "MY_KEY" in note
    assert value not in note


def test_a_random_key_needs_no_warning() -> None:
    remember_secret(KEY, "MY_KEY")
    assert doubtful_secrets(["MY_KEY"]) == []
    assert known_secrets().guards


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        ("http://me:pw@host/v1", "me:pw"),
        ("http://me:a/b@host/v1", "me:a/b"),
        ("http://me:a?b#c@host:80", "me:a?b#c"),
        ("http://me:12/34@proxy.example.org/v1", "me:12/34"),
        ("http://tok@host/v1", "tok"),
        ("http://me:p@w@host/v1", "me:p@w"),
        ("http://me:pw@host/v1/@cf/llama", "me:pw"),
        ("http://host:80/v1/@cf/llama", None),
        ("http://host/v1", None),
        ("https://host/a@b", None),
    ],
)
def test_what_stands_before_the_host(url: str, owner: str | None) -> None:
    assert url_owner(url) == owner
    if owner is not None:
        assert owner not in public_url(url)


@pytest.mark.parametrize(
    "key",
    [
        "kJ8vQ2mX+Zr7TqLw9/PdSx3Yb0aHcNfGeUiOv5tRk1M=",
        "abcdefgh&ijklmnop<qrst>",
        'abcdefgh"ijk\\lmnop',
        "abcd/efgh+ijkl==",
    ],
)
def test_a_key_with_characters_that_others_spell_differently_goes_whole(key: str) -> None:
    redactor = Redactor([key, f"Bearer {key}"])
    spellings = [
        key,
        quote(key),
        quote(key, safe=""),
        html.escape(key),
        json.dumps(key)[1:-1],
        repr(key)[1:-1],
    ]
    for spelling in spellings:
        for text in (
            f"Invalid API key: {spelling}",
            f"key Bearer {spelling}. Check",
            f"{spelling} and {key}",
        ):
            cleaned = redactor.clean(text)
            assert spelling[8:16] not in cleaned, (text, cleaned)
            assert key[-6:] not in cleaned, (text, cleaned)
    assert redactor.clean(f"it begins with {key[:12]}…") == "it begins with [redacted]…"


def test_values_under_secret_names_are_known_without_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    record = b'{"text":"a9X-77kq-PPzz-12"}'
    monkeypatch.setenv("OTHER_NAME", "a9X-77kq-PPzz-12")
    assert known_secrets().clean_json(record) is record
    for name in ("SOME_API_KEY", "MYKEY", "HFTOKEN", "dbpass"):
        monkeypatch.setenv(name, "a9X-77kq-PPzz-12")
        assert known_secrets().clean_json(record) == b'{"text":"[redacted]"}', name
        monkeypatch.delenv(name)
        assert known_secrets().clean_json(record) is record
    for value in ("/srv/me/project-12", "a9X", "http://localhost:80/a1", "plainwordplainword"):
        monkeypatch.setenv("MYKEY", value)
        said = json.dumps({"text": value}).encode()
        assert known_secrets().clean_json(said) is said, value


def test_of_a_url_the_host_is_no_secret_and_the_rest_is(monkeypatch: pytest.MonkeyPatch) -> None:
    remember_secret(
        "https://me:p%2Fw-55-xyz@gate.example:8443/v1/hooks/T0B1C2D3E4F5?token=k-9&to=everybody", "HOOK"
    )
    for text in ("https://gate.example:8443/v1/hooks", "k-90"):
        assert redact(text) == text
    for secret in ("p%2Fw-55-xyz", "p/w-55-xyz", "T0B1C2D3E4F5", "everybody", "k-9"):
        assert redact(f"it is {secret}.") == "it is [redacted].", secret
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://bot:s3cr3t-Word@tracking.example/x")
    monkeypatch.setenv("DATABASE_URL", "postgres://postgres:postgres@db.example/postgres")
    assert (
        redact("postgres at tracking.example with s3cr3t-Word")
        == "postgres at tracking.example with [redacted]"
    )


def test_settings_may_hold_words_and_paths_of_the_environment_but_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLACE", "/somewhere/private")
    monkeypatch.setenv("WORD", "localhost")
    monkeypatch.setenv("TEAM", "team-blue-7734-x")
    settings = {
        "cwd": "/somewhere/private/work",
        "url": "http://localhost:8000",
        "metadata": {"key": "PLACE"},
    }
    headers = {"headers": {"X-A": "${WORD}", "X-B": "${TEAM}", "X-C": "${PLACE}"}}
    assert secret_within({**settings, **headers}) is None
    assert secret_within({**settings, **headers, "body": [{"user": "of team-blue-7734-x"}]}) == (
        "body.user",
        "TEAM",
    )
    assert secret_within({**settings, "body": "team-blue-7734-x"}) is None, "nobody calls it a secret"
