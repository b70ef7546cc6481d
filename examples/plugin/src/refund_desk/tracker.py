"""A tracker: keeps a diary of a run in progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Diary:
    """Writes a line for each event to `diary.txt` in the run's folder."""

    def started(self, run: dict[str, Any]) -> None:
        self._path = Path(run["run"]["folder"]) / "diary.txt"
        self._write(f"started {run['run']['name']}")

    def progress(self, counts: dict[str, Any]) -> None:
        self._write(f"{counts['done']} of {counts['total']}")

    def finished(self, run: dict[str, Any]) -> None:
        self._write(f"{run['run']['status']}: {run['run']['metrics']}")

    def _write(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(line + "\n")
