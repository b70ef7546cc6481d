"""Load tests against the stub, in one event loop."""

from __future__ import annotations

from typing import Any

from benchwright.core import ModelRequest, encode_json
from benchwright.endpoints import EndpointSettings
from benchwright.perf import LoadSettings, LoadTest, RequestPlan, RequestRecord, open_crew
from benchwright.perf._plan import planned_request
from benchwright.perf._values import StageRecord


def plan_of(rows: int = 3, *, stream: bool = True, max_tokens: int = 16) -> RequestPlan:
    """So many different requests."""
    bodies: list[dict[str, Any]] = [
        {"model": "stub", "messages": [{"role": "user", "content": f"row {row}"}], "max_tokens": max_tokens, "stream": stream}
        for row in range(rows)
    ]  # fmt: skip
    requests = (ModelRequest("chat", body, encode_json(body)) for body in bodies)
    return RequestPlan(tuple(planned_request(request, row) for row, request in enumerate(requests)))


class Loaded:
    """A test that can be stopped while it runs, and what it recorded."""

    def __init__(self, url: str, settings: LoadSettings, plan: RequestPlan | None = None) -> None:
        self.records: list[RequestRecord] = []
        model = EndpointSettings(model_id="stub", url=url, request_timeout_s=settings.request_timeout_s)
        self._open = settings, plan or plan_of(stream=settings.stream), [model], self._ended

    def _ended(self, record: RequestRecord) -> None:
        self.records.append(record)
        self.test.ended(record)

    async def run(self) -> list[StageRecord]:
        crew = await open_crew(*self._open)
        self.crew = crew
        self.test = LoadTest(self._open[0], crew)
        try:
            return await self.test.run()
        finally:
            await crew.close()


async def load(
    url: str, settings: LoadSettings, plan: RequestPlan | None = None
) -> tuple[list[RequestRecord], list[StageRecord]]:
    """Run a whole test. Records are in the order of their numbers."""
    loaded = Loaded(url, settings, plan)
    stages = await loaded.run()
    return sorted(loaded.records, key=lambda record: record.number), stages
