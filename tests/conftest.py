"""What holds for all tests."""

from __future__ import annotations

import functools
import importlib
import os
import signal
import sqlite3
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from benchwright.core import forget_secrets
from calm import calm, restored

KEEP_ENVIRONMENT = "TESTS_KEEP_ENVIRONMENT"
"""Set it to run tests with the variables that they are usually kept from; `make test-environment` does."""
_UNSEEN = (
    "CI",
    "NO_COLOR",
    "FORCE_COLOR",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
    "COLUMNS",
    "LINES",
    "TERM",
    "TZ",
)
_UNSEEN_PREFIXES = ("BENCHWRIGHT_", "HF_", "MLFLOW_", "OPENAI_", "WANDB_", "GITHUB_")
"""Variables of the user that decide what commands print, where they look and what they may use."""
if not os.environ.get(KEEP_ENVIRONMENT):
    for _name in [name for name in os.environ if name in _UNSEEN or name.startswith(_UNSEEN_PREFIXES)]:
        del os.environ[_name]
    time.tzset()

calm()

# How long an example takes says something about the machine, not about the code.
settings.register_profile("benchwright", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("benchwright")

# A shell starts what it runs in the background deaf to Ctrl-C, and nohup to a closed terminal. All processes of the tests would be.
for _deaf_to, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_deaf_to) is signal.SIG_IGN:
        signal.signal(_deaf_to, _usual)


if sys.version_info < (3, 13):  # which warns by itself

    class _Watched(sqlite3.Connection):
        """A connection that warns if nobody closed it."""

        def __del__(self) -> None:
            with suppress(sqlite3.ProgrammingError):  # it is closed, or was never opened
                self.total_changes  # noqa: B018
                warnings.warn(f"unclosed database in {self!r}", ResourceWarning, source=self, stacklevel=2)

    sqlite3.connect = sqlite3.dbapi2.connect = functools.partial(sqlite3.connect, factory=_Watched)


@pytest.fixture(scope="session", autouse=True)
def _a_cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Start with an empty cache: what the user once fetched must not decide which rows a test reads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def bounds_of_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds of load tests that users have, above which the client was strained, or the limit."""
    for module, name, value in restored():
        monkeypatch.setattr(module, name, value)


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests() -> Iterator[None]:
    yield
    forget_secrets()


@pytest.fixture(autouse=True)
def _no_folders_of_other_tests() -> Iterator[None]:
    """Take the folders of loaded files off the path again, where another test would find the modules in them."""
    before = sys.path.copy()
    yield
    sys.path[:] = before


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Have each file of tests compiled by one worker, and kept for the next run.

    pytest spends most of its time before the first test on rewriting assertions. It keeps what it has rewritten where byte
    code may be written; so the second worker begins at the other end, and both meet in the middle.
    """
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" and session.config.args == ["tests"]:
            for path in sorted(Path(__file__).parent.rglob("test_*.py"), reverse=True):
                if path.parent.name != "real":
                    if str(path.parent) not in sys.path:
                        sys.path.insert(0, str(path.parent))
                    with suppress(BaseException):  # collecting reports it
                        importlib.import_module(path.stem)
        return (yield)
    finally:
        sys.dont_write_bytecode = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that no worker is left with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
