"""A loopback hub and an environment that leads only to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import LoopbackHub, running_hub

from benchwright.datasets._hf import client

VARIABLES = (
    "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE",
    "HF_DATASETS_SERVER", "BENCHWRIGHT_VIEWER_URL", "HF_HUB_DISABLE_IMPLICIT_TOKEN",
)  # fmt: skip


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(client, "FIRST_WAIT_S", 0.01)
    with running_hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


@pytest.fixture
def cache(hub: LoopbackHub, tmp_path: Path) -> Path:
    """The cache folder of the test."""
    return tmp_path / "cache"
