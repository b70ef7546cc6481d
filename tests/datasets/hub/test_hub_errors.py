"""What the hub refuses is told with the cure, and the token is never shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hub_content import jsonl, numbered
from hub_server import LoopbackHub

from benchwright import load_dataset
from benchwright.core import ConfigError, DatasetError

ROWS = numbered(3)
SECRET = "hf_good"


def refused(uri: str) -> str:
    with pytest.raises(DatasetError) as caught:
        load_dataset(uri)
    assert SECRET not in str(caught.value)
    return str(caught.value)


def test_missing_and_private_datasets(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repo("a/private", private=True, readers={SECRET}).commit({"a.jsonl": jsonl(ROWS)})
    for name in ("a/private", "a/missing"):
        told = refused(f"hf://{name}")
        assert f"no public dataset '{name}'" in told
        assert "set HF_TOKEN" in told
        assert f"{hub.url}/datasets/{name}" in told
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    assert "or the account of HF_TOKEN may not see it" in refused("hf://a/private")
    monkeypatch.setenv("HF_TOKEN", SECRET)
    assert load_dataset("hf://a/private") == ROWS


def test_a_hub_that_speaks_of_passwords_to_everybody_is_not_taken_for_a_bad_token(hub: LoopbackHub) -> None:
    words = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Invalid username or password."}
    hub.fault("/api/", 1, status=401, headers=words)
    assert "no public dataset 'a/missing'" in refused("hf://a/missing")
    hub.fault("/api/", 1, status=401, headers={"X-Error-Message": "Invalid username or password."})
    assert "no public dataset 'a/missing'" in refused("hf://a/missing")


def test_gated_datasets(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repo("a/gated", gated="manual", readers={SECRET}).commit({"a.jsonl": jsonl(ROWS), "README.md": "x"})
    told = refused("hf://a/gated")
    assert "gated" in told
    assert f"Accept the conditions on {hub.url}/datasets/a/gated" in told
    assert "set HF_TOKEN" in told
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    assert f"the account of HF_TOKEN has no access yet. Request access on {hub.url}" in refused(
        "hf://a/gated"
    )
    monkeypatch.setenv("HF_TOKEN", SECRET)
    assert load_dataset("hf://a/gated") == ROWS


def test_bad_tokens_and_disabled_datasets(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repo("a/off", disabled=True)
    assert "the hub has disabled this dataset" in refused("hf://a/off")
    monkeypatch.setenv("HF_TOKEN", "hf_made_up_and_secret")
    told = refused("hf://a/off")
    assert "does not accept the token from HF_TOKEN" in told
    assert "hf_made_up" not in told
    monkeypatch.setenv("HF_TOKEN", "hf_two\nlines")
    with pytest.raises(ConfigError, match="the token in HF_TOKEN contains spaces, line breaks") as caught:
        load_dataset("hf://a/off")
    assert "two" not in str(caught.value)


def test_a_token_that_the_hub_repeats_is_not_shown(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repo("a/echo").commit({"a.jsonl": jsonl(ROWS)})
    monkeypatch.setenv("HF_TOKEN", SECRET)
    hub.fault("/api/", 9, status=418, headers={"X-Error-Message": f"who is {SECRET}?"})
    assert "who is [redacted]?" in refused("hf://a/echo")


def test_tokens_come_from_files_too(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub.repo("a/private", private=True, readers={SECRET}).commit({"a.jsonl": jsonl(ROWS)})
    (tmp_path / "hf-home").mkdir()
    (tmp_path / "hf-home" / "token").write_text(f"{SECRET}\n")
    assert load_dataset("hf://a/private", limit=1) == ROWS[:1]
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    refused("hf://a/private")
    monkeypatch.delenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "nowhere"))
    refused("hf://a/private")


def test_the_token_stays_with_the_hub(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Object storage, on another port, refuses requests that carry it."""
    hub.repo("a/large", private=True, readers={SECRET}).commit({"a.jsonl": jsonl(ROWS)}, large=["a.jsonl"])
    monkeypatch.setenv("HF_TOKEN", SECRET)
    assert load_dataset("hf://a/large") == ROWS
    assert {seen.authorized for seen in hub.seen if seen.port == "_Hub"} == {True}
    assert {seen.authorized for seen in hub.seen if seen.port == "_Storage"} == {False}


SCRIPT = {"quiz.py": "import datasets\n", "data.tar": "x"}


def test_a_dataset_made_by_a_script(hub: LoopbackHub) -> None:
    from importlib.metadata import version

    hub.repo("a/quiz").commit(SCRIPT | {"raw/q.jsonl": jsonl(ROWS)})
    told = refused("hf://a/quiz?trust_remote_code=true")
    assert "made by a script of its repository (quiz.py), and no such code is run here" in told
    assert "the hub's Parquet export: the dataset viewer" in told
    assert "has not processed the dataset yet" in told
    assert "data_files=raw/q.jsonl" in told
    assert f"the installed `datasets` {version('datasets')} ignores it too" in told
    assert load_dataset("hf://a/quiz?data_files=raw/q.jsonl&split=test") == ROWS


def test_a_repository_without_data(hub: LoopbackHub) -> None:
    hub.repo("a/none").commit({"README.md": "x", "picture.png": "x"})
    told = refused("hf://a/none")
    assert "no data files in a format that benchwright reads (it contains README.md, picture.png)" in told
    hub.repo("a/empty").commit({})
    assert "it is empty" in refused("hf://a/empty")


def test_a_broken_card_is_told(hub: LoopbackHub) -> None:
    hub.repo("a/card").commit({"README.md": "---\nconfigs:\n- [\n---\n", "a.jsonl": jsonl(ROWS)})
    assert "the dataset card (README.md) is not valid YAML, line" in refused("hf://a/card")
    assert load_dataset("hf://a/card?data_files=a.jsonl") == ROWS


def test_ways_of_reading_that_are_not_understood_are_not_ignored(hub: LoopbackHub) -> None:
    card = "---\nconfigs:\n- config_name: x\n  data_files: a.csv\n  skiprows: 3\n---\n"
    hub.repo("a/odd").commit({"README.md": card, "a.csv": "a\n1\n"})
    assert "that benchwright does not support (skiprows)" in refused("hf://a/odd")


def test_an_address_that_is_no_hub(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.storage_url)
    assert "no public dataset" in refused("hf://a/plain")
    monkeypatch.setenv("HF_ENDPOINT", "huggingface.co")
    with pytest.raises(ConfigError, match=r"HF_ENDPOINT is 'huggingface.co'; expected an address"):
        load_dataset("hf://a/plain")


def test_the_endpoint_is_read_when_it_is_needed(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repo("a/late").commit({"a.jsonl": jsonl(ROWS)})
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DatasetError, match=r"the hub at http://127\.0\.0\.1:9 cannot be reached"):
        load_dataset("hf://a/late")
    monkeypatch.setenv("HF_ENDPOINT", hub.url + "/")
    assert load_dataset("hf://a/late") == ROWS
