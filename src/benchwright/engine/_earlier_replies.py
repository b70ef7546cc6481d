"""Which of several runs with an equal request gives its reply to a new run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from benchwright.core import JsonObject
from benchwright.store import RunRecord, Store

_MOST_RUNS = 100
"""How many runs of the same benchmark are compared with a new one, the newest first."""
_OF_NO_MATTER = ("cache", "budget")
"""Settings in which a run and its repetition may differ."""


class EarlierReplies:
    """Looks up the replies of other runs.

    Several runs may have sent the same request: at the same time, or with `--no-cache`. A run that is done again gets the
    replies that it got before, and not those of another run.
    """

    def __init__(self, store: Store, run: RunRecord) -> None:
        self._store = store
        self._run = run

    async def __call__(self, input_hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """The replies to requests, by hash."""
        return await self._store.reusable(self._run.id, input_hashes, self._preferred)

    @cached_property
    def _preferred(self) -> tuple[int, ...]:
        """Runs of the same benchmark on the same data, with the same settings if there are such; the newest first."""
        data, settings = _data_of(self._run.manifest), _settings_of(self._run.settings)
        if data is None:
            return ()
        others = self._store.runs(name=self._run.name, limit=_MOST_RUNS + 1)
        alike = [run for run in others if run.id != self._run.id and _data_of(run.manifest) == data]
        same = [run.id for run in alike if _settings_of(run.settings) == settings]
        return tuple(same or (run.id for run in alike))


def _data_of(manifest: JsonObject) -> object:
    dataset = manifest.get("dataset")
    return dataset.get("fingerprint") if isinstance(dataset, dict) else None


def _settings_of(settings: JsonObject) -> JsonObject:
    return {name: value for name, value in settings.items() if name not in _OF_NO_MATTER}
