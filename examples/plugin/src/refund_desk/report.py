"""A report: one line for a status page."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_headline(run: dict[str, Any], folder: Path) -> None:
    """Write one line. `run` is what `benchwright show RUN --json` prints."""
    values = ", ".join(f"{name} {value:.2f}" for name, value in run["run"]["metrics"].items())
    (folder / "headline.txt").write_text(f"{run['run']['name']} on {run['run']['model']}: {values}\n")
