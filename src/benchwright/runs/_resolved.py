"""What a target turns out to be. Each kind performs, checks and plans itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from benchwright.config import RunOptions, SuiteOptions
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import Watcher
from benchwright.results import RunResult
from benchwright.runs._session import Session

if TYPE_CHECKING:
    from benchwright.config import LoadOptions
    from benchwright.runs._run import Plan


class Resolved(Struct, frozen=True):
    """What `resolve` returns: benchmarks, a suite, a program or a workflow."""

    is_suite: ClassVar[bool] = False
    """Whether it is a suite. Most commands need not load what suites need."""

    def perform(
        self,
        session: Session,
        options: RunOptions,
        how: SuiteOptions,
        *,
        watcher: Watcher | None,
        finished: Callable[[RunResult], None] | None,
        endpoint: OpenEndpoint | None,
    ) -> Any:
        """What `run` does: evaluate it, and return the result."""
        raise NotImplementedError

    def check(self, session: Session, options: RunOptions, how: SuiteOptions) -> Any:
        """What `check` does: find out everything that needs no request."""
        raise NotImplementedError

    def load_plans(
        self, session: Session, options: RunOptions, load: LoadOptions, *, ask_server: bool
    ) -> tuple[list[Plan], bool]:
        """The load tests that `perf` performs, and whether there are several."""
        raise NotImplementedError
