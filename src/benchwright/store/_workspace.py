"""Where a workspace keeps its state: discovery upwards from the current folder, and its paths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchwright.core import UsageError, own_ancestors

STATE_FOLDER = ".benchwright"
_ANCHORS = (STATE_FOLDER, "benchwright.toml", ".benchwright.toml")
"""What makes a folder a workspace: its records, or a configuration, beside which records belong."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder whose `.benchwright/` holds the database and the run folders."""

    root: Path
    """The folder that contains `.benchwright/`."""

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.root / STATE_FOLDER

    @property
    def database(self) -> Path:
        """The one SQLite database."""
        return self.state / "benchwright.db"

    def run_folder(self, run_id: int, name: str) -> Path:
        """Default folder of a run's files."""
        return self.state / "runs" / f"{run_id:04d}-{name}"

    def create(self) -> None:
        """Make the state folder; it ignores itself in git."""
        try:
            self.state.mkdir(parents=True, exist_ok=True)
            ignore = self.state / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{self.state} cannot be made or written to: {error.strerror}. Choose a folder of your own: --workspace DIR"
            ) from None


def find_workspace(start: Path, explicit: Path | None = None) -> Workspace:
    """The explicit folder, else the nearest ancestor with records or a configuration, else `start` itself.

    Folders that everybody may write to, such as /tmp, end the search.
    """
    if explicit is not None:
        return Workspace(explicit.expanduser().resolve())
    for folder in own_ancestors(start):
        if any((folder / name).exists() for name in _ANCHORS):
            return Workspace(folder)
    return Workspace(start.resolve())
