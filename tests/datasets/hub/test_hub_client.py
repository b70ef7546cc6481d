"""What `huggingface_hub` does for us, and what is added to it: Xet, tokens, time limits, one trusted host."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hub_content import jsonl, numbered
from hub_server import LoopbackHub, running_hub

from benchwright import load_dataset
from benchwright.core import ConfigError

ROWS = numbered(40)
SECRET = "hf_good"


class Xet:
    """Stands in for the Xet storage, which no loopback hub has."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.asked: list[dict[str, Any]] = []
        self.broken = False

    def __call__(
        self, *, incomplete_path: Path, xet_file_data: Any, headers: Any, expected_size: int
    ) -> None:
        self.asked.append({"route": xet_file_data.refresh_route, "headers": dict(headers)})
        incomplete_path.write_bytes(self.content[:10] if self.broken else self.content)
        if self.broken:
            raise RuntimeError("no route to the storage")
        assert expected_size == len(self.content)


@pytest.fixture
def xet(monkeypatch: pytest.MonkeyPatch) -> Xet:
    found = Xet(jsonl(ROWS).encode())
    monkeypatch.setattr("huggingface_hub.file_download.xet_get", found)
    return found


def offered(hub: LoopbackHub, route: str) -> None:
    hub.repo("a/xet", xet_route=route, private=True, readers={SECRET}).commit(
        {"train.jsonl": jsonl(ROWS)}, large=["train.jsonl"]
    )


def test_large_files_come_by_xet_where_the_hub_offers_it(
    hub: LoopbackHub, xet: Xet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    offered(hub, f"{hub.url}/api/datasets/a/xet/xet-read-token/main")
    assert load_dataset("hf://a/xet") == ROWS
    assert [asked["route"] for asked in xet.asked] == [f"{hub.url}/api/datasets/a/xet/xet-read-token/main"]
    assert xet.asked[0]["headers"]["authorization"] == f"Bearer {SECRET}"
    assert hub.paths("/objects/") == []


def test_storage_that_cannot_be_reached_costs_nothing_but_xet(
    hub: LoopbackHub, xet: Xet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    offered(hub, f"{hub.url}/api/datasets/a/xet/xet-read-token/main")
    xet.broken = True
    assert load_dataset("hf://a/xet") == ROWS
    assert [seen.range for seen in hub.seen if "/objects/" in seen.path] == [None], "its bytes are not kept"


def test_xet_gets_no_token_for_another_host(
    hub: LoopbackHub, xet: Xet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    offered(hub, f"{hub.storage_url}/token")
    assert load_dataset("hf://a/xet") == ROWS
    assert xet.asked == []
    assert len(hub.paths("/objects/")) == 1


def test_content_that_came_by_xet_is_checked_too(
    hub: LoopbackHub, xet: Xet, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.core import DatasetError

    monkeypatch.setenv("HF_TOKEN", SECRET)
    offered(hub, f"{hub.url}/api/datasets/a/xet/xet-read-token/main")
    xet.content = xet.content.replace(b"row 7", b"raw 7")
    with pytest.raises(DatasetError, match="was downloaded twice with content that does not match"):
        load_dataset("hf://a/xet")


def test_the_pages_of_a_mirror_are_its_own_and_the_token_leaves_to_nobody(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror that passes on the addresses of the hub that it copies."""
    files = {f"d/{number:04}.jsonl": "{}" for number in range(1200)}
    hub.repo("a/many", private=True, readers={SECRET}).commit(files)
    monkeypatch.setenv("HF_TOKEN", SECRET)
    with running_hub() as other:
        hub.linked_url = other.url
        assert len(load_dataset("hf://a/many?data_files=d/*.jsonl")) == 1200
        assert other.seen == []


def test_the_token_is_taken_off_requests_that_are_redirected(
    hub: LoopbackHub, xet: Xet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library itself tells hosts apart by their names, not by their ports."""
    content = {"train.jsonl": jsonl(ROWS)}
    hub.repo("a/plain", xet_route=f"{hub.url}/token").commit(content, large=["train.jsonl"])
    monkeypatch.setenv("HF_TOKEN", SECRET)
    with running_hub() as other:
        other.repo("a/plain", xet_route=f"{hub.url}/token").commit(content, large=["train.jsonl"])
        for path in ("/api/datasets/a/plain$", "/resolve/"):
            hub.fault(path, status=307, headers={"Location": f"{other.url}/api/datasets/a/plain"})
        load_dataset("hf://a/plain")
        assert {seen.authorized for seen in other.seen} == {False}


def test_a_login_that_was_renewed_is_used(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`hf auth login` keeps a token that ends, and the library renews it."""
    home = tmp_path / "hf-home"
    home.mkdir()
    (home / "token").write_text("hf_old")
    hub.repo("a/private", private=True, readers={SECRET}).commit({"a.jsonl": jsonl(ROWS)})
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(home / "token"))
    monkeypatch.setattr("huggingface_hub.get_token", lambda: SECRET)
    assert load_dataset("hf://a/private") == ROWS


def test_time_limits_are_whole_seconds(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("0.5", "0", "soon"):
        monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", wrong)
        with pytest.raises(ConfigError, match="expected a whole number of seconds above 0"):
            load_dataset("hf://a/plain")


def test_a_library_that_was_imported_offline_stays_offline(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repo("a/plain").commit({"train.jsonl": jsonl(ROWS)})
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match=r"imported while HF_HUB_OFFLINE was set.*Start Python again"):
        load_dataset("hf://a/plain")
    assert hub.seen == []


IMPORTED = """
import json, sys
from benchwright import load_dataset
rows = len(load_dataset(sys.argv[1]))
print(json.dumps([rows, sorted({"huggingface_hub", "httpx", "httpx2", "requests", "tqdm"} & set(sys.modules))]))
"""


def test_rows_from_the_cache_and_from_files_import_no_client(hub: LoopbackHub, tmp_path: Path) -> None:
    commit = hub.repo("a/plain").commit({"train.jsonl": jsonl(ROWS)})
    load_dataset("hf://a/plain")
    (tmp_path / "rows.jsonl").write_text(jsonl(ROWS))
    for target in (f"hf://a/plain?revision={commit}", str(tmp_path / "rows.jsonl")):
        done = subprocess.run(
            [sys.executable, "-c", IMPORTED, target], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == [len(ROWS), []]
