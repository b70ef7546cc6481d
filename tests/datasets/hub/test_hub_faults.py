"""A hub that stumbles: retried with patience, continued where it broke off, and never believed unchecked."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import Any

import pytest
from hub_content import Repo, jsonl, numbered
from hub_server import LoopbackHub

from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets._hf import client
from benchwright.datasets._hf.client import Client
from benchwright.datasets._hf.errors import HubRefusedError, HubUnreachableError
from benchwright.datasets._hf.settings import hub_settings

ROWS = numbered(200)


@pytest.fixture
def repo(hub: LoopbackHub) -> Repo:
    repo = hub.repo("a/data")
    repo.commit({"train.jsonl": jsonl(ROWS), "README.md": "# x\n"}, large=["train.jsonl"])
    return repo


@pytest.mark.parametrize(
    "where", ["/api/datasets/a/data$", "/tree/", "README", "resolve/.*/train", "/objects/"]
)
@pytest.mark.parametrize(
    "fault",
    [{"status": 503}, {"status": 429, "headers": {"Retry-After": "0"}}, {"status": 500}, {"drop": True}],
)
def test_one_failure_costs_a_retry_and_not_the_run(
    hub: LoopbackHub, repo: Repo, where: str, fault: dict[str, Any]
) -> None:
    hub.fault(where, **fault)
    assert load_dataset("hf://a/data") == ROWS
    assert len(hub.paths(where)) == 2


def test_a_body_that_breaks_off_is_continued(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("/objects/", times=7, cut=500)
    assert load_dataset("hf://a/data") == ROWS
    ranges = [seen.range for seen in hub.seen if "/objects/" in seen.path]
    assert ranges == [None, *(f"bytes={n * 500}-" for n in range(1, 8))]


def test_an_answer_of_the_api_that_breaks_off_is_asked_again(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("/tree/", cut=20)
    assert load_dataset("hf://a/data") == ROWS


def test_a_flipped_byte_is_found(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("/objects/", times=1, corrupt=True)
    assert load_dataset("hf://a/data") == ROWS, "the second copy was good"


@pytest.mark.parametrize("where", ["/objects/", "README"])
def test_content_that_stays_wrong_is_refused(hub: LoopbackHub, repo: Repo, where: str, cache: Any) -> None:
    hub.fault(where, times=99, corrupt=True)
    with pytest.raises(DatasetError, match="was downloaded twice with content that"):
        load_dataset("hf://a/data")
    assert not list(cache.rglob("*.parquet"))


def test_a_hub_that_only_fails_is_given_up(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("/api/", times=99, status=500)
    with pytest.raises(
        DatasetError, match=r"answered 500 to every attempt.*Nothing else is read in its place"
    ):
        load_dataset("hf://a/data")
    assert len(hub.paths("/api/")) == client.ATTEMPTS


def test_a_slow_hub_is_not_waited_for_forever(
    hub: LoopbackHub, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "1")
    for where in ("/api/datasets/a/data$", "/tree/", "/objects/"):
        hub.fault(where, times=1, delay_s=1.5)
    assert load_dataset("hf://a/data") == ROWS
    for where in ("/api/datasets/a/data$", "/tree/", "/objects/"):
        assert len(hub.paths(where)) == 2


class Clock:
    def __init__(self) -> None:
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def asked(hub: LoopbackHub, clock: Clock, jitter: float = 1.0) -> None:
    Client(hub_settings(), sleep=clock.sleep, jitter=lambda: jitter).whole(f"{hub.url}/api/datasets/a/data")


def test_waits_grow_with_jitter_and_have_an_end(
    hub: LoopbackHub, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT_S", 3.0)
    hub.fault("/api/", times=99, status=503)
    clock = Clock()
    with pytest.raises(HubRefusedError):
        asked(hub, clock)
    assert clock.waits == [3, 6, 8, 8]
    clock = Clock()
    with pytest.raises(HubRefusedError):
        asked(hub, clock, jitter=0.5)
    assert clock.waits == [1.5, 3, 4, 4]


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "1.5"}, 1.5),
        ({"RateLimit": '"api";r=0;t=9'}, 9),
        ({"RateLimit": '"api";r=5;t=9'}, 0.01),
        ({"Retry-After": "soon"}, 0.01),
    ],
)
def test_the_hub_is_waited_for_as_long_as_it_asks(
    hub: LoopbackHub, repo: Repo, headers: dict[str, str], wait_s: float
) -> None:
    hub.fault("/api/", status=429, headers=headers)
    clock = Clock()
    asked(hub, clock)
    assert clock.waits == [wait_s]


def test_dates_are_waited_for_too(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("/api/", status=503, headers={"Retry-After": formatdate(time.time() + 30, usegmt=True)})
    clock = Clock()
    asked(hub, clock)
    assert 20 < clock.waits[0] <= 30


def test_a_wait_beyond_the_budget_is_an_error_at_once(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("/api/", times=9, status=429, headers={"Retry-After": "3600"})
    with pytest.raises(DatasetError, match="limits the rate of requests and demands a wait of 3600 s"):
        load_dataset("hf://a/data")
    assert len(hub.paths("/api/")) == 1


def test_redirects_in_a_circle_end(hub: LoopbackHub) -> None:
    hub.renamed["a/loop"] = "a/loop"
    with pytest.raises(HubUnreachableError, match="redirects"):
        Client(hub_settings(), sleep=lambda _: None).whole(f"{hub.url}/api/datasets/a/loop")


def test_a_listing_without_end_is_refused(hub: LoopbackHub, repo: Repo) -> None:
    link = f'<{hub.url}/api/datasets/a/data/tree/main?recursive=true&cursor=0>; rel="next"'
    hub.fault("/tree/", times=99, status=200, headers={"Link": link})
    with pytest.raises(DatasetError, match=r"gave no list of files|never ends"):
        load_dataset("hf://a/data")
