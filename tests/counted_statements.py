"""Counting the statements that reach a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest


def count_selects(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Gives how many SELECTs the connections that are opened from now on have executed."""
    seen: list[str] = []
    plain = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = plain(*arguments, **options)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    return lambda: sum(statement.lstrip().upper().startswith("SELECT") for statement in seen)
