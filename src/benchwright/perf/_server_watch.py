"""Reads the `/metrics` of the servers under load: before and after each stage, and once a second in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from benchwright.core import ConfigError
from benchwright.endpoints import MetricsPage, ModelSettings
from benchwright.perf._server_figures import (
    ServerFigures,
    Snapshot,
    added,
    figures_between,
    parse_metrics,
)

_FIRST_S = 0.5
"""How long a test waits for the first reading of the page, before its first request."""
_LATER_S = 2.0
_EVERY_S = 1.0


class ServerWatch:
    """The pages of a test's servers. An unreadable page is not an error: the figures then explain why they are absent."""

    def __init__(
        self,
        models: Sequence[ModelSettings],
        *,
        first_s: float = _FIRST_S,
        later_s: float = _LATER_S,
    ) -> None:
        self._pages: list[MetricsPage] = []
        self._why = "the model answers in this process" if models else "switched off"
        try:
            self._pages = [page for model in models if (page := model.metrics_page()) is not None]
        except ConfigError as error:
            self._why = str(error)
        self._before: Snapshot | None = None
        self._peaks: dict[str, float] = {}
        self._looking: asyncio.Task[None] | None = None
        self._timeout_s, self._later_s = first_s, later_s
        self._asked = False

    async def begin(self) -> None:
        """Begin a stage."""
        self._peaks = {}
        self._before = await self._snapshot()
        if self._before is not None and self._before.gauges:
            self._looking = asyncio.create_task(self._look())

    async def end(self) -> ServerFigures:
        """End a stage and return its figures."""
        await self._look_away()
        if self._before is None:
            return ServerFigures(absent=self._why)
        after = await self._snapshot()
        return (
            ServerFigures(absent=self._why)
            if after is None
            else figures_between(self._before, after, self._peaks)
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._look_away()
        for page in self._pages:
            await page.aclose()

    async def _look_away(self) -> None:
        if self._looking is not None and self._looking is not asyncio.current_task():
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            found = await self._snapshot()
            if found is None:
                return
            for name, value in found.gauges.items():
                self._peaks[name] = max(self._peaks.get(name, 0.0), value)

    async def _snapshot(self) -> Snapshot | None:
        """Read the pages; None if that is not possible. A server without any known figure is not read again."""
        if not self._pages:
            return None
        try:
            texts = await asyncio.gather(*(page.read(self._timeout_s) for page in self._pages))
        except ConfigError as error:
            self._why = str(error)
            found = None
        else:
            found = added(map(parse_metrics, texts))
            if not found.known:
                self._why, found = f"{self._pages[0].url} has no figures that benchwright knows", None
        if found is None and not self._asked:
            await self.aclose()
            self._pages = []
        self._asked, self._timeout_s = True, self._later_s
        return found
