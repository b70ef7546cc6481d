"""What holds for all tests."""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import os
import signal
import sqlite3
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

import benchwright.store
from benchwright.core._artifacts import ARTIFACT_KINDS
from benchwright.core._secrets import forget_secrets
from browser import driven
from calm import calm, restored
from memory_files import MemoryPlaces

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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

WIDE = int(os.environ.get("TESTS_WIDE", "0"))
"""Set it to have properties tried with that many times the usual examples, drawn anew in each run. Unless it is set, every run of
the same code tries the same examples: a property fails on all machines or on none."""
# How long an example takes says something about the machine, not about the code.
settings.register_profile(
    "benchwright", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not WIDE
)
settings.load_profile("benchwright")

# A shell starts what it runs in the background deaf to Ctrl-C, and nohup to a closed terminal. All processes of the tests would be.
for _deaf_to, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_deaf_to) is signal.SIG_IGN:
        signal.signal(_deaf_to, _usual)


if sys.version_info < (3, 13):  # which warns by itself

    class _Watched(sqlite3.Connection):
        """A connection that warns if nobody closed it."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.opened_at = _places(sys._getframe(1))

        def __del__(self) -> None:
            with suppress(sqlite3.ProgrammingError):  # it is closed, or was never opened
                self.total_changes  # noqa: B018
                message = f"unclosed database in {self!r}, opened at {self.opened_at}"
                warnings.warn(message, ResourceWarning, source=self, stacklevel=2)

    sqlite3.connect = sqlite3.dbapi2.connect = functools.partial(sqlite3.connect, factory=_Watched)


def _places(frame: FrameType | None) -> list[str]:
    """The innermost lines of the program and of tests."""
    found: list[str] = []
    while frame is not None and len(found) < 12:
        if "site-packages" not in frame.f_code.co_filename:
            found.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
        frame = frame.f_back
    return found


def _closed_when_dropped(opening: Callable[..., Any]) -> Callable[..., Any]:
    """Close a store that a test opens when the test drops it: `store_of(folder).run(1)` reads well. The program has no such
    help, so that a store that it forgets to close is noticed."""

    @functools.wraps(opening)
    def opened(*args: Any, **options: Any) -> Any:
        store = opening(*args, **options)
        if store is not None and sys._getframe(1).f_code.co_filename.startswith(_TESTS):
            weakref.finalize(store, store._connection.close)
        return store

    return opened


_TESTS = str(Path(__file__).parent) + os.sep
benchwright.store.open_store = _closed_when_dropped(benchwright.store.open_store)
benchwright.store.open_existing = _closed_when_dropped(benchwright.store.open_existing)


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
    """Have each file of tests compiled by one worker, and kept for the next run; look for no garbage meanwhile: all is kept.

    pytest spends most of its time before the first test on rewriting assertions. It keeps what it has rewritten where byte
    code may be written; so each worker begins with another part of the files.
    """
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and session.config.args == ["tests"]:
            paths = sorted(Path(__file__).parent.rglob("test_*.py"))
            first = (
                len(paths) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
            )
            for path in paths[first:] if first else []:
                if path.parent.name != "real":
                    if str(path.parent) not in sys.path:
                        sys.path.insert(0, str(path.parent))
                    with suppress(BaseException):  # collecting reports it
                        importlib.import_module(path.stem)
        return (yield)
    finally:
        gc.enable()
        sys.dont_write_bytecode = before


def pytest_collection_finish() -> None:
    """Spare garbage collections the half million objects of modules and tests, which live to the end. A load test in this process
    begins with a full collection, and would thaw them when it ends: it may freeze and thaw nothing here."""
    gc.collect()
    gc.freeze()
    gc.freeze = gc.unfreeze = lambda: None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that no worker is left with one at the end; and more examples of properties if asked for."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    widened = {item.obj for item in items if WIDE and is_hypothesis_test(getattr(item, "obj", None))}
    for test in widened:
        usual = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(
            usual, max_examples=WIDE * usual.max_examples, derandomize=False
        )


@pytest.fixture(params=["folder", "memory"])
def any_place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of runs are in folders, then in memory, where a joined path finds nothing: both must do."""
    if request.param == "memory":
        monkeypatch.setitem(ARTIFACT_KINDS, "", MemoryPlaces().open)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a file."""
    with driven() as found:
        yield found


_BROWSERS = frozenset({"chromium", "opened", "shown", "tab"})
"""Fixtures that hold a browser. Its driver keeps an event loop that looks as if it ran in this thread, even between its calls."""


@contextmanager
def _beside_a_browser(names: Iterable[str]) -> Iterator[None]:
    """Hide the loop of a browser from what uses none. Which test of a file a worker begins with is chance, and so is whether a
    browser is open by then."""
    loop = None if _BROWSERS.intersection(names) else asyncio._get_running_loop()
    if loop is None:
        yield
        return
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    with _beside_a_browser((fixturedef.argname, *fixturedef.argnames)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    with _beside_a_browser(pyfuncitem.fixturenames):
        return (yield)
